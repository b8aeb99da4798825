//! A gateway that OpenClaw's clients talk to: its protocol, version 4, over WebSocket and over standard input and
//! output, with the methods `question.*` and a host's own `askUser.*`.
//!
//! ```no_run
//! # #[cfg(feature = "bundled-plugin")]
//! # async fn start() -> Result<(), Box<dyn std::error::Error>> {
//! use ask_user_host::AskUser;
//! use ask_user_host::gateway::{Authority, Gateway, Settings};
//!
//! let host = AskUser::builder().start()?;
//! let authority = Authority::single_token("a long secret that nobody guesses");
//! let gateway = Gateway::bind(host, Settings { authority, ..Settings::default() }).await?;
//! println!("ws://{}", gateway.local_addr());
//! # gateway.shutdown().await;
//! # Ok(())
//! # }
//! ```

mod authority;
mod connection;
mod handshake;
mod http;
mod methods;
mod metrics;
mod order;
pub mod protocol;
mod routing;
mod runs;
mod wire;

pub use authority::{Authority, Holder, SHORTEST_TOKEN, fresh_token};
pub use metrics::Metrics;

use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpListener;
use tokio::sync::watch;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::channels::ChannelService;
use crate::clock::{Until, alarm};
use crate::contract::{CredentialPolicy, Policy, RepeatPolicy, Timestamp};
use crate::questions::{AskUser, AskUserBuilder, Attribution};
use protocol::connect::TICK_EVERY;
use routing::Agents;
use runs::Runs;

/// The port that a gateway listens on unless told otherwise.
pub const DEFAULT_PORT: u16 = 18_790;

/// Whether the gateway is as OpenClaw's, or better.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Compatibility {
    /// Better in what rulings 17, 18, 24, 25 and 27 say.
    #[default]
    Better,
    /// As OpenClaw 2026.9.6 is: those rulings are off, and what it does not know is refused to clients that have not
    /// asked for it.
    Openclaw,
}

impl Compatibility {
    /// How long OpenClaw keeps a question that has ended.
    const OPENCLAW_RETENTION: Duration = Duration::from_secs(15);

    /// What is done about credentials, long answers and repeats.
    pub fn policy(self) -> Policy {
        match self {
            Self::Better => Policy::default(),
            Self::Openclaw => Policy {
                credentials: CredentialPolicy::Accept,
                own_text_limit: None,
                repeats: RepeatPolicy::Refuse,
            },
        }
    }

    /// Sets a host up for this. What is set on the builder afterwards wins.
    pub fn apply(self, builder: AskUserBuilder) -> AskUserBuilder {
        match self {
            Self::Better => builder,
            Self::Openclaw => builder
                .policy(self.policy())
                .retention(Self::OPENCLAW_RETENTION)
                .attribution(Attribution::AsNamed),
        }
    }
}

/// How a gateway is set up.
#[derive(Clone, Debug)]
pub struct Settings {
    /// Where it listens. Port 0 takes a free one.
    pub listen: SocketAddr,
    /// Who may connect.
    pub authority: Authority,
    /// Whether it is as OpenClaw's. The host has to be set up with [`Compatibility::apply`] as well.
    pub compatibility: Compatibility,
    /// The agent that a session key without one belongs to.
    pub default_agent: String,
    /// All agents; whatever is named where nobody has listed them.
    pub agents: Option<Vec<String>>,
    /// What is measured. The host has to be given the same as its observer.
    pub metrics: Metrics,
    /// The channels that adapters of messaging services are offered, of the same host. None unless given.
    pub channels: Option<ChannelService>,
    /// How long calls may take to end when the gateway is shut down.
    pub grace: Duration,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            listen: SocketAddr::from((Ipv4Addr::LOCALHOST, DEFAULT_PORT)),
            authority: Authority::default(),
            compatibility: Compatibility::default(),
            default_agent: "main".into(),
            agents: None,
            metrics: Metrics::default(),
            channels: None,
            grace: Duration::from_secs(5),
        }
    }
}

/// How a client proves that it may connect.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Authentication {
    /// With a token.
    Token,
    /// It started this process, and is its authority.
    Parent,
}

/// What all connections share.
struct Shared {
    host: AskUser,
    authority: Authority,
    parent: Holder,
    compatibility: Compatibility,
    agents: Agents,
    runs: Runs,
    channels: Option<ChannelService>,
    metrics: Metrics,
    started: Timestamp,
    ticks: watch::Sender<Timestamp>,
    ending: CancellationToken,
}

impl Shared {
    fn now(&self) -> Timestamp {
        self.host.clock().now()
    }

    fn is_compatible(&self) -> bool {
        self.compatibility == Compatibility::Openclaw
    }

    /// Ready when so many milliseconds have passed.
    fn after(&self, milliseconds: u64) -> Until<'static> {
        alarm(self.host.clock(), milliseconds)
    }

    /// Tells everybody the time, again and again.
    async fn tick(self: Arc<Self>) {
        loop {
            tokio::select! {
                () = self.after(TICK_EVERY) => {}
                () = self.ending.cancelled() => return,
            }
            self.ticks.send_replace(self.now());
        }
    }
}

/// A gateway that serves.
pub struct Gateway {
    shared: Arc<Shared>,
    address: SocketAddr,
    connections: TaskTracker,
    server: JoinHandle<io::Result<()>>,
    grace: Duration,
}

impl std::fmt::Debug for Gateway {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("Gateway").field("address", &self.address).finish_non_exhaustive()
    }
}

impl Gateway {
    /// Listens, and serves until it is shut down.
    pub async fn bind(host: AskUser, settings: Settings) -> io::Result<Self> {
        if settings.authority.is_empty() {
            let nobody = "a gateway that listens needs a token, or nobody can connect";
            return Err(io::Error::new(io::ErrorKind::InvalidInput, nobody));
        }
        let listener = TcpListener::bind(settings.listen).await?;
        let address = listener.local_addr()?;
        let grace = settings.grace;
        let shared = shared(host, settings);
        let connections = TaskTracker::new();
        tokio::spawn(Arc::clone(&shared).tick());
        let server = tokio::spawn(http::serve(listener, Arc::clone(&shared), connections.clone()));
        Ok(Self { shared, address, connections, server, grace })
    }

    /// Where it listens.
    pub fn local_addr(&self) -> SocketAddr {
        self.address
    }

    /// Takes no more clients and no more calls, lets what is being written be written, tells those who wait that
    /// nothing is decided, and closes.
    pub async fn shutdown(self) {
        self.shared.ending.cancel();
        self.connections.close();
        let grace = u64::try_from(self.grace.as_millis()).unwrap_or(u64::MAX);
        tokio::select! {
            () = self.connections.wait() => {}
            () = self.shared.after(grace) => tracing::warn!("some clients did not let go in time"),
        }
        self.server.abort();
    }
}

/// Serves the one client that started this process, over its standard input and output, until it closes them or
/// `ending` fires.
pub async fn serve_lines(
    host: AskUser,
    settings: Settings,
    reader: impl AsyncRead + Unpin + Send,
    writer: impl AsyncWrite + Unpin + Send,
    ending: CancellationToken,
) {
    let shared = shared(host, settings);
    let ticking = tokio::spawn(Arc::clone(&shared).tick());
    let serving =
        connection::serve(wire::Lines::new(reader, writer), Arc::clone(&shared), Authentication::Parent);
    tokio::pin!(serving);
    tokio::select! {
        () = &mut serving => {}
        () = ending.cancelled() => {
            shared.ending.cancel();
            serving.await;
        }
    }
    ticking.abort();
}

fn shared(host: AskUser, settings: Settings) -> Arc<Shared> {
    let now = host.clock().now();
    Arc::new(Shared {
        host,
        authority: settings.authority,
        parent: Holder::administrator("parent"),
        compatibility: settings.compatibility,
        agents: Agents { default: settings.default_agent, known: settings.agents },
        runs: Runs::default(),
        channels: settings.channels,
        metrics: settings.metrics,
        started: now,
        ticks: watch::Sender::new(now),
        ending: CancellationToken::new(),
    })
}
