//! One wasmtime engine a process: pooled where the address space allows, with a ticker that bounds every call in time.

use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use wasmtime::component::Linker;
use wasmtime::{
    Config, Enabled, Engine, EngineWeak, InstanceAllocationStrategy, PoolingAllocationConfig, Store,
};

use super::cache::CompiledCode;
use super::decisions::Functions;
use super::error::LoadError;
use super::limits::{CallState, Limits};
use super::{Inspection, Loaded, Plugin, inspect};

/// How often the epoch moves on while calls are made, and so how exactly a deadline is kept.
const TICK: Duration = Duration::from_millis(5);
/// Ticks without a call after which the ticker sleeps until the next call.
const IDLE_TICKS: u32 = 100;
/// Calls at the same time. A call takes microseconds and holds a core, so more than this many only queue.
const SLOTS: u32 = 64;
/// Largest component file.
const MAX_COMPONENT: usize = 64 << 20;

/// Where instances get their memory from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Allocation {
    /// From a pool that was reserved at the start; the usual, and the fastest.
    Pooled,
    /// Mapped for each call, where the address space does not allow a pool.
    OnDemand,
}

/// Builds a [`Sandbox`].
#[derive(Debug, Default)]
pub struct SandboxBuilder {
    code_cache: Option<PathBuf>,
    on_demand: bool,
}

impl SandboxBuilder {
    /// Keeps compiled code in this folder, so that a component is compiled once and then loads in a millisecond.
    ///
    /// What lies there is run as machine code: the folder is made for this user alone, and one that others could write
    /// to is not used.
    pub fn code_cache(mut self, folder: impl Into<PathBuf>) -> Self {
        self.code_cache = Some(folder.into());
        self
    }

    /// Does without the pool.
    pub fn on_demand(mut self) -> Self {
        self.on_demand = true;
        self
    }

    /// Makes the engine. Falls back to memory on demand where the pool cannot be reserved.
    pub fn build(self) -> Result<Sandbox, LoadError> {
        let pooled = if self.on_demand { None } else { Engine::new(&config(Allocation::Pooled)).ok() };
        let (engine, allocation) = match pooled {
            Some(engine) => (engine, Allocation::Pooled),
            None => (
                Engine::new(&config(Allocation::OnDemand)).map_err(|error| LoadError::engine(&error))?,
                Allocation::OnDemand,
            ),
        };
        let ticker =
            Ticker::start(engine.weak()).map_err(|error| LoadError::Engine { cause: error.to_string() })?;
        Ok(Sandbox {
            shared: Arc::new(Shared { slots: Slots::new(SLOTS), ticker, engine }),
            allocation,
            code: self.code_cache.map(CompiledCode::new),
        })
    }
}

fn config(allocation: Allocation) -> Config {
    let mut config = Config::new();
    config.epoch_interruption(true);
    // A trap's backtrace would only name functions of a stripped component.
    config.wasm_backtrace_max_frames(None);
    config.concurrency_support(false);
    // The usual reservation and guard let compiled code go without explicit bounds checks.
    config.memory_reservation(4 << 30);
    config.memory_guard_size(32 << 20);
    if allocation == Allocation::Pooled {
        let mut pool = PoolingAllocationConfig::new();
        pool.total_component_instances(SLOTS);
        // A Rust component has one core instance; one of another language some dozens.
        pool.total_core_instances(SLOTS * 8);
        pool.max_core_instances_per_component(128);
        pool.total_memories(SLOTS * 2);
        pool.max_memories_per_component(16);
        pool.total_tables(SLOTS * 8);
        pool.max_tables_per_component(128);
        pool.max_memory_size(4 << 30);
        pool.max_unused_warm_slots(SLOTS);
        // Dirty pages are wiped in place instead of unmapped: this is what makes a fresh instance cost microseconds.
        pool.linear_memory_keep_resident(256 << 10);
        pool.table_keep_resident(16 << 10);
        pool.pagemap_scan(Enabled::Auto);
        config.allocation_strategy(InstanceAllocationStrategy::Pooling(pool));
    }
    config
}

/// Loads components.
#[derive(Debug)]
pub struct Sandbox {
    shared: Arc<Shared>,
    allocation: Allocation,
    code: Option<CompiledCode>,
}

/// What calls need of the engine.
pub(super) struct Shared {
    engine: Engine,
    pub(super) slots: Slots,
    ticker: Ticker,
}

impl std::fmt::Debug for Shared {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("Shared").finish_non_exhaustive()
    }
}

impl Shared {
    /// A store for one call, with its limits set.
    pub(super) fn store(&self, limits: &Limits) -> Store<CallState> {
        let mut store = Store::new(&self.engine, CallState::new(limits));
        store.limiter(|state| state);
        self.ticker.call_begins();
        store.set_epoch_deadline(ticks(limits.deadline));
        store.epoch_deadline_trap();
        store.set_hostcall_fuel(limits.result);
        store
    }
}

/// Ticks until a deadline, rounded up; one more, since the tick under way is partly over.
fn ticks(deadline: Duration) -> u64 {
    let ticks = deadline.as_nanos().div_ceil(TICK.as_nanos());
    u64::try_from(ticks).unwrap_or(u64::MAX / 2).saturating_add(1).min(u64::MAX / 2)
}

impl Sandbox {
    /// A sandbox with its own engine.
    pub fn builder() -> SandboxBuilder {
        SandboxBuilder::default()
    }

    /// Where instances get their memory from.
    pub fn allocation(&self) -> Allocation {
        self.allocation
    }

    /// The component that came with this library.
    #[cfg(feature = "bundled-plugin")]
    pub fn load_bundled(&self) -> Result<Plugin, LoadError> {
        self.load_checked(
            "ask-user",
            super::inspect::bundled()?,
            super::inspect::BUNDLED_PLUGIN,
            Limits::default(),
        )
    }

    /// A component from its bytes. `name` is what errors and logs call it.
    pub fn load(&self, name: &str, component: &[u8], limits: Limits) -> Result<Plugin, LoadError> {
        if component.len() > MAX_COMPONENT {
            return Err(LoadError::TooLarge {
                name: name.into(),
                size: component.len(),
                limit: MAX_COMPONENT,
            });
        }
        self.load_checked(name, inspect(component)?, component, limits)
    }

    fn load_checked(
        &self,
        name: &str,
        inspection: Inspection,
        bytes: &[u8],
        limits: Limits,
    ) -> Result<Plugin, LoadError> {
        inspection.refusal(name)?;
        let engine = &self.shared.engine;
        let component = match &self.code {
            Some(code) => code.component(engine, &inspection.sha256, bytes),
            None => wasmtime::component::Component::from_binary(engine, bytes),
        }
        .map_err(|error| LoadError::compile(name, &error))?;
        // The linker stays empty: there is nothing a component could import.
        let wrong = |error| LoadError::contract(name, &error);
        let pre = Linker::new(engine).instantiate_pre(&component).map_err(wrong)?;
        let functions = Functions::of(&component, &pre, self.shared.store(&limits)).map_err(wrong)?;
        Ok(Plugin {
            inner: Arc::new(Loaded {
                name: name.into(),
                inspection,
                pre,
                functions,
                limits,
                shared: Arc::clone(&self.shared),
            }),
        })
    }
}

/// Lets [`SLOTS`] calls run at the same time; further ones wait their turn, since a full pool would refuse them.
#[derive(Debug)]
pub(super) struct Slots {
    free: Mutex<u32>,
    freed: Condvar,
}

impl Slots {
    fn new(count: u32) -> Self {
        Self { free: Mutex::new(count), freed: Condvar::new() }
    }

    pub(super) fn take(&self) -> Slot<'_> {
        let free = self.free.lock().unwrap_or_else(PoisonError::into_inner);
        let mut free = self.freed.wait_while(free, |free| *free == 0).unwrap_or_else(PoisonError::into_inner);
        *free -= 1;
        Slot { slots: self }
    }
}

/// One of the [`Slots`], given back when dropped.
pub(super) struct Slot<'a> {
    slots: &'a Slots,
}

impl Drop for Slot<'_> {
    fn drop(&mut self) {
        *self.slots.free.lock().unwrap_or_else(PoisonError::into_inner) += 1;
        self.slots.freed.notify_one();
    }
}

/// Moves the epoch on while calls are made. It holds the engine weakly, so that dropping the sandbox ends it, and sleeps
/// when there are no calls, so that an idle host does not wake up.
#[derive(Debug)]
struct Ticker {
    pulse: Arc<Pulse>,
    thread: thread::Thread,
}

#[derive(Debug, Default)]
struct Pulse {
    calls: AtomicU64,
    asleep: AtomicBool,
    ended: AtomicBool,
}

impl Ticker {
    fn start(engine: EngineWeak) -> std::io::Result<Self> {
        let pulse = Arc::new(Pulse::default());
        let theirs = Arc::clone(&pulse);
        let handle = thread::Builder::new()
            .name("ask-user-epoch".into())
            .stack_size(64 << 10)
            .spawn(move || tick(&engine, &theirs))?;
        Ok(Self { pulse, thread: handle.thread().clone() })
    }

    /// Notes a call, and wakes the ticker if it sleeps.
    fn call_begins(&self) {
        self.pulse.calls.fetch_add(1, Ordering::SeqCst);
        if self.pulse.asleep.load(Ordering::SeqCst) {
            self.thread.unpark();
        }
    }
}

impl Drop for Ticker {
    fn drop(&mut self) {
        self.pulse.ended.store(true, Ordering::SeqCst);
        self.thread.unpark();
    }
}

fn tick(engine: &EngineWeak, pulse: &Pulse) {
    let (mut seen, mut idle) = (0, 0);
    while !pulse.ended.load(Ordering::SeqCst) {
        thread::sleep(TICK);
        let Some(engine) = engine.upgrade() else { return };
        engine.increment_epoch();
        drop(engine);
        let calls = pulse.calls.load(Ordering::SeqCst);
        idle = if calls == seen { idle + 1 } else { 0 };
        seen = calls;
        if idle >= IDLE_TICKS {
            pulse.asleep.store(true, Ordering::SeqCst);
            // A call that began before the line above is seen here; one that begins after it wakes us.
            if pulse.calls.load(Ordering::SeqCst) == seen && !pulse.ended.load(Ordering::SeqCst) {
                thread::park();
            }
            pulse.asleep.store(false, Ordering::SeqCst);
            idle = 0;
        }
    }
}
