//! What every command needs: a sandbox with its code cache, a store, a runtime.

use std::env;
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::sync::Arc;

use super::failure::Failure;
use crate::sandbox::{Plugin, Sandbox};
use crate::store::{ChannelStore, MemoryStore, SqliteStore};

/// Where prompts are kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum StoreChoice {
    Memory,
    Sqlite(PathBuf),
}

impl FromStr for StoreChoice {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        match text.split_once(':') {
            None if text == "memory" => Ok(Self::Memory),
            Some(("sqlite", path)) if !path.is_empty() => Ok(Self::Sqlite(path.into())),
            _ => Err(format!("expected memory or sqlite:PATH, got {text:?}")),
        }
    }
}

impl StoreChoice {
    /// Opens the store.
    pub(super) fn open(&self) -> Result<Arc<dyn ChannelStore>, Failure> {
        match self {
            Self::Memory => Ok(Arc::new(MemoryStore::default())),
            Self::Sqlite(path) => {
                let store = SqliteStore::open(path).map_err(|error| Failure::other("store", error))?;
                Ok(Arc::new(store))
            }
        }
    }
}

/// A sandbox that keeps compiled code in the user's cache folder.
pub(super) fn sandbox() -> Result<Sandbox, Failure> {
    let mut builder = Sandbox::builder();
    if let Some(folder) = cache_folder() {
        builder = builder.code_cache(folder);
    }
    builder.build().map_err(|error| Failure::other("sandbox", error))
}

/// The plugin that is part of this program.
pub(super) fn bundled_plugin() -> Result<Plugin, Failure> {
    sandbox()?.load_bundled().map_err(|error| Failure::other("plugin", error))
}

/// A component from a file: what it is called, and its bytes.
pub(super) fn component(path: &Path) -> Result<(String, Vec<u8>), Failure> {
    let bytes = std::fs::read(path)
        .map_err(|error| Failure::other("input", format!("cannot read {}: {error}", path.display())))?;
    Ok((path.file_stem().unwrap_or_default().to_string_lossy().into_owned(), bytes))
}

/// `ASK_USER_CACHE_DIR`, else the usual place for this user's caches. Without any, code is compiled each time.
fn cache_folder() -> Option<PathBuf> {
    folder_in("ASK_USER_CACHE_DIR")
        .or_else(|| Some(folder_in("XDG_CACHE_HOME").filter(|path| path.is_absolute())?.join("ask-user")))
        .or_else(|| Some(folder_in("HOME")?.join(".cache/ask-user")))
        .or_else(|| Some(folder_in("LOCALAPPDATA")?.join("ask-user")))
}

/// `ASK_USER_PLUGINS`, else the usual place for this user's data.
pub(super) fn plugin_folder() -> Option<PathBuf> {
    folder_in("ASK_USER_PLUGINS")
        .or_else(|| {
            Some(folder_in("XDG_DATA_HOME").filter(|path| path.is_absolute())?.join("ask-user/plugins"))
        })
        .or_else(|| Some(folder_in("HOME")?.join(".local/share/ask-user/plugins")))
        .or_else(|| Some(folder_in("LOCALAPPDATA")?.join("ask-user/plugins")))
}

/// The folder that a variable of the environment names.
fn folder_in(variable: &str) -> Option<PathBuf> {
    env::var_os(variable).filter(|value| !value.is_empty()).map(PathBuf::from)
}

/// Runs a command's asynchronous part. What is still running when it returns is left behind.
pub(super) fn block_on<T>(work: impl Future<Output = T>) -> Result<T, Failure> {
    block_on_runtime(tokio::runtime::Builder::new_multi_thread().worker_threads(2), work)
}

/// The same on this thread alone.
pub(super) fn block_on_this_thread<T>(work: impl Future<Output = T>) -> Result<T, Failure> {
    block_on_runtime(&mut tokio::runtime::Builder::new_current_thread(), work)
}

fn block_on_runtime<T>(
    builder: &mut tokio::runtime::Builder,
    work: impl Future<Output = T>,
) -> Result<T, Failure> {
    let runtime = builder.enable_all().build().map_err(|error| Failure::other("runtime", error))?;
    let result = runtime.block_on(work);
    runtime.shutdown_background();
    Ok(result)
}
