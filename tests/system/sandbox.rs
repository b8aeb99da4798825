//! The sandbox against components that mean no good, written by hand: what they may not do, and what is left when they
//! tried.

use std::time::{Duration, Instant};

use ask_user_host::contract::Context;
use ask_user_host::sandbox::{Allocation, CallError, Limits, LoadError, Plugin, Sandbox};
use ask_user_tests::guests::{channels_only, hostile};
use ask_user_tests::world::{code_cache, one_question, plugin, run};

fn context() -> Context {
    Context { now: 1, id: "ask_1".into(), origin: run().origin().clone() }
}

fn load(component: &[u8], limits: Limits) -> Result<Plugin, LoadError> {
    Sandbox::builder().build().unwrap().load("hostile", component, limits)
}

fn call(component: &[u8], limits: Limits) -> CallError {
    load(component, limits).unwrap().definition(run().origin()).expect_err("the call fails")
}

#[test]
fn time_limit_obeyed() {
    let plugin = plugin();
    assert!(plugin.ask_user(&one_question("q", &["A", "B"]).to_string(), &context()).unwrap().is_ok());
}

#[test]
fn time_limit_violated() {
    let limits = Limits { deadline: Duration::from_millis(50), ..Limits::default() };
    let began = Instant::now();
    let error = call(&hostile("(loop $again (br $again)) unreachable"), limits);
    assert!(matches!(error, CallError::Timeout { .. }), "{error}");
    assert!(began.elapsed() >= Duration::from_millis(50), "not before its time");
}

#[test]
fn memory_limit_obeyed() {
    let limits = Limits { memory: 1 << 20, ..Limits::default() };
    // 8 pages more are within the limit; then it traps by itself.
    let error = call(
        &hostile(
            "(if (i32.eq (memory.grow (i32.const 8)) (i32.const -1)) (then (loop $a (br $a)))) unreachable",
        ),
        limits,
    );
    assert!(matches!(error, CallError::Trap { .. }), "{error}");
}

#[test]
fn memory_limit_violated() {
    let limits = Limits { memory: 1 << 20, ..Limits::default() };
    let error = call(&hostile("(drop (memory.grow (i32.const 64))) unreachable"), limits);
    assert!(matches!(error, CallError::Memory { limit: 1_048_576, .. }), "{error}");
}

#[test]
fn table_limit_violated() {
    let limits = Limits { table_entries: 100, ..Limits::default() };
    let error =
        call(&hostile("(drop (table.grow $spare (ref.null func) (i32.const 1000))) unreachable"), limits);
    assert!(matches!(error, CallError::Table { limit: 100, .. }), "{error}");
}

#[test]
fn a_trap_is_told_and_the_next_call_begins_afresh() {
    let component = hostile("unreachable");
    let plugin = load(&component, Limits::default()).unwrap();
    for _ in 0..200 {
        let error = plugin.definition(run().origin()).unwrap_err();
        assert!(matches!(error, CallError::Trap { .. }), "{error}");
    }
}

/// A global that counts calls never gets beyond its first value: every call has an instance of its own.
#[test]
fn nothing_is_left_from_one_call_to_the_next() {
    let component = hostile(
        "(global.set $calls (i32.add (global.get $calls) (i32.const 1)))
         (i32.store (i32.const 4096) (i32.add (i32.load (i32.const 4096)) (i32.const 1)))
         (if (i32.or (i32.ne (global.get $calls) (i32.const 1)) (i32.ne (i32.load (i32.const 4096)) (i32.const 1)))
             (then (loop $a (br $a))))
         unreachable",
    );
    let limits = Limits { deadline: Duration::from_millis(500), ..Limits::default() };
    let plugin = load(&component, limits).unwrap();
    for _ in 0..200 {
        let error = plugin.definition(run().origin()).unwrap_err();
        assert!(matches!(error, CallError::Trap { .. }), "memory or a global was seen again: {error}");
    }
}

#[test]
fn a_result_that_points_outside_of_memory_is_refused() {
    let error = call(&hostile("(i32.const 0x7fffff00)"), Limits::default());
    assert!(matches!(error, CallError::Result { .. } | CallError::Trap { .. }), "{error}");
}

#[test]
fn a_result_that_would_fill_the_hosts_memory_is_refused() {
    // An option that is there, whose first text claims 1 MiB; the host takes less.
    let body = "(i32.store8 (i32.const 1024) (i32.const 1))
                (i32.store (i32.const 1028) (i32.const 0)) (i32.store (i32.const 1032) (i32.const 1048576))
                (drop (memory.grow (i32.const 32)))
                (i32.const 1024)";
    let limits = Limits { result: 64 << 10, ..Limits::default() };
    let error = call(&hostile(body), limits);
    assert!(matches!(error, CallError::Result { .. } | CallError::Trap { .. }), "{error}");
}

#[test]
fn imports_are_refused_by_name() {
    let component = wat::parse_str(
        r#"(component
            (import "wasi:clocks/wall-clock@0.2.0" (instance))
            (import "ask-user:plugin/secrets@0.1.0" (instance)))"#,
    )
    .unwrap();
    let error = load(&component, Limits::default()).unwrap_err();
    assert_eq!(
        error,
        LoadError::DeniedImports {
            name: "hostile".into(),
            imports: vec!["wasi:clocks/wall-clock@0.2.0".into(), "ask-user:plugin/secrets@0.1.0".into()],
        }
    );
}

#[test]
fn another_contract_is_refused_by_name() {
    let component =
        wat::parse_str(r#"(component (@custom "ask-user:contract" "ask-user:plugin@9.0.0"))"#).unwrap();
    let error = load(&component, Limits::default()).unwrap_err();
    assert!(
        matches!(&error, LoadError::OtherContract { found, .. } if found == "ask-user:plugin@9.0.0"),
        "{error}"
    );
    let nothing = wat::parse_str("(component)").unwrap();
    assert!(matches!(load(&nothing, Limits::default()), Err(LoadError::OtherContract { .. })));
}

#[test]
fn missing_interfaces_are_named() {
    let component =
        wat::parse_str(r#"(component (@custom "ask-user:contract" "ask-user:plugin@0.1.0"))"#).unwrap();
    let error = load(&component, Limits::default()).unwrap_err();
    assert!(matches!(&error, LoadError::MissingExports { missing, .. } if missing.len() == 5), "{error}");
}

#[test]
fn a_component_may_bring_channels_and_nothing_else() {
    // An empty list: its pointer and its length, somewhere in the memory, are zero.
    let component = channels_only("(i32.const 1024)");
    let error = load(&component, Limits::default()).unwrap_err();
    assert!(matches!(&error, LoadError::MissingExports { missing, .. } if missing.len() == 3), "{error}");
    let sandbox = Sandbox::builder().build().unwrap();
    let plugin = sandbox.load_channels("guest", &component, Limits::default()).unwrap();
    assert_eq!(plugin.name(), "guest");
    assert_eq!(plugin.channels().unwrap().len(), 0);
    let error = plugin.interpret_interaction("fax", "{}").unwrap_err();
    assert!(matches!(&error, CallError::Trap { plugin, .. } if plugin == "guest"), "{error}");
}

#[test]
fn exports_of_other_types_are_refused() {
    let component = wat::parse_str(
        r#"(component
            (@custom "ask-user:contract" "ask-user:plugin@0.1.0")
            (instance $empty)
            (export "ask-user:plugin/types@0.1.0" (instance $empty))
            (export "ask-user:plugin/tool@0.1.0" (instance $empty))
            (export "ask-user:plugin/question@0.1.0" (instance $empty))
            (export "ask-user:plugin/reply@0.1.0" (instance $empty))
            (export "ask-user:plugin/channel@0.1.0" (instance $empty)))"#,
    )
    .unwrap();
    let error = load(&component, Limits::default()).unwrap_err();
    assert!(matches!(error, LoadError::WrongTypes { .. }), "{error}");
}

#[test]
fn what_is_no_component_is_refused() {
    for bytes in [&b""[..], b"\0asm\x01\0\0\0", b"#!/bin/sh", b"\0asm\x0d\0\x01\0garbage"] {
        let error = load(bytes, Limits::default()).unwrap_err();
        assert!(
            matches!(error, LoadError::NotAComponent { .. } | LoadError::OtherContract { .. }),
            "{error}"
        );
    }
}

#[test]
fn it_works_without_a_pool() {
    let sandbox = Sandbox::builder().on_demand().build().unwrap();
    assert_eq!(sandbox.allocation(), Allocation::OnDemand);
    let plugin = sandbox.load_bundled().unwrap();
    assert!(plugin.definition(run().origin()).unwrap().is_some());
}

#[test]
fn calls_from_many_threads_share_the_pool() {
    let plugin = plugin();
    let arguments = one_question("q", &["A", "B"]).to_string();
    std::thread::scope(|scope| {
        for _ in 0..80 {
            scope.spawn(|| {
                for _ in 0..50 {
                    assert!(plugin.ask_user(&arguments, &context()).unwrap().is_ok());
                }
            });
        }
    });
}

#[test]
fn compiled_code_is_kept_and_taken_again() {
    let folder = tempfile::tempdir().unwrap();
    let cache = folder.path().join("code");
    let build = || Sandbox::builder().code_cache(&cache).build().unwrap();
    build().load_bundled().unwrap();
    let kept: Vec<_> = std::fs::read_dir(&cache).unwrap().map(|entry| entry.unwrap().path()).collect();
    assert_eq!(kept.len(), 1);
    let written = std::fs::metadata(&kept[0]).unwrap().modified().unwrap();
    assert!(build().load_bundled().unwrap().definition(run().origin()).unwrap().is_some());
    assert_eq!(
        std::fs::metadata(&kept[0]).unwrap().modified().unwrap(),
        written,
        "it was not compiled again"
    );

    // What was damaged is made again.
    std::fs::write(&kept[0], b"damaged").unwrap();
    assert!(build().load_bundled().unwrap().definition(run().origin()).unwrap().is_some());
    assert!(std::fs::metadata(&kept[0]).unwrap().len() > 1000);
}

#[cfg(unix)]
#[test]
fn a_code_folder_that_others_can_write_to_is_not_used() {
    use std::os::unix::fs::PermissionsExt;
    let folder = tempfile::tempdir().unwrap();
    std::fs::set_permissions(folder.path(), std::fs::Permissions::from_mode(0o777)).unwrap();
    let sandbox = Sandbox::builder().code_cache(folder.path()).build().unwrap();
    assert!(sandbox.load_bundled().unwrap().definition(run().origin()).unwrap().is_some());
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
}

#[cfg(unix)]
#[test]
fn kept_code_is_private() {
    use std::os::unix::fs::PermissionsExt;
    plugin();
    let entries = std::fs::read_dir(code_cache()).unwrap();
    for entry in entries {
        assert_eq!(entry.unwrap().metadata().unwrap().permissions().mode() & 0o077, 0);
    }
}
