//! A messenger in the same process: whoever embeds the host implements it, and the service drives it.

use async_trait::async_trait;

use super::{ChannelService, ChannelsError, Outcome, Place, Prepared, Update};
use crate::contract::Call;
use crate::questions::{Event, Principal};
use crate::store::TenantId;

/// Makes the calls of channels. What it reports is believed; what it is given is ready to be sent.
#[async_trait]
pub trait Messenger: Send + Sync {
    /// Sends what the agent has written for this place so far. Called before a prompt is shown there, so that people read
    /// what led to the question before the question.
    async fn flush(&self, place: &Place) -> Result<(), MessengerError> {
        let _ = place;
        Ok(())
    }

    /// Makes a call that sends a message, and gives the service's name of the message. Empty where the service gives none.
    async fn send(&self, place: &Place, call: &Call) -> Result<String, MessengerError>;

    /// Makes a call that changes what was sent, or says how it ended.
    async fn edit(&self, place: &Place, call: &Call) -> Result<(), MessengerError>;

    /// Makes a call that responds to a tap.
    async fn acknowledge(&self, channel: &str, call: &Call) -> Result<(), MessengerError>;
}

/// Why a call could not be made.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct MessengerError(pub String);

/// Where a prompt is shown.
#[derive(Clone, Debug, PartialEq)]
pub enum Shown {
    /// In so many places.
    In(usize),
    /// Nowhere: it has ended as undeliverable.
    Nowhere,
}

impl ChannelService {
    /// Shows a prompt in all of these places. Where none of them works and it can be seen nowhere else, it ends at once:
    /// nobody waits for an answer to what nobody sees.
    pub async fn show_with(
        &self,
        messenger: &dyn Messenger,
        tenant: &TenantId,
        prompt: &str,
        places: Vec<Place>,
        elsewhere: bool,
    ) -> Result<Shown, ChannelsError> {
        let mut shown = 0;
        for place in places {
            let channel = place.channel.clone();
            // One place that is wrong does not keep the prompt from the others.
            let prepared = match self.show(tenant, prompt, place, elsewhere).await {
                Ok(prepared) => prepared,
                Err(error @ (ChannelsError::NoPrompt(_) | ChannelsError::Unavailable(_))) => {
                    return Err(error);
                }
                Err(error) => {
                    tracing::warn!(%error, tenant = %tenant, channel, "a question cannot be shown there");
                    continue;
                }
            };
            match send(messenger, &prepared).await {
                Ok(messages) => {
                    shown += 1;
                    if let Outcome::Ended(update) =
                        self.shown(tenant, &prepared.delivery.id, &messages).await?
                    {
                        self.make(messenger, tenant, *update).await?;
                    }
                }
                Err(error) => {
                    self.failed(tenant, &prepared.delivery.id, &error.0).await?;
                }
            }
        }
        if shown == 0 && !elsewhere {
            self.undeliverable(tenant, prompt).await?;
            return Ok(Shown::Nowhere);
        }
        Ok(Shown::In(shown))
    }

    /// Takes a tap, and responds to it.
    pub async fn tapped_with(
        &self,
        messenger: &dyn Messenger,
        tenant: &TenantId,
        channel: &str,
        payload: &str,
    ) -> Result<super::Tapped, ChannelsError> {
        let reaction = self.tapped(tenant, channel, payload).await?;
        for call in &reaction.calls {
            if let Err(error) = messenger.acknowledge(channel, call).await {
                tracing::warn!(%error, tenant = %tenant, channel, "a tap was not responded to");
            }
        }
        Ok(reaction.tapped)
    }

    /// Brings every place of a tenant up to date whenever a prompt ends, first of all those of prompts that ended before.
    /// Runs until the host is gone. What fails is made good when the next prompt ends.
    pub async fn follow(&self, messenger: &dyn Messenger, tenant: &TenantId) {
        let operator = Principal::operator(tenant.clone(), "channels");
        let mut events = self.inner.host.subscribe(operator);
        let mut done = self.catch_up(messenger, tenant).await;
        loop {
            if let Err(error) = &done {
                tracing::error!(%error, tenant = %tenant, "places that show ended questions could not be updated");
            }
            let is_behind = done.is_err();
            done = match events.next().await {
                None => return,
                Some(Event::Requested(_)) if !is_behind => Ok(()),
                Some(Event::Resolved(prompt)) if !is_behind => self.tell(messenger, tenant, &prompt.id).await,
                Some(_) => self.catch_up(messenger, tenant).await,
            };
        }
    }

    /// Brings the places of one prompt up to date.
    async fn tell(
        &self,
        messenger: &dyn Messenger,
        tenant: &TenantId,
        prompt: &str,
    ) -> Result<(), ChannelsError> {
        for update in self.updates(tenant, prompt).await? {
            self.make(messenger, tenant, update).await?;
        }
        Ok(())
    }

    async fn catch_up(&self, messenger: &dyn Messenger, tenant: &TenantId) -> Result<(), ChannelsError> {
        loop {
            let updates = self.all_updates(tenant).await?;
            if updates.is_empty() {
                return Ok(());
            }
            for update in updates {
                self.make(messenger, tenant, update).await?;
            }
        }
    }

    /// Makes the calls of an update. One that fails is not tried again: the prompt has ended, and whoever taps is told.
    async fn make(
        &self,
        messenger: &dyn Messenger,
        tenant: &TenantId,
        update: Update,
    ) -> Result<(), ChannelsError> {
        let Update { delivery, calls } = update;
        for call in &calls {
            if let Err(error) = messenger.edit(&delivery.place, call).await {
                tracing::warn!(%error, tenant = %tenant, channel = %delivery.place.channel, "a place was not updated");
            }
        }
        self.updated(tenant, &delivery.id).await
    }
}

async fn send(messenger: &dyn Messenger, prepared: &Prepared) -> Result<Vec<String>, MessengerError> {
    let place = &prepared.delivery.place;
    messenger.flush(place).await?;
    let mut messages = Vec::new();
    for call in &prepared.calls {
        messages.push(messenger.send(place, call).await?);
    }
    Ok(messages)
}
