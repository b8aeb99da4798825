//! What many waiting prompts cost: resident memory, and how late they expire. A plain program, since these are not
//! averages of many short runs. `cargo bench -p ask-user-host --bench scale` (about a minute and a half).

#![allow(missing_docs, clippy::print_stdout, clippy::unwrap_used)]

use std::sync::Arc;
use std::time::{Duration, Instant};

use ask_user_host::clock::{Clock, SystemClock};
use ask_user_host::contract::{Choice, Question, RequestParams};
use ask_user_host::{AskUser, Event, Principal, Run, TenantId};

const PROMPTS: usize = 100_000;
const SPREAD: Duration = Duration::from_secs(60);

fn main() {
    // `cargo test --benches` and `--test` only want to know that it builds.
    if std::env::args().any(|argument| argument == "--test") {
        return;
    }
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    runtime.block_on(async {
        let host = AskUser::builder().start().unwrap();
        println!("resident, idle: {}", resident());
        ask_many(&host).await;
        println!("resident, {PROMPTS} pending prompts of the tool, each with a run to watch: {}", resident());
        drop(host);

        let host = AskUser::builder().start().unwrap();
        println!("lateness of expiry, {PROMPTS} deadlines over {SPREAD:?}: {}", lateness(&host).await);
    });
}

async fn ask_many(host: &AskUser) {
    let arguments = include_str!("../../examples/deploy-target.json");
    let began = Instant::now();
    for n in 0..PROMPTS {
        let run = Run::new(format!("agent:main:s{n}"), "run-1").requested_by("ada", "terminal");
        host.ask_user(arguments, &run).await.unwrap();
    }
    let rate = PROMPTS as f64 / began.elapsed().as_secs_f64();
    println!("asked one after the other: {rate:.0} a second");
}

/// Percentiles of the time between a deadline and the event that tells of it.
async fn lateness(host: &AskUser) -> String {
    let tenant = TenantId::default();
    let mut events = host.subscribe(Principal::operator(tenant.clone(), "bench"));
    let heard = tokio::spawn(async move {
        let clock = SystemClock;
        let mut late = Vec::with_capacity(PROMPTS);
        while late.len() < PROMPTS {
            match events.next().await {
                Some(Event::Resolved(prompt)) => late.push(clock.now().saturating_sub(prompt.expires_at)),
                Some(Event::Missed(count)) => panic!("missed {count} events"),
                Some(Event::Requested(_)) => {}
                None => break,
            }
        }
        late.sort_unstable();
        late
    });
    let question = Question {
        id: "q".into(),
        header: "Q".into(),
        text: "Which?".into(),
        choices: ["A", "B"].map(|label| Choice { label: label.into(), description: None }).into(),
        multi_select: None,
        is_other: Some(true),
        is_secret: None,
        url: None,
    };
    let clock: Arc<dyn Clock> = Arc::clone(host.clock());
    let first = clock.now() + 10_000;
    let origin = Run::new("agent:main:main", "run-1").origin().clone();
    for n in 0..PROMPTS {
        let deadline = first + SPREAD.as_millis() as u64 * n as u64 / PROMPTS as u64;
        let timeout = deadline.saturating_sub(clock.now()).max(1);
        let params = RequestParams { questions: vec![question.clone()], timeout_ms: Some(timeout) };
        host.request(&tenant, &params, &origin, None).await.unwrap();
    }
    println!("resident, {PROMPTS} pending prompts of a client: {}", resident());
    let late = heard.await.unwrap();
    let at = |share: f64| late[((late.len() - 1) as f64 * share) as usize];
    format!("p50 {} ms, p99 {} ms, most {} ms", at(0.5), at(0.99), at(1.0))
}

/// This process's resident memory, where the system tells it.
fn resident() -> String {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let kilobytes = status
        .lines()
        .find_map(|line| line.strip_prefix("VmRSS:"))
        .and_then(|value| value.trim().strip_suffix(" kB")?.trim().parse::<f64>().ok());
    kilobytes.map_or_else(|| "unknown".into(), |kilobytes| format!("{:.1} MB", kilobytes / 1024.0))
}
