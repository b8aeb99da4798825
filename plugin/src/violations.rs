//! Every rule that a piece of input breaks, collected with its place, what is allowed and what came (ruling 1).

use serde_json::Value;

use crate::model::{Rule, Violation};
use crate::text::{excerpt, utf16_len};

/// How many violations are listed; one more says how many there were.
const LISTED: usize = 64;
/// Longest `received`, in characters.
const RECEIVED: usize = 120;

/// Collects violations in the order in which they are found.
#[derive(Debug, Default)]
pub(crate) struct Violations {
    found: Vec<Violation>,
    unlisted: usize,
}

impl Violations {
    /// Notes that what stands at `path` breaks `rule`. `allowed` and `received` become one sentence.
    pub(crate) fn add(
        &mut self,
        path: impl Into<String>,
        rule: Rule,
        allowed: impl Into<String>,
        received: impl Into<String>,
    ) {
        if self.found.len() >= LISTED {
            self.unlisted += 1;
            return;
        }
        let (path, allowed, received) = (path.into(), allowed.into(), received.into());
        let message = format!("{path}: {allowed}; received {received}");
        self.found.push(Violation { path, rule, allowed, received, message });
    }

    /// How many were found so far.
    pub(crate) fn count(&self) -> usize {
        self.found.len() + self.unlisted
    }

    /// All of them, or what they would have stood in the way of.
    pub(crate) fn into_result<T>(mut self, value: impl FnOnce() -> Option<T>) -> Result<T, Vec<Violation>> {
        if self.found.is_empty() {
            if let Some(value) = value() {
                return Ok(value);
            }
            self.add("arguments", Rule::Json, "arguments that can be read", "arguments that cannot");
        }
        if self.unlisted > 0 {
            self.found.push(Violation {
                path: "arguments".into(),
                rule: Rule::More,
                allowed: format!("at most {LISTED} violations are listed"),
                received: format!("{} more", self.unlisted),
                message: format!("arguments: {} more violations are not listed", self.unlisted),
            });
        }
        Err(self.found)
    }
}

/// What came, in a few words: its type and, where that helps, its value or size.
pub(crate) fn describe(value: &Value) -> String {
    match value {
        Value::Null => "null".into(),
        Value::Bool(flag) => format!("the boolean {flag}"),
        Value::Number(number) => format!("the number {}", excerpt(&number.to_string(), 40)),
        Value::String(text) => describe_text(text),
        Value::Array(items) => format!("an array of {}", items.len()),
        Value::Object(members) => match members.keys().next() {
            None => "an empty object".into(),
            Some(_) => {
                let names = members.keys().map(String::as_str).collect::<Vec<_>>().join(", ");
                format!("an object with {}", excerpt(&names, RECEIVED - 20))
            }
        },
    }
}

/// A text that came, in quotes, with its length when it had to be cut.
pub(crate) fn describe_text(text: &str) -> String {
    if text.is_empty() {
        return "an empty text".into();
    }
    let shown = excerpt(text, RECEIVED - 40);
    if shown.is_empty() {
        return format!("a text of {} characters with nothing to see in it", text.chars().count());
    }
    if shown.ends_with('…') && !text.ends_with('…') {
        format!("\"{shown}\" ({} UTF-16 units)", utf16_len(text))
    } else {
        format!("\"{shown}\"")
    }
}
