//! The example starts and ends. What it says is tested with the whole system; that this test is here makes `cargo test`
//! build the example, which those tests then run.

use std::process::{Command, Stdio};

#[test]
fn the_example_ends_when_nobody_answers() {
    let program = env!("CARGO_BIN_EXE_ask-user-example-embed");
    let status = Command::new(program).stdin(Stdio::null()).stdout(Stdio::null()).status().unwrap();
    assert!(status.success());
}
