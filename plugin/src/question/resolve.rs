//! Answers given by a client or a control (rulings 12, 17, 18, 21, 27). Typed messages are read in [`crate::reply`]
//! and end here too.

use crate::model::{
    Answer, CredentialPolicy, Outcome, Policy, Prompt, Question, RepeatPolicy, Settlement, Timestamp,
};
use crate::reply::looks_like_credential;
use crate::text::{excerpt, trim};

/// Longest mark of a submission, in characters.
const MAX_RESOLUTION_ID: usize = 128;
/// How many problems are listed.
const LISTED: usize = 16;

/// What a client submits as the answer.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Resolution {
    /// One answer a question, in any order.
    pub answers: Vec<Answer>,
    /// Who answers.
    pub resolved_by: Option<String>,
    /// The caller's own mark.
    pub resolution_id: Option<String>,
}

/// What is wrong with an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AnswerErrorKind {
    /// The prompt has no question of that id.
    UnknownQuestion,
    /// The question got no value.
    Unanswered,
    /// A value with nothing in it.
    Blank,
    /// More than one value for a question that takes one.
    TooManyValues,
    /// Not one of the choices, where only they are allowed.
    NotAChoice,
    /// Own text beyond the limit.
    TooLong,
    /// Own text that looks like a credential.
    Credential,
    /// A `resolution-id` that is empty or too long.
    ResolutionId,
}

/// One thing that is wrong with an answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AnswerError {
    /// What it is.
    pub kind: AnswerErrorKind,
    /// Which question; empty for the resolution as a whole.
    pub question_id: String,
    /// All of it as one sentence.
    pub message: String,
}

/// Why a prompt was not settled.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ResolveError {
    /// It was settled before.
    AlreadySettled,
    /// Its deadline has passed.
    Overdue,
    /// The answers do not fit.
    InvalidAnswers(Vec<AnswerError>),
}

/// What to commit, and what to tell the person beside it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Resolved {
    /// The end of the prompt.
    pub settlement: Settlement,
    /// Set when the operator only warns about what looks like a credential.
    pub warning: Option<String>,
}

/// A valid resolution.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// The host commits this.
    Settle(Resolved),
    /// The same resolution had won before.
    Repeated(Settlement),
}

/// Whether a prompt can still be settled at `now`.
pub(super) fn open(prompt: &Prompt, now: Timestamp) -> Result<(), ResolveError> {
    if prompt.settlement.is_some() {
        Err(ResolveError::AlreadySettled)
    } else if prompt.is_overdue(now) {
        Err(ResolveError::Overdue)
    } else {
        Ok(())
    }
}

/// Decides about an answer. One that does not fit leaves the prompt pending.
pub fn resolve(
    prompt: &Prompt,
    resolution: Resolution,
    policy: &Policy,
    now: Timestamp,
) -> Result<Verdict, ResolveError> {
    if let Some(settlement) = &prompt.settlement {
        let repeated = policy.repeats == RepeatPolicy::FirstResult
            && resolution.resolution_id.is_some()
            && resolution.resolution_id == settlement.resolution_id
            && canonical(prompt, &resolution.answers, policy)
                .is_ok_and(|given| settlement.outcome == Outcome::Answered(given.answers));
        return if repeated {
            Ok(Verdict::Repeated(settlement.clone()))
        } else {
            Err(ResolveError::AlreadySettled)
        };
    }
    open(prompt, now)?;
    let mut errors = Vec::new();
    if let Some(id) = &resolution.resolution_id {
        let length = id.chars().count();
        if !(1..=MAX_RESOLUTION_ID).contains(&length) {
            errors.push(AnswerError {
                kind: AnswerErrorKind::ResolutionId,
                question_id: String::new(),
                message: format!(
                    "resolutionId must have 1 to {MAX_RESOLUTION_ID} characters; it has {length}"
                ),
            });
        }
    }
    match canonical(prompt, &resolution.answers, policy) {
        Ok(given) if errors.is_empty() => Ok(Verdict::Settle(Resolved {
            settlement: Settlement {
                outcome: Outcome::Answered(given.answers),
                at: now,
                resolved_by: resolution.resolved_by,
                resolution_id: resolution.resolution_id,
            },
            warning: given.credential.then(|| {
                let language = crate::catalogue::language(prompt.origin.locale.as_deref());
                language.corrections.credential_warning.to_owned()
            }),
        })),
        Ok(_) => Err(ResolveError::InvalidAnswers(errors)),
        Err(more) => {
            errors.extend(more);
            errors.truncate(LISTED);
            Err(ResolveError::InvalidAnswers(errors))
        }
    }
}

/// Answers in the order of the questions, every value a stored label or own text.
struct Canonical {
    answers: Vec<Answer>,
    /// Whether own text looks like a credential and was taken all the same.
    credential: bool,
}

fn canonical(prompt: &Prompt, given: &[Answer], policy: &Policy) -> Result<Canonical, Vec<AnswerError>> {
    let mut errors = Vec::new();
    for answer in given {
        if prompt.question(&answer.question_id).is_none() && errors.len() < LISTED {
            let id = excerpt(&answer.question_id, 60);
            errors.push(AnswerError {
                kind: AnswerErrorKind::UnknownQuestion,
                message: format!("question '{id}' is not part of this prompt"),
                question_id: id,
            });
        }
    }
    let mut credential = false;
    let mut answers = Vec::with_capacity(prompt.questions.len());
    for question in &prompt.questions {
        // The last one counts, as with members of a JSON object.
        let values =
            given.iter().rev().find(|answer| answer.question_id == question.id).map(|answer| &answer.values);
        let before = errors.len();
        let mut add = |kind, message: String| {
            if errors.len() < LISTED + before {
                errors.push(AnswerError { kind, question_id: question.id.clone(), message });
            }
        };
        let id = &question.id;
        let values = values.map(Vec::as_slice).unwrap_or_default();
        if values.is_empty() {
            add(AnswerErrorKind::Unanswered, format!("question '{id}' requires an answer"));
        }
        if values.len() > 1 && !question.takes_many() {
            add(
                AnswerErrorKind::TooManyValues,
                format!("question '{id}' takes one answer; it got {}", values.len()),
            );
        }
        let mut kept = Vec::with_capacity(values.len());
        for value in values {
            let value = trim(value);
            if value.is_empty() {
                add(AnswerErrorKind::Blank, format!("question '{id}' got a blank answer"));
            } else if let Some(label) = label_of(question, value) {
                kept.push(label.to_owned());
            } else if !question.takes_own_text() {
                add(
                    AnswerErrorKind::NotAChoice,
                    format!("question '{id}' takes only its options; it got \"{}\"", excerpt(value, 60)),
                );
            } else if let Some(limit) = policy.own_text_limit.filter(|limit| value.len() > *limit as usize) {
                add(
                    AnswerErrorKind::TooLong,
                    format!(
                        "question '{id}' got an answer of {} bytes; at most {limit} are possible",
                        value.len()
                    ),
                );
            } else {
                match policy.credentials {
                    CredentialPolicy::Refuse if looks_like_credential(value) => {
                        let language = crate::catalogue::language(prompt.origin.locale.as_deref());
                        add(AnswerErrorKind::Credential, language.corrections.credential.to_owned());
                    }
                    CredentialPolicy::Warn if looks_like_credential(value) => {
                        credential = true;
                        kept.push(value.to_owned());
                    }
                    _ => kept.push(value.to_owned()),
                }
            }
        }
        answers.push(Answer { question_id: id.clone(), values: kept });
    }
    if errors.is_empty() { Ok(Canonical { answers, credential }) } else { Err(errors) }
}

/// The label that a value names: exact, but for white space around it.
fn label_of<'a>(question: &'a Question, value: &str) -> Option<&'a str> {
    question.choices.iter().map(|choice| choice.label.as_str()).find(|label| trim(label) == value)
}
