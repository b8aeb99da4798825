//! A host in another language: it offers the tool, passes calls and messages on, and says when a run is over.

use ask_user_host::gateway::{Authority, Compatibility};
use ask_user_tests::gateway::*;
use ask_user_tests::world::one_question;
use serde_json::{Value, json};

const HOST: &[&str] = &["operator.questions", "ask-user.name-answerer"];

fn call(run: &str, call: &str) -> Value {
    json!({
        "sessionKey": "main", "runId": run, "toolCallId": call, "requester": "ada", "conversation": "telegram:42",
        "arguments": one_question("target", &["Staging", "Production"]),
    })
}

fn typed(sender: &str, text: &str) -> Value {
    json!({ "sessionKey": "main", "sender": sender, "conversation": "telegram:42", "text": text })
}

fn reason(error: &Value) -> &str {
    error["details"]["reason"].as_str().unwrap_or_default()
}

#[tokio::test]
async fn the_tool_is_offered_to_a_main_session_and_to_no_other() {
    let served = Served::new().await;
    let mut host = served.client(HOST).await;
    let tool = host.call("askUser.tool", &json!({ "sessionKey": "main" })).await.unwrap();
    assert_eq!(tool["tool"]["name"], "ask_user");
    assert_eq!(tool["tool"]["parameters"]["type"], "object");
    for params in [
        json!({}),
        json!({ "sessionKey": "main", "sessionKind": "subagent" }),
        json!({ "sessionKey": "agent:main:subagent:x" }),
        json!({ "sessionKey": "agent:main:subagent:x", "sessionKind": "main" }),
    ] {
        assert_eq!(host.call("askUser.tool", &params).await.unwrap(), json!({ "tool": null }), "{params}");
    }
    let mut forced = call("r", "t");
    forced["sessionKind"] = "heartbeat".into();
    let refused = host.call("askUser.ask", &forced).await.unwrap_err();
    assert_eq!(reason(&refused), "ASK_USER_NOT_A_MAIN_SESSION");
}

#[tokio::test]
async fn a_call_is_answered_by_a_typed_message() {
    let served = Served::new().await;
    let mut host = served.client(HOST).await;
    let asking = host.begin("askUser.ask", &call("r", "t")).await;
    let asked = host.event("question.requested").await;
    assert_eq!(asked["sessionKey"], "agent:main:main");

    // Bob is in the same conversation, and it was not he who asked (ruling 19a).
    let bob = host.call("askUser.reply", &typed("bob", "1")).await.unwrap();
    assert_eq!(bob, json!({ "outcome": "not-an-answer", "reason": "not-pending" }));
    let mut sent = typed("ada", "");
    sent["hasMedia"] = true.into();
    let picture = host.call("askUser.reply", &sent).await.unwrap();
    assert_eq!(picture, json!({ "outcome": "not-an-answer", "reason": "no-text" }));
    let other = host.call("askUser.reply", &typed("ada", "other")).await.unwrap();
    assert_eq!(other["outcome"], "correction");
    let ada = host.call("askUser.reply", &typed("ada", "2")).await.unwrap();
    assert_eq!(ada["answers"], json!({ "answers": { "target": ["Production"] } }));

    let result = host.end(&asking).await.unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(result["id"], asked["id"]);
    assert_eq!(result["result"]["answers"]["answers"]["target"], json!(["Production"]));
    assert!(result["text"].as_str().unwrap().starts_with("target: Production"));
    let record = host.call("question.get", &json!({ "id": asked["id"] })).await.unwrap();
    assert_eq!(record["question"]["resolvedBy"], "ada");
}

#[tokio::test]
async fn a_message_is_nobodys_word_but_the_senders() {
    let served = Served::new().await;
    let mut host = served.client(&["operator.questions"]).await;
    let refused = host.call("askUser.reply", &typed("ada", "2")).await.unwrap_err();
    assert_eq!(refused["details"]["missingScope"], "ask-user.name-answerer");
    let refused =
        host.call("askUser.reply", &json!({ "sessionKey": "main", "sender": "ada" })).await.unwrap_err();
    assert!(refused["message"].as_str().unwrap().contains("go together"));
    let refused = host.call("askUser.reply", &json!({ "text": "2" })).await.unwrap_err();
    assert!(refused["message"].as_str().unwrap().contains("sessionKey or id"));
}

#[tokio::test]
async fn several_questions_are_answered_message_by_message() {
    let served = Served::new().await;
    let mut host = served.client(HOST).await;
    let mut params = call("r", "t");
    let first = params["arguments"]["questions"][0].clone();
    let mut second = first.clone();
    second["id"] = "when".into();
    second["header"] = "when".into();
    params["arguments"]["questions"] = json!([first, second]);
    let asking = host.begin("askUser.ask", &params).await;
    host.event("question.requested").await;
    let incomplete = host.call("askUser.reply", &typed("ada", "target: 1")).await.unwrap();
    assert_eq!((&incomplete["outcome"], &incomplete["missing"]), (&json!("incomplete"), &json!(["when"])));
    let answered = host.call("askUser.reply", &typed("ada", "when: 2")).await.unwrap();
    assert_eq!(answered["outcome"], "answered");
    let result = host.end(&asking).await.unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(
        result["result"]["answers"]["answers"],
        json!({ "target": ["Staging"], "when": ["Production"] })
    );
}

#[tokio::test]
async fn everything_wrong_with_a_call_is_told_at_once() {
    let served = Served::new().await;
    let mut host = served.client(HOST).await;
    let mut params = call("r", "t");
    params["arguments"] =
        json!({ "questions": [{ "id": "X", "header": "", "question": "?", "options": [] }] });
    let refused = host.call("askUser.ask", &params).await.unwrap_err();
    assert_eq!(reason(&refused), "ASK_USER_INVALID_ARGUMENTS");
    let violations = refused["details"]["violations"].as_array().unwrap();
    let paths: Vec<_> = violations.iter().map(|violation| violation["path"].as_str().unwrap()).collect();
    assert_eq!(paths, ["questions[0].id", "questions[0].header", "questions[0].options"]);
    // The text of the arguments, as a model sends it, is the same.
    params["arguments"] = params["arguments"].to_string().into();
    let again = host.call("askUser.ask", &params).await.unwrap_err();
    assert_eq!(again["details"], refused["details"]);
}

/// Ruling 11: the same session, run and tool call are one prompt, whoever waits for it and wherever.
#[tokio::test]
async fn a_call_is_taken_up_again_after_the_connection_was_lost() {
    let served = Served::new().await;
    let mut host = served.client(HOST).await;
    host.begin("askUser.ask", &call("r", "t")).await;
    let id = host.event("question.requested").await["id"].take();
    drop(host);

    let mut host = served.client(HOST).await;
    let asking = host.begin("askUser.ask", &call("r", "t")).await;
    let busy = host.call("askUser.ask", &call("r", "another")).await.unwrap_err();
    assert_eq!((reason(&busy), &busy["details"]["id"]), ("ASK_USER_ALREADY_PENDING", &id));
    host.call("askUser.reply", &typed("ada", "/skip")).await.unwrap();
    let result = host.end(&asking).await.unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(result["result"], json!({ "status": "no_answer", "reason": "skipped" }));
    assert_eq!(result["id"], id);
}

#[tokio::test]
async fn a_call_ends_with_its_connection_where_its_host_says_so() {
    let served = Served::new().await;
    let mut watcher = served.extended_client(HOST).await;
    let mut host = served.client(HOST).await;
    let mut params = call("r", "t");
    params["cancelOnDisconnect"] = true.into();
    host.begin("askUser.ask", &params).await;
    let id = watcher.event("question.requested").await["id"].take();
    drop(host);
    let ended = watcher.event("question.resolved").await;
    assert_eq!(ended, json!({ "id": id, "status": "cancelled", "reason": "cancelled" }));
}

/// Ruling 22: an aborted run gets no result.
#[tokio::test]
async fn a_run_that_is_over_ends_its_calls() {
    let served = Served::new().await;
    let mut host = served.client(HOST).await;
    let asking = host.begin("askUser.ask", &call("r", "t")).await;
    let id = host.event("question.requested").await["id"].take();
    let other =
        host.call("askUser.cancelRun", &json!({ "sessionKey": "main", "runId": "other" })).await.unwrap();
    assert_eq!(other, json!({ "cancelled": [] }));
    let ending = host.begin("askUser.cancelRun", &json!({ "sessionKey": "main", "runId": "r" })).await;
    let aborted = host.end(&asking).await.unwrap_err();
    assert_eq!(reason(&aborted), "ASK_USER_ABORTED");
    let cancelled = host.end(&ending).await.unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(cancelled, json!({ "cancelled": [id] }));
    // A new run of the session can ask.
    host.begin("askUser.ask", &call("next", "t")).await;
    host.event("question.requested").await;
}

#[tokio::test]
async fn under_the_profile_of_openclaw_a_host_asks_for_our_methods() {
    let served = Served::with(Compatibility::Openclaw, Authority::single_token(TOKEN)).await;
    let mut host = served.extended_client(HOST).await;
    assert_eq!(
        host.call("askUser.tool", &json!({ "sessionKey": "main" })).await.unwrap()["tool"]["name"],
        "ask_user"
    );
}
