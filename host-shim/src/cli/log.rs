//! The log of `ask-user serve`, on standard error.

use std::env;
use std::io::{self, IsTerminal};

use clap::ValueEnum;
use tracing_subscriber::EnvFilter;

use super::failure::Failure;
use super::output;

/// How the log is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum Form {
    /// Lines for people.
    Text,
    /// One JSON object a line.
    Json,
}

/// What chooses what is logged.
const FILTER: &str = "ASK_USER_LOG";

/// Begins to log.
pub(super) fn begin(form: Form) -> Result<(), Failure> {
    let filter = match env::var(FILTER) {
        Ok(filter) if !filter.trim().is_empty() => EnvFilter::try_new(&filter)
            .map_err(|error| Failure::usage(format!("{FILTER} is {filter:?}: {error}")))?,
        _ => EnvFilter::new("warn,ask_user_host=info"),
    };
    let has_colour = output::wants_colour() && io::stderr().is_terminal();
    // A reader that has gone away is no reason to complain to it.
    let log = tracing_subscriber::fmt().log_internal_errors(false);
    let log = log.with_env_filter(filter).with_writer(io::stderr).with_ansi(has_colour);
    let begun = match form {
        Form::Text => log.with_target(false).try_init(),
        Form::Json => log.json().flatten_event(true).try_init(),
    };
    begun.map_err(|error| Failure::other("log", error))
}
