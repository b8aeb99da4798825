//! The load: rounds in a closed loop, one task a connection, one write a wake-up.

use std::collections::VecDeque;
use std::future::poll_fn;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::task::{Context, Poll};
use std::time::{Duration, Instant};

use serde::Deserialize;
use serde_json::value::RawValue;

use crate::client::Socket;

/// Frames that are taken before others get a turn.
const FRAMES_A_TURN: usize = 256;
/// How long the rounds that were begun may take to end when the time is up.
const PATIENCE: Duration = Duration::from_secs(60);
/// Refusals after which there is no point in going on.
const MOST_ERRORS: u64 = 1_000;

/// How much is measured.
#[derive(Clone, Copy, Debug)]
pub(super) enum Amount {
    /// Rounds that end within this time, after another that is not measured.
    Time { warm_up: Duration, measured: Duration },
    /// So many rounds, of all connections together.
    Rounds(u64),
    /// One round for each that may be in flight, resolved when all of a connection are waiting.
    OneEach,
}

/// What is to be done.
#[derive(Clone, Copy, Debug)]
pub(super) struct Load {
    pub(super) in_flight: usize,
    pub(super) amount: Amount,
}

/// What came of it.
#[derive(Debug, Default)]
pub(super) struct Measured {
    pub(super) seconds: f64,
    /// Nanoseconds of each round, sorted.
    times: Vec<u64>,
    pub(super) events: u64,
    pub(super) errors: u64,
    pub(super) first_error: Option<String>,
}

impl Measured {
    pub(super) fn rounds(&self) -> usize {
        self.times.len()
    }

    pub(super) fn rate(&self) -> f64 {
        if self.seconds > 0.0 { self.rounds() as f64 / self.seconds } else { 0.0 }
    }

    /// How long a round took at most that is among this share of the fastest, in milliseconds.
    pub(super) fn quantile(&self, share: f64) -> f64 {
        let rank = (share * self.times.len() as f64).ceil() as usize;
        self.times.get(rank.saturating_sub(1)).map_or(0.0, |time| *time as f64 / 1e6)
    }
}

/// What all connections share.
struct Shared {
    load: Load,
    /// Part of every id, so that a second run meets no ids of the first.
    run: String,
    begin: Instant,
    /// From when to when rounds are measured.
    measured: (Instant, Option<Instant>),
    /// Rounds that may still begin.
    left: AtomicU64,
    errors: AtomicU64,
}

impl Load {
    /// Drives the connections. An error ends all of it.
    pub(super) async fn run(self, sockets: Vec<Socket>) -> Result<Measured, String> {
        let slots = (self.in_flight * sockets.len()) as u64;
        let begin = Instant::now();
        let (measured, left, limit) = match self.amount {
            Amount::Time { warm_up, measured } => {
                let from = begin + warm_up;
                ((from, Some(from + measured)), u64::MAX, warm_up + measured + PATIENCE)
            }
            Amount::Rounds(rounds) => ((begin, None), rounds, PATIENCE * 10),
            Amount::OneEach => ((begin, None), slots, PATIENCE),
        };
        let random = crate::ids::random().map_err(|error| error.to_string())?;
        let run = format!("bench_{:016x}", random >> 64);
        let errors = AtomicU64::new(0);
        let shared = Arc::new(Shared { load: self, run, begin, measured, left: left.into(), errors });
        let mut tasks = tokio::task::JoinSet::new();
        for (number, socket) in sockets.into_iter().enumerate() {
            tasks.spawn(Connection::new(Arc::clone(&shared), number, socket).run());
        }
        let all = async {
            let mut total = Measured::default();
            while let Some(done) = tasks.join_next().await {
                let (mut part, last) = done.map_err(|error| error.to_string())??;
                total.times.append(&mut part.times);
                total.events += part.events;
                total.errors += part.errors;
                total.first_error = total.first_error.or(part.first_error);
                total.seconds = total.seconds.max((last - shared.begin).as_secs_f64());
            }
            Ok::<_, String>(total)
        };
        let late = || format!("the gateway did not end what was begun within {} s", PATIENCE.as_secs());
        let mut total = tokio::time::timeout(limit, all).await.map_err(|_| late())??;
        if let Amount::Time { measured, .. } = self.amount {
            total.seconds = measured.as_secs_f64();
        }
        total.times.sort_unstable();
        Ok(total)
    }
}

/// One round at a time.
#[derive(Clone, Debug)]
struct Slot {
    /// Which round of this slot it is.
    round: u64,
    begun: Instant,
}

struct Connection {
    shared: Arc<Shared>,
    number: usize,
    socket: Socket,
    slots: Vec<Slot>,
    /// Rounds that have begun and not ended.
    running: usize,
    /// Requests that were answered, where all have to be before the first is resolved.
    held: Vec<usize>,
    outgoing: VecDeque<String>,
    measured: Measured,
    last: Instant,
}

/// A frame, as far as it concerns us.
#[derive(Deserialize)]
struct Frame<'a> {
    id: Option<&'a str>,
    ok: Option<bool>,
    event: Option<&'a str>,
    #[serde(borrow)]
    payload: Option<&'a RawValue>,
    #[serde(borrow)]
    error: Option<&'a RawValue>,
}

/// How a question ended: in the waiter's response, and with its id in the event.
#[derive(Deserialize)]
struct Ended<'a> {
    id: Option<&'a str>,
    status: &'a str,
}

/// A question that was asked, as a surface needs it.
#[derive(Deserialize)]
struct Asked<'a> {
    #[serde(borrow)]
    id: &'a str,
    questions: Vec<AskedQuestion<'a>>,
    #[serde(rename = "expiresAtMs")]
    expires_at: u64,
}

#[derive(Deserialize)]
struct AskedQuestion<'a> {
    #[serde(borrow, rename = "questionId")]
    id: &'a str,
    question: &'a str,
}

impl Connection {
    fn new(shared: Arc<Shared>, number: usize, socket: Socket) -> Self {
        let begin = shared.begin;
        let slots = vec![Slot { round: 0, begun: begin }; shared.load.in_flight];
        Self {
            shared,
            number,
            socket,
            slots,
            running: 0,
            held: Vec::new(),
            outgoing: VecDeque::new(),
            measured: Measured::default(),
            last: begin,
        }
    }

    /// Drives rounds until there are no more. With what was measured, when the last one ended.
    async fn run(mut self) -> Result<(Measured, Instant), String> {
        for slot in 0..self.slots.len() {
            self.begin(slot);
        }
        poll_fn(|context| self.poll(context)).await?;
        // Whether the gateway takes leave is no part of what is measured.
        let mut socket = self.socket;
        let goodbye = poll_fn(|context| socket.poll_end(context));
        let _ = tokio::time::timeout(Duration::from_secs(1), goodbye).await;
        Ok((self.measured, self.last))
    }

    fn poll(&mut self, context: &mut Context<'_>) -> Poll<Result<(), String>> {
        let mut has_more = true;
        for _ in 0..FRAMES_A_TURN {
            let Poll::Ready(payload) = self.socket.poll_receive(context) else {
                has_more = false;
                break;
            };
            let taken = payload.map_err(|closed| closed.to_string()).and_then(|payload| self.take(&payload));
            if let Err(problem) = taken {
                return Poll::Ready(Err(problem));
            }
        }
        let written = (|| {
            while !self.outgoing.is_empty() && self.socket.poll_ready(context)?.is_ready() {
                if let Some(text) = self.outgoing.pop_front() {
                    self.socket.send(text)?;
                }
            }
            match self.socket.poll_flush(context) {
                Poll::Ready(written) => written,
                Poll::Pending => Ok(()),
            }
        })();
        if let Err(closed) = written {
            return Poll::Ready(Err(closed.to_string()));
        }
        if self.running == 0 {
            return Poll::Ready(Ok(()));
        }
        if has_more || !self.outgoing.is_empty() {
            context.waker().wake_by_ref();
        }
        Poll::Pending
    }

    /// Begins a round, if there is to be another.
    fn begin(&mut self, slot: usize) {
        let now = Instant::now();
        let is_over = self.shared.measured.1.is_some_and(|until| now >= until);
        let take = |left: u64| left.checked_sub(1);
        if is_over || self.shared.left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, take).is_err() {
            return;
        }
        self.running += 1;
        self.slots[slot].round += 1;
        self.slots[slot].begun = now;
        let (round, id) = (self.slots[slot].round, self.id(slot));
        self.outgoing.push_back(format!(
            "{{\"type\":\"req\",\"id\":\"a{slot}.{round}\",\"method\":\"question.request\",\"params\":{{\"id\":\"{id}\",\
             \"questions\":[{{\"questionId\":\"target\",\"header\":\"Deploy\",\
             \"question\":\"Where should this build be deployed?\",\"options\":[\
             {{\"label\":\"Staging (Recommended)\",\"description\":\"Safe to break; only the team sees it.\"}},\
             {{\"label\":\"Production\",\"description\":\"Customers see it at once.\"}}],\"isOther\":true}}],\
             \"timeoutMs\":900000}}}}"
        ));
        self.outgoing.push_back(format!(
            "{{\"type\":\"req\",\"id\":\"w{slot}.{round}\",\"method\":\"question.waitAnswer\",\
             \"params\":{{\"id\":\"{id}\"}}}}"
        ));
    }

    /// Resolves what was held when all that runs is waiting.
    fn release(&mut self) {
        if self.held.len() == self.running {
            for slot in std::mem::take(&mut self.held) {
                self.resolve(slot);
            }
        }
    }

    fn resolve(&mut self, slot: usize) {
        let (round, id) = (self.slots[slot].round, self.id(slot));
        self.outgoing.push_back(format!(
            "{{\"type\":\"req\",\"id\":\"r{slot}.{round}\",\"method\":\"question.resolve\",\"params\":{{\"id\":\"{id}\",\
             \"answers\":{{\"answers\":{{\"target\":[\"Production\"]}}}}}}}}"
        ));
    }

    /// The id of the question that a slot asks now.
    fn id(&self, slot: usize) -> String {
        format!("{}_{}_{slot}_{}", self.shared.run, self.number, self.slots[slot].round)
    }

    fn take(&mut self, payload: &[u8]) -> Result<(), String> {
        let frame: Frame<'_> = serde_json::from_slice(payload).map_err(|error| {
            format!("what came is no frame: {error}: {}", String::from_utf8_lossy(payload))
        })?;
        match (frame.event, frame.id) {
            (Some(event), _) => self.take_event(event, frame.payload),
            (None, Some(id)) => self.take_response(id, &frame),
            (None, None) => Ok(()),
        }
    }

    fn take_event(&mut self, event: &str, payload: Option<&RawValue>) -> Result<(), String> {
        let payload = payload.map_or("null", RawValue::get);
        let wrong = |error: serde_json::Error| format!("{event} cannot be read: {error}: {payload}");
        match event {
            "question.requested" => {
                let asked: Asked<'_> = serde_json::from_str(payload).map_err(wrong)?;
                let is_whole =
                    asked.questions.iter().all(|one| !one.id.is_empty() && !one.question.is_empty());
                if asked.id.is_empty() || asked.expires_at == 0 || !is_whole {
                    return Err(format!("{event} tells nothing: {payload}"));
                }
            }
            "question.resolved" => {
                let ended: Ended<'_> = serde_json::from_str(payload).map_err(wrong)?;
                if ended.id.is_none() || ended.status == "pending" {
                    return Err(format!("{event} tells nothing: {payload}"));
                }
            }
            _ => return Ok(()),
        }
        self.measured.events += 1;
        Ok(())
    }

    fn take_response(&mut self, id: &str, frame: &Frame<'_>) -> Result<(), String> {
        let read = (|| {
            let (kind, rest) = id.split_at_checked(1)?;
            let (slot, round) = rest.split_once('.')?;
            Some((kind, slot.parse::<usize>().ok()?, round.parse::<u64>().ok()?))
        })();
        let Some((kind, slot, round)) = read else { return Ok(()) };
        let is_ok = frame.ok == Some(true);
        if !is_ok {
            self.refused(frame.error.map_or("a refusal without a reason", RawValue::get))?;
        }
        if self.slots.get(slot).is_none_or(|current| current.round != round) {
            return Ok(());
        }
        match kind {
            "a" if is_ok && matches!(self.shared.load.amount, Amount::OneEach) => {
                self.held.push(slot);
                self.release();
            }
            "a" if is_ok => self.resolve(slot),
            "w" => {
                let payload = frame.payload.map_or("null", RawValue::get);
                let is_answered = is_ok
                    && serde_json::from_str::<Ended<'_>>(payload)
                        .is_ok_and(|ended| ended.status == "answered");
                if is_ok && !is_answered {
                    self.refused(payload)?;
                }
                self.end(slot, is_answered);
                self.release();
            }
            _ => {}
        }
        Ok(())
    }

    fn end(&mut self, slot: usize, is_answered: bool) {
        let now = Instant::now();
        let (from, until) = self.shared.measured;
        if is_answered && now >= from && until.is_none_or(|until| now < until) {
            let time = now - self.slots[slot].begun;
            self.measured.times.push(u64::try_from(time.as_nanos()).unwrap_or(u64::MAX));
        }
        self.last = now;
        self.running -= 1;
        self.begin(slot);
    }

    fn refused(&mut self, error: &str) -> Result<(), String> {
        self.measured.errors += 1;
        self.measured.first_error.get_or_insert_with(|| error.to_owned());
        if self.shared.errors.fetch_add(1, Ordering::Relaxed) >= MOST_ERRORS {
            return Err(format!("the gateway refuses too much, such as: {error}"));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_are_of_what_was_measured() {
        let times: Vec<u64> = (1..=100).map(|n| n * 1_000_000).collect();
        let measured = Measured { seconds: 2.0, times, ..Measured::default() };
        assert_eq!([0.5, 0.99, 1.0].map(|share| measured.quantile(share)), [50.0, 99.0, 100.0]);
        assert_eq!(measured.rate(), 50.0);
        assert_eq!(Measured::default().quantile(0.5), 0.0);
        assert_eq!(Measured::default().rate(), 0.0);
    }
}
