//! The methods about questions, with types.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use super::error::CallError;
use super::{Client, Event};

/// Answers by question, each a list of values.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Eq, Serialize)]
pub struct Answers {
    /// Values by the question's id.
    pub answers: BTreeMap<String, Vec<String>>,
}

/// What to ask.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct RequestParams {
    /// The id; the gateway makes one unless given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// One to three questions.
    pub questions: Vec<Question>,
    /// The agent that asks.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub agent_id: Option<String>,
    /// The session that asks.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub session_key: Option<String>,
    /// The run that asks.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub run_id: Option<String>,
    /// How long to wait for an answer, in milliseconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub timeout_ms: Option<u64>,
}

/// A question that was asked.
#[derive(Clone, Debug, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "camelCase")]
pub struct Requested {
    /// Its id.
    pub id: String,
    /// When it expires, in milliseconds since the Unix epoch.
    pub expires_at_ms: u64,
}

/// One question of a prompt.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Question {
    /// Its name within the prompt.
    pub question_id: String,
    /// A word or two; may be empty.
    #[serde(default)]
    pub header: String,
    /// What is asked.
    pub question: String,
    /// What can be chosen; none where any text is an answer.
    #[serde(default)]
    pub options: Vec<Choice>,
    /// Whether several may be chosen.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub multi_select: Option<bool>,
    /// Whether own text is an answer as well.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub is_other: Option<bool>,
    /// What else the gateway says of it.
    #[serde(flatten)]
    pub more: Map<String, Value>,
}

/// One option of a question.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Serialize)]
pub struct Choice {
    /// What is chosen.
    pub label: String,
    /// What it means.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
}

/// How far a prompt is.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Status {
    /// It waits for an answer.
    Pending,
    /// It was answered.
    Answered,
    /// It was skipped or called off.
    Cancelled,
    /// Nobody answered in time.
    Expired,
}

impl Status {
    /// The word on the wire.
    pub fn word(self) -> &'static str {
        match self {
            Self::Pending => "pending",
            Self::Answered => "answered",
            Self::Cancelled => "cancelled",
            Self::Expired => "expired",
        }
    }
}

/// A prompt, as the gateway keeps it.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Record {
    /// Its id.
    pub id: String,
    /// Its questions.
    pub questions: Vec<Question>,
    /// The agent that asks.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent_id: Option<String>,
    /// The session that asks.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session_key: Option<String>,
    /// The run that asks.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub run_id: Option<String>,
    /// When it was asked, in milliseconds since the Unix epoch.
    pub created_at_ms: u64,
    /// When it expires.
    pub expires_at_ms: u64,
    /// How far it is.
    pub status: Status,
    /// What was answered.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub answers: Option<Answers>,
    /// What else the gateway says of it.
    #[serde(flatten)]
    pub more: Map<String, Value>,
}

/// How a prompt ended, or that it has not.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Outcome {
    /// How far it is.
    pub status: Status,
    /// What was answered.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub answers: Option<Answers>,
    /// What else the gateway says of it.
    #[serde(flatten)]
    pub more: Map<String, Value>,
}

/// Which prompts to list. Without anything, all that are pending: what every gateway can do. The rest is ours, and OpenClaw
/// refuses it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ListParams {
    /// Only of this session.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub session_key: Option<String>,
    /// Only of this run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub run_id: Option<String>,
    /// `pending`, `settled` or `all`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub status: Option<String>,
    /// At most so many.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub limit: Option<u64>,
    /// From where the page before ended.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cursor: Option<String>,
}

/// Prompts, and where the next ones begin.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Page {
    /// The prompts.
    pub questions: Vec<Record>,
    /// Where the next page begins, if there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next_cursor: Option<String>,
}

/// Why a prompt is called off. Ours; OpenClaw refuses it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
#[cfg_attr(feature = "cli", derive(clap::ValueEnum))]
pub enum CancelReason {
    /// The person does not want to answer.
    Skipped,
    /// It is not needed any more.
    Cancelled,
    /// It could not be shown to anybody.
    Undeliverable,
}

/// An event about a question.
#[derive(Clone, Debug, PartialEq)]
pub enum QuestionEvent {
    /// A prompt was asked.
    Requested(Record),
    /// A prompt has ended.
    Resolved {
        /// Which.
        id: String,
        /// How.
        outcome: Outcome,
    },
}

impl Event {
    /// What it says about a question, if it does. An event that cannot be read says nothing.
    pub fn question(&self) -> Option<QuestionEvent> {
        let payload = self.payload.get();
        match self.name.as_str() {
            "question.requested" => Some(QuestionEvent::Requested(serde_json::from_str(payload).ok()?)),
            "question.resolved" => {
                #[derive(Deserialize)]
                struct Resolved {
                    id: String,
                    #[serde(flatten)]
                    outcome: Outcome,
                }
                let Resolved { id, outcome } = serde_json::from_str(payload).ok()?;
                Some(QuestionEvent::Resolved { id, outcome })
            }
            _ => None,
        }
    }
}

impl Client {
    /// Asks. Does not wait for the answer.
    pub async fn request(&self, params: &RequestParams) -> Result<Requested, CallError> {
        self.call_as("question.request", params, Some(self.shared.call_limit)).await
    }

    /// Waits until a prompt has ended, at most `timeout_ms`; then it is still pending.
    pub async fn wait_answer(&self, id: &str, timeout_ms: Option<u64>) -> Result<Outcome, CallError> {
        let mut params = json!({ "id": id });
        if let Some(timeout) = timeout_ms {
            params["timeoutMs"] = timeout.into();
        }
        let limit = timeout_ms.map(|timeout| timeout.saturating_add(self.shared.call_limit));
        self.call_as("question.waitAnswer", &params, limit).await
    }

    /// Answers. With the same `resolution_id`, our gateway gives whoever repeats an answer the first result.
    pub async fn resolve(
        &self,
        id: &str,
        answers: &Answers,
        resolution_id: Option<&str>,
    ) -> Result<Outcome, CallError> {
        let mut params = json!({ "id": id, "answers": answers });
        if let Some(mark) = resolution_id {
            params["resolutionId"] = mark.into();
        }
        self.call_as("question.resolve", &params, Some(self.shared.call_limit)).await
    }

    /// Calls a prompt off. Without a reason, which is ours, that is a skip.
    pub async fn cancel(&self, id: &str, reason: Option<CancelReason>) -> Result<Outcome, CallError> {
        let mut params = json!({ "id": id, "cancel": true });
        if let Some(reason) = reason {
            params["reason"] = json!(reason);
        }
        self.call_as("question.resolve", &params, Some(self.shared.call_limit)).await
    }

    /// A prompt.
    pub async fn get(&self, id: &str) -> Result<Record, CallError> {
        #[derive(Deserialize)]
        struct Found {
            question: Record,
        }
        let found: Found =
            self.call_as("question.get", &json!({ "id": id }), Some(self.shared.call_limit)).await?;
        Ok(found.question)
    }

    /// Prompts, oldest first.
    pub async fn list(&self, params: &ListParams) -> Result<Page, CallError> {
        self.call_as("question.list", params, Some(self.shared.call_limit)).await
    }
}
