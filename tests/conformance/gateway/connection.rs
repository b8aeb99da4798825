//! A client of a replay: it keeps what comes until it is asked for, and has every frame checked.

use std::collections::HashMap;
use std::net::SocketAddr;
use std::time::Duration;

use ask_user_tests::gateway::{Client, Received, TOKEN, connect};
use serde_json::{Value, json};

use super::published;

/// How long anything may take that is about to come. A replay in which it does not differs.
pub(super) const PATIENCE: Duration = Duration::from_secs(10);

pub(super) struct Connection {
    client: Client,
    calls: u64,
    /// The method of each call.
    methods: HashMap<String, String>,
    responses: HashMap<String, Value>,
    events: Vec<Value>,
    /// What came since the last step: `event:<name>`, and the ids of responses.
    log: Vec<String>,
    is_closed: bool,
    /// Where a frame was not as OpenClaw publishes it.
    faults: Vec<String>,
}

impl Connection {
    /// A connection that is let in with these scopes.
    pub(super) async fn open(address: SocketAddr, scopes: &[String]) -> Self {
        let mut connection = Self {
            client: Client::dial(address).await,
            calls: 0,
            methods: HashMap::new(),
            responses: HashMap::new(),
            events: Vec::new(),
            log: Vec::new(),
            is_closed: false,
            faults: Vec::new(),
        };
        let scopes: Vec<&str> = scopes.iter().map(String::as_str).collect();
        let params = connect(TOKEN, &scopes, &[]).to_string();
        let id = connection.send("connect", Some(&params)).await;
        let welcome = connection.response(&id).await;
        assert!(welcome["ok"] == true, "a client of the replay is let in: {welcome}");
        connection.log.clear();
        connection
    }

    /// Sends a request. The parameters are sent as they stand.
    pub(super) async fn send(&mut self, method: &str, params: Option<&str>) -> String {
        self.calls += 1;
        let id = self.calls.to_string();
        let params = params.map(|params| format!(",\"params\":{params}")).unwrap_or_default();
        let text = format!("{{\"type\":\"req\",\"id\":\"{id}\",\"method\":{}{params}}}", json!(method));
        self.is_closed |= !self.client.try_send(text).await;
        self.methods.insert(id.clone(), method.to_owned());
        id
    }

    /// Waits until all that has happened so far has come: of two calls that need nothing to wait for, the second is
    /// answered last, and what happened before is told first.
    pub(super) async fn settle(&mut self) {
        let id = self.send("question.get", None).await;
        self.response(&id).await;
        self.log.retain(|entry| *entry != id);
    }

    /// Whether the response of a call has come.
    pub(super) fn has_response(&self, id: &str) -> bool {
        self.responses.contains_key(id)
    }

    /// The response of a call; null if none comes.
    pub(super) async fn response(&mut self, id: &str) -> Value {
        self.wait(|connection| connection.has_response(id)).await;
        self.responses.remove(id).unwrap_or_default()
    }

    /// Waits until so many events have come, or none comes any more.
    pub(super) async fn await_events(&mut self, count: usize) {
        self.wait(|connection| connection.events.len() >= count).await;
    }

    async fn wait(&mut self, is_over: impl Fn(&Self) -> bool) {
        while !is_over(self) && !self.is_closed {
            match self.client.receive(PATIENCE).await {
                Some(Received::Frame(frame)) => self.take(frame),
                Some(Received::Pong) => {}
                Some(Received::Closed(_)) => self.is_closed = true,
                None => return,
            }
        }
    }

    fn take(&mut self, frame: Value) {
        let id = frame["id"].as_str().map(str::to_owned);
        let method = id.as_ref().and_then(|id| self.methods.get(id));
        self.faults.extend(published::faults(&frame, method.map(String::as_str)));
        if let Some(id) = id {
            self.log.push(id.clone());
            self.responses.insert(id, frame);
        } else if let Some(name) = frame["event"].as_str().filter(|name| name.starts_with("question.")) {
            self.log.push(format!("event:{name}"));
            self.events.push(frame);
        }
    }

    /// The events that came since they were last taken.
    pub(super) fn take_events(&mut self) -> Vec<Value> {
        std::mem::take(&mut self.events)
    }

    /// What came since it was last taken, with the response of this call as `response`.
    pub(super) fn take_log(&mut self, id: &str) -> Vec<Value> {
        let log = std::mem::take(&mut self.log).into_iter();
        log.map(|entry| if entry == id { json!("response") } else { entry.into() }).collect()
    }

    /// Leaves, and says what was wrong with the frames.
    pub(super) async fn leave(self) -> Vec<String> {
        self.client.leave().await;
        self.faults
    }
}
