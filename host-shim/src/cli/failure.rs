//! Why a command failed, for a person or for a script.

use serde_json::{Value, json};

use super::exit::Exit;
use super::output;
use crate::contract::Violation;

/// Why a command failed.
#[derive(Debug)]
pub(super) struct Failure {
    exit: Exit,
    text: String,
    json: Option<Value>,
}

impl Failure {
    /// A failure that has no code of its own. `kind` is what a script can look for.
    pub(super) fn other(kind: &'static str, error: impl std::fmt::Display) -> Self {
        let text = error.to_string();
        let json = json!({ "error": kind, "message": text });
        Self { exit: Exit::Failed, text, json: Some(json) }
    }

    /// Names the prompt that stands in the way, so that a script can go to it.
    pub(super) fn about(self, id: &str) -> Self {
        self.with("id", id)
    }

    /// Tells a script one thing more.
    pub(super) fn with(mut self, name: &str, value: impl Into<Value>) -> Self {
        if let Some(Value::Object(json)) = &mut self.json {
            json.insert(name.into(), value.into());
        }
        self
    }

    /// A wrong command line.
    pub(super) fn usage(text: impl Into<String>) -> Self {
        let text = text.into();
        let json = json!({ "error": "usage", "message": text });
        Self { exit: Exit::Usage, text, json: Some(json) }
    }

    /// The run was aborted.
    pub(super) fn aborted() -> Self {
        let json = json!({ "error": "aborted", "message": "the run was aborted" });
        Self { exit: Exit::Aborted, text: "aborted".into(), json: Some(json) }
    }

    /// The arguments of the tool were refused.
    pub(super) fn refused(violations: &[Violation]) -> Self {
        let mut text = String::from("The arguments of ask_user were refused:");
        for violation in violations {
            let path = output::emphasised(&violation.path);
            text.push_str(&format!("\n  {path}\n    allowed:  {}", violation.allowed));
            text.push_str(&format!("\n    received: {}", violation.received));
        }
        let json = violations.iter().map(Violation::to_json).collect();
        Self { exit: Exit::Refused, text, json: Some(Value::Array(json)) }
    }

    /// Prints for a person.
    pub(super) fn report(self) -> Exit {
        output::note(&format!("ask-user: {}", self.text));
        self.exit
    }

    /// Prints for a script.
    pub(super) fn report_json(self) -> Exit {
        if let Some(json) = self.json {
            output::note(&json.to_string());
        }
        self.exit
    }
}
