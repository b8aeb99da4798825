//! Replays what one client sends, frame by frame.

use ask_user_host::gateway::Compatibility;
use ask_user_tests::gateway::{Client, Received, TOKEN};
use serde_json::{Value, json};

use super::Replay;
use super::connection::PATIENCE;
use super::notation::cut;
use super::published;
use super::scenario::{Sending, responses_in_order, without_message};
use super::server::{Pace, Server};

/// A request that changes nothing: what came before its response came because of something else.
const LAST: &str = r#"{"type":"req","id":"the last of the step","method":"question.get"}"#;

struct Line {
    client: Client,
    is_welcome: bool,
    faults: Vec<String>,
}

/// What came in a step.
#[derive(Default)]
struct Came {
    frames: Vec<Value>,
    close: Option<u16>,
    is_pong: bool,
}

/// Replays sendings. What was recorded says for how many frames to wait, and how they are cut down.
pub(super) async fn replay(
    sendings: &[Sending],
    recorded: &Value,
    profile: Compatibility,
    pace: Pace,
) -> Replay {
    let server = Server::start(profile, pace).await;
    let client = Client::dial(server.address()).await;
    let mut line = Line { client, is_welcome: false, faults: Vec::new() };
    let mut done = Vec::new();
    for (at, sending) in sendings.iter().enumerate() {
        let recorded = &recorded["steps"][at];
        line.send(sending).await;
        let came = line.receive(recorded, matches!(sending, Sending::Ping)).await;
        let frames = responses_in_order(came.frames.iter().map(without_message).collect());
        let frames = cut(&recorded["frames"], &frames.into());
        done.push(json!({ "frames": frames, "close": came.close, "pong": came.is_pong }));
    }
    line.client.leave().await;
    server.stop().await;
    Replay { document: json!({ "steps": done }), faults: line.faults }
}

impl Line {
    async fn send(&mut self, sending: &Sending) {
        let with_token = |text: &String| text.replace("$TOKEN", TOKEN);
        match sending {
            Sending::Nothing => {}
            Sending::Texts { texts, .. } => {
                for text in texts {
                    self.client.try_send(with_token(text)).await;
                }
            }
            Sending::Binary(text) => drop(self.client.try_send_binary(with_token(text)).await),
            Sending::Ping => drop(self.client.try_ping().await),
        }
    }

    /// What was recorded, and whatever else comes. Before a client is welcome nothing tells that nothing more comes but
    /// the next step.
    async fn receive(&mut self, recorded: &Value, awaits_pong: bool) -> Came {
        let mut came = Came::default();
        let count = recorded["frames"].as_array().map_or(0, Vec::len);
        let closes = recorded["close"].is_u64();
        while came.close.is_none() && (came.frames.len() < count || closes || (awaits_pong && !came.is_pong))
        {
            if !self.next(&mut came).await {
                return came;
            }
        }
        if self.is_welcome && came.close.is_none() && self.client.try_send(LAST).await {
            let before = came.frames.len();
            let is_last = |came: &Came| {
                came.frames.iter().skip(before).any(|frame| frame["id"] == "the last of the step")
            };
            while came.close.is_none() && !is_last(&came) && self.next(&mut came).await {}
            came.frames.retain(|frame| frame["id"] != "the last of the step");
        }
        came
    }

    /// Takes what comes next. Whether anything did.
    async fn next(&mut self, came: &mut Came) -> bool {
        match self.client.receive(PATIENCE).await {
            Some(Received::Frame(frame)) if frame["event"] == "tick" => {
                self.faults.extend(published::faults(&frame, None));
            }
            Some(Received::Frame(frame)) => {
                let is_hello = frame["payload"]["type"] == "hello-ok";
                self.is_welcome |= is_hello;
                self.faults.extend(published::faults(&frame, is_hello.then_some("connect")));
                came.frames.push(frame);
            }
            Some(Received::Pong) => came.is_pong = true,
            Some(Received::Closed(code)) => came.close = Some(code),
            None => return false,
        }
        true
    }
}
