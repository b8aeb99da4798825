//! Frames: requests that come in, responses and events that go out. One frame is one JSON text.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt::Write as _;

use serde::{Deserialize, Serialize};
use serde_json::Value;
use serde_json::value::RawValue;

use super::error::CallError;
use super::params::Object;

/// The longest `traceparent`, in characters.
const TRACEPARENT_LIMIT: usize = 128;
/// What a response names where a request has no id, as JSON text.
const UNKNOWN_ID: &str = r#""invalid""#;
/// The greatest number up to which JavaScript tells all whole ones apart.
const GREATEST_WHOLE: f64 = 9_007_199_254_740_991.0;

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
    /// Whether it is only for a person that it names. Nobody has a profile here, so it is for nobody.
    pub expects_profile: bool,
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
    Some(Request {
        id: id.into(),
        method: plain.method.into(),
        params: params.into(),
        expects_profile: false,
    })
}

/// Reads a frame of any spelling. Of members that come twice the last counts, as in JavaScript.
fn read_any(text: &str) -> Incoming<'_> {
    let members = match serde_json::from_str::<Object<Members<'_>>>(text) {
        Ok(members) => members.0,
        Err(_) if is_json(text) => {
            return Incoming::NotARequest { id: UNKNOWN_ID.into(), problem: "must be an object".into() };
        }
        Err(_) => return Incoming::NotJson,
    };
    let id = members.get("id").map_or_else(|| UNKNOWN_ID.into(), |id| written_again(id.get()));
    match request_of(members) {
        Ok(request) => Incoming::Request(Request { id: id.into(), ..request }),
        Err(problem) => Incoming::NotARequest { id, problem },
    }
}

type Members<'a> = BTreeMap<String, &'a RawValue>;

/// Whether a text is JSON, whatever it is. Numbers may be greater than any that can be counted with.
fn is_json(text: &str) -> bool {
    serde_json::from_str::<&RawValue>(text).is_ok()
}

/// A value that names nothing as JavaScript would write what it has read. What has no name gets one.
fn written_again(id: &str) -> String {
    match serde_json::from_str(id) {
        Ok(Value::Null) => UNKNOWN_ID.into(),
        Ok(Value::Number(number)) => match number.as_f64() {
            Some(whole) if whole.fract() == 0.0 && whole.abs() <= GREATEST_WHOLE => {
                (whole as i64).to_string()
            }
            _ => number.to_string(),
        },
        Ok(value) => value.to_string(),
        // Half of a character is text in JavaScript.
        Err(_) if id.starts_with('"') => id.to_owned(),
        // A number that JavaScript reads as infinite, and has no way to write.
        Err(_) => "null".into(),
    }
}

/// A request but for its id, or what is wrong with it.
fn request_of(mut members: Members<'_>) -> Result<Request<'_>, String> {
    match take_text(&mut members, "type")? {
        kind if kind == "req" => {}
        kind => return Err(format!("at /type: must be \"req\", not {:?}", super::error::shortened(&kind))),
    }
    take_text(&mut members, "id")?;
    let method = take_text(&mut members, "method")?;
    let params = match members.remove("params").map(RawValue::get) {
        None | Some("null") => "{}",
        Some(params) => params,
    };
    if members.contains_key("traceparent") {
        let trace = text_of(&mut members, "traceparent")?;
        if trace.is_none_or(|trace| trace.chars().count() > TRACEPARENT_LIMIT) {
            return Err(format!("at /traceparent: must be text of at most {TRACEPARENT_LIMIT} characters"));
        }
    }
    let expects_profile = members.contains_key("expectedProfileId");
    if expects_profile {
        take_text(&mut members, "expectedProfileId")?;
    }
    match members.keys().next() {
        None => Ok(Request { id: "".into(), method: method.into(), params: params.into(), expects_profile }),
        Some(unknown) => Err(format!("must not have the property {:?}", super::error::shortened(unknown))),
    }
}

fn take_text(members: &mut Members<'_>, name: &str) -> Result<String, String> {
    match text_of(members, name)? {
        Some(text) if !text.is_empty() => Ok(text),
        Some(_) => Err(format!("at /{name}: must not be empty")),
        None => Err(format!("at /{name}: must be a string")),
    }
}

/// Takes a member. Nothing where it is no text.
fn text_of(members: &mut Members<'_>, name: &str) -> Result<Option<String>, String> {
    let value = members.remove(name).ok_or_else(|| format!("must have required property '{name}'"))?;
    Ok(serde_json::from_str(value.get()).ok())
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
        let all = r#"{"type":"req","id":"1","method":"m","traceparent":"t","expectedProfileId":"p"}"#;
        assert!(read(all).expects_profile);
        let beyond = r#"{"type":"req","id":"1","method":"\u006d","params":{"n":1e400}}"#;
        assert_eq!(read(beyond).params, r#"{"n":1e400}"#);
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
        for (sent, named) in [
            ("7", "7"),
            ("1e2", "100"),
            ("-0", "0"),
            ("1.50", "1.5"),
            ("1e400", "null"),
            ("true", "true"),
            ("[1]", "[1]"),
            (r#"{"a":1}"#, r#"{"a":1}"#),
            (r#""\ud800""#, r#""\ud800""#),
            ("null", UNKNOWN_ID),
        ] {
            assert_eq!(id(&format!(r#"{{"id":{sent}}}"#)), named, "{sent}");
        }
        assert_eq!(
            (id("{}"), id("[]"), id("1e400")),
            (UNKNOWN_ID.into(), UNKNOWN_ID.into(), UNKNOWN_ID.into())
        );
    }
}
