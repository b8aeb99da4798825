//! How a client gets in: it is challenged, says who it is, and is welcome or not.

use std::future::poll_fn;

use serde::Deserialize;
use serde_json::{Value, json};
use tokio_websockets::Payload;

use super::Settings;
use super::error::{Closed, ConnectError};
use super::frame::{self, Incoming};
use super::socket::Socket;
use crate::clock::after;

/// The version of the protocol that is spoken here.
const PROTOCOL: u64 = 4;
/// The id of the request that comes first.
const FIRST: u64 = 0;
/// How often a gateway tells the time that does not say how often, in milliseconds.
const USUAL_TICK: u64 = 30_000;

/// What a gateway says of itself, and what we may do.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Hello {
    /// The version of the gateway's program.
    pub server_version: String,
    /// The gateway's name for this connection.
    pub connection: String,
    /// The methods that it has.
    pub methods: Vec<String>,
    /// The events that it sends.
    pub events: Vec<String>,
    /// What it can beyond the protocol, such as [`EXTENSIONS`](super::EXTENSIONS).
    pub capabilities: Vec<String>,
    /// What we may do, of what we asked for.
    pub scopes: Vec<String>,
    /// How often it tells the time, in milliseconds.
    pub tick_interval_ms: u64,
    /// How far its clock is ahead of ours, in milliseconds.
    pub clock_offset_ms: i64,
}

impl Hello {
    /// Whether the gateway can do something beyond the protocol.
    pub fn is_capable_of(&self, capability: &str) -> bool {
        self.capabilities.iter().any(|known| known == capability)
    }
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct WireHello {
    r#type: String,
    protocol: u64,
    #[serde(default)]
    server: WireServer,
    #[serde(default)]
    features: WireFeatures,
    #[serde(default)]
    auth: WireAuth,
    #[serde(default)]
    policy: WirePolicy,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct WireServer {
    version: String,
    conn_id: String,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct WireFeatures {
    methods: Vec<String>,
    events: Vec<String>,
    capabilities: Vec<String>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct WireAuth {
    scopes: Vec<String>,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct WirePolicy {
    tick_interval_ms: Option<u64>,
}

/// Connects, and says who we are.
pub(crate) async fn greet(settings: &Settings) -> Result<(Socket, Hello), ConnectError> {
    tokio::select! {
        biased;
        greeted = greet_in_time(settings) => greeted,
        () = after(&*settings.clock, settings.connect_limit) => {
            Err(ConnectError::TimedOut { url: settings.url.clone(), milliseconds: settings.connect_limit })
        }
    }
}

async fn greet_in_time(settings: &Settings) -> Result<(Socket, Hello), ConnectError> {
    let mut socket = Socket::open(&settings.url).await?;
    let not_a_gateway = |problem: String| ConnectError::NotAGateway { url: settings.url.clone(), problem };
    let challenge = match next(&mut socket).await.map_err(|error| error.into_connect(settings))? {
        Incoming::Event(event) if event.name == "connect.challenge" => event,
        _ => return Err(not_a_gateway("it does not begin with a challenge".into())),
    };
    let challenge: Value = serde_json::from_str(challenge.payload.get()).unwrap_or_default();
    let offset = challenge["ts"].as_u64().map_or(0, |theirs| {
        let difference = i128::from(theirs) - i128::from(settings.clock.now());
        i64::try_from(difference).unwrap_or(0)
    });

    let request = frame::request(FIRST, "connect", &params(settings))
        .map_err(|error| not_a_gateway(format!("we cannot greet it: {error}")))?;
    let sent = async {
        poll_fn(|context| socket.poll_ready(context)).await?;
        socket.send(request)?;
        poll_fn(|context| socket.poll_flush(context)).await
    };
    sent.await.map_err(ConnectError::Closed)?;
    let welcome = loop {
        match next(&mut socket).await.map_err(|error| error.into_connect(settings))? {
            Incoming::Response { id: FIRST, result } => {
                break result.map_err(|refusal| ConnectError::Refused(Box::new(refusal)))?;
            }
            // Nothing that happens concerns us before we are in.
            Incoming::Response { .. } | Incoming::Event(_) | Incoming::Foreign => {}
        }
    };
    let hello: WireHello = serde_json::from_str(welcome.get())
        .map_err(|error| not_a_gateway(format!("its welcome cannot be read: {error}")))?;
    if hello.r#type != "hello-ok" || hello.protocol != PROTOCOL {
        return Err(not_a_gateway(format!(
            "its welcome is {:?} of protocol {}, and ours is \"hello-ok\" of {PROTOCOL}",
            hello.r#type, hello.protocol
        )));
    }
    let hello = Hello {
        server_version: hello.server.version,
        connection: hello.server.conn_id,
        methods: hello.features.methods,
        events: hello.features.events,
        capabilities: hello.features.capabilities,
        scopes: hello.auth.scopes,
        tick_interval_ms: hello.policy.tick_interval_ms.unwrap_or(USUAL_TICK),
        clock_offset_ms: offset,
    };
    Ok((socket, hello))
}

/// Who we are. Without a device, a gateway leaves only these their scopes: programs behind the scenes, on its machine.
fn params(settings: &Settings) -> Value {
    let mut params = json!({
        "minProtocol": PROTOCOL,
        "maxProtocol": PROTOCOL,
        "client": {
            "id": "gateway-client",
            "version": env!("CARGO_PKG_VERSION"),
            "platform": std::env::consts::OS,
            "mode": "backend",
        },
        "role": "operator",
        "scopes": settings.scopes,
        "caps": settings.caps,
    });
    if let Some(token) = &settings.token {
        params["auth"] = json!({ "token": token });
    }
    params
}

/// What came in place of a frame.
enum NoFrame {
    Closed(Closed),
    Garbage(String),
}

impl NoFrame {
    fn into_connect(self, settings: &Settings) -> ConnectError {
        match self {
            Self::Closed(closed) => ConnectError::Closed(closed),
            Self::Garbage(problem) => ConnectError::NotAGateway { url: settings.url.clone(), problem },
        }
    }
}

async fn next(socket: &mut Socket) -> Result<Incoming, NoFrame> {
    let payload = poll_fn(|context| socket.poll_receive(context)).await.map_err(NoFrame::Closed)?;
    frame::read(text(&payload).map_err(NoFrame::Garbage)?).map_err(NoFrame::Garbage)
}

/// A frame is text, whatever WebSocket calls it.
pub(super) fn text(payload: &Payload) -> Result<&str, String> {
    std::str::from_utf8(payload).map_err(|error| format!("it is not UTF-8: {error}"))
}
