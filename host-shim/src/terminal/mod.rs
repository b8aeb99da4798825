//! A prompt on a terminal.
