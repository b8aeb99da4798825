//! An adapter of a messaging service in another process: it makes the calls, and reports taps and messages.

use ask_user_host::gateway::Compatibility;
use ask_user_tests::gateway::*;
use ask_user_tests::world::one_question;
use serde_json::{Value, json};

const ADAPTER: &[&str] = &["operator.questions", "ask-user.name-answerer"];

fn ask() -> Value {
    json!({
        "sessionKey": "main", "runId": "r", "toolCallId": "t", "requester": "ada", "conversation": "telegram:42",
        "arguments": one_question("target", &["Staging", "Production"]),
    })
}

/// Ada's chat on Telegram.
fn deliver(id: &Value) -> Value {
    json!({
        "id": id, "channel": "telegram",
        "target": { "address": "1000000000", "requester": { "id": "42", "name": "Ada" } },
    })
}

/// A tap on a button of a message that was sent, as Telegram reports it.
fn tap(delivered: &Value, button: usize, person: u64) -> Value {
    let data = &delivered["calls"][0]["body"]["reply_markup"]["inline_keyboard"][button][0]["callback_data"];
    json!({ "channel": "telegram", "payload": {
        "update_id": 1,
        "callback_query": {
            "id": "9", "from": { "id": person, "is_bot": false, "first_name": "A" }, "chat_instance": "1",
            "message": { "message_id": 77, "date": 0, "chat": { "id": 1_000_000_000, "type": "private" } },
            "data": data,
        },
    }})
}

fn reason(error: &Value) -> &str {
    error["details"]["reason"].as_str().unwrap_or_default()
}

#[tokio::test]
async fn a_prompt_is_shown_tapped_and_settled_through_the_gateway() {
    let served = Served::new().await;
    let mut adapter = served.client(ADAPTER).await;
    let channels = adapter.call("askUser.channels", &json!({})).await.unwrap();
    let names: Vec<&Value> =
        channels["channels"].as_array().unwrap().iter().map(|channel| &channel["name"]).collect();
    assert_eq!(names, ["discord", "line", "mattermost", "slack", "telegram", "text", "whatsapp"]);

    let asking = adapter.begin("askUser.ask", &ask()).await;
    let id = adapter.event("question.requested").await["id"].clone();
    let delivered = adapter.call("askUser.deliver", &deliver(&id)).await.unwrap();
    assert_eq!(delivered["calls"][0]["method"], "sendMessage");
    assert_eq!(delivered["state"], "sending");
    let delivery = delivered["deliveryId"].clone();
    let shown = json!({ "deliveryId": delivery, "messages": ["77"] });
    assert_eq!(adapter.call("askUser.delivered", &shown).await.unwrap(), json!({ "status": "noted" }));

    let stranger = adapter.call("askUser.tap", &tap(&delivered, 0, 43)).await.unwrap();
    assert_eq!(stranger["tapped"], "not-allowed");
    assert_eq!(stranger["calls"][0]["method"], "answerCallbackQuery");
    let tapped = adapter.call("askUser.tap", &tap(&delivered, 1, 42)).await.unwrap();
    assert_eq!((&tapped["tapped"], &tapped["id"]), (&json!("answered"), &id));
    let result = adapter.end(&asking).await.unwrap();
    assert_eq!(result["result"]["answers"]["answers"]["target"], json!(["Production"]));

    adapter.event("question.resolved").await;
    let updates = adapter.call("askUser.deliveries", &json!({ "id": id })).await.unwrap();
    let update = &updates["updates"][0];
    assert_eq!((&update["deliveryId"], &update["state"]), (&delivery, &json!("updating")));
    assert_eq!(update["calls"][0]["method"], "editMessageText");
    assert_eq!(update["calls"][0]["body"]["message_id"], 77);
    // Not said to be done: whoever asks for all that is left gets it again.
    let left = adapter.call("askUser.deliveries", &json!({})).await.unwrap();
    assert_eq!(left["updates"].as_array().unwrap().len(), 1);
    let done = json!({ "deliveryId": delivery, "updated": true });
    assert_eq!(adapter.call("askUser.delivered", &done).await.unwrap(), json!({ "status": "done" }));
    assert_eq!(adapter.call("askUser.deliveries", &json!({})).await.unwrap(), json!({ "updates": [] }));
}

#[tokio::test]
async fn what_is_typed_in_a_conversation_answers_the_prompt_there() {
    let served = Served::new().await;
    let mut adapter = served.client(ADAPTER).await;
    let asking = adapter.begin("askUser.ask", &ask()).await;
    let id = adapter.event("question.requested").await["id"].clone();
    adapter.call("askUser.deliver", &deliver(&id)).await.unwrap();
    let say = |address: &str, sender: &str, text: &str| json!({ "channel": "telegram", "address": address, "sender": sender, "message": { "text": text } });
    let elsewhere = adapter.call("askUser.say", &say("2000000000", "42", "2")).await.unwrap();
    assert_eq!(elsewhere, json!({ "outcome": "not-an-answer", "reason": "not-pending" }));
    let stranger = adapter.call("askUser.say", &say("1000000000", "43", "2")).await.unwrap();
    assert_eq!(stranger, json!({ "outcome": "not-allowed" }));
    let wrong = adapter.call("askUser.say", &say("1000000000", "42", "3")).await.unwrap();
    assert_eq!(wrong["outcome"], "answered", "3 is own text where that is allowed");
    let result = adapter.end(&asking).await.unwrap();
    assert_eq!(result["result"]["answers"]["answers"]["target"], json!(["3"]));
}

#[tokio::test]
async fn a_prompt_that_can_be_shown_nowhere_ends_at_once() {
    let served = Served::new().await;
    let mut adapter = served.client(ADAPTER).await;
    let asking = adapter.begin("askUser.ask", &ask()).await;
    let id = adapter.event("question.requested").await["id"].clone();
    let delivered = adapter.call("askUser.deliver", &deliver(&id)).await.unwrap();
    let failed =
        json!({ "deliveryId": delivered["deliveryId"], "error": "403: bot was blocked by the user" });
    let outcome = adapter.call("askUser.delivered", &failed).await.unwrap();
    assert_eq!(outcome, json!({ "status": "undeliverable" }));
    let result = adapter.end(&asking).await.unwrap();
    assert_eq!(
        (&result["result"]["status"], &result["result"]["reason"]),
        (&json!("no_answer"), &json!("undeliverable"))
    );
}

#[tokio::test]
async fn what_is_wrong_is_refused_by_its_kind() {
    let served = Served::new().await;
    let mut adapter = served.client(ADAPTER).await;
    adapter.begin("askUser.ask", &ask()).await;
    let id = adapter.event("question.requested").await["id"].clone();
    let mut elsewhere = deliver(&id);
    elsewhere["target"]["address"] = "not an address".into();
    let mut nowhere = deliver(&id);
    nowhere["channel"] = "nowhere".into();
    let mut strange = deliver(&id);
    strange["answerers"] = "nobody".into();
    for (method, params, why) in [
        ("askUser.deliver", elsewhere, "ASK_USER_BAD_TARGET"),
        ("askUser.deliver", nowhere, "ASK_USER_NO_CHANNEL"),
        ("askUser.deliver", deliver(&json!("ask_1")), "QUESTION_NOT_FOUND"),
        ("askUser.deliver", strange, ""),
        ("askUser.deliver", json!({ "id": id }), ""),
        ("askUser.delivered", json!({ "deliveryId": "dlv_1", "messages": [] }), "ASK_USER_NO_DELIVERY"),
        ("askUser.delivered", json!({ "deliveryId": "dlv_1" }), ""),
        ("askUser.tap", json!({ "channel": "telegram", "payload": "{" }), "ASK_USER_NOT_A_TAP"),
        ("askUser.tap", json!({ "channel": "nowhere", "payload": {} }), "ASK_USER_NO_CHANNEL"),
    ] {
        let refused = adapter.call(method, &params).await.unwrap_err();
        assert_eq!(
            (refused["code"].as_str(), reason(&refused)),
            (Some("INVALID_REQUEST"), why),
            "{method} {params}"
        );
    }
    let other = adapter.call("askUser.tap", &json!({ "channel": "telegram", "payload": {} })).await.unwrap();
    assert_eq!(other["tapped"], "not-ours");
}

#[tokio::test]
async fn only_adapters_may_speak_for_others() {
    let served = Served::new().await;
    let mut client = served.client(&["operator.questions"]).await;
    for method in ["askUser.channels", "askUser.deliveries"] {
        let refused = client.call(method, &json!({})).await.unwrap_err();
        assert_eq!(refused["details"]["missingScope"], "ask-user.name-answerer", "{method}");
    }
    let authority = ask_user_host::gateway::Authority::single_token(TOKEN);
    let served = Served::with(Compatibility::Openclaw, authority).await;
    let mut client = served.client(ADAPTER).await;
    let unknown = client.call("askUser.channels", &json!({})).await.unwrap_err();
    assert_eq!(unknown["code"], "FORBIDDEN", "as OpenClaw says of methods it does not know");
}
