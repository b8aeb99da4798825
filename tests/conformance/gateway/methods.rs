//! Replays what clients call.

use std::collections::HashMap;

use ask_user_host::gateway::Compatibility;
use serde_json::{Map, Value, json};

use super::Replay;
use super::connection::Connection;
use super::notation::Notation;
use super::scenario::{Call, Step, in_order, sort, without_message};
use super::server::{Pace, Server};

struct Stage<'s> {
    server: Server,
    scopes: &'s [(String, Vec<String>)],
    /// In the order of the scenario.
    connections: Vec<(&'s str, Connection)>,
    notation: Notation,
    /// When records run out.
    deadlines: HashMap<String, u64>,
    waiting: HashMap<&'s str, Waiting<'s>>,
    faults: Vec<String>,
}

/// A call without a response.
struct Waiting<'s> {
    by: &'s str,
    id: String,
    /// For how long it waits, in milliseconds.
    limit: Option<u64>,
}

/// Replays steps. What was recorded says only for how many events to wait.
pub(super) async fn replay(
    scopes: &[(String, Vec<String>)],
    steps: &[Step],
    recorded: &Value,
    profile: Compatibility,
    pace: Pace,
) -> Replay {
    let mut stage = Stage {
        server: Server::start(profile, pace).await,
        scopes,
        connections: Vec::new(),
        notation: Notation::default(),
        deadlines: HashMap::new(),
        waiting: HashMap::new(),
        faults: Vec::new(),
    };
    for (name, _) in scopes {
        stage.open(name).await;
    }
    let mut done = Vec::new();
    for (at, step) in steps.iter().enumerate() {
        done.push(stage.step(step, &recorded["steps"][at]["events"]).await);
    }
    for (_, connection) in std::mem::take(&mut stage.connections) {
        stage.faults.extend(connection.leave().await);
    }
    stage.server.stop().await;
    Replay { document: json!({ "steps": done }), faults: stage.faults }
}

impl<'s> Stage<'s> {
    async fn open(&mut self, name: &'s str) {
        let (_, scopes) = self.scopes.iter().find(|(known, _)| known == name).expect("the scenario has it");
        let connection = Connection::open(self.server.address(), scopes).await;
        self.connections.push((name, connection));
        self.connections.sort_by_key(|(name, _)| self.scopes.iter().position(|(known, _)| known == name));
    }

    fn connection(&mut self, name: &str) -> &mut Connection {
        let found = self.connections.iter_mut().find(|(known, _)| *known == name);
        &mut found.expect("the scenario has opened it").1
    }

    async fn step(&mut self, step: &'s Step, recorded_events: &Value) -> Value {
        let mut done = Map::new();
        let mut response = None;
        match step {
            Step::Call { by, call, then_wait } => {
                let waiting = self.begin(by, call).await;
                let frame = self.end(&waiting).await;
                response = Some((waiting, Some(call), frame));
                self.server.pass(*then_wait).await;
            }
            Step::Start { by, call, name } => {
                let waiting = self.begin(by, call).await;
                self.connection(by).settle().await;
                self.waiting.insert(name, waiting);
            }
            Step::Finish(name) => {
                let waiting = self.waiting.remove(name.as_str()).expect("the scenario has started it");
                let frame = self.end(&waiting).await;
                response = Some((waiting, None, frame));
            }
            Step::StillWaits(name) => {
                let Waiting { by, id, .. } =
                    self.waiting.get(name.as_str()).expect("the scenario has started it");
                let (by, id) = (*by, id.clone());
                let connection = self.connection(by);
                connection.settle().await;
                done.insert("waits".into(), json!(!connection.has_response(&id)));
            }
            Step::Expiry(name) => {
                let deadline = self.deadlines.get(self.notation.id_of(name)).copied();
                self.server.reach(deadline.map_or(0, |deadline| deadline + 1));
            }
            Step::Sleep(milliseconds) => self.server.pass(*milliseconds).await,
            Step::Disconnect(name) => {
                let at = self.connections.iter().position(|(known, _)| known == name);
                let (_, connection) = self.connections.remove(at.expect("the scenario has opened it"));
                self.faults.extend(connection.leave().await);
            }
            Step::Reconnect(name) => self.open(name).await,
        }
        let passes_time = matches!(step, Step::Expiry(_) | Step::Sleep(_))
            || matches!(step, Step::Call { then_wait, .. } if *then_wait > 0);
        let events = self.events(if passes_time { recorded_events } else { &Value::Null }).await;
        if let Some((waiting, call, frame)) = response {
            self.note(call, &frame);
            done.insert("outcome".into(), self.outcome(&frame));
            if call.is_some_and(|call| call.method == "question.request") && frame["ok"] == true {
                let log = self.connection(waiting.by).take_log(&waiting.id);
                done.insert("order".into(), in_order(log.iter()));
            }
        }
        self.connections.iter_mut().for_each(|(_, connection)| drop(connection.take_log("")));
        done.insert("events".into(), told(events, &self.notation));
        done.into()
    }

    async fn begin(&mut self, by: &'s str, call: &Call) -> Waiting<'s> {
        let params = call.text.as_deref().map(|text| self.notation.to_send(text));
        let id = self.connection(by).send(&call.method, params.as_deref()).await;
        let limit = call.params["timeoutMs"].as_u64().filter(|_| call.method == "question.waitAnswer");
        Waiting { by, id, limit }
    }

    /// Waits for the response of a call. Where time stands still, a wait for an answer ends when it is moved on.
    async fn end(&mut self, waiting: &Waiting<'s>) -> Value {
        if let Some(limit) = waiting.limit.filter(|_| self.server.stands_still()) {
            let connection = self.connection(waiting.by);
            connection.settle().await;
            if !connection.has_response(&waiting.id) {
                self.server.pass(limit).await;
            }
        }
        self.connection(waiting.by).response(&waiting.id).await
    }

    /// What each connection was told, once these events and all that has happened so far have come.
    async fn events(&mut self, awaited: &Value) -> Vec<(&'s str, Vec<Value>)> {
        let mut all = Vec::new();
        for (name, connection) in &mut self.connections {
            let recipients =
                awaited.as_array().into_iter().flatten().filter_map(|event| event["to"].as_array());
            let count =
                recipients.filter(|recipients| recipients.iter().any(|recipient| recipient == *name)).count();
            connection.await_events(count).await;
            connection.settle().await;
            all.push((*name, connection.take_events()));
        }
        for (_, event) in all.iter().flat_map(|(name, events)| events.iter().map(move |event| (name, event)))
        {
            if event["event"] == "question.requested" {
                self.notation.made(&event["payload"]);
            }
        }
        all
    }

    /// Notes what a response says of a record: its id, and when it runs out.
    fn note(&mut self, call: Option<&Call>, frame: &Value) {
        let Some(call) = call.filter(|call| call.method == "question.request") else { return };
        let payload = &frame["payload"];
        let Some(id) = payload["id"].as_str() else { return };
        if let Some(at) = payload["expiresAtMs"].as_u64() {
            self.deadlines.insert(id.to_owned(), at);
        }
        if let Some(name) = &call.id_name {
            self.notation.name(id, name);
        }
    }

    fn outcome(&self, frame: &Value) -> Value {
        match frame["ok"].as_bool() {
            Some(true) => json!({ "ok": true, "payload": self.notation.written(&frame["payload"]) }),
            Some(false) => without_message(&json!({ "ok": false, "error": frame["error"] })),
            None => Value::Null,
        }
    }
}

/// Events with their recipients. What several were told is one event.
fn told(all: Vec<(&str, Vec<Value>)>, notation: &Notation) -> Value {
    let mut told: Vec<(Value, Vec<&str>)> = Vec::new();
    for (name, events) in all {
        for frame in events {
            let event = json!({ "event": frame["event"], "payload": notation.written(&frame["payload"]) });
            let same = told.iter_mut().find(|(known, to)| *known == event && !to.contains(&name));
            match same {
                Some((_, to)) => to.push(name),
                None => told.push((event, vec![name])),
            }
        }
    }
    let events = told.into_iter().map(|(mut event, to)| {
        event["to"] = json!(to);
        sort(&mut event["to"]);
        event
    });
    events.collect()
}
