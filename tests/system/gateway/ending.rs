//! Time and the end: ticks, those who do not say who they are, and a gateway that goes away.

use ask_user_tests::gateway::*;
use ask_user_tests::program::PATIENCE;
use serde_json::json;

const QUESTIONS: &[&str] = &["operator.questions"];

#[tokio::test]
async fn the_time_is_told_every_thirty_seconds() {
    let served = Served::new().await;
    let mut client = served.client(&[]).await;
    for tick in 1..=3_u64 {
        // Whoever tells the time has to be asleep before the clock moves.
        client.call("question.list", &json!({})).await.unwrap_err();
        served.clock.advance(30_000);
        let told = client.event("tick").await["ts"].as_u64().unwrap();
        assert_eq!(told, ask_user_tests::world::START + tick * 30_000);
    }
}

#[tokio::test]
async fn who_does_not_say_who_they_are_is_let_go() {
    let served = Served::new().await;
    let mut silent = Client::open(served.address()).await;
    let mut late = Client::open(served.address()).await;
    served.clock.advance(14_999);
    late = late.welcomed(&connect(TOKEN, QUESTIONS, &[])).await;
    served.clock.advance(1);
    assert_eq!(silent.closed().await, 1008);
    late.call("question.list", &json!({})).await.unwrap();
}

#[tokio::test]
async fn whoever_waits_when_the_gateway_ends_is_told_that_nothing_is_decided() {
    let served = Served::new().await;
    let mut client = served.client(QUESTIONS).await;
    let id = client.call("question.request", &one_wire_question(&["A", "B"])).await.unwrap()["id"].take();
    let waiting = client.begin("question.waitAnswer", &json!({ "id": id })).await;
    client.call("question.list", &json!({})).await.unwrap();
    let Served { gateway, host, .. } = served;
    let address = gateway.local_addr();
    let ending = tokio::spawn(gateway.shutdown());
    assert_eq!(client.end(&waiting).await, Ok(json!({ "status": "pending" })));
    assert_eq!(client.closed().await, 1012);
    tokio::time::timeout(PATIENCE, ending).await.unwrap().unwrap();
    assert!(tokio::net::TcpStream::connect(address).await.is_err(), "nobody listens any more");
    // The question is as it was.
    let operator = ask_user_tests::world::operator();
    assert_eq!(host.get(&operator, id.as_str().unwrap()).await.unwrap().settlement, None);
}

#[tokio::test]
async fn a_wait_has_a_limit_of_its_own() {
    let served = Served::new().await;
    let mut client = served.client(QUESTIONS).await;
    let id = client.call("question.request", &one_wire_question(&["A", "B"])).await.unwrap()["id"].take();
    let waiting = client.begin("question.waitAnswer", &json!({ "id": id, "timeoutMs": 500 })).await;
    client.call("question.list", &json!({})).await.unwrap();
    served.clock.advance(499);
    client.call("question.list", &json!({})).await.unwrap();
    served.clock.advance(1);
    assert_eq!(client.end(&waiting).await, Ok(json!({ "status": "pending" })));
}

#[tokio::test]
async fn operators_see_what_is_going_on() {
    let served = Served::new().await;
    let mut client = served.client(QUESTIONS).await;
    let mut asked = Vec::new();
    for _ in 0..3 {
        asked.push(
            client.call("question.request", &one_wire_question(&["A", "B"])).await.unwrap()["id"].take(),
        );
    }
    client.begin("question.waitAnswer", &json!({ "id": asked[2] })).await;
    served.clock.advance(90_000);
    client.call("question.resolve", &wire_answer(&asked[0], "A")).await.unwrap();
    client.call("question.resolve", &json!({ "id": asked[1], "cancel": true })).await.unwrap();
    client.call("question.resolve", &wire_answer(&json!("none"), "A")).await.unwrap_err();

    assert_eq!(served.page("/healthz").await.0, 200);
    assert_eq!(served.page("/readyz").await, (200, json!({ "status": "ready" }).to_string()));
    let (status, text) = served.page("/metrics").await;
    assert_eq!(status, 200);
    for line in [
        "ask_user_pending 1",
        "ask_user_asked_total 3",
        "ask_user_settled_total{outcome=\"answered\"} 1",
        "ask_user_settled_total{outcome=\"skipped\"} 1",
        "ask_user_time_to_answer_seconds_sum 90.0",
        "ask_user_waiters 1",
        "ask_user_connections 1",
        "ask_user_refused_total{reason=\"QUESTION_NOT_FOUND\"} 1",
        // Three requests, an answer and a skip.
        "ask_user_decision_time_seconds_count 5",
    ] {
        assert!(text.lines().any(|it| it == line), "{line}\n{text}");
    }
    assert_eq!(served.page("/nothing").await.0, 404);
    assert_eq!(served.page("/").await.0, 426);
}
