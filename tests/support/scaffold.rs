//! The channel that `ask-user plugin new` makes, as its author builds it, with or without a mistake in it.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Mutex;

use super::program::{ask_user, root};

/// A scaffolded channel called `my-chat`, in a folder that is gone with it.
#[derive(Debug)]
pub struct Scaffold {
    folder: tempfile::TempDir,
}

impl Scaffold {
    /// Makes the folder with the program.
    pub fn new() -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let place = folder.path().join("my-chat");
        let ran =
            ask_user(&["plugin", "new", "my-chat", "--folder", place.to_str().expect("a plain path")], "");
        assert_eq!((ran.code, ran.stderr.as_str()), (0, ""));
        // The versions that everything else here is built with.
        fs::copy(root().join("Cargo.lock"), place.join("Cargo.lock")).expect("the lock file is there");
        Self { folder }
    }

    /// Its folder.
    pub fn path(&self) -> PathBuf {
        self.folder.path().join("my-chat")
    }

    /// Builds the component with one piece of its source replaced by another, and puts it at `component`.
    pub fn build(&self, right: &str, wrong: &str, component: &Path) {
        // One at a time: they share what they depend on, and with it a folder.
        static ONE: Mutex<()> = Mutex::new(());
        let _one = ONE.lock();
        let source = self.path().join("src/lib.rs");
        let text = fs::read_to_string(&source).expect("the source is there");
        assert!(right.is_empty() || text.contains(right), "{right:?} is not in the source");
        fs::write(&source, text.replacen(right, wrong, 1)).expect("the source can be written");
        let target = root().join("target/scaffold");
        let mut cargo = Command::new(env!("CARGO"));
        cargo
            .current_dir(self.path())
            .args(["build", "--release", "--quiet"])
            .env("CARGO_TARGET_DIR", &target);
        for flags in ["RUSTFLAGS", "CARGO_ENCODED_RUSTFLAGS", "RUSTC_WRAPPER"] {
            cargo.env_remove(flags);
        }
        let output = cargo.output().expect("cargo starts");
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        fs::copy(target.join("wasm32-unknown-unknown/release/my_chat.wasm"), component)
            .expect("it was built");
        fs::write(&source, text).expect("the source can be written");
    }
}

impl Default for Scaffold {
    fn default() -> Self {
        Self::new()
    }
}
