//! A gateway on a clock that stands still, and clients that speak its frames.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use ask_user_host::channels::{ChannelService, Channels};
use ask_user_host::clock::{Clock, ManualClock};
use ask_user_host::gateway::{Authority, Compatibility, Gateway, Holder, Settings};
use ask_user_host::ids::SequentialIds;
use ask_user_host::store::{ChannelStore, MemoryStore};
use ask_user_host::{AskUser, TenantId};
use futures_util::{SinkExt, StreamExt};
use serde_json::{Value, json};
use tokio::net::TcpStream;
use tokio::time::timeout;
use tokio_websockets::{ClientBuilder, Limits, MaybeTlsStream, Message, WebSocketStream};

use super::program::PATIENCE;
use super::world::{START, plugin};

/// The token of somebody who may do everything.
pub const TOKEN: &str = "a token that nobody guesses";

/// A gateway, the host behind it, and the clock both go by.
pub struct Served {
    /// The gateway.
    pub gateway: Gateway,
    /// The host.
    pub host: AskUser,
    /// The clock, which stands still until it is moved.
    pub clock: Arc<ManualClock>,
}

impl Served {
    /// A gateway as it comes.
    pub async fn new() -> Self {
        Self::with(Compatibility::Better, Authority::single_token(TOKEN)).await
    }

    /// A gateway with this profile, for these clients.
    pub async fn with(compatibility: Compatibility, authority: Authority) -> Self {
        Self::on(Arc::new(MemoryStore::default()), compatibility, authority).await
    }

    /// A gateway on a store.
    pub async fn on(
        store: Arc<dyn ChannelStore>,
        compatibility: Compatibility,
        authority: Authority,
    ) -> Self {
        let clock = Arc::new(ManualClock::new(START));
        let settings = Settings { authority, compatibility, ..Settings::default() };
        let (gateway, host) = start(store, clock.clone(), settings).await;
        Self { gateway, host, clock }
    }

    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.gateway.local_addr()
    }

    /// A client with these scopes.
    pub async fn client(&self, scopes: &[&str]) -> Client {
        Client::open(self.address()).await.welcomed(&connect(TOKEN, scopes, &[])).await
    }

    /// A client that also wants what OpenClaw does not know.
    pub async fn extended_client(&self, scopes: &[&str]) -> Client {
        let params = connect(TOKEN, scopes, &["ask-user-extensions"]);
        Client::open(self.address()).await.welcomed(&params).await
    }

    /// The text of a page.
    pub async fn page(&self, path: &str) -> (u16, String) {
        page(self.address(), path).await
    }
}

/// A gateway on a free port and the host behind it, with the bundled plugin and whatever else the settings say.
pub async fn start(
    store: Arc<dyn ChannelStore>,
    clock: Arc<dyn Clock>,
    settings: Settings,
) -> (Gateway, AskUser) {
    let builder = AskUser::builder()
        .plugin(plugin())
        .clock(clock)
        .ids(SequentialIds::default())
        .shared_store(store.clone())
        .observer(settings.metrics.clone());
    let host = settings.compatibility.apply(builder).start().expect("the host starts");
    let channels = Channels::of(plugin().channel().clone()).expect("the plugin names its channels");
    let channels = Some(ChannelService::new(host.clone(), channels, store));
    let settings = Settings { listen: SocketAddr::from(([127, 0, 0, 1], 0)), channels, ..settings };
    let gateway = Gateway::bind(host.clone(), settings).await.expect("the gateway listens");
    (gateway, host)
}

/// The status and the text of a page, asked for in the simplest way there is.
pub async fn page(address: SocketAddr, path: &str) -> (u16, String) {
    use tokio::io::{AsyncReadExt, AsyncWriteExt};
    let mut stream = TcpStream::connect(address).await.expect("the gateway listens");
    let request = format!("GET {path} HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n\r\n");
    stream.write_all(request.as_bytes()).await.expect("it reads");
    let mut response = String::new();
    stream.read_to_string(&mut response).await.expect("it answers");
    let (head, body) = response.split_once("\r\n\r\n").expect("a head and a body");
    let status = head.split(' ').nth(1).and_then(|status| status.parse().ok());
    (status.expect("a status"), body.to_owned())
}

/// Lets the holder of a token in.
pub fn admit(authority: &mut Authority, token: &str, tenant: &str, subject: &str, scopes: &[&str]) {
    let tenant = TenantId::new(tenant).expect("a tenant's name");
    let scopes = scopes.iter().map(|scope| (*scope).into()).collect();
    assert!(authority.admit(token, Holder { tenant, subject: subject.into(), scopes }));
}

/// What a program beside the gateway says of itself.
pub fn connect(token: &str, scopes: &[&str], caps: &[&str]) -> Value {
    json!({
        "minProtocol": 4,
        "maxProtocol": 4,
        "client": { "id": "gateway-client", "version": "1.0.0", "platform": "linux", "mode": "backend" },
        "role": "operator",
        "scopes": scopes,
        "caps": caps,
        "auth": { "token": token },
    })
}

/// What came to a client.
#[derive(Clone, Debug, PartialEq)]
pub enum Received {
    /// A frame.
    Frame(Value),
    /// The answer to a ping.
    Pong,
    /// The end, with its code; 1006 where the connection was cut off.
    Closed(u16),
}

/// A client that speaks frames, and knows nothing of what they mean.
pub struct Client {
    socket: WebSocketStream<MaybeTlsStream<TcpStream>>,
    /// What the gateway greeted with.
    pub challenge: Value,
    /// What it was told when it was let in.
    pub hello: Value,
    events: Vec<Value>,
    responses: Vec<Value>,
    calls: u64,
}

impl Client {
    /// A connection that was greeted.
    pub async fn open(address: SocketAddr) -> Self {
        let mut client = Self::dial(address).await;
        client.challenge = client.frame().await.expect("a greeting")["payload"].take();
        client
    }

    /// A connection of which nothing was read yet.
    pub async fn dial(address: SocketAddr) -> Self {
        let uri = format!("ws://{address}/").parse().expect("an address");
        let limits = Limits::unlimited();
        let (socket, _) = ClientBuilder::from_uri(uri).limits(limits).connect().await.expect("it is taken");
        let (challenge, hello) = (Value::Null, Value::Null);
        Self { socket, challenge, hello, events: Vec::new(), responses: Vec::new(), calls: 0 }
    }

    /// Says who it is, and is welcome.
    pub async fn welcomed(mut self, params: &Value) -> Self {
        self.hello = self.call("connect", params).await.expect("it is welcome");
        self
    }

    /// Sends a text as it is.
    pub async fn send(&mut self, text: impl Into<String>) {
        self.socket.send(Message::text(text.into())).await.expect("it is open");
    }

    /// Sends a text, and does not mind whether anybody takes it.
    pub async fn try_send(&mut self, text: impl Into<String>) -> bool {
        self.socket.send(Message::text(text.into())).await.is_ok()
    }

    /// Sends a text in a binary frame, and does not mind whether anybody takes it.
    pub async fn try_send_binary(&mut self, text: impl Into<String>) -> bool {
        self.socket.send(Message::binary(text.into().into_bytes())).await.is_ok()
    }

    /// Sends a ping, and does not mind whether anybody takes it.
    pub async fn try_ping(&mut self) -> bool {
        self.socket.send(Message::ping("ping")).await.is_ok()
    }

    /// What comes next, unless nothing does for so long.
    pub async fn receive(&mut self, within: Duration) -> Option<Received> {
        let received = timeout(within, async {
            loop {
                let Some(Ok(message)) = self.socket.next().await else { return Received::Closed(1006) };
                if let Some(text) = message.as_text() {
                    return Received::Frame(serde_json::from_str(text).expect("a frame is JSON"));
                }
                if let Some((code, _)) = message.as_close() {
                    return Received::Closed(code.into());
                }
                if message.is_pong() {
                    return Received::Pong;
                }
            }
        });
        received.await.ok()
    }

    /// Leaves, and waits until the other end has heard of it.
    pub async fn leave(mut self) {
        let _ = timeout(PATIENCE, async {
            let _ = self.socket.close().await;
            while let Some(Ok(_)) = self.socket.next().await {}
        })
        .await;
    }

    /// Sends a request, and gives its id.
    pub async fn begin(&mut self, method: &str, params: &Value) -> String {
        self.calls += 1;
        let id = self.calls.to_string();
        self.send(json!({ "type": "req", "id": id, "method": method, "params": params }).to_string()).await;
        id
    }

    /// The next frame; nothing once the connection is closed.
    ///
    /// # Panics
    ///
    /// Nothing comes for as long as anything may take.
    pub async fn frame(&mut self) -> Option<Value> {
        loop {
            let message = timeout(PATIENCE, self.socket.next()).await.expect("something comes");
            match message {
                Some(Ok(message)) => match message.as_text() {
                    Some(text) => return Some(serde_json::from_str(text).expect("a frame is JSON")),
                    None if message.is_close() => return None,
                    None => {}
                },
                Some(Err(_)) | None => return None,
            }
        }
    }

    /// The code that the connection is closed with; frames before that are dropped.
    pub async fn closed(&mut self) -> u16 {
        loop {
            let message = timeout(PATIENCE, self.socket.next()).await.expect("something comes");
            match message {
                Some(Ok(message)) => {
                    if let Some(code) = message.as_close().map(|(code, _)| code.into()) {
                        // Whoever is told goodbye says so too.
                        let _ = timeout(PATIENCE, self.socket.next()).await;
                        return code;
                    }
                }
                // Not closed, but cut off.
                Some(Err(_)) | None => return 1006,
            }
        }
    }

    /// Waits for a response. What comes before it is kept.
    pub async fn end(&mut self, id: &str) -> Result<Value, Value> {
        loop {
            if let Some(place) = self.responses.iter().position(|response| response["id"] == id) {
                let mut response = self.responses.swap_remove(place);
                let is_ok = response["ok"] == true;
                return if is_ok { Ok(response["payload"].take()) } else { Err(response["error"].take()) };
            }
            let frame = self.frame().await.expect("the connection is open");
            self.keep(frame);
        }
    }

    fn keep(&mut self, frame: Value) {
        if frame["type"] == "event" { self.events.push(frame) } else { self.responses.push(frame) }
    }

    /// Calls, and waits for the response.
    pub async fn call(&mut self, method: &str, params: &Value) -> Result<Value, Value> {
        let id = self.begin(method, params).await;
        self.end(&id).await
    }

    /// The next event of this name, of those that came or will come. Other events before it are dropped.
    pub async fn event(&mut self, name: &str) -> Value {
        loop {
            while self.events.is_empty() {
                let frame = self.frame().await.expect("the connection is open");
                self.keep(frame);
            }
            let mut event = self.events.remove(0);
            if event["event"] == name {
                return event["payload"].take();
            }
        }
    }

    /// The names of the events that came before the responses that were waited for.
    pub fn events_so_far(&self) -> Vec<&str> {
        self.events.iter().filter_map(|event| event["event"].as_str()).collect()
    }
}

/// A question for `question.request`.
pub fn wire_question(id: &str, labels: &[&str]) -> Value {
    let options: Vec<_> = labels.iter().map(|label| json!({ "label": label })).collect();
    json!({
        "questionId": id, "header": id, "question": format!("Which {id}?"), "options": options, "isOther": true,
    })
}

/// The parameters of `question.request` with one question.
pub fn one_wire_question(labels: &[&str]) -> Value {
    json!({ "questions": [wire_question("target", labels)] })
}

/// The parameters of `question.resolve` that answer it.
pub fn wire_answer(id: &Value, value: &str) -> Value {
    json!({ "id": id, "answers": { "answers": { "target": [value] } } })
}
