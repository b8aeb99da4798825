//! What the plugin makes of the input of a vector, as a document that can be compared with OpenClaw's.

use ask_user_host::contract::{
    Answer, Choice, Context, CredentialPolicy, Interpretation, Origin, Outcome, Policy, Prompt, Question,
    Refusal, RepeatPolicy, Resolution, Rule, SessionKind, Verdict, Violation,
};
use ask_user_tests::world::{START, message, plugin};
use serde_json::{Map, Value, json};

use crate::vectors::{self, Input, is_lone_surrogate, unmark_lone_surrogates};

/// How long a prompt of a reply vector lives; none expires while it is answered.
const LIFETIME: u64 = 900_000;

/// What an operator has who changed nothing.
const POLICY: Policy = Policy {
    credentials: CredentialPolicy::Refuse,
    own_text_limit: Some(16 * 1024),
    repeats: RepeatPolicy::FirstResult,
};

/// Our document for an input to the plugin; nothing for one that is not.
pub(crate) fn document(input: &Input) -> Option<Value> {
    match input {
        Input::Reply { questions, reply } => Some(of_reply(questions, reply)),
        Input::Arguments(arguments) => Some(of_arguments(arguments)),
        Input::Scenario(_) => None,
    }
}

/// `{"taken": true, "answers"}` or `{"taken": false}`, with `skip` where the reply skips the prompt.
fn of_reply(questions: &[vectors::Question], reply: &str) -> Value {
    let prompt = prompt(questions);
    // A host has UTF-8 and no lone surrogates.
    let reply: String =
        reply.chars().map(|c| if is_lone_surrogate(c) { char::REPLACEMENT_CHARACTER } else { c }).collect();
    let meaning = plugin().interpret(&prompt, &message(&reply), None, POLICY).expect("the plugin decides");
    match meaning {
        Interpretation::Answers(complete) => {
            let answers = by_question(&complete.answers);
            let settled = settled(&prompt, complete.answers);
            assert_eq!(settled, answers, "what a reply means settles the prompt just so: {reply:?}");
            json!({ "taken": true, "answers": answers })
        }
        Interpretation::Skip => json!({ "taken": false, "skip": true }),
        Interpretation::Incomplete(_) | Interpretation::Correction(_) | Interpretation::NotAnAnswer(_) => {
            json!({ "taken": false })
        }
    }
}

fn prompt(questions: &[vectors::Question]) -> Prompt {
    let choices = |question: &vectors::Question| {
        let both = question.labels.iter().zip(&question.descriptions);
        both.map(|(label, description)| Choice { label: label.clone(), description: description.clone() })
            .collect()
    };
    let question = |question: &vectors::Question| Question {
        id: question.id.clone(),
        header: question.header.clone(),
        text: question.text.clone(),
        choices: choices(question),
        multi_select: question.is_multi.then_some(true),
        is_other: question.is_other.then_some(true),
        is_secret: None,
        url: None,
    };
    Prompt {
        id: "ask_vector".into(),
        questions: questions.iter().map(question).collect(),
        origin: origin(),
        created_at: START,
        expires_at: START + LIFETIME,
        settlement: None,
    }
}

fn settled(prompt: &Prompt, answers: Vec<Answer>) -> Value {
    let resolution = Resolution { answers, resolved_by: None, resolution_id: None };
    match plugin().resolve(prompt, &resolution, POLICY, START).expect("the plugin decides") {
        Ok(Verdict::Settle(resolved)) => match resolved.settlement.outcome {
            Outcome::Answered(answers) => by_question(&answers),
            Outcome::NoAnswer(reason) => json!({ "no answer": format!("{reason:?}") }),
        },
        refused => json!({ "not settled": format!("{refused:?}") }),
    }
}

fn by_question(answers: &[Answer]) -> Value {
    answers
        .iter()
        .map(|answer| (answer.question_id.clone(), json!(answer.values)))
        .collect::<Map<_, _>>()
        .into()
}

fn origin() -> Origin {
    Origin {
        session_key: Some("agent:main:main".into()),
        session_kind: Some(SessionKind::Main),
        ..Origin::default()
    }
}

/// `{"ok": true, "questions", "timeoutSeconds"}` or `{"ok": false, "categories"}`.
fn of_arguments(arguments: &Value) -> Value {
    let text = unmark_lone_surrogates(&arguments.to_string());
    let context = Context { now: START, id: "ask_vector".into(), origin: origin() };
    match plugin().ask_user(&text, &context).expect("the plugin decides") {
        Ok(prompt) => json!({
            "ok": true,
            "questions": prompt.questions.iter().map(wire).collect::<Vec<_>>(),
            "timeoutSeconds": (prompt.expires_at - prompt.created_at) / 1000,
        }),
        Err(Refusal::InvalidArguments(violations)) => {
            json!({ "ok": false, "categories": violations.iter().flat_map(categories).collect::<Vec<_>>() })
        }
        Err(refusal) => panic!("a main session may ask: {refusal:?}"),
    }
}

/// A question as OpenClaw's tool hands it on.
fn wire(question: &Question) -> Value {
    let mut wire = json!({
        "questionId": question.id,
        "header": question.header,
        "question": question.text,
        "options": question.choices.iter().map(|choice| {
            let mut option = json!({ "label": choice.label });
            if let Some(description) = &choice.description {
                option["description"] = json!(description);
            }
            option
        }).collect::<Vec<_>>(),
    });
    if let Some(multi_select) = question.multi_select {
        wire["multiSelect"] = json!(multi_select);
    }
    if let Some(is_other) = question.is_other {
        wire["isOther"] = json!(is_other);
    }
    wire
}

/// The categories in which OpenClaw refuses what breaks this rule. Its first failing check decides there; we list
/// every violation, so its category has to be one of ours.
fn categories(violation: &Violation) -> &'static [&'static str] {
    let path = violation.path.as_str();
    match violation.rule {
        Rule::Json | Rule::WrongType | Rule::Missing | Rule::UnknownMember | Rule::Count | Rule::Pattern => {
            &["structure"]
        }
        Rule::Integer => &["structure", "timeout"],
        // An empty text fails its schema; a text that trimming empties fails a later check.
        Rule::Blank if violation.received == "an empty text" => &["structure"],
        Rule::Blank if path.ends_with(".header") => &["display_limit"],
        Rule::Blank => &["empty_after_trim"],
        Rule::TooLong if path.ends_with(".label") => &["display_limit"],
        Rule::Duplicate if path.ends_with(".id") => &["duplicate_question_id"],
        Rule::Duplicate => &["duplicate_option_label"],
        Rule::TooLong | Rule::Reserved | Rule::Unsupported | Rule::More => &[],
    }
}
