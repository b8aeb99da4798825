//! `ask-user plugin new`: a folder from which a channel of one's own grows.

use std::fs;
use std::path::{Path, PathBuf};

use clap::Args;

use super::{Exit, Failure};
use crate::cli::output;

#[derive(Debug, Args)]
#[command(after_help = HELP)]
pub(in crate::cli) struct NewArgs {
    /// The channel's name: lower-case letters, digits and hyphens, beginning with a letter
    name: String,
    /// The folder to make; the name's unless given
    #[arg(long, value_name = "FOLDER")]
    folder: Option<PathBuf>,
}

const HELP: &str = "\
The folder holds a small channel in Rust that builds and passes `ask-user plugin check`, and the contract. \
examples/channel-ntfy is one in JavaScript.

Examples:
  ask-user plugin new my-chat
  ask-user plugin new my-chat --folder work/my-chat

Exit codes:
  0    made
  1    the folder is there already, or cannot be written
  64   wrong usage of this command line";

/// Where each file goes, and what is in it. `{name}` and `{module}` are filled in.
const FILES: [(&str, &str); 5] = [
    ("Cargo.toml", include_str!("../../../templates/channel/Cargo.toml.in")),
    (".cargo/config.toml", include_str!("../../../templates/channel/.cargo/config.toml")),
    (".gitignore", "/target\n"),
    ("README.md", include_str!("../../../templates/channel/README.md.in")),
    ("src/lib.rs", include_str!("../../../templates/channel/src/lib.rs.in")),
];

/// The contract, as it is.
const CONTRACT: [(&str, &str); 6] = [
    ("wit/channel.wit", include_str!("../../../../wit/channel.wit")),
    ("wit/question.wit", include_str!("../../../../wit/question.wit")),
    ("wit/reply.wit", include_str!("../../../../wit/reply.wit")),
    ("wit/tool.wit", include_str!("../../../../wit/tool.wit")),
    ("wit/types.wit", include_str!("../../../../wit/types.wit")),
    ("wit/worlds.wit", include_str!("../../../../wit/worlds.wit")),
];

pub(super) fn run(args: &NewArgs) -> Result<Exit, Failure> {
    let name = &args.name;
    let is_name = name.len() <= 64
        && name.starts_with(|c: char| c.is_ascii_lowercase())
        && name.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-');
    if !is_name {
        return Err(Failure::usage(format!(
            "the name of a channel must be lower-case letters, digits and hyphens, begin with a letter and have at most \
             64; received {name:?}"
        )));
    }
    let folder = args.folder.clone().unwrap_or_else(|| name.into());
    if folder.exists() {
        return Err(Failure::other("input", format!("{} is there already", folder.display())));
    }
    let module = name.replace('-', "_");
    for (path, text) in FILES {
        // Only these two are filled in; all other braces are Rust's.
        write(&folder.join(path), &text.replace("{name}", name).replace("{module}", &module))?;
    }
    for (path, text) in CONTRACT {
        write(&folder.join(path), text)?;
    }
    let built = format!("target/wasm32-unknown-unknown/release/{module}.wasm");
    output::result(&format!(
        "Made {folder}. Next:\n  cd {folder}\n  cargo build --release\n  ask-user plugin check {built}\n  \
         ask-user plugin add {built} --name {name}",
        folder = folder.display()
    ))?;
    Ok(Exit::Done)
}

fn write(path: &Path, text: &str) -> Result<(), Failure> {
    let written = path.parent().map_or(Ok(()), fs::create_dir_all).and_then(|()| fs::write(path, text));
    written.map_err(|error| Failure::other("output", format!("{}: {error}", path.display())))
}
