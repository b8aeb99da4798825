//! The sandbox: loads components and calls them. An instance is dropped after its call, or serves further calls of the
//! same owner where that is safe and wanted; `reuse.rs` says when.
//!
//! Nothing is ever linked into a component, so a plugin can compute and nothing else. What a call may use (memory,
//! time, tables) is bounded by [`Limits`]. This layer knows nothing of tenants, prompts in a store, or waiting.
//!
//! ```text
//! Sandbox (one engine a process) ── load ──▶ Plugin (checked, compiled, ready) ── call ──▶ store + instance
//! ```

mod cache;
mod decisions;
mod engine;
mod error;
mod inspect;
mod limits;
mod reuse;

pub use engine::{Allocation, Sandbox, SandboxBuilder};
#[cfg(feature = "channels")]
pub(crate) use error::shorten;
pub use error::{CallError, LoadError};
#[cfg(feature = "bundled-plugin")]
pub use inspect::BUNDLED_PLUGIN;
pub use inspect::{CONTRACT, Inspection, World, inspect};
pub use limits::Limits;
pub use reuse::{Owner, Reuse};

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use wasmtime::Store;
use wasmtime::component::{Instance, InstancePre};

use decisions::{ChannelFunctions, RuleFunctions};
use engine::Shared;
use limits::CallState;
use reuse::{Key, Live};

/// A component with the rules of `ask_user` and with channels, checked and compiled. Cheap to clone; calls in flight keep
/// what they began with.
#[derive(Clone, Debug)]
pub struct Plugin {
    channel: ChannelPlugin,
    rules: Arc<RuleFunctions>,
}

/// The channels of a component, whatever else it has. Cheap to clone, as [`Plugin`] is.
#[derive(Clone)]
pub struct ChannelPlugin {
    inner: Arc<Loaded>,
    key: Option<Key>,
}

struct Loaded {
    /// Among the plugins of its engine.
    number: u64,
    name: String,
    inspection: Inspection,
    pre: InstancePre<CallState>,
    functions: ChannelFunctions,
    limits: Limits,
    /// How many calls an instance may serve, for one owner.
    calls: u32,
    shared: Arc<Shared>,
}

impl fmt::Debug for ChannelPlugin {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("ChannelPlugin")
            .field("name", &self.inner.name)
            .field("sha256", &self.inner.inspection.sha256)
            .finish_non_exhaustive()
    }
}

impl fmt::Debug for RuleFunctions {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("RuleFunctions").finish_non_exhaustive()
    }
}

impl Plugin {
    /// What errors and logs call it.
    pub fn name(&self) -> &str {
        self.channel.name()
    }

    /// What is known of its file.
    pub fn inspection(&self) -> &Inspection {
        self.channel.inspection()
    }

    /// Its channels.
    pub fn channel(&self) -> &ChannelPlugin {
        &self.channel
    }

    /// The same plugin, called on somebody's behalf: where the plugin was loaded with [`Reuse::SameOwner`], an instance
    /// may serve several calls of one owner.
    pub fn owned_by(&self, owner: Owner) -> Self {
        Self { channel: self.channel.owned_by(owner), rules: Arc::clone(&self.rules) }
    }

    fn call<T>(
        &self,
        decide: impl FnOnce(&RuleFunctions, Instance, &mut Store<CallState>) -> wasmtime::Result<T>,
    ) -> Result<T, CallError> {
        self.channel.call(|_, instance, store| decide(&self.rules, instance, store))
    }

    /// The longest a call may take.
    pub fn deadline(&self) -> Duration {
        self.channel.inner.limits.deadline
    }
}

impl ChannelPlugin {
    /// What errors and logs call it.
    pub fn name(&self) -> &str {
        &self.inner.name
    }

    /// What is known of its file.
    pub fn inspection(&self) -> &Inspection {
        &self.inner.inspection
    }

    fn owned_by(&self, owner: Owner) -> Self {
        let key = Key { plugin: self.inner.number, owner };
        Self { inner: Arc::clone(&self.inner), key: Some(key) }
    }

    /// One call. The instance is gone when this returns, unless it may serve the owner's next call: whoever fails in
    /// any way, or has grown, may not.
    fn call<T>(
        &self,
        decide: impl FnOnce(&ChannelFunctions, Instance, &mut Store<CallState>) -> wasmtime::Result<T>,
    ) -> Result<T, CallError> {
        let loaded = &*self.inner;
        let (slot, parked) = loaded.shared.slots.take(self.key.as_ref());
        let failed = |error: wasmtime::Error, store: &Store<CallState>| {
            CallError::from_wasmtime(&loaded.name, &error, store.data(), &loaded.limits)
        };
        let mut live = match parked {
            Some(live) => live,
            None => {
                let mut store = loaded.shared.store(&loaded.limits);
                let instance = loaded.pre.instantiate(&mut store).map_err(|error| failed(error, &store))?;
                store.data_mut().has_grown = false;
                Live { store, instance, calls_left: loaded.calls }
            }
        };
        loaded.shared.call_begins(&mut live.store, &loaded.limits);
        live.calls_left = live.calls_left.saturating_sub(1);
        let decision = decide(&loaded.functions, live.instance, &mut live.store)
            .map_err(|error| failed(error, &live.store))?;
        match &self.key {
            Some(key) if live.calls_left > 0 && !live.store.data().has_grown => slot.park(key.clone(), live),
            _ => {}
        }
        Ok(decision)
    }
}
