//! The agent's run that asks.

use tokio_util::sync::CancellationToken;

use crate::contract::{Origin, SessionKind};
use crate::store::TenantId;

/// The agent's run that asks: who it is, and the token that ends it.
///
/// Only firing the token cancels what the run asked (ruling 22); dropping a wait never does.
#[derive(Clone, Debug)]
pub struct Run {
    pub(crate) tenant: TenantId,
    pub(crate) origin: Origin,
    pub(crate) cancellation: CancellationToken,
}

impl Run {
    /// A run in a session. `session_key` is such as `agent:main:main`.
    pub fn new(session_key: impl Into<String>, run: impl Into<String>) -> Self {
        let (session_key, run) = (Some(session_key.into()), Some(run.into()));
        Self::from_origin(Origin { session_key, run, ..Origin::default() })
    }

    /// A run as the host describes it.
    pub fn from_origin(origin: Origin) -> Self {
        Self { tenant: TenantId::default(), origin, cancellation: CancellationToken::new() }
    }

    /// Whose run it is. [`TenantId::default`] unless said.
    pub fn tenant(mut self, tenant: TenantId) -> Self {
        self.tenant = tenant;
        self
    }

    /// The tool call. With session and run it names one prompt: asking again with the same three re-attaches to it.
    pub fn tool_call(mut self, id: impl Into<String>) -> Self {
        self.origin.tool_call = Some(id.into());
        self
    }

    /// The agent's name.
    pub fn agent(mut self, name: impl Into<String>) -> Self {
        self.origin.agent = Some(name.into());
        self
    }

    /// The session's kind. The session key's own form can only make it stricter.
    pub fn session_kind(mut self, kind: SessionKind) -> Self {
        self.origin.session_kind = Some(kind);
        self
    }

    /// The person whose message started the run, and the conversation it came from: who may answer, and where.
    pub fn requested_by(mut self, person: impl Into<String>, conversation: impl Into<String>) -> Self {
        self.origin.requester = Some(person.into());
        self.origin.conversation = Some(conversation.into());
        self
    }

    /// BCP 47 tag of the language of our own words.
    pub fn locale(mut self, tag: impl Into<String>) -> Self {
        self.origin.locale = Some(tag.into());
        self
    }

    /// Ends with this token instead of one of its own.
    pub fn cancelled_by(mut self, token: CancellationToken) -> Self {
        self.cancellation = token;
        self
    }

    /// The token that ends the run. Firing it cancels its prompts.
    pub fn cancellation(&self) -> &CancellationToken {
        &self.cancellation
    }

    /// What the host knows of the run.
    pub fn origin(&self) -> &Origin {
        &self.origin
    }
}

/// Whether a run can still take an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Liveness {
    /// It is at work, or waits.
    Alive,
    /// It is over: whatever it asked can be cancelled.
    Dead,
    /// Nobody knows; it counts as alive.
    Unknown,
}

/// Finds out whether the run behind a prompt is over.
pub(crate) type LivenessProbe = Box<dyn Fn(&TenantId, &Origin) -> Liveness + Send + Sync>;
