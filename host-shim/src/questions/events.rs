//! What happened to prompts, told after it was committed, in the order in which it happened to each prompt.
//!
//! Each subscriber has a queue of its own, and whoever publishes puts the event into the queues before it goes on. So a
//! caller who learns the result of what it did finds the event of it in its queue already.

use std::collections::{HashMap, VecDeque};
use std::future::poll_fn;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::task::{Context, Poll, Waker};

use super::principal::Principal;
use crate::contract::Prompt;
use crate::store::TenantId;

/// Events that a slow subscriber may fall behind before some are missed.
const BACKLOG: usize = 65_536;

/// What happened.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Event {
    /// A prompt was made and is pending.
    Requested(Arc<Prompt>),
    /// A prompt has ended; the settlement says how.
    Resolved(Arc<Prompt>),
    /// This subscriber was too slow, and so many events are gone: list again.
    Missed(u64),
}

/// A place beside an event where the first subscriber to write it down leaves the text for the others.
pub(crate) type Written = Arc<OnceLock<Arc<str>>>;

/// Publishes events.
#[derive(Debug, Default)]
pub(super) struct Events {
    subscribers: Arc<Subscribers>,
    /// Prompts whose first event is on its way, with what happened to them meanwhile: a prompt is never seen to end
    /// before it was seen to begin.
    announcing: Mutex<HashMap<(TenantId, String), Vec<Event>>>,
}

impl Events {
    /// Says that a prompt of this id may be stored soon. Ends with [`requested`](Self::requested) or
    /// [`not_requested`](Self::not_requested).
    pub(super) fn announce(&self, tenant: &TenantId, id: &str) {
        self.announcing().insert((tenant.clone(), id.to_owned()), Vec::new());
    }

    /// The announced prompt was stored.
    pub(super) fn requested(&self, tenant: &TenantId, prompt: Arc<Prompt>) {
        let mut announcing = self.announcing();
        let since = announcing.remove(&(tenant.clone(), prompt.id.clone())).unwrap_or_default();
        self.subscribers.tell(tenant, &Event::Requested(prompt));
        for event in since {
            self.subscribers.tell(tenant, &event);
        }
    }

    /// The announced prompt was not stored.
    pub(super) fn not_requested(&self, tenant: &TenantId, id: &str) {
        // Another prompt of this id may have ended meanwhile.
        let mut announcing = self.announcing();
        for event in announcing.remove(&(tenant.clone(), id.to_owned())).unwrap_or_default() {
            self.subscribers.tell(tenant, &event);
        }
    }

    /// A prompt has ended.
    pub(super) fn resolved(&self, tenant: &TenantId, prompt: Arc<Prompt>) {
        let mut announcing = self.announcing();
        match announcing.get_mut(&(tenant.clone(), prompt.id.clone())) {
            Some(since) => since.push(Event::Resolved(prompt)),
            None => self.subscribers.tell(tenant, &Event::Resolved(prompt)),
        }
    }

    pub(super) fn subscribe(&self, principal: Principal) -> Subscription {
        let queue = Arc::new(Queue { principal, backlog: Mutex::default() });
        self.subscribers.lock().entry(queue.principal.tenant.clone()).or_default().push(Arc::clone(&queue));
        Subscription { queue, subscribers: Arc::clone(&self.subscribers) }
    }

    fn announcing(&self) -> MutexGuard<'_, HashMap<(TenantId, String), Vec<Event>>> {
        self.announcing.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Events {
    fn drop(&mut self) {
        for queue in self.subscribers.lock().values().flatten() {
            queue.end();
        }
    }
}

/// Who listens, by tenant: an event of one tenant costs the others nothing.
#[derive(Debug, Default)]
struct Subscribers {
    queues: Mutex<HashMap<TenantId, Vec<Arc<Queue>>>>,
}

impl Subscribers {
    fn tell(&self, tenant: &TenantId, event: &Event) {
        let written = Written::default();
        for queue in self.lock().get(tenant).into_iter().flatten() {
            queue.push(event, &written);
        }
    }

    fn remove(&self, queue: &Arc<Queue>) {
        let mut queues = self.lock();
        if let Some(of_tenant) = queues.get_mut(&queue.principal.tenant) {
            of_tenant.retain(|other| !Arc::ptr_eq(other, queue));
            if of_tenant.is_empty() {
                queues.remove(&queue.principal.tenant);
            }
        }
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<TenantId, Vec<Arc<Queue>>>> {
        self.queues.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What one subscriber has not taken yet.
#[derive(Debug)]
struct Queue {
    principal: Principal,
    backlog: Mutex<Backlog>,
}

#[derive(Debug, Default)]
struct Backlog {
    events: VecDeque<(Event, Written)>,
    missed: u64,
    has_ended: bool,
    waiting: Option<Waker>,
}

impl Queue {
    fn push(&self, event: &Event, written: &Written) {
        let (Event::Requested(prompt) | Event::Resolved(prompt)) = event else { return };
        if !self.principal.may_answer(prompt) {
            return;
        }
        let mut backlog = self.lock();
        if backlog.missed > 0 {
            backlog.missed += 1;
        } else if backlog.events.len() >= BACKLOG {
            backlog.missed = backlog.events.len() as u64 + 1;
            backlog.events = VecDeque::new();
        } else {
            backlog.events.push_back((event.clone(), Arc::clone(written)));
        }
        backlog.wake();
    }

    fn end(&self) {
        let mut backlog = self.lock();
        backlog.has_ended = true;
        backlog.wake();
    }

    fn lock(&self) -> MutexGuard<'_, Backlog> {
        self.backlog.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Backlog {
    fn wake(&mut self) {
        if let Some(waker) = self.waiting.take() {
            waker.wake();
        }
    }

    fn take(&mut self) -> Option<(Event, Written)> {
        if self.missed > 0 {
            return Some((Event::Missed(std::mem::take(&mut self.missed)), Written::default()));
        }
        self.events.pop_front()
    }
}

/// The events that one principal may see.
#[derive(Debug)]
pub struct Subscription {
    queue: Arc<Queue>,
    subscribers: Arc<Subscribers>,
}

impl Subscription {
    /// The next event; nothing once the host has ended.
    pub async fn next(&mut self) -> Option<Event> {
        poll_fn(|context| self.poll_next(context)).await.map(|(event, _)| event)
    }

    /// The next event, if one has come.
    #[cfg(feature = "gateway")]
    pub(crate) fn try_next_written(&mut self) -> Option<(Event, Written)> {
        self.queue.lock().take()
    }

    pub(crate) fn poll_next(&mut self, context: &mut Context<'_>) -> Poll<Option<(Event, Written)>> {
        let mut backlog = self.queue.lock();
        match backlog.take() {
            Some(next) => Poll::Ready(Some(next)),
            None if backlog.has_ended => Poll::Ready(None),
            None => {
                if !backlog.waiting.as_ref().is_some_and(|waker| waker.will_wake(context.waker())) {
                    backlog.waiting = Some(context.waker().clone());
                }
                Poll::Pending
            }
        }
    }
}

impl Drop for Subscription {
    fn drop(&mut self) {
        self.subscribers.remove(&self.queue);
    }
}
