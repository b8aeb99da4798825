//! The parameters of the methods of questions, as clients send them.

use std::fmt;

use serde::Deserialize;
use serde::de::{Deserializer, MapAccess, Visitor};
use serde_json::Value;

use crate::contract::{Answer, Choice, Question, SessionKind};
use crate::gateway::protocol::error::CallError;
use crate::gateway::protocol::params::{Object, invalid, positive_if_any, present, text, text_if_any};

/// The longest mark of a submission, in characters.
const RESOLUTION_ID_LIMIT: usize = 128;

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(in crate::gateway) struct Request {
    #[serde(default, deserialize_with = "text_if_any")]
    pub(super) id: Option<String>,
    pub(super) questions: Vec<Object<WireQuestion>>,
    #[serde(default, deserialize_with = "text_if_any")]
    pub(super) agent_id: Option<String>,
    #[serde(default, deserialize_with = "text_if_any")]
    pub(super) session_key: Option<String>,
    #[serde(default, deserialize_with = "text_if_any")]
    pub(super) run_id: Option<String>,
    #[serde(default, deserialize_with = "positive_if_any")]
    pub(super) timeout_ms: Option<u64>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(in crate::gateway) struct WireQuestion {
    question_id: String,
    header: String,
    question: String,
    options: Vec<Object<WireOption>>,
    #[serde(default, deserialize_with = "present")]
    url: Option<String>,
    #[serde(default, deserialize_with = "present")]
    multi_select: Option<bool>,
    #[serde(default, deserialize_with = "present")]
    is_other: Option<bool>,
    #[serde(default, deserialize_with = "present")]
    is_secret: Option<bool>,
    #[serde(default, deserialize_with = "present")]
    secret_store: Option<Value>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct WireOption {
    label: String,
    #[serde(default, deserialize_with = "present")]
    description: Option<String>,
}

impl Request {
    /// The questions of the contract. Secrets belong elsewhere and are refused.
    pub(super) fn questions(&mut self) -> Result<Vec<Question>, CallError> {
        let questions = std::mem::take(&mut self.questions).into_iter().enumerate();
        questions.map(|(index, question)| question.0.into_question(index)).collect()
    }
}

impl WireQuestion {
    fn into_question(self, index: usize) -> Result<Question, CallError> {
        let refused = |member: &str| {
            let rule = "secrets are not asked for here; use the host's secrets tool";
            Err(invalid("question.request", &format!("questions[{index}]/{member}"), rule))
        };
        if self.secret_store.is_some() {
            return refused("secretStore");
        }
        if self.is_secret == Some(true) {
            return refused("isSecret");
        }
        let choices = self.options.into_iter().map(|option| option.0.into_choice()).collect();
        Ok(Question {
            id: self.question_id,
            header: self.header,
            text: self.question,
            choices,
            multi_select: self.multi_select,
            is_other: self.is_other,
            is_secret: self.is_secret,
            url: self.url,
        })
    }
}

impl WireOption {
    fn into_choice(self) -> Choice {
        Choice { label: self.label, description: self.description }
    }
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(in crate::gateway) struct Wait {
    #[serde(deserialize_with = "text")]
    pub(super) id: String,
    #[serde(default, deserialize_with = "positive_if_any")]
    pub(super) timeout_ms: Option<u64>,
    #[serde(default, deserialize_with = "present")]
    pub(super) include_resolution_id: Option<bool>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(in crate::gateway) struct Get {
    #[serde(deserialize_with = "text")]
    pub(super) id: String,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(in crate::gateway) struct List {
    #[serde(default, deserialize_with = "text_if_any")]
    pub(super) session_key: Option<String>,
    #[serde(default, deserialize_with = "text_if_any")]
    pub(super) run_id: Option<String>,
    #[serde(default, deserialize_with = "present")]
    pub(super) status: Option<Status>,
    #[serde(default, deserialize_with = "positive_if_any")]
    pub(super) limit: Option<u64>,
    #[serde(default, deserialize_with = "text_if_any")]
    pub(super) cursor: Option<String>,
}

impl List {
    /// Whether it asks for anything that OpenClaw does not know.
    pub(super) fn is_extended(&self) -> bool {
        self.session_key.is_some()
            || self.run_id.is_some()
            || self.status.is_some()
            || self.limit.is_some()
            || self.cursor.is_some()
    }
}

#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(in crate::gateway) enum Status {
    Pending,
    Settled,
    All,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct WireResolve {
    #[serde(deserialize_with = "text")]
    id: String,
    #[serde(default, deserialize_with = "present")]
    answers: Option<Object<WireAnswers>>,
    #[serde(default, deserialize_with = "present")]
    cancel: Option<bool>,
    #[serde(default, deserialize_with = "present")]
    secret_store_allowed_hosts: Option<Vec<String>>,
    #[serde(default, deserialize_with = "text_if_any")]
    resolved_by: Option<String>,
    #[serde(default, deserialize_with = "text_if_any")]
    resolution_id: Option<String>,
    #[serde(default, deserialize_with = "present")]
    reason: Option<CancelReason>,
}

/// Why a client calls a question off.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
pub(in crate::gateway) enum CancelReason {
    Skipped,
    Cancelled,
    Undeliverable,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct WireAnswers {
    answers: AnswerMap,
}

/// Answers by question. Of two for the same question the last counts, as in JavaScript.
#[derive(Debug)]
struct AnswerMap(Vec<Answer>);

impl<'de> Deserialize<'de> for AnswerMap {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Answers;

        impl<'de> Visitor<'de> for Answers {
            type Value = AnswerMap;

            fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                formatter.write_str("an object of lists of texts")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<Self::Value, A::Error> {
                let mut answers: Vec<Answer> = Vec::new();
                let mut places = std::collections::HashMap::new();
                while let Some((question_id, values)) = members.next_entry::<String, Vec<String>>()? {
                    let place = *places.entry(question_id.clone()).or_insert(answers.len());
                    match answers.get_mut(place) {
                        Some(answer) => answer.values = values,
                        None => answers.push(Answer { question_id, values }),
                    }
                }
                Ok(AnswerMap(answers))
            }
        }

        deserializer.deserialize_map(Answers)
    }
}

/// What a client wants of a question.
#[derive(Debug)]
pub(in crate::gateway) struct Resolve {
    pub(super) id: String,
    pub(super) resolved_by: Option<String>,
    pub(super) how: How,
}

#[derive(Debug)]
pub(in crate::gateway) enum How {
    Answer {
        answers: Vec<Answer>,
        resolution_id: Option<String>,
        /// Whether it would also say where a secret may go, which is of no use here.
        allows_hosts: bool,
    },
    Cancel {
        reason: Option<CancelReason>,
    },
}

impl Resolve {
    pub(super) fn read(text: &str) -> Result<Self, CallError> {
        let wire: WireResolve = crate::gateway::protocol::params::read("question.resolve", text)?;
        let wrong = |place: &str, rule: &str| Err(invalid("question.resolve", place, rule));
        let how = match (wire.answers, wire.cancel) {
            (Some(answers), None) => {
                let mark = wire.resolution_id.as_deref().unwrap_or_default();
                if mark.chars().count() > RESOLUTION_ID_LIMIT {
                    return wrong("resolutionId", "must not have more than 128 characters");
                }
                if wire.reason.is_some() {
                    return wrong("reason", "is for a question that is called off");
                }
                check_hosts(wire.secret_store_allowed_hosts.as_deref())?;
                How::Answer {
                    answers: answers.0.answers.0,
                    resolution_id: wire.resolution_id,
                    allows_hosts: wire.secret_store_allowed_hosts.is_some(),
                }
            }
            (None, Some(true)) if wire.resolution_id.is_some() => {
                return wrong("resolutionId", "is for an answer");
            }
            (None, Some(true)) if wire.secret_store_allowed_hosts.is_some() => {
                return wrong("secretStoreAllowedHosts", "is for an answer");
            }
            (None, Some(true)) => How::Cancel { reason: wire.reason },
            (Some(_), Some(_)) => return wrong("", "must have either 'answers' or 'cancel'"),
            (None, Some(false)) => return wrong("cancel", "must be true"),
            (None, None) => return wrong("", "must have 'answers', or 'cancel' that is true"),
        };
        Ok(Self { id: wire.id, resolved_by: wire.resolved_by, how })
    }

    /// Whether it says anything that OpenClaw does not know.
    pub(super) fn is_extended(&self) -> bool {
        matches!(self.how, How::Cancel { reason: Some(_) })
    }
}

fn check_hosts(hosts: Option<&[String]>) -> Result<(), CallError> {
    let hosts = hosts.unwrap_or_default();
    let has_form = |host: &String| (1..=253).contains(&host.chars().count());
    let mut seen = std::collections::HashSet::new();
    if hosts.len() <= 128 && hosts.iter().all(|host| has_form(host) && seen.insert(host)) {
        return Ok(());
    }
    let rule = "must be at most 128 different texts of 1 to 253 characters";
    Err(invalid("question.resolve", "secretStoreAllowedHosts", rule))
}

/// A run of an agent, as its host describes it.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(in crate::gateway) struct Tool {
    #[serde(default, deserialize_with = "text_if_any")]
    pub(super) session_key: Option<String>,
    #[serde(default, deserialize_with = "text_if_any")]
    pub(super) agent_id: Option<String>,
    #[serde(default, deserialize_with = "present")]
    pub(super) session_kind: Option<WireKind>,
}

/// The kind of a session.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(in crate::gateway) enum WireKind {
    Main,
    Subagent,
    Acp,
    Scheduled,
    Heartbeat,
}

impl From<WireKind> for SessionKind {
    fn from(kind: WireKind) -> Self {
        match kind {
            WireKind::Main => Self::Main,
            WireKind::Subagent => Self::Subagent,
            WireKind::Acp => Self::Acp,
            WireKind::Scheduled => Self::Scheduled,
            WireKind::Heartbeat => Self::Heartbeat,
        }
    }
}

/// One call of the tool.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(in crate::gateway) struct Ask {
    #[serde(default, deserialize_with = "text_if_any")]
    pub(super) session_key: Option<String>,
    #[serde(default, deserialize_with = "text_if_any")]
    pub(super) agent_id: Option<String>,
    #[serde(default, deserialize_with = "present")]
    pub(super) session_kind: Option<WireKind>,
    #[serde(deserialize_with = "text")]
    pub(super) run_id: String,
    #[serde(deserialize_with = "text")]
    pub(super) tool_call_id: String,
    /// What the model sent: JSON, or the text of it.
    pub(super) arguments: Value,
    #[serde(default, deserialize_with = "text_if_any")]
    pub(super) requester: Option<String>,
    #[serde(default, deserialize_with = "text_if_any")]
    pub(super) conversation: Option<String>,
    #[serde(default, deserialize_with = "text_if_any")]
    pub(super) locale: Option<String>,
    #[serde(default)]
    pub(super) cancel_on_disconnect: bool,
}

/// A chat message that may be an answer.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(in crate::gateway) struct Reply {
    #[serde(default, deserialize_with = "text_if_any")]
    pub(super) id: Option<String>,
    #[serde(default, deserialize_with = "text_if_any")]
    pub(super) session_key: Option<String>,
    #[serde(default, deserialize_with = "text_if_any")]
    pub(super) agent_id: Option<String>,
    #[serde(default)]
    pub(super) text: String,
    #[serde(default, deserialize_with = "present")]
    pub(super) transcript: Option<String>,
    #[serde(default)]
    pub(super) has_media: bool,
    #[serde(default)]
    pub(super) edited: bool,
    #[serde(default)]
    pub(super) forwarded: bool,
    #[serde(default)]
    pub(super) bot_names: Vec<String>,
    #[serde(default, deserialize_with = "text_if_any")]
    pub(super) locale: Option<String>,
    #[serde(default, deserialize_with = "text_if_any")]
    pub(super) sender: Option<String>,
    #[serde(default, deserialize_with = "text_if_any")]
    pub(super) conversation: Option<String>,
}

/// A run that is over.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(in crate::gateway) struct CancelRun {
    #[serde(deserialize_with = "text")]
    pub(super) session_key: String,
    #[serde(default, deserialize_with = "text_if_any")]
    pub(super) agent_id: Option<String>,
    #[serde(deserialize_with = "text")]
    pub(super) run_id: String,
}
