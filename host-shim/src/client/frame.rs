//! Frames: requests that go out, responses and events that come in. One frame is one JSON text.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use super::error::Refusal;

/// Something that happened.
#[derive(Clone, Debug)]
pub struct Event {
    /// Its name, such as `question.requested`.
    pub name: String,
    /// What is known of it, as JSON text; `null` where the gateway sends nothing.
    pub payload: Box<RawValue>,
    /// Which event of this connection it is, where the gateway counts them. A gap means that something was missed.
    pub seq: Option<u64>,
}

/// A request as it is written.
#[derive(Serialize)]
struct Outgoing<'a, P: ?Sized> {
    r#type: &'static str,
    id: &'a str,
    method: &'a str,
    params: &'a P,
}

/// The text of a request.
pub(super) fn request<P: Serialize + ?Sized>(
    id: u64,
    method: &str,
    params: &P,
) -> serde_json::Result<String> {
    serde_json::to_string(&Outgoing { r#type: "req", id: &id.to_string(), method, params })
}

/// What came in.
#[derive(Debug)]
pub(super) enum Incoming {
    /// The answer to a request of ours.
    Response { id: u64, result: Result<Box<RawValue>, Refusal> },
    /// Something happened.
    Event(Event),
    /// A frame of a kind that we do not know, or the answer to a request that we did not make.
    Foreign,
}

/// A frame that comes in, whatever its type.
#[derive(Deserialize)]
struct Frame<'a> {
    #[serde(borrow)]
    r#type: Cow<'a, str>,
    id: Option<Cow<'a, str>>,
    ok: Option<bool>,
    #[serde(borrow)]
    payload: Option<&'a RawValue>,
    error: Option<Refusal>,
    event: Option<String>,
    seq: Option<u64>,
}

/// Reads a frame. An error says why it is none.
pub(super) fn read(text: &str) -> Result<Incoming, String> {
    let frame: Frame<'_> =
        serde_json::from_str(text).map_err(|error| format!("{error} in {}", shown(text)))?;
    let payload = || frame.payload.map_or_else(|| RawValue::NULL.to_owned(), ToOwned::to_owned);
    Ok(match frame.r#type.as_ref() {
        "res" => {
            let Some(id) = frame.id.as_ref().and_then(|id| id.parse().ok()) else {
                return Ok(Incoming::Foreign);
            };
            let result = match (frame.ok, frame.error) {
                (Some(true), _) => Ok(payload()),
                (_, Some(refusal)) => Err(refusal),
                (_, None) => return Err(format!("a refusal without its reason: {}", shown(text))),
            };
            Incoming::Response { id, result }
        }
        "event" => match frame.event {
            Some(ref name) => {
                Incoming::Event(Event { name: name.clone(), payload: payload(), seq: frame.seq })
            }
            None => return Err(format!("an event without a name: {}", shown(text))),
        },
        _ => Incoming::Foreign,
    })
}

/// The beginning of what came, for a message.
fn shown(text: &str) -> String {
    const LONGEST: usize = 80;
    let mut shown: String = text.chars().take(LONGEST).flat_map(char::escape_debug).collect();
    if text.chars().nth(LONGEST).is_some() {
        shown.push('…');
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frames_are_told_apart() {
        let id = |text| match read(text) {
            Ok(Incoming::Response { id, result }) => Some((id, result.is_ok())),
            _ => None,
        };
        assert_eq!(id(r#"{"type":"res","id":"7","ok":true,"payload":{}}"#), Some((7, true)));
        assert_eq!(id(r#"{"type":"res","id":"\u0037","ok":true}"#), Some((7, true)));
        assert_eq!(id(r#"{"type":"res","id":"7","ok":false,"error":{"code":"X"}}"#), Some((7, false)));
        for foreign in
            [r#"{"type":"res","id":"x","ok":true}"#, r#"{"type":"ping"}"#, r#"{"type":"res","ok":true}"#]
        {
            assert!(matches!(read(foreign), Ok(Incoming::Foreign)), "{foreign}");
        }
        for garbage in
            ["", "hello", "[]", "{}", r#"{"type":"event"}"#, r#"{"type":"res","id":"7","ok":false}"#]
        {
            read(garbage).expect_err(garbage);
        }
        let event = read(r#"{"type":"event","event":"tick","payload":{"ts":5},"seq":3,"new":1}"#);
        let Ok(Incoming::Event(event)) = event else { panic!("{event:?}") };
        assert_eq!((event.name.as_str(), event.payload.get(), event.seq), ("tick", r#"{"ts":5}"#, Some(3)));
    }

    #[test]
    fn what_came_is_shown_in_short_and_without_control_characters() {
        let problem = read(&format!("\u{1b}[2J{}", "x".repeat(200))).expect_err("it is no JSON");
        assert!(problem.len() < 200 && !problem.contains('\u{1b}') && problem.ends_with('…'), "{problem}");
    }
}
