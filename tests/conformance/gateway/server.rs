//! A gateway as the recorded one was set up, and the time it goes by.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use ask_user_host::clock::{Clock, ManualClock, SystemClock};
use ask_user_host::gateway::{Authority, Compatibility, Gateway, Settings};
use ask_user_host::store::MemoryStore;
use ask_user_tests::gateway::{TOKEN, start};
use ask_user_tests::world::START;

/// Which time a replay goes by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Pace {
    /// One that stands still, and is moved where the recorder waited.
    AtOnce,
    /// The machine's.
    RealTime,
}

/// A gateway with an empty store.
pub(super) struct Server {
    gateway: Gateway,
    clock: Option<Arc<ManualClock>>,
}

impl Server {
    pub(super) async fn start(profile: Compatibility, pace: Pace) -> Self {
        let settings = Settings {
            authority: Authority::single_token(TOKEN),
            compatibility: profile,
            default_agent: "dev".into(),
            agents: Some(vec!["dev".into()]),
            ..Settings::default()
        };
        let manual = (pace == Pace::AtOnce).then(|| Arc::new(ManualClock::new(START)));
        let clock: Arc<dyn Clock> = match &manual {
            Some(clock) => clock.clone(),
            None => Arc::new(SystemClock),
        };
        let (gateway, _host) = start(Arc::new(MemoryStore::default()), clock, settings).await;
        Self { gateway, clock: manual }
    }

    pub(super) fn address(&self) -> SocketAddr {
        self.gateway.local_addr()
    }

    /// Lets so many milliseconds pass.
    pub(super) async fn pass(&self, milliseconds: u64) {
        match &self.clock {
            Some(clock) => clock.advance(milliseconds),
            None => tokio::time::sleep(Duration::from_millis(milliseconds)).await,
        }
    }

    /// Moves a clock that stands still on to a moment. The machine's gets there by itself.
    pub(super) fn reach(&self, moment: u64) {
        if let Some(clock) = &self.clock {
            clock.advance(moment.saturating_sub(clock.now()));
        }
    }

    /// Whether time has to be moved on for a wait to end.
    pub(super) fn stands_still(&self) -> bool {
        self.clock.is_some()
    }

    pub(super) async fn stop(self) {
        self.gateway.shutdown().await;
    }
}
