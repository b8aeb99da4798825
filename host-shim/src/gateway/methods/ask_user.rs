//! `askUser.*`: what a host in any language needs to offer the tool. A host asks for its definition, passes the model's
//! calls and the person's messages on, and says when a run is over.

use serde_json::value::RawValue;
use serde_json::{Value, json};

use super::params::{Ask, CancelRun, Reply, Tool};
use super::question::Answers;
use super::{Caller, host_error};
use crate::contract::{Message, NotAnAnswerReason, Origin, Outcome, Prompt, Violation};
use crate::gateway::protocol::error::CallError;
use crate::gateway::protocol::frame::to_json;
use crate::gateway::protocol::scope;
use crate::gateway::runs::RunId;
use crate::questions::{AskError, Principal, Reply as Replied, Run, WaitError};
use crate::store::Query;

impl Caller {
    /// The tool for this origin, or none where it may not ask (ruling 10).
    pub(super) fn tool(&self, params: Tool) -> Result<String, CallError> {
        let route = self.gateway.agents.route(params.session_key.as_deref(), params.agent_id.as_deref())?;
        let origin = Origin {
            agent: route.agent,
            session_key: route.session,
            session_kind: params.session_kind.map(Into::into),
            ..Origin::default()
        };
        let tool =
            self.gateway.host.definition(&Run::from_origin(origin)).map_err(|error| host_error(&error))?;
        let Some(tool) = tool else { return Ok(r#"{"tool":null}"#.into()) };
        let schema = |text: &str| serde_json::from_str::<Value>(text).unwrap_or_default();
        Ok(to_json(&json!({ "tool": {
            "name": tool.name,
            "title": tool.title,
            "description": tool.description,
            "parameters": schema(&tool.parameters),
            "outputSchema": schema(&tool.output_schema),
        } })))
    }

    /// Asks, waits, and gives what the tool returns to the model. The same session, run and tool call attach again.
    pub(super) async fn ask(&self, params: Ask) -> Result<String, CallError> {
        let route = self.gateway.agents.route(params.session_key.as_deref(), params.agent_id.as_deref())?;
        let run_id = RunId {
            tenant: self.principal.tenant.clone(),
            session: route.session.clone().unwrap_or_default(),
            run: params.run_id.clone(),
        };
        // A run that is cancelled is over for all its calls; a call of its own ends with its connection.
        let of_run = self.gateway.runs.enter(run_id);
        let cancellation = of_run.token().child_token();
        let origin = Origin {
            agent: route.agent,
            session_key: route.session,
            session_kind: params.session_kind.map(Into::into),
            run: Some(params.run_id),
            tool_call: Some(params.tool_call_id),
            requester: params.requester,
            conversation: params.conversation,
            locale: params.locale,
        };
        let run =
            Run::from_origin(origin).tenant(self.principal.tenant.clone()).cancelled_by(cancellation.clone());
        let arguments = match params.arguments {
            Value::String(text) => text,
            arguments => arguments.to_string(),
        };
        let pending = self.gateway.host.ask_user(&arguments, &run).await;
        let pending = pending.map_err(|error| ask_error(&error))?;
        // A wait that is dropped is a connection that is over.
        let of_connection = params.cancel_on_disconnect.then(|| cancellation.drop_guard());
        let waiting = self.gateway.metrics.waiting();
        let result = tokio::select! {
            biased;
            result = pending.outcome() => result,
            () = self.gateway.ending.cancelled() => {
                // The gateway may come back, and the client with it.
                if let Some(guard) = of_connection {
                    guard.disarm();
                }
                return Err(CallError::unavailable("the gateway is going away; ask again with the same ids"));
            }
        };
        drop(waiting);
        let result = result.map_err(|error| match error {
            WaitError::Aborted => aborted(),
            WaitError::NotFound { .. } => {
                CallError::refused("QUESTION_NOT_FOUND", "the question was deleted")
            }
            WaitError::Host(error) => host_error(&error),
        })?;
        let raw: Box<RawValue> = RawValue::from_string(result.json).map_err(|error| {
            tracing::error!(%error, "the plugin's result is no JSON");
            CallError::unavailable("the result could not be read")
        })?;
        Ok([
            "{\"id\":",
            &to_json(&pending.id()),
            ",\"result\":",
            raw.get(),
            ",\"text\":",
            &to_json(&result.text),
            "}",
        ]
        .concat())
    }

    /// Offers a chat message as an answer.
    pub(super) async fn reply(&self, params: Reply) -> Result<String, CallError> {
        let speaker = match (params.sender, params.conversation) {
            (None, None) => None,
            (Some(sender), Some(conversation)) => {
                if !self.granted.may_name_answerers() {
                    return Err(CallError::missing_scope(scope::NAME_ANSWERER));
                }
                Some(Principal::speaker(self.principal.tenant.clone(), sender, conversation))
            }
            _ => {
                return Err(CallError::invalid(
                    "invalid askUser.reply params: sender and conversation go together",
                ));
            }
        };
        let principal = speaker.as_ref().unwrap_or(&self.principal);
        let message = Message {
            text: params.text,
            transcript: params.transcript,
            has_media: params.has_media,
            edited: params.edited,
            forwarded: params.forwarded,
            bot_names: params.bot_names,
            locale: params.locale,
        };
        let host = &self.gateway.host;
        let reply = match (&params.id, &params.session_key) {
            (Some(id), _) => host.reply_to_prompt(principal, id, &message).await,
            (None, Some(key)) => {
                let route = self.gateway.agents.route(Some(key), params.agent_id.as_deref())?;
                host.reply(principal, route.session.as_deref().unwrap_or_default(), &message).await
            }
            (None, None) => {
                return Err(CallError::invalid("invalid askUser.reply params: must have sessionKey or id"));
            }
        };
        Ok(to_json(&replied(reply.map_err(|error| host_error(&error))?)))
    }

    /// Says that a run is over: its questions are cancelled, and its calls end as aborted (ruling 22).
    pub(super) async fn cancel_run(&self, params: CancelRun) -> Result<String, CallError> {
        let route = self.gateway.agents.route(Some(&params.session_key), params.agent_id.as_deref())?;
        let (tenant, host) = (&self.principal.tenant, &self.gateway.host);
        let session = route.session.unwrap_or_default();
        let run = Some(params.run_id.clone());
        let mut query = Query { session: Some(session.clone()), run, ..Query::default() };
        let mut cancelled = Vec::new();
        loop {
            let page = host.list(&self.principal, &query).await.map_err(|error| host_error(&error))?;
            cancelled.extend(page.prompts.into_iter().map(|prompt| prompt.id.clone()));
            match page.next {
                Some(next) => query.after = Some(next),
                None => break,
            }
        }
        self.gateway.runs.cancel(&RunId {
            tenant: tenant.clone(),
            session: session.clone(),
            run: params.run_id.clone(),
        });
        host.cancel_run(tenant, &session, &params.run_id).await.map_err(|error| host_error(&error))?;
        Ok(to_json(&json!({ "cancelled": cancelled })))
    }
}

/// What a message meant, for a client.
pub(super) fn replied(reply: Replied) -> Value {
    match reply {
        Replied::Answered(accepted) => answered(&accepted.prompt, accepted.warning),
        Replied::Skipped(prompt) => json!({ "outcome": "skipped", "id": prompt.id }),
        Replied::Incomplete { correction, missing } => {
            json!({ "outcome": "incomplete", "correction": correction, "missing": missing })
        }
        Replied::Correction(correction) => json!({ "outcome": "correction", "correction": correction }),
        Replied::NotAnAnswer(reason) => json!({ "outcome": "not-an-answer", "reason": why_not(reason) }),
    }
}

fn answered(prompt: &Prompt, warning: Option<String>) -> Value {
    let answers = match prompt.settlement.as_ref().map(|settlement| &settlement.outcome) {
        Some(Outcome::Answered(answers)) => answers.as_slice(),
        _ => &[],
    };
    let mut answered = json!({ "outcome": "answered", "id": prompt.id, "answers": Answers(answers) });
    if let Some(warning) = warning {
        answered["warning"] = warning.into();
    }
    answered
}

fn why_not(reason: NotAnAnswerReason) -> &'static str {
    match reason {
        NotAnAnswerReason::NoText => "no-text",
        NotAnAnswerReason::Edited => "edited",
        NotAnAnswerReason::Forwarded => "forwarded",
        NotAnAnswerReason::NotPending => "not-pending",
    }
}

fn aborted() -> CallError {
    CallError::refused("ASK_USER_ABORTED", "the run was aborted")
}

fn ask_error(error: &AskError) -> CallError {
    match error {
        AskError::InvalidArguments(violations) => {
            let violations: Vec<_> = violations.iter().map(Violation::to_json).collect();
            let details = json!({ "reason": "ASK_USER_INVALID_ARGUMENTS", "violations": violations });
            CallError::invalid(error.to_string()).with(details)
        }
        AskError::NotAMainSession(_) => CallError::refused("ASK_USER_NOT_A_MAIN_SESSION", error.to_string()),
        AskError::AlreadyPending { id } => CallError::invalid(error.to_string())
            .with(json!({ "reason": "ASK_USER_ALREADY_PENDING", "id": id })),
        AskError::Aborted => aborted(),
        AskError::Host(error) => host_error(error),
    }
}
