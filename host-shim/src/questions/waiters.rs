//! Who waits for which prompt. A waiter holds a row here and nothing else: no instance, no thread.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use tokio::sync::watch;

use crate::contract::Prompt;
use crate::store::TenantId;

/// What a waiter is told: the prompt once it has ended, or that it is gone.
#[derive(Clone, Debug)]
pub(super) enum News {
    /// Nothing yet.
    Pending,
    /// It has ended.
    Settled(Arc<Prompt>),
    /// It was deleted.
    Deleted,
}

/// All waits.
#[derive(Debug, Default)]
pub(super) struct Waiters {
    waits: Mutex<HashMap<(TenantId, String), watch::Sender<News>>>,
}

impl Waiters {
    /// Begins to wait. Whoever calls this looks at the store *afterwards*: what happens from now on is told.
    pub(super) fn begin(&self, tenant: &TenantId, id: &str) -> watch::Receiver<News> {
        self.lock()
            .entry((tenant.clone(), id.to_owned()))
            .or_insert_with(|| watch::Sender::new(News::Pending))
            .subscribe()
    }

    /// Tells everybody who waits for this prompt, and forgets them.
    pub(super) fn tell(&self, tenant: &TenantId, id: &str, news: News) {
        let waiting = self.lock().remove(&(tenant.clone(), id.to_owned()));
        if let Some(sender) = waiting {
            sender.send_replace(news);
        }
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, HashMap<(TenantId, String), watch::Sender<News>>> {
        self.waits.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
