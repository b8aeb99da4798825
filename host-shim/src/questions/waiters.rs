//! Who waits for which prompt. A waiter holds a row here and nothing else: no instance, no thread.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::oneshot;

use crate::contract::Prompt;
use crate::store::TenantId;

/// What a waiter is told, once.
#[derive(Clone, Debug)]
pub(super) enum News {
    /// The prompt has ended.
    Settled(Arc<Prompt>),
    /// It is gone, or never was.
    Gone,
}

/// One wait: resolves when there is news. Fails when the host has ended.
pub(super) type Wait = oneshot::Receiver<News>;

/// Who waits for each prompt.
type Waits = HashMap<(TenantId, Arc<str>), Vec<oneshot::Sender<News>>>;

/// All waits.
#[derive(Debug, Default)]
pub(super) struct Waiters {
    waits: Mutex<Waits>,
}

impl Waiters {
    /// Begins to wait. Whoever calls this looks at the store *afterwards*: what happens from now on is told.
    pub(super) fn begin(&self, tenant: &TenantId, id: &str) -> Wait {
        let (sender, receiver) = oneshot::channel();
        let mut waits = self.lock();
        let waiting = waits.entry((tenant.clone(), id.into())).or_default();
        // Whoever waits again and again, with a limit of its own, leaves nothing behind.
        waiting.retain(|sender| !sender.is_closed());
        waiting.push(sender);
        receiver
    }

    /// Tells everybody who waits for this prompt, and forgets them.
    pub(super) fn tell(&self, tenant: &TenantId, id: &str, news: &News) {
        let waiting = self.lock().remove(&(tenant.clone(), id.into()));
        for sender in waiting.into_iter().flatten() {
            // Whoever has stopped waiting needs no news.
            let _ = sender.send(news.clone());
        }
    }

    fn lock(&self) -> MutexGuard<'_, Waits> {
        self.waits.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
