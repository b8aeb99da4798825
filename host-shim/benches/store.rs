//! What a store costs: rounds of asking and answering, and whether it gets slower with what is pending.
//!
//! `rounds` is an insert and a settle, each acknowledged: one after the other, and 64 in flight. `flat` is the same
//! question to a store with 1,000 pending prompts and to one with 100,000; the two figures should be alike.

#![allow(missing_docs, clippy::unwrap_used)]

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use ask_user_host::contract::{Answer, Choice, Origin, Outcome, Prompt, Question, SessionKind, Settlement};
#[cfg(feature = "sqlite")]
use ask_user_host::store::SqliteStore;
use ask_user_host::store::{Cursor, Door, Inserted, MemoryStore, Query, Settled, Store, TenantId};
use criterion::{
    BenchmarkGroup, Criterion, Throughput, criterion_group, criterion_main, measurement::WallTime,
};
use tempfile::TempDir;
use tokio::runtime::Runtime;
use tokio::task::JoinSet;

const IN_FLIGHT: u64 = 64;

/// What the agent of a chat asks.
fn prompt(number: u64) -> Prompt {
    let created_at = 1_760_000_000_000 + number;
    // As far from each other as random numbers.
    let scattered = number.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let choice = |label: &str, description: &str| Choice {
        label: label.into(),
        description: Some(description.into()),
    };
    Prompt {
        // In the order of time, as the host's own ids are.
        id: format!("ask_{created_at:012x}{:04x}{scattered:016x}", number % 9_973),
        questions: vec![Question {
            id: "environment".into(),
            header: "Environment".into(),
            text: "Which environment should the new version be rolled out to first?".into(),
            choices: vec![
                choice("Staging (Recommended)", "Nobody but us will see it."),
                choice("Production", "Everybody will see it at once."),
                choice("Neither", "We wait for another day."),
            ],
            multi_select: None,
            is_other: Some(true),
            is_secret: None,
            url: None,
        }],
        origin: Origin {
            agent: Some("main".into()),
            session_key: Some(format!("agent:main:telegram:direct:{number:012}")),
            session_kind: Some(SessionKind::Main),
            run: Some(format!("{scattered:016x}{number:016x}")),
            tool_call: Some(format!("call_{scattered:016x}{number:08x}")),
            requester: Some(format!("telegram:{}", number % 1_000)),
            conversation: Some("telegram:123456789".into()),
            locale: Some("en-GB".into()),
        },
        created_at,
        expires_at: 1_760_000_900_000 + number,
        settlement: None,
    }
}

fn answered(prompt: &Prompt) -> Settlement {
    let values = vec!["Staging (Recommended)".to_owned()];
    Settlement {
        outcome: Outcome::Answered(vec![Answer { question_id: "environment".into(), values }]),
        at: prompt.created_at + 1_000,
        resolved_by: Some("telegram:42".into()),
        resolution_id: None,
    }
}

/// A store, and numbers for prompts that it has not seen.
#[derive(Clone)]
struct Subject {
    store: Arc<dyn Store>,
    numbers: Arc<AtomicU64>,
    _folder: Option<Arc<TempDir>>,
}

impl Subject {
    fn memory() -> Self {
        Self { store: Arc::new(MemoryStore::new()), numbers: Arc::default(), _folder: None }
    }

    #[cfg(feature = "sqlite")]
    fn sqlite() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let store = SqliteStore::open(folder.path().join("store")).unwrap();
        Self { store: Arc::new(store), numbers: Arc::default(), _folder: Some(Arc::new(folder)) }
    }

    async fn ask(&self) -> Arc<Prompt> {
        let prompt = Arc::new(prompt(self.numbers.fetch_add(1, Ordering::Relaxed)));
        let inserted = self.store.insert(&TenantId::default(), &prompt, Door::Tool).await.unwrap();
        assert_eq!(inserted, Inserted::New);
        prompt
    }

    async fn answer(&self, prompt: Arc<Prompt>) {
        let settled = self.store.settle(&TenantId::default(), &prompt.id, &answered(&prompt)).await.unwrap();
        assert!(matches!(settled, Settled::Committed(_)));
    }

    /// Asks this much in all, some of it at the same time.
    async fn ask_many(&self, count: u64) -> Vec<Arc<Prompt>> {
        let workers: JoinSet<Vec<Arc<Prompt>>> = (0..IN_FLIGHT)
            .map(|worker| {
                let subject = self.clone();
                async move {
                    let mut asked = Vec::new();
                    for _ in (worker..count).step_by(IN_FLIGHT as usize) {
                        asked.push(subject.ask().await);
                    }
                    asked
                }
            })
            .collect();
        workers.join_all().await.concat()
    }
}

/// How to make an empty store of each kind.
type Make = fn() -> Subject;

fn subjects() -> Vec<(&'static str, Make)> {
    vec![
        ("memory", Subject::memory),
        #[cfg(feature = "sqlite")]
        ("sqlite", Subject::sqlite),
    ]
}

fn short<'a>(criterion: &'a mut Criterion, name: &str) -> BenchmarkGroup<'a, WallTime> {
    let mut group = criterion.benchmark_group(name);
    group.warm_up_time(Duration::from_millis(300)).measurement_time(Duration::from_secs(1)).sample_size(20);
    group
}

fn rounds(criterion: &mut Criterion) {
    let runtime = Runtime::new().unwrap();
    for (name, make) in subjects() {
        let subject = make();
        let mut group = short(criterion, &format!("rounds/{name}"));
        group.throughput(Throughput::Elements(1));
        group.bench_function("alone", |bencher| {
            bencher.iter(|| {
                runtime.block_on(async {
                    let prompt = subject.ask().await;
                    subject.answer(prompt).await;
                });
            });
        });
        group.throughput(Throughput::Elements(IN_FLIGHT));
        group.bench_function("64 in flight", |bencher| {
            // Everybody goes on without waiting for the others, as clients do.
            bencher.iter_custom(|rounds| {
                let start = Instant::now();
                runtime.block_on(async {
                    let workers: JoinSet<()> = (0..IN_FLIGHT)
                        .map(|_| {
                            let subject = subject.clone();
                            async move {
                                for _ in 0..rounds {
                                    let prompt = subject.ask().await;
                                    subject.answer(prompt).await;
                                }
                            }
                        })
                        .collect();
                    workers.join_all().await;
                });
                start.elapsed()
            });
        });
    }
}

fn flat(criterion: &mut Criterion) {
    let runtime = Runtime::new().unwrap();
    let tenant = TenantId::default();
    for (name, make) in subjects() {
        for pending in [1_000, 100_000] {
            let subject = make();
            let asked = runtime.block_on(subject.ask_many(pending));
            let places: Vec<Cursor> = asked.iter().map(|prompt| Cursor::of(prompt)).collect();
            drop(asked);
            let mut turn = 0;
            // Strides through all of them, in no order.
            let mut next = || {
                turn = (turn + 7_919) % places.len();
                &places[turn]
            };

            let mut group = short(criterion, &format!("flat/{name}"));
            group.throughput(Throughput::Elements(1));
            group.bench_function(format!("get/{pending}"), |bencher| {
                bencher.iter(|| {
                    let found = runtime.block_on(subject.store.get(&tenant, &next().id)).unwrap();
                    assert!(found.is_some());
                });
            });
            group.bench_function(format!("page of 50/{pending}"), |bencher| {
                bencher.iter(|| {
                    let query = Query { limit: 50, after: Some(next().clone()), ..Query::default() };
                    runtime.block_on(subject.store.list(&tenant, &query, 0)).unwrap()
                });
            });
            group.throughput(Throughput::Elements(IN_FLIGHT));
            group.bench_function(format!("settle, 64 in flight/{pending}"), |bencher| {
                bencher.iter_custom(|rounds| {
                    let mut spent = Duration::ZERO;
                    for _ in 0..rounds {
                        let asked = runtime.block_on(subject.ask_many(IN_FLIGHT));
                        let start = Instant::now();
                        runtime.block_on(async {
                            let answering = |prompt| {
                                let subject = subject.clone();
                                async move { subject.answer(prompt).await }
                            };
                            asked.into_iter().map(answering).collect::<JoinSet<_>>().join_all().await
                        });
                        spent += start.elapsed();
                    }
                    spent
                });
            });
        }
    }
}

criterion_group!(benches, rounds, flat);
criterion_main!(benches);
