//! Frames against the schema that OpenClaw publishes of them. It is older than the recording, and what was recorded and
//! is not in it is excepted here.

use std::collections::HashMap;
use std::sync::OnceLock;

use jsonschema::Validator;
use serde_json::{Value, json};

use crate::text::clusters;

const SCHEMA: &str = include_str!("../../vectors/openclaw-gateway-protocol/protocol.schema.json");

/// Where a frame of the server is not as it was published. Of a response the method has to be known.
pub(super) fn faults(frame: &Value, method: Option<&str>) -> Vec<String> {
    let frame = excepted(frame.clone(), method);
    let (envelope, payload) = match frame["type"].as_str() {
        Some("res") => ("ResponseFrame", method.and_then(of_response).filter(|_| frame["ok"] == true)),
        _ => ("EventFrame", frame["event"].as_str().and_then(of_event)),
    };
    let mut faults = of(envelope, &frame);
    if let Some(definition) = payload {
        faults.extend(of(definition, &frame["payload"]));
    }
    faults
}

fn of_response(method: &str) -> Option<&'static str> {
    Some(match method {
        "connect" => "HelloOk",
        "question.request" => "QuestionRequestResult",
        "question.waitAnswer" => "QuestionWaitAnswerResult",
        "question.resolve" => "QuestionResolveResult",
        "question.get" => "QuestionGetResult",
        "question.list" => "QuestionListResult",
        _ => return None,
    })
}

fn of_event(name: &str) -> Option<&'static str> {
    Some(match name {
        "tick" => "TickEvent",
        "question.requested" => "QuestionRecord",
        "question.resolved" => "QuestionResolvedEvent",
        _ => return None,
    })
}

fn of(definition: &str, value: &Value) -> Vec<String> {
    static VALIDATORS: OnceLock<HashMap<String, Validator>> = OnceLock::new();
    let validators = VALIDATORS.get_or_init(|| {
        let schema: Value = serde_json::from_str(SCHEMA).expect("the schema is JSON");
        let definitions = schema["definitions"].as_object().expect("it has definitions");
        let validator = |schema| jsonschema::draft7::new(schema).expect("a definition is a schema");
        definitions.iter().map(|(name, schema)| (name.clone(), validator(schema))).collect()
    });
    let validator = &validators[definition];
    let faults = validator.iter_errors(value);
    faults.map(|fault| format!("{definition}: {}: {fault} in {value}", fault.instance_path())).collect()
}

/// A frame without what 2026.9.6 sends and the older schema does not know.
fn excepted(mut frame: Value, method: Option<&str>) -> Value {
    // It has no `resolutionId` in what is waited for.
    if method == Some("question.waitAnswer")
        && let Some(payload) = frame["payload"].as_object_mut()
        && payload.get("resolutionId").is_some_and(Value::is_string)
    {
        payload.remove("resolutionId");
    }
    // A frame that is no request is refused with the id that it has, also if that is none.
    if frame["ok"] == false && (frame["id"].is_number() || frame["id"] == "") {
        frame["id"] = json!("an id");
    }
    if let Some(payload) = frame.get_mut("payload") {
        each_record(payload);
    }
    frame
}

/// A payload is a record, has one, or has several.
fn each_record(payload: &mut Value) {
    if payload.get("createdAtMs").is_some() {
        record(payload);
    } else if let Some(one) = payload.get_mut("question") {
        record(one);
    } else if let Some(several) = payload.get_mut("questions").and_then(Value::as_array_mut) {
        several.iter_mut().for_each(record);
    }
}

/// A record without what the older schema does not know: the `url` of a question, and how long a header is. It counts
/// characters, and what was recorded counts clusters.
fn record(record: &mut Value) {
    let questions = record.get_mut("questions").and_then(Value::as_array_mut);
    for question in questions.into_iter().flatten().filter_map(Value::as_object_mut) {
        if question.get("url").is_some_and(Value::is_string) {
            question.remove("url");
        }
        if let Some(header) = question.get_mut("header")
            && header.as_str().is_some_and(|header| clusters(header) <= 12)
        {
            *header = json!("");
        }
    }
}

#[test]
fn a_frame_that_was_never_published_is_found() {
    let good = json!({ "type": "event", "event": "tick", "payload": { "ts": 5 }, "seq": 1 });
    assert_eq!(faults(&good, None), [] as [&str; 0]);
    for (member, value) in [("payload", json!({ "ts": -5 })), ("seq", json!("1")), ("more", json!(1))] {
        let mut bad = good.clone();
        bad[member] = value;
        assert_eq!(faults(&bad, None).len(), 1, "{bad}");
    }
    let resolved = |method| {
        faults(&json!({ "type": "res", "id": "1", "ok": true, "payload": { "status": "gone" } }), method)
    };
    assert!(resolved(Some("question.resolve")).len() == 1 && resolved(None).is_empty());
}
