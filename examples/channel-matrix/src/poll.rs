//! Which prompts get a poll, and what stands on it. The text message above says everything in full, so a poll may be
//! brief.

use serde_json::{Value, json};

use crate::tap::{Control, token};
use crate::text::{cut, excerpt, folded, is_blank, one_line, utf16};
use crate::wit::exports::ask_user::plugin::channel::{Binding, BindingTarget, ChoiceRef};
use crate::wit::exports::ask_user::plugin::types::{LineKind, Prompt, Question, Words};

/// Longest label and question in UTF-16 units. Matrix sets no limit; this is what Element X lets people type.
pub(crate) const LABEL: usize = 240;

/// A poll.
pub(crate) struct Poll {
    question: String,
    /// What can be voted for: the choices, *Submit* where several may be chosen, *Skip*.
    pub(crate) answers: Vec<Binding>,
    /// The poll as text, for clients that know none.
    pub(crate) fallback: String,
    several: bool,
}

impl Poll {
    /// The poll of a prompt with exactly one question of 2 to 4 choices. Every vote is sent as it is cast, so where
    /// several may be chosen one more answer says that these are all; that needs a client which lets people choose
    /// several, and is an extra.
    pub(crate) fn of(prompt: &Prompt, words: &Words, extras: bool) -> Option<Self> {
        let [question] = prompt.questions.as_slice() else { return None };
        let several = question.multi_select == Some(true);
        if !(2..=4).contains(&question.choices.len()) || (several && !extras) {
            return None;
        }
        let lines = choice_lines(question, words)?;
        let answer = |control, target, label: &str| {
            Some(Binding { token: token(&prompt.id, control)?, target, label: label.to_owned() })
        };
        let mut answers = Vec::new();
        for (index, label) in labels(question, &lines, words).iter().enumerate() {
            let choice = ChoiceRef { question_id: question.id.clone(), index: index as u32 };
            let control = if several { Control::OneOfSeveral(index) } else { Control::Choice(index) };
            answers.push(answer(control, BindingTarget::Choice(choice), label)?);
        }
        if several {
            answers.push(answer(Control::Submit, BindingTarget::Submit(question.id.clone()), &words.submit)?);
        }
        answers.push(answer(Control::Skip, BindingTarget::Skip, &words.skip)?);
        let asked = excerpt(&question.text, LABEL);
        let fallback = format!("{asked}\n{}\n{}", lines.join("\n"), words.how_to);
        Some(Self { question: asked, answers, fallback, several })
    }

    /// The members of the event that describe it. What is disclosed is a vote of one person, which ends the poll.
    pub(crate) fn content(&self) -> Value {
        let answer =
            |answer: &Binding| json!({ "id": answer.token, "org.matrix.msc1767.text": answer.label });
        // All choices and *Submit*; nobody skips and answers.
        let selections = if self.several { self.answers.len() - 1 } else { 1 };
        json!({
            "kind": "org.matrix.msc3381.poll.disclosed",
            "max_selections": selections,
            "question": { "org.matrix.msc1767.text": self.question },
            "answers": self.answers.iter().map(answer).collect::<Vec<_>>(),
        })
    }
}

/// The lines of the choices of a prompt with one question, where there is one for each.
fn choice_lines(question: &Question, words: &Words) -> Option<Vec<String>> {
    let choices = words.body.iter().filter(|line| line.kind == LineKind::Choice);
    let lines: Vec<String> = choices.map(|line| cut(&line.text, LABEL, utf16)).collect();
    (lines.len() == question.choices.len()).then_some(lines)
}

/// The labels as they are, unless one of them is too long, blank, or reads like another or like one of ours: then all of
/// them begin with the mark that they have in the text.
fn labels(question: &Question, lines: &[String], words: &Words) -> Vec<String> {
    let full: Vec<String> = question.choices.iter().map(|choice| one_line(&choice.label)).collect();
    let mut seen = vec![folded(&words.skip), folded(&words.submit)];
    let plain = full.iter().all(|label| {
        let new = !seen.contains(&folded(label));
        seen.push(folded(label));
        new && !is_blank(label) && utf16(label) <= LABEL
    });
    if plain {
        return full;
    }
    let marked = full.iter().zip(lines).map(|(label, line)| {
        let mark = line.split(' ').next().unwrap_or_default();
        cut(format!("{mark} {label}").trim_end(), LABEL, utf16)
    });
    marked.collect()
}
