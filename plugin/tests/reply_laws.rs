//! What holds for every typed message, whatever a model asked and a person types.

use ask_user_plugin::model::{
    Answer, Choice, CredentialPolicy, Origin, Outcome, Policy, Prompt, Question, RepeatPolicy,
};
use ask_user_plugin::numbering::{Dress, Numbering, comparable, without_recommended};
use ask_user_plugin::question::{Resolution, Verdict, resolve};
use ask_user_plugin::reply::{Interpretation, Message, interpret};
use ask_user_plugin::text::{Lines, clean, fold, is_blank};
use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;
use proptest::sample::{Index, select};

const POLICY: Policy = Policy {
    credentials: CredentialPolicy::Refuse,
    own_text_limit: Some(16 * 1024),
    repeats: RepeatPolicy::FirstResult,
};

/// Text with everything in it that a reply may be confused by.
fn text() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        4 => "[a-zA-Z ]{1,10}",
        4 => select(vec![
            "a", "b", "c)", "d.", "1", "2.", "3)", "#2", "02", "２", "2\u{fe0f}\u{20e3}", "3000", "1.5", "1,2", "18:30",
            ",", ", ", ";", "、", "，", "؛", ":", ": ", "=", " - ", "-", "–", "：", "1. ", "2) ", "city: ", "q0: ", "City",
            "(Recommended)", " (recommended)", "🚀", "🚀 ", "❤️", "👩‍👩‍👧", "🇳🇱 ", "שלום", "خادم", "部署", "４つ", "é", "ΟΔΟΣ", "İ",
            "Other", "Other…", "/skip", "skip", "@bot", "@bot ", "<@U1>", "\u{200b}", "\u{200f}", "\u{fe0f}", ".", "…",
        ])
        .prop_map(str::to_owned),
        1 => any::<char>().prop_map(String::from),
    ];
    vec(piece, 1..5).prop_map(|pieces| pieces.concat())
}

/// Several lines of it, with what does not belong in a message either.
fn lines() -> impl Strategy<Value = String> {
    let end = select(vec!["\n", "\r\n", "\n\n", "\r", "\u{2028}", "\u{85}", "\0", "\u{202e}", " "]);
    vec((text(), end), 0..5)
        .prop_map(|lines| lines.into_iter().flat_map(|(line, end)| [line, end.to_owned()]).collect())
}

/// Labels that the tool accepts (rulings 5 to 7), and that do not skip the prompt when they are typed.
fn labels() -> impl Strategy<Value = Vec<String>> {
    vec(text().prop_map(|label| clean(&label, Lines::One)), 2..5).prop_filter(
        "not labels of the tool",
        |labels| {
            let name = |label: &String| fold(without_recommended(label));
            labels.iter().enumerate().all(|(at, label)| {
                !is_blank(without_recommended(label))
                    && !["other", "other…", "other...", "/skip"].contains(&fold(label).as_str())
                    && labels.iter().take(at).all(|earlier| name(earlier) != name(label))
            })
        },
    )
}

/// Labels none of which is a list of marks itself, such as `a), b)`.
fn uncut_labels() -> impl Strategy<Value = Vec<String>> {
    let is_whole = |label: &String| !label.contains([',', '，', ';', '、', '؛']);
    labels().prop_filter("labels that are lists", move |labels| labels.iter().all(is_whole))
}

fn question(index: usize) -> impl Strategy<Value = Question> {
    let header =
        prop_oneof![select(vec!["City", "Set-up", "x:y", "2", "Same", ""]).prop_map(str::to_owned), text()];
    (header, labels(), any::<bool>(), any::<bool>()).prop_map(move |(header, labels, many, other)| Question {
        id: format!("q{index}"),
        header,
        text: "Which one?".into(),
        choices: labels.into_iter().map(|label| Choice { label, description: None }).collect(),
        multi_select: Some(many),
        is_other: Some(other),
        is_secret: None,
        url: None,
    })
}

fn prompt() -> impl Strategy<Value = Prompt> {
    prop_oneof![
        question(0).prop_map(|first| vec![first]),
        (question(0), question(1)).prop_map(|(first, second)| vec![first, second]),
        (question(0), question(1), question(2)).prop_map(|(first, second, third)| vec![first, second, third]),
    ]
    .prop_map(|questions| Prompt {
        id: "ask_1".into(),
        questions,
        origin: Origin::default(),
        created_at: 0,
        expires_at: 900_000,
        settlement: None,
    })
}

/// A prompt as a gateway client may make it: nothing is cleaned, nothing unique.
fn raw_prompt() -> impl Strategy<Value = Prompt> {
    let raw = (prompt(), vec(vec(lines(), 0..5), 3), any::<bool>());
    raw.prop_map(|(mut prompt, labels, is_raw)| {
        for (question, labels) in prompt.questions.iter_mut().zip(labels).filter(|_| is_raw) {
            question.choices = labels.into_iter().map(|label| Choice { label, description: None }).collect();
        }
        prompt
    })
}

fn message() -> impl Strategy<Value = Message> {
    let locale = option::of(select(vec!["en", "nl", "id-ID", "xx", ""]).prop_map(str::to_owned));
    let names = vec(
        prop_oneof![select(vec!["bot", "@bot", "<@U1>", "@", " "]).prop_map(str::to_owned), text()],
        0..3,
    );
    (lines(), option::of(lines()), any::<[bool; 1]>(), names, locale).prop_map(
        |(text, transcript, [has_media], bot_names, locale)| Message {
            text,
            transcript,
            has_media,
            bot_names,
            locale,
            ..Message::default()
        },
    )
}

fn policy() -> impl Strategy<Value = Policy> {
    let credentials =
        select(vec![CredentialPolicy::Refuse, CredentialPolicy::Warn, CredentialPolicy::Accept]);
    (credentials, option::of(0..40_u32)).prop_map(|(credentials, own_text_limit)| Policy {
        credentials,
        own_text_limit,
        ..POLICY
    })
}

fn draft() -> impl Strategy<Value = Vec<Answer>> {
    let answer = (select(vec!["q0", "q1", "q2", "gone"]), vec(text(), 0..3));
    vec(answer.prop_map(|(id, values)| Answer { question_id: id.to_owned(), values }), 0..4)
}

/// How people type the choice at `index`: all that the prompt shows, and what they leave out.
fn spellings(question: &Question, index: usize) -> Vec<String> {
    let label = clean(&question.choices[index].label, Lines::One);
    let numbering = Numbering::of(question);
    let mut spellings = vec![
        numbering.mark(index),
        numbering.name(index),
        format!(" {}\u{a0}", numbering.name(index).to_uppercase()),
        label.clone(),
        label.to_lowercase(),
        label.replace(' ', " \u{a0} "),
        format!("\u{2068}{label}\u{2069}"),
    ];
    let core = |label: &str| comparable(Dress::of(&clean(label, Lines::One)).core);
    let same_core = question.choices.iter().filter(|choice| core(&choice.label) == core(&label)).count();
    let is_label = |text: &str| {
        question
            .choices
            .iter()
            .enumerate()
            .any(|(other, choice)| other != index && fold(&choice.label) == fold(text))
    };
    for short in [without_recommended(&label), Dress::of(&label).core] {
        if same_core == 1 && !is_label(short) && !is_blank(short) && fold(short) != "/skip" {
            spellings.push(short.to_owned());
        }
    }
    spellings
}

/// A question's choice and a way to type it.
fn pick(question: &Question, choice: &Index, spelling: &Index) -> (String, String) {
    let index = choice.index(question.choices.len());
    (question.choices[index].label.clone(), spelling.get(&spellings(question, index)).clone())
}

fn say(prompt: &Prompt, text: &str) -> Interpretation {
    interpret(prompt, &Message { text: text.to_owned(), ..Message::default() }, None, &POLICY)
}

fn answered(prompt: &Prompt, labels: &[String]) -> Interpretation {
    let answers = prompt.questions.iter().zip(labels);
    Interpretation::Answers {
        answers: answers
            .map(|(question, label)| Answer { question_id: question.id.clone(), values: vec![label.clone()] })
            .collect(),
        warning: None,
    }
}

fn credential() -> impl Strategy<Value = String> {
    prop_oneof![
        "(sk-|sk-proj-|sk-ant-api03-|gh[pousr]_|github_pat_|glpat-|xox[bpa]-1234-|npm_|hf_|sk_live_|AIza)[A-Za-z]{8}[0-9]{4}[a-zA-Z0-9]{28}",
        "(AKIA|ASIA)[A-Z0-9]{16}",
        "eyJ[a-zA-Z0-9_-]{12,40}\\.eyJ[a-zA-Z0-9_-]{8,40}\\.[a-zA-Z0-9_-]{12,50}",
        "-----BEGIN (RSA |OPENSSH |)PRIVATE KEY-----",
    ]
}

/// The values in a reading: what a host would store.
fn values(read: &Interpretation) -> Vec<&str> {
    match read {
        Interpretation::Answers { answers, .. } | Interpretation::Incomplete { draft: answers, .. } => {
            answers.iter().flat_map(|answer| answer.values.iter().map(String::as_str)).collect()
        }
        _ => Vec::new(),
    }
}

proptest! {

    /// Ruling 32: alone or with others, each in any spelling.
    #[test]
    fn every_choice_typed_as_shown_is_that_choice(
        prompt in prompt(),
        picks in vec((any::<Index>(), any::<Index>()), 3),
    ) {
        let picked = prompt.questions.iter().zip(&picks);
        let (labels, typed): (Vec<_>, Vec<_>) = picked.map(|(question, (choice, spelling))| pick(question, choice, spelling)).unzip();
        prop_assert_eq!(say(&prompt, &typed.join("\n")), answered(&prompt, &labels), "{:?}", typed);

        if prompt.questions.len() > 1 {
            let keyed: Vec<String> =
                prompt.questions.iter().zip(&typed).rev().map(|(question, typed)| format!("{}: {typed}", question.id)).collect();
            // A label or header may look like such a line; then it is that label or header that was typed.
            let is_taken = prompt.questions.iter().any(|question| {
                question.choices.iter().map(|choice| &choice.label).chain([&question.header]).any(|text| text.contains("q0"))
            });
            if !is_taken {
                prop_assert_eq!(say(&prompt, &keyed.join("\n")), answered(&prompt, &labels), "{:?}", keyed);
            }
        }
    }

    /// Ruling 14: a list of marks is the list of their choices.
    #[test]
    fn every_list_of_marks_is_those_choices(labels in uncut_labels(), order in Just([3, 0, 2, 1]).prop_shuffle()) {
        let mut choices = labels.iter().map(|label| Choice { label: label.clone(), description: None });
        let question = Question {
            id: "q0".into(), header: "Q".into(), text: "?".into(), choices: choices.by_ref().collect(),
            multi_select: Some(true), is_other: Some(true), is_secret: None, url: None,
        };
        let order: Vec<usize> = order.into_iter().filter(|index| *index < labels.len()).collect();
        let numbering = Numbering::of(&question);
        let text = order.iter().map(|index| numbering.mark(*index)).collect::<Vec<_>>().join(", ");
        let prompt = Prompt {
            id: "ask_1".into(), questions: vec![question], origin: Origin::default(), created_at: 0, expires_at: 1, settlement: None,
        };
        let Interpretation::Answers { answers, .. } = say(&prompt, &text) else { panic!("{text}") };
        prop_assert_eq!(&answers[0].values, &order.iter().map(|index| labels[*index].clone()).collect::<Vec<_>>());
    }

    /// Nothing traps; and what is read as an answer is one: complete, in order, and accepted where answers are settled.
    #[test]
    fn what_is_read_as_an_answer_settles_the_prompt(
        prompt in prompt(),
        message in message(),
        draft in option::of(draft()),
        policy in policy(),
    ) {
        match interpret(&prompt, &message, None, &policy) {
            Interpretation::Answers { answers, warning } => {
                let resolution = Resolution { answers: answers.clone(), ..Resolution::default() };
                let Ok(Verdict::Settle(settled)) = resolve(&prompt, resolution, &policy, 1) else { panic!("{answers:?}") };
                prop_assert_eq!(settled.settlement.outcome, Outcome::Answered(answers));
                prop_assert_eq!(settled.warning.is_some(), warning.is_some());
            }
            Interpretation::Incomplete { draft, missing, correction } => {
                let answered: Vec<&str> = draft.iter().map(|answer| answer.question_id.as_str()).collect();
                for question in &prompt.questions {
                    let is_missing = missing.contains(&question.id);
                    prop_assert!(is_missing != answered.contains(&question.id.as_str()));
                }
                prop_assert!(!missing.is_empty() && !draft.is_empty() && !is_blank(&correction));
            }
            Interpretation::Correction(correction) => prop_assert!(!is_blank(&correction)),
            Interpretation::Skip | Interpretation::NotAnAnswer(_) => {}
        }
        let _ = interpret(&prompt, &message, draft.as_deref(), &policy);
    }

    #[test]
    fn raw_prompts_never_trap(prompt in raw_prompt(), message in message(), draft in option::of(draft()), policy in policy()) {
        let _ = interpret(&prompt, &message, draft.as_deref(), &policy);
    }

    /// Ruling 17: neither stored nor echoed.
    #[test]
    fn a_refused_credential_is_in_no_part_of_the_result(
        prompt in prompt(),
        key in credential(),
        before in prop_oneof![Just(String::new()), lines()],
        after in prop_oneof![Just(String::new()), lines()],
        between in select(vec![" ", "\n", ", ", ": ", "\"", "=", "（"]),
    ) {
        let text = format!("{before}{between}{key}{between}{after}");
        let read = say(&prompt, &text);
        prop_assert!(!format!("{read:?}").contains(&key), "{:?}", read);
        for value in values(&read) {
            prop_assert!(!value.contains(&key), "{:?}", value);
        }
    }
}
