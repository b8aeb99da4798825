//! The two streams: results on standard output, everything else on standard error. A reader that has gone away is no
//! reason to panic.

use std::env;
use std::io::{self, IsTerminal, Write};

use clap::builder::styling::Style;

use super::failure::Failure;

/// Prints a result.
pub(super) fn result(text: &str) -> Result<(), Failure> {
    result_bytes(format!("{text}\n").as_bytes())
}

/// Prints a result as it is.
pub(super) fn result_bytes(bytes: &[u8]) -> Result<(), Failure> {
    is_read(bytes).map(drop)
}

/// Prints one of many results. Whether anybody reads them.
pub(super) fn is_result_read(text: &str) -> Result<bool, Failure> {
    is_read(format!("{text}\n").as_bytes())
}

fn is_read(bytes: &[u8]) -> Result<bool, Failure> {
    let mut stdout = io::stdout().lock();
    match stdout.write_all(bytes).and_then(|()| stdout.flush()) {
        Ok(()) => Ok(true),
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(false),
        Err(error) => Err(Failure::other("output", format!("the result could not be printed: {error}"))),
    }
}

/// Tells the person something. When that cannot be printed there is nobody to tell.
pub(super) fn note(text: &str) {
    let _ = writeln!(io::stderr().lock(), "{text}");
}

/// Puts this on the line that a person on a terminal looks at, in place of what stands there.
pub(super) fn on_this_line(text: &str) {
    let mut stderr = io::stderr().lock();
    let _ = write!(stderr, "\r\x1b[2K{text}").and_then(|()| stderr.flush());
}

/// Whether a person who reads colours wants them. Says nothing about where they read.
pub(super) fn wants_colour() -> bool {
    let set_to = |name, wanted: &dyn Fn(&str) -> bool| {
        env::var_os(name).is_some_and(|value| wanted(&value.to_string_lossy()))
    };
    !(set_to("NO_COLOR", &|value| !value.is_empty()) || set_to("TERM", &|value| value == "dumb"))
}

/// `text` so that it stands out on standard error, where a person reads that on a terminal and wants it.
pub(super) fn emphasised(text: &str) -> String {
    emphasised_on(&io::stderr(), text)
}

/// The same on standard output.
pub(super) fn emphasised_result(text: &str) -> String {
    emphasised_on(&io::stdout(), text)
}

fn emphasised_on(stream: &impl IsTerminal, text: &str) -> String {
    if !wants_colour() || !stream.is_terminal() {
        return text.to_owned();
    }
    let bold = Style::new().bold();
    format!("{bold}{text}{bold:#}")
}

/// Text of a component, on one line and without what a terminal would obey.
pub(super) fn printable(text: &str) -> String {
    text.chars().map(|c| if c.is_control() { '\u{fffd}' } else { c }).collect()
}
