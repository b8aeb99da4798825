//! Puts a host together.

use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::time::Duration;

use tokio::runtime::Handle;
use tokio::sync::Notify;

use super::events::Events;
use super::observer::{Observer, Unobserved};
use super::run::{Liveness, LivenessProbe};
use super::waiters::Waiters;
use super::{AskUser, Inner, deadlines};
use crate::clock::{Clock, SystemClock};
use crate::contract::{Origin, Policy};
use crate::ids::{Ids, TimeOrderedIds};
use crate::sandbox::{LoadError, Plugin};
use crate::store::{MemoryStore, Store, TenantId};

/// How long settled prompts stay readable, in milliseconds (ruling 24).
const RETENTION: u64 = 24 * 60 * 60 * 1000;

/// How long settled prompts stay readable, in milliseconds.
#[derive(Debug)]
pub(super) struct Retention {
    pub(super) usual: u64,
    pub(super) of_tenants: HashMap<TenantId, u64>,
}

impl Retention {
    /// How long those of a tenant do.
    pub(super) fn of(&self, tenant: &TenantId) -> u64 {
        self.of_tenants.get(tenant).copied().unwrap_or(self.usual)
    }
}

fn milliseconds(span: Duration) -> u64 {
    u64::try_from(span.as_millis()).unwrap_or(u64::MAX)
}

/// Puts a host together. What is not said has a good default: the bundled plugin, a store in memory, the machine's
/// clock, ids that nobody can guess, and the rulings as they stand.
#[must_use]
pub struct AskUserBuilder {
    plugin: Option<Plugin>,
    store: Option<Arc<dyn Store>>,
    clock: Arc<dyn Clock>,
    ids: Option<Arc<dyn Ids>>,
    policy: Policy,
    attribution: Attribution,
    retention: Retention,
    pending_limit: Option<usize>,
    liveness: LivenessProbe,
    observer: Arc<dyn Observer>,
}

impl fmt::Debug for AskUserBuilder {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("AskUserBuilder").field("plugin", &self.plugin).finish_non_exhaustive()
    }
}

/// Who is written down as the one who ended a prompt.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Attribution {
    /// Whoever calls, as the host knows them; somebody else only by a caller with the scope for it (ruling 25).
    #[default]
    Principal,
    /// Whoever the caller names, and nobody where nobody is named: as OpenClaw does.
    AsNamed,
}

/// Why a host did not start.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum StartError {
    /// It needs a tokio runtime to keep deadlines on.
    #[error("a host is started from within a tokio runtime")]
    NoRuntime,
    /// No plugin was given, and none is bundled.
    #[error("no plugin was given, and this build has none of its own")]
    NoPlugin,
    /// The bundled plugin did not load.
    #[error(transparent)]
    Load(#[from] LoadError),
}

impl AskUserBuilder {
    pub(super) fn new() -> Self {
        Self {
            plugin: None,
            store: None,
            clock: Arc::new(SystemClock),
            ids: None,
            policy: Policy::default(),
            attribution: Attribution::Principal,
            retention: Retention { usual: RETENTION, of_tenants: HashMap::new() },
            pending_limit: None,
            liveness: Box::new(|_, _| Liveness::Unknown),
            observer: Arc::new(Unobserved),
        }
    }

    /// Decides by this plugin.
    pub fn plugin(mut self, plugin: Plugin) -> Self {
        self.plugin = Some(plugin);
        self
    }

    /// Keeps prompts in this store.
    pub fn store(mut self, store: impl Store) -> Self {
        self.store = Some(Arc::new(store));
        self
    }

    /// Keeps prompts in a store that is shared with others.
    pub fn shared_store(mut self, store: Arc<dyn Store>) -> Self {
        self.store = Some(store);
        self
    }

    /// Goes by this clock.
    pub fn clock(mut self, clock: Arc<dyn Clock>) -> Self {
        self.clock = clock;
        self
    }

    /// Takes ids from here.
    pub fn ids(mut self, ids: impl Ids) -> Self {
        self.ids = Some(Arc::new(ids));
        self
    }

    /// What the operator decided about credentials, long answers and repeats.
    pub fn policy(mut self, policy: Policy) -> Self {
        self.policy = policy;
        self
    }

    /// Who is written down as the one who ended a prompt.
    pub fn attribution(mut self, attribution: Attribution) -> Self {
        self.attribution = attribution;
        self
    }

    /// How long settled prompts stay readable. Zero removes them as soon as possible.
    pub fn retention(mut self, retention: Duration) -> Self {
        self.retention.usual = milliseconds(retention);
        self
    }

    /// The same for one tenant, which may choose none.
    pub fn retention_of(mut self, tenant: TenantId, retention: Duration) -> Self {
        self.retention.of_tenants.insert(tenant, milliseconds(retention));
        self
    }

    /// How many prompts each tenant may have pending (ruling 11). No limit unless said. Those who ask at the same moment
    /// may go over it by as many as they are.
    pub fn pending_limit(mut self, limit: usize) -> Self {
        self.pending_limit = Some(limit);
        self
    }

    /// How to find out whether the run behind a pending prompt is over. Asked when a new run of its session wants to
    /// ask: the prompt of a dead run makes way (ruling 11).
    pub fn liveness(
        mut self,
        liveness: impl Fn(&TenantId, &Origin) -> Liveness + Send + Sync + 'static,
    ) -> Self {
        self.liveness = Box::new(liveness);
        self
    }

    /// Tells what happens, to be counted.
    pub fn observer(mut self, observer: impl Observer) -> Self {
        self.observer = Arc::new(observer);
        self
    }

    /// Starts the host on the current tokio runtime. Prompts that a durable store holds are taken up: those whose
    /// deadline has passed meanwhile expire at once.
    pub fn start(self) -> Result<AskUser, StartError> {
        let runtime = Handle::try_current().map_err(|_| StartError::NoRuntime)?;
        let plugin = match self.plugin {
            Some(plugin) => plugin,
            None => bundled()?,
        };
        let inner = Arc::new(Inner {
            plugin,
            store: self.store.unwrap_or_else(|| Arc::new(MemoryStore::default())),
            ids: self.ids.unwrap_or_else(|| Arc::new(TimeOrderedIds::new(Arc::clone(&self.clock)))),
            clock: self.clock,
            policy: self.policy,
            attribution: self.attribution,
            retention: self.retention,
            pending_limit: self.pending_limit,
            liveness: self.liveness,
            observer: self.observer,
            waiters: Waiters::default(),
            events: Events::default(),
            earlier_deadline: Arc::new(Notify::new()),
            next_wake: AtomicU64::new(u64::MAX),
        });
        runtime.spawn(deadlines::run(Arc::downgrade(&inner)));
        Ok(AskUser { inner })
    }
}

#[cfg(feature = "bundled-plugin")]
fn bundled() -> Result<Plugin, StartError> {
    Ok(crate::sandbox::Sandbox::builder().build()?.load_bundled()?)
}

#[cfg(not(feature = "bundled-plugin"))]
fn bundled() -> Result<Plugin, StartError> {
    Err(StartError::NoPlugin)
}
