//! The tool `ask_user`: what a model sees of it, whether its call is valid, and what it gets back.

mod arguments;
mod definition;
mod outcome;
mod session;

pub(crate) use arguments::is_id;
pub use definition::{Definition, definition};
pub(crate) use outcome::{Envelope, envelope};
pub use outcome::{ToolResult, outcome};
pub use session::{Standing, objection};

use crate::model::{Context, Prompt, Violation};

/// Why a call was refused.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// Every rule the arguments break.
    InvalidArguments(Vec<Violation>),
    /// Only a main session may ask (ruling 10).
    NotAMainSession(Standing),
}

/// Decides about one call: a prompt to register, or why not. The session is looked at first: a run that may not ask
/// learns nothing else.
pub fn ask_user(arguments: &str, context: Context) -> Result<Prompt, Refusal> {
    if let Some(standing) = objection(&context.origin) {
        return Err(Refusal::NotAMainSession(standing));
    }
    let arguments = arguments::parse(arguments).map_err(Refusal::InvalidArguments)?;
    Ok(Prompt {
        id: context.id,
        questions: arguments.questions,
        origin: context.origin,
        created_at: context.now,
        expires_at: context.now.saturating_add(arguments.timeout_seconds * 1000),
        settlement: None,
    })
}
