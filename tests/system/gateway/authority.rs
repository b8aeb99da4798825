//! Tokens, tenants and scopes; who is written down, and who learns of what (rulings 19a, 25 and 26).

use ask_user_host::gateway::{Authority, Compatibility};
use ask_user_tests::gateway::*;
use serde_json::json;

/// Two tenants, and in the first one somebody for each degree of trust.
async fn served() -> Served {
    let mut authority = Authority::default();
    admit(&mut authority, "token of ada at acme", "acme", "ada", &["operator.questions"]);
    admit(
        &mut authority,
        "token of the adapter",
        "acme",
        "adapter",
        &["operator.questions", "ask-user.name-answerer"],
    );
    admit(&mut authority, "token of the reader", "acme", "reader", &["operator.read"]);
    admit(&mut authority, "token of eve at evil", "evil", "eve", &["operator.admin"]);
    Served::with(Compatibility::Better, authority).await
}

async fn client(served: &Served, token: &str, scopes: &[&str]) -> Client {
    Client::open(served.address()).await.welcomed(&connect(token, scopes, &[])).await
}

#[tokio::test]
async fn a_client_gets_no_more_than_its_token_has() {
    let served = served().await;
    let everything = ["operator.admin", "operator.questions", "operator.read"];
    let ada = client(&served, "token of ada at acme", &everything).await;
    assert_eq!(ada.hello["auth"]["scopes"], json!(["operator.questions"]));
    let mut reader = client(&served, "token of the reader", &everything).await;
    assert_eq!(reader.hello["auth"]["scopes"], json!(["operator.read"]));
    let refused = reader.call("question.list", &json!({})).await.unwrap_err();
    assert_eq!(refused["code"], "FORBIDDEN");
    assert_eq!(refused["details"]["missingScope"], "operator.questions");
}

#[tokio::test]
async fn a_wrong_token_is_refused_and_the_connection_closed() {
    let served = served().await;
    for (token, code) in [
        ("token of nobody", "AUTH_TOKEN_MISMATCH"),
        (" ", "AUTH_TOKEN_MISSING"),
        ("", "DEVICE_IDENTITY_REQUIRED"),
    ] {
        let mut client = Client::open(served.address()).await;
        let refused = client.call("connect", &connect(token, &[], &[])).await.unwrap_err();
        assert_eq!(refused["details"]["code"], code);
        assert!(!refused.to_string().contains("nobody"), "a token is never repeated");
        assert_eq!(client.closed().await, 1008);
    }
}

#[tokio::test]
async fn tenants_learn_nothing_of_each_other() {
    let served = served().await;
    let mut ada = client(&served, "token of ada at acme", &["operator.questions"]).await;
    let mut eve = client(&served, "token of eve at evil", &["operator.admin"]).await;
    let id = ada.call("question.request", &one_wire_question(&["A", "B"])).await.unwrap()["id"].take();

    assert_eq!(eve.call("question.list", &json!({})).await.unwrap(), json!({ "questions": [] }));
    for method in ["question.get", "question.waitAnswer"] {
        let of_ada = eve.call(method, &json!({ "id": id })).await.unwrap_err();
        let of_nobody = eve.call(method, &json!({ "id": "none" })).await.unwrap_err();
        assert_eq!(of_ada["details"], of_nobody["details"]);
        assert_eq!(of_ada["details"]["reason"], "QUESTION_NOT_FOUND");
    }
    let refused = eve.call("question.resolve", &wire_answer(&id, "A")).await.unwrap_err();
    assert_eq!(refused["details"]["reason"], "QUESTION_NOT_FOUND");
    // The same id is free in another tenant.
    let same = json!({ "id": id, "questions": [wire_question("target", &["A", "B"])] });
    assert_eq!(eve.call("question.request", &same).await.unwrap()["id"], id);

    ada.call("question.resolve", &wire_answer(&id, "A")).await.unwrap();
    assert_eq!(eve.event("question.requested").await["id"], id);
    assert_eq!(eve.events_so_far(), [""; 0], "what happened to ada's question is nothing to eve");
}

#[tokio::test]
async fn whoever_answers_is_written_down_as_who_they_are() {
    let served = served().await;
    let mut ada = client(&served, "token of ada at acme", &["operator.questions"]).await;
    let named = ["operator.questions", "ask-user.name-answerer"];
    let mut adapter = client(&served, "token of the adapter", &named).await;
    for (named, by_ada, by_adapter) in [(None, "ada", "adapter"), (Some("bob"), "ada", "bob")] {
        let mut seen = Vec::new();
        for is_ada in [true, false] {
            let id =
                ada.call("question.request", &one_wire_question(&["A", "B"])).await.unwrap()["id"].take();
            let mut params = wire_answer(&id, "A");
            if let Some(name) = named {
                params["resolvedBy"] = name.into();
            }
            let who = if is_ada { &mut ada } else { &mut adapter };
            who.call("question.resolve", &params).await.unwrap();
            let record = who.call("question.get", &json!({ "id": id })).await.unwrap();
            seen.push(record["question"]["resolvedBy"].as_str().unwrap().to_owned());
        }
        assert_eq!(seen, [by_ada, by_adapter], "named {named:?}");
    }
}

/// A device proves its key by what it signs; nothing else may be in its place.
#[tokio::test]
async fn a_device_that_proves_nothing_is_refused() {
    let served = served().await;
    let mut client = Client::open(served.address()).await;
    let mut params = connect("token of ada at acme", &["operator.questions"], &[]);
    params["device"] = json!({
        "id": "d", "publicKey": "AAAA", "signature": "AAAA", "signedAt": client.challenge["ts"],
        "nonce": client.challenge["nonce"],
    });
    let refused = client.call("connect", &params).await.unwrap_err();
    assert_eq!(refused["details"]["code"], "DEVICE_AUTH_PUBLIC_KEY_INVALID");
    assert_eq!(client.closed().await, 1008);
}
