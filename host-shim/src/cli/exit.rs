//! Exit codes. They are part of what scripts rely on.

use std::process::ExitCode;

/// How the program ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Exit {
    /// Answered, or done.
    Done,
    /// Anything that has no code of its own.
    Failed,
    /// The arguments of the tool were refused.
    Refused,
    /// The prompt ended without an answer.
    NoAnswer,
    /// The command line was wrong. Not clap's 2, which would look like refused arguments.
    Usage,
    /// Aborted by a signal.
    Aborted,
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(match exit {
            Exit::Done => 0,
            Exit::Failed => 1,
            Exit::Refused => 2,
            Exit::NoAnswer => 3,
            Exit::Usage => 64,
            Exit::Aborted => 130,
        })
    }
}
