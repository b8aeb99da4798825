//! Builds the component that the feature `bundled-plugin` embeds, with nothing but the Rust toolchain.
//!
//! `ASK_USER_PLUGIN_WASM` names a prebuilt component instead.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, exit};

use sha2::{Digest, Sha256};

const TARGET: &str = "wasm32-unknown-unknown";

fn main() {
    println!("cargo::rerun-if-env-changed=ASK_USER_PLUGIN_WASM");
    if env::var_os("CARGO_FEATURE_BUNDLED_PLUGIN").is_none() {
        return;
    }
    let component = match env::var_os("ASK_USER_PLUGIN_WASM") {
        Some(path) => {
            let path = PathBuf::from(path);
            println!("cargo::rerun-if-changed={}", path.display());
            path
        }
        None => build_component(),
    };
    let bytes = fs::read(&component).unwrap_or_else(|error| {
        stop(&format!("The component {} cannot be read: {error}.", component.display()))
    });
    if !bytes.starts_with(b"\0asm\x0d\0\x01\0") {
        stop(&format!("{} is not a WebAssembly component.", component.display()));
    }
    let embedded = Path::new(&required("OUT_DIR")).join("plugin.wasm");
    fs::write(&embedded, &bytes).unwrap_or_else(|error| stop(&format!("{}: {error}", embedded.display())));
    println!("cargo::rustc-env=ASK_USER_BUNDLED_PLUGIN={}", embedded.display());
    println!("cargo::rustc-env=ASK_USER_BUNDLED_PLUGIN_SHA256={}", hex(&Sha256::digest(&bytes)));
}

fn build_component() -> PathBuf {
    let root = Path::new(&required("CARGO_MANIFEST_DIR")).join("..");
    for input in ["plugin/src", "plugin/build.rs", "plugin/Cargo.toml", "wit", "Cargo.toml", "Cargo.lock"] {
        println!("cargo::rerun-if-changed={}", root.join(input).display());
    }
    ensure_target();
    // A target folder of its own: the outer cargo holds the lock of the usual one.
    let target_dir = Path::new(&required("OUT_DIR")).join("plugin");
    let mut cargo = clean_command(&required("CARGO"));
    cargo
        .current_dir(&root)
        .args(["rustc", "-p", "ask-user-plugin", "--lib", "--crate-type", "cdylib"])
        .args(["--profile", "wasm", "--target", TARGET, "--locked"])
        .arg("--target-dir")
        .arg(&target_dir)
        .env("CARGO_TARGET_WASM32_UNKNOWN_UNKNOWN_LINKER", "wasm-component-ld");
    match cargo.status() {
        Ok(status) if status.success() => {}
        Ok(_) => stop("The component did not build; the reason stands above."),
        Err(error) => stop(&format!("cargo could not be started: {error}.")),
    }
    target_dir.join(TARGET).join("wasm/ask_user_plugin.wasm")
}

/// rustup may have been told not to follow `rust-toolchain.toml`, in which case the target is missing without a word.
fn ensure_target() {
    let installed = clean_command(&required("RUSTC"))
        .args(["--print", "target-libdir", "--target", TARGET])
        .output()
        .ok()
        .and_then(|output| String::from_utf8(output.stdout).ok())
        .is_some_and(|folder| Path::new(folder.trim()).exists());
    if installed {
        return;
    }
    let advice = format!(
        "The target {TARGET} is missing: run `rustup target add {TARGET}`, or set ASK_USER_PLUGIN_WASM to a built component."
    );
    if is_offline() {
        stop(&advice);
    }
    println!("cargo::warning=Adding the target {TARGET}.");
    match clean_command("rustup").args(["target", "add", TARGET]).status() {
        Ok(status) if status.success() => {}
        _ => stop(&advice),
    }
}

/// Whether cargo was told to stay offline: by the environment, or on its command line, of which a build script is told
/// nothing and which can be looked up only where there is a `/proc`.
fn is_offline() -> bool {
    let told = env::var("CARGO_NET_OFFLINE").is_ok_and(|offline| offline == "true" || offline == "1");
    #[cfg(unix)]
    let asked =
        fs::read(format!("/proc/{}/cmdline", std::os::unix::process::parent_id())).is_ok_and(|line| {
            line.split(|byte| *byte == 0).any(|word| word == b"--offline" || word == b"--frozen")
        });
    #[cfg(not(unix))]
    let asked = false;
    told || asked
}

/// A command without what the outer cargo and its flags left in the environment: they are meant for the host's target.
fn clean_command(program: &str) -> Command {
    let mut command = Command::new(program);
    for (name, _) in env::vars_os() {
        let Some(name) = name.to_str() else { continue };
        let inherited = name.starts_with("CARGO_FEATURE_")
            || name.starts_with("CARGO_CFG_")
            || name.starts_with("CARGO_PROFILE_")
            || name.starts_with("CARGO_PKG_")
            || name.starts_with("CARGO_BUILD_")
            || matches!(
                name,
                "RUSTFLAGS"
                    | "CARGO_ENCODED_RUSTFLAGS"
                    | "CARGO_TARGET_DIR"
                    | "RUSTC_WRAPPER"
                    | "RUSTC_WORKSPACE_WRAPPER"
                    | "RUSTDOCFLAGS"
                    | "CARGO_MAKEFLAGS"
                    | "MAKEFLAGS"
                    | "TARGET"
                    | "HOST"
                    | "OPT_LEVEL"
                    | "PROFILE"
                    | "DEBUG"
            );
        if inherited {
            command.env_remove(name);
        }
    }
    command
}

fn required(name: &str) -> String {
    env::var(name).unwrap_or_else(|_| stop(&format!("cargo did not set {name}.")))
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn stop(message: &str) -> ! {
    println!("cargo::error={message}");
    exit(1)
}
