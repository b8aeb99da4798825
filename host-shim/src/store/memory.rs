//! Prompts in memory: everything is gone when the process ends.
#[derive(Debug)]
pub struct MemoryStore;
