//! Reading a service's callback payload, which anybody may have made.

use serde_json::Value;

use super::{Action, ChannelError, token};
use crate::text::excerpt;

/// Text at a JSON pointer.
pub(super) fn text<'v>(payload: &'v Value, pointer: &str) -> Option<&'v str> {
    payload.pointer(pointer).and_then(Value::as_str)
}

/// An id at a JSON pointer, which services send as text or as a whole number.
pub(super) fn id(payload: &Value, pointer: &str) -> Option<String> {
    match payload.pointer(pointer)? {
        Value::String(text) if !text.is_empty() => Some(text.clone()),
        Value::Number(number) if !number.is_f64() => Some(number.to_string()),
        _ => None,
    }
}

/// The same where it has to be there.
pub(super) fn need_id(payload: &Value, pointer: &str) -> Result<String, ChannelError> {
    id(payload, pointer).ok_or_else(|| missing(pointer))
}

/// A member of a payload of ours that is not there, or is of another type.
pub(super) fn missing(pointer: &str) -> ChannelError {
    let place = pointer.trim_start_matches('/').replace('/', ".");
    ChannelError::Malformed(format!("{place} is missing or is not what the service sends there"))
}

/// A tap on one control with this data.
pub(super) fn tapped(data: &str) -> Result<Action, ChannelError> {
    if token::is_ours(data) { Ok(Action::Choose(vec![data.to_owned()])) } else { Err(ChannelError::NotOurs) }
}

/// What is chosen in a list: the tokens at a JSON pointer, each of them ours.
pub(super) fn chosen<'v>(values: impl Iterator<Item = Option<&'v str>>) -> Result<Action, ChannelError> {
    let mut tokens = Vec::new();
    for value in values {
        match value {
            Some(value) if token::is_ours(value) => tokens.push(value.to_owned()),
            Some(value) => {
                let shown = excerpt(value, 64);
                return Err(ChannelError::Malformed(format!("“{shown}” is not one of our choices")));
            }
            None => return Err(ChannelError::Malformed("a choice is not text".to_owned())),
        }
    }
    Ok(Action::Choose(tokens))
}
