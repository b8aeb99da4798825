//! The program `ask-user`.

use std::process::ExitCode;

// A question is many small allocations, and the system's allocator took a third of the time of a busy gateway.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    ask_user_host::cli::main()
}
