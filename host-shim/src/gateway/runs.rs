//! Runs of agents that wait here, so that one that is over can be told to all its calls.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio_util::sync::CancellationToken;

use crate::store::TenantId;

/// A run of a session.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct RunId {
    pub(super) tenant: TenantId,
    pub(super) session: String,
    pub(super) run: String,
}

/// The runs that have a call waiting.
#[derive(Clone, Debug, Default)]
pub(super) struct Runs {
    waiting: Arc<Mutex<HashMap<RunId, (CancellationToken, usize)>>>,
}

impl Runs {
    /// Counts a call of a run. It is forgotten when the last one is dropped.
    pub(super) fn enter(&self, id: RunId) -> OfRun {
        let mut waiting = self.lock();
        let (token, count) = waiting.entry(id.clone()).or_default();
        *count += 1;
        let token = token.clone();
        drop(waiting);
        OfRun { runs: self.clone(), id, token }
    }

    /// Ends all calls of a run.
    pub(super) fn cancel(&self, id: &RunId) {
        if let Some((token, _)) = self.lock().remove(id) {
            token.cancel();
        }
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<RunId, (CancellationToken, usize)>> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// One call of a run.
#[derive(Debug)]
pub(super) struct OfRun {
    runs: Runs,
    id: RunId,
    token: CancellationToken,
}

impl OfRun {
    /// Fires when the run is over.
    pub(super) fn token(&self) -> &CancellationToken {
        &self.token
    }
}

impl Drop for OfRun {
    fn drop(&mut self) {
        if self.token.is_cancelled() {
            // The run has been forgotten. One of the same name may have begun since.
            return;
        }
        let mut waiting = self.runs.lock();
        if let Some((_, count)) = waiting.get_mut(&self.id) {
            *count -= 1;
            if *count == 0 {
                waiting.remove(&self.id);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_is_forgotten_with_its_last_call_or_when_it_is_over() {
        let runs = Runs::default();
        let id = || RunId { tenant: TenantId::default(), session: "s".into(), run: "r".into() };
        let (one, other) = (runs.enter(id()), runs.enter(id()));
        drop(one);
        runs.cancel(&id());
        assert!(other.token().is_cancelled());
        let next = runs.enter(id());
        drop(other);
        assert!(!next.token().is_cancelled());
        drop(next);
        assert!(runs.lock().is_empty());
    }
}
