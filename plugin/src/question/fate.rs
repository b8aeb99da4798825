//! Ends without an answer: expiry and cancelling (rulings 20 to 22).

use super::ResolveError;
use crate::model::{NoAnswerReason, Outcome, Prompt, Settlement, Timestamp};

/// What OpenClaw's tool calls itself when it ends the question of an aborted run.
const RUN_ABORT: &str = "run-abort";

/// A request to end a prompt without an answer.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Cancellation {
    /// Why; see [`cancel`].
    pub reason: Option<NoAnswerReason>,
    /// Who ends it.
    pub resolved_by: Option<String>,
}

/// The end of a prompt whose deadline has passed at `now`; nothing when it has not, or when it was settled.
pub fn expire(prompt: &Prompt, now: Timestamp) -> Option<Settlement> {
    (prompt.settlement.is_none() && prompt.is_overdue(now)).then_some(Settlement {
        outcome: Outcome::NoAnswer(NoAnswerReason::Expired),
        at: now,
        resolved_by: None,
        resolution_id: None,
    })
}

/// Decides about ending a prompt without an answer. Without a reason it counts as skipped, or as cancelled when an
/// aborted run ends it (ruling 20). A prompt that is not overdue cannot be made to look expired: that counts as
/// cancelled.
pub fn cancel(
    prompt: &Prompt,
    cancellation: Cancellation,
    now: Timestamp,
) -> Result<Settlement, ResolveError> {
    super::resolve::open(prompt, now)?;
    let reason = match cancellation.reason {
        Some(NoAnswerReason::Expired) => NoAnswerReason::Cancelled,
        Some(reason) => reason,
        None if cancellation.resolved_by.as_deref() == Some(RUN_ABORT) => NoAnswerReason::Cancelled,
        None => NoAnswerReason::Skipped,
    };
    Ok(Settlement {
        outcome: Outcome::NoAnswer(reason),
        at: now,
        resolved_by: cancellation.resolved_by,
        resolution_id: None,
    })
}
