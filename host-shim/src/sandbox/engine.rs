//! One wasmtime engine a process: pooled where the address space allows, with a ticker that bounds every call in time.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;
use std::time::Duration;

use wasmtime::component::{Component, Instance, Linker};
use wasmtime::{
    Config, Enabled, Engine, EngineWeak, InstanceAllocationStrategy, PoolingAllocationConfig, Store,
};

use super::cache::CompiledCode;
use super::decisions::{ChannelFunctions, RuleFunctions};
use super::error::LoadError;
use super::inspect::World;
use super::limits::{CallState, Limits};
use super::reuse::{PARKED, Reuse, SLOTS, Slots};
use super::{ChannelPlugin, Inspection, Loaded, Plugin, inspect};

/// How often the epoch moves on while calls are made, and so how exactly a deadline is kept.
const TICK: Duration = Duration::from_millis(5);
/// Ticks without a call after which the ticker sleeps until the next call.
const IDLE_TICKS: u32 = 100;
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
            shared: Arc::new(Shared { slots: Slots::new(), ticker, engine, plugins: AtomicU64::new(0) }),
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
        pool.total_component_instances(SLOTS + PARKED);
        // A Rust component has one core instance; one of another language some dozens.
        pool.total_core_instances((SLOTS + PARKED) * 8);
        pool.max_core_instances_per_component(128);
        pool.total_memories(SLOTS * 2 + PARKED);
        pool.max_memories_per_component(16);
        pool.total_tables((SLOTS + PARKED) * 8);
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
    /// Numbers the plugins.
    plugins: AtomicU64,
}

impl std::fmt::Debug for Shared {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("Shared").finish_non_exhaustive()
    }
}

impl Shared {
    /// A store with its limits set, for a call that begins now.
    pub(super) fn store(&self, limits: &Limits) -> Store<CallState> {
        let mut store = Store::new(&self.engine, CallState::new(limits));
        store.limiter(|state| state);
        store.epoch_deadline_trap();
        store.set_hostcall_fuel(limits.result);
        self.call_begins(&mut store, limits);
        store
    }

    /// Gives a call its whole time. What it may make the host allocate counts anew by itself.
    pub(super) fn call_begins(&self, store: &mut Store<CallState>, limits: &Limits) {
        self.ticker.call_begins();
        store.set_epoch_deadline(ticks(limits.deadline));
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

    /// The component that came with this library. Its instances are used again for calls of the same owner.
    #[cfg(feature = "bundled-plugin")]
    pub fn load_bundled(&self) -> Result<Plugin, LoadError> {
        self.load_bundled_with(Reuse::default())
    }

    /// The component that came with this library; whether its instances are used again is said here.
    #[cfg(feature = "bundled-plugin")]
    pub fn load_bundled_with(&self, reuse: Reuse) -> Result<Plugin, LoadError> {
        let (inspection, bytes) = (super::inspect::bundled()?, super::inspect::BUNDLED_PLUGIN);
        self.load_checked("ask-user", inspection, bytes, Limits::default(), reuse)
    }

    /// A component from its bytes, whoever made it: every call has an instance of its own. `name` is what errors and
    /// logs call it.
    pub fn load(&self, name: &str, component: &[u8], limits: Limits) -> Result<Plugin, LoadError> {
        self.load_trusted(name, component, limits, Reuse::Never)
    }

    /// A component from its bytes that is known to keep nothing of one call for the next, or at least nothing that may
    /// not be known to the same owner's next call. Only such a one may be used again.
    pub fn load_trusted(
        &self,
        name: &str,
        component: &[u8],
        limits: Limits,
        reuse: Reuse,
    ) -> Result<Plugin, LoadError> {
        self.load_checked(name, read(name, component)?, component, limits, reuse)
    }

    /// The channels of a component from its bytes, whoever made it. It may have more than channels; that is not called.
    pub fn load_channels(
        &self,
        name: &str,
        component: &[u8],
        limits: Limits,
    ) -> Result<ChannelPlugin, LoadError> {
        let (plugin, _) =
            self.prepare(name, read(name, component)?, component, limits, Reuse::Never, World::Channels)?;
        Ok(plugin)
    }

    fn load_checked(
        &self,
        name: &str,
        inspection: Inspection,
        bytes: &[u8],
        limits: Limits,
        reuse: Reuse,
    ) -> Result<Plugin, LoadError> {
        let (channel, mut ready) = self.prepare(name, inspection, bytes, limits, reuse, World::Whole)?;
        let rules = RuleFunctions::of(&ready.component, ready.instance, &mut ready.store)
            .map_err(|error| LoadError::contract(name, &error))?;
        Ok(Plugin { channel, rules: Arc::new(rules) })
    }

    /// What every plugin needs, and an instance in which further functions can be checked.
    fn prepare(
        &self,
        name: &str,
        inspection: Inspection,
        bytes: &[u8],
        limits: Limits,
        reuse: Reuse,
        world: World,
    ) -> Result<(ChannelPlugin, Ready), LoadError> {
        inspection.refusal(name, world)?;
        let engine = &self.shared.engine;
        let component = match &self.code {
            Some(code) => code.component(engine, &inspection.sha256, bytes),
            None => Component::from_binary(engine, bytes),
        }
        .map_err(|error| LoadError::compile(name, &error))?;
        // The linker stays empty: there is nothing a component could import.
        let wrong = |error| LoadError::contract(name, &error);
        let pre = Linker::new(engine).instantiate_pre(&component).map_err(wrong)?;
        let mut store = self.shared.store(&limits);
        let instance = pre.instantiate(&mut store).map_err(wrong)?;
        let functions = ChannelFunctions::of(&component, instance, &mut store).map_err(wrong)?;
        let plugin = ChannelPlugin {
            inner: Arc::new(Loaded {
                number: self.shared.plugins.fetch_add(1, Ordering::Relaxed),
                name: name.into(),
                inspection,
                pre,
                functions,
                limits,
                calls: match reuse {
                    Reuse::Never => 1,
                    Reuse::SameOwner { calls } => calls,
                },
                shared: Arc::clone(&self.shared),
            }),
            key: None,
        };
        Ok((plugin, Ready { component, instance, store }))
    }
}

/// A component's first instance, which is dropped when its functions have been checked.
struct Ready {
    component: Component,
    instance: Instance,
    store: Store<CallState>,
}

/// What is known of a component from its bytes, unless there are too many of them.
fn read(name: &str, component: &[u8]) -> Result<Inspection, LoadError> {
    if component.len() > MAX_COMPONENT {
        let size = component.len();
        return Err(LoadError::TooLarge { name: name.into(), size, limit: MAX_COMPONENT });
    }
    inspect(component)
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
