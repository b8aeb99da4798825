//! Clients that send rubbish, too much, or do not read. Each gets what the protocol says, and harms nobody else.

use ask_user_tests::gateway::*;
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

const QUESTIONS: &[&str] = &["operator.questions"];

/// Somebody else is served as ever.
async fn others_are_served(served: &Served) {
    let mut other = served.client(QUESTIONS).await;
    let id = other.call("question.request", &one_wire_question(&["A", "B"])).await.unwrap()["id"].take();
    let answered = other.call("question.resolve", &wire_answer(&id, "A")).await.unwrap();
    assert_eq!(answered["status"], "answered");
}

async fn raw(served: &Served, bytes: &[u8]) -> Vec<u8> {
    let mut stream = TcpStream::connect(served.address()).await.unwrap();
    // The gateway may close while this writes.
    let _ = stream.write_all(bytes).await;
    let _ = stream.shutdown().await;
    let mut read = Vec::new();
    let _ = stream.read_to_end(&mut read).await;
    read
}

fn upgrade(served: &Served) -> String {
    format!(
        "GET / HTTP/1.1\r\nHost: {}\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\
         Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n",
        served.address()
    )
}

#[tokio::test]
async fn rubbish_instead_of_http_or_of_frames_ends_the_connection() {
    let served = Served::new().await;
    raw(&served, b"\x00\x01\x02 nonsense\r\n\r\n").await;
    raw(&served, b"").await;
    let upgrade = upgrade(&served);
    for frames in [
        b"".as_slice(),                                              // nothing at all
        b"\x81",                                                     // half a head
        b"\x81\xfe\x01",                                             // half a length
        b"\x81\x85\x00\x00\x00\x00he",                               // half a frame
        b"\x81\x05hello",                                            // not masked
        b"\xf1\x80\x00\x00\x00\x00",                                 // reserved bits
        b"\x83\x80\x00\x00\x00\x00",                                 // a kind that there is not
        b"\x81\x82\x00\x00\x00\x00\xc3\x28",                         // not UTF-8
        b"\x89\xfe\x00\x7e\x00\x00\x00\x00",                         // a ping that is too long
        b"\x81\xff\xff\xff\xff\xff\xff\xff\xff\xff\x00\x00\x00\x00", // longer than anything
    ] {
        let answer = raw(&served, &[upgrade.as_bytes(), frames].concat()).await;
        assert!(answer.starts_with(b"HTTP/1.1 101 "), "{}", String::from_utf8_lossy(&answer));
    }
    others_are_served(&served).await;
}

#[tokio::test]
async fn what_is_no_handshake_is_answered_as_http_has_it() {
    let served = Served::new().await;
    let status = |head: &str| {
        let request = upgrade(&served).replace("GET /", head);
        let served = &served;
        async move {
            let answer = raw(served, request.as_bytes()).await;
            String::from_utf8_lossy(&answer).split(' ').nth(1).unwrap_or_default().to_owned()
        }
    };
    assert_eq!(status("POST /").await, "400");
    let without = |line: &str, other: &str| upgrade(&served).replace(line, other);
    for (request, expected) in [
        (without("Sec-WebSocket-Version: 13", "Sec-WebSocket-Version: 8"), "426"),
        (without("AAAAAAAAAAAAAAAAAAAAAA==", "AAAA"), "400"),
        (without("Connection: Upgrade", "Connection: close"), "400"),
        (without("Upgrade: websocket", "Upgrade: h2c"), "426"),
    ] {
        let answer = raw(&served, request.as_bytes()).await;
        let answer = String::from_utf8_lossy(&answer);
        assert_eq!(answer.split(' ').nth(1), Some(expected), "{request}\n{answer}");
    }
}

#[tokio::test]
async fn a_frame_beyond_the_limit_closes_the_connection() {
    let served = Served::new().await;
    let mut stranger = Client::open(served.address()).await;
    stranger.try_send("x".repeat((64 << 10) + 1)).await;
    assert_eq!(stranger.closed().await, 1009);

    let mut client = served.client(QUESTIONS).await;
    // A frame of nearly a megabyte is fine once it is known who sends it.
    let mut long = one_wire_question(&["A", "B"]);
    long["questions"][0]["question"] = "?".repeat(900 << 10).into();
    client.call("question.request", &long).await.unwrap();
    client.try_send("x".repeat(26 << 20)).await;
    assert_eq!(client.closed().await, 1009);
    others_are_served(&served).await;
}

/// A client that sends without reading is not read any more, and takes no more room than is allowed.
#[tokio::test]
async fn a_hundred_thousand_requests_without_reading_harm_nobody() {
    let served = Served::new().await;
    let mut client = served.client(QUESTIONS).await;
    let request =
        json!({ "type": "req", "id": "x", "method": "question.get", "params": { "id": "y".repeat(200) } });
    let request = request.to_string();
    let flood = async {
        for _ in 0..100_000 {
            client.send(request.as_str()).await;
        }
    };
    tokio::select! {
        // Sending stops when the gateway has stopped reading.
        () = flood => {}
        () = async {
            for _ in 0..20 {
                others_are_served(&served).await;
            }
        } => {}
    }
    others_are_served(&served).await;
}

#[tokio::test]
async fn whoever_does_not_read_their_events_is_let_go() {
    let served = Served::new().await;
    let mut slow = served.client(QUESTIONS).await;
    let mut asker = served.client(QUESTIONS).await;
    let mut long = one_wire_question(&["A", "B"]);
    long["questions"][0]["question"] = "?".repeat(900 << 10).into();
    // 50 MiB may wait, and what the system keeps on the way.
    for _ in 0..90 {
        asker.call("question.request", &long).await.unwrap();
        asker.event("question.requested").await;
    }
    // What it finds when it reads at last: some events, and the end.
    let code = slow.closed().await;
    assert!([1008, 1006].contains(&code), "{code}");
    others_are_served(&served).await;
}

#[tokio::test]
async fn objects_that_are_no_requests_are_answered_one_by_one() {
    let served = Served::new().await;
    let mut client = served.client(QUESTIONS).await;
    for (text, id) in
        [("{}", json!("invalid")), (r#"{"id":7}"#, json!(7)), (r#"[{"id":"a"}]"#, json!("invalid"))]
    {
        client.send(text).await;
        let frame = client.frame().await.unwrap();
        assert_eq!((&frame["id"], &frame["error"]["code"]), (&id, &json!("INVALID_REQUEST")), "{text}");
    }
    // Arrays in the place of objects, however they are nested, are none.
    for params in ["[]", "[[\"target\",\"h\",\"q\",[]]]", "5", "\"x\"", "true"] {
        client
            .send(format!(r#"{{"type":"req","id":"p","method":"question.request","params":{params}}}"#))
            .await;
        assert_eq!(client.frame().await.unwrap()["error"]["code"], "INVALID_REQUEST", "{params}");
    }
    let nested: Value = json!({ "questions": [["target", "h", "q", []]] });
    let refused = client.call("question.request", &nested).await.unwrap_err();
    assert!(refused["message"].as_str().unwrap().contains("questions"), "{refused}");
    let deep = format!("{}{}", "[".repeat(100_000), "]".repeat(100_000));
    client.send(format!(r#"{{"type":"req","id":"d","method":"question.list","params":{deep}}}"#)).await;
    assert_eq!(client.frame().await.unwrap()["error"]["code"], "INVALID_REQUEST");
    others_are_served(&served).await;
}
