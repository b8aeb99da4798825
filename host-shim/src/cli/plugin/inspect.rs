//! `ask-user plugin inspect`: what a component is, and whether it would load.

use std::path::Path;

use serde_json::json;
use sha2::{Digest, Sha256};

use super::{Exit, Failure, setup};
use crate::cli::output;
use crate::sandbox::{ChannelPlugin, Inspection, Limits, LoadError, Sandbox, inspect as inspect_file};

/// Tells what a component is and whether it would load. Exit 1 when it would not.
pub(super) fn run(file: Option<&Path>, json: bool) -> Result<Exit, Failure> {
    let sandbox = setup::sandbox()?;
    let report = match file {
        None => Report::of_bundled(&sandbox)?,
        Some(path) => {
            let (name, bytes) = setup::component(path)?;
            Report::of_file(&sandbox, &name, &bytes)?
        }
    };
    output::result(&if json { report.json() } else { report.text() })?;
    Ok(if report.refusal.is_none() { Exit::Done } else { Exit::Failed })
}

/// What is known of a file that may be a component.
struct Report {
    name: String,
    sha256: String,
    size: usize,
    /// Nothing where the file is no component.
    inspection: Option<Inspection>,
    channels: Vec<String>,
    /// What it can be loaded as: the name of the contract's world.
    world: Option<&'static str>,
    /// Why it would not load, if it would not.
    refusal: Option<String>,
}

impl Report {
    fn of_bundled(sandbox: &Sandbox) -> Result<Self, Failure> {
        let plugin = sandbox.load_bundled().map_err(|error| Failure::other("plugin", error))?;
        let inspection = plugin.inspection().clone();
        Ok(Self {
            name: plugin.name().to_owned(),
            sha256: inspection.sha256.clone(),
            size: inspection.size,
            inspection: Some(inspection),
            channels: channels(plugin.channel())?,
            world: Some(WHOLE),
            refusal: None,
        })
    }

    fn of_file(sandbox: &Sandbox, name: &str, bytes: &[u8]) -> Result<Self, Failure> {
        // The digest and the size tell which file it was, also of one that is no component.
        let sha256 = Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect();
        let (inspection, loaded) = match inspect_file(bytes) {
            Ok(inspection) => (Some(inspection), load(sandbox, name, bytes)),
            Err(error) => (None, Err(error)),
        };
        let (world, channels) = match &loaded {
            Ok((world, plugin)) => (Some(*world), channels(plugin)?),
            Err(_) => (None, Vec::new()),
        };
        let refusal = loaded.as_ref().err().map(LoadError::to_string);
        Ok(Self { name: name.to_owned(), sha256, size: bytes.len(), inspection, channels, world, refusal })
    }

    fn json(&self) -> String {
        let inspection = self.inspection.as_ref();
        let document = json!({
            "name": self.name,
            "sha256": self.sha256,
            "size": self.size,
            "contract": inspection.and_then(|known| known.contract.as_deref()),
            "imports": inspection.map(|known| &known.imports),
            "exports": inspection.map(|known| &known.exports),
            "channels": self.channels,
            "world": self.world,
            "loads": self.refusal.is_none(),
            "refusal": self.refusal,
        });
        format!("{document:#}")
    }

    fn text(&self) -> String {
        let mut lines = vec![
            ("name", self.name.clone()),
            ("sha256", self.sha256.clone()),
            ("size", format!("{} bytes", self.size)),
        ];
        if let Some(known) = &self.inspection {
            let contract = known.contract.clone().unwrap_or_else(|| "none that is known".into());
            lines.extend([
                ("contract", contract),
                ("imports", list(&known.imports)),
                ("exports", list(&known.exports)),
                ("channels", list(&self.channels)),
            ]);
        }
        let loads = match (&self.refusal, self.world) {
            (Some(why), _) => format!("no: {why}"),
            (None, Some(CHANNELS)) => "yes, for its channels".into(),
            (None, _) => "yes".into(),
        };
        lines.push(("loads", loads));
        let lines: Vec<_> = lines.into_iter().map(|(what, value)| format!("{what:<11}{value}")).collect();
        lines.join("\n")
    }
}

/// The worlds that a component can be loaded as.
const WHOLE: &str = "ask-user-plugin";
const CHANNELS: &str = "channel-plugin";

/// Loads a component as a whole plugin, or for its channels where it has nothing else. With its world.
fn load(sandbox: &Sandbox, name: &str, bytes: &[u8]) -> Result<(&'static str, ChannelPlugin), LoadError> {
    match sandbox.load(name, bytes, Limits::default()) {
        Ok(plugin) => Ok((WHOLE, plugin.channel().clone())),
        Err(LoadError::MissingExports { .. }) => {
            Ok((CHANNELS, sandbox.load_channels(name, bytes, Limits::default())?))
        }
        Err(error) => Err(error),
    }
}

/// One a line, below each other.
fn list(items: &[String]) -> String {
    if items.is_empty() { "none".into() } else { items.join("\n           ") }
}

fn channels(plugin: &ChannelPlugin) -> Result<Vec<String>, Failure> {
    let channels = plugin.channels().map_err(|error| Failure::other("plugin", error))?;
    Ok(channels.into_iter().map(|channel| channel.name).collect())
}
