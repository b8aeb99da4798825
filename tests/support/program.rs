//! The program `ask-user`, built as it is installed and run as a user runs it.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::OnceLock;

use super::world::code_cache;

/// The root of the repository.
pub fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// The built program.
pub fn path() -> &'static Path {
    static PROGRAM: OnceLock<PathBuf> = OnceLock::new();
    PROGRAM.get_or_init(|| build(&["-p", "ask-user-host", "--bin", "ask-user"], "ask-user"))
}

/// Builds something of the workspace in the profile of the tests, and tells where the executable is.
pub fn build(what: &[&str], name: &str) -> PathBuf {
    let mut cargo = Command::new(env!("CARGO"));
    cargo.current_dir(root()).args(["build", "--quiet", "--message-format", "json", "--locked"]).args(what);
    if !cfg!(debug_assertions) {
        cargo.arg("--release");
    }
    let output = cargo.stderr(Stdio::inherit()).output().expect("cargo runs");
    assert!(output.status.success(), "{name} does not build");
    String::from_utf8(output.stdout)
        .expect("cargo speaks UTF-8")
        .lines()
        .filter_map(|line| serde_json::from_str::<serde_json::Value>(line).ok())
        .filter(|message| message["reason"] == "compiler-artifact" && message["target"]["name"] == name)
        .filter_map(|message| message["executable"].as_str().map(PathBuf::from))
        .next_back()
        .expect("cargo names the executable")
}

/// What a run of the program left.
#[derive(Debug)]
pub struct Ran {
    /// The exit code.
    pub code: i32,
    /// Standard output.
    pub stdout: String,
    /// Standard error.
    pub stderr: String,
}

/// Runs the program from the root of the repository, with this on standard input.
pub fn ask_user(arguments: &[&str], input: &str) -> Ran {
    let mut child = command(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the program starts");
    // A program that does not read its input closes the pipe.
    let _ = child.stdin.take().expect("a pipe").write_all(input.as_bytes());
    ran(child.wait_with_output().expect("the program ends"))
}

/// The program with these arguments, and no surprises from the environment.
pub fn command(arguments: &[&str]) -> Command {
    let mut command = Command::new(path());
    command.current_dir(root()).args(arguments).env("ASK_USER_CACHE_DIR", code_cache()).env("USER", "ada");
    command
}

/// What a finished process left.
pub fn ran(output: Output) -> Ran {
    Ran {
        code: output.status.code().unwrap_or(-1),
        stdout: String::from_utf8_lossy(&output.stdout).into_owned(),
        stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
    }
}
