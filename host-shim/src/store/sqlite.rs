//! Prompts in an SQLite file.
#[derive(Debug)]
pub struct SqliteStore;
