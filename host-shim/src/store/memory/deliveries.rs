//! Deliveries in memory, beside the prompts.

use std::collections::HashMap;

use async_trait::async_trait;

use super::super::deliveries::{AT_ONE_ADDRESS, Delivery, DeliveryState, DeliveryStore, Place};
use super::super::{Result, TenantId};
use super::MemoryStore;

/// Deliveries of all tenants. The memory store forgets those of a prompt with the prompt.
#[derive(Debug, Default)]
pub(super) struct Shelf {
    deliveries: HashMap<(TenantId, String), Delivery>,
    /// Ids of deliveries, oldest first.
    places: HashMap<(TenantId, Key), Vec<String>>,
}

/// What deliveries are looked up by.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Key {
    Prompt(String),
    /// A channel and a token of a control.
    Token(String, String),
    /// A channel and an address.
    Address(String, String),
}

impl Key {
    fn all_of(delivery: &Delivery) -> Vec<Self> {
        let Place { channel, target, .. } = &delivery.place;
        let tokens =
            delivery.bindings.iter().map(|binding| Self::Token(channel.clone(), binding.token.clone()));
        tokens
            .chain([
                Self::Prompt(delivery.prompt.clone()),
                Self::Address(channel.clone(), target.address.clone()),
            ])
            .collect()
    }
}

impl Shelf {
    fn insert(&mut self, tenant: &TenantId, delivery: &Delivery) {
        for key in Key::all_of(delivery) {
            self.places.entry((tenant.clone(), key)).or_default().push(delivery.id.clone());
        }
        self.deliveries.insert((tenant.clone(), delivery.id.clone()), delivery.clone());
    }

    pub(super) fn forget(&mut self, tenant: &TenantId, prompt: &str) {
        let of_prompt = self.places.get(&(tenant.clone(), Key::Prompt(prompt.into()))).cloned();
        for id in of_prompt.unwrap_or_default() {
            let Some(delivery) = self.deliveries.remove(&(tenant.clone(), id.clone())) else { continue };
            for key in Key::all_of(&delivery) {
                let key = (tenant.clone(), key);
                if let Some(ids) = self.places.get_mut(&key) {
                    ids.retain(|other| *other != id);
                    if ids.is_empty() {
                        self.places.remove(&key);
                    }
                }
            }
        }
    }

    fn get_mut(&mut self, tenant: &TenantId, id: &str) -> Option<&mut Delivery> {
        self.deliveries.get_mut(&(tenant.clone(), id.to_owned()))
    }

    /// Those with this key, oldest first.
    fn with(&self, tenant: &TenantId, key: Key) -> impl DoubleEndedIterator<Item = &Delivery> {
        let ids = self.places.get(&(tenant.clone(), key)).map(Vec::as_slice).unwrap_or_default();
        ids.iter().filter_map(|id| self.deliveries.get(&(tenant.clone(), id.clone())))
    }

    /// All of one tenant.
    fn of_tenant<'s>(&'s self, tenant: &'s TenantId) -> impl Iterator<Item = &'s Delivery> {
        self.deliveries.iter().filter(move |((of, _), _)| of == tenant).map(|(_, delivery)| delivery)
    }
}

/// What deliveries have to know of prompts.
struct Standing<'s>(&'s HashMap<TenantId, super::Shelf>);

impl Standing<'_> {
    /// Whether a prompt is pending; nothing where it is not kept.
    fn is_pending(&self, tenant: &TenantId, id: &str) -> Option<bool> {
        Some(self.0.get(tenant)?.prompts.get(id)?.0.settled_at.is_none())
    }
}

impl MemoryStore {
    /// Looks at deliveries and prompts at once.
    fn with_deliveries<T>(&self, work: impl FnOnce(&Standing<'_>, &mut Shelf) -> T) -> T {
        let state = &mut *self.lock();
        work(&Standing(&state.tenants), &mut state.deliveries)
    }
}

#[async_trait]
impl DeliveryStore for MemoryStore {
    async fn insert_delivery(&self, tenant: &TenantId, delivery: &Delivery) -> Result<bool> {
        Ok(self.with_deliveries(|prompts, deliveries| {
            let is_kept = prompts.is_pending(tenant, &delivery.prompt).is_some();
            if is_kept {
                deliveries.insert(tenant, delivery);
            }
            is_kept
        }))
    }

    async fn delivery(&self, tenant: &TenantId, id: &str) -> Result<Option<Delivery>> {
        Ok(self.with_deliveries(|_, deliveries| deliveries.get_mut(tenant, id).cloned()))
    }

    async fn deliveries_of(&self, tenant: &TenantId, prompt: &str) -> Result<Vec<Delivery>> {
        let key = Key::Prompt(prompt.into());
        Ok(self.with_deliveries(|_, deliveries| deliveries.with(tenant, key).cloned().collect()))
    }

    async fn deliveries_with(&self, tenant: &TenantId, channel: &str, token: &str) -> Result<Vec<Delivery>> {
        let key = Key::Token(channel.into(), token.into());
        Ok(self.with_deliveries(|_, deliveries| deliveries.with(tenant, key).cloned().collect()))
    }

    async fn deliveries_at(&self, tenant: &TenantId, channel: &str, address: &str) -> Result<Vec<Delivery>> {
        let key = Key::Address(channel.into(), address.into());
        Ok(self.with_deliveries(|prompts, deliveries| {
            let pending = |delivery: &&Delivery| prompts.is_pending(tenant, &delivery.prompt) == Some(true);
            deliveries.with(tenant, key).rev().filter(pending).take(AT_ONE_ADDRESS).cloned().collect()
        }))
    }

    async fn move_delivery(
        &self,
        tenant: &TenantId,
        id: &str,
        from: DeliveryState,
        to: DeliveryState,
        messages: Option<&[String]>,
    ) -> Result<bool> {
        Ok(self.with_deliveries(|_, deliveries| {
            let Some(delivery) = deliveries.get_mut(tenant, id).filter(|delivery| delivery.state == from)
            else {
                return false;
            };
            delivery.state = to;
            if let Some(messages) = messages {
                delivery.messages = messages.to_vec();
            }
            true
        }))
    }

    async fn outdated_deliveries(&self, tenant: &TenantId, limit: usize) -> Result<Vec<Delivery>> {
        Ok(self.with_deliveries(|prompts, deliveries| {
            let outdated = |delivery: &&Delivery| {
                matches!(delivery.state, DeliveryState::Shown | DeliveryState::Updating)
                    && prompts.is_pending(tenant, &delivery.prompt) == Some(false)
            };
            deliveries.of_tenant(tenant).filter(outdated).take(limit).cloned().collect()
        }))
    }
}
