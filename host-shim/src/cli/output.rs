//! The two streams: results on standard output, everything else on standard error. A reader that has gone away is no
//! reason to panic.

use std::io::{self, Write};

use super::failure::Failure;

/// Prints a result.
pub(super) fn result(text: &str) -> Result<(), Failure> {
    result_bytes(format!("{text}\n").as_bytes())
}

/// Prints a result as it is.
pub(super) fn result_bytes(bytes: &[u8]) -> Result<(), Failure> {
    let mut stdout = io::stdout().lock();
    match stdout.write_all(bytes).and_then(|()| stdout.flush()) {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => Err(Failure::other("output", error)),
        _ => Ok(()),
    }
}

/// Tells the person something. When that cannot be printed there is nobody to tell.
pub(super) fn note(text: &str) {
    let _ = writeln!(io::stderr().lock(), "{text}");
}
