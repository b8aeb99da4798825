//! Prompts on messaging services: which prompt is shown where, who may answer there, what a tap means, and how every
//! place learns that a prompt has ended.
//!
//! ```text
//! show ──▶ calls to make ──▶ the service ──▶ shown(messages)
//!                               │ tap, message
//!                               ▼
//!                         tapped, said ──▶ answer ──▶ the prompt ends ──▶ updates: calls for every place
//! ```
//!
//! Nothing here talks to a service. Who does, makes the calls that come out of here and reports what became of them: a
//! [`Messenger`] in the same process, which [`ChannelService::show_with`] and [`ChannelService::follow`] drive, or a client of
//! the gateway. What is known stands in the store, beside the prompts, so that a restart forgets nothing.

mod error;
mod messenger;
mod registry;
mod said;
mod settled;
mod tapped;

use std::fmt;
use std::sync::Arc;

pub use error::ChannelsError;
pub use messenger::{Messenger, MessengerError, Shown};
pub use registry::{AddError, Channels, Clash, Known};
pub use said::Heard;
pub use settled::Update;
pub use tapped::{Reaction, Tapped};

pub use crate::store::{Answerers, ChannelStore, Delivery, DeliveryState, DeliveryStore, Place};

use crate::contract::{About, Call, NoAnswerReason, Prompt, Target};
use crate::questions::{AskUser, FindError, Principal, SettleError};
use crate::store::TenantId;

/// The channels of a host, and what is shown on them. Cheap to clone.
#[derive(Clone)]
pub struct ChannelService {
    inner: Arc<Inner>,
}

struct Inner {
    host: AskUser,
    channels: Channels,
    store: Arc<dyn ChannelStore>,
}

impl fmt::Debug for ChannelService {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("ChannelService")
            .field("channels", &self.inner.channels)
            .finish_non_exhaustive()
    }
}

/// A prompt that is to be shown in a place.
#[derive(Clone, Debug, PartialEq)]
pub struct Prepared {
    /// What it is kept as.
    pub delivery: Delivery,
    /// The calls that show it, in the order to make them.
    pub calls: Vec<Call>,
}

/// What is known of a delivery after its calls were made.
#[derive(Clone, Debug, PartialEq)]
pub enum Outcome {
    /// Nothing more is to be done now.
    Nothing,
    /// The prompt has ended meanwhile: these calls show so.
    Ended(Box<Update>),
    /// It is shown nowhere, and the prompt has ended as undeliverable.
    Undeliverable,
}

impl ChannelService {
    /// The service of a host, on the store in which the host keeps its prompts.
    pub fn new(host: AskUser, channels: Channels, store: Arc<dyn ChannelStore>) -> Self {
        Self { inner: Arc::new(Inner { host, channels, store }) }
    }

    /// The channels there are.
    pub fn channels(&self) -> &Channels {
        &self.inner.channels
    }

    /// Gets a pending prompt ready for a place, and keeps that. Whoever makes the calls says what became of them:
    /// [`shown`](Self::shown) or [`failed`](Self::failed). `elsewhere` says that the prompt can be seen elsewhere too;
    /// otherwise it ends as undeliverable when the last of its places fails.
    pub async fn show(
        &self,
        tenant: &TenantId,
        prompt: &str,
        place: Place,
        elsewhere: bool,
    ) -> Result<Prepared, ChannelsError> {
        let known = self.known(&place.channel)?;
        let prompt = self.prompt(tenant, prompt).await?;
        let target = self.told(known, &place.target, &prompt)?;
        let rendering = known.plugin.render(&prompt, &place.channel, &target)??;
        let delivery = Delivery {
            id: crate::ids::delivery().map_err(|error| ChannelsError::Unavailable(error.to_string()))?,
            prompt: prompt.id.clone(),
            place,
            bindings: rendering.bindings,
            messages: Vec::new(),
            elsewhere,
            state: DeliveryState::Sending,
        };
        if !self.inner.store.insert_delivery(tenant, &delivery).await? {
            return Err(ChannelsError::NoPrompt(prompt.id.clone()));
        }
        Ok(Prepared { delivery, calls: rendering.calls })
    }

    /// Says that a delivery is shown, as these messages of the service.
    pub async fn shown(
        &self,
        tenant: &TenantId,
        delivery: &str,
        messages: &[String],
    ) -> Result<Outcome, ChannelsError> {
        let (sending, shown) = (DeliveryState::Sending, DeliveryState::Shown);
        let moved = self.inner.store.move_delivery(tenant, delivery, sending, shown, Some(messages)).await?;
        let kept = self.delivery(tenant, delivery).await?;
        if !moved && kept.state == DeliveryState::Failed {
            return Err(ChannelsError::Failed(delivery.into()));
        }
        // Who ended it meanwhile found nothing that was shown.
        match self.update(tenant, &kept).await? {
            Some(update) => Ok(Outcome::Ended(Box::new(update))),
            None => Ok(Outcome::Nothing),
        }
    }

    /// Says that a delivery cannot be shown.
    pub async fn failed(
        &self,
        tenant: &TenantId,
        delivery: &str,
        why: &str,
    ) -> Result<Outcome, ChannelsError> {
        let (sending, failed) = (DeliveryState::Sending, DeliveryState::Failed);
        self.inner.store.move_delivery(tenant, delivery, sending, failed, None).await?;
        let delivery = self.delivery(tenant, delivery).await?;
        tracing::warn!(
            tenant = %tenant,
            channel = %delivery.place.channel,
            delivery = %delivery.id,
            "a question could not be shown: {}",
            crate::sandbox::shorten(why)
        );
        let all = self.inner.store.deliveries_of(tenant, &delivery.prompt).await?;
        let is_lost =
            all.iter().all(|delivery| delivery.state == DeliveryState::Failed && !delivery.elsewhere);
        if is_lost && self.undeliverable(tenant, &delivery.prompt).await? {
            return Ok(Outcome::Undeliverable);
        }
        Ok(Outcome::Nothing)
    }

    /// Where a prompt is or was shown, oldest first.
    pub async fn deliveries(&self, tenant: &TenantId, prompt: &str) -> Result<Vec<Delivery>, ChannelsError> {
        Ok(self.inner.store.deliveries_of(tenant, prompt).await?)
    }

    /// Ends a prompt that nobody can see. Whether that is how it ended.
    async fn undeliverable(&self, tenant: &TenantId, prompt: &str) -> Result<bool, ChannelsError> {
        let operator = Principal::operator(tenant.clone(), "channels");
        match self.inner.host.cancel(&operator, prompt, NoAnswerReason::Undeliverable).await {
            Ok(_) => Ok(true),
            // Somebody was faster.
            Err(SettleError::AlreadyTerminal { .. } | SettleError::NotFound { .. }) => Ok(false),
            Err(error) => Err(error.into()),
        }
    }

    /// A target with what there is to say about a prompt.
    fn told(&self, known: &Known, target: &Target, prompt: &Prompt) -> Result<Target, ChannelsError> {
        Ok(known.told(self.inner.host.plugin(), target, || About::Prompt(prompt.clone()))?)
    }

    fn known(&self, channel: &str) -> Result<&Known, ChannelsError> {
        self.inner.channels.get(channel).ok_or_else(|| ChannelsError::NoChannel(channel.into()))
    }

    async fn delivery(&self, tenant: &TenantId, id: &str) -> Result<Delivery, ChannelsError> {
        let delivery = self.inner.store.delivery(tenant, id).await?;
        delivery.ok_or_else(|| ChannelsError::NoDelivery(id.into()))
    }

    /// A prompt, whoever may answer it: this service says who that is. Also one that is shown to nobody any more, since
    /// its tenant keeps nothing that has ended, and that has not been removed yet: places still show it as pending.
    async fn prompt(&self, tenant: &TenantId, id: &str) -> Result<Arc<Prompt>, ChannelsError> {
        let operator = Principal::operator(tenant.clone(), "channels");
        match self.inner.host.get(&operator, id).await {
            Err(FindError::NotFound { id }) => {
                self.inner.store.get(tenant, &id).await?.ok_or(ChannelsError::NoPrompt(id))
            }
            found => Ok(found?),
        }
    }
}

/// Who speaks in a place, for the host; nothing where they may not answer there (ruling 19a).
fn answerer(tenant: &TenantId, place: &Place, prompt: &Prompt, sender: &str) -> Option<Principal> {
    let named = format!("{}:{sender}", place.channel);
    let asked = prompt.origin.requester.as_deref();
    let is_requester = match &place.target.requester {
        Some(requester) => requester.id == sender,
        None => asked == Some(sender) || asked == Some(&named),
    };
    let may_answer = match &place.answerers {
        Answerers::Requester => is_requester,
        Answerers::People(people) => is_requester || people.iter().any(|person| person == sender),
        Answerers::Everybody => true,
    };
    // The host has asked here already, and knows the requester by its own name.
    let subject = asked.filter(|_| is_requester).map_or(named, str::to_owned);
    may_answer.then(|| Principal::operator(tenant.clone(), subject))
}
