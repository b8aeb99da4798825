//! The folder of plugins that a host loads beside the built-in component.
//!
//! ```text
//! plugins/
//!   matrix/
//!     plugin.toml     name, contract, file, digest, limits, what the operator grants
//!     matrix.wasm
//! ```
//!
//! What is in the folder is only ever run in the sandbox. Its compiled code is machine code that runs as it is, so that
//! stands in the sandbox's own code cache, which is this user's alone, and not here: adding a plugin compiles it there.

mod manifest;

use std::fmt;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

pub use manifest::{Grants, Manifest, PluginLimits};

use crate::channels::{AddError, Channels, Clash};
use crate::sandbox::{CONTRACT, ChannelPlugin, LoadError, Sandbox, inspect};

/// The file that says what a plugin is.
const MANIFEST: &str = "plugin.toml";

/// A folder of plugins.
#[derive(Clone, Debug)]
pub struct PluginFolder {
    path: PathBuf,
}

/// A plugin that was loaded from its folder.
#[derive(Clone, Debug)]
pub struct Installed {
    /// What its manifest says.
    pub manifest: Manifest,
    /// Its channels, ready to be called.
    pub plugin: ChannelPlugin,
}

/// A plugin that was asked to be added.
#[derive(Clone, Debug)]
pub struct Addition<'a> {
    /// What it is called from now on.
    pub name: &'a str,
    /// The component.
    pub component: &'a [u8],
    /// Channels of ours that its own may stand in for.
    pub replaces: Vec<String>,
}

/// Why a plugin cannot be used, added or removed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PluginError {
    /// Its name cannot be the name of a plugin.
    #[error(
        "the name {0:?} must be lower-case letters, digits and hyphens, begin with a letter and have at most 64"
    )]
    Name(String),
    /// There is one of this name.
    #[error("there is a plugin {0} already; remove it first")]
    Taken(String),
    /// There is none of this name.
    #[error("there is no plugin {0}")]
    Unknown(String),
    /// A file cannot be read or written.
    #[error("{}: {source}", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// What went wrong.
        source: io::Error,
    },
    /// The manifest is wrong.
    #[error("{}: {problem}", path.display())]
    Manifest {
        /// The manifest.
        path: PathBuf,
        /// Where and how.
        problem: String,
    },
    /// The component is not the one that was added.
    #[error("{name}: {file} has the SHA-256 {found}; {expected} was added", expected = expected.as_str())]
    Digest {
        /// The plugin.
        name: String,
        /// Its component.
        file: String,
        /// The digest of the file.
        found: String,
        /// The digest in the manifest.
        expected: String,
    },
    /// The component does not load.
    #[error(transparent)]
    Load(#[from] LoadError),
    /// Its channels cannot be told.
    #[error(transparent)]
    Call(#[from] crate::sandbox::CallError),
    /// Its channels have names that are taken.
    #[error(transparent)]
    Clash(#[from] Clash),
}

impl PluginFolder {
    /// The folder at this path. It need not be there.
    pub fn new(path: impl Into<PathBuf>) -> Self {
        Self { path: path.into() }
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The names of the plugins in it, sorted. Names that begin with a dot are nobody's.
    pub fn names(&self) -> Result<Vec<String>, PluginError> {
        let entries = match fs::read_dir(&self.path) {
            Ok(entries) => entries,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            Err(error) => return Err(file_error(&self.path)(error)),
        };
        let mut names = Vec::new();
        for entry in entries {
            let entry = entry.map_err(file_error(&self.path))?;
            let name = entry.file_name().to_string_lossy().into_owned();
            if !name.starts_with('.') && entry.path().is_dir() {
                names.push(name);
            }
        }
        names.sort();
        Ok(names)
    }

    /// Loads one plugin.
    pub fn load(&self, sandbox: &Sandbox, name: &str) -> Result<Installed, PluginError> {
        let folder = self.path.join(checked(name)?);
        if !folder.is_dir() {
            return Err(PluginError::Unknown(name.into()));
        }
        let manifest = self.manifest(name)?;
        let path = folder.join(&manifest.file);
        let component = fs::read(&path).map_err(file_error(&path))?;
        let found = inspect(&component)?.sha256;
        if found != manifest.sha256 {
            let Manifest { name, file, sha256, .. } = manifest;
            return Err(PluginError::Digest { name, file, found, expected: sha256 });
        }
        let plugin = sandbox.load_channels(name, &component, manifest.limits.into())?;
        Ok(Installed { manifest, plugin })
    }

    /// Loads all plugins, and finds out which channels there are with those of the built-in component. The first that
    /// cannot be used ends it: a host that starts has all channels that its operator expects.
    pub fn load_all(
        &self,
        sandbox: &Sandbox,
        built_in: ChannelPlugin,
    ) -> Result<(Channels, Vec<Installed>), PluginError> {
        let mut channels = Channels::of(built_in)?;
        let mut all = Vec::new();
        for name in self.names()? {
            let installed = self.load(sandbox, &name)?;
            channels.add(installed.plugin.clone(), &installed.manifest.grants.replaces)?;
            all.push(installed);
        }
        Ok((channels, all))
    }

    /// What the manifest of a plugin says.
    pub fn manifest(&self, name: &str) -> Result<Manifest, PluginError> {
        let path = self.path.join(checked(name)?).join(MANIFEST);
        let text = fs::read_to_string(&path).map_err(file_error(&path))?;
        let wrong = |problem: String| PluginError::Manifest { path: path.clone(), problem };
        let manifest = Manifest::read(&text).map_err(wrong)?;
        if manifest.name != name {
            return Err(wrong(format!("its name is {:?}, and its folder is {name:?}", manifest.name)));
        }
        Ok(manifest)
    }

    /// Adds a plugin: checks it, compiles it, and keeps it. Nothing is there where that fails.
    pub fn add(
        &self,
        sandbox: &Sandbox,
        built_in: ChannelPlugin,
        addition: &Addition<'_>,
    ) -> Result<Installed, PluginError> {
        let name = checked(addition.name)?;
        let folder = self.path.join(name);
        if folder.exists() {
            return Err(PluginError::Taken(name.into()));
        }
        let limits = PluginLimits::default();
        let plugin = sandbox.load_channels(name, addition.component, limits.into())?;
        let (mut channels, _) = self.load_all(sandbox, built_in)?;
        channels.add(plugin.clone(), &addition.replaces)?;
        let manifest = Manifest {
            name: name.into(),
            contract: CONTRACT.into(),
            file: format!("{name}.wasm"),
            sha256: plugin.inspection().sha256.clone(),
            limits,
            grants: Grants { replaces: addition.replaces.clone() },
        };
        self.keep(&folder, &manifest, addition.component)?;
        Ok(Installed { manifest, plugin })
    }

    /// Writes a plugin beside its place and moves it there whole, so that nobody loads half of one.
    fn keep(&self, folder: &Path, manifest: &Manifest, component: &[u8]) -> Result<(), PluginError> {
        fs::create_dir_all(&self.path).map_err(file_error(&self.path))?;
        let draft = self.path.join(format!(".{}.{}", manifest.name, std::process::id()));
        let written = fs::create_dir(&draft)
            .and_then(|()| fs::write(draft.join(&manifest.file), component))
            .and_then(|()| fs::write(draft.join(MANIFEST), manifest.text()))
            .and_then(|()| fs::rename(&draft, folder));
        if written.is_err() {
            let _ = fs::remove_dir_all(&draft);
        }
        written.map_err(file_error(folder))
    }

    /// Takes a plugin away, whatever is wrong with it. Its compiled code stays in the cache, where it does no harm.
    pub fn remove(&self, name: &str) -> Result<(), PluginError> {
        let folder = self.path.join(checked(name)?);
        if !folder.is_dir() {
            return Err(PluginError::Unknown(name.into()));
        }
        // Out of sight in one step: a host that starts meanwhile finds all of it or nothing.
        let draft = self.path.join(format!(".{name}.{}", std::process::id()));
        fs::rename(&folder, &draft).and_then(|()| fs::remove_dir_all(&draft)).map_err(file_error(&folder))
    }
}

impl From<AddError> for PluginError {
    fn from(error: AddError) -> Self {
        match error {
            AddError::Clash(clash) => clash.into(),
            AddError::Call(error) => error.into(),
        }
    }
}

/// The name, where it can be the name of a plugin and with that of its folder.
fn checked(name: &str) -> Result<&str, PluginError> {
    let is_name = name.len() <= 64
        && name.starts_with(|c: char| c.is_ascii_lowercase())
        && name.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-');
    if is_name { Ok(name) } else { Err(PluginError::Name(name.into())) }
}

fn file_error(path: &Path) -> impl FnOnce(io::Error) -> PluginError {
    let path = path.to_path_buf();
    move |source| PluginError::File { path, source }
}

impl fmt::Display for Installed {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.manifest.name)
    }
}
