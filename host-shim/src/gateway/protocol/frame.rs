//! Frames: requests that come in, responses and events that go out. One frame is one JSON text.

use std::borrow::Cow;
use std::fmt::Write as _;

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use serde_json::{Map, Value};

use super::error::CallError;

/// The longest `traceparent`, in characters.
const TRACEPARENT_LIMIT: usize = 128;

/// What a frame turned out to be.
#[derive(Debug, PartialEq)]
pub enum Incoming<'a> {
    /// Something that is no JSON.
    NotJson,
    /// JSON that is no request. The id is what a response can name, as JSON text.
    NotARequest {
        /// The id to answer with.
        id: String,
        /// What is wrong.
        problem: String,
    },
    /// A request.
    Request(Request<'a>),
}

/// A request of a client.
#[derive(Debug, PartialEq)]
pub struct Request<'a> {
    /// Its id, as JSON text.
    pub id: Cow<'a, str>,
    /// The method.
    pub method: Cow<'a, str>,
    /// The parameters as JSON text; an empty object where there are none.
    pub params: Cow<'a, str>,
}

/// A request as nearly all clients write it: read without copying anything.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Plain<'a> {
    r#type: &'a str,
    #[serde(borrow)]
    id: &'a RawValue,
    #[serde(borrow)]
    method: &'a str,
    #[serde(borrow)]
    params: Option<&'a RawValue>,
}

/// Reads a frame. Whatever it holds, this tells what it is.
pub fn read(frame: &[u8]) -> Incoming<'_> {
    // No JSON text begins with a byte order mark.
    let Ok(text) = std::str::from_utf8(frame) else { return Incoming::NotJson };
    read_plain(text).map_or_else(|| read_any(text), Incoming::Request)
}

fn read_plain(text: &str) -> Option<Request<'_>> {
    // A derived type would take an array as well.
    if !text.trim_ascii_start().starts_with('{') {
        return None;
    }
    let plain: Plain<'_> = serde_json::from_str(text).ok()?;
    let id = plain.id.get();
    // Longer than its quotes, and without escapes, which are left to the slow way.
    let is_plain_id = id.len() > 2 && id.starts_with('"') && !id.contains('\\');
    if plain.r#type != "req" || !is_plain_id || plain.method.is_empty() {
        return None;
    }
    let params = match plain.params.map(RawValue::get) {
        None | Some("null") => "{}",
        Some(params) => params,
    };
    Some(Request { id: id.into(), method: plain.method.into(), params: params.into() })
}

/// Reads a frame of any spelling. Of members that come twice the last counts, as in JavaScript.
fn read_any(text: &str) -> Incoming<'_> {
    let Ok(value) = serde_json::from_str::<Value>(text) else { return Incoming::NotJson };
    let id = match &value {
        Value::Object(members) => match members.get("id") {
            Some(id @ (Value::String(_) | Value::Number(_))) => id.to_string(),
            _ => r#""invalid""#.to_owned(),
        },
        _ => r#""invalid""#.to_owned(),
    };
    match request_of(value) {
        Ok((method, params)) => {
            Incoming::Request(Request { id: id.into(), method: method.into(), params: params.into() })
        }
        Err(problem) => Incoming::NotARequest { id, problem },
    }
}

/// The method and the parameters of a request, or what is wrong with it.
fn request_of(value: Value) -> Result<(String, String), String> {
    let Value::Object(mut members) = value else { return Err("must be an object".into()) };
    let mut text = |name: &str| take_text(&mut members, name);
    match text("type")? {
        kind if kind == "req" => {}
        kind => return Err(format!("at /type: must be \"req\", not {:?}", super::error::shortened(&kind))),
    }
    text("id")?;
    let method = text("method")?;
    let params = match members.remove("params") {
        None | Some(Value::Null) => "{}".to_owned(),
        Some(params) => params.to_string(),
    };
    match members.remove("traceparent") {
        None => {}
        Some(Value::String(trace)) if trace.chars().count() <= TRACEPARENT_LIMIT => {}
        Some(_) => {
            return Err(format!("at /traceparent: must be text of at most {TRACEPARENT_LIMIT} characters"));
        }
    }
    if members.contains_key("expectedProfileId") {
        take_text(&mut members, "expectedProfileId")?;
    }
    match members.keys().next() {
        None => Ok((method, params)),
        Some(unknown) => Err(format!("must not have the property {:?}", super::error::shortened(unknown))),
    }
}

fn take_text(members: &mut Map<String, Value>, name: &str) -> Result<String, String> {
    match members.remove(name) {
        Some(Value::String(text)) if !text.is_empty() => Ok(text),
        Some(Value::String(_)) => Err(format!("at /{name}: must not be empty")),
        Some(_) => Err(format!("at /{name}: must be a string")),
        None => Err(format!("must have required property '{name}'")),
    }
}

/// The text of a response. `id` and `payload` are JSON text.
pub(crate) fn response(id: &str, result: Result<&str, &CallError>) -> String {
    match result {
        Ok(payload) => {
            let mut text = String::with_capacity(48 + id.len() + payload.len());
            text.extend([r#"{"type":"res","id":"#, id, r#","ok":true,"payload":"#, payload, "}"]);
            text
        }
        Err(error) => {
            let error = to_json(error);
            let mut text = String::with_capacity(48 + id.len() + error.len());
            text.extend([r#"{"type":"res","id":"#, id, r#","ok":false,"error":"#, &error, "}"]);
            text
        }
    }
}

/// The text of an event but for its end, which each connection writes with its own number.
pub(crate) fn event_head(event: &str, payload: &str) -> String {
    let mut text = String::with_capacity(64 + event.len() + payload.len());
    text.extend([r#"{"type":"event","event":""#, event, r#"","payload":"#, payload]);
    text
}

/// The whole text of an event.
pub(crate) fn event(head: &str, seq: u64) -> String {
    let mut text = String::with_capacity(head.len() + 16);
    text.push_str(head);
    // Writing to a string does not fail.
    let _ = write!(text, r#","seq":{seq}}}"#);
    text
}

/// The text of an event that is not counted.
pub(crate) fn uncounted_event(event: &str, payload: &str) -> String {
    let mut text = event_head(event, payload);
    text.push('}');
    text
}

/// JSON text of something of ours.
pub(crate) fn to_json(value: &impl Serialize) -> String {
    serde_json::to_string(value).unwrap_or_else(|error| {
        debug_assert!(false, "{error}");
        "null".into()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn problem(text: &str) -> String {
        match read(text.as_bytes()) {
            Incoming::NotARequest { problem, .. } => problem,
            other => panic!("{text}: {other:?}"),
        }
    }

    #[test]
    fn both_ways_of_reading_agree() {
        for text in [
            r#"{"type":"req","id":"1","method":"m","params":{"a":1}}"#,
            r#"{"type":"req","id":"1","method":"m","params":null}"#,
            r#"{"type":"req","id":"1","method":"m"}"#,
            r#" {"id":"1","method":"m","params":[1,2],"type":"req"} "#,
        ] {
            let plain = read_plain(text).unwrap_or_else(|| panic!("{text}"));
            assert_eq!(Incoming::Request(plain), read_any(text), "{text}");
        }
    }

    #[test]
    fn spellings_that_nobody_writes_are_read_as_well() {
        let read = |text: &'static str| match super::read(text.as_bytes()) {
            Incoming::Request(request) => request,
            other => panic!("{other:?}"),
        };
        assert_eq!(read(r#"{"type":"req","type":"req","id":"1","method":"a","method":"b"}"#).method, "b");
        assert_eq!(read(r#"{"type":"req","id":"\u0031","method":"\u006d"}"#).id, r#""1""#);
        assert_eq!(
            read(r#"{"type":"req","id":"1","method":"m","traceparent":"t","expectedProfileId":"p"}"#).method,
            "m"
        );
    }

    #[test]
    fn what_is_no_request_is_told_with_its_place() {
        assert_eq!(problem("5"), "must be an object");
        assert_eq!(problem("{}"), "must have required property 'type'");
        assert_eq!(
            problem(r#"{"type":"res","id":"1","method":"m"}"#),
            "at /type: must be \"req\", not \"res\""
        );
        assert_eq!(problem(r#"{"type":"req","id":"","method":"m"}"#), "at /id: must not be empty");
        assert_eq!(
            problem(r#"{"type":"req","id":"1","method":"m","x":1}"#),
            "must not have the property \"x\""
        );
        for text in ["", "hello", "\u{feff}{}", "{"] {
            assert_eq!(read(text.as_bytes()), Incoming::NotJson, "{text:?}");
        }
        assert_eq!(read(b"\xff"), Incoming::NotJson);
    }

    #[test]
    fn a_response_names_what_it_can_of_the_id() {
        let id = |text: &str| match read(text.as_bytes()) {
            Incoming::NotARequest { id, .. } => id,
            other => panic!("{other:?}"),
        };
        assert_eq!(id(r#"{"id":"a\"b"}"#), r#""a\"b""#);
        assert_eq!(id(r#"{"id":7}"#), "7");
        assert_eq!(id(r#"{"id":{}}"#), r#""invalid""#);
    }
}
