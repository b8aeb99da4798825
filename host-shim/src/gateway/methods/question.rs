//! `question.*`, as OpenClaw has them (rulings 12 and 20 to 27).

use std::sync::Arc;

use serde::Serialize;
use serde::ser::{SerializeMap, Serializer};
use serde_json::json;

use super::params::{CancelReason, Get, How, List, Request, Resolve, Status, Wait};
use super::{Caller, host_error};
use crate::clock::after;
use crate::contract::{Answer, NoAnswerReason, Origin, Outcome, Prompt, RecordForm, RequestParams};
use crate::gateway::protocol::error::{CallError, shortened};
use crate::gateway::protocol::frame::to_json;
use crate::questions::{FindError, RequestError, SettleError, Submission, WaitError};
use crate::store::{Cursor, Query, StatusFilter};

/// Who ends the questions of an aborted run, as OpenClaw's tool names itself.
const RUN_ABORT: &str = "run-abort";
/// What a list without our parameters may grow to. OpenClaw's client cannot ask for a part of it.
const WHOLE_LIST_LIMIT: usize = 20 << 20;

impl Caller {
    pub(super) async fn request(&self, mut params: Request) -> Result<String, CallError> {
        let questions = params.questions()?;
        let route = self.gateway.agents.route(params.session_key.as_deref(), params.agent_id.as_deref())?;
        let origin = Origin {
            agent: route.agent,
            session_key: route.session,
            run: params.run_id,
            ..Origin::default()
        };
        let asked = RequestParams { questions, timeout_ms: params.timeout_ms };
        let prompt = self.gateway.host.request(&self.principal.tenant, &asked, &origin, params.id).await;
        let prompt = prompt.map_err(|error| request_error(&error))?;
        Ok(to_json(&json!({ "id": prompt.id, "expiresAtMs": prompt.expires_at })))
    }

    pub(super) async fn wait_answer(&self, params: Wait) -> Result<String, CallError> {
        let host = &self.gateway.host;
        let limit = async {
            match params.timeout_ms {
                None => std::future::pending().await,
                Some(timeout) => after(&**host.clock(), timeout).await,
            }
        };
        let waiting = self.gateway.metrics.waiting();
        let prompt = tokio::select! {
            biased;
            waited = host.wait(&self.principal, &params.id) => match waited {
                Ok(prompt) => prompt,
                Err(WaitError::NotFound { id }) => return Err(not_found(&id)),
                Err(WaitError::Aborted) => return Err(CallError::unavailable("the wait was given up")),
                Err(WaitError::Host(error)) if self.gateway.ending.is_cancelled() => {
                    tracing::debug!(%error, "a wait ends with the gateway");
                    return Ok(PENDING.into());
                }
                Err(WaitError::Host(error)) => return Err(host_error(&error)),
            },
            () = limit => return Ok(PENDING.into()),
            () = self.gateway.ending.cancelled() => return Ok(PENDING.into()),
        };
        drop(waiting);
        let with_mark = params.include_resolution_id == Some(true);
        Ok(to_json(&End { prompt: &prompt, id: None, with_mark, with_reason: self.is_extended }))
    }

    pub(super) async fn resolve(&self, params: Resolve) -> Result<String, CallError> {
        self.allow_extension("question.resolve", params.is_extended())?;
        let host = &self.gateway.host;
        match params.how {
            How::Answer { answers, resolution_id, allows_hosts } => {
                if allows_hosts {
                    // Told only where there is such a question.
                    self.find(&params.id).await?;
                    return Err(CallError::invalid(
                        "secretStoreAllowedHosts is for a question about a secret",
                    ));
                }
                let answered_by = self.named(params.resolved_by);
                let submission = Submission { answers, resolution_id, answered_by };
                let accepted = host.resolve(&self.principal, &params.id, submission).await;
                let accepted = accepted.map_err(|error| settle_error(&error))?;
                let end = End::of(&accepted.prompt);
                match accepted.warning.filter(|_| self.is_extended) {
                    None => Ok(to_json(&end)),
                    Some(warning) => {
                        let mut end = serde_json::to_value(&end).unwrap_or_default();
                        end["warning"] = warning.into();
                        Ok(to_json(&end))
                    }
                }
            }
            How::Cancel { reason } => {
                let reason = match reason {
                    Some(CancelReason::Cancelled) => NoAnswerReason::Cancelled,
                    Some(CancelReason::Undeliverable) => NoAnswerReason::Undeliverable,
                    Some(CancelReason::Skipped) => NoAnswerReason::Skipped,
                    None if params.resolved_by.as_deref() == Some(RUN_ABORT) => NoAnswerReason::Cancelled,
                    None => NoAnswerReason::Skipped,
                };
                let by = self.named(params.resolved_by);
                let ended = host.cancel_as(&self.principal, &params.id, reason, by).await;
                let prompt = ended.map_err(|error| settle_error(&error))?;
                Ok(to_json(&End { with_reason: self.is_extended, ..End::of(&prompt) }))
            }
        }
    }

    pub(super) async fn get(&self, params: Get) -> Result<String, CallError> {
        let prompt = self.find(&params.id).await?;
        let record = self.plugin().record(&prompt, self.form(), self.gateway.now());
        let record = record.map_err(|error| host_error(&error.into()))?;
        Ok(["{\"question\":", &record, "}"].concat())
    }

    pub(super) async fn list(&self, params: List) -> Result<String, CallError> {
        let is_extended = params.is_extended();
        self.allow_extension("question.list", is_extended)?;
        let session = match &params.session_key {
            None => None,
            Some(key) => self.gateway.agents.route(Some(key), None)?.session,
        };
        let status = match params.status {
            None | Some(Status::Pending) => StatusFilter::Pending,
            Some(Status::Settled) => StatusFilter::Settled,
            Some(Status::All) => StatusFilter::All,
        };
        let after = params.cursor.as_deref().map(read_cursor).transpose()?;
        let limit = params.limit.map_or(0, |limit| usize::try_from(limit).unwrap_or(usize::MAX));
        let mut query = Query { status, session, run: params.run_id, requester: None, limit, after };
        let form = if is_extended { RecordForm::Extended } else { self.form() };

        let mut list = String::from("{\"questions\":[");
        let next = loop {
            let page = self.gateway.host.list(&self.principal, &query).await;
            let page = page.map_err(|error| host_error(&error))?;
            if !page.prompts.is_empty() {
                let records = self.plugin().records(&page.prompts, form, self.gateway.now());
                let records = records.map_err(|error| host_error(&error.into()))?;
                if !list.ends_with('[') {
                    list.push(',');
                }
                list.push_str(records.trim_start_matches('[').trim_end_matches(']'));
            }
            match page.next {
                Some(next) if !is_extended => query.after = Some(next),
                next => break next,
            }
            if list.len() > WHOLE_LIST_LIMIT {
                let rule = "there are too many questions for one list; ask for parts with limit and cursor";
                return Err(CallError::invalid(rule));
            }
        };
        list.push(']');
        if let Some(next) = next {
            list.extend([",\"nextCursor\":", &to_json(&write_cursor(&next))]);
        }
        list.push('}');
        Ok(list)
    }

    async fn find(&self, id: &str) -> Result<Arc<Prompt>, CallError> {
        match self.gateway.host.get(&self.principal, id).await {
            Ok(prompt) => Ok(prompt),
            Err(FindError::NotFound { id }) => Err(not_found(&id)),
            Err(FindError::Host(error)) => Err(host_error(&error)),
        }
    }

    /// The name that counts of one that a caller gives. Who may not name anybody is written down as who they are, as
    /// ruling 25 has it: OpenClaw's channels name the person on their own word.
    fn named(&self, name: Option<String>) -> Option<String> {
        name.filter(|_| self.gateway.is_compatible() || self.principal.scopes.name_answerer)
    }

    pub(super) fn form(&self) -> RecordForm {
        if self.is_extended { RecordForm::Extended } else { RecordForm::Openclaw }
    }
}

const PENDING: &str = r#"{"status":"pending"}"#;

/// How a question ended, as responses and events say it.
pub(in crate::gateway) struct End<'a> {
    prompt: &'a Prompt,
    id: Option<&'a str>,
    with_mark: bool,
    with_reason: bool,
}

impl<'a> End<'a> {
    /// The end alone.
    pub(super) fn of(prompt: &'a Arc<Prompt>) -> Self {
        Self { prompt, id: None, with_mark: false, with_reason: false }
    }

    /// The end as an event tells it.
    pub(in crate::gateway) fn told(prompt: &'a Arc<Prompt>, with_reason: bool) -> Self {
        Self { id: Some(&prompt.id), with_reason, ..Self::of(prompt) }
    }
}

impl Serialize for End<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut members = serializer.serialize_map(None)?;
        if let Some(id) = self.id {
            members.serialize_entry("id", id)?;
        }
        match self.prompt.settlement.as_ref().map(|settlement| (settlement, &settlement.outcome)) {
            None => members.serialize_entry("status", "pending")?,
            Some((settlement, Outcome::Answered(answers))) => {
                members.serialize_entry("status", "answered")?;
                members.serialize_entry("answers", &Answers(answers))?;
                if let Some(mark) = settlement.resolution_id.as_ref().filter(|_| self.with_mark) {
                    members.serialize_entry("resolutionId", mark)?;
                }
            }
            Some((_, Outcome::NoAnswer(reason))) => {
                let status = if *reason == NoAnswerReason::Expired { "expired" } else { "cancelled" };
                members.serialize_entry("status", status)?;
                if self.with_reason {
                    members.serialize_entry("reason", reason.name())?;
                }
            }
        }
        members.end()
    }
}

/// Answers in the envelope that the protocol has for them.
pub(super) struct Answers<'a>(pub(super) &'a [Answer]);

impl Serialize for Answers<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        struct Map<'a>(&'a [Answer]);

        impl Serialize for Map<'_> {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.collect_map(self.0.iter().map(|answer| (&answer.question_id, &answer.values)))
            }
        }

        let mut members = serializer.serialize_map(Some(1))?;
        members.serialize_entry("answers", &Map(self.0))?;
        members.end()
    }
}

/// A place in a list, as a client hands it back.
fn write_cursor(cursor: &Cursor) -> String {
    format!("{}.{}", cursor.created_at, cursor.id)
}

fn read_cursor(text: &str) -> Result<Cursor, CallError> {
    let parts = text.split_once('.');
    let read = parts.and_then(|(at, id)| Some(Cursor { created_at: at.parse().ok()?, id: id.to_owned() }));
    read.ok_or_else(|| {
        let rule = format!("must be the nextCursor of a page, not {:?}", shortened(text));
        crate::gateway::protocol::params::invalid("question.list", "cursor", &rule)
    })
}

fn not_found(id: &str) -> CallError {
    CallError::refused("QUESTION_NOT_FOUND", format!("there is no question {:?}", shortened(id)))
}

fn request_error(error: &RequestError) -> CallError {
    match error {
        RequestError::Invalid(violations) => {
            let messages: Vec<_> = violations.iter().map(|violation| violation.message.as_str()).collect();
            CallError::invalid(format!("invalid question.request params: {}", messages.join("; ")))
        }
        RequestError::IdInUse { id } => {
            CallError::refused("QUESTION_ID_IN_USE", format!("the id {:?} is in use", shortened(id)))
        }
        RequestError::Host(error) => host_error(error),
    }
}

fn settle_error(error: &SettleError) -> CallError {
    match error {
        SettleError::NotFound { id } => not_found(id),
        SettleError::AlreadyTerminal { id } => {
            let text = format!("the question {:?} has already ended", shortened(id));
            CallError::refused("QUESTION_ALREADY_TERMINAL", text)
        }
        SettleError::InvalidAnswers(errors) => {
            let messages: Vec<_> = errors.iter().map(|error| error.message.as_str()).collect();
            CallError::refused("QUESTION_INVALID_ANSWER", messages.join("; "))
        }
        SettleError::MayNotNameAnswerer => {
            CallError::missing_scope(crate::gateway::protocol::scope::NAME_ANSWERER)
        }
        SettleError::Host(error) => host_error(error),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cursor_survives_the_way_to_the_client_and_back() {
        let cursor = Cursor { created_at: 12, id: "a.b".into() };
        assert_eq!(read_cursor(&write_cursor(&cursor)), Ok(cursor));
        for wrong in ["", "12", "x.a", "-1.a"] {
            read_cursor(wrong).expect_err(wrong);
        }
    }
}
