//! The program `ask-user`.

use std::process::ExitCode;

fn main() -> ExitCode {
    ask_user_host::cli::main()
}
