//! The program `ask-user`, built as it is installed and run as a user runs it.

use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Output, Stdio};
use std::sync::{Arc, Condvar, Mutex, OnceLock};
use std::thread::{JoinHandle, sleep, spawn};
use std::time::{Duration, Instant};

use super::world::code_cache;

/// The root of the repository.
pub fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// The built program.
pub fn path() -> &'static Path {
    static PROGRAM: OnceLock<PathBuf> = OnceLock::new();
    PROGRAM.get_or_init(|| built("ask-user"))
}

/// The built example of an embedding host.
pub fn embed_program() -> &'static Path {
    static PROGRAM: OnceLock<PathBuf> = OnceLock::new();
    PROGRAM.get_or_init(|| built("ask-user-example-embed"))
}

/// A program of the workspace, built in the profile of the tests.
///
/// It is asked for as a part of `cargo test --workspace`, which has built it already: each package with a program has a
/// test beside it that runs it. Asked for alone, cargo would choose other features and build everything again.
pub fn built(name: &str) -> PathBuf {
    let mut cargo = Command::new(env!("CARGO"));
    cargo.current_dir(root()).args([
        "test",
        "--workspace",
        "--no-run",
        "--quiet",
        "--message-format",
        "json",
        "--locked",
    ]);
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
        .filter(|message| message["target"]["kind"][0] == "bin" && message["profile"]["test"] == false)
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
    fed(&mut command(arguments), input.as_bytes())
}

/// Runs a command to its end, with this on standard input.
pub fn fed(command: &mut Command, input: &[u8]) -> Ran {
    let mut child = command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the program starts");
    // A program that does not read its input closes the pipe.
    let _ = child.stdin.take().expect("a pipe").write_all(input);
    ran(child.wait_with_output().expect("the program ends"))
}

/// The program with these arguments, and no surprises from the environment.
pub fn command(arguments: &[&str]) -> Command {
    let mut command = Command::new(path());
    command
        .current_dir(root())
        .args(arguments)
        .env("ASK_USER_CACHE_DIR", code_cache())
        // Not there: no plugins of whoever runs the tests.
        .env("ASK_USER_PLUGINS", root().join("target/no-plugins"))
        .env("USER", "ada");
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

/// How long anything may take that is going to happen, on the slowest machine.
pub const PATIENCE: Duration = Duration::from_secs(60);

/// Looks again and again until there is something.
///
/// # Panics
///
/// There is nothing for longer than [`PATIENCE`].
pub fn eventually<T>(what: &str, mut look: impl FnMut() -> Option<T>) -> T {
    let start = Instant::now();
    loop {
        if let Some(found) = look() {
            return found;
        }
        assert!(start.elapsed() < PATIENCE, "{what} did not happen");
        sleep(Duration::from_millis(5));
    }
}

/// The program while it runs, between pipes. Killed when it is dropped.
#[derive(Debug)]
pub struct Running {
    child: Child,
    stdin: Option<ChildStdin>,
    stdout: Option<Stream>,
    stderr: Stream,
}

/// The program with a pipe on each of its streams.
fn spawned(command: &mut Command) -> Child {
    command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the program starts")
}

impl Running {
    /// Starts it.
    pub fn start(arguments: &[&str]) -> Self {
        Self::of(spawned(&mut command(arguments)))
    }

    fn of(mut child: Child) -> Self {
        let stdin = child.stdin.take();
        let stdout = child.stdout.take().map(Stream::collect);
        let stderr = Stream::collect(child.stderr.take().expect("a pipe"));
        Self { child, stdin, stdout, stderr }
    }

    /// Starts it with these in its environment.
    pub fn start_with(arguments: &[&str], environment: &[(&str, &str)]) -> Self {
        let mut command = command(arguments);
        command.envs(environment.iter().copied());
        Self::of(spawned(&mut command))
    }

    /// Starts it for a reader of its results who goes away at once.
    pub fn start_without_reader(arguments: &[&str]) -> Self {
        let mut child = spawned(&mut command(arguments));
        drop(child.stdout.take());
        let stdin = child.stdin.take();
        let stderr = Stream::collect(child.stderr.take().expect("a pipe"));
        Self { child, stdin, stdout: None, stderr }
    }

    /// Its number.
    pub fn id(&self) -> u32 {
        self.child.id()
    }

    /// Writes to its standard input.
    pub fn type_in(&mut self, text: &str) {
        let stdin = self.stdin.as_mut().expect("the input was not ended");
        stdin.write_all(text.as_bytes()).and_then(|()| stdin.flush()).expect("it reads");
    }

    /// Ends its standard input.
    pub fn end_input(&mut self) {
        self.stdin = None;
    }

    /// Waits until this is on its standard error.
    pub fn wait_for(&self, text: &str) {
        self.stderr.wait_for(text);
    }

    /// Waits until this is on its standard output.
    pub fn wait_for_result(&self, text: &str) {
        self.stdout.as_ref().expect("somebody reads it").wait_for(text);
    }

    /// Waits until a whole line on its standard error holds this, and gives the line.
    pub fn line_with(&self, text: &str) -> String {
        self.stderr.line_with(text)
    }

    /// Tells it to end, and waits until it has.
    #[cfg(unix)]
    pub fn terminate(self) -> Ran {
        self.end_by(rustix::process::Signal::TERM)
    }

    /// Presses Ctrl-C, and waits until it has ended.
    #[cfg(unix)]
    pub fn interrupt(self) -> Ran {
        self.end_by(rustix::process::Signal::INT)
    }

    #[cfg(unix)]
    fn end_by(self, signal: rustix::process::Signal) -> Ran {
        let id = i32::try_from(self.id()).ok().and_then(rustix::process::Pid::from_raw).expect("a process");
        rustix::process::kill_process(id, signal).expect("it runs");
        self.finish()
    }

    /// Ends it at once, without a chance to do anything, and does not ask for its exit code.
    pub fn kill(&mut self) {
        self.child.kill().expect("it runs");
    }

    /// Waits until it has ended by itself, its standard input still open unless that was ended before.
    pub fn finish(mut self) -> Ran {
        let code = exit_code(&mut self.child);
        let stdout = self.stdout.take().map(Stream::text).unwrap_or_default();
        let stderr = std::mem::take(&mut self.stderr).text();
        Ran { code, stdout, stderr }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        // It may have ended.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Waits until a process has ended, and tells its exit code; -1 when a signal ended it.
pub fn exit_code(child: &mut Child) -> i32 {
    let status = eventually("the end of the program", || child.try_wait().expect("it can be waited for"));
    status.code().unwrap_or(-1)
}

/// What comes out of a pipe.
#[derive(Debug, Default)]
struct Stream {
    bytes: Arc<(Mutex<Vec<u8>>, Condvar)>,
    reader: Option<JoinHandle<()>>,
}

impl Stream {
    fn collect(mut pipe: impl Read + Send + 'static) -> Self {
        let bytes: Arc<(Mutex<Vec<u8>>, Condvar)> = Arc::default();
        let collected = Arc::clone(&bytes);
        let reader = spawn(move || {
            let mut part = [0; 4096];
            while let Ok(read) = pipe.read(&mut part) {
                if read == 0 {
                    return;
                }
                collected.0.lock().expect("nobody panics with it").extend_from_slice(&part[..read]);
                collected.1.notify_all();
            }
        });
        Self { bytes, reader: Some(reader) }
    }

    fn wait_for(&self, text: &str) {
        let (bytes, more) = &*self.bytes;
        let has_it = |bytes: &Vec<u8>| String::from_utf8_lossy(bytes).contains(text);
        let guard = bytes.lock().expect("nobody panics with it");
        let waited = more.wait_timeout_while(guard, PATIENCE, |bytes| !has_it(bytes));
        let (bytes, _) = waited.expect("nobody panics with it");
        assert!(has_it(&bytes), "{text:?} is missing in\n{}", String::from_utf8_lossy(&bytes));
    }

    fn line_with(&self, text: &str) -> String {
        let found = |bytes: &[u8]| {
            let all = String::from_utf8_lossy(bytes).into_owned();
            let whole = all.rsplit_once('\n').map_or("", |(whole, _)| whole).to_owned();
            whole.lines().find(|line| line.contains(text)).map(str::to_owned)
        };
        let (bytes, more) = &*self.bytes;
        let guard = bytes.lock().expect("nobody panics with it");
        let waited = more.wait_timeout_while(guard, PATIENCE, |bytes| found(bytes).is_none());
        let (bytes, _) = waited.expect("nobody panics with it");
        found(&bytes).unwrap_or_else(|| panic!("{text:?} is missing in\n{}", String::from_utf8_lossy(&bytes)))
    }

    /// All of it, once the pipe is closed.
    fn text(mut self) -> String {
        if let Some(reader) = self.reader.take() {
            reader.join().expect("reading does not panic");
        }
        let bytes = std::mem::take(&mut *self.bytes.0.lock().expect("nobody panics with it"));
        String::from_utf8_lossy(&bytes).into_owned()
    }
}
