//! The other side of OpenClaw's Gateway protocol, version 4: a client for any gateway that speaks it.
//!
//! ```no_run
//! # async fn example() -> Result<(), Box<dyn std::error::Error>> {
//! use ask_user_host::client::{Client, Settings};
//!
//! let settings = Settings { token: Some("…".into()), ..Settings::new("ws://127.0.0.1:18790") };
//! let (client, mut events) = Client::connect(settings).await?;
//! for question in client.list(&Default::default()).await?.questions {
//!     println!("{} {}", question.id, question.questions[0].question);
//! }
//! while let Some(event) = events.next().await {
//!     println!("{} {}", event.name, event.payload.get());
//! }
//! # Ok(())
//! # }
//! ```
//!
//! One task owns the connection. It is woken, takes what has come, hands it out, and writes all that is to be said in one
//! go, so that many calls cost few system calls. Responses come in any order.

mod driver;
mod error;
mod frame;
mod handshake;
mod questions;
mod socket;
#[cfg(test)]
mod tests;

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use serde_json::value::RawValue;
use tokio::sync::{mpsc, oneshot, watch};

use crate::clock::{Clock, SystemClock, after};
use driver::{Command, Driver};
pub use error::{CallError, Closed, ConnectError, Refusal};
pub use frame::Event;
pub use handshake::Hello;
#[cfg(feature = "cli")]
pub(crate) use handshake::greet;
#[cfg(not(feature = "cli"))]
use handshake::greet;
pub use questions::{
    Answers, CancelReason, Choice, ListParams, Outcome, Page, Question, QuestionEvent, Record, RequestParams,
    Requested, Status,
};

#[cfg(feature = "cli")]
pub(crate) use socket::Socket;

/// A client that names this gets what OpenClaw does not know, in OpenClaw's own methods and events. Gateways that know
/// it name it among [`Hello::capabilities`].
pub const EXTENSIONS: &str = "ask-user-extensions";

/// How to connect.
#[derive(Clone)]
pub struct Settings {
    /// Where the gateway is, such as `ws://127.0.0.1:18790`.
    pub url: String,
    /// What proves that we may connect. Without any, only a gateway that lets everybody in does.
    pub token: Option<String>,
    /// What we want to be allowed to do. What was granted is in [`Hello::scopes`].
    pub scopes: Vec<String>,
    /// What we can take beyond the protocol, such as [`EXTENSIONS`].
    pub caps: Vec<String>,
    /// How long connecting may take, in milliseconds.
    pub connect_limit: u64,
    /// How long a call may take, in milliseconds. Waiting for an answer has no limit but its own.
    pub call_limit: u64,
    /// What time it is, for these limits.
    pub clock: Arc<dyn Clock>,
}

impl Settings {
    /// The usual settings: all about questions, 15 s to connect, 30 s for a call, the machine's clock.
    pub fn new(url: impl Into<String>) -> Self {
        Self {
            url: url.into(),
            token: None,
            scopes: vec!["operator.questions".into()],
            caps: Vec::new(),
            connect_limit: 15_000,
            call_limit: 30_000,
            clock: Arc::new(SystemClock),
        }
    }
}

impl std::fmt::Debug for Settings {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        // The token is in no log.
        formatter.debug_struct("Settings").field("url", &self.url).finish_non_exhaustive()
    }
}

/// A connection to a gateway. Clones share it; it is closed when the last one is dropped.
#[derive(Clone)]
pub struct Client {
    shared: Arc<Shared>,
}

struct Shared {
    hello: Hello,
    commands: mpsc::UnboundedSender<Command>,
    calls: AtomicU64,
    closed: watch::Receiver<Option<Closed>>,
    clock: Arc<dyn Clock>,
    call_limit: u64,
}

impl std::fmt::Debug for Client {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("Client").field("hello", &self.shared.hello).finish_non_exhaustive()
    }
}

impl Client {
    /// Connects and says who we are. Events that nobody takes are kept without limit until [`Events`] is dropped.
    pub async fn connect(settings: Settings) -> Result<(Self, Events), ConnectError> {
        let (socket, hello) = greet(&settings).await?;
        let (commands, incoming) = mpsc::unbounded_channel();
        let (told, events) = mpsc::unbounded_channel();
        let (close, closed) = watch::channel(None);
        let clock = Arc::clone(&settings.clock);
        let driver = Driver::new(socket, incoming, told, Arc::clone(&clock), hello.tick_interval_ms);
        tokio::spawn(driver.run(close));
        let shared = Shared {
            hello,
            commands,
            calls: AtomicU64::new(1),
            closed,
            clock,
            call_limit: settings.call_limit,
        };
        Ok((Self { shared: Arc::new(shared) }, Events { events }))
    }

    /// What the gateway said of itself, and what we may do.
    pub fn hello(&self) -> &Hello {
        &self.shared.hello
    }

    /// The gateway's time in milliseconds since the Unix epoch, as far as we know it: its clock was read when we connected.
    pub fn gateway_now(&self) -> u64 {
        self.shared.clock.now().saturating_add_signed(self.shared.hello.clock_offset_ms)
    }

    /// Calls a method. Any number of calls may be on their way.
    pub async fn call(&self, method: &str, params: &(impl Serialize + ?Sized)) -> Result<Value, CallError> {
        self.call_as(method, params, Some(self.shared.call_limit)).await
    }

    /// Ready when the connection has ended, with the reason.
    pub async fn closed(&self) -> Closed {
        let mut closed = self.shared.closed.clone();
        match closed.wait_for(Option::is_some).await {
            Ok(closed) => closed.clone().unwrap_or(Closed::Unknown),
            Err(_) => Closed::Unknown,
        }
    }

    /// Calls a method and reads its result. Without a limit it takes as long as it takes.
    async fn call_as<T: DeserializeOwned>(
        &self,
        method: &str,
        params: &(impl Serialize + ?Sized),
        limit: Option<u64>,
    ) -> Result<T, CallError> {
        let payload = self.call_raw(method, params, limit).await?;
        serde_json::from_str(payload.get())
            .map_err(|error| CallError::Unreadable { method: method.to_owned(), problem: error.to_string() })
    }

    async fn call_raw(
        &self,
        method: &str,
        params: &(impl Serialize + ?Sized),
        limit: Option<u64>,
    ) -> Result<Box<RawValue>, CallError> {
        let shared = &self.shared;
        let id = shared.calls.fetch_add(1, Ordering::Relaxed);
        let text = frame::request(id, method, params).map_err(|error| CallError::Unreadable {
            method: method.to_owned(),
            problem: error.to_string(),
        })?;
        let (answer, answered) = oneshot::channel();
        if shared.commands.send(Command { id, text, answer }).is_err() {
            return Err(CallError::Closed(self.closed().await));
        }
        let answered = async {
            match answered.await {
                Ok(answer) => answer,
                Err(_) => Err(CallError::Closed(self.closed().await)),
            }
        };
        let Some(limit) = limit else { return answered.await };
        tokio::select! {
            biased;
            answer = answered => answer,
            () = after(&*shared.clock, limit) => {
                Err(CallError::TimedOut { method: method.to_owned(), milliseconds: limit })
            }
        }
    }
}

/// What happens, in the order in which the gateway told it.
#[derive(Debug)]
pub struct Events {
    events: mpsc::UnboundedReceiver<Event>,
}

impl Events {
    /// The next event; nothing once the connection has ended. [`Client::closed`] tells why.
    pub async fn next(&mut self) -> Option<Event> {
        self.events.recv().await
    }
}

impl futures_util::Stream for Events {
    type Item = Event;

    fn poll_next(
        mut self: std::pin::Pin<&mut Self>,
        context: &mut std::task::Context<'_>,
    ) -> std::task::Poll<Option<Event>> {
        self.events.poll_recv(context)
    }
}
