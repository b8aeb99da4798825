//! Prompts and words for the tests of this folder.

use crate::contract::{Choice, Origin, PhraseBook, Prompt, Question};

pub(super) fn prompt(questions: Vec<Question>) -> Prompt {
    Prompt {
        id: "p1".into(),
        questions,
        origin: Origin::default(),
        created_at: 0,
        expires_at: 900_000,
        settlement: None,
    }
}

/// A question with one answer, where own text counts.
pub(super) fn single(id: &str, labels: &[&str]) -> Question {
    Question {
        id: id.into(),
        header: id.into(),
        text: format!("Which {id}?"),
        choices: labels.iter().map(|label| Choice { label: (*label).into(), description: None }).collect(),
        multi_select: None,
        is_other: Some(true),
        is_secret: None,
        url: None,
    }
}

/// A question with several answers, where own text counts.
pub(super) fn several(id: &str, labels: &[&str]) -> Question {
    Question { multi_select: Some(true), ..single(id, labels) }
}

/// A question that is answered in own words only.
pub(super) fn free(id: &str) -> Question {
    single(id, &[])
}

pub(super) fn target() -> Question {
    let mut question = single("target", &["Staging (Recommended)", "Production"]);
    question.header = "Target".into();
    question.text = "Where should this build go?".into();
    question.choices[0].description = Some("Safe to break; nobody but us looks at it.".into());
    question
}

pub(super) fn english() -> PhraseBook {
    PhraseBook {
        locale: "en".into(),
        other: "Other…".into(),
        own_answer: "Your own answer".into(),
        skip: "Skip".into(),
        skip_command: "/skip".into(),
        next: "Next".into(),
        back: "Back".into(),
        submit: "Submit".into(),
        choose_one: "Choose one".into(),
        choose_any: "Choose one or more".into(),
        step: "Question {n} of {total}".into(),
        seconds_left: "{seconds} s left".into(),
        answered: "Answered".into(),
        skipped: "Skipped".into(),
        expired: "Expired without an answer".into(),
        cancelled: "Cancelled".into(),
    }
}
