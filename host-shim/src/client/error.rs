//! What can go wrong between a client and its gateway.

use std::fmt;
use std::io;

use serde::Deserialize;
use serde_json::Value;

/// Why a gateway refused a call.
#[derive(Clone, Debug, Deserialize, PartialEq)]
pub struct Refusal {
    /// The class, such as `INVALID_REQUEST` or `FORBIDDEN`.
    pub code: String,
    /// For people.
    #[serde(default)]
    pub message: String,
    /// For programs.
    #[serde(default)]
    pub details: Option<Value>,
    /// Whether the same call may succeed later.
    #[serde(default)]
    pub retryable: Option<bool>,
}

impl Refusal {
    /// What a program branches on: `details.reason`, such as `QUESTION_NOT_FOUND`, or `details.code`, such as
    /// `MISSING_SCOPE`.
    pub fn reason(&self) -> Option<&str> {
        let details = self.details.as_ref()?;
        details["reason"].as_str().or_else(|| details["code"].as_str())
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{} ({})", self.message, self.reason().unwrap_or(&self.code))
    }
}

/// Why a connection ended.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Closed {
    /// The gateway closed it.
    #[error("the gateway closed the connection: {code}{}", said(reason))]
    ByGateway {
        /// WebSocket's number for the reason; 1012 is a restart, 1008 a rule that was broken.
        code: u16,
        /// The reason in words; may be empty.
        reason: String,
    },
    /// We did.
    #[error("the connection was closed")]
    ByUs,
    /// It broke.
    #[error("the connection to the gateway was lost: {0}")]
    Lost(String),
    /// Nothing came for more than two ticks.
    #[error("the gateway has said nothing for {0} s")]
    Silent(u64),
    /// What came is no frame of the protocol.
    #[error("the gateway sent what is no frame of the protocol: {0}")]
    Garbage(String),
    /// The task that held it is gone, as when a runtime ends.
    #[error("the connection has ended")]
    Unknown,
}

fn said(reason: &str) -> String {
    if reason.is_empty() { String::new() } else { format!(" {reason}") }
}

/// Why a connection was not made.
#[derive(Debug, thiserror::Error)]
pub enum ConnectError {
    /// The address cannot be used.
    #[error("{url:?} is no address of a gateway, such as ws://127.0.0.1:18790: {problem}")]
    BadUrl {
        /// The address.
        url: String,
        /// What is wrong with it.
        problem: String,
    },
    /// Nobody listens there, or nobody can get there.
    #[error("no gateway can be reached at {url}: {source}")]
    Unreachable {
        /// The address.
        url: String,
        /// Why.
        source: io::Error,
    },
    /// Whoever answered is no gateway.
    #[error("what answers at {url} is no gateway: {problem}")]
    NotAGateway {
        /// The address.
        url: String,
        /// What it did.
        problem: String,
    },
    /// The gateway does not let us in.
    #[error("the gateway refused the connection: {0}")]
    Refused(Box<Refusal>),
    /// It closed the connection before it let us in.
    #[error(transparent)]
    Closed(Closed),
    /// It took too long.
    #[error("{url} did not answer as a gateway within {} s", .milliseconds / 1000)]
    TimedOut {
        /// The address.
        url: String,
        /// The limit, in milliseconds.
        milliseconds: u64,
    },
}

/// Why a call has no result.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum CallError {
    /// The gateway refused it.
    #[error("{0}")]
    Refused(Box<Refusal>),
    /// The connection ended first. Whether the call was carried out is not known.
    #[error(transparent)]
    Closed(#[from] Closed),
    /// It took too long. Whether the call is carried out is not known.
    #[error("the gateway did not answer {method} within {} s", .milliseconds / 1000)]
    TimedOut {
        /// The method.
        method: String,
        /// The limit, in milliseconds.
        milliseconds: u64,
    },
    /// The parameters cannot be written, or the result is not what the method has.
    #[error("the result of {method} cannot be read: {problem}")]
    Unreadable {
        /// The method.
        method: String,
        /// What is wrong.
        problem: String,
    },
}

impl CallError {
    /// What a program branches on; see [`Refusal::reason`].
    pub fn reason(&self) -> Option<&str> {
        match self {
            Self::Refused(refusal) => refusal.reason(),
            _ => None,
        }
    }
}
