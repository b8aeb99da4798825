//! `ask-user plugin`: looks at components.

use std::path::Path;

use serde_json::json;

use super::exit::Exit;
use super::failure::Failure;
use super::{output, setup};
use crate::sandbox::{Limits, LoadError, Plugin, inspect as inspect_file};

/// Tells what a component is and whether it would load. Exit 1 when it would not.
pub(super) fn inspect(file: Option<&Path>, json: bool) -> Result<Exit, Failure> {
    let sandbox = setup::sandbox()?;
    let (name, inspection, loaded) = match file {
        None => {
            let plugin = sandbox.load_bundled().map_err(|error| Failure::other("plugin", error))?;
            ("ask-user".to_owned(), plugin.inspection().clone(), Ok(plugin))
        }
        Some(path) => {
            let bytes = std::fs::read(path)
                .map_err(|error| Failure::other("input", format!("{}: {error}", path.display())))?;
            let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
            let inspection = inspect_file(&bytes)
                .map_err(|error| Failure::other("plugin", format!("{}: {error}", path.display())))?;
            let loaded = sandbox.load(&name, &bytes, Limits::default());
            (name, inspection, loaded)
        }
    };
    let channels: Vec<String> = match &loaded {
        Ok(plugin) => channels(plugin)?,
        Err(_) => Vec::new(),
    };
    let refusal = loaded.as_ref().err().map(LoadError::to_string);
    if json {
        let document = json!({
            "name": name,
            "sha256": inspection.sha256,
            "size": inspection.size,
            "contract": inspection.contract,
            "imports": inspection.imports,
            "exports": inspection.exports,
            "channels": channels,
            "loads": refusal.is_none(),
            "refusal": refusal,
        });
        output::result(&format!("{document:#}"))?;
    } else {
        let list =
            |items: &[String]| if items.is_empty() { "none".into() } else { items.join("\n           ") };
        output::result(&format!(
            "name       {name}\nsha256     {}\nsize       {} bytes\ncontract   {}\nimports    {}\nexports    {}\nchannels   {}\nloads      {}",
            inspection.sha256,
            inspection.size,
            inspection.contract.as_deref().unwrap_or("none that is known"),
            list(&inspection.imports),
            list(&inspection.exports),
            list(&channels),
            refusal.as_deref().map_or_else(|| "yes".into(), |why| format!("no: {why}")),
        ))?;
    }
    Ok(if refusal.is_none() { Exit::Done } else { Exit::Failed })
}

fn channels(plugin: &Plugin) -> Result<Vec<String>, Failure> {
    let channels = plugin.channels().map_err(|error| Failure::other("plugin", error))?;
    Ok(channels.into_iter().map(|channel| channel.name).collect())
}
