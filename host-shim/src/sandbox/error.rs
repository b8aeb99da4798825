//! What can go wrong in the sandbox, one case a thing that can happen. What a guest says is cut and cleaned before it is
//! repeated.

use std::time::Duration;

use wasmtime::Trap;

use super::limits::{CallState, Denied, Limits};

/// Why a component was not loaded. Nothing of it has run.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum LoadError {
    /// wasmtime cannot work on this machine.
    #[error("the WebAssembly engine cannot start here: {cause}")]
    Engine {
        /// What wasmtime says.
        cause: String,
    },
    /// The bytes are not a component.
    #[error("this is not a WebAssembly component: {cause}")]
    NotAComponent {
        /// What is wrong with them.
        cause: String,
    },
    /// The file is larger than any honest component.
    #[error("{name} has {size} bytes; a component may have {limit}")]
    TooLarge {
        /// Which component.
        name: String,
        /// Its size.
        size: usize,
        /// The largest allowed.
        limit: usize,
    },
    /// It wants something from the host. A plugin gets nothing.
    #[error("{name} imports {}; a plugin imports nothing", imports.join(", "))]
    DeniedImports {
        /// Which component.
        name: String,
        /// What it wants.
        imports: Vec<String>,
    },
    /// It is built for another contract.
    #[error("{name} is built for the contract {found}; this host speaks {expected}")]
    OtherContract {
        /// Which component.
        name: String,
        /// Its contract.
        found: String,
        /// Ours.
        expected: String,
    },
    /// It does not export what the contract asks for.
    #[error("{name} does not export {}", missing.join(", "))]
    MissingExports {
        /// Which component.
        name: String,
        /// Interfaces that are not there.
        missing: Vec<String>,
    },
    /// An export has other types than the contract says.
    #[error("{name} does not follow the contract: {cause}")]
    WrongTypes {
        /// Which component.
        name: String,
        /// What wasmtime says.
        cause: String,
    },
    /// It does not compile.
    #[error("{name} does not compile: {cause}")]
    Compile {
        /// Which component.
        name: String,
        /// What wasmtime says.
        cause: String,
    },
}

impl LoadError {
    pub(super) fn engine(error: &wasmtime::Error) -> Self {
        Self::Engine { cause: shorten(&format!("{error:#}")) }
    }

    pub(super) fn compile(name: &str, error: &wasmtime::Error) -> Self {
        Self::Compile { name: name.into(), cause: shorten(&format!("{error:#}")) }
    }

    pub(super) fn contract(name: &str, error: &wasmtime::Error) -> Self {
        Self::WrongTypes { name: name.into(), cause: shorten(&format!("{error:#}")) }
    }
}

/// Why a call gave no decision. The instance is gone; nothing outside it has changed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum CallError {
    /// It ran longer than it may.
    #[error("the plugin {plugin} ran longer than {limit:?} and was stopped")]
    Timeout {
        /// Which plugin.
        plugin: String,
        /// How long it may run.
        limit: Duration,
    },
    /// It wanted more memory than it may have.
    #[error("the plugin {plugin} wanted more than {limit} bytes of memory")]
    Memory {
        /// Which plugin.
        plugin: String,
        /// How much it may have.
        limit: usize,
    },
    /// It wanted larger tables than it may have.
    #[error("the plugin {plugin} wanted more than {limit} table entries")]
    Table {
        /// Which plugin.
        plugin: String,
        /// How many it may have.
        limit: usize,
    },
    /// It trapped.
    #[error("the plugin {plugin} failed: {trap}")]
    Trap {
        /// Which plugin.
        plugin: String,
        /// The kind of trap.
        trap: String,
    },
    /// What it returned cannot be taken: too large, or not what its types promise.
    #[error("the plugin {plugin} returned something that cannot be taken: {cause}")]
    Result {
        /// Which plugin.
        plugin: String,
        /// What is wrong with it.
        cause: String,
    },
}

impl CallError {
    pub(super) fn from_wasmtime(
        plugin: &str,
        error: &wasmtime::Error,
        state: &CallState,
        limits: &Limits,
    ) -> Self {
        let plugin = plugin.to_owned();
        let trap = error.downcast_ref::<Trap>();
        if let Some(Trap::Interrupt) = trap {
            return Self::Timeout { plugin, limit: limits.deadline };
        }
        match state.denied {
            Some(Denied::Memory) => return Self::Memory { plugin, limit: limits.memory },
            Some(Denied::Table) => return Self::Table { plugin, limit: limits.table_entries },
            None => {}
        }
        match trap {
            Some(trap) => Self::Trap { plugin, trap: trap.to_string() },
            None => Self::Result { plugin, cause: shorten(&format!("{error:#}")) },
        }
    }
}

/// Text that may hold what a guest wrote: on one line, without control characters, at most 300 characters.
pub(crate) fn shorten(text: &str) -> String {
    let mut short: String = text.chars().map(|c| if c.is_control() { ' ' } else { c }).take(300).collect();
    if text.chars().nth(300).is_some() {
        short.push('…');
    }
    short
}
