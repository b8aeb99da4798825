//! The sandbox: loads components and calls them, each call in a fresh store that is dropped afterwards.
//!
//! Nothing is ever linked into a component, so a plugin can compute and nothing else. What a call may use (memory,
//! time, tables) is bounded by [`Limits`]. This layer knows nothing of tenants, prompts in a store, or waiting.
//!
//! ```text
//! Sandbox (one engine a process) ── load ──▶ Plugin (checked, compiled, ready) ── call ──▶ store + instance, dropped
//! ```

mod cache;
mod decisions;
mod engine;
mod error;
mod inspect;
mod limits;

pub use engine::{Allocation, Sandbox, SandboxBuilder};
pub use error::{CallError, LoadError};
#[cfg(feature = "bundled-plugin")]
pub use inspect::BUNDLED_PLUGIN;
pub use inspect::{Inspection, inspect};
pub use limits::Limits;

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use wasmtime::Store;
use wasmtime::component::{Instance, InstancePre};

use decisions::Functions;
use engine::Shared;
use limits::CallState;

/// A component that was checked and compiled. Cheap to clone; calls in flight keep what they began with.
#[derive(Clone)]
pub struct Plugin {
    inner: Arc<Loaded>,
}

struct Loaded {
    name: String,
    inspection: Inspection,
    pre: InstancePre<CallState>,
    functions: Functions,
    limits: Limits,
    shared: Arc<Shared>,
}

impl fmt::Debug for Plugin {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("Plugin")
            .field("name", &self.inner.name)
            .field("sha256", &self.inner.inspection.sha256)
            .finish_non_exhaustive()
    }
}

impl Plugin {
    /// What errors and logs call it.
    pub fn name(&self) -> &str {
        &self.inner.name
    }

    /// What is known of its file.
    pub fn inspection(&self) -> &Inspection {
        &self.inner.inspection
    }

    /// One call in a store of its own. The instance is gone when this returns, whatever happened.
    fn call<T>(
        &self,
        decide: impl FnOnce(&Functions, Instance, &mut Store<CallState>) -> wasmtime::Result<T>,
    ) -> Result<T, CallError> {
        let loaded = &*self.inner;
        let _slot = loaded.shared.slots.take();
        let mut store = loaded.shared.store(&loaded.limits);
        let instance = loaded.pre.instantiate(&mut store);
        let outcome = instance.and_then(|instance| decide(&loaded.functions, instance, &mut store));
        outcome.map_err(|error| CallError::from_wasmtime(&loaded.name, &error, store.data(), &loaded.limits))
    }

    /// The longest a call may take.
    pub fn deadline(&self) -> Duration {
        self.inner.limits.deadline
    }
}
