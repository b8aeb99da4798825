//! Which prompt was shown where, and what its controls stand for.
//!
//! A delivery goes with its prompt: it can be looked up as long as the prompt is kept, so that a late tap is told what
//! happened, and is gone with it.

use async_trait::async_trait;
use serde::{Deserialize, Serialize};

use super::{Result, Store, TenantId};
use crate::contract::{Binding, Target};

/// A place where prompts are shown: a conversation of a messaging service.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Place {
    /// The channel, by its name.
    pub channel: String,
    /// The conversation there.
    pub target: Target,
    /// Who may answer there.
    pub answerers: Answerers,
}

/// Who may answer in a place (ruling 19a).
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Answerers {
    /// The person whom the target names as the requester.
    #[default]
    Requester,
    /// These people, by the service's own ids.
    People(Vec<String>),
    /// Everybody who can read there.
    Everybody,
}

/// How far a delivery is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum DeliveryState {
    /// Its calls were handed out, and nobody has said what became of them.
    Sending,
    /// It is shown.
    Shown,
    /// The prompt has ended, and the calls that show so were handed out.
    Updating,
    /// It shows how the prompt ended, or cannot.
    Done,
    /// It could not be shown.
    Failed,
}

#[cfg(feature = "sqlite")]
impl DeliveryState {
    /// All of them, by the numbers that stores write.
    pub(super) const ALL: [Self; 5] = [Self::Sending, Self::Shown, Self::Updating, Self::Done, Self::Failed];

    /// Its number, which never changes.
    pub(super) fn number(self) -> i64 {
        match self {
            Self::Sending => 0,
            Self::Shown => 1,
            Self::Updating => 2,
            Self::Done => 3,
            Self::Failed => 4,
        }
    }
}

/// A prompt in one place.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Delivery {
    /// Its id, unguessable.
    pub id: String,
    /// The prompt's id.
    pub prompt: String,
    /// Where it is.
    pub place: Place,
    /// What its controls stand for.
    pub bindings: Vec<Binding>,
    /// Its messages, as the service named them, in the order of their calls.
    pub messages: Vec<String>,
    /// Whether the prompt can be seen elsewhere too, so that it goes on where this fails.
    pub elsewhere: bool,
    /// How far it is.
    pub state: DeliveryState,
}

/// Keeps deliveries, beside the prompts they belong to.
#[async_trait]
pub trait DeliveryStore: Send + Sync + 'static {
    /// Keeps a new delivery of a prompt that is kept. Whether there is that prompt.
    async fn insert_delivery(&self, tenant: &TenantId, delivery: &Delivery) -> Result<bool>;

    /// The delivery of this id.
    async fn delivery(&self, tenant: &TenantId, id: &str) -> Result<Option<Delivery>>;

    /// All deliveries of a prompt, oldest first.
    async fn deliveries_of(&self, tenant: &TenantId, prompt: &str) -> Result<Vec<Delivery>>;

    /// The deliveries of a channel with this token on a control, oldest first.
    async fn deliveries_with(&self, tenant: &TenantId, channel: &str, token: &str) -> Result<Vec<Delivery>>;

    /// The newest deliveries at this address of a channel whose prompts are pending, newest first.
    async fn deliveries_at(&self, tenant: &TenantId, channel: &str, address: &str) -> Result<Vec<Delivery>>;

    /// Moves a delivery on, if it is where it is thought to be, and keeps what it is called where that is given. Whether
    /// it was.
    async fn move_delivery(
        &self,
        tenant: &TenantId,
        id: &str,
        from: DeliveryState,
        to: DeliveryState,
        messages: Option<&[String]>,
    ) -> Result<bool>;

    /// Deliveries that are [`Shown`](DeliveryState::Shown) or [`Updating`](DeliveryState::Updating) though their prompt has
    /// ended, oldest first, at most `limit`: what is left to do after a restart.
    async fn outdated_deliveries(&self, tenant: &TenantId, limit: usize) -> Result<Vec<Delivery>>;
}

/// How many deliveries at one address are looked at: as many prompts as one conversation has open at most.
pub(super) const AT_ONE_ADDRESS: usize = 16;

/// Keeps prompts, and where they are shown.
pub trait ChannelStore: Store + DeliveryStore {}

impl<S: Store + DeliveryStore> ChannelStore for S {}
