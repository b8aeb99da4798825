//! How every place learns that a prompt has ended.

use super::{ChannelService, ChannelsError, Delivery, DeliveryState, Place};
use crate::contract::{Call, Prompt};
use crate::store::TenantId;

/// How many places are brought up to date at a time.
const AT_ONCE: usize = 64;

/// Calls that show in one place how a prompt ended.
#[derive(Clone, Debug, PartialEq)]
pub struct Update {
    /// Where.
    pub delivery: Delivery,
    /// The calls, in the order to make them.
    pub calls: Vec<Call>,
}

impl ChannelService {
    /// What is to be done about the places where a prompt is shown, if it has ended. Each update is handed out once;
    /// whoever makes its calls says so: [`updated`](Self::updated).
    pub async fn updates(&self, tenant: &TenantId, prompt: &str) -> Result<Vec<Update>, ChannelsError> {
        let deliveries = self.inner.store.deliveries_of(tenant, prompt).await?;
        self.update_all(tenant, deliveries).await
    }

    /// What is left to be done of all prompts of a tenant that have ended, and also what was handed out and never said to
    /// be done: for the time after a restart.
    pub async fn all_updates(&self, tenant: &TenantId) -> Result<Vec<Update>, ChannelsError> {
        let (updating, shown) = (DeliveryState::Updating, DeliveryState::Shown);
        let deliveries = self.inner.store.outdated_deliveries(tenant, AT_ONCE).await?;
        for delivery in deliveries.iter().filter(|delivery| delivery.state == updating) {
            self.inner.store.move_delivery(tenant, &delivery.id, updating, shown, None).await?;
        }
        self.update_all(tenant, deliveries).await
    }

    /// Says that the calls of an update were made, or cannot be made any more.
    pub async fn updated(&self, tenant: &TenantId, delivery: &str) -> Result<(), ChannelsError> {
        let (updating, done) = (DeliveryState::Updating, DeliveryState::Done);
        if !self.inner.store.move_delivery(tenant, delivery, updating, done, None).await? {
            self.delivery(tenant, delivery).await?;
        }
        Ok(())
    }

    async fn update_all(
        &self,
        tenant: &TenantId,
        deliveries: Vec<Delivery>,
    ) -> Result<Vec<Update>, ChannelsError> {
        let mut updates = Vec::new();
        for delivery in deliveries {
            match self.update(tenant, &delivery).await {
                Ok(update) => updates.extend(update),
                // One place that cannot be updated stands in nobody's way.
                Err(error) => {
                    tracing::warn!(%error, tenant = %tenant, delivery = %delivery.id, "a place shows an ended question");
                }
            }
        }
        Ok(updates)
    }

    /// The update of one place; nothing while its prompt is pending, or where somebody else has it in hand.
    pub(super) async fn update(
        &self,
        tenant: &TenantId,
        delivery: &Delivery,
    ) -> Result<Option<Update>, ChannelsError> {
        let prompt = self.prompt(tenant, &delivery.prompt).await?;
        let (shown, updating) = (DeliveryState::Shown, DeliveryState::Updating);
        if prompt.settlement.is_none()
            || !self.inner.store.move_delivery(tenant, &delivery.id, shown, updating, None).await?
        {
            return Ok(None);
        }
        match self.calls(&prompt, delivery) {
            Ok(calls) => {
                let delivery = Delivery { state: updating, ..delivery.clone() };
                Ok(Some(Update { delivery, calls }))
            }
            Err(error) => {
                // It would not go better the next time, and would stand in the way of others.
                self.updated(tenant, &delivery.id).await?;
                Err(error)
            }
        }
    }

    fn calls(&self, prompt: &Prompt, delivery: &Delivery) -> Result<Vec<Call>, ChannelsError> {
        let Place { channel, target, .. } = &delivery.place;
        let known = self.known(channel)?;
        let target = self.told(known, target, prompt)?;
        Ok(known.plugin.render_settled(prompt, channel, &target, &delivery.messages)??)
    }
}
