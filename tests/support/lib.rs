//! What the tests share: a host on a clock that stands still, people who answer, and the program as it is installed.

pub mod gateway;
pub mod guests;
pub mod messenger;
pub mod program;
pub mod prompts;
pub mod scaffold;
#[cfg(unix)]
pub mod terminal;
pub mod world;
