//! What there is to say, for channels that do not bring their own words: those of other authors.

use crate::catalogue::{Language, language};
use crate::channel::Feedback;
use crate::channel::form::{self, LineKind};
use crate::model::Prompt;

/// What something is said about.
#[allow(clippy::large_enum_variant, reason = "it is made for one call and never kept")]
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum About {
    /// A prompt, pending or ended.
    Prompt(Prompt),
    /// What came of a tap or a message.
    Feedback(Feedback),
}

/// What a line is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Our own introduction.
    Title,
    /// Anything else.
    Text,
    /// A choice with its mark.
    Choice,
    /// An address.
    Link,
}

/// A line of a prompt.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Line {
    /// What it is.
    pub kind: Kind,
    /// The line.
    pub text: String,
}

/// What there is to say.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Words {
    /// The prompt.
    pub body: Vec<Line>,
    /// How to answer by typing.
    pub how_to: String,
    /// How to answer with controls.
    pub how_to_tap: String,
    /// Label of the control that asks for own text.
    pub other: String,
    /// Label of the control that skips.
    pub skip: String,
    /// Label of the control that submits.
    pub submit: String,
    /// Asks for own text.
    pub type_own: String,
    /// How the prompt ended, or what to tell a person.
    pub message: Option<String>,
}

/// What there is to say about this, in this language or else the prompt's.
pub fn words(about: &About, locale: Option<&str>, shared: bool) -> Words {
    match about {
        About::Prompt(prompt) => {
            let language = language(locale.or(prompt.origin.locale.as_deref()));
            let body = form::body(prompt, language).into_iter().map(|line| Line {
                kind: match line.kind {
                    LineKind::Title => Kind::Title,
                    LineKind::Text => Kind::Text,
                    LineKind::Choice => Kind::Choice,
                    LineKind::Address(_) => Kind::Link,
                },
                text: line.text,
            });
            Words {
                body: body.collect(),
                how_to: form::how_to(prompt, language),
                message: form::status_line(prompt, language, shared),
                ..without_a_prompt(language)
            }
        }
        About::Feedback(feedback) => {
            let language = language(locale);
            let message = Some(feedback.words(&language.feedback).to_owned());
            Words { message, ..without_a_prompt(language) }
        }
    }
}

fn without_a_prompt(language: &Language) -> Words {
    Words {
        body: Vec::new(),
        how_to: String::new(),
        how_to_tap: language.form.hint_tap.to_owned(),
        other: language.controls.other.to_owned(),
        skip: language.controls.skip.to_owned(),
        submit: language.controls.submit.to_owned(),
        type_own: language.corrections.type_own.to_owned(),
        message: None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{Choice, NoAnswerReason, Origin, Outcome, Question, Settlement};

    fn prompt() -> Prompt {
        let choices = ["3000", "8080"].map(|label| Choice { label: label.into(), description: None });
        Prompt {
            id: "ask_1".into(),
            questions: vec![Question {
                id: "port".into(),
                header: "Port".into(),
                text: "Which port?".into(),
                choices: choices.into(),
                multi_select: None,
                is_other: Some(true),
                is_secret: None,
                url: Some("https://example.com/".into()),
            }],
            origin: Origin { locale: Some("nl".into()), ..Origin::default() },
            created_at: 0,
            expires_at: 900_000,
            settlement: None,
        }
    }

    #[test]
    fn a_prompt_in_words_is_its_text_form() {
        let said = words(&About::Prompt(prompt()), Some("en"), true);
        let lines: Vec<&str> = said.body.iter().map(|line| line.text.as_str()).collect();
        let whole = form::text_form(&prompt(), language(Some("en")));
        assert_eq!(format!("{}\n\n{}", lines.join("\n"), said.how_to), whole);
        assert_eq!(said.body[0].kind, Kind::Title);
        assert!(said.body.iter().any(|line| line.text == "a) 3000" && line.kind == Kind::Choice), "{said:?}");
        assert!(
            said.body
                .iter()
                .any(|line| line.kind == Kind::Link && line.text.ends_with("https://example.com/"))
        );
        assert_eq!(said.message, None);
    }

    #[test]
    fn the_language_is_the_one_that_is_asked_for_or_the_prompts() {
        assert_eq!(words(&About::Prompt(prompt()), None, true).skip, "Overslaan");
        assert_eq!(words(&About::Prompt(prompt()), Some("en"), true).skip, "Skip");
        assert_eq!(words(&About::Feedback(Feedback::Expired), None, true).skip, "Skip");
    }

    #[test]
    fn how_it_ended_and_what_is_told_are_the_message() {
        let outcome = Outcome::NoAnswer(NoAnswerReason::Expired);
        let settlement = Some(Settlement { outcome, at: 1, resolved_by: None, resolution_id: None });
        let ended = Prompt { settlement, ..prompt() };
        let said = words(&About::Prompt(ended), Some("en"), true);
        assert_eq!(said.message.as_deref(), Some("Port · Expired without an answer"));
        let told = words(&About::Feedback(Feedback::Expired), Some("en"), true);
        assert!(told.message.is_some() && told.body.is_empty(), "{told:?}");
    }
}
