//! What one call may use.

use std::time::Duration;

use wasmtime::ResourceLimiter;

/// What one call may use. Going over it ends the call; nothing else is affected.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Bytes of linear memory, all memories of the instance together.
    pub memory: usize,
    /// Entries of all tables together.
    pub table_entries: usize,
    /// Wall-clock time. Generous, so that a machine under load does not end honest calls; an honest call takes
    /// microseconds.
    pub deadline: Duration,
    /// Bytes that one result may make the host allocate.
    pub result: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self { memory: 64 << 20, table_entries: 100_000, deadline: Duration::from_secs(2), result: 16 << 20 }
    }
}

/// The host's side of one call: counts what the guest takes, and remembers a refusal, which the guest itself turns into
/// a bare `unreachable`.
#[derive(Debug)]
pub(crate) struct CallState {
    memory_left: usize,
    table_entries_left: usize,
    pub(super) denied: Option<Denied>,
    /// Whether the guest has grown a memory or a table, or tried to. An instance is made by growing, too.
    pub(super) has_grown: bool,
}

/// What was refused to a guest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Denied {
    Memory,
    Table,
}

impl CallState {
    pub(super) fn new(limits: &Limits) -> Self {
        Self {
            memory_left: limits.memory,
            table_entries_left: limits.table_entries,
            denied: None,
            has_grown: false,
        }
    }
}

/// Takes what a guest grows by from what it has left; whether there was enough.
fn take(left: &mut usize, current: usize, desired: usize) -> bool {
    match left.checked_sub(desired.saturating_sub(current)) {
        Some(rest) => {
            *left = rest;
            true
        }
        None => false,
    }
}

impl ResourceLimiter for CallState {
    fn memory_growing(&mut self, current: usize, desired: usize, _: Option<usize>) -> wasmtime::Result<bool> {
        self.has_grown = true;
        let granted = take(&mut self.memory_left, current, desired);
        if !granted {
            self.denied = Some(Denied::Memory);
        }
        Ok(granted)
    }

    fn table_growing(&mut self, current: usize, desired: usize, _: Option<usize>) -> wasmtime::Result<bool> {
        self.has_grown = true;
        let granted = take(&mut self.table_entries_left, current, desired);
        if !granted {
            self.denied = Some(Denied::Table);
        }
        Ok(granted)
    }

    // Components of other languages are made of dozens of core modules; more than this is no honest plugin.
    fn instances(&self) -> usize {
        128
    }

    fn tables(&self) -> usize {
        128
    }

    fn memories(&self) -> usize {
        16
    }
}
