//! Time and ids, injected: whoever embeds the host or tests it decides what they are.

use std::collections::BTreeMap;
use std::future::Future;
use std::pin::Pin;
use std::sync::Mutex;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use tokio::sync::oneshot;

use crate::contract::Timestamp;

/// A future that is ready when a moment has come.
pub type Until<'a> = Pin<Box<dyn Future<Output = ()> + Send + 'a>>;

/// Tells the time and waits for it.
pub trait Clock: Send + Sync + 'static {
    /// Milliseconds since the Unix epoch.
    fn now(&self) -> Timestamp;

    /// Ready when [`now`](Self::now) has reached `moment`. May be ready early; whoever waits looks at the time again.
    fn until(&self, moment: Timestamp) -> Until<'_>;
}

/// The machine's clock.
#[derive(Clone, Copy, Debug, Default)]
pub struct SystemClock;

/// Timers count on without noticing that the wall clock was set; after this long everybody looks again.
const LONGEST_SLEEP: Duration = Duration::from_secs(30);

impl Clock for SystemClock {
    fn now(&self) -> Timestamp {
        let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        Timestamp::try_from(since.as_millis()).unwrap_or(Timestamp::MAX)
    }

    fn until(&self, moment: Timestamp) -> Until<'_> {
        let left = Duration::from_millis(moment.saturating_sub(self.now()));
        Box::pin(tokio::time::sleep(left.min(LONGEST_SLEEP)))
    }
}

/// Ready when so many milliseconds have passed.
#[cfg(any(feature = "gateway", feature = "client"))]
pub(crate) async fn after(clock: &dyn Clock, milliseconds: u64) {
    let moment = clock.now().saturating_add(milliseconds);
    while clock.now() < moment {
        clock.until(moment).await;
    }
}

/// The same, for whoever keeps the wait.
#[cfg(any(feature = "gateway", feature = "client"))]
pub(crate) fn alarm(clock: &std::sync::Arc<dyn Clock>, milliseconds: u64) -> Until<'static> {
    let clock = std::sync::Arc::clone(clock);
    Box::pin(async move { after(&*clock, milliseconds).await })
}

/// A clock that stands still until it is moved. For tests and simulations.
#[derive(Debug)]
pub struct ManualClock {
    state: Mutex<ManualState>,
}

#[derive(Debug)]
struct ManualState {
    now: Timestamp,
    waiting: BTreeMap<(Timestamp, u64), oneshot::Sender<()>>,
    tickets: u64,
}

impl ManualClock {
    /// A clock that shows `now`.
    pub fn new(now: Timestamp) -> Self {
        Self { state: Mutex::new(ManualState { now, waiting: BTreeMap::new(), tickets: 0 }) }
    }

    /// Moves the clock on and wakes everybody whose moment has come, in the order of the moments.
    pub fn advance(&self, milliseconds: u64) {
        let mut state = self.lock();
        state.now = state.now.saturating_add(milliseconds);
        let after = (state.now.saturating_add(1), 0);
        let later = state.waiting.split_off(&after);
        let woken = std::mem::replace(&mut state.waiting, later);
        drop(state);
        for sender in woken.into_values() {
            // Whoever gave up waiting has dropped the other end.
            let _ = sender.send(());
        }
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, ManualState> {
        self.state.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
    }
}

impl Clock for ManualClock {
    fn now(&self) -> Timestamp {
        self.lock().now
    }

    fn until(&self, moment: Timestamp) -> Until<'_> {
        let mut state = self.lock();
        if moment <= state.now {
            return Box::pin(std::future::ready(()));
        }
        let (sender, receiver) = oneshot::channel();
        state.tickets += 1;
        let ticket = state.tickets;
        state.waiting.insert((moment, ticket), sender);
        Box::pin(async move {
            let _ = receiver.await;
        })
    }
}
