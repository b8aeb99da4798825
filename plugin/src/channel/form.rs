//! The text form of a prompt (ruling 29): plain text that can be read and answered on any channel and in a terminal.
//!
//! It says only what is true of its prompt: the marks it shows are the ones a reply is matched against, own words are
//! offered only where they count, and nothing speaks of controls. Whatever a model or a gateway client wrote is cleaned
//! here again, because gateway records are kept raw (ruling 7), and cannot pass for a line of ours:
//!
//! - every choice has one line, and only such a line starts with a mark of ours;
//! - a question's text of several lines, or one that starts like a numbered list, is set in with `> `;
//! - headers stand behind our own words;
//! - what holds right-to-left text is isolated, so that a mark stays with its choice.

use crate::catalogue::{Form, Language, fill};
use crate::model::{Choice, NoAnswerReason, Outcome, Prompt, Question};
use crate::numbering::{Numbering, as_number};
use crate::text::{Lines, clean, excerpt, fold, is_blank, is_space, isolate};

/// Most characters of somebody's own text in a status line.
const OWN_TEXT_SHOWN: usize = 100;

/// One line of a prompt, in plain text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Line {
    /// The line, without a newline.
    pub text: String,
    /// What it is.
    pub kind: LineKind,
}

/// What a line is, for a channel that shows one kind in another way than the other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LineKind {
    /// Our own introduction with the header of a question.
    Title,
    /// Anything else.
    Text,
    /// A choice with its mark.
    Choice,
    /// An address that belongs to a question, from this byte of the line to its end.
    Address(usize),
}

impl Line {
    /// An ordinary line.
    pub fn text(text: impl Into<String>) -> Self {
        Self { text: text.into(), kind: LineKind::Text }
    }

    fn title(text: String) -> Self {
        Self { text, kind: LineKind::Title }
    }

    fn blank() -> Self {
        Self::text(String::new())
    }
}

/// Lines as one text.
pub fn plain(lines: &[Line]) -> String {
    lines.iter().map(|line| line.text.as_str()).collect::<Vec<_>>().join("\n")
}

/// A pending prompt as readable text, without a newline at the end.
pub fn text_form(prompt: &Prompt, language: &Language) -> String {
    let mut lines = body(prompt, language);
    lines.push(Line::blank());
    lines.push(Line::text(how_to(prompt, language)));
    plain(&lines)
}

/// A prompt without a word on how to answer it.
pub fn body(prompt: &Prompt, language: &Language) -> Vec<Line> {
    let form = &language.form;
    let mut blocks = Vec::new();
    match prompt.questions.as_slice() {
        [question] => {
            blocks.push(vec![Line::title(joined(form.intro_one, &header(question)))]);
            blocks.push(asked(question, form));
            blocks.push(choice_lines(question, form));
        }
        questions => {
            let total = questions.len();
            let own_words_everywhere = own_words_everywhere(questions);
            blocks.push(vec![Line::title(fill(form.intro_many, &[("total", &total.to_string())]))]);
            for (index, question) in questions.iter().enumerate() {
                let mut lines = vec![Line::title(joined(&step(index, total, language), &header(question)))];
                lines.extend(asked(question, form));
                lines.extend(choice_lines(question, form));
                let mut hints = Vec::new();
                if question.choices.is_empty() {
                    hints.push(form.hint_free.to_owned());
                } else {
                    hints.extend(how_to_separate(question, form));
                    if question.takes_own_text() && !own_words_everywhere {
                        hints.push(form.own_words.to_owned());
                    }
                }
                if !hints.is_empty() {
                    lines.push(Line::text(hints.join(" ")));
                }
                blocks.push(lines);
            }
        }
    }
    blocks.retain(|block| !block.is_empty());
    let mut lines = Vec::new();
    for block in blocks {
        if !lines.is_empty() {
            lines.push(Line::blank());
        }
        lines.extend(block);
    }
    lines
}

/// How to answer a prompt by typing, on one line.
pub fn how_to(prompt: &Prompt, language: &Language) -> String {
    let form = &language.form;
    let mut hints = match prompt.questions.as_slice() {
        [question] => how_to_answer(question, form),
        questions => {
            let mut hints = vec![fill(form.hint_lines, &[("example", &example_line(questions))])];
            if own_words_everywhere(questions) {
                hints.push(form.own_words.to_owned());
            }
            hints
        }
    };
    hints.push(how_to_skip(language));
    hints.join(" ")
}

/// Whether own words count for every question with choices, which is then said once and not beside each.
fn own_words_everywhere(questions: &[Question]) -> bool {
    let mut with_choices = questions.iter().filter(|question| !question.choices.is_empty()).peekable();
    with_choices.peek().is_some() && with_choices.all(Question::takes_own_text)
}

/// How a prompt ended, for people: one line a question that was answered, one line for all of them otherwise. `None`
/// while it is pending.
///
/// Where `shared` says that others read too, only labels of the prompt's own choices are repeated, never what somebody
/// typed (ruling 33); `…` then stands for it beside them.
pub fn status_line(prompt: &Prompt, language: &Language, shared: bool) -> Option<String> {
    let status = &language.status;
    let total = prompt.questions.len();
    let names =
        prompt.questions.iter().enumerate().map(|(index, question)| name(question, index, total, language));
    let lines: Vec<String> = match &prompt.settlement.as_ref()?.outcome {
        Outcome::Answered(answers) => prompt
            .questions
            .iter()
            .zip(names)
            .filter_map(|(question, name)| {
                let answer = answers.iter().find(|answer| answer.question_id == question.id)?;
                let shown = shown_values(question, &answer.values, shared);
                let said = match shown.is_empty() {
                    true => status.answered.to_owned(),
                    false => fill(status.answered_with, &[("answers", &shown.join(", "))]),
                };
                Some(joined(&name, &said))
            })
            .collect(),
        Outcome::NoAnswer(reason) => {
            let names: Vec<String> = names.filter(|name| !name.is_empty()).collect();
            let said = match reason {
                NoAnswerReason::Expired => status.expired,
                NoAnswerReason::Skipped => status.skipped,
                NoAnswerReason::Cancelled => status.cancelled,
                NoAnswerReason::Undeliverable => status.undeliverable,
            };
            vec![joined(&names.join(", "), said)]
        }
    };
    Some(lines.join("\n"))
}

/// The question's text and address.
fn asked(question: &Question, form: &Form) -> Vec<Line> {
    let mut lines: Vec<Line> =
        set_in(&clean(&question.text, Lines::Many)).into_iter().map(Line::text).collect();
    if let Some(url) = &question.url {
        let text = format!("{} {}", form.link, clean(url, Lines::One));
        lines.push(Line { text, kind: LineKind::Address(form.link.len() + 1) });
    }
    lines
}

/// A question's text as lines that cannot be taken for ours. They are not isolated: each line finds its own direction.
fn set_in(text: &str) -> Vec<String> {
    let lines: Vec<&str> = text.lines().map(|line| line.trim_end_matches(is_space)).collect();
    match lines.as_slice() {
        [] => Vec::new(),
        [line] if !starts_like_a_list(line) => vec![(*line).to_owned()],
        lines => {
            let mut set_in: Vec<String> =
                lines.iter().map(|line| format!("> {line}").trim_end().to_owned()).collect();
            // Any number of empty lines separates as one does, and many would push the choices out of sight.
            set_in.dedup_by(|next, line| next == ">" && line == ">");
            set_in
        }
    }
}

/// Whether a line starts as a choice of ours might: `1. Prod`, `(b) Prod`, `2️⃣ Prod`.
fn starts_like_a_list(line: &str) -> bool {
    let line = line.trim_start_matches(|c: char| !c.is_alphanumeric());
    let word = line.split(is_space).next().unwrap_or_default();
    let number = as_number(word).is_some() && !word.ends_with(char::is_numeric);
    let letter = word.strip_suffix(['.', ')', '．', '）']).is_some_and(|bare| {
        let mut letters = bare.chars();
        letters.next().is_some_and(char::is_alphabetic) && letters.next().is_none()
    });
    number || letter
}

/// Whether one or several may be chosen, and a line for each choice. Nothing where there are no choices.
fn choice_lines(question: &Question, form: &Form) -> Vec<Line> {
    if question.choices.is_empty() {
        return Vec::new();
    }
    let numbering = Numbering::of(question);
    let first = if question.takes_many() { form.choose_any } else { form.choose_one };
    let choices = question.choices.iter().enumerate();
    let lines = choices.map(|(index, choice)| {
        let text = choice_line(&numbering.mark(index), choice);
        Line { text, kind: LineKind::Choice }
    });
    std::iter::once(Line::text(first)).chain(lines).collect()
}

fn choice_line(mark: &str, choice: &Choice) -> String {
    let label = clean(&choice.label, Lines::One);
    let description = choice.description.as_deref().map(|text| clean(text, Lines::One)).unwrap_or_default();
    let mut line = mark.to_owned();
    if !label.is_empty() {
        line.push(' ');
        line.push_str(&isolate(label));
    }
    if !is_blank(&description) {
        line.push_str(" - ");
        line.push_str(&isolate(description));
    }
    line
}

/// How to answer the only question of a prompt.
fn how_to_answer(question: &Question, form: &Form) -> Vec<String> {
    if question.choices.is_empty() {
        return vec![form.hint_free.to_owned()];
    }
    let hint = match (Numbering::of(question), question.takes_own_text()) {
        (Numbering::Digits, true) => form.hint_number,
        (Numbering::Digits, false) => form.hint_number_closed,
        (Numbering::Letters { .. }, true) => form.hint_letter,
        (Numbering::Letters { .. }, false) => form.hint_letter_closed,
    };
    std::iter::once(hint.to_owned()).chain(how_to_separate(question, form)).collect()
}

fn how_to_separate(question: &Question, form: &Form) -> Option<String> {
    question.takes_many().then(|| fill(form.hint_many, &[("example", &example(question))]))
}

fn how_to_skip(language: &Language) -> String {
    fill(language.form.hint_skip, &[("command", language.controls.skip_command)])
}

/// An answer by marks that exist: `1`, or the first and the third (else the last) where several may be chosen.
fn example(question: &Question) -> String {
    let numbering = Numbering::of(question);
    match question.choices.len() {
        0 => "…".to_owned(),
        count if count > 1 && question.takes_many() => {
            format!("{},{}", numbering.name(0), numbering.name((count - 1).min(2)))
        }
        _ => numbering.name(0),
    }
}

/// The line that answers the first question when a message answers several (ruling 15). Questions are called by their
/// headers, which people see; by their numbers where the headers do not all name exactly one question; by their ids
/// where a header could be taken for such a number.
fn example_line(questions: &[Question]) -> String {
    let Some(first) = questions.first() else { return String::new() };
    let key = if questions.iter().all(|question| header_is_a_key(question, questions)) {
        header(first)
    } else if questions.iter().all(|question| as_number(&question.header).is_none()) {
        "1".to_owned()
    } else {
        first.id.clone()
    };
    format!("{key}: {}", example(first))
}

/// Whether the header names this question and no other one, and cannot be torn apart where a key ends.
fn header_is_a_key(question: &Question, questions: &[Question]) -> bool {
    let key = fold(&question.header);
    let others = questions.iter().filter(|other| other.id != question.id);
    !is_blank(&key)
        && !key.contains([':', '=', '-', '：', '＝', '–', '—', '“', '”', '"', ',', ';'])
        && !starts_like_a_list(&key)
        && as_number(&key).is_none()
        && others.clone().all(|other| key != fold(&other.header) && key != other.id)
}

/// What to call a question: its header, else its place among several, else nothing.
fn name(question: &Question, index: usize, total: usize, language: &Language) -> String {
    let header = header(question);
    if header.is_empty() && total > 1 { step(index, total, language) } else { header }
}

fn step(index: usize, total: usize, language: &Language) -> String {
    fill(language.controls.step, &[("n", &(index + 1).to_string()), ("total", &total.to_string())])
}

/// The header as it is shown; empty where there is nothing to see in it.
fn header(question: &Question) -> String {
    let header = clean(&question.header, Lines::One);
    if is_blank(&header) { String::new() } else { isolate(header) }
}

/// Both with a dot between them, or the one that is not empty.
fn joined(first: &str, second: &str) -> String {
    match (first.is_empty(), second.is_empty()) {
        (false, false) => format!("{first} · {second}"),
        _ => format!("{first}{second}"),
    }
}

fn shown_values(question: &Question, values: &[String], shared: bool) -> Vec<String> {
    let is_label = |value: &String| question.choices.iter().any(|choice| choice.label == *value);
    let mut shown = Vec::new();
    for value in values {
        if is_label(value) {
            shown.push(isolate(clean(value, Lines::One)));
        } else if !shared {
            shown.push(isolate(excerpt(value, OWN_TEXT_SHOWN)));
        }
    }
    if !shown.is_empty() && shown.len() < values.len() {
        shown.push("…".to_owned());
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::catalogue::language;
    use crate::model::{Answer, Origin, Settlement};

    fn choice(label: &str) -> Choice {
        Choice { label: label.into(), description: None }
    }

    fn described(label: &str, description: &str) -> Choice {
        Choice { label: label.into(), description: Some(description.into()) }
    }

    fn question(id: &str, header: &str, text: &str, choices: Vec<Choice>) -> Question {
        Question {
            id: id.into(),
            header: header.into(),
            text: text.into(),
            choices,
            multi_select: None,
            is_other: Some(true),
            is_secret: None,
            url: None,
        }
    }

    fn prompt(questions: Vec<Question>) -> Prompt {
        Prompt {
            id: "ask_1".into(),
            questions,
            origin: Origin::default(),
            created_at: 0,
            expires_at: 900_000,
            settlement: None,
        }
    }

    fn settled(questions: Vec<Question>, outcome: Outcome) -> Prompt {
        let settlement = Settlement { outcome, at: 1, resolved_by: None, resolution_id: None };
        Prompt { settlement: Some(settlement), ..prompt(questions) }
    }

    fn deploy_target() -> Question {
        let choices = vec![
            described("Staging (Recommended)", "Safe to break; nobody sees it."),
            described("Production", "Customers see it at once."),
        ];
        question("deploy_target", "Deploy target", "Where should this build go?", choices)
    }

    fn test_suites() -> Question {
        let choices = vec![choice("Unit"), choice("Integration"), choice("End to end"), choice("Load")];
        Question {
            multi_select: Some(true),
            ..question("test_suites", "Tests", "Which test suites should run first?", choices)
        }
    }

    fn notes() -> Question {
        Question {
            is_other: None,
            ..question("notes", "Notes", "What should the release notes say?", vec![])
        }
    }

    fn shown(questions: Vec<Question>) -> String {
        text_form(&prompt(questions), language(None))
    }

    /// Compares with `snapshots/<name>.snap`, which shows a reader what a person sees.
    fn golden(name: &str, text: &str) {
        insta::with_settings!({ prepend_module_to_snapshot => false, omit_expression => true }, {
            insta::assert_snapshot!(name, text);
        });
    }

    #[test]
    fn one_question_reads_well_in_every_language() {
        for locale in ["en", "nl", "id"] {
            let text = text_form(&prompt(vec![deploy_target()]), language(Some(locale)));
            golden(&format!("single_select_{locale}"), &text);
            let text =
                text_form(&prompt(vec![deploy_target(), test_suites(), notes()]), language(Some(locale)));
            golden(&format!("three_questions_{locale}"), &text);
        }
    }

    #[test]
    fn only_what_is_true_of_the_question_is_offered() {
        golden("closed", &shown(vec![Question { is_other: None, ..deploy_target() }]));
        golden("multi_select", &shown(vec![test_suites()]));
        golden("free_text", &shown(vec![notes()]));
        let url = Some("https://example.com/builds/417?tab=log".to_owned());
        golden("link", &shown(vec![Question { url, ..deploy_target() }]));
        let closed = Question { is_other: None, ..test_suites() };
        golden("several_questions_of_which_one_is_closed", &shown(vec![deploy_target(), closed]));
    }

    #[test]
    fn an_example_uses_only_marks_that_exist() {
        let two = vec![choice("Unit"), choice("Load")];
        assert!(shown(vec![Question { choices: two, ..test_suites() }]).contains("as in 1,2."));
        let ports = vec![choice("80"), choice("443"), choice("8080")];
        assert!(shown(vec![Question { choices: ports, ..test_suites() }]).contains("as in a,c."));
        assert!(shown(vec![notes(), deploy_target()]).contains("“Notes: …”"));
    }

    #[test]
    fn labels_that_read_as_numbers_are_lettered() {
        let choices = vec![choice("3000"), choice("8080 (Recommended)"), choice("Another free port")];
        let port = question("port", "Port", "Which port should the server use?", choices);
        golden("numeric_labels", &shown(vec![port]));
    }

    #[test]
    fn long_labels_are_never_cut() {
        let steps = "in small steps, ".repeat(8);
        let long = |end| format!("Move the customers of the old region to the new one {steps}and {end}");
        let choices = vec![choice(&long("keep the old one")), choice(&long("turn it off"))];
        golden("long_labels", &shown(vec![question("move", "Migration", "How should we move?", choices)]));
    }

    #[test]
    fn scripts_and_emoji_come_through() {
        let choices = vec![choice("🚀 Ship it"), choice("👩‍👩‍👧 Ask the team"), choice("Wait 🇳🇱")];
        golden("emoji", &shown(vec![question("ship", "Ship it now🚀", "Ready? 🎉", choices)]));
        let choices = vec![described("预发布环境 (Recommended)", "只有团队可见"), choice("生产环境")];
        golden("chinese", &shown(vec![question("target", "部署目标环境", "应该部署到哪里？", choices)]));
    }

    #[test]
    fn right_to_left_text_keeps_its_mark() {
        let choices = vec![
            described("שרת בדיקות (v2.0)", "מהיר"),
            choice("שרת ייצור"),
            choice("Rollback"),
            choice("خادم v1.9"),
        ];
        let text = shown(vec![question("target", "יעד פריסה", "לאן לפרוס את v2.0?", choices)]);
        golden("right_to_left", &text);
        assert!(text.contains("\n1. \u{2068}שרת בדיקות (v2.0)\u{2069} - \u{2068}מהיר\u{2069}\n"), "{text:?}");
        assert!(text.contains("\n3. Rollback\n"), "{text:?}");
        assert!(text.contains("\n\nלאן לפרוס את v2.0?\n\n"), "a question finds its own direction: {text:?}");
    }

    #[test]
    fn plain_text_holds_no_invisible_characters() {
        for text in [shown(vec![deploy_target()]), shown(vec![deploy_target(), test_suites(), notes()])] {
            let allowed = |c: char| c == '\n' || (' '..='~').contains(&c) || "·“”…".contains(c);
            assert!(text.chars().all(allowed), "{text:?}");
        }
    }

    #[test]
    fn markup_and_mentions_stay_what_they_are() {
        let choices = vec![
            choice("`code` **bold** <b>x</b> [a](javascript:1) <!channel>"),
            described("@everyone", "<@U123> <script>alert(1)</script>"),
        ];
        golden("markup", &shown(vec![question("m", "**@here**", "Ready?``` </pre> <img src=x>", choices)]));
    }

    #[test]
    fn control_characters_spoil_nothing() {
        let choices = vec![
            choice("Keep\r"),
            choice("Drop\nALL"),
            described("Wait\u{1b}[2K", "a\u{202e}b\u{0}\u{9b}c\r\n9. Fake"),
            choice("\u{200b}"),
        ];
        golden(
            "control_characters",
            &shown(vec![question("c", "a\u{202e}b", "Proceed?\u{1b}[2K\u{7}", choices)]),
        );
    }

    #[test]
    fn a_question_cannot_pass_for_our_own_lines() {
        let text = "Continue?\n\n\n\n1. Yes\r\n2. No\u{2028}Reply with a number. To skip, reply yes.";
        let choices = vec![choice("1. Delete everything"), choice("Stop\n\n3. Hidden")];
        golden("fake_structure", &shown(vec![question("f", "1. Yes\n2. No", text, choices)]));
        for (text, set_in) in [
            ("1. Yes or no?", true),
            ("(a) yes or (b) no?", true),
            ("2️⃣ which?", true),
            ("2 servers are down. Restart them?", false),
            ("U.S. or EU?", false),
            ("v2.0 or v1.9?", false),
        ] {
            let shown = shown(vec![question("f", "F", text, vec![choice("Yes"), choice("No")])]);
            assert_eq!(shown.contains(&format!("\n> {text}\n")), set_in, "{shown}");
        }
    }

    #[test]
    fn several_questions_are_called_by_what_names_exactly_one() {
        let first_line = |headers: [&str; 2]| {
            let questions = vec![
                Question { header: headers[0].into(), ..deploy_target() },
                Question { header: headers[1].into(), ..test_suites() },
            ];
            example_line(&questions)
        };
        assert_eq!(first_line(["Deploy target", "Tests"]), "Deploy target: 1");
        assert_eq!(first_line(["Choice", "choice "]), "1: 1");
        assert_eq!(first_line(["", ""]), "1: 1");
        assert_eq!(first_line(["Ship: now", "Tests"]), "1: 1");
        assert_eq!(first_line(["test_suites", "Tests"]), "1: 1");
        assert_eq!(first_line(["2", "1"]), "deploy_target: 1");
    }

    #[test]
    fn the_status_names_the_question_and_the_choices() {
        let answers = |values: &[&str]| {
            let values = values.iter().map(|value| (*value).to_owned()).collect();
            Outcome::Answered(vec![Answer { question_id: "test_suites".into(), values }])
        };
        let status =
            |outcome, shared| status_line(&settled(vec![test_suites()], outcome), language(None), shared);
        for (values, private, shared) in [
            (&["Unit"][..], "Tests · Answered: Unit", "Tests · Answered: Unit"),
            (&["Unit", "my secret"], "Tests · Answered: Unit, my secret", "Tests · Answered: Unit, …"),
            (&["my\nsecret"], "Tests · Answered: my secret", "Tests · Answered"),
            (&["unit"], "Tests · Answered: unit", "Tests · Answered"),
        ] {
            assert_eq!(status(answers(values), false).as_deref(), Some(private));
            assert_eq!(status(answers(values), true).as_deref(), Some(shared));
        }
        for (reason, line) in [
            (NoAnswerReason::Expired, "Tests · Expired without an answer"),
            (NoAnswerReason::Skipped, "Tests · Skipped"),
            (NoAnswerReason::Cancelled, "Tests · Cancelled"),
            (NoAnswerReason::Undeliverable, "Tests · Could not be shown"),
        ] {
            assert_eq!(status(Outcome::NoAnswer(reason), true).as_deref(), Some(line));
        }
        assert_eq!(status_line(&prompt(vec![test_suites()]), language(None), true), None);
    }

    #[test]
    fn the_status_of_several_questions_has_a_line_for_each_answer() {
        let answer = |id: &str, value: &str| Answer { question_id: id.into(), values: vec![value.into()] };
        let questions =
            || vec![deploy_target(), Question { header: String::new(), ..test_suites() }, notes()];
        let answers = vec![
            answer("deploy_target", "Staging (Recommended)"),
            answer("test_suites", "Load"),
            answer("notes", "Nothing yet"),
        ];
        let line = status_line(&settled(questions(), Outcome::Answered(answers)), language(None), true);
        assert_eq!(
            line.as_deref(),
            Some(
                "Deploy target · Answered: Staging (Recommended)\n\
                 Question 2 of 3 · Answered: Load\n\
                 Notes · Answered"
            )
        );
        let skipped = settled(questions(), Outcome::NoAnswer(NoAnswerReason::Skipped));
        assert_eq!(
            status_line(&skipped, language(Some("nl")), true).as_deref(),
            Some("Deploy target, Vraag 2 van 3, Notes · Overgeslagen")
        );
    }
}
