//! What a typed message means (rulings 13 to 19).
//!
//! | module | decides |
//! |---|---|
//! | `message` | which text of a message counts |
//! | `several_questions`, `line` | which line answers which question |
//! | `answer` | the answer to one question, and why a text is none |
//! | `several_choices`, `choice` | which choices a text means |
//! | `credential` | what looks like a credential |

mod answer;
mod choice;
mod credential;
mod line;
mod message;
mod several_choices;
mod several_questions;

#[cfg(test)]
mod tests;

use crate::catalogue::language;
use crate::model::{Answer, Policy, Prompt};
use crate::text::{fold, is_blank};
use answer::Rules;
use choice::Choices;
pub(crate) use credential::looks_like_credential;
use message::Mentions;

/// A message of a person.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Message {
    /// What was typed.
    pub text: String,
    /// What was spoken, if it was written down.
    pub transcript: Option<String>,
    /// Whether a picture, file, sticker or recording came with it.
    pub has_media: bool,
    /// Whether it is a change of an earlier message.
    pub edited: bool,
    /// Whether it was written by somebody else first.
    pub forwarded: bool,
    /// What the bot is called.
    pub bot_names: Vec<String>,
    /// Language of corrections.
    pub locale: Option<String>,
}

/// Why a message is not an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NotAnAnswer {
    /// It has no text.
    NoText,
    /// It changes an earlier message.
    Edited,
    /// Somebody else wrote it.
    Forwarded,
    /// The prompt is not pending.
    NotPending,
}

/// What a message means.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Interpretation {
    /// It answers all questions.
    Answers {
        /// One answer a question, in the order of the questions.
        answers: Vec<Answer>,
        /// What to tell the person beside it.
        warning: Option<String>,
    },
    /// It answers some.
    Incomplete {
        /// What is answered by now.
        draft: Vec<Answer>,
        /// Ids of the questions without an answer.
        missing: Vec<String>,
        /// What to tell the person.
        correction: String,
    },
    /// It cannot be taken as it is; what to tell the person.
    Correction(String),
    /// It skips the prompt.
    Skip,
    /// It has nothing to do with the prompt.
    NotAnAnswer(NotAnAnswer),
}

/// Decides what a message means. `draft` holds what earlier messages of the same person answered.
pub fn interpret(
    prompt: &Prompt,
    message: &Message,
    draft: Option<&[Answer]>,
    policy: &Policy,
) -> Interpretation {
    if prompt.settlement.is_some() {
        return Interpretation::NotAnAnswer(NotAnAnswer::NotPending);
    }
    let words = match message::words(message) {
        Ok(words) => words,
        Err(reason) => return Interpretation::NotAnAnswer(reason),
    };
    let questions: Vec<Choices<'_>> = prompt.questions.iter().map(Choices::of).collect();
    let mentions = Mentions::of(&message.bot_names);
    let removed = mentions.removed(words);
    // A label may end with the bot's name. Typed as shown it is still that choice.
    let text = if removed.len() < words.len() && is_chosen(&questions, words) { words } else { removed };
    if is_blank(text) {
        return Interpretation::NotAnAnswer(NotAnAnswer::NoText);
    }
    let shown = language(prompt.origin.locale.as_deref());
    let spoken = message.locale.as_deref().map_or(shown, |locale| language(Some(locale)));
    let command = fold(mentions.command(text));
    if command == "/skip" || [spoken, shown].iter().any(|words| command == fold(words.controls.skip_command))
    {
        return Interpretation::Skip;
    }
    let rules = Rules { language: spoken, shown: [spoken, shown], policy };
    match questions.as_slice() {
        // Nothing is asked, so nothing can be answered.
        [] => Interpretation::NotAnAnswer(NotAnAnswer::NotPending),
        [choices] => read_one(choices, text, &rules),
        questions => several_questions::read(questions, text, draft, &rules),
    }
}

/// Whether a message is made of choices and nothing else.
fn is_chosen(questions: &[Choices<'_>], text: &str) -> bool {
    match questions {
        [choices] => answer::choices_only(choices, text).is_some(),
        questions => several_questions::chooses_for_all(questions, text),
    }
}

fn read_one(choices: &Choices<'_>, text: &str, rules: &Rules<'_>) -> Interpretation {
    match answer::read(choices, text, text, rules) {
        Ok(read) => Interpretation::Answers {
            answers: vec![Answer { question_id: choices.question.id.clone(), values: read.values }],
            warning: read.is_suspect.then(|| rules.language.corrections.credential_warning.to_owned()),
        },
        Err(problem) => Interpretation::Correction(problem.correction(choices, rules.language)),
    }
}
