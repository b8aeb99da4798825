//! One client: what it sends, what it is told, in which order, and when it is let go.
//!
//! All of it is one task that is woken, takes what has come, and writes all it has to say in one go. A call is carried
//! out at once if it can be; only what has to wait becomes a future of its own. Events are put before the response that
//! is written next, so that a client learns of a question before the response to its request.

use std::collections::VecDeque;
use std::future::poll_fn;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use futures_util::stream::{FuturesUnordered, Stream};
use tokio_util::sync::WaitForCancellationFutureOwned;

use super::handshake::{self, Admitted};
use super::methods::{Caller, End, Order};
use super::metrics::Counted;
use super::order::{Change, Unfinished};
use super::protocol::connect::{BUFFER_LIMIT, FRAME_LIMIT};
use super::protocol::error::CallError;
use super::protocol::frame::{self, Incoming, Request, to_json};
use super::wire::{Close, Frame, Wire};
use super::{Authentication, Shared};
use crate::clock::Until;
use crate::contract::RecordForm;
use crate::ids::{NoRandomness, random};
use crate::questions::{Event, Subscription, Written};

/// Events that a client may be sent.
pub(super) const EVENTS: [&str; 4] = ["connect.challenge", "tick", "question.requested", "question.resolved"];

/// How long a client may take to say who it is, in milliseconds.
const HANDSHAKE_LIMIT: u64 = 15_000;
/// How long a client may take to close, in milliseconds.
const CLOSE_LIMIT: u64 = 5_000;
/// Calls of one client that may wait at the same time.
const CALLS_LIMIT: usize = 16_384;
/// Frames that are taken before others get a turn.
const FRAMES_A_TURN: usize = 128;
/// Bytes that may wait for a client before nothing more is taken from it.
const PAUSE_READING: usize = 1 << 20;

/// Serves one client until it leaves, is let go, or the gateway ends.
pub(super) async fn serve(mut wire: impl Wire, gateway: Arc<Shared>, authentication: Authentication) {
    let counted = gateway.metrics.connected();
    let Some(mut connection) = Connection::begin(Arc::clone(&gateway), authentication, counted) else {
        return;
    };
    let id = Arc::clone(&connection.id);
    let close = poll_fn(|context| connection.poll(&mut wire, context)).await;
    drop(connection);
    tracing::debug!(connection = %id, code = close.code, reason = %close.reason, "a connection ends");
    wire.close(&close);
    tokio::select! {
        () = poll_fn(|context| wire.poll_end(context)) => {}
        () = gateway.after(CLOSE_LIMIT) => {}
    }
}

struct Connection {
    gateway: Arc<Shared>,
    id: Arc<str>,
    stage: Stage,
    outbox: Outbox,
    ticks: Option<tokio_stream::wrappers::WatchStream<u64>>,
    ending: Pin<Box<WaitForCancellationFutureOwned>>,
    is_ending: bool,
    _counted: Counted,
}

/// How far a client has come.
enum Stage {
    /// It has to say who it is.
    Greeting { nonce: String, authentication: Authentication, limit: Until<'static> },
    /// It is in.
    Open(Box<Open>),
    /// Nothing is taken from it any more; it is told what is left, and let go.
    Closing(Close),
}

struct Open {
    caller: Arc<Caller>,
    events: Option<Subscription>,
    calls: FuturesUnordered<InFlight>,
    unfinished: Unfinished,
    /// How many events were sent.
    seq: u64,
    /// Whether events were missed.
    is_behind: bool,
}

/// What waits to be written.
#[derive(Default)]
struct Outbox {
    texts: VecDeque<String>,
    bytes: usize,
}

impl Outbox {
    fn push(&mut self, text: String) {
        self.bytes += text.len();
        self.texts.push_back(text);
    }

    /// Writes what it can. Ready when nothing is left.
    fn poll_write(
        &mut self,
        wire: &mut impl Wire,
        context: &mut Context<'_>,
    ) -> Poll<Result<(), super::wire::Gone>> {
        while !self.texts.is_empty() {
            ready!(wire.poll_ready(context))?;
            if let Some(text) = self.texts.pop_front() {
                self.bytes -= text.len();
                wire.send(text)?;
            }
        }
        wire.poll_flush(context)
    }
}

impl Connection {
    /// Greets a client with a challenge. Nothing where no challenge can be made.
    fn begin(gateway: Arc<Shared>, authentication: Authentication, counted: Counted) -> Option<Self> {
        let [nonce, id] = [(); 2].map(|()| random_id());
        let (Ok(nonce), Ok(id)) = (nonce, id) else {
            tracing::error!("the system gives no random numbers; a connection is refused");
            return None;
        };
        let mut outbox = Outbox::default();
        outbox.push(frame::uncounted_event("connect.challenge", &handshake::challenge(&gateway, &nonce)));
        let limit = gateway.after(HANDSHAKE_LIMIT);
        let ending = Box::pin(gateway.ending.clone().cancelled_owned());
        Some(Self {
            id: id.into(),
            stage: Stage::Greeting { nonce, authentication, limit },
            outbox,
            ticks: None,
            ending,
            is_ending: false,
            gateway,
            _counted: counted,
        })
    }

    /// Does all that can be done now. Ready when the connection is to be closed.
    fn poll(&mut self, wire: &mut impl Wire, context: &mut Context<'_>) -> Poll<Close> {
        if !self.is_ending && self.ending.as_mut().poll(context).is_ready() {
            self.is_ending = true;
        }
        if let Stage::Greeting { limit, .. } = &mut self.stage
            && limit.as_mut().poll(context).is_ready()
        {
            self.stage = Stage::Closing(Close::policy("handshake timeout"));
        }
        self.take_results(context);
        let has_more = self.take_frames(wire, context);
        // What has begun to wait is asked once, so that it can wake this task.
        self.take_results(context);
        self.take_events(context);
        self.take_ticks(context);

        let is_written = match self.outbox.poll_write(wire, context) {
            Poll::Ready(Ok(())) => true,
            Poll::Ready(Err(_)) => return Poll::Ready(Close::normal()),
            Poll::Pending => false,
        };
        if self.outbox.bytes > BUFFER_LIMIT {
            tracing::warn!(connection = %self.id, "a client does not read what it is sent; it is let go");
            return Poll::Ready(Close::policy("slow consumer"));
        }
        match &self.stage {
            Stage::Closing(close) if is_written => return Poll::Ready(close.clone()),
            Stage::Greeting { .. } if self.is_ending => return Poll::Ready(Close::restart()),
            Stage::Open(open) if self.is_ending && open.calls.is_empty() && is_written => {
                return Poll::Ready(Close::restart());
            }
            _ => {}
        }
        if has_more && self.outbox.bytes <= PAUSE_READING {
            context.waker().wake_by_ref();
        }
        Poll::Pending
    }

    /// Takes frames. Whether more may have come, or will be taken when less waits to be written.
    fn take_frames(&mut self, wire: &mut impl Wire, context: &mut Context<'_>) -> bool {
        for _ in 0..FRAMES_A_TURN {
            if self.is_ending || matches!(self.stage, Stage::Closing(_)) {
                return false;
            }
            if self.outbox.bytes > PAUSE_READING {
                return true;
            }
            match wire.poll_receive(context) {
                Poll::Pending => return false,
                Poll::Ready(None) => {
                    self.stage = Stage::Closing(Close::normal());
                    return false;
                }
                Poll::Ready(Some(frame)) => self.take(&frame, wire, context),
            }
        }
        true
    }

    fn take(&mut self, frame: &Frame, wire: &mut impl Wire, context: &mut Context<'_>) {
        let incoming = frame::read(frame.as_ref());
        match &mut self.stage {
            Stage::Greeting { .. } => self.greet(incoming, wire),
            Stage::Open(open) => open.take(incoming, &mut self.outbox, context),
            Stage::Closing(_) => {}
        }
    }

    fn greet(&mut self, incoming: Incoming<'_>, wire: &mut impl Wire) {
        let Stage::Greeting { nonce, authentication, .. } = &self.stage else { return };
        let request = match incoming {
            Incoming::NotJson => {
                self.stage = Stage::Closing(Close::normal());
                return;
            }
            Incoming::NotARequest { .. } => {
                self.stage = Stage::Closing(Close::policy("invalid request frame"));
                return;
            }
            Incoming::Request(request) => request,
        };
        match handshake::admit(&self.gateway, &self.id, nonce, *authentication, &request) {
            Ok(admitted) => {
                wire.raise_limit(FRAME_LIMIT);
                self.outbox.push(frame::response(&request.id, Ok(&admitted.hello)));
                tracing::info!(
                    connection = %self.id,
                    tenant = %admitted.principal.tenant,
                    subject = %admitted.principal.subject,
                    "a client is connected",
                );
                self.ticks =
                    Some(tokio_stream::wrappers::WatchStream::from_changes(self.gateway.ticks.subscribe()));
                self.stage = Stage::Open(Box::new(Open::new(&self.gateway, admitted)));
            }
            Err(refused) => {
                self.gateway.metrics.refused(&refused.error);
                self.outbox.push(frame::response(&request.id, Err(&refused.error)));
                self.stage = Stage::Closing(refused.close);
            }
        }
    }

    fn take_results(&mut self, context: &mut Context<'_>) {
        if let Stage::Open(open) = &mut self.stage {
            while let Poll::Ready(Some(done)) = Pin::new(&mut open.calls).poll_next(context) {
                open.respond(&done, &mut self.outbox);
            }
        }
    }

    fn take_events(&mut self, context: &mut Context<'_>) {
        let Stage::Open(open) = &mut self.stage else { return };
        let close = loop {
            let Some(events) = &mut open.events else { return };
            match events.poll_next(context) {
                Poll::Ready(Some((event, written))) => open.tell(&event, &written, &mut self.outbox),
                Poll::Ready(None) => break Close::restart(),
                Poll::Pending if open.is_behind => break Close::policy("slow consumer"),
                Poll::Pending => return,
            }
        };
        self.stage = Stage::Closing(close);
    }

    fn take_ticks(&mut self, context: &mut Context<'_>) {
        let Some(ticks) = &mut self.ticks else { return };
        while let Poll::Ready(Some(now)) = Pin::new(&mut *ticks).poll_next(context) {
            let payload = format!("{{\"ts\":{now}}}");
            if let Stage::Open(open) = &mut self.stage {
                open.seq += 1;
                self.outbox.push(frame::event(&frame::event_head("tick", &payload), open.seq));
            }
        }
    }
}

impl Open {
    fn new(gateway: &Arc<Shared>, admitted: Admitted) -> Self {
        let sees_questions = admitted.granted.may_question();
        let events = sees_questions.then(|| gateway.host.subscribe(admitted.principal.clone()));
        let caller = Caller {
            gateway: Arc::clone(gateway),
            principal: admitted.principal,
            granted: admitted.granted,
            is_extended: admitted.is_extended,
        };
        Self {
            caller: Arc::new(caller),
            events,
            calls: FuturesUnordered::new(),
            unfinished: Unfinished::default(),
            seq: 0,
            is_behind: false,
        }
    }

    fn take(&mut self, incoming: Incoming<'_>, outbox: &mut Outbox, context: &mut Context<'_>) {
        match incoming {
            Incoming::NotJson => {}
            Incoming::NotARequest { id, problem } => {
                let error = CallError::invalid(format!("invalid request frame: {problem}"));
                self.respond(&Done { id, result: Err(error), change: None }, outbox);
            }
            Incoming::Request(request) => self.call(&request, outbox, context),
        }
    }

    fn call(&mut self, request: &Request<'_>, outbox: &mut Outbox, context: &mut Context<'_>) {
        let id = request.id.to_string();
        let call = if self.calls.len() >= CALLS_LIMIT {
            Err(CallError::unavailable("too many calls are waiting on this connection"))
        } else if request.expects_profile {
            Err(CallError::expected_profile())
        } else {
            self.caller.read(&request.method, &request.params)
        };
        let call = match call {
            Ok(call) => call,
            Err(error) => return self.respond(&Done { id, result: Err(error), change: None }, outbox),
        };
        let order = call.order();
        let before = self.unfinished.before(&order);
        let changes = match order {
            Order::Changes(id) => Some(id.map(str::to_owned)),
            _ => None,
        };
        let caller = Arc::clone(&self.caller);
        let mut work = Box::pin(async move {
            for change in before {
                change.cancelled().await;
            }
            caller.carry_out(call).await
        });
        match work.as_mut().poll(context) {
            Poll::Ready(result) => self.respond(&Done { id, result, change: None }, outbox),
            Poll::Pending => {
                let change = changes.map(|id| self.unfinished.begin(id));
                self.calls.push(InFlight { id, change, work });
            }
        }
    }

    /// Writes a response, after all that has happened before it.
    fn respond(&mut self, done: &Done, outbox: &mut Outbox) {
        if let Some(change) = &done.change {
            self.unfinished.end(change);
        }
        while let Some((event, written)) = self.events.as_mut().and_then(Subscription::try_next_written) {
            self.tell(&event, &written, outbox);
        }
        if let Err(error) = &done.result {
            self.caller.gateway.metrics.refused(error);
        }
        outbox.push(frame::response(&done.id, done.result.as_deref()));
    }

    /// Writes an event. Those who are told the same share most of its text.
    fn tell(&mut self, event: &Event, written: &Written, outbox: &mut Outbox) {
        self.is_behind |= matches!(event, Event::Missed(_));
        let caller = &self.caller;
        let head = match written.get() {
            Some(head) if !caller.is_extended => Some(Arc::clone(head)),
            _ => write_event(caller, event),
        };
        let Some(head) = head else { return };
        self.seq += 1;
        outbox.push(frame::event(&head, self.seq));
        if !caller.is_extended {
            // Another may have been faster, with the same.
            let _ = written.set(head);
        }
    }
}

fn write_event(caller: &Caller, event: &Event) -> Option<Arc<str>> {
    let head = match event {
        Event::Requested(prompt) => {
            let form = if caller.is_extended { RecordForm::Extended } else { RecordForm::Openclaw };
            match caller.plugin().record(prompt, form, prompt.created_at) {
                Ok(record) => frame::event_head("question.requested", &record),
                Err(error) => {
                    tracing::error!(%error, "a question could not be announced");
                    return None;
                }
            }
        }
        Event::Resolved(prompt) => {
            let end = to_json(&End::told(prompt, caller.is_extended));
            frame::event_head("question.resolved", &end)
        }
        Event::Missed(_) => return None,
    };
    Some(head.into())
}

/// A call that is done.
struct Done {
    /// As JSON text.
    id: String,
    result: Result<String, CallError>,
    change: Option<Change>,
}

/// A call that waits.
struct InFlight {
    id: String,
    change: Option<Change>,
    work: Pin<Box<dyn Future<Output = Result<String, CallError>> + Send>>,
}

impl Future for InFlight {
    type Output = Done;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Done> {
        let result = ready!(self.work.as_mut().poll(context));
        Poll::Ready(Done { id: std::mem::take(&mut self.id), result, change: self.change.take() })
    }
}

fn random_id() -> Result<String, NoRandomness> {
    Ok(format!("{:032x}", random()?))
}
