//! Prompts as the wire has them: OpenClaw's question record, with our additions where they were asked for.

use serde::Serialize;

use crate::model::{Choice, NoAnswerReason, Outcome, Prompt, Question, Timestamp};
use crate::tool::{Envelope, envelope};

/// How a record is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RecordForm {
    /// As OpenClaw's closed schema has it.
    Openclaw,
    /// With our additions.
    Extended,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Record<'a> {
    id: &'a str,
    questions: Vec<RecordQuestion<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    agent_id: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    session_key: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    run_id: Option<&'a str>,
    created_at_ms: Timestamp,
    expires_at_ms: Timestamp,
    status: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    answers: Option<Envelope<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    resolved_by: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<&'static str>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct RecordQuestion<'a> {
    question_id: &'a str,
    header: &'a str,
    question: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    url: Option<&'a str>,
    options: Vec<RecordOption<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    multi_select: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    is_other: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    is_secret: Option<bool>,
}

#[derive(Serialize)]
struct RecordOption<'a> {
    label: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    description: Option<&'a str>,
}

/// The record of a prompt as JSON text. One that is overdue at `now` reads as expired, whether or not the host has
/// settled it yet (ruling 21).
pub fn get(prompt: &Prompt, form: RecordForm, now: Timestamp) -> String {
    write(&record(prompt, form, now))
}

/// The records of a page as the JSON text of an array, in the order given.
pub fn list(prompts: &[Prompt], form: RecordForm, now: Timestamp) -> String {
    write(&prompts.iter().map(|prompt| record(prompt, form, now)).collect::<Vec<_>>())
}

fn write(value: &impl Serialize) -> String {
    // Records hold text, numbers and flags under fixed names: there is nothing in them that JSON cannot say.
    serde_json::to_string(value).unwrap_or_default()
}

fn record(prompt: &Prompt, form: RecordForm, now: Timestamp) -> Record<'_> {
    let overdue = Outcome::NoAnswer(NoAnswerReason::Expired);
    let outcome = match &prompt.settlement {
        Some(settlement) => Some(&settlement.outcome),
        None if prompt.is_overdue(now) => Some(&overdue),
        None => None,
    };
    let (status, answers, reason) = match outcome {
        None => ("pending", None, None),
        Some(Outcome::Answered(_)) => ("answered", prompt.settlement.as_ref().and_then(answers_of), None),
        Some(Outcome::NoAnswer(NoAnswerReason::Expired)) => ("expired", None, Some(NoAnswerReason::Expired)),
        Some(Outcome::NoAnswer(reason)) => ("cancelled", None, Some(*reason)),
    };
    Record {
        id: &prompt.id,
        questions: prompt.questions.iter().map(question).collect(),
        agent_id: prompt.origin.agent.as_deref(),
        session_key: prompt.origin.session_key.as_deref(),
        run_id: prompt.origin.run.as_deref(),
        created_at_ms: prompt.created_at,
        expires_at_ms: prompt.expires_at,
        status,
        answers,
        resolved_by: prompt.settlement.as_ref().and_then(|settlement| settlement.resolved_by.as_deref()),
        reason: reason.filter(|_| form == RecordForm::Extended).map(NoAnswerReason::word),
    }
}

fn answers_of(settlement: &crate::model::Settlement) -> Option<Envelope<'_>> {
    match &settlement.outcome {
        Outcome::Answered(answers) => Some(envelope(answers)),
        Outcome::NoAnswer(_) => None,
    }
}

fn question(question: &Question) -> RecordQuestion<'_> {
    RecordQuestion {
        question_id: &question.id,
        header: &question.header,
        question: &question.text,
        url: question.url.as_deref(),
        options: question.choices.iter().map(option).collect(),
        multi_select: question.multi_select,
        is_other: question.is_other,
        is_secret: question.is_secret,
    }
}

fn option(choice: &Choice) -> RecordOption<'_> {
    RecordOption { label: &choice.label, description: choice.description.as_deref() }
}
