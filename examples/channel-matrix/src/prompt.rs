//! A prompt as lines of text. Nothing of it is left away, and every line of it can be told from ours.

use crate::text::{self, QUOTED, is_blank, isolated, one_line};
use crate::wit::exports::ask_user::plugin::types::{Choice, NoAnswerReason, Outcome, Prompt, Question};
use crate::words::Words;

/// Most UTF-16 units of one answer in a status line, and bytes of them all.
const ANSWER: usize = 100;
const STATUS: usize = 2048;

/// Whether choices are numbered. The host reads what people type, and takes a number for the place of a choice, except
/// where a label is a number itself; then a number would not do what it promises, and only the labels are sure to work.
pub(crate) fn is_numbered(question: &Question) -> bool {
    question.choices.iter().all(|choice| is_no_number(&one_line(&choice.label)))
}

/// Whether nobody takes a label for a number: it has letters, and no pictures that one might leave away.
fn is_no_number(label: &str) -> bool {
    let bare = label.to_lowercase().replace("(recommended)", "");
    let is_picture = |c: char| c == '\u{20e3}' || c >= '\u{2190}';
    !label.contains(char::is_numeric)
        || (bare.contains(|c: char| c.is_ascii_alphabetic()) && !bare.contains(is_picture))
}

pub(crate) fn takes_many(question: &Question) -> bool {
    question.multi_select == Some(true)
}

/// The prompt without a word on how to answer it.
pub(crate) fn body(prompt: &Prompt, words: &Words) -> Vec<String> {
    let total = prompt.questions.len();
    let mut lines = Vec::new();
    if total > 1 {
        lines.push(words.intro_many.replace("{total}", &total.to_string()));
    }
    for (index, question) in prompt.questions.iter().enumerate() {
        let title = if total > 1 { step(index, total, words) } else { words.intro_one.to_owned() };
        if !lines.is_empty() {
            lines.push(String::new());
        }
        lines.push(joined(title, header(question)));
        lines.push(String::new());
        lines.extend(quoted(&question.text));
        lines.extend(question.url.iter().map(|url| format!("{} {}", words.link, one_line(url))));
        lines.push(String::new());
        lines.extend(choices(question, words));
        if total > 1 {
            lines.push(hints(question, words));
        }
    }
    lines
}

/// How to answer a prompt by typing.
pub(crate) fn how_to(prompt: &Prompt, words: &Words) -> String {
    let hint = match prompt.questions.as_slice() {
        [question] => hints(question, words),
        _ => words.a_line_each.to_owned(),
    };
    format!("{hint} {}", words.to_skip)
}

/// How a prompt ended: a line for each answer, or one for all questions. `None` while it is pending. Where others read
/// too, what somebody typed is not repeated.
pub(crate) fn status(prompt: &Prompt, words: &Words, shared: bool) -> Option<String> {
    let total = prompt.questions.len();
    let name = |index: usize, question: &Question| match header(question) {
        header if header.is_empty() && total > 1 => step(index, total, words),
        header => header,
    };
    let questions = prompt.questions.iter().enumerate();
    let lines: Vec<String> = match &prompt.settlement.as_ref()?.outcome {
        Outcome::Answered(answers) => questions
            .filter_map(|(index, question)| {
                let answer = answers.iter().find(|answer| answer.question_id == question.id)?;
                Some(joined(name(index, question), answered(question, &answer.values, words, shared)))
            })
            .collect(),
        Outcome::NoAnswer(reason) => {
            let names: Vec<String> = questions.map(|(index, question)| name(index, question)).collect();
            let said = match reason {
                NoAnswerReason::Expired => words.expired,
                NoAnswerReason::Skipped => words.skipped,
                NoAnswerReason::Cancelled => words.cancelled,
                NoAnswerReason::Undeliverable => words.undeliverable,
            };
            vec![joined(names.join(", "), said.to_owned())]
        }
    };
    let whole = if lines.is_empty() { words.answered.to_owned() } else { lines.join("\n") };
    Some(text::cut(&whole, STATUS, str::len))
}

fn answered(question: &Question, values: &[String], words: &Words, shared: bool) -> String {
    let is_choice = |value: &&String| question.choices.iter().any(|choice| choice.label == **value);
    let told = values.iter().filter(|value| !shared || is_choice(value));
    let mut told: Vec<String> = told.map(|value| isolated(text::excerpt(value, ANSWER))).collect();
    if told.is_empty() {
        return words.answered.to_owned();
    }
    if told.len() < values.len() {
        told.push("…".to_owned());
    }
    format!("{}: {}", words.answered, told.join(", "))
}

/// What somebody asks. Any number of empty lines separates as one does, and many would push the choices out of sight.
fn quoted(question: &str) -> Vec<String> {
    let mut lines = text::lines(text::trim(question));
    lines.iter_mut().for_each(|line| *line = format!("{QUOTED} {line}").trim_end().to_owned());
    lines.dedup_by(|next, line| next == QUOTED && line == QUOTED);
    lines
}

fn choices(question: &Question, words: &Words) -> Vec<String> {
    if question.choices.is_empty() {
        return Vec::new();
    }
    let numbered = is_numbered(question);
    let line = |(index, choice): (usize, &Choice)| {
        let label = isolated(one_line(&choice.label));
        let mark = if numbered { format!("{}.", index + 1) } else { "•".to_owned() };
        let line = format!("{mark} {label}");
        match choice.description.as_deref().map(one_line).filter(|description| !is_blank(description)) {
            Some(description) => format!("{line} - {}", isolated(description)),
            None => line.trim_end().to_owned(),
        }
    };
    let first = if takes_many(question) { words.choose_any } else { words.choose_one };
    std::iter::once(first.to_owned()).chain(question.choices.iter().enumerate().map(line)).collect()
}

fn hints(question: &Question, words: &Words) -> String {
    if question.choices.is_empty() {
        return words.by_own_words.to_owned();
    }
    let by = if is_numbered(question) { words.by_number } else { words.by_option };
    let many = takes_many(question).then_some(words.with_commas);
    let own = (question.is_other == Some(true)).then_some(words.own_words_too);
    [Some(by), many, own].into_iter().flatten().collect::<Vec<_>>().join(" ")
}

fn header(question: &Question) -> String {
    let header = one_line(&question.header);
    if is_blank(&header) { String::new() } else { isolated(header) }
}

fn step(index: usize, total: usize, words: &Words) -> String {
    words.step.replace("{n}", &(index + 1).to_string()).replace("{total}", &total.to_string())
}

fn joined(first: String, second: String) -> String {
    let parts = [first, second];
    parts.iter().filter(|part| !part.is_empty()).map(String::as_str).collect::<Vec<_>>().join(" · ")
}
