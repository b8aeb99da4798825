//! A terminal with the program on it: a pseudo terminal, and a screen that shows what the program draws.

use std::fs::File;
use std::io::{Read, Write};
use std::num::NonZeroU16;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::{Mode, OFlags, open};
use rustix::io::{FdFlags, fcntl_setfd};
use rustix::process::{Pid, Signal, ioctl_tiocsctty, kill_process, setsid};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{LocalModes, Winsize, tcgetattr, tcsetwinsize};
use vt100::{Parser, Screen};

use super::program::{PATIENCE, command, exit_code};

/// Arrow up.
pub const UP: &str = "\x1b[A";
/// Arrow down.
pub const DOWN: &str = "\x1b[B";
/// Arrow left.
pub const LEFT: &str = "\x1b[D";
/// Enter.
pub const ENTER: &str = "\r";
/// Escape.
pub const ESCAPE: &str = "\x1b";
/// Tab.
pub const TAB: &str = "\t";
/// Ctrl-C.
pub const CTRL_C: &str = "\x03";
/// Ctrl-D, which ends the input where lines are read.
pub const CTRL_D: &str = "\x04";
/// Ctrl-S.
pub const CTRL_S: &str = "\x13";

/// What a terminal sends when `text` is pasted.
pub fn pasted(text: &str) -> String {
    format!("\x1b[200~{text}\x1b[201~")
}

/// A terminal and the program that runs on it. The program is killed when this is dropped.
pub struct Terminal {
    keyboard: File,
    /// Kept open, so that what the program leaves can be read after its end.
    line: OwnedFd,
    modes: LocalModes,
    parser: Parser,
    child: Started,
}

/// A process that does not outlive the test.
struct Started(Child);

impl Drop for Started {
    fn drop(&mut self) {
        // It may have ended.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// What the program left.
#[derive(Debug)]
pub struct Left {
    /// The exit code.
    pub code: i32,
    /// Standard output, where that was not the terminal.
    pub stdout: String,
    /// What stands on the terminal.
    pub screen: String,
}

impl Terminal {
    /// Runs the program on a terminal of 80 by 24.
    pub fn run(arguments: &[&str]) -> Self {
        Self::run_with(80, 24, arguments, |_| {})
    }

    /// Runs the program on a terminal of 80 by 24 on which somebody has typed before.
    pub fn run_after(keys: &str, arguments: &[&str]) -> Self {
        let (mut keyboard, line) = pseudo_terminal(80, 24);
        keyboard.write_all(keys.as_bytes()).expect("the terminal takes keys");
        Self::start(keyboard, line, (80, 24), arguments, |_| {})
    }

    /// Runs the program on a terminal of this size. `change` may take streams or variables away from the terminal.
    pub fn run_with(columns: u16, rows: u16, arguments: &[&str], change: impl FnOnce(&mut Command)) -> Self {
        let (keyboard, line) = pseudo_terminal(columns, rows);
        Self::start(keyboard, line, (columns, rows), arguments, change)
    }

    fn start(
        keyboard: File,
        line: OwnedFd,
        (columns, rows): (u16, u16),
        arguments: &[&str],
        change: impl FnOnce(&mut Command),
    ) -> Self {
        let stream = || Stdio::from(line.try_clone().expect("a copy"));
        let mut command = command(arguments);
        command.stdin(stream()).stdout(stream()).stderr(stream());
        command.env("TERM", "xterm-256color").env_remove("NO_COLOR");
        change(&mut command);
        let controlling = line.try_clone().expect("a copy");
        // SAFETY: two system calls and nothing else happen between fork and exec.
        unsafe {
            command.pre_exec(move || {
                setsid()?;
                Ok(ioctl_tiocsctty(controlling.as_fd())?)
            });
        }
        let modes = tcgetattr(&line).expect("it is a terminal").local_modes;
        let child = Started(command.spawn().expect("the program starts"));
        Self { keyboard, line, modes, parser: Parser::new(size(rows), size(columns), 0), child }
    }

    /// Presses keys, or types text.
    pub fn press(&mut self, keys: &str) {
        self.keyboard.write_all(keys.as_bytes()).expect("the terminal takes keys");
    }

    /// Waits until this is on the screen.
    pub fn wait_for(&mut self, text: &str) {
        self.wait_until(text, |screen| screen.contents().contains(text));
    }

    /// Waits until the screen is as expected.
    pub fn wait_until(&mut self, what: &str, mut is_so: impl FnMut(&Screen) -> bool) {
        let start = Instant::now();
        while !is_so(self.screen()) {
            let left = PATIENCE.saturating_sub(start.elapsed());
            assert!(!left.is_zero() && self.read(left), "{what} is not on the screen:\n{}", self.shown());
        }
    }

    /// Whether a screen shows a prompt, whose last line is about the keys. It is drawn from top to bottom, and from then
    /// on keys count.
    pub fn is_panel(screen: &Screen) -> bool {
        screen.alternate_screen() && screen.contents().contains("Enter ")
    }

    /// The screen as it is known now.
    pub fn screen(&self) -> &Screen {
        self.parser.screen()
    }

    /// The text on the screen as it is known now.
    pub fn shown(&self) -> String {
        self.screen().contents()
    }

    /// Changes the size of the window.
    pub fn resize(&mut self, columns: u16, rows: u16) {
        self.parser.set_size(size(rows), size(columns));
        set_size(&self.keyboard, columns, rows);
    }

    /// Sends the program a signal.
    pub fn signal(&self, signal: Signal) {
        let id = Pid::from_child(&self.child.0);
        kill_process(id, signal).expect("it runs");
    }

    /// Waits until the program has ended by itself, and looks whether it left the terminal as it was.
    pub fn finish(mut self) -> Left {
        let start = Instant::now();
        let status = loop {
            // A program can only end when somebody reads what it says.
            while self.read(Duration::from_millis(5)) {}
            if let Some(status) = self.child.0.try_wait().expect("it can be waited for") {
                break status;
            }
            assert!(start.elapsed() < PATIENCE, "the program does not end:\n{}", self.shown());
        };
        while self.read(Duration::ZERO) {}
        let screen = self.screen();
        assert!(!screen.alternate_screen(), "the screen was not given back:\n{}", self.shown());
        assert!(!screen.bracketed_paste(), "pastes are still marked");
        assert!(!screen.hide_cursor(), "the cursor is still hidden");
        let modes = tcgetattr(&self.line).expect("it is a terminal").local_modes;
        assert_eq!(modes, self.modes, "keys do not behave as before");
        assert!(modes.contains(LocalModes::ECHO | LocalModes::ICANON | LocalModes::ISIG));
        let mut stdout = String::new();
        if let Some(pipe) = &mut self.child.0.stdout {
            pipe.read_to_string(&mut stdout).expect("it can be read");
        }
        Left { code: status.code().unwrap_or(-1), stdout, screen: self.shown() }
    }

    /// Closes the window while the program runs, waits for its end and tells its exit code; -1 when a signal ended it.
    pub fn close_window(self) -> i32 {
        let Self { keyboard, line, mut child, .. } = self;
        drop((keyboard, line));
        exit_code(&mut child.0)
    }

    /// Takes in what the program has written, waiting for it for `patience` at most. Whether there was anything.
    fn read(&mut self, patience: Duration) -> bool {
        let patience = Timespec::try_from(patience).expect("a short time");
        let mut ready = [PollFd::new(&self.keyboard, PollFlags::IN)];
        if poll(&mut ready, Some(&patience)).expect("it can be polled") == 0 {
            return false;
        }
        let mut part = [0; 8192];
        let read = self.keyboard.read(&mut part).expect("it can be read");
        self.parser.process(&part[..read]);
        read > 0
    }
}

/// Both ends of a pseudo terminal: the one with the keyboard and the screen, and the one for programs.
fn pseudo_terminal(columns: u16, rows: u16) -> (File, OwnedFd) {
    let keyboard = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).expect("a pseudo terminal");
    // The program must not hold its own keyboard.
    fcntl_setfd(&keyboard, FdFlags::CLOEXEC).expect("it is open");
    grantpt(&keyboard).and_then(|()| unlockpt(&keyboard)).expect("it is ours");
    let name = ptsname(&keyboard, Vec::new()).expect("it has a name");
    let line = open(name, OFlags::RDWR | OFlags::NOCTTY | OFlags::CLOEXEC, Mode::empty()).expect("it opens");
    let keyboard = File::from(keyboard);
    set_size(&keyboard, columns, rows);
    (keyboard, line)
}

fn set_size(keyboard: &File, columns: u16, rows: u16) {
    let size = Winsize { ws_row: rows, ws_col: columns, ws_xpixel: 0, ws_ypixel: 0 };
    tcsetwinsize(keyboard, size).expect("a terminal has a size");
}

fn size(cells: u16) -> NonZeroU16 {
    NonZeroU16::new(cells).expect("a terminal has cells")
}
