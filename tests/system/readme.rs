//! The README is run: every command in it that a reader would copy, and every output it shows.

use std::path::Path;
use std::process::{Command, Stdio};

use ask_user_host::contract::{Message, ToolResult};
use ask_user_host::store::SqliteStore;
use ask_user_host::{AskUser, Principal, Run, TenantId};
use ask_user_tests::program::{embed_program, path, ran, root};
use ask_user_tests::world::{code_cache, message, one_question};

/// A command of a `console` block and what it prints.
#[derive(Debug)]
struct Shown {
    command: String,
    output: String,
}

/// The `console` blocks of the README: lines that begin with `$ ` are commands, the others are what they print.
fn shown() -> Vec<Shown> {
    let readme = std::fs::read_to_string(root().join("README.md")).unwrap();
    let mut shown: Vec<Shown> = Vec::new();
    let mut inside = false;
    for line in readme.lines() {
        if line.starts_with("```") {
            inside = line == "```console";
        } else if inside {
            match line.strip_prefix("$ ") {
                Some(command) => shown.push(Shown { command: command.into(), output: String::new() }),
                None => {
                    let last = shown.last_mut().expect("a block begins with a command");
                    last.output.push_str(line);
                    last.output.push('\n');
                }
            }
        }
    }
    shown
}

/// Commands that build, install or test: the gate runs them by themselves.
const RUN_BY_THE_GATE: [&str; 3] =
    ["cargo test --workspace", "cargo install --path host-shim", "cargo bench"];

#[test]
fn every_command_of_the_readme_does_what_it_shows() {
    let shown = shown();
    assert!(shown.len() >= 5, "the README shows its commands in console blocks");
    for Shown { command, output } in shown {
        if RUN_BY_THE_GATE.iter().any(|prefix| command.starts_with(prefix)) {
            continue;
        }
        // The program was built already, in the profile of the tests.
        let program = path().display().to_string();
        let line = command
            .replace(" target/debug/ask-user", &format!(" {program}"))
            .replace("cargo run -q -p ask-user-example-embed", &embed_program().display().to_string())
            .replace("cargo run -q -- ", &format!("{program} "))
            .replace("cargo run -- ", &format!("{program} "));
        let line = match line.strip_prefix("ask-user ") {
            Some(rest) => format!("{program} {rest}"),
            None => line.replace("| ask-user ", &format!("| {program} ")),
        };
        let done = Command::new("bash")
            .args(["-c", &format!("{line} 2>&1")])
            .current_dir(root())
            .env("ASK_USER_CACHE_DIR", code_cache())
            .stdin(Stdio::null())
            .output()
            .unwrap();
        let done = ran(done);
        if !output.is_empty() {
            assert_eq!(done.stdout.trim_end(), output.trim_end(), "$ {command}");
        } else {
            assert_ne!(done.code, 64, "$ {command}\n{}", done.stdout);
        }
    }
}

#[test]
fn the_two_commands_stand_in_the_readme() {
    let readme = std::fs::read_to_string(root().join("README.md")).unwrap();
    for command in ["cargo run -- ask examples/deploy-target.json", "cargo test --workspace"] {
        assert!(readme.contains(command), "{command}");
    }
}

/// The Rust of the README, which the next test holds against it.
#[rustfmt::skip]
async fn rust_of_the_readme(
    path: &Path,
    arguments: String,
    message: Message,
) -> Result<ToolResult, Box<dyn std::error::Error>> {
    // begin
    let host = AskUser::builder().store(SqliteStore::open(path)?).start()?;

    // The agent's run asks …
    let run = Run::new("agent:main:main", "run-1").tool_call("call-1").requested_by("ada", "telegram:42");
    let pending = host.ask_user(&arguments, &run).await?;

    // … a person answers, in another task or after a restart …
    let ada = Principal::speaker(TenantId::default(), "ada", "telegram:42");
    host.reply(&ada, "agent:main:main", &message).await?;

    // … and the run goes on.
    let result = pending.outcome().await?;
    // end
    Ok(result)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_rust_of_the_readme_runs() {
    let source = std::fs::read_to_string(root().join("tests/system/readme.rs")).unwrap();
    let code = source.split("// begin\n").nth(1).unwrap().split("// end").next().unwrap();
    let readme = std::fs::read_to_string(root().join("README.md")).unwrap();
    let shown = readme.split("```rust\n").nth(1).unwrap().split("```").next().unwrap();
    let lines = |text: &str| text.trim().lines().map(|line| line.trim().to_owned()).collect::<Vec<_>>();
    assert_eq!(lines(shown), lines(code));

    let folder = tempfile::tempdir().unwrap();
    let arguments = one_question("target", &["A", "B"]).to_string();
    let result =
        rust_of_the_readme(&folder.path().join("questions.db"), arguments, message("b")).await.unwrap();
    assert!(result.json.contains(r#"["B"]"#), "{}", result.json);
}

/// Links between the documents lead somewhere.
#[test]
fn links_between_the_documents_are_not_broken() {
    let mut documents = vec![root().join("README.md"), root().join("wit/VERSIONING.md")];
    documents.extend(std::fs::read_dir(root().join("docs")).unwrap().map(|entry| entry.unwrap().path()));
    for document in
        documents.iter().filter(|path| path.extension().is_some_and(|extension| extension == "md"))
    {
        let text = std::fs::read_to_string(document).unwrap();
        for link in text.split("](").skip(1).filter_map(|rest| rest.split(')').next()) {
            let target = link.split('#').next().unwrap_or_default();
            if target.is_empty() || target.contains("://") {
                continue;
            }
            let path = document.parent().unwrap().join(target);
            assert!(path.exists(), "{}: {link}", document.display());
        }
    }
}
