//! The examples run and do what they say.

use std::process::{Command, Stdio};

use ask_user_tests::program::{Ran, ask_user, embed_program, path, ran, root};
use ask_user_tests::world::{code_cache, parse};
use serde_json::json;

#[test]
fn the_deploy_target_is_asked_and_answered() {
    let ran = ask_user(&["ask", "examples/deploy-target.json", "--json"], "1\n");
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    assert_eq!(
        ran.stdout,
        "{\"status\":\"answered\",\"answers\":{\"answers\":{\"deploy_target\":[\"Staging (Recommended)\"]}}}\n"
    );
}

#[test]
fn the_release_plan_is_asked_and_answered_in_three_lines() {
    let ran = ask_user(&["ask", "examples/release-plan.json", "--json"], "Thursday\n1, 3, smoke test\nAda\n");
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    assert_eq!(
        parse(&ran.stdout)["answers"]["answers"],
        json!({
            "release_day": ["Thursday"],
            "checks": ["Load test", "Translation review", "smoke test"],
            "rollback": ["Ada"],
        })
    );
}

fn embed(input: &str) -> Ran {
    let mut child = Command::new(embed_program())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    std::io::Write::write_all(&mut child.stdin.take().unwrap(), input.as_bytes()).unwrap();
    ran(child.wait_with_output().unwrap())
}

#[test]
fn the_embedded_agent_goes_on_with_the_answer() {
    let ran = embed("2\n");
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    assert!(ran.stdout.contains("1. PostgreSQL (Recommended)"), "{}", ran.stdout);
    assert!(ran.stdout.ends_with("agent: going on with SQLite\n"), "{}", ran.stdout);
}

#[test]
fn the_embedded_agent_goes_on_without_an_answer() {
    let ran = embed("");
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    assert!(
        ran.stdout.ends_with("agent: no answer (\"skipped\"), going on with PostgreSQL\n"),
        "{}",
        ran.stdout
    );
}

#[test]
fn a_host_in_node_offers_the_tool_and_gets_the_answer() {
    let mut node = Command::new("node");
    let ran = ran(node
        .arg("examples/node-host/host.mjs")
        .arg(path())
        .current_dir(root())
        .env("ASK_USER_CACHE_DIR", code_cache())
        .env("ASK_USER_LOG", "error")
        .output()
        .expect("the examples need Node.js"));
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    assert_eq!(
        ran.stdout,
        "The model is offered ask_user.\n\
         Ada is asked: Where should this go?\n\
         Her \"2\" is taken as: answered.\n\
         The model gets: {\"status\":\"answered\",\"answers\":{\"answers\":{\"target\":[\"Production\"]}}}\n"
    );
}
