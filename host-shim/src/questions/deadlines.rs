//! The one loop that ends overdue prompts and removes old ones. It sleeps until the earliest deadline in the store.

use std::sync::atomic::Ordering;
use std::sync::{Arc, Weak};

use tokio::task::JoinSet;

use super::{AskUser, Inner};
use crate::contract::Timestamp;
use crate::store::Whose;

/// Prompts that are ended at the same time, so that a durable store can commit them together.
const BATCH: usize = 512;
/// How often old prompts are looked for.
const PURGE_EVERY: u64 = 60_000;
/// How long a prompt that has ended stays at least, though nobody is told of it any more: places that show it are brought
/// up to date first.
const STAYS: u64 = 10_000;
/// How long to wait after the store or the plugin failed.
const AFTER_FAILURE: u64 = 1_000;

/// Runs until the host is dropped.
pub(super) async fn run(host: Weak<Inner>) {
    let mut next_purge = 0;
    loop {
        let Some(inner) = host.upgrade() else { return };
        let (clock, woken) = (Arc::clone(&inner.clock), Arc::clone(&inner.earlier_deadline));
        let host_now = AskUser { inner };
        // Woken from here on, even while the store is asked.
        let notified = woken.notified();
        tokio::pin!(notified);
        notified.as_mut().enable();
        // Until the next wake is known, every new prompt wakes us.
        host_now.inner.next_wake.store(Timestamp::MAX, Ordering::SeqCst);

        let mut wake_at = match expire_overdue(&host_now).await {
            Ok(next) => next.unwrap_or(Timestamp::MAX),
            Err(error) => {
                tracing::error!(%error, "overdue questions could not be ended; trying again");
                clock.now().saturating_add(AFTER_FAILURE)
            }
        };
        let now = clock.now();
        if next_purge <= now {
            next_purge = now.saturating_add(PURGE_EVERY);
            if let Err(error) = purge(&host_now, now).await {
                tracing::error!(%error, "old questions could not be removed; trying again");
            }
        }
        wake_at = wake_at.min(next_purge);
        host_now.inner.next_wake.store(wake_at, Ordering::SeqCst);
        // The loop must not keep the host alive while it sleeps.
        drop(host_now);
        tokio::select! {
            () = clock.until(wake_at) => {}
            () = notified => {}
        }
    }
}

/// Ends what is overdue; the next deadline.
async fn expire_overdue(host: &AskUser) -> Result<Option<Timestamp>, super::error::HostError> {
    loop {
        let now = host.inner.clock.now();
        let overdue = host.inner.store.overdue(now, BATCH).await?;
        if overdue.is_empty() {
            return Ok(host.inner.store.next_deadline().await?);
        }
        let mut endings = JoinSet::new();
        for (tenant, prompt) in overdue {
            let host = host.clone();
            endings.spawn(async move { host.expire(&tenant, &prompt, now).await });
        }
        while let Some(ended) = endings.join_next().await {
            match ended {
                Ok(result) => result?,
                Err(error) => tracing::error!(%error, "ending an overdue question failed"),
            }
        }
    }
}

/// Removes what is kept no longer.
pub(super) async fn purge(host: &AskUser, now: Timestamp) -> Result<(), super::error::HostError> {
    let retention = &host.inner.retention;
    let others = Whose::AllBut(retention.of_tenants.keys().cloned().collect());
    let each = retention.of_tenants.iter().map(|(tenant, span)| (Whose::Only(tenant.clone()), *span));
    for (whose, span) in each.chain([(others, retention.usual)]) {
        let Some(until) = now.checked_sub(span.max(STAYS)) else { continue };
        while host.inner.store.purge(&whose, until, BATCH).await? == BATCH {}
    }
    Ok(())
}
