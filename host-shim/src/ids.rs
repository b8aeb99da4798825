//! Fresh ids, injected like time.

use std::sync::atomic::{AtomicU64, Ordering};

/// Makes ids for prompts.
pub trait Ids: Send + Sync + 'static {
    /// An id that was never used and that nobody can guess.
    fn prompt(&self) -> Result<String, NoRandomness>;
}

/// The system gives no random numbers.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the system gives no random numbers: {cause}")]
pub struct NoRandomness {
    cause: String,
}

/// Random ids: `ask_` and 32 hexadecimal digits, the form that OpenClaw's channels take from buttons.
#[derive(Clone, Copy, Debug, Default)]
pub struct RandomIds;

impl Ids for RandomIds {
    fn prompt(&self) -> Result<String, NoRandomness> {
        let mut bytes = [0; 16];
        getrandom::fill(&mut bytes).map_err(|error| NoRandomness { cause: error.to_string() })?;
        Ok(format!("ask_{:032x}", u128::from_be_bytes(bytes)))
    }
}

/// Ids that count up, in the form of [`RandomIds`]. For tests and simulations: anybody can guess them.
#[derive(Debug, Default)]
pub struct SequentialIds {
    last: AtomicU64,
}

impl SequentialIds {
    /// Ids that count up from here.
    pub fn starting_at(first: u64) -> Self {
        Self { last: AtomicU64::new(first) }
    }
}

impl Ids for SequentialIds {
    fn prompt(&self) -> Result<String, NoRandomness> {
        Ok(format!("ask_{:032x}", self.last.fetch_add(1, Ordering::Relaxed) + 1))
    }
}
