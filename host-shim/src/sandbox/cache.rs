//! Compiled code on disk. A component is compiled once; from then on its code is mapped into memory.
//!
//! The folder holds machine code that is run as it is, so it must be this user's alone. Entries are named by the digest
//! of the component, the version of wasmtime and everything about the engine that the code depends on: another version
//! or another machine finds nothing and compiles. Whatever goes wrong here costs time and nothing else.

use std::collections::hash_map::DefaultHasher;
use std::fs;
use std::hash::{Hash, Hasher};
use std::io::Write;
use std::path::{Path, PathBuf};

use wasmtime::Engine;
use wasmtime::component::Component;

/// The version of wasmtime, which `Cargo.toml` pins.
const WASMTIME: &str = "48.0.8";

/// A folder of compiled code.
#[derive(Debug)]
pub(super) struct CompiledCode {
    folder: PathBuf,
}

impl CompiledCode {
    pub(super) fn new(folder: PathBuf) -> Self {
        Self { folder }
    }

    /// The component, from the folder or newly compiled.
    pub(super) fn component(
        &self,
        engine: &Engine,
        sha256: &str,
        bytes: &[u8],
    ) -> wasmtime::Result<Component> {
        if !make_private(&self.folder) {
            return Component::from_binary(engine, bytes);
        }
        let path = self.folder.join(file_name(engine, sha256));
        if let Some(component) = load(engine, &path) {
            return Ok(component);
        }
        let code = engine.precompile_component(bytes)?;
        // Another process may write the same file; each writes its own and the last one stays.
        if keep(&self.folder, &path, &code).is_ok()
            && let Some(component) = load(engine, &path)
        {
            return Ok(component);
        }
        // SAFETY: these bytes came from the compiler a moment ago and have not left this process.
        unsafe { Component::deserialize(engine, &code) }
    }
}

fn file_name(engine: &Engine, sha256: &str) -> String {
    // Stable within one build of this program, which is all that is needed: another build's name finds nothing.
    let mut hasher = DefaultHasher::new();
    engine.precompile_compatibility_hash().hash(&mut hasher);
    format!("{sha256}-{WASMTIME}-{:016x}.cwasm", hasher.finish())
}

fn load(engine: &Engine, path: &Path) -> Option<Component> {
    if !is_private(path) {
        return None;
    }
    // SAFETY: the file and its folder can be written by this user only, and `keep` is what writes them. wasmtime
    // checks by itself that the code is of its version and for this engine.
    unsafe { Component::deserialize_file(engine, path).ok() }
}

fn keep(folder: &Path, path: &Path, code: &[u8]) -> std::io::Result<()> {
    let draft =
        folder.join(format!(".{}.{}", std::process::id(), path.file_name().unwrap_or_default().display()));
    let mut options = fs::OpenOptions::new();
    options.write(true).create(true).truncate(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let written = options.open(&draft).and_then(|mut file| {
        file.write_all(code)?;
        file.sync_all()
    });
    let kept = written.and_then(|()| fs::rename(&draft, path));
    if kept.is_err() {
        let _ = fs::remove_file(&draft);
    }
    kept
}

/// Makes the folder if it is missing; whether it is this user's alone.
fn make_private(folder: &Path) -> bool {
    let mut builder = fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    (folder.is_dir() || builder.create(folder).is_ok()) && is_private(folder)
}

/// Whether nobody but this user can write here.
#[cfg(unix)]
fn is_private(path: &Path) -> bool {
    use std::os::unix::fs::MetadataExt;
    fs::symlink_metadata(path).is_ok_and(|found| {
        !found.file_type().is_symlink()
            && found.mode() & 0o022 == 0
            && found.uid() == rustix::process::geteuid().as_raw()
    })
}

/// Elsewhere the user's own folders are private by default.
#[cfg(not(unix))]
fn is_private(path: &Path) -> bool {
    fs::symlink_metadata(path).is_ok_and(|found| !found.file_type().is_symlink())
}
