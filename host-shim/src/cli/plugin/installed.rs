//! `ask-user plugin list`, `add` and `remove`: the plugins that a host loads beside the built-in component.

use std::path::PathBuf;

use clap::Args;
use serde_json::{Value, json};

use super::{Exit, Failure, setup};
use crate::cli::output;
use crate::plugins::{Addition, Installed, PluginError, PluginFolder};
use crate::sandbox::Sandbox;

#[derive(Debug, Args)]
pub(in crate::cli) struct FolderArgs {
    /// The folder of plugins; ASK_USER_PLUGINS or the user's own unless given
    #[arg(long, value_name = "FOLDER")]
    plugins: Option<PathBuf>,
}

impl FolderArgs {
    /// The folder that was named here, else this one, else the usual one, where there is a usual one.
    pub(in crate::cli) fn folder_or(&self, other: Option<PathBuf>) -> Option<PluginFolder> {
        self.plugins.clone().or(other).or_else(setup::plugin_folder).map(PluginFolder::new)
    }

    pub(in crate::cli) fn folder(&self) -> Result<PluginFolder, Failure> {
        let none = || Failure::usage("no folder of plugins: name one with --plugins or ASK_USER_PLUGINS");
        self.folder_or(None).ok_or_else(none)
    }
}

#[derive(Debug, Args)]
pub(in crate::cli) struct ListArgs {
    #[command(flatten)]
    folder: FolderArgs,
    /// Print them as JSON
    #[arg(long)]
    pub(super) json: bool,
}

#[derive(Debug, Args)]
#[command(after_help = ADD_HELP)]
pub(in crate::cli) struct AddArgs {
    /// The component
    file: PathBuf,
    /// What to call the plugin; the file's name unless given
    #[arg(long)]
    name: Option<String>,
    /// A built-in channel that the plugin's own of that name takes the place of; may be given again
    #[arg(long, value_name = "CHANNEL")]
    replaces: Vec<String>,
    #[command(flatten)]
    folder: FolderArgs,
    /// Print what was added as JSON
    #[arg(long)]
    pub(super) json: bool,
}

const ADD_HELP: &str = "\
The component is checked and compiled, so that a host starts at once. It is refused where it imports anything, is built \
for another contract, or brings a channel whose name is taken. `ask-user plugin check` tells whether its channels keep \
their promises.

Examples:
  ask-user plugin add matrix.wasm
  ask-user plugin add my-telegram.wasm --replaces telegram

Exit codes:
  0    added
  1    refused, with the reason
  64   wrong usage of this command line";

#[derive(Debug, Args)]
pub(in crate::cli) struct RemoveArgs {
    /// The plugin's name, as `ask-user plugin list` shows it
    name: String,
    #[command(flatten)]
    folder: FolderArgs,
}

/// Lists the plugins. Exit 1 when a host could not start with them.
pub(super) fn list(args: &ListArgs) -> Result<Exit, Failure> {
    let folder = args.folder.folder()?;
    let sandbox = setup::sandbox()?;
    let mut rows = Vec::new();
    for name in folder.names().map_err(failed)? {
        let row = match folder.load(&sandbox, &name) {
            Ok(installed) => Row::of(&installed)?,
            Err(error) => {
                Row { name, channels: Vec::new(), replaces: Vec::new(), refusal: Some(error.to_string()) }
            }
        };
        rows.push(row);
    }
    // Each may be sound, and two may still want the same channel.
    let together = match rows.iter().all(|row| row.refusal.is_none()) {
        true => folder.load_all(&sandbox, built_in(&sandbox)?).err().map(|error| error.to_string()),
        false => None,
    };
    let is_sound = together.is_none() && rows.iter().all(|row| row.refusal.is_none());
    output::result(&if args.json {
        let rows: Vec<Value> = rows.iter().map(Row::json).collect();
        let folder = folder.path().display().to_string();
        format!("{:#}", json!({ "folder": folder, "plugins": rows, "loads": is_sound, "refusal": together }))
    } else if rows.is_empty() {
        format!("No plugins in {}.", folder.path().display())
    } else {
        let lines =
            rows.iter().map(Row::text).chain(together.map(|why| format!("They do not load together: {why}")));
        lines.collect::<Vec<_>>().join("\n")
    })?;
    Ok(if is_sound { Exit::Done } else { Exit::Failed })
}

pub(super) fn add(args: &AddArgs) -> Result<Exit, Failure> {
    let folder = args.folder.folder()?;
    let sandbox = setup::sandbox()?;
    let (stem, component) = setup::component(&args.file)?;
    let name = args.name.clone().unwrap_or_else(|| stem.replace('_', "-"));
    let addition = Addition { name: &name, component: &component, replaces: args.replaces.clone() };
    let installed = folder.add(&sandbox, built_in(&sandbox)?, &addition).map_err(failed)?;
    let row = Row::of(&installed)?;
    output::result(&if args.json {
        format!("{:#}", row.json())
    } else {
        format!("Added {}\nIt is in {}.", row.text(), folder.path().join(&row.name).display())
    })?;
    Ok(Exit::Done)
}

pub(super) fn remove(args: &RemoveArgs) -> Result<Exit, Failure> {
    args.folder.folder()?.remove(&args.name).map_err(failed)?;
    output::result(&format!("Removed {}.", args.name))?;
    Ok(Exit::Done)
}

fn built_in(sandbox: &Sandbox) -> Result<crate::sandbox::ChannelPlugin, Failure> {
    let plugin = sandbox.load_bundled().map_err(|error| Failure::other("plugin", error))?;
    Ok(plugin.channel().clone())
}

fn failed(error: PluginError) -> Failure {
    match error {
        PluginError::Name(_) => Failure::usage(error.to_string()),
        _ => Failure::other("plugin", error),
    }
}

/// What is told of one plugin.
struct Row {
    name: String,
    channels: Vec<String>,
    replaces: Vec<String>,
    refusal: Option<String>,
}

impl Row {
    fn of(installed: &Installed) -> Result<Self, Failure> {
        let channels = installed.plugin.channels().map_err(|error| Failure::other("plugin", error))?;
        Ok(Self {
            name: installed.manifest.name.clone(),
            channels: channels.into_iter().map(|channel| channel.name).collect(),
            replaces: installed.manifest.grants.replaces.clone(),
            refusal: None,
        })
    }

    fn text(&self) -> String {
        let Self { name, channels, replaces, refusal } = self;
        let told = match refusal {
            Some(why) => format!("does not load: {why}"),
            None if replaces.is_empty() => format!("channels {}", channels.join(", ")),
            None => format!("channels {}; replaces {}", channels.join(", "), replaces.join(", ")),
        };
        output::printable(&format!("{name}: {told}"))
    }

    fn json(&self) -> Value {
        json!({
            "name": self.name,
            "channels": self.channels,
            "replaces": self.replaces,
            "loads": self.refusal.is_none(),
            "refusal": self.refusal,
        })
    }
}
