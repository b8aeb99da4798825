//! What operators see of a running gateway, in the text form of Prometheus.

use std::sync::Arc;
use std::sync::atomic::AtomicI64;

use prometheus_client::encoding::EncodeLabelSet;
use prometheus_client::encoding::text::encode;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::metrics::histogram::{Histogram, exponential_buckets};
use prometheus_client::metrics::info::Info;
use prometheus_client::registry::{Registry, Unit};

use super::protocol::error::CallError;
use crate::contract::{Outcome, Prompt};
use crate::questions::Observer;

/// How a question ended.
#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct Ended {
    outcome: &'static str,
}

/// Why a call was refused.
#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct Refused {
    reason: String,
}

/// All measurements.
#[derive(Clone, Debug)]
pub struct Metrics {
    registry: Arc<Registry>,
    measured: Arc<Measured>,
}

#[derive(Debug)]
struct Measured {
    pending: Gauge<i64, AtomicI64>,
    asked: Counter,
    settled: Family<Ended, Counter>,
    time_to_answer: Histogram,
    decision_time: Histogram,
    waiters: Gauge<i64, AtomicI64>,
    connections: Gauge<i64, AtomicI64>,
    refused: Family<Refused, Counter>,
}

impl Default for Metrics {
    fn default() -> Self {
        let measured = Measured {
            pending: Gauge::default(),
            asked: Counter::default(),
            settled: Family::default(),
            // A second to a bit more than an hour.
            time_to_answer: Histogram::new(exponential_buckets(1.0, 2.0, 13)),
            // A microsecond to half a second.
            decision_time: Histogram::new(exponential_buckets(1e-6, 2.0, 20)),
            waiters: Gauge::default(),
            connections: Gauge::default(),
            refused: Family::default(),
        };
        let mut registry = Registry::with_prefix("ask_user");
        registry.register("pending", "Questions that wait for an answer", measured.pending.clone());
        registry.register("asked", "Questions asked", measured.asked.clone());
        registry.register("settled", "Questions that have ended, by how", measured.settled.clone());
        let time = "Time from a question to its answer";
        registry.register_with_unit("time_to_answer", time, Unit::Seconds, measured.time_to_answer.clone());
        let time = "Time that the sandboxed component takes for one decision";
        registry.register_with_unit("decision_time", time, Unit::Seconds, measured.decision_time.clone());
        registry.register("waiters", "Calls that wait for an answer", measured.waiters.clone());
        registry.register("connections", "Clients that are connected", measured.connections.clone());
        registry.register("refused", "Calls that were refused, by why", measured.refused.clone());
        let build = Info::new([("version", env!("CARGO_PKG_VERSION"))]);
        registry.register("build", "What runs", build);
        Self { registry: Arc::new(registry), measured: Arc::new(measured) }
    }
}

impl Metrics {
    /// The measurements as text; so many questions are pending.
    pub(super) fn text(&self, pending: usize) -> String {
        self.measured.pending.set(i64::try_from(pending).unwrap_or(i64::MAX));
        let mut text = String::new();
        // Writing to a string does not fail.
        let _ = encode(&mut text, &self.registry);
        text
    }

    /// Counts a wait for as long as the guard lives.
    pub(super) fn waiting(&self) -> Counted {
        Counted::one_more(&self.measured.waiters)
    }

    /// Counts a connection for as long as the guard lives.
    pub(super) fn connected(&self) -> Counted {
        Counted::one_more(&self.measured.connections)
    }

    pub(super) fn refused(&self, error: &CallError) {
        // Only words of ours become labels, never anything that a client sent.
        let reason = error
            .details
            .as_ref()
            .and_then(|details| details["reason"].as_str().or(details["code"].as_str()));
        let reason = reason.unwrap_or(error.code).to_owned();
        self.measured.refused.get_or_create(&Refused { reason }).inc();
    }
}

impl Observer for Metrics {
    fn asked(&self, _prompt: &Prompt) {
        self.measured.asked.inc();
    }

    fn settled(&self, prompt: &Prompt) {
        let Some(settlement) = &prompt.settlement else { return };
        let outcome = match &settlement.outcome {
            Outcome::Answered(_) => {
                let milliseconds = settlement.at.saturating_sub(prompt.created_at);
                self.measured.time_to_answer.observe(milliseconds as f64 / 1000.0);
                "answered"
            }
            Outcome::NoAnswer(reason) => reason.name(),
        };
        self.measured.settled.get_or_create(&Ended { outcome }).inc();
    }

    fn decided(&self, seconds: f64) {
        self.measured.decision_time.observe(seconds);
    }
}

/// One more, for as long as it lives.
#[derive(Debug)]
pub(super) struct Counted(Gauge<i64, AtomicI64>);

impl Counted {
    fn one_more(gauge: &Gauge<i64, AtomicI64>) -> Self {
        gauge.inc();
        Self(gauge.clone())
    }
}

impl Drop for Counted {
    fn drop(&mut self) {
        self.0.dec();
    }
}
