//! The records of the contract, as the host works with them. They are made from `wit/`, which documents every field;
//! the same types go into the sandbox, into the store and to the surfaces, so nothing is copied from one to another.

// Only the records are used; `sandbox/decisions.rs` says why.
#[allow(dead_code, missing_docs, unreachable_pub, clippy::all)]
mod generated {
    wasmtime::component::bindgen!({
        path: "../wit",
        world: "ask-user-plugin",
        additional_derives: [PartialEq, Eq, serde::Serialize, serde::Deserialize],
    });
}

use generated::exports::ask_user::plugin as interfaces;

pub use interfaces::channel::{
    Action, Binding, BindingTarget, Call, ChannelError, ChoiceRef, Descriptor, Interaction, Limit, Natives,
    OwnText, Person, Rendering, Tap, Target, TextUnit,
};
pub use interfaces::question::{
    AnswerError, AnswerErrorKind, Cancellation, RecordForm, RequestParams, Resolution, ResolveError,
    Resolved, Verdict,
};
pub use interfaces::reply::{
    About, Complete, Draft, Incomplete, Interpretation, Message, NotAnAnswerReason, PhraseBook,
};
pub use interfaces::tool::{Refusal, SessionStanding, ToolDefinition, ToolResult};
pub use interfaces::types::{
    Answer, Choice, Context, CredentialPolicy, Feedback, Line, LineKind, NoAnswerReason, Origin, Outcome,
    Policy, Prompt, Question, RepeatPolicy, Rule, SessionKind, Settlement, Timestamp, Violation, Words,
};

impl Prompt {
    /// Whether the deadline has passed (ruling 21). Says nothing about a settlement.
    pub fn is_overdue(&self, now: Timestamp) -> bool {
        self.expires_at <= now
    }
}

impl Rule {
    /// The rule as the contract names it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Json => "json",
            Self::WrongType => "wrong-type",
            Self::Missing => "missing",
            Self::UnknownMember => "unknown-member",
            Self::Count => "count",
            Self::Pattern => "pattern",
            Self::Blank => "blank",
            Self::TooLong => "too-long",
            Self::Duplicate => "duplicate",
            Self::Reserved => "reserved",
            Self::Integer => "integer",
            Self::Unsupported => "unsupported",
            Self::More => "more",
        }
    }
}

impl Violation {
    /// The violation for a script or a client.
    pub fn to_json(&self) -> serde_json::Value {
        serde_json::json!({
            "path": self.path,
            "rule": self.rule.name(),
            "allowed": self.allowed,
            "received": self.received,
            "message": self.message,
        })
    }
}

impl NoAnswerReason {
    /// The reason as the contract and the wire name it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Expired => "expired",
            Self::Skipped => "skipped",
            Self::Cancelled => "cancelled",
            Self::Undeliverable => "undeliverable",
        }
    }
}

impl Default for Origin {
    /// Nothing is known.
    fn default() -> Self {
        Self {
            agent: None,
            session_key: None,
            session_kind: None,
            run: None,
            tool_call: None,
            requester: None,
            conversation: None,
            locale: None,
        }
    }
}

impl Default for Policy {
    /// The rulings as they stand: credentials are refused (17), own text has at most 16 KiB (18), and a repeated resolve
    /// gives the first result (27).
    fn default() -> Self {
        Self {
            credentials: CredentialPolicy::Refuse,
            own_text_limit: Some(16 << 10),
            repeats: RepeatPolicy::FirstResult,
        }
    }
}

impl Message {
    /// Text that somebody typed just now, by themselves.
    pub fn typed(text: impl Into<String>) -> Self {
        Self {
            text: text.into(),
            transcript: None,
            has_media: false,
            edited: false,
            forwarded: false,
            bot_names: Vec::new(),
            locale: None,
        }
    }
}

impl Target {
    /// Where only the requester reads, in a language of our own words or else the prompt's.
    pub fn private(locale: Option<String>) -> Self {
        Self {
            address: String::new(),
            thread: None,
            locale,
            shared: false,
            extras: false,
            requester: None,
            callback_url: None,
            words: None,
        }
    }
}
