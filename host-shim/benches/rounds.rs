//! What a whole round costs: a client asks, somebody waits, somebody answers, and the one who waits has the answer. All
//! of it through the service: two decisions of the plugin, and what the store does. `cargo bench -p ask-user-host
//! --bench rounds`.
//!
//! A round goes through the same steps, in the same order, as one over the gateway, without the gateway. In a durable
//! store the question and the answer are on the disk before anybody is told.

#![allow(missing_docs, clippy::unwrap_used)]

use std::time::{Duration, Instant};

use ask_user_host::contract::{Answer, Choice, Origin, Question, RequestParams};
#[cfg(feature = "sqlite")]
use ask_user_host::store::SqliteStore;
use ask_user_host::{AskUser, Principal, Run, Submission, TenantId};
use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use tempfile::TempDir;
use tokio::runtime::Runtime;
use tokio::task::JoinSet;

/// Whoever asks and answers, with all it needs to do so again and again.
#[derive(Clone)]
struct Client {
    host: AskUser,
    tenant: TenantId,
    operator: Principal,
    origin: Origin,
    params: RequestParams,
}

impl Client {
    fn of(host: AskUser) -> Self {
        let tenant = TenantId::default();
        let question = Question {
            id: "environment".into(),
            header: "Environment".into(),
            text: "Which environment should the new version be rolled out to first?".into(),
            choices: ["Staging (Recommended)", "Production", "Neither"]
                .map(|label| Choice { label: label.into(), description: None })
                .into(),
            multi_select: None,
            is_other: Some(true),
            is_secret: None,
            url: None,
        };
        Self {
            host,
            operator: Principal::operator(tenant.clone(), "operator"),
            tenant,
            origin: Run::new("agent:main:main", "run-1").requested_by("ada", "telegram:42").origin().clone(),
            params: RequestParams { questions: vec![question], timeout_ms: Some(900_000) },
        }
    }

    async fn round(&self) {
        let asked = self.host.request(&self.tenant, &self.params, &self.origin, None).await.unwrap();
        let waiting = self.host.wait(&self.operator, &asked.id);
        let answering = async {
            let values = vec!["Production".to_owned()];
            let answers = vec![Answer { question_id: "environment".into(), values }];
            self.host.resolve(&self.operator, &asked.id, Submission::of(answers)).await.unwrap()
        };
        let (settled, accepted) = tokio::join!(waiting, answering);
        assert_eq!(settled.unwrap().id, accepted.prompt.id);
    }
}

/// How to make a host with an empty store of each kind, and what must live as long.
type Make = fn() -> (AskUser, Option<TempDir>);

fn hosts() -> Vec<(&'static str, Make)> {
    vec![
        ("memory", || (AskUser::builder().start().unwrap(), None)),
        #[cfg(feature = "sqlite")]
        ("sqlite", || {
            let folder = tempfile::tempdir().unwrap();
            let store = SqliteStore::open(folder.path().join("store")).unwrap();
            (AskUser::builder().store(store).start().unwrap(), Some(folder))
        }),
    ]
}

fn rounds(criterion: &mut Criterion) {
    // One thread for everything but the store's own, which is how the fastest gateway on few cores is built.
    let runtime: Runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    for (name, make) in hosts() {
        let (host, _folder) = {
            let _entered = runtime.enter();
            make()
        };
        let client = Client::of(host);
        let mut group = criterion.benchmark_group(format!("rounds/{name}"));
        group
            .warm_up_time(Duration::from_millis(300))
            .measurement_time(Duration::from_secs(2))
            .sample_size(20);
        for in_flight in [1, 32] {
            group.throughput(Throughput::Elements(in_flight));
            group.bench_function(format!("{in_flight} in flight"), |bencher| {
                // Everybody goes on without waiting for the others, as clients do.
                bencher.iter_custom(|rounds| {
                    let start = Instant::now();
                    runtime.block_on(async {
                        let workers: JoinSet<()> = (0..in_flight)
                            .map(|_| {
                                let client = client.clone();
                                async move {
                                    for _ in 0..rounds {
                                        client.round().await;
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
}

criterion_group!(benches, rounds);
criterion_main!(benches);
