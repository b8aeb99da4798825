//! The error of a response, as OpenClaw's clients read it.

use serde::Serialize;
use serde_json::{Value, json};

use super::scope;

/// Why a call was refused. Clients branch on `code`, `details.reason` and `details.code`; the message is for people.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(crate) struct CallError {
    pub(crate) code: &'static str,
    pub(crate) message: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) details: Option<Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) retryable: Option<bool>,
}

impl CallError {
    fn new(code: &'static str, message: impl Into<String>, details: Option<Value>) -> Self {
        Self { code, message: message.into(), details, retryable: None }
    }

    /// The request cannot be taken as it is.
    pub(crate) fn invalid(message: impl Into<String>) -> Self {
        Self::new("INVALID_REQUEST", message, None)
    }

    /// The same, with what a client branches on.
    pub(crate) fn refused(reason: &'static str, message: impl Into<String>) -> Self {
        Self::invalid(message).with(json!({ "reason": reason }))
    }

    /// The call is only for a person that it names.
    pub(crate) fn expected_profile() -> Self {
        let details = json!({ "reason": "EXPECTED_PROFILE_MISMATCH", "execution": "not_started" });
        Self::invalid("nobody has a profile here, so this is for nobody; nothing was done").with(details)
    }

    /// The caller may not.
    pub(crate) fn forbidden(message: impl Into<String>) -> Self {
        Self::new("FORBIDDEN", message, None)
    }

    /// The caller lacks a scope.
    pub(crate) fn missing_scope(scope: &'static str) -> Self {
        let details = json!({ "code": "MISSING_SCOPE", "missingScope": scope, "requiredScopes": [scope] });
        Self::forbidden(format!("missing scope: {scope}")).with(details)
    }

    /// The device is not known here.
    pub(crate) fn not_paired(message: impl Into<String>) -> Self {
        Self::new("NOT_PAIRED", message, None)
    }

    /// The same call may succeed later.
    pub(crate) fn unavailable(message: impl Into<String>) -> Self {
        Self { retryable: Some(true), ..Self::new("UNAVAILABLE", message, None) }
    }

    /// A method that is not there. Only an administrator learns that; whoever else asks lacks the scope for it.
    pub(crate) fn unknown_method(method: &str, is_admin: bool) -> Self {
        if is_admin {
            Self::invalid(format!("unknown method: {}", shortened(method)))
        } else {
            Self::missing_scope(scope::ADMIN)
        }
    }

    pub(crate) fn with(mut self, details: Value) -> Self {
        self.details = Some(details);
        self
    }
}

/// What came, for a message: short, and without anything that would act on a terminal or a log.
pub(crate) fn shortened(text: &str) -> String {
    const LONGEST: usize = 120;
    let mut short: String =
        text.chars().map(|c| if c.is_control() { ' ' } else { c }).take(LONGEST).collect();
    if text.chars().nth(LONGEST).is_some() {
        short.push('…');
    }
    short
}
