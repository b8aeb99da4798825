//! Where prompts live. The store is the truth: a prompt moves from pending to its end by compare-and-set here, and the
//! first valid move wins, on one node or on many.
//!
//! Stores know prompts and tenants, and nothing of WebAssembly. One suite of facts (`conformance.rs`) holds for all.

#[cfg(any(test, feature = "store-conformance"))]
pub mod conformance;
#[cfg(feature = "channels")]
mod deliveries;
mod memory;
#[cfg(feature = "sqlite")]
mod sqlite;

#[cfg(feature = "channels")]
pub use deliveries::{Answerers, ChannelStore, Delivery, DeliveryState, DeliveryStore, Place};
pub use memory::MemoryStore;
#[cfg(feature = "sqlite")]
pub use sqlite::SqliteStore;

use std::fmt;
use std::sync::Arc;

use async_trait::async_trait;

use crate::contract::{Answer, NoAnswerReason, Outcome, Prompt, Settlement, Timestamp};

/// Whose data it is. Every question to a store that concerns prompts names its tenant by this type, so that none can be
/// asked for everybody's.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct TenantId(Arc<str>);

impl TenantId {
    /// A tenant's name: 1 to 128 characters, none of them a control character.
    pub fn new(name: impl Into<String>) -> Result<Self, InvalidTenantId> {
        let name = name.into();
        let length = name.chars().count();
        if (1..=128).contains(&length) && !name.chars().any(char::is_control) {
            Ok(Self(name.into()))
        } else {
            Err(InvalidTenantId { length })
        }
    }

    /// The name.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The name, shared.
    pub(crate) fn shared(&self) -> Arc<str> {
        Arc::clone(&self.0)
    }
}

impl Default for TenantId {
    /// The tenant of a host that has only one.
    fn default() -> Self {
        Self("default".into())
    }
}

impl fmt::Display for TenantId {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}

/// A name that no tenant can have.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "a tenant's name has 1 to 128 characters and no control characters; this one has {length} characters"
)]
pub struct InvalidTenantId {
    length: usize,
}

/// Through which door a prompt comes in. The tool's has two rules of its own (ruling 11).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Door {
    /// The tool: one pending prompt a session; the same session, run and tool call name one prompt.
    Tool,
    /// A gateway client: only the id has to be new.
    Client,
}

/// What became of a prompt that was to be stored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Inserted {
    /// It is stored and pending.
    New,
    /// The same tool call had made this one before, pending or settled. Nothing was stored.
    Attached(Arc<Prompt>),
    /// The session has this one pending. Nothing was stored.
    SessionBusy(Arc<Prompt>),
    /// The tenant has a prompt of this id. Nothing was stored.
    IdInUse,
}

/// What became of a settlement.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Settled {
    /// It is committed; the prompt as it is now.
    Committed(Arc<Prompt>),
    /// The prompt had ended before; as it is.
    Before(Arc<Prompt>),
    /// The prompt is pending, and the settlement's time does not fit it: an expiry before the deadline, or anything
    /// else at or after it (ruling 21).
    Untimely(Arc<Prompt>),
    /// The tenant has no such prompt.
    NotFound,
}

/// Which prompts a list shows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum StatusFilter {
    /// Those that can still be answered: pending and not overdue.
    #[default]
    Pending,
    /// Those that have ended.
    Settled,
    /// All that are kept.
    All,
}

/// A question for prompts of one tenant. They come in the order of their creation, then of their ids.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Query {
    /// By how they stand.
    pub status: StatusFilter,
    /// Only this session's.
    pub session: Option<String>,
    /// Only this run's.
    pub run: Option<String>,
    /// Only those this person's message led to.
    pub requester: Option<String>,
    /// At most this many; 0 and anything above [`Query::MAX_LIMIT`] mean that.
    pub limit: usize,
    /// Only those after this place.
    pub after: Option<Cursor>,
}

impl Query {
    /// The longest page.
    pub const MAX_LIMIT: usize = 256;

    /// The largest page, in bytes of its prompts as a store keeps them. A prompt that is larger by itself has a page by
    /// itself.
    pub const MAX_BYTES: usize = 1 << 20;

    /// How many prompts a page of this query has at most.
    pub fn page_size(&self) -> usize {
        if self.limit == 0 { Self::MAX_LIMIT } else { self.limit.min(Self::MAX_LIMIT) }
    }

    /// Whether a prompt is of the session, run and requester that are asked for. Says nothing about its status.
    pub(crate) fn asks_for(&self, prompt: &Prompt) -> bool {
        let fits = |asked: &Option<String>, has: &Option<String>| asked.is_none() || asked == has;
        fits(&self.session, &prompt.origin.session_key)
            && fits(&self.run, &prompt.origin.run)
            && fits(&self.requester, &prompt.origin.requester)
    }
}

/// Whose prompts are purged.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Whose {
    /// All tenants but these.
    AllBut(Vec<TenantId>),
    /// This tenant's.
    Only(TenantId),
}

impl Whose {
    /// Everybody's.
    pub const ALL: Self = Self::AllBut(Vec::new());

    /// Whether a tenant is meant.
    pub fn is(&self, tenant: &TenantId) -> bool {
        match self {
            Self::AllBut(others) => !others.contains(tenant),
            Self::Only(only) => only == tenant,
        }
    }
}

/// A place in a list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cursor {
    /// When the prompt there was made.
    pub created_at: Timestamp,
    /// Its id.
    pub id: String,
}

impl Cursor {
    /// The place of a prompt.
    pub fn of(prompt: &Prompt) -> Self {
        Self { created_at: prompt.created_at, id: prompt.id.clone() }
    }
}

/// A part of a list.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Page {
    /// The prompts.
    pub prompts: Vec<Arc<Prompt>>,
    /// Where the next part begins, if there is more.
    pub next: Option<Cursor>,
}

/// What stays of a prompt with its session after the prompt itself is gone (ruling 24).
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Summary {
    /// The prompt's id.
    pub prompt: String,
    /// The run that asked.
    pub run: Option<String>,
    /// When it ended.
    pub settled_at: Timestamp,
    /// Each question's text, and the answer to it where there is one.
    pub questions: Vec<(String, Vec<String>)>,
    /// Why there is no answer, where there is none.
    pub no_answer: Option<NoAnswerReason>,
}

/// How many summaries stay with a session. Older ones go, so that a session that lives for years stays small.
pub(crate) const SUMMARIES_KEPT: usize = 1000;

impl Summary {
    /// The summary of a prompt that has ended; nothing for one that is pending.
    pub fn of(prompt: &Prompt) -> Option<Self> {
        let settlement = prompt.settlement.as_ref()?;
        let (answers, no_answer): (&[Answer], _) = match &settlement.outcome {
            Outcome::Answered(answers) => (answers, None),
            Outcome::NoAnswer(reason) => (&[], Some(*reason)),
        };
        let values = |id: &str| {
            answers.iter().find(|answer| answer.question_id == id).map(|answer| answer.values.clone())
        };
        Some(Self {
            prompt: prompt.id.clone(),
            run: prompt.origin.run.clone(),
            settled_at: settlement.at,
            questions: prompt
                .questions
                .iter()
                .map(|question| (question.text.clone(), values(&question.id).unwrap_or_default()))
                .collect(),
            no_answer,
        })
    }

    /// The newest summaries of two sources, in the order in which the prompts ended.
    pub(crate) fn newest(mut left: Vec<Self>, right: impl IntoIterator<Item = Self>) -> Vec<Self> {
        left.extend(right);
        left.sort_by(|one, other| (one.settled_at, &one.prompt).cmp(&(other.settled_at, &other.prompt)));
        left.drain(..left.len().saturating_sub(SUMMARIES_KEPT));
        left
    }
}

/// Whether a settlement's time fits the deadline (ruling 21): an expiry at or after it, anything else before.
pub(crate) fn fits_deadline(settlement: &Settlement, expires_at: Timestamp) -> bool {
    let is_expiry = matches!(settlement.outcome, Outcome::NoAnswer(NoAnswerReason::Expired));
    is_expiry == (expires_at <= settlement.at)
}

/// Why a store could not do what it was asked. Nothing was changed.
#[derive(Clone, Debug, thiserror::Error)]
pub enum StoreError {
    /// It cannot be reached, opened, read or written.
    #[error("the store {store} is not available: {cause}")]
    Unavailable {
        /// Which store.
        store: String,
        /// What went wrong.
        cause: String,
    },
    /// What it holds cannot be understood, such as a file of a newer version.
    #[error("the store {store} holds what this version cannot read: {cause}")]
    Unreadable {
        /// Which store.
        store: String,
        /// What cannot be read.
        cause: String,
    },
}

/// What a store gives, or why it could not.
type Result<T, E = StoreError> = std::result::Result<T, E>;

/// Keeps prompts. All methods of one store may be called at the same time from many tasks.
#[async_trait]
pub trait Store: Send + Sync + 'static {
    /// Stores a pending prompt, or tells why not. Of the tool's rules the same tool call comes first, then the
    /// session's pending prompt, then the id. A session's overdue prompt that nobody has settled yet still counts as
    /// pending; `now` is not looked at.
    async fn insert(&self, tenant: &TenantId, prompt: &Arc<Prompt>, door: Door) -> Result<Inserted>;

    /// The prompt of this id.
    async fn get(&self, tenant: &TenantId, id: &str) -> Result<Option<Arc<Prompt>>>;

    /// A page of prompts, as they stand at `now`.
    async fn list(&self, tenant: &TenantId, query: &Query, now: Timestamp) -> Result<Page>;

    /// Ends a prompt, if it is still pending and `settlement.at` fits its deadline: an expiry at or after it, anything
    /// else before. Both are looked at in one step, and the first one wins. Drafts of the prompt are dropped, and a
    /// [`Summary`] is kept with its session.
    async fn settle(&self, tenant: &TenantId, id: &str, settlement: &Settlement) -> Result<Settled>;

    /// Removes a prompt that has ended, with all that was answered; whether there was one. Its summary goes too, also
    /// when only the summary is left. A pending prompt stays.
    async fn delete(&self, tenant: &TenantId, id: &str) -> Result<bool>;

    /// What one sender has answered so far.
    async fn draft(&self, tenant: &TenantId, id: &str, sender: &str) -> Result<Option<Vec<Answer>>>;

    /// Keeps what one sender has answered so far. Nothing happens when the prompt is not pending.
    async fn keep_draft(&self, tenant: &TenantId, id: &str, sender: &str, answers: &[Answer]) -> Result<()>;

    /// What is left of a session's prompts, oldest first, at most the newest 1000.
    async fn summaries(&self, tenant: &TenantId, session: &str) -> Result<Vec<Summary>>;

    /// Removes everything of a session that has ended: settled prompts and summaries. Pending prompts stay.
    async fn forget_session(&self, tenant: &TenantId, session: &str) -> Result<()>;

    /// Pending prompts of all tenants whose deadline is at or before `now`, earliest first. Only the host's own
    /// deadline loop asks this.
    async fn overdue(&self, now: Timestamp, limit: usize) -> Result<Vec<(TenantId, Arc<Prompt>)>>;

    /// The earliest deadline of all pending prompts of all tenants. Only the host's own deadline loop asks this.
    async fn next_deadline(&self) -> Result<Option<Timestamp>>;

    /// Removes prompts that ended at or before `settled_until`, at most `limit`; how many. Summaries stay. Only the
    /// host's own loop asks this.
    async fn purge(&self, whose: &Whose, settled_until: Timestamp, limit: usize) -> Result<usize>;

    /// How many prompts are pending: this tenant's, or those of all. Counts no further than `limit`.
    async fn count_pending(&self, tenant: Option<&TenantId>, limit: usize) -> Result<usize>;
}
