//! The program starts. What it does is tested with the whole system; that this test is here makes `cargo test` build the
//! program, which those tests then run.

#![cfg(feature = "cli")]

use std::process::Command;

#[test]
fn the_program_tells_its_version() {
    let output = Command::new(env!("CARGO_BIN_EXE_ask-user")).arg("--version").output().unwrap();
    assert!(output.status.success());
    assert_eq!(String::from_utf8_lossy(&output.stdout), format!("ask-user {}\n", env!("CARGO_PKG_VERSION")));
}
