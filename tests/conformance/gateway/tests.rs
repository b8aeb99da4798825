//! That the replay finds what is wrong, and that it finds nothing where time is real.

use std::fs;

use ask_user_host::gateway::Compatibility;
use serde_json::{Value, json};

use super::{Pace, replays};
use crate::difference;
use crate::vectors::{self, File, of_line};

/// The recorded line of this name.
fn recorded(name: &str) -> Value {
    let lines = fs::read_to_string(vectors::recorded().join("gateway.jsonl")).expect("it was recorded");
    let start = format!("{{\"name\":{},", json!(name));
    let line = lines.lines().find(|line| line.starts_with(&start));
    serde_json::from_str(line.unwrap_or_else(|| panic!("{name} was not recorded"))).expect("a line is JSON")
}

/// The places at which our gateway differs from lines, which may have been recorded or made up.
fn differing(lines: &[Value], pace: Pace) -> Vec<String> {
    let vectors =
        lines.iter().map(|line| of_line(File::Gateway, &line.to_string()).expect("a line is a scenario"));
    let vectors: Vec<_> = vectors.collect();
    let profile = Compatibility::Openclaw;
    let replays = replays(&vectors, profile, pace);
    let differences =
        replays.iter().flat_map(|(vector, replay)| difference::of_vector(vector, profile, &replay.document));
    differences.map(|difference| difference.place.to_string()).collect()
}

/// A scenario, something of it that is changed, and the place at which that has to be found.
#[track_caller]
fn is_found(name: &str, pointer: &str, changed: Value, place: &str) {
    let mut line = recorded(name);
    assert_eq!(differing(&[line.clone()], Pace::AtOnce), [] as [&str; 0], "{name} as it was recorded");
    *line.pointer_mut(pointer).unwrap_or_else(|| panic!("{name} has {pointer}")) = changed;
    assert_eq!(differing(&[line], Pace::AtOnce), [place], "{name} with another {pointer}");
}

const ANSWERED: &str = "events/answered-by-admin";

#[test]
fn another_payload_is_found() {
    let until = "/steps/0/outcome/payload/expiresAtMs/$plusMs";
    is_found(ANSWERED, until, json!(900_001), "$.steps[0].outcome.payload.expiresAtMs.$plusMs");
    let header = "/steps/0/events/0/payload/questions/0/header";
    is_found(ANSWERED, header, json!("Other"), "$.steps[0].events[0].payload.questions[0].header");
    let made = "/steps/0/events/0/payload/createdAtMs";
    is_found(ANSWERED, made, json!(5), "$.steps[0].events[0].payload.createdAtMs");
}

#[test]
fn another_refusal_is_found() {
    let reason = "/steps/2/outcome/error/details/reason";
    let late = "resolve.lifecycle/expired-then-same-answer";
    is_found(late, reason, json!("QUESTION_NOT_FOUND"), "$.steps[2].outcome.error.details.reason");
    is_found(late, "/steps/2/outcome/error/code", json!("FORBIDDEN"), "$.steps[2].outcome.error.code");
}

#[test]
fn a_missing_event_is_found_and_one_too_many() {
    let events = recorded(ANSWERED)["steps"][0]["events"].clone();
    let twice = [&events[0], &events[0]];
    is_found(ANSWERED, "/steps/0/events", json!(twice), "$.steps[0].events");
    is_found(ANSWERED, "/steps/0/events", json!([]), "$.steps[0].events");
}

#[test]
fn another_recipient_is_found() {
    let to = "/steps/0/events/0/to";
    is_found(ANSWERED, to, json!(["a", "b", "admin", "r"]), "$.steps[0].events[0].to");
    is_found(ANSWERED, to, json!(["a", "admin", "r"]), "$.steps[0].events[0].to[2]");
}

#[test]
fn a_request_that_is_answered_before_it_is_told_is_found() {
    let order = json!(["response", "event:question.requested"]);
    let mut line = recorded(ANSWERED);
    line["steps"][0]["order"] = order;
    assert_eq!(differing(&[line], Pace::AtOnce), ["$.steps[0].order[0]", "$.steps[0].order[1]"]);
}

#[test]
fn another_close_code_or_frame_is_found() {
    is_found("protocol/non-json-first", "/steps/1/close/code", json!(1008), "$.steps[1].close");
    is_found("protocol/preauth-200k-garbage", "/steps/1/close/code", json!(1008), "$.steps[1].close");
    let scopes = "/steps/1/frames/0/payload/auth/scopes";
    let place = "$.steps[1].frames[0].payload.auth.scopes";
    is_found("protocol/connect-ok", scopes, json!([]), place);
    is_found(
        "protocol/after-connect/non-json",
        "/steps/2/frames",
        json!([{ "type": "res" }]),
        "$.steps[2].frames",
    );
}

#[test]
fn nothing_differs_in_real_time() {
    let names = [
        "request.timeout/ms-1",
        "resolve.lifecycle/expired-then-same-answer",
        "resolve.lifecycle/expired-then-other-answer",
        "waitAnswer/overdue-wait",
        "waitAnswer/released-answered",
        "events/expired-lazily-by-get",
        "connection/waiter-leaves",
        "random/0005",
        "protocol/after-connect/ping",
        "protocol/after-connect/pipelined-requests",
    ];
    assert_eq!(differing(&names.map(recorded), Pace::RealTime), [] as [&str; 0]);
}
