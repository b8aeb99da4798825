//! The program `ask-user`.
