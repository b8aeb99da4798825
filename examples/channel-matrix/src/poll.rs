//! Which prompts get a poll, and what stands on it. The text message above says everything in full, so a poll may be
//! brief.

use serde_json::{Value, json};

use crate::prompt::{is_numbered, takes_many};
use crate::tap::{Control, token};
use crate::text::{cut, excerpt, folded, is_blank, one_line, utf16};
use crate::wit::exports::ask_user::plugin::channel::{Binding, BindingTarget, ChoiceRef};
use crate::wit::exports::ask_user::plugin::types::{Prompt, Question};
use crate::words::Words;

/// Longest label and question in UTF-16 units. Matrix sets no limit; this is what Element X lets people type.
pub(crate) const LABEL: usize = 240;

/// A poll.
pub(crate) struct Poll {
    question: String,
    /// What can be voted for: the choices, *Submit* where several may be chosen, *Skip*.
    pub(crate) answers: Vec<Binding>,
    several: bool,
}

impl Poll {
    /// The poll of a prompt with exactly one question of 2 to 4 choices. Every vote is sent as it is cast, so where
    /// several may be chosen one more answer says that these are all; that needs a client which lets people choose
    /// several, and is an extra.
    pub(crate) fn of(prompt: &Prompt, words: &Words, extras: bool) -> Option<Self> {
        let [question] = prompt.questions.as_slice() else { return None };
        let several = takes_many(question);
        if !(2..=4).contains(&question.choices.len()) || (several && !extras) {
            return None;
        }
        let answer = |control, target, label: &str| {
            Some(Binding { token: token(&prompt.id, control)?, target, label: label.to_owned() })
        };
        let mut answers = Vec::new();
        for (index, label) in labels(question, words).iter().enumerate() {
            let choice = ChoiceRef { question_id: question.id.clone(), index: index as u32 };
            let control = if several { Control::OneOfSeveral(index) } else { Control::Choice(index) };
            answers.push(answer(control, BindingTarget::Choice(choice), label)?);
        }
        if several {
            answers.push(answer(Control::Submit, BindingTarget::Submit(question.id.clone()), words.submit)?);
        }
        answers.push(answer(Control::Skip, BindingTarget::Skip, words.skip)?);
        Some(Self { question: excerpt(&question.text, LABEL), answers, several })
    }

    /// How to use it.
    pub(crate) fn how_to(&self, words: &Words) -> &'static str {
        if self.several { words.vote_for_several } else { words.vote }
    }

    /// The poll as text, for clients that know none.
    pub(crate) fn fallback(&self, how_to: &str) -> String {
        let is_choice = |answer: &&Binding| matches!(answer.target, BindingTarget::Choice(_));
        let choices: Vec<String> =
            self.answers.iter().filter(is_choice).map(|answer| format!("- {}", answer.label)).collect();
        format!("{}\n{}\n{how_to}", self.question, choices.join("\n"))
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

/// The labels as they are, unless one of them is too long, blank, or reads like another or like one of ours: then all of
/// them begin with a mark, the one in the text where that is a number.
fn labels(question: &Question, words: &Words) -> Vec<String> {
    let full: Vec<String> = question.choices.iter().map(|choice| one_line(&choice.label)).collect();
    let mut seen = vec![folded(words.skip), folded(words.submit)];
    let plain = full.iter().all(|label| {
        let new = !seen.contains(&folded(label));
        seen.push(folded(label));
        new && !is_blank(label) && utf16(label) <= LABEL
    });
    if plain {
        return full;
    }
    let numbered = is_numbered(question);
    let marked = full.iter().enumerate().map(|(index, label)| {
        // Where no number can be typed there is still something that tells them apart.
        let mark = if numbered { format!("{}.", index + 1) } else { "•".repeat(index + 1) };
        cut(format!("{mark} {label}").trim_end(), LABEL, utf16)
    });
    marked.collect()
}
