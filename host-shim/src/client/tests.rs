//! The client against gateways that do what a test tells them.

use std::sync::Arc;

use futures_util::{SinkExt, StreamExt};
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio_websockets::{CloseCode, Message, ServerBuilder, WebSocketStream};

use super::*;
use crate::clock::ManualClock;

/// What every gateway can list.
const ALL: ListParams =
    ListParams { session_key: None, run_id: None, status: None, limit: None, cursor: None };
/// A moment to begin at.
const START: u64 = 1_000_000;

/// A place where a gateway is going to be.
struct Door {
    listener: TcpListener,
    settings: Settings,
    clock: Arc<ManualClock>,
}

impl Door {
    async fn new() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
        let clock = Arc::new(ManualClock::new(START));
        let url = format!("ws://{}", listener.local_addr().expect("an address"));
        let settings =
            Settings { token: Some("the token".into()), clock: clock.clone(), ..Settings::new(url) };
        Self { listener, settings, clock }
    }

    async fn plain(&self) -> TcpStream {
        self.listener.accept().await.expect("a client").0
    }

    /// A gateway that was connected to, and has said nothing.
    async fn gateway(&self) -> Gateway {
        let (_, socket) = ServerBuilder::new().accept(self.plain().await).await.expect("a WebSocket");
        Gateway { socket }
    }

    /// A client that is welcome, and the gateway it is connected to.
    async fn welcomed(&self) -> (Client, Events, Gateway) {
        let (connected, gateway) = tokio::join!(Client::connect(self.settings.clone()), async {
            let mut gateway = self.gateway().await;
            gateway.welcome().await;
            gateway
        });
        let (client, events) = connected.expect("it is welcome");
        (client, events, gateway)
    }

    /// What comes of connecting to a gateway that does this.
    async fn refused(&self, does: impl AsyncFnOnce(&mut Gateway)) -> ConnectError {
        let (connected, _gateway) = tokio::join!(Client::connect(self.settings.clone()), async {
            let mut gateway = self.gateway().await;
            does(&mut gateway).await;
            gateway
        });
        connected.expect_err("it is not welcome")
    }
}

struct Gateway {
    socket: WebSocketStream<TcpStream>,
}

impl Gateway {
    async fn say(&mut self, frame: impl ToString) {
        self.socket.send(Message::text(frame.to_string())).await.expect("it is read");
    }

    async fn hear(&mut self) -> Value {
        let message = self.socket.next().await.expect("a frame").expect("a good one");
        serde_json::from_str(message.as_text().expect("text")).expect("JSON")
    }

    async fn close(&mut self, code: u16, reason: &str) {
        let code = CloseCode::try_from(code).expect("a code");
        self.socket.send(Message::close(Some(code), reason)).await.expect("it is open");
    }

    async fn challenge(&mut self) {
        let payload = json!({ "nonce": "n", "ts": START + 250 });
        self.say(json!({ "type": "event", "event": "connect.challenge", "payload": payload })).await;
    }

    async fn welcome(&mut self) -> Value {
        self.challenge().await;
        let asked = self.hear().await;
        let hello = json!({
            "type": "hello-ok", "protocol": 4,
            "server": { "version": "1", "connId": "c" },
            "features": { "methods": ["question.list"], "events": ["question.requested"] },
            "auth": { "role": "operator", "scopes": ["operator.questions"] },
            "policy": { "tickIntervalMs": 10_000 },
            "unknown": 1,
        });
        self.answer(&asked, hello).await;
        asked
    }

    async fn answer(&mut self, request: &Value, payload: Value) {
        self.say(json!({ "type": "res", "id": request["id"], "ok": true, "payload": payload })).await;
    }

    async fn tell(&mut self, event: &str, payload: Value) {
        self.say(json!({ "type": "event", "event": event, "payload": payload })).await;
    }
}

mod connecting {
    use super::*;

    #[tokio::test]
    async fn it_says_who_it_is_and_learns_what_it_may() {
        let door = Door::new().await;
        let (connected, asked) = tokio::join!(Client::connect(door.settings.clone()), async {
            door.gateway().await.welcome().await
        });
        let (client, _events) = connected.expect("it is welcome");
        assert_eq!(asked["method"], "connect");
        let params = &asked["params"];
        assert_eq!((&params["minProtocol"], &params["maxProtocol"]), (&json!(4), &json!(4)));
        assert_eq!(params["client"]["id"], "gateway-client");
        assert_eq!(params["client"]["mode"], "backend");
        assert_eq!(params["role"], "operator");
        assert_eq!(params["scopes"], json!(["operator.questions"]));
        assert_eq!(params["auth"], json!({ "token": "the token" }));
        assert_eq!(client.hello().scopes, ["operator.questions"]);
        assert_eq!(client.hello().server_version, "1");
        assert!(!client.hello().is_capable_of(EXTENSIONS));
        assert_eq!(client.gateway_now(), START + 250);
        assert!(!format!("{client:?}").contains("the token"));
    }

    #[tokio::test]
    async fn a_refusal_comes_with_its_reason() {
        let door = Door::new().await;
        let error = door
            .refused(async |gateway| {
                gateway.challenge().await;
                let asked = gateway.hear().await;
                let error = json!({
                    "code": "INVALID_REQUEST", "message": "protocol mismatch",
                    "details": { "code": "PROTOCOL_MISMATCH" },
                });
                gateway.say(json!({ "type": "res", "id": asked["id"], "ok": false, "error": error })).await;
            })
            .await;
        let ConnectError::Refused(refusal) = &error else { panic!("{error:?}") };
        assert_eq!((refusal.code.as_str(), refusal.reason()), ("INVALID_REQUEST", Some("PROTOCOL_MISMATCH")));
        assert!(error.to_string().contains("protocol mismatch"), "{error}");
    }

    #[tokio::test]
    async fn a_gateway_that_closes_says_why() {
        let door = Door::new().await;
        let error = door.refused(async |gateway| gateway.close(1008, "unauthorized").await).await;
        let ConnectError::Closed(closed) = &error else { panic!("{error:?}") };
        assert_eq!(*closed, Closed::ByGateway { code: 1008, reason: "unauthorized".into() });
        assert_eq!(error.to_string(), "the gateway closed the connection: 1008 unauthorized");
    }

    #[tokio::test]
    async fn whatever_else_answers_is_no_gateway() {
        for first in ["hello", "[]", r#"{"type":"event","event":"tick"}"#] {
            let error = Door::new().await.refused(async |gateway| gateway.say(first).await).await;
            assert!(matches!(error, ConnectError::NotAGateway { .. }), "{first}: {error:?}");
        }
        for welcome in
            [json!(5), json!({ "type": "hello-ok", "protocol": 3 }), json!({ "type": "hi", "protocol": 4 })]
        {
            let error = Door::new()
                .await
                .refused(async |gateway| {
                    gateway.challenge().await;
                    let asked = gateway.hear().await;
                    gateway.answer(&asked, welcome.clone()).await;
                })
                .await;
            assert!(matches!(error, ConnectError::NotAGateway { .. }), "{welcome}: {error:?}");
        }
        for response in ["", "HTTP/1.1 404 Not Found\r\n\r\n", "220 mail.example ESMTP\r\n\r\n"] {
            let door = Door::new().await;
            let (connected, ()) = tokio::join!(Client::connect(door.settings.clone()), async {
                let mut stream = door.plain().await;
                let mut asked = [0; 1024];
                let _ = stream.read(&mut asked).await.expect("a request");
                stream.write_all(response.as_bytes()).await.expect("it is read");
            });
            let error = connected.expect_err("it is no gateway");
            assert!(matches!(error, ConnectError::NotAGateway { .. }), "{response:?}: {error:?}");
        }
    }

    #[tokio::test]
    async fn nobody_there_is_told_apart() {
        let Door { listener, settings, .. } = Door::new().await;
        drop(listener);
        let error = Client::connect(settings).await.expect_err("nobody listens");
        assert!(matches!(error, ConnectError::Unreachable { .. }), "{error:?}");
    }

    #[tokio::test]
    async fn a_gateway_that_says_nothing_is_given_up() {
        let door = Door::new().await;
        let (connected, _gateway) = tokio::join!(Client::connect(door.settings.clone()), async {
            let gateway = door.gateway().await;
            door.clock.advance(15_000);
            gateway
        });
        let error = connected.expect_err("it says nothing");
        assert!(matches!(error, ConnectError::TimedOut { milliseconds: 15_000, .. }), "{error:?}");
    }
}

mod calling {
    use super::*;

    #[tokio::test]
    async fn responses_may_come_in_any_order() {
        let door = Door::new().await;
        let (client, _events, mut gateway) = door.welcomed().await;
        let (one, two, three) = (json!({ "n": 1 }), json!({ "n": 2 }), json!({ "n": 3 }));
        let (first, second, third, ()) =
            tokio::join!(client.call("m", &one), client.call("m", &two), client.call("m", &three), async {
                let mut asked = Vec::new();
                for _ in 0..3 {
                    asked.push(gateway.hear().await);
                }
                gateway.say(json!({ "type": "res", "id": "nobody", "ok": true })).await;
                for request in asked.iter().rev() {
                    gateway.answer(request, request["params"].clone()).await;
                }
            },);
        assert_eq!((first, second, third), (Ok(one), Ok(two), Ok(three)));
    }

    #[tokio::test]
    async fn a_refused_call_leaves_the_connection_as_it_is() {
        let door = Door::new().await;
        let (client, _events, mut gateway) = door.welcomed().await;
        let (got, page, ()) = tokio::join!(client.get("x"), client.list(&ALL), async {
            let (get, list) = (gateway.hear().await, gateway.hear().await);
            assert_eq!((&get["params"], &list["params"]), (&json!({ "id": "x" }), &json!({})));
            let error = json!({
                "code": "INVALID_REQUEST", "message": "gone", "details": { "reason": "QUESTION_NOT_FOUND" },
            });
            gateway.say(json!({ "type": "res", "id": get["id"], "ok": false, "error": error })).await;
            gateway.answer(&list, json!({ "questions": [] })).await;
        });
        let error = got.expect_err("there is none");
        assert_eq!(error.reason(), Some("QUESTION_NOT_FOUND"));
        assert_eq!(error.to_string(), "gone (QUESTION_NOT_FOUND)");
        assert_eq!(page, Ok(Page::default()));
    }

    #[tokio::test]
    async fn a_result_of_another_form_is_an_error_of_that_call() {
        let door = Door::new().await;
        let (client, _events, mut gateway) = door.welcomed().await;
        let (page, ()) = tokio::join!(client.list(&ALL), async {
            let asked = gateway.hear().await;
            gateway.answer(&asked, json!({ "questions": 5 })).await;
        });
        assert!(matches!(page, Err(CallError::Unreadable { .. })), "{page:?}");
    }

    #[tokio::test]
    async fn a_call_has_a_limit_and_a_wait_its_own() {
        let door = Door::new().await;
        let (client, _events, mut gateway) = door.welcomed().await;
        let (waited, listed, ()) = tokio::join!(client.wait_answer("x", None), client.list(&ALL), async {
            let wait = gateway.hear().await;
            gateway.hear().await;
            // A tick now and then, or the gateway would be given up.
            for _ in 0..3 {
                door.clock.advance(10_000);
                gateway.tell("tick", json!({})).await;
                gateway.socket.send(Message::ping("")).await.expect("it is open");
                while !gateway.socket.next().await.expect("a frame").expect("a good one").is_pong() {}
            }
            gateway.answer(&wait, json!({ "status": "expired" })).await;
        });
        assert_eq!(listed, Err(CallError::TimedOut { method: "question.list".into(), milliseconds: 30_000 }));
        assert_eq!(waited.expect("it ends").status, Status::Expired);
    }
}

mod events {
    use super::*;

    #[tokio::test]
    async fn events_keep_their_order_and_their_place_before_responses() {
        let door = Door::new().await;
        let (client, mut events, mut gateway) = door.welcomed().await;
        let record = json!({
            "id": "a", "questions": [{ "questionId": "q", "header": "", "question": "?", "options": [], "x": 1 }],
            "createdAtMs": 1, "expiresAtMs": 2, "status": "pending",
        });
        let (listed, ()) = tokio::join!(client.list(&ALL), async {
            let asked = gateway.hear().await;
            gateway.tell("question.requested", record.clone()).await;
            gateway.tell("question.requested", json!({ "id": 5 })).await;
            gateway
                .tell("question.resolved", json!({ "id": "a", "status": "cancelled", "reason": "skipped" }))
                .await;
            gateway.answer(&asked, json!({ "questions": [record] })).await;
        });
        let listed = listed.expect("a list");
        let first = events.next().await.expect("an event");
        let Some(QuestionEvent::Requested(asked)) = first.question() else { panic!("{first:?}") };
        assert_eq!(asked, listed.questions[0]);
        assert_eq!(serde_json::to_value(&asked).expect("JSON"), record, "nothing is lost");
        assert_eq!(events.next().await.expect("an event").question(), None, "it cannot be read");
        let last = events.next().await.expect("an event");
        let Some(QuestionEvent::Resolved { id, outcome }) = last.question() else { panic!("{last:?}") };
        assert_eq!(
            (id.as_str(), outcome.status, &outcome.more["reason"]),
            ("a", Status::Cancelled, &json!("skipped"))
        );
    }

    #[tokio::test]
    async fn whoever_wants_no_events_drops_them() {
        let door = Door::new().await;
        let (client, events, mut gateway) = door.welcomed().await;
        drop(events);
        let (called, ()) = tokio::join!(client.call("m", &Value::Null), async {
            let asked = gateway.hear().await;
            gateway.tell("tick", json!({})).await;
            gateway.answer(&asked, json!(1)).await;
        });
        assert_eq!(called, Ok(json!(1)));
    }
}

mod ending {
    use super::*;

    /// What a call gets, the events' end, and a later call, when the gateway does this.
    async fn ended(does: impl AsyncFnOnce(&mut Gateway, &ManualClock)) -> Closed {
        let door = Door::new().await;
        let (client, mut events, mut gateway) = door.welcomed().await;
        let (called, ()) = tokio::join!(client.wait_answer("x", None), async {
            gateway.hear().await;
            does(&mut gateway, &door.clock).await;
        });
        drop(gateway);
        let closed = client.closed().await;
        assert_eq!(called, Err(CallError::Closed(closed.clone())));
        assert_eq!(client.call("m", &Value::Null).await, Err(CallError::Closed(closed.clone())));
        assert!(events.next().await.is_none());
        closed
    }

    #[tokio::test]
    async fn whoever_waits_learns_code_and_reason() {
        let closed = ended(async |gateway, _| gateway.close(1012, "service restart").await).await;
        assert_eq!(closed, Closed::ByGateway { code: 1012, reason: "service restart".into() });
    }

    #[tokio::test]
    async fn a_connection_that_breaks_is_lost() {
        let closed =
            ended(async |gateway, _| gateway.socket.get_mut().shutdown().await.expect("it is open")).await;
        assert!(matches!(closed, Closed::Lost(_)), "{closed:?}");
    }

    #[tokio::test]
    async fn garbage_ends_it_since_nobody_knows_what_it_was() {
        let closed = ended(async |gateway, _| gateway.say("{\"type\":").await).await;
        assert!(matches!(closed, Closed::Garbage(_)), "{closed:?}");
    }

    #[tokio::test]
    async fn a_gateway_that_fell_silent_is_gone() {
        let closed = ended(async |_, clock| clock.advance(25_000)).await;
        assert_eq!(closed, Closed::Silent(25));
    }

    #[tokio::test]
    async fn the_last_client_says_goodbye() {
        let door = Door::new().await;
        let (client, _events, mut gateway) = door.welcomed().await;
        let other = client.clone();
        drop(client);
        let (called, ()) = tokio::join!(other.call("m", &Value::Null), async {
            let asked = gateway.hear().await;
            gateway.answer(&asked, json!(1)).await;
        });
        assert_eq!(called, Ok(json!(1)));
        drop(other);
        let message = gateway.socket.next().await.expect("a frame").expect("a good one");
        assert_eq!(message.as_close().map(|(code, _)| code), Some(CloseCode::NORMAL_CLOSURE));
    }
}
