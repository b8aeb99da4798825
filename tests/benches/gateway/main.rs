//! How many rounds a gateway does, and how long one takes: a bare floor, ours on each store, and OpenClaw where it is
//! installed, each as its own process, driven by the same client in one run.
//!
//! ```text
//! cargo bench -p ask-user-tests --bench gateway
//! ASK_USER_OPENCLAW=folder cargo bench -p ask-user-tests --bench gateway
//! cargo bench -p ask-user-tests --bench gateway -- --smoke
//! ```
//!
//! `folder` is where `tests/peers/run` has installed OpenClaw and its Node.js: `tests/peers`. `--smoke` is for CI: a few seconds, and no figures
//! worth keeping. `--seconds` and `--repetitions` change how long each figure is measured, and how often.
//!
//! This program is also `ask-user` itself, so that what is measured is built once, with the bench.

#![allow(clippy::print_stdout, clippy::print_stderr)]

mod floor;
mod servers;

use std::env;
use std::process::{Command, ExitCode};

use serde_json::Value;
use servers::{Server, TOKEN};

// As the program has it.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// Connections, and rounds in flight on each.
const LOADS: [(u32, u32); 3] = [(1, 1), (1, 32), (8, 8)];
/// What one connection is served at once (`docs/performance.md`).
const AT_ONCE: u32 = 10_000;

/// How it is measured.
struct Plan {
    seconds: u32,
    warm_up: u32,
    repetitions: usize,
}

fn main() -> ExitCode {
    let arguments: Vec<String> = env::args().skip(1).collect();
    match arguments.first().map(String::as_str) {
        Some("serve" | "bench") => return ask_user_host::cli::main(),
        Some("floor") => return floor::serve(),
        _ => {}
    }
    let number = |name: &str, otherwise: u32| {
        let place = arguments.iter().position(|argument| argument == name);
        place.map_or(otherwise, |place| {
            let value = arguments.get(place + 1).and_then(|value| value.parse().ok());
            value.unwrap_or_else(|| panic!("{name} needs a number"))
        })
    };
    let is_smoke = arguments.iter().any(|argument| argument == "--smoke");
    let plan = Plan {
        seconds: number("--seconds", if is_smoke { 1 } else { 5 }),
        warm_up: if is_smoke { 0 } else { 2 },
        repetitions: number("--repetitions", if is_smoke { 1 } else { 3 }) as usize,
    };
    let folder = tempfile::tempdir().expect("a folder");
    // The first start compiles the component and keeps it; what is measured is any other.
    drop(Server::ours_in_memory(&folder));
    let mut servers = vec![Server::floor(), Server::ours_in_memory(&folder), Server::ours_in_sqlite(&folder)];
    if !is_smoke {
        servers.extend(Server::openclaw(&folder));
    }
    let idle: Vec<u64> = servers.iter().map(Server::resident).collect();
    let figures = measure(&plan, &servers);
    let used: Vec<u64> = servers.iter().map(Server::resident).collect();

    println!("{}; {} s a figure, medians of {}", machine(), plan.seconds, plan.repetitions);
    println!();
    print_rounds(&servers, &figures);
    println!();
    println!("| gateway | resident idle | after all of it |\n|---|---|---|");
    for ((server, idle), used) in servers.iter().zip(idle).zip(used) {
        println!("| {} | {} MiB | {} MiB |", server.name, idle >> 20, used >> 20);
    }
    println!();
    println!("| gateway | {AT_ONCE} in flight on one connection |\n|---|---|");
    let mut is_served = true;
    for server in &servers {
        let (text, is_all) = at_once(server);
        println!("| {} | {text} |", server.name);
        is_served &= is_all || !server.is_ours;
    }
    if is_served { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// What one run of the load gave.
#[derive(Clone, Copy, Debug, Default)]
struct Figure {
    rate: f64,
    p50: f64,
    p99: f64,
}

/// The figures of each load and server, of which each is the median of its own. All servers take turns, so that what the
/// machine does meanwhile meets all of them.
fn measure(plan: &Plan, servers: &[Server]) -> Vec<Vec<Figure>> {
    let mut all = vec![vec![Vec::new(); servers.len()]; LOADS.len()];
    for repetition in 0..plan.repetitions {
        for (load, (connections, in_flight)) in LOADS.into_iter().enumerate() {
            for (server, place) in servers.iter().zip(0..) {
                let outcome = server.drive(&[
                    ("--connections", connections),
                    ("--in-flight", in_flight),
                    ("--seconds", plan.seconds),
                    ("--warm-up", plan.warm_up),
                ]);
                let number = |name: &str| outcome[name].as_f64().unwrap_or_default();
                let figure =
                    Figure { rate: number("roundsPerSecond"), p50: number("p50Ms"), p99: number("p99Ms") };
                assert!(outcome["errors"] == 0 && figure.rate > 0.0, "{}: {outcome}", server.name);
                eprintln!(
                    "{}/{} {connections}×{in_flight} {}: {:.0} rounds/s",
                    repetition + 1,
                    plan.repetitions,
                    server.name,
                    figure.rate
                );
                all[load][place].push(figure);
            }
        }
    }
    let medians = |figures: &Vec<Figure>| Figure {
        rate: median(figures.iter().map(|figure| figure.rate)),
        p50: median(figures.iter().map(|figure| figure.p50)),
        p99: median(figures.iter().map(|figure| figure.p99)),
    };
    all.iter().map(|load| load.iter().map(medians).collect()).collect()
}

fn median(values: impl Iterator<Item = f64>) -> f64 {
    let mut values: Vec<f64> = values.collect();
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or_default()
}

fn print_rounds(servers: &[Server], figures: &[Vec<Figure>]) {
    println!(
        "| load | gateway | rounds/s | × OpenClaw | of the floor | p50 | p99 |\n|---|---|---|---|---|---|---|"
    );
    let openclaw = servers.iter().position(|server| server.name == servers::OPENCLAW);
    for ((connections, in_flight), figures) in LOADS.iter().zip(figures) {
        for (server, figure) in servers.iter().zip(figures) {
            let times = openclaw
                .and_then(|place| figures.get(place))
                .map_or_else(|| "–".into(), |theirs| format!("{:.1}", figure.rate / theirs.rate));
            let floor = figures.first().map_or(0.0, |floor| 100.0 * figure.rate / floor.rate);
            println!(
                "| {connections}×{in_flight} | {} | {:.0} | {times} | {floor:.0} % | {:.2} ms | {:.2} ms |",
                server.name, figure.rate, figure.p50, figure.p99
            );
        }
    }
}

/// Whether a server takes so many rounds on one connection at once, in words as well.
fn at_once(server: &Server) -> (String, bool) {
    match server.try_drive(&[("--in-flight", AT_ONCE)], &["--all-at-once"]) {
        Ok(outcome) => {
            let served = outcome["rounds"].as_u64().unwrap_or_default();
            let is_all = served == u64::from(AT_ONCE) && outcome["errors"] == 0;
            let seconds = outcome["seconds"].as_f64().unwrap_or_default();
            let text = if is_all {
                format!("all served within {seconds:.2} s")
            } else {
                format!("{served} served; {}", first_error(&outcome["firstError"]))
            };
            (text, is_all)
        }
        Err(error) => (error.replace(['\n', '|'], " ").trim().to_owned(), false),
    }
}

fn first_error(error: &Value) -> String {
    error.as_str().unwrap_or_default().replace('|', " ")
}

/// The machine, in a few words.
fn machine() -> String {
    let cpus = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let model = cpus.lines().find_map(|line| line.strip_prefix("model name")?.split_once(':'));
    let model = model.map_or("a processor", |(_, model)| model.trim());
    let count = std::thread::available_parallelism().map_or(1, usize::from);
    format!("{count} cores of {model}, {}", env::consts::OS)
}

/// This program as `ask-user`.
fn ask_user() -> Command {
    let mut command = Command::new(env::current_exe().expect("this program"));
    command.env("ASK_USER_CACHE_DIR", ask_user_tests::world::code_cache());
    command.env("ASK_USER_GATEWAY_TOKEN", TOKEN);
    command
}
