//! Conditions about the steps of a scenario of the gateway, up to the one that is looked at and with it.

use serde_json::Value;

use super::Condition;
use crate::difference::Place;
use crate::gateway::{Call, Step};
use crate::text::{clusters, openclaw_clusters};
use crate::vectors::is_lone_surrogate;

pub(super) const CONDITIONS: &[(&str, Condition)] = &[
    ("a-lone-surrogate-was-sent", Condition::Steps(lone_surrogate)),
    ("a-header-whose-clusters-are-counted-otherwise", Condition::Steps(other_clusters)),
    ("a-resolution-id-of-more-characters-than-clusters", Condition::Steps(long_resolution_id)),
    ("a-url-with-an-escape-or-a-tab-in-its-host", Condition::Steps(odd_host)),
    ("an-answer-that-looks-like-a-credential", Condition::Steps(credential)),
    ("an-answer-of-more-than-16-kib", Condition::Steps(long_answer)),
    ("more-than-15-seconds-after-a-question-ended", Condition::Steps(past_their_retention)),
    ("a-list-with-a-parameter-of-ours", Condition::Steps(list_with_our_parameter)),
    ("a-record-that-somebody-ended", Condition::Steps(record_that_was_ended)),
    ("a-resolve-that-repeats-an-earlier-one", Condition::Steps(repeated_resolve)),
];

/// The accident of a text that UTF-8 cannot hold.
fn lone_surrogate(steps: &[&Step]) -> bool {
    calls(steps).any(|call| call.params.to_string().contains(is_lone_surrogate))
}

/// The accident of a library that counts a simplified cluster, where that decides.
fn other_clusters(steps: &[&Step]) -> bool {
    let decides = |header: &str| (openclaw_clusters(header) <= 12) != (clusters(header) <= 12);
    questions(steps).any(|question| question["header"].as_str().is_some_and(decides))
}

/// The same accident where we count characters.
fn long_resolution_id(steps: &[&Step]) -> bool {
    let decides = |id: &str| openclaw_clusters(id) <= 128 && id.chars().count() > 128;
    resolves(steps).any(|call| call.params["resolutionId"].as_str().is_some_and(decides))
}

/// The accident of a browser's reading of addresses, which decodes and drops what no host may have.
fn odd_host(steps: &[&Step]) -> bool {
    let is_odd = |url: &str| {
        let host = url
            .split_once("://")
            .map_or("", |(_, rest)| rest.split(['/', '?', '#']).next().unwrap_or_default());
        host.contains(['%', '\t', '\n', '\r'])
    };
    questions(steps).any(|question| question["url"].as_str().is_some_and(is_odd))
}

/// Ruling 17: text that looks like a credential is refused.
fn credential(steps: &[&Step]) -> bool {
    resolves(steps).any(|call| values(call).any(super::message::looks_like_credential))
}

/// Ruling 18: own text has a limit.
fn long_answer(steps: &[&Step]) -> bool {
    resolves(steps).any(|call| values(call).any(|value| value.len() > 16 * 1024))
}

/// Ruling 24: what has ended is kept for longer than OpenClaw's 15 seconds.
fn past_their_retention(steps: &[&Step]) -> bool {
    let ends = |step: &&Step| match step {
        Step::Call { call, .. } | Step::Start { call, .. } => call.method == "question.resolve",
        Step::Expiry(_) => true,
        _ => false,
    };
    let Some(end) = steps.iter().position(ends) else { return false };
    let passed = steps.iter().skip(end).map(|step| match step {
        Step::Sleep(milliseconds) => *milliseconds,
        _ => 0,
    });
    passed.sum::<u64>() > 15_000
}

/// Ruling 24: a list can be asked for in parts.
fn list_with_our_parameter(steps: &[&Step]) -> bool {
    let ours = ["status", "sessionKey", "runId", "limit", "cursor"];
    last(steps).is_some_and(|call| {
        call.method == "question.list" && ours.iter().any(|member| call.params.get(member).is_some())
    })
}

/// Ruling 25: the host writes down who ended a question. OpenClaw writes what the caller says, or nothing.
fn record_that_was_ended(steps: &[&Step]) -> bool {
    last(steps).is_some_and(|call| {
        call.method == "question.get"
            && resolves(steps).any(|resolve| resolve.params["id"] == call.params["id"])
    })
}

/// Ruling 27: a repeated resolve gives the first result.
fn repeated_resolve(steps: &[&Step]) -> bool {
    let Some(call) = last(steps).filter(|call| call.method == "question.resolve") else { return false };
    let is_same = |earlier: &&Call| {
        ["id", "answers", "resolutionId"]
            .iter()
            .all(|member| earlier.params.get(member) == call.params.get(member))
    };
    call.params["resolutionId"].is_string() && resolves(steps).filter(is_same).count() > 1
}

fn calls<'s>(steps: &[&'s Step]) -> impl Iterator<Item = &'s Call> {
    steps.iter().filter_map(|step| call(step))
}

fn call(step: &Step) -> Option<&Call> {
    match step {
        Step::Call { call, .. } | Step::Start { call, .. } => Some(call),
        _ => None,
    }
}

/// The call of the step that is looked at, if it is one.
fn last<'s>(steps: &[&'s Step]) -> Option<&'s Call> {
    steps.last().and_then(|step| call(step))
}

fn resolves<'s>(steps: &[&'s Step]) -> impl Iterator<Item = &'s Call> {
    calls(steps).filter(|call| call.method == "question.resolve")
}

fn questions<'s>(steps: &[&'s Step]) -> impl Iterator<Item = &'s Value> {
    let requests = calls(steps).filter(|call| call.method == "question.request");
    requests.flat_map(|call| call.params["questions"].as_array().into_iter().flatten())
}

/// The answers of a resolve.
fn values(call: &Call) -> impl Iterator<Item = &str> {
    let answers = call.params["answers"]["answers"].as_object().into_iter().flatten();
    answers.flat_map(|(_, values)| values.as_array().into_iter().flatten()).filter_map(Value::as_str)
}

/// Every place of a recorded document, and those that a record has once it ended.
pub(super) fn places(at: &Place, value: &Value, found: &mut Vec<Place>) {
    found.push(at.clone());
    match value {
        Value::Array(items) => {
            items.iter().enumerate().for_each(|(index, item)| places(&at.item(index), item, found));
        }
        Value::Object(members) => {
            members.iter().for_each(|(name, member)| places(&at.member(name), member, found));
            if members.contains_key("questions") && members.contains_key("status") {
                found.extend(["answers", "resolvedBy"].map(|name| at.member(name)));
            }
        }
        _ => {}
    }
}
