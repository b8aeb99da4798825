//! `ask-user serve` as an operator runs it.

use std::net::SocketAddr;

use ask_user_tests::gateway::*;
use ask_user_tests::program::{Running, ask_user, command, fed};
use serde_json::{Value, json};

/// A gateway that was started from the command line, and where it listens.
fn start(arguments: &[&str]) -> (Running, SocketAddr) {
    let program = Running::start(&[&["serve", "--listen", "127.0.0.1:0"], arguments].concat());
    let address = program.line_with("listening on ws://").rsplit('/').next().unwrap().parse().unwrap();
    (program, address)
}

fn write(folder: &tempfile::TempDir, name: &str, text: &str) -> String {
    let path = folder.path().join(name);
    std::fs::write(&path, text).unwrap();
    path.to_str().unwrap().to_owned()
}

#[tokio::test]
async fn without_a_configuration_there_is_one_token_and_it_is_printed_once() {
    let (program, address) = start(&[]);
    let token = program.line_with("the token for this run is ").rsplit(' ').next().unwrap().to_owned();
    let params = connect(&token, &["operator.questions"], &[]);
    let mut client = Client::open(address).await.welcomed(&params).await;
    client.call("question.list", &json!({})).await.unwrap();
    let ran = program.terminate();
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    assert_eq!(ran.stderr.matches(&token).count(), 1);
    assert_eq!(ran.stdout, "");
    assert_eq!(client.closed().await, 1012);
}

#[test]
fn nobody_else_is_let_near_without_a_token() {
    let ran = ask_user(&["serve", "--listen", "0.0.0.0:0"], "");
    assert_eq!(ran.code, 64, "{}", ran.stderr);
    assert!(ran.stderr.contains("needs tokens"), "{}", ran.stderr);
    let folder = tempfile::tempdir().unwrap();
    let short = write(&folder, "token", "short\n");
    let ran = ask_user(&["serve", "--token-file", &short], "");
    assert_eq!(ran.code, 1);
    assert!(ran.stderr.contains("at least 16 characters"), "{}", ran.stderr);
}

/// Answers and tokens are in no log, whatever is logged.
#[tokio::test]
async fn a_restart_keeps_what_was_asked_and_the_log_keeps_quiet() {
    let folder = tempfile::tempdir().unwrap();
    let token = write(&folder, "token", "the token of this test\n");
    let store = format!("sqlite:{}", folder.path().join("questions.db").display());
    let arguments = ["--token-file", &token, "--store", &store, "--log", "json"];
    let mut ids = Vec::new();
    for round in 0..2 {
        let program = Running::start_with(
            &[&["serve", "--listen", "127.0.0.1:0"], arguments.as_slice()].concat(),
            &[("ASK_USER_LOG", "trace")],
        );
        let address = program.line_with("listening on ws://").rsplit('/').next().unwrap().parse().unwrap();
        let params = connect("the token of this test", &["operator.questions"], &[]);
        let mut client = Client::open(address).await.welcomed(&params).await;
        if round == 0 {
            for _ in 0..2 {
                let asked = client.call("question.request", &one_wire_question(&["A", "B"])).await.unwrap();
                ids.push(asked["id"].clone());
            }
            client.call("question.resolve", &wire_answer(&ids[0], "a private matter")).await.unwrap();
        } else {
            let waiting = client.begin("question.waitAnswer", &json!({ "id": ids[1] })).await;
            client.call("question.resolve", &wire_answer(&ids[1], "B")).await.unwrap();
            assert_eq!(client.end(&waiting).await.unwrap()["status"], "answered");
            let first = client.call("question.get", &json!({ "id": ids[0] })).await.unwrap();
            assert_eq!(first["question"]["answers"]["answers"]["target"], json!(["a private matter"]));
        }
        let ran = program.terminate();
        assert_eq!(ran.code, 0, "{}", ran.stderr);
        assert!(!ran.stderr.contains("a private matter") && !ran.stderr.contains("the token of this test"));
        let logged = ran.stderr.lines().filter(|line| line.starts_with('{'));
        let logged: Vec<Value> = logged.map(|line| serde_json::from_str(line).unwrap()).collect();
        assert!(logged.iter().any(|line| line["message"] == "a client is connected"), "{}", ran.stderr);
    }
}

#[test]
fn a_configuration_is_checked_before_it_is_used() {
    let folder = tempfile::tempdir().unwrap();
    let good = write(
        &folder,
        "good.toml",
        "compatibility = \"openclaw\"\n[store]\nkind = \"sqlite\"\npath = \"q.db\"\n[[token]]\n\
         token = \"0123456789abcdef\"\nsubject = \"ada\"\nscopes = [\"operator.questions\"]\n",
    );
    let ran = ask_user(&["config", "check", &good, "--json"], "");
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    let checked: Value = serde_json::from_str(&ran.stdout).unwrap();
    assert_eq!(
        (&checked["compatibility"], &checked["tokens"][0]["subject"]),
        (&json!("openclaw"), &json!("ada"))
    );
    assert!(!ran.stdout.contains("0123456789abcdef"));
    assert!(ask_user(&["config", "check", &good], "").stdout.contains("ada of default: operator.questions"));

    let bad = write(&folder, "bad.toml", "[store]\nretenton = \"1h\"\n");
    for command in [["config", "check", &bad].as_slice(), &["serve", "--config", &bad]] {
        let ran = ask_user(command, "");
        assert_eq!(ran.code, 1);
        assert!(ran.stderr.contains("bad.toml:2:1: unknown field `retenton`"), "{}", ran.stderr);
        assert!(ran.stderr.contains("did you mean \"retention\"?"), "{}", ran.stderr);
    }
}

/// Whoever started the process needs no token, and ends it by closing its input.
#[test]
fn a_parent_speaks_lines() {
    let connect = connect("no token is needed", &["operator.admin"], &[]);
    let frames: String = [("connect", connect), ("question.list", json!({}))]
        .map(|(method, params)| {
            json!({ "type": "req", "id": method, "method": method, "params": params }).to_string()
        })
        .join("\n");
    let ran = fed(&mut command(&["serve", "--stdio"]), frames.as_bytes());
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    let lines: Vec<Value> = ran.stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(lines[0]["event"], "connect.challenge");
    assert_eq!(lines[1]["payload"]["auth"]["scopes"], json!(["operator.admin"]));
    assert_eq!(
        lines[2],
        json!({ "type": "res", "id": "question.list", "ok": true, "payload": { "questions": [] } })
    );
}
