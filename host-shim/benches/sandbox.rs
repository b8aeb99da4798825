//! What the sandbox costs: bare wasmtime and this library on the same bytes in the same run, so that what the library
//! adds is one subtraction. `shim` makes an instance for every call, `warm` uses one again as it does for calls of the
//! same owner. `cargo bench -p ask-user-host --bench sandbox`.

#![allow(missing_docs, clippy::unwrap_used)]

use std::hint::black_box;

use ask_user_host::Run;
use ask_user_host::contract as records;
use ask_user_host::sandbox::{BUNDLED_PLUGIN, Owner, Plugin, Sandbox};
use criterion::{Criterion, criterion_group, criterion_main};
use records::{Prompt, Refusal, ResolveError, Settlement, Verdict, Violation};
use wasmtime::component::{
    Component, ComponentExportIndex, ComponentNamedList, InstancePre, Lift, Linker, Lower, TypedFunc,
};
use wasmtime::{Config, Enabled, Engine, InstanceAllocationStrategy, PoolingAllocationConfig, Store};

const ARGUMENTS: &str = include_str!("../../examples/deploy-target.json");
const NOW: u64 = 1_800_000_000_000;

/// wasmtime as its own guide to fast instantiation has it: a pool, epochs, dirty pages wiped in place.
fn bare_engine() -> Engine {
    let mut pool = PoolingAllocationConfig::new();
    pool.total_component_instances(64);
    pool.total_core_instances(64);
    pool.total_memories(64);
    pool.total_tables(128);
    pool.max_unused_warm_slots(64);
    pool.linear_memory_keep_resident(256 << 10);
    pool.table_keep_resident(16 << 10);
    pool.pagemap_scan(Enabled::Auto);
    let mut config = Config::new();
    config.epoch_interruption(true);
    config.concurrency_support(false);
    config.memory_reservation(4 << 30);
    config.memory_guard_size(32 << 20);
    config.allocation_strategy(InstanceAllocationStrategy::Pooling(pool));
    Engine::new(&config).unwrap()
}

/// The floor: a store without limits, an instance, one function found by its index and called without another look at
/// its types. Nothing less gives an answer from a fresh sandbox.
struct Bare {
    engine: Engine,
    component: Component,
    pre: InstancePre<()>,
}

impl Bare {
    fn new() -> Self {
        let engine = bare_engine();
        let component = Component::from_binary(&engine, BUNDLED_PLUGIN).unwrap();
        let pre = Linker::new(&engine).instantiate_pre(&component).unwrap();
        Self { engine, component, pre }
    }

    fn index(&self, interface: &str, name: &str) -> ComponentExportIndex {
        let interface = format!("ask-user:plugin/{interface}@0.1.0");
        let interface = self.component.get_export_index(None, &*interface).unwrap();
        self.component.get_export_index(Some(&interface), name).unwrap()
    }

    fn store(&self) -> Store<()> {
        let mut store = Store::new(&self.engine, ());
        store.set_epoch_deadline(1_000_000);
        store
    }

    fn call<Params, Return>(&self, index: &ComponentExportIndex, params: Params) -> Return
    where
        Params: ComponentNamedList + Lower,
        Return: Lift + 'static,
        (Return,): ComponentNamedList + Lift,
    {
        let mut store = self.store();
        let instance = self.pre.instantiate(&mut store).unwrap();
        let function = instance.get_func(&mut store, index).unwrap();
        // SAFETY: the types are those of the contract, and the component is the one that was built with it.
        let function = unsafe { TypedFunc::<Params, (Return,)>::new_unchecked(function) };
        function.call(&mut store, params).unwrap().0
    }
}

fn run() -> Run {
    Run::new("agent:main:main", "run-1").tool_call("call-1").requested_by("ada", "telegram:42")
}

fn shim() -> Plugin {
    Sandbox::builder().build().unwrap().load_bundled().unwrap()
}

fn context() -> records::Context {
    records::Context { now: NOW, id: "ask_0".into(), origin: run().origin().clone() }
}

const POLICY: records::Policy = records::Policy {
    credentials: records::CredentialPolicy::Refuse,
    own_text_limit: Some(16 << 10),
    repeats: records::RepeatPolicy::FirstResult,
};

fn load(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("load");
    group.sample_size(20);
    let bare = bare_engine();
    let code = bare.precompile_component(BUNDLED_PLUGIN).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("bare.cwasm");
    std::fs::write(&file, code).unwrap();
    group.bench_function("bare/compile", |bencher| {
        bencher.iter(|| Component::from_binary(&bare, BUNDLED_PLUGIN).unwrap());
    });
    group.bench_function("bare/map compiled code", |bencher| {
        // SAFETY: the file was written by this process a moment ago.
        bencher.iter(|| unsafe { Component::deserialize_file(&bare, &file) }.unwrap());
    });
    let fresh = Sandbox::builder().build().unwrap();
    group.bench_function("shim/compile", |bencher| bencher.iter(|| fresh.load_bundled().unwrap()));
    let cached = Sandbox::builder().code_cache(folder.path().join("code")).build().unwrap();
    cached.load_bundled().unwrap();
    group.bench_function("shim/from the cache", |bencher| bencher.iter(|| cached.load_bundled().unwrap()));
    group.finish();
}

fn decisions(criterion: &mut Criterion) {
    let (bare, shim, context) = (Bare::new(), shim(), context());
    let warm = shim.owned_by(Owner::new("bench"));
    let prompt = shim.ask_user(ARGUMENTS, &context).unwrap().unwrap();
    let mut group = criterion.benchmark_group("decision");

    group.bench_function("bare/instantiate and drop", |bencher| {
        bencher.iter(|| {
            let mut store = bare.store();
            black_box(bare.pre.instantiate(&mut store).unwrap());
        });
    });

    // The least a decision can be: whether a prompt is overdue. What is measured is the sandbox around it.
    let expire = bare.index("question", "expire");
    group.bench_function("bare/expire", |bencher| {
        bencher.iter(|| bare.call::<_, Option<Settlement>>(&expire, (&prompt, NOW)));
    });
    group.bench_function("shim/expire", |bencher| bencher.iter(|| shim.expire(&prompt, NOW).unwrap()));
    group.bench_function("warm/expire", |bencher| bencher.iter(|| warm.expire(&prompt, NOW).unwrap()));

    let ask_user = bare.index("tool", "ask-user");
    group.bench_function("bare/ask_user", |bencher| {
        bencher.iter(|| bare.call::<_, Result<Prompt, Refusal>>(&ask_user, (ARGUMENTS, &context)));
    });
    group.bench_function("shim/ask_user", |bencher| {
        bencher.iter(|| shim.ask_user(ARGUMENTS, &context).unwrap().unwrap());
    });
    group.bench_function("warm/ask_user", |bencher| {
        bencher.iter(|| warm.ask_user(ARGUMENTS, &context).unwrap().unwrap());
    });

    let params = records::RequestParams { questions: prompt.questions.clone(), timeout_ms: None };
    let request = bare.index("question", "request");
    group.bench_function("bare/request", |bencher| {
        bencher.iter(|| bare.call::<_, Result<Prompt, Vec<Violation>>>(&request, (&params, &context)));
    });
    group.bench_function("shim/request", |bencher| {
        bencher.iter(|| shim.request(&params, &context).unwrap().unwrap());
    });
    group.bench_function("warm/request", |bencher| {
        bencher.iter(|| warm.request(&params, &context).unwrap().unwrap());
    });

    let answer =
        |values: &str| records::Answer { question_id: "deploy_target".into(), values: vec![values.into()] };
    let resolution = records::Resolution {
        answers: vec![answer("Production")],
        resolved_by: Some("ada".into()),
        resolution_id: None,
    };
    let resolve = bare.index("question", "resolve");
    group.bench_function("bare/resolve", |bencher| {
        bencher.iter(|| {
            bare.call::<_, Result<Verdict, ResolveError>>(&resolve, (&prompt, &resolution, POLICY, NOW))
        });
    });
    group.bench_function("shim/resolve", |bencher| {
        bencher.iter(|| shim.resolve(&prompt, &resolution, POLICY, NOW).unwrap().unwrap());
    });
    group.bench_function("warm/resolve", |bencher| {
        bencher.iter(|| warm.resolve(&prompt, &resolution, POLICY, NOW).unwrap().unwrap());
    });

    let message = records::Message::typed("production");
    group.bench_function("shim/interpret", |bencher| {
        bencher.iter(|| shim.interpret(&prompt, &message, None, POLICY).unwrap());
    });
    group.bench_function("warm/interpret", |bencher| {
        bencher.iter(|| warm.interpret(&prompt, &message, None, POLICY).unwrap());
    });
    let target = records::Target::private(None);
    group.bench_function("shim/render as text", |bencher| {
        bencher.iter(|| shim.channel().render(&prompt, "text", &target).unwrap().unwrap());
    });
    group.bench_function("warm/render as text", |bencher| {
        bencher.iter(|| warm.channel().render(&prompt, "text", &target).unwrap().unwrap());
    });
    let mut settled = prompt.clone();
    settled.settlement = Some(records::Settlement {
        outcome: records::Outcome::Answered(vec![answer("Production")]),
        at: NOW,
        resolved_by: Some("ada".into()),
        resolution_id: None,
    });
    group.bench_function("shim/outcome", |bencher| bencher.iter(|| shim.outcome(&settled).unwrap().unwrap()));
    group.bench_function("warm/outcome", |bencher| bencher.iter(|| warm.outcome(&settled).unwrap().unwrap()));
    group.bench_function("shim/record", |bencher| {
        bencher.iter(|| shim.record(&settled, records::RecordForm::Extended, NOW).unwrap());
    });
    group.bench_function("warm/record", |bencher| {
        bencher.iter(|| warm.record(&settled, records::RecordForm::Extended, NOW).unwrap());
    });
    group.finish();
}

criterion_group!(benches, load, decisions);
criterion_main!(benches);
