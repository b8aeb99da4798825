//! What a typed message means (rulings 13 to 19), and the words around a prompt.

mod credential;

use crate::model::{Answer, Policy, Prompt};
pub(crate) use credential::looks_like_credential;

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
    let _ = (prompt, message, draft, policy);
    Interpretation::NotAnAnswer(NotAnAnswer::NoText)
}
