//! What our gateway adds to OpenClaw's methods, and that nobody sees it who has not asked (DESIGN section 5).

use std::sync::Arc;

use ask_user_host::gateway::{Authority, Compatibility};
use ask_user_host::store::SqliteStore;
use ask_user_tests::gateway::*;
use serde_json::{Value, json};

const QUESTIONS: &[&str] = &["operator.questions"];

async fn ask(client: &mut Client, session: &str, run: &str) -> Value {
    let mut params = one_wire_question(&["A", "B"]);
    params["sessionKey"] = session.into();
    params["runId"] = run.into();
    client.call("question.request", &params).await.unwrap()["id"].take()
}

fn ids(list: &Value) -> Vec<Value> {
    list["questions"].as_array().unwrap().iter().map(|record| record["id"].clone()).collect()
}

#[tokio::test]
async fn a_list_can_be_filtered_and_read_in_parts() {
    let served = Served::new().await;
    let mut client = served.client(QUESTIONS).await;
    let mut asked = Vec::new();
    for (session, run) in [("main", "r1"), ("main", "r2"), ("other", "r1"), ("main", "r1")] {
        asked.push(ask(&mut client, session, run).await);
        served.clock.advance(1);
    }
    client.call("question.resolve", &wire_answer(&asked[3], "A")).await.unwrap();

    for (filter, expected) in [
        (json!({}), vec![0, 1, 2]),
        (json!({ "sessionKey": "main" }), vec![0, 1]),
        (json!({ "sessionKey": "agent:main:MAIN", "runId": "r1" }), vec![0]),
        (json!({ "runId": "r1", "status": "all" }), vec![0, 2, 3]),
        (json!({ "status": "settled" }), vec![3]),
        (json!({ "runId": "none" }), vec![]),
    ] {
        let list = client.call("question.list", &filter).await.unwrap();
        let expected: Vec<_> = expected.into_iter().map(|index: usize| asked[index].clone()).collect();
        assert_eq!(ids(&list), expected, "{filter}");
    }

    let mut pages = Vec::new();
    let mut cursor = Value::Null;
    loop {
        let mut params = json!({ "limit": 2, "status": "all" });
        if !cursor.is_null() {
            params["cursor"] = cursor;
        }
        let mut page = client.call("question.list", &params).await.unwrap();
        pages.push(ids(&page).len());
        cursor = page["nextCursor"].take();
        if cursor.is_null() {
            break;
        }
    }
    assert_eq!(pages, [2, 2]);
    let refused = client.call("question.list", &json!({ "cursor": "x" })).await.unwrap_err();
    assert!(refused["message"].as_str().unwrap().contains("at /cursor"), "{refused}");
}

/// B23, B24: a list without our parameters has everything, however much there is.
#[tokio::test]
async fn a_plain_list_is_whole() {
    let served = Served::new().await;
    let mut client = served.client(QUESTIONS).await;
    for _ in 0..600 {
        client.begin("question.request", &one_wire_question(&["A", "B"])).await;
    }
    let list = client.call("question.list", &json!({})).await.unwrap();
    assert_eq!(ids(&list).len(), 600);
    assert_eq!(list.as_object().unwrap().keys().collect::<Vec<_>>(), ["questions"]);
}

#[tokio::test]
async fn the_reason_is_told_only_to_those_who_asked() {
    let served = Served::new().await;
    let mut plain = served.client(QUESTIONS).await;
    let mut extended = served.extended_client(QUESTIONS).await;
    let id = ask(&mut plain, "main", "r").await;
    let ended = json!({ "id": id, "cancel": true, "resolvedBy": "run-abort" });
    let told = extended.call("question.resolve", &ended).await.unwrap();
    assert_eq!(told, json!({ "status": "cancelled", "reason": "cancelled" }));
    assert_eq!(extended.event("question.resolved").await["reason"], "cancelled");
    assert_eq!(plain.event("question.resolved").await, json!({ "id": id, "status": "cancelled" }));
    let waited = plain.call("question.waitAnswer", &json!({ "id": id })).await.unwrap();
    assert_eq!(waited, json!({ "status": "cancelled" }));
    let record = plain.call("question.get", &json!({ "id": id })).await.unwrap();
    assert_eq!(record["question"]["reason"], Value::Null);
    let record = extended.call("question.get", &json!({ "id": id })).await.unwrap();
    assert_eq!(record["question"]["reason"], "cancelled");
}

#[tokio::test]
async fn the_profile_of_openclaw_has_nothing_of_ours() {
    let served = Served::with(Compatibility::Openclaw, Authority::single_token(TOKEN)).await;
    let mut plain = served.client(&["operator.admin"]).await;
    let methods = plain.hello["features"]["methods"].as_array().unwrap();
    assert!(methods.iter().all(|method| method.as_str().unwrap().starts_with("question.")), "{methods:?}");
    let refused = plain.call("question.list", &json!({ "limit": 1 })).await.unwrap_err();
    assert_eq!(refused["code"], "INVALID_REQUEST");
    let refused = plain.call("askUser.tool", &json!({})).await.unwrap_err();
    assert_eq!(refused["message"], "unknown method: askUser.tool");

    let mut extended = served.extended_client(&["operator.admin"]).await;
    assert!(extended.hello["features"]["methods"].to_string().contains("askUser.ask"));
    extended.call("question.list", &json!({ "limit": 1 })).await.unwrap();
}

/// Ruling 27, over the wire.
#[tokio::test]
async fn the_same_submission_gives_its_first_result_again() {
    let served = Served::new().await;
    let mut client = served.client(QUESTIONS).await;
    let id = ask(&mut client, "main", "r").await;
    let mut submission = wire_answer(&id, "A");
    submission["resolutionId"] = "mine".into();
    let first = client.call("question.resolve", &submission).await.unwrap();
    assert_eq!(client.call("question.resolve", &submission).await.unwrap(), first);
    submission["answers"]["answers"]["target"][0] = "B".into();
    let late = client.call("question.resolve", &submission).await.unwrap_err();
    assert_eq!(late["details"]["reason"], "QUESTION_ALREADY_TERMINAL");
}

/// Calls of one connection that concern the same question are carried out in their order, also where each waits for
/// a disk.
#[tokio::test]
async fn pipelined_calls_keep_their_order_on_a_durable_store() {
    let folder = tempfile::tempdir().unwrap();
    let store = SqliteStore::open(folder.path().join("questions.db")).unwrap();
    let served = Served::on(Arc::new(store), Compatibility::Better, Authority::single_token(TOKEN)).await;
    let mut client = served.client(QUESTIONS).await;
    for round in 0..50 {
        let id = json!(format!("round-{round}"));
        let request = json!({ "id": id, "questions": [wire_question("target", &["A", "B"])] });
        client.begin("question.request", &request).await;
        let wait = client.begin("question.waitAnswer", &json!({ "id": id })).await;
        let first = client.begin("question.resolve", &wire_answer(&id, "A")).await;
        let second = client.begin("question.resolve", &wire_answer(&id, "B")).await;
        let list = client.begin("question.list", &json!({})).await;
        let mut results = std::collections::HashMap::new();
        while results.len() < 4 {
            let frame = client.frame().await.unwrap();
            let id = frame["id"].as_str().unwrap_or_default().to_owned();
            if [&wait, &first, &second, &list].contains(&&id) {
                results.insert(id, frame);
            }
        }
        assert_eq!(results[&wait]["payload"]["answers"]["answers"]["target"], json!(["A"]));
        assert_eq!(results[&first]["ok"], true);
        assert_eq!(results[&second]["error"]["details"]["reason"], "QUESTION_ALREADY_TERMINAL");
        assert_eq!(results[&list]["payload"]["questions"], json!([]));
    }
}

#[tokio::test]
async fn ten_thousand_calls_wait_on_one_connection() {
    let served = Served::new().await;
    let mut client = served.client(QUESTIONS).await;
    let mut other = served.client(QUESTIONS).await;
    let id = ask(&mut client, "main", "r").await;
    let mut waits = std::collections::HashSet::new();
    for _ in 0..10_000 {
        waits.insert(client.begin("question.waitAnswer", &json!({ "id": id })).await);
    }
    // All of them were read when this one is answered.
    client.call("question.get", &json!({ "id": id })).await.unwrap();
    other.call("question.resolve", &wire_answer(&id, "A")).await.unwrap();
    while !waits.is_empty() {
        let frame = client.frame().await.unwrap();
        if waits.remove(frame["id"].as_str().unwrap_or_default()) {
            assert_eq!(frame["payload"]["status"], "answered", "{frame}");
        }
    }
}
