//! Why something that was asked of the service was not done. Nothing was changed unless a case says so.

use crate::contract::{AnswerError, SessionStanding, Violation};
use crate::ids::NoRandomness;
use crate::sandbox::CallError;
use crate::store::StoreError;

/// The host itself could not do its work.
#[derive(Clone, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum HostError {
    /// The plugin gave no decision.
    #[error(transparent)]
    Plugin(#[from] CallError),
    /// The store did not answer.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// No id could be made.
    #[error(transparent)]
    Randomness(#[from] NoRandomness),
    /// The source of ids keeps giving ids that are in use.
    #[error("the source of ids keeps giving ids that are in use, such as {id}")]
    IdsRepeat {
        /// The last one.
        id: String,
    },
    /// The tenant has as many prompts pending as it may have.
    #[error("{limit} questions are pending, which is as many as there may be")]
    TooManyPending {
        /// How many there may be.
        limit: usize,
    },
    /// What was handed in is larger than any honest record, and the plugin was not asked.
    #[error("this has {size} bytes; a record may have {limit}")]
    TooLarge {
        /// How large it is, packed.
        size: usize,
        /// How large it may be.
        limit: usize,
    },
    /// The runtime is shutting down.
    #[error("the host is shutting down")]
    ShuttingDown,
}

/// Why a call of the tool made no prompt. Nobody was asked.
#[derive(Clone, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum AskError {
    /// The arguments break the contract; every violation is listed.
    #[error("ask_user was called with {} invalid argument(s):\n{}", .0.len(), list(.0))]
    InvalidArguments(Vec<Violation>),
    /// Only a main session may ask (ruling 10).
    #[error("{}", standing(.0))]
    NotAMainSession(SessionStanding),
    /// The session has a prompt pending (ruling 11).
    #[error("this session already has a question pending ({id}); wait for its answer before asking again")]
    AlreadyPending {
        /// The prompt that is pending.
        id: String,
    },
    /// The run had been aborted before it asked.
    #[error("the run was aborted")]
    Aborted,
    /// The host itself failed.
    #[error(transparent)]
    Host(#[from] HostError),
}

fn list(violations: &[Violation]) -> String {
    violations.iter().map(|violation| format!("- {}", violation.message)).collect::<Vec<_>>().join("\n")
}

fn standing(standing: &SessionStanding) -> &'static str {
    match standing {
        SessionStanding::NoSession => "ask_user is only for a main session, and this run has no session",
        SessionStanding::Subagent => "ask_user is only for a main session, and this is a subagent's",
        SessionStanding::Acp => "ask_user is only for a main session, and this one is driven over ACP",
        SessionStanding::Scheduled => {
            "ask_user is only for a main session, and this one was started by a schedule"
        }
        SessionStanding::Heartbeat => {
            "ask_user is only for a main session, and this one was started by a heartbeat"
        }
    }
}

/// Why a request of a gateway client made no prompt.
#[derive(Clone, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RequestError {
    /// The parameters break the contract; every violation is listed.
    #[error("the request has {} invalid parameter(s):\n{}", .0.len(), list(.0))]
    Invalid(Vec<Violation>),
    /// The tenant has a prompt of this id.
    #[error("the id {id} is in use")]
    IdInUse {
        /// The id.
        id: String,
    },
    /// The host itself failed.
    #[error(transparent)]
    Host(#[from] HostError),
}

/// Why a prompt was not settled.
#[derive(Clone, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SettleError {
    /// There is no such prompt, or it is not the caller's: both are this answer (ruling 26).
    #[error("there is no question {id}")]
    NotFound {
        /// The id.
        id: String,
    },
    /// It has ended before, or its deadline has passed.
    #[error("the question {id} has already ended")]
    AlreadyTerminal {
        /// The id.
        id: String,
    },
    /// The answers do not fit; the prompt stays pending. Every reason is listed.
    #[error("{}", .0.iter().map(|error| error.message.as_str()).collect::<Vec<_>>().join("\n"))]
    InvalidAnswers(Vec<AnswerError>),
    /// The caller named somebody else as the one who answers and may not (ruling 25).
    #[error("only a caller with the scope for it may name somebody else as the one who answers")]
    MayNotNameAnswerer,
    /// The host itself failed.
    #[error(transparent)]
    Host(#[from] HostError),
}

/// Why a prompt was not found.
#[derive(Clone, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum FindError {
    /// There is no such prompt, or it is not the caller's: both are this answer (ruling 26).
    #[error("there is no question {id}")]
    NotFound {
        /// The id.
        id: String,
    },
    /// The host itself failed.
    #[error(transparent)]
    Host(#[from] HostError),
}

/// Why a wait gave no result.
#[derive(Clone, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum WaitError {
    /// The run was aborted; its prompt is cancelled (ruling 22). The agent gets no tool result.
    #[error("the run was aborted")]
    Aborted,
    /// There is no such prompt, it is not the caller's, or it was deleted while it was waited for.
    #[error("there is no question {id}")]
    NotFound {
        /// The id.
        id: String,
    },
    /// The host itself failed.
    #[error(transparent)]
    Host(#[from] HostError),
}
