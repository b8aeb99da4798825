//! `plugin.toml`: what a plugin is, and what its operator grants it.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::sandbox::{CONTRACT, Limits};

/// What `plugin.toml` says. Every key is known.
#[derive(Clone, Debug, Deserialize, Serialize, PartialEq, Eq)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Manifest {
    /// What the plugin is called: `^[a-z][a-z0-9-]*$`, at most 64 bytes. The name of its folder, too.
    pub name: String,
    /// The contract it is built for.
    pub contract: String,
    /// Its component, a file in the same folder.
    pub file: String,
    /// SHA-256 of that file, in hexadecimal. Another file is not loaded.
    pub sha256: String,
    /// What one call may use.
    #[serde(default)]
    pub limits: PluginLimits,
    /// What it may do beyond adding channels.
    #[serde(default)]
    pub grants: Grants,
}

/// What one call may use.
#[derive(Clone, Copy, Debug, Deserialize, Serialize, PartialEq, Eq)]
#[serde(rename_all = "kebab-case", deny_unknown_fields, default)]
pub struct PluginLimits {
    /// Linear memory in MiB, 1 to 1024.
    pub memory_mib: u32,
    /// Wall-clock time in milliseconds, 1 to 60000.
    pub deadline_ms: u32,
}

impl Default for PluginLimits {
    fn default() -> Self {
        let Limits { memory, deadline, .. } = Limits::default();
        Self {
            memory_mib: u32::try_from(memory >> 20).unwrap_or(u32::MAX),
            deadline_ms: u32::try_from(deadline.as_millis()).unwrap_or(u32::MAX),
        }
    }
}

impl From<PluginLimits> for Limits {
    fn from(limits: PluginLimits) -> Self {
        Self {
            memory: (limits.memory_mib as usize) << 20,
            deadline: Duration::from_millis(limits.deadline_ms.into()),
            ..Self::default()
        }
    }
}

/// What the operator grants.
#[derive(Clone, Debug, Default, Deserialize, Serialize, PartialEq, Eq)]
#[serde(rename_all = "kebab-case", deny_unknown_fields, default)]
pub struct Grants {
    /// Built-in channels that the plugin's own of the same name stand in for.
    pub replaces: Vec<String>,
}

impl Manifest {
    /// Reads a manifest. The error says where and why it is wrong.
    pub(super) fn read(text: &str) -> Result<Self, String> {
        let manifest: Self = toml::from_str(text).map_err(|error| {
            let line = error.span().map(|span| text[..span.start].matches('\n').count() + 1);
            let place = line.map(|line| format!("line {line}: ")).unwrap_or_default();
            format!("{place}{}", error.message())
        })?;
        if manifest.contract != CONTRACT {
            return Err(format!(
                "it is built for the contract {:?}; this host speaks {CONTRACT}",
                manifest.contract
            ));
        }
        // A name, and not a way out of the folder.
        if manifest.file.is_empty()
            || manifest.file.starts_with('.')
            || manifest.file.contains(['/', '\\', ':', '\0'])
        {
            return Err(format!(
                "file is {:?}, and must be the name of a file in this folder",
                manifest.file
            ));
        }
        let PluginLimits { memory_mib, deadline_ms } = manifest.limits;
        if !(1..=1024).contains(&memory_mib) {
            return Err(format!("limits.memory-mib is {memory_mib}, and must be 1 to 1024"));
        }
        if !(1..=60_000).contains(&deadline_ms) {
            return Err(format!("limits.deadline-ms is {deadline_ms}, and must be 1 to 60000"));
        }
        Ok(manifest)
    }

    /// The manifest as it is written.
    pub(super) fn text(&self) -> String {
        toml::to_string(self).unwrap_or_default()
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    fn manifest() -> Manifest {
        Manifest {
            name: "matrix".into(),
            contract: CONTRACT.into(),
            file: "matrix.wasm".into(),
            sha256: "00".repeat(32),
            limits: PluginLimits::default(),
            grants: Grants { replaces: vec!["text".into()] },
        }
    }

    #[test]
    fn what_is_written_is_read_again() {
        assert_eq!(Manifest::read(&manifest().text()), Ok(manifest()));
    }

    #[test]
    fn what_is_left_out_has_the_limits_of_every_plugin_and_no_grants() {
        let text = manifest().text();
        let read = Manifest::read(text.split("\n[").next().unwrap()).unwrap();
        assert_eq!(Limits::from(read.limits), Limits::default());
        assert_eq!(read.grants, Grants::default());
    }

    #[test]
    fn what_is_wrong_is_named() {
        let text = manifest().text();
        for (wrong, names) in [
            (text.replace("name =", "nmae ="), "nmae"),
            (text.replace("matrix.wasm", "../matrix.wasm"), "file is \"../matrix.wasm\""),
            (text.replace("@0.1.0", "@9.0.0"), "ask-user:plugin@9.0.0"),
            (text.replace("memory-mib = 64", "memory-mib = 0"), "memory-mib is 0"),
            (text.replace("deadline-ms = 2000", "deadline-ms = 90000"), "deadline-ms is 90000"),
            (text.replace("sha256 =", "sha256 = 1 #"), "line 4"),
        ] {
            let error = Manifest::read(&wrong).unwrap_err();
            assert!(error.contains(names), "{names:?} is not in {error:?}");
        }
    }
}
