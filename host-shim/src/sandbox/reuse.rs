//! Instances between two calls. Making one costs more than most decisions, so one that is known to be harmless may wait
//! here for the next call of the same owner.
//!
//! What makes it harmless: it is of a component that the loader trusts, it has ended its call properly, it has no more
//! memory than it began with, and it has not been called often. Whatever else happens to an instance, it is dropped.

use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

use wasmtime::Store;
use wasmtime::component::Instance;

use super::limits::CallState;

/// Calls at the same time. A call takes microseconds and holds a core, so more than this many only queue.
pub(super) const SLOTS: u32 = 64;
/// Instances that wait for their owner's next call. Each holds some dozen KiB; the one that waits longest makes way.
pub(super) const PARKED: u32 = 64;

/// On whose behalf a call is made, such as a tenant. The sandbox only compares them: an instance that one owner's call
/// has seen is never used for another owner.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Owner(Arc<str>);

impl Owner {
    /// An owner of this name.
    pub fn new(name: impl Into<Arc<str>>) -> Self {
        Self(name.into())
    }
}

/// Whether an instance may be used for more than one call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reuse {
    /// Every call has an instance of its own. Always so for calls without an owner.
    Never,
    /// An instance serves the calls of one owner, this many at most.
    SameOwner {
        /// Calls until it is dropped, the first one included.
        calls: u32,
    },
}

impl Default for Reuse {
    /// The same owner's, 1024 times.
    fn default() -> Self {
        Self::SameOwner { calls: 1024 }
    }
}

/// An instance in its store.
pub(super) struct Live {
    pub(super) store: Store<CallState>,
    pub(super) instance: Instance,
    /// Calls it may serve after this one.
    pub(super) calls_left: u32,
}

/// Which calls an instance may serve: those of one plugin, by its number, for one owner.
#[derive(Clone, PartialEq, Eq)]
pub(super) struct Key {
    pub(super) plugin: u64,
    pub(super) owner: Owner,
}

/// Lets [`SLOTS`] calls run at the same time; further ones wait their turn, since a full pool would refuse them. And
/// keeps what waits between calls.
pub(super) struct Slots {
    state: Mutex<State>,
    freed: Condvar,
}

struct State {
    free: u32,
    queued: u32,
    parked: Vec<(Key, Live)>,
}

impl Slots {
    pub(super) fn new() -> Self {
        let state = State { free: SLOTS, queued: 0, parked: Vec::with_capacity(PARKED as usize + 1) };
        Self { state: Mutex::new(state), freed: Condvar::new() }
    }

    /// A turn, and the instance that the last call of this key has left.
    pub(super) fn take(&self, key: Option<&Key>) -> (Slot<'_>, Option<Live>) {
        let mut state = self.lock();
        while state.free == 0 {
            state.queued += 1;
            state = self.freed.wait(state).unwrap_or_else(PoisonError::into_inner);
            state.queued -= 1;
        }
        state.free -= 1;
        let found = key.and_then(|key| state.parked.iter().rposition(|(of, _)| of == key));
        let live = found.map(|place| state.parked.remove(place).1);
        (Slot { slots: self }, live)
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// One of the [`Slots`], given back when dropped.
pub(super) struct Slot<'a> {
    slots: &'a Slots,
}

impl Slot<'_> {
    /// Keeps an instance for its owner's next call. The one that makes way is gone before the slot is, so that there
    /// are never more instances than the pool has room for.
    pub(super) fn park(self, key: Key, live: Live) {
        let mut state = self.slots.lock();
        let oldest = (state.parked.len() >= PARKED as usize).then(|| state.parked.remove(0));
        state.parked.push((key, live));
        drop(state);
        drop(oldest);
    }
}

impl Drop for Slot<'_> {
    fn drop(&mut self) {
        let mut state = self.slots.lock();
        state.free += 1;
        let queued = state.queued > 0;
        drop(state);
        // Nobody is woken for nothing: that would ask the system, and take as long as a small decision.
        if queued {
            self.slots.freed.notify_one();
        }
    }
}

#[cfg(test)]
#[cfg(feature = "bundled-plugin")]
mod tests {
    use super::*;
    use crate::contract::{Context, Target};
    use crate::sandbox::Sandbox;
    use crate::{Run, contract::RecordForm};

    /// An instance that had to grow would not be used again. So if one serves them all, none of them left anything behind
    /// in its memory.
    #[test]
    fn a_hundred_thousand_calls_leave_no_memory_behind() {
        let reuse = Reuse::SameOwner { calls: u32::MAX };
        let plugin = Sandbox::builder().build().unwrap().load_bundled_with(reuse).unwrap();
        let ours = plugin.owned_by(Owner::new("ours"));
        let origin = Run::new("agent:main:main", "run-1").origin().clone();
        let context = Context { now: 1, id: "ask_1".into(), origin };
        let arguments = include_str!("../../../examples/deploy-target.json");
        let prompt = ours.ask_user(arguments, &context).unwrap().unwrap();
        for turn in 1..100_000_u32 {
            match turn % 4 {
                0 => drop(ours.ask_user(arguments, &context).unwrap()),
                1 => drop(ours.expire(&prompt, 2).unwrap()),
                2 => drop(ours.record(&prompt, RecordForm::Extended, 2).unwrap()),
                _ => drop(ours.channel().render(&prompt, "text", &Target::private(None)).unwrap()),
            }
        }
        let state = plugin.channel.inner.shared.slots.lock();
        let left: Vec<_> = state.parked.iter().map(|(_, live)| live.calls_left).collect();
        assert_eq!(left, [u32::MAX - 100_000]);
    }
}
