//! What the recording writes in place of values that are new in every run.

use std::collections::HashMap;

use serde_json::{Map, Value, json};

use super::scenario::escaped;

/// The names that ids have in the recording, and when records were made.
#[derive(Default)]
pub(super) struct Notation {
    names: HashMap<String, String>,
    made: HashMap<String, u64>,
}

impl Notation {
    /// Notes what the recording calls an id.
    pub(super) fn name(&mut self, id: &str, name: &str) {
        self.names.insert(id.to_owned(), name.to_owned());
    }

    /// Notes when a record was made. A later one may have the same id.
    pub(super) fn made(&mut self, record: &Value) {
        if let (Some(id), Some(at)) = (record["id"].as_str(), record["createdAtMs"].as_u64()) {
            self.made.insert(id.to_owned(), at);
        }
    }

    /// The id that the recording calls so.
    pub(super) fn id_of<'n>(&'n self, name: &'n str) -> &'n str {
        self.names.iter().find(|(_, known)| *known == name).map_or(name, |(id, _)| id)
    }

    /// The text of parameters, as it is sent.
    pub(super) fn to_send(&self, text: &str) -> String {
        let escaped = escaped(text);
        self.names
            .iter()
            .fold(escaped, |text, (id, name)| text.replace(&json!(name).to_string(), &json!(id).to_string()))
    }

    /// What came, as the recording writes it.
    pub(super) fn written(&self, value: &Value) -> Value {
        match value {
            Value::Array(items) => items.iter().map(|item| self.written(item)).collect(),
            Value::Object(members) => {
                let made =
                    members.get("id").and_then(Value::as_str).and_then(|id| self.made.get(id)).copied();
                let members =
                    members.iter().map(|(name, value)| (name.clone(), self.member(name, value, made)));
                Value::Object(members.collect())
            }
            value => value.clone(),
        }
    }

    fn member(&self, name: &str, value: &Value, made: Option<u64>) -> Value {
        match (name, made, value.as_u64()) {
            ("createdAtMs", Some(made), Some(at)) if at == made => json!("$createdAtMs"),
            ("expiresAtMs", Some(made), Some(at)) if at >= made => json!({ "$plusMs": at - made }),
            ("id", ..) => {
                let known = value.as_str().and_then(|id| self.names.get(id));
                known.map_or_else(|| value.clone(), |name| json!(name))
            }
            _ => self.written(value),
        }
    }
}

/// A frame that came, as the recording of transport has it: values that are new in every run are named, and an object of
/// which it has `keys` is cut down to the members it shows.
pub(super) fn cut(recorded: &Value, came: &Value) -> Value {
    cut_within(recorded, came, false)
}

/// The same, of what may be part of something that is cut down.
fn cut_within(recorded: &Value, came: &Value, is_cut_down: bool) -> Value {
    match (recorded, came) {
        (Value::String(name), came) if stands_for(name, came) => recorded.clone(),
        (Value::Object(shown), Value::Object(came)) => {
            cut_object(shown, came, is_cut_down || shown.contains_key("keys")).into()
        }
        (Value::Array(recorded), Value::Array(came)) => {
            let nothing = Value::Null;
            let recorded = recorded.iter().chain(std::iter::repeat(&nothing));
            came.iter()
                .zip(recorded)
                .map(|(came, recorded)| cut_within(recorded, came, is_cut_down))
                .collect()
        }
        (_, came) => came.clone(),
    }
}

fn stands_for(name: &str, came: &Value) -> bool {
    match name {
        "$nonce" | "$string" | "$id1" => came.as_str().is_some_and(|text| !text.is_empty()),
        "$ms" | "$createdAtMs" => came.is_u64(),
        "$strings" => came.as_array().is_some_and(|items| items.iter().all(Value::is_string)),
        "$list" => came.is_array(),
        _ => false,
    }
}

fn cut_object(
    shown: &Map<String, Value>,
    came: &Map<String, Value>,
    is_cut_down: bool,
) -> Map<String, Value> {
    let made = came.get("createdAtMs").and_then(Value::as_u64);
    let mut cut_down = Map::new();
    for (name, recorded) in shown {
        if name == "keys" {
            cut_down.insert(name.clone(), recorded.clone());
            continue;
        }
        // Names of methods and events are cut down to those that a question concerns.
        let (member, is_shown): (&str, fn(&Value) -> bool) = match name.as_str() {
            "methods(question.*)" => {
                ("methods", |name| name.as_str().is_some_and(|name| name.starts_with("question.")))
            }
            "events(question.*,tick)" => ("events", |name| {
                name == "tick" || name.as_str().is_some_and(|name| name.starts_with("question."))
            }),
            name => (name, |_| true),
        };
        let Some(value) = came.get(member) else { continue };
        let value = match (recorded.get("$plusMs"), value.as_u64(), made) {
            (Some(_), Some(at), Some(made)) if at >= made => json!({ "$plusMs": at - made }),
            _ if member != name => {
                value.as_array().into_iter().flatten().filter(|name| is_shown(name)).cloned().collect()
            }
            _ => cut_within(recorded, value, is_cut_down),
        };
        cut_down.insert(name.clone(), value);
    }
    if !is_cut_down {
        let more = came.iter().filter(|(name, _)| !shown.contains_key(*name) && *name != "seq");
        cut_down.extend(more.map(|(name, value)| (name.clone(), value.clone())));
    }
    cut_down
}
