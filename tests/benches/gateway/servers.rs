//! The servers that are compared, each a process of its own.

use std::env;
use std::io::{BufRead, BufReader, Write};
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;
use tempfile::TempDir;

use crate::ask_user;

pub(crate) const TOKEN: &str = "the token of this bench";
pub(crate) const OPENCLAW: &str = "OpenClaw";

/// How long OpenClaw may take to start.
const PATIENCE: Duration = Duration::from_secs(180);

/// What is kept of a question that has ended, which is as long as OpenClaw keeps it.
const RETENTION: &str = "15s";

/// A server that runs. It ends when it is dropped.
pub(crate) struct Server {
    pub(crate) name: &'static str,
    pub(crate) is_ours: bool,
    url: String,
    process: Child,
}

impl Server {
    /// Nothing but the frames.
    pub(crate) fn floor() -> Self {
        let mut command = ask_user();
        command.arg("floor");
        Self::started("floor", false, &mut command)
    }

    /// `ask-user serve` with the store in memory.
    pub(crate) fn ours_in_memory(folder: &TempDir) -> Self {
        Self::ours("ask-user, memory", folder, "memory.toml", "kind = \"memory\"")
    }

    /// `ask-user serve` with the store in a file, and every step on disk before it is answered.
    pub(crate) fn ours_in_sqlite(folder: &TempDir) -> Self {
        Self::ours("ask-user, SQLite", folder, "sqlite.toml", "kind = \"sqlite\"\npath = \"questions.db\"")
    }

    fn ours(name: &'static str, folder: &TempDir, file: &str, store: &str) -> Self {
        let config = folder.path().join(file);
        let text = format!(
            "[store]\n{store}\nretention = \"{RETENTION}\"\n[[token]]\ntoken = \"{TOKEN}\"\nsubject = \"bench\"\n\
             scopes = [\"operator.questions\"]\n"
        );
        std::fs::write(&config, text).expect("a configuration");
        let mut command = ask_user();
        command.args(["serve", "--listen", "127.0.0.1:0", "--config"]).arg(config);
        command.env("ASK_USER_LOG", "warn");
        Self::started(name, true, &mut command)
    }

    /// A process that says where it listens.
    fn started(name: &'static str, is_ours: bool, command: &mut Command) -> Self {
        let mut process = command.stderr(Stdio::piped()).spawn().expect("it starts");
        let mut lines = BufReader::new(process.stderr.take().expect("a pipe")).lines();
        let url = lines
            .by_ref()
            .map_while(Result::ok)
            .find_map(|line| line.strip_prefix("listening on ").map(str::to_owned))
            .expect("it says where it listens");
        // What else it says is of interest when something is wrong.
        std::thread::spawn(move || {
            for line in lines.map_while(Result::ok) {
                let _ = writeln!(std::io::stderr(), "{name}: {line}");
            }
        });
        Self { name, is_ours, url, process }
    }

    /// OpenClaw's own gateway, where `ASK_USER_OPENCLAW` names the folder that it is installed in.
    pub(crate) fn openclaw(folder: &TempDir) -> Option<Self> {
        // A relative folder begins at the root of the repository, where the bench is called.
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
        let modules = root.join(env::var_os("ASK_USER_OPENCLAW")?).join("node_modules");
        let home = folder.path().join("openclaw");
        std::fs::create_dir_all(&home).expect("a folder");
        let port = free_port();
        let config = home.join("openclaw.json");
        let text = serde_json::json!({ "gateway": {
            "mode": "local", "bind": "loopback", "port": port, "auth": { "mode": "token", "token": TOKEN },
        } });
        std::fs::write(&config, text.to_string()).expect("a configuration");
        let log = std::fs::File::create(home.join("log")).expect("a log");
        let process = openclaw_command(&modules, &home, &config, port)
            .stdout(log.try_clone().expect("a log"))
            .stderr(log)
            .spawn()
            .expect("OpenClaw starts");
        let server = Self { name: OPENCLAW, is_ours: false, url: format!("ws://127.0.0.1:{port}"), process };
        let begin = Instant::now();
        while let Err(error) = server.try_drive(&[("--rounds", 1)], &[]) {
            assert!(begin.elapsed() < PATIENCE, "OpenClaw does not serve: {error}");
            std::thread::sleep(Duration::from_millis(500));
        }
        Some(server)
    }

    /// Drives a load, and gives what it measured.
    pub(crate) fn drive(&self, numbers: &[(&str, u32)]) -> Value {
        self.try_drive(numbers, &[]).unwrap_or_else(|error| panic!("{}: {error}", self.name))
    }

    /// The same, where it may be refused.
    pub(crate) fn try_drive(&self, numbers: &[(&str, u32)], flags: &[&str]) -> Result<Value, String> {
        let mut command = ask_user();
        command.args(["bench", "gateway", "--json", "--url", &self.url]).args(flags);
        for (name, number) in numbers {
            command.args([(*name).to_owned(), number.to_string()]);
        }
        let output = command.output().expect("the load runs");
        serde_json::from_slice(&output.stdout).map_err(|_| {
            let error = String::from_utf8_lossy(&output.stderr);
            let message = serde_json::from_str::<Value>(&error).ok();
            message
                .and_then(|error| Some(error["message"].as_str()?.to_owned()))
                .unwrap_or(error.into_owned())
        })
    }

    /// Its resident memory, in bytes; 0 where that cannot be known.
    pub(crate) fn resident(&self) -> u64 {
        let status =
            std::fs::read_to_string(format!("/proc/{}/status", self.process.id())).unwrap_or_default();
        let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
        let kibibytes = line.and_then(|line| line.trim().strip_suffix("kB")?.trim().parse::<u64>().ok());
        kibibytes.unwrap_or_default() * 1024
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // OpenClaw starts processes of its own, in the group that it was given.
        #[cfg(unix)]
        if self.name == OPENCLAW
            && let Some(group) =
                i32::try_from(self.process.id()).ok().and_then(rustix::process::Pid::from_raw)
        {
            let _ = rustix::process::kill_process_group(group, rustix::process::Signal::KILL);
        }
        // It may have ended.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// The Node.js that was installed with it, in a package for this kind of machine.
fn node_of(modules: &Path) -> PathBuf {
    let packages = std::fs::read_dir(modules).expect("the folder of ASK_USER_OPENCLAW has node_modules");
    let programs = packages.filter_map(Result::ok).map(|package| package.path().join("bin/node"));
    let mut is_there = programs.filter(|program| program.is_file());
    is_there.next().expect("a package of Node.js beside OpenClaw")
}

fn openclaw_command(modules: &Path, home: &Path, config: &Path, port: u16) -> Command {
    let mut command = Command::new(node_of(modules));
    command.arg(modules.join("openclaw/openclaw.mjs"));
    command.args(["gateway", "run", "--port", &port.to_string()]);
    command.current_dir(home).env("HOME", home).env("OPENCLAW_STATE_DIR", home.join("state"));
    command.env("OPENCLAW_CONFIG_PATH", config).env("OPENCLAW_GATEWAY_PORT", port.to_string());
    #[cfg(unix)]
    std::os::unix::process::CommandExt::process_group(&mut command, 0);
    command
}

/// A port that nobody has. Somebody may take it meanwhile; then the run is repeated.
fn free_port() -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
    listener.local_addr().expect("an address").port()
}
