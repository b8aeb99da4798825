//! `ask-user plugin`: looks at components, and keeps those that a host loads beside the built-in one.

mod check;
mod inspect;

use std::path::{Path, PathBuf};

use clap::Subcommand;

use super::exit::Exit;
use super::failure::Failure;
use super::setup;
use crate::sandbox::{ChannelPlugin, Limits, Sandbox};

#[derive(Debug, Subcommand)]
pub(super) enum PluginCommand {
    /// Tell what a component is, whether it would load here, and why not
    Inspect {
        /// A component; the built-in one unless given
        file: Option<PathBuf>,
        /// Print what is known of it as JSON
        #[arg(long)]
        json: bool,
    },
    /// Try a component's channels on thousands of generated prompts and taps, and tell what a host could not rely on
    Check(check::CheckArgs),
}

impl PluginCommand {
    pub(super) fn json(&self) -> bool {
        match self {
            Self::Inspect { json, .. } => *json,
            Self::Check(args) => args.json,
        }
    }
}

pub(super) fn run(command: PluginCommand) -> Result<Exit, Failure> {
    match command {
        PluginCommand::Inspect { file, json } => inspect::run(file.as_deref(), json),
        PluginCommand::Check(args) => check::run(&args),
    }
}

/// The channels of a component from a file.
pub(super) fn channels(sandbox: &Sandbox, path: &Path) -> Result<ChannelPlugin, Failure> {
    let (name, bytes) = setup::component(path)?;
    sandbox.load_channels(&name, &bytes, Limits::default()).map_err(|error| Failure::other("plugin", error))
}
