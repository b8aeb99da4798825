//! `ask-user plugin`: looks at components, and keeps those that a host loads beside the built-in one.

mod check;
mod inspect;
mod installed;
mod new;

pub(super) use installed::FolderArgs;

use std::path::{Path, PathBuf};

use clap::Subcommand;

use super::exit::Exit;
use super::failure::Failure;
use super::setup;
use crate::channels::Channels;
use crate::plugins::PluginFolder;
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
    /// Make the folder of a new channel, which builds and passes the check
    New(new::NewArgs),
    /// Add a component to the plugins that a host loads
    Add(installed::AddArgs),
    /// List the plugins that a host loads beside the built-in one, and whether they load
    List(installed::ListArgs),
    /// Take a plugin away
    Remove(installed::RemoveArgs),
}

impl PluginCommand {
    pub(super) fn json(&self) -> bool {
        match self {
            Self::Inspect { json, .. } => *json,
            Self::Check(args) => args.json,
            Self::Add(args) => args.json,
            Self::List(args) => args.json,
            Self::New(_) | Self::Remove(_) => false,
        }
    }
}

pub(super) fn run(command: PluginCommand) -> Result<Exit, Failure> {
    match command {
        PluginCommand::Inspect { file, json } => inspect::run(file.as_deref(), json),
        PluginCommand::Check(args) => check::run(&args),
        PluginCommand::New(args) => new::run(&args),
        PluginCommand::Add(args) => installed::add(&args),
        PluginCommand::List(args) => installed::list(&args),
        PluginCommand::Remove(args) => installed::remove(&args),
    }
}

/// The channels of a component from a file.
pub(super) fn channels(sandbox: &Sandbox, path: &Path) -> Result<ChannelPlugin, Failure> {
    let (name, bytes) = setup::component(path)?;
    sandbox.load_channels(&name, &bytes, Limits::default()).map_err(|error| Failure::other("plugin", error))
}

/// The built-in channels and those of the plugins in a folder.
pub(super) fn all_channels(
    folder: &PluginFolder,
    sandbox: &Sandbox,
    built_in: ChannelPlugin,
) -> Result<Channels, Failure> {
    let (channels, _) =
        folder.load_all(sandbox, built_in).map_err(|error| Failure::other("plugin", error))?;
    Ok(channels)
}
