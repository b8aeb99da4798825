//! What happened to prompts, told after it was committed, in the order in which it happened to each prompt.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use tokio::sync::broadcast;

use super::principal::Principal;
use crate::contract::Prompt;
use crate::store::TenantId;

/// Events that a slow subscriber may fall behind before some are missed.
const BACKLOG: usize = 4096;

/// What happened.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Event {
    /// A prompt was made and is pending.
    Requested(Arc<Prompt>),
    /// A prompt has ended; the settlement says how.
    Resolved(Arc<Prompt>),
    /// This subscriber was too slow, and so many events of all tenants are gone: list again.
    Missed(u64),
}

#[derive(Clone, Debug)]
struct Published {
    tenant: TenantId,
    event: Event,
}

/// Publishes events.
#[derive(Debug)]
pub(super) struct Events {
    sender: broadcast::Sender<Published>,
    /// Prompts whose first event is on its way, with what happened to them meanwhile: a prompt is never seen to end
    /// before it was seen to begin.
    announcing: Mutex<HashMap<(TenantId, String), Vec<Event>>>,
}

impl Events {
    pub(super) fn new() -> Self {
        Self { sender: broadcast::Sender::new(BACKLOG), announcing: Mutex::default() }
    }

    /// Says that a prompt of this id may be stored soon. Ends with [`requested`](Self::requested) or
    /// [`not_requested`](Self::not_requested).
    pub(super) fn announce(&self, tenant: &TenantId, id: &str) {
        self.announcing().insert((tenant.clone(), id.to_owned()), Vec::new());
    }

    /// The announced prompt was stored.
    pub(super) fn requested(&self, tenant: &TenantId, prompt: Arc<Prompt>) {
        let mut announcing = self.announcing();
        let since = announcing.remove(&(tenant.clone(), prompt.id.clone())).unwrap_or_default();
        self.send(tenant, Event::Requested(prompt));
        for event in since {
            self.send(tenant, event);
        }
    }

    /// The announced prompt was not stored.
    pub(super) fn not_requested(&self, tenant: &TenantId, id: &str) {
        // Another prompt of this id may have ended meanwhile.
        let mut announcing = self.announcing();
        for event in announcing.remove(&(tenant.clone(), id.to_owned())).unwrap_or_default() {
            self.send(tenant, event);
        }
    }

    /// A prompt has ended.
    pub(super) fn resolved(&self, tenant: &TenantId, prompt: Arc<Prompt>) {
        let mut announcing = self.announcing();
        match announcing.get_mut(&(tenant.clone(), prompt.id.clone())) {
            Some(since) => since.push(Event::Resolved(prompt)),
            None => self.send(tenant, Event::Resolved(prompt)),
        }
    }

    pub(super) fn subscribe(&self, principal: Principal) -> Subscription {
        Subscription { receiver: self.sender.subscribe(), principal }
    }

    fn send(&self, tenant: &TenantId, event: Event) {
        // Nobody listening is no error.
        let _ = self.sender.send(Published { tenant: tenant.clone(), event });
    }

    fn announcing(&self) -> std::sync::MutexGuard<'_, HashMap<(TenantId, String), Vec<Event>>> {
        self.announcing.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The events that one principal may see.
#[derive(Debug)]
pub struct Subscription {
    receiver: broadcast::Receiver<Published>,
    principal: Principal,
}

impl Subscription {
    /// The next event; nothing once the host has ended.
    pub async fn next(&mut self) -> Option<Event> {
        loop {
            match self.receiver.recv().await {
                Ok(published) => {
                    if self.sees(&published) {
                        return Some(published.event);
                    }
                }
                Err(broadcast::error::RecvError::Lagged(count)) => return Some(Event::Missed(count)),
                Err(broadcast::error::RecvError::Closed) => return None,
            }
        }
    }

    fn sees(&self, published: &Published) -> bool {
        match &published.event {
            Event::Requested(prompt) | Event::Resolved(prompt) => {
                published.tenant == self.principal.tenant && self.principal.may_answer(prompt)
            }
            Event::Missed(_) => false,
        }
    }
}
