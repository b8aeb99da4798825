//! The tool `ask_user`.
