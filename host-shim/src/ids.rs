//! Fresh ids, injected like time.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::clock::Clock;

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
        Ok(format!("ask_{:032x}", random()?))
    }
}

/// Ids in the order of time: the moment in milliseconds, 48 bits, then 80 random ones; in the form of [`RandomIds`], and
/// as hard to guess. What comes in together lies together in a store's index, which makes storing it cheap. The moment is
/// no secret: every record says when it was made.
pub struct TimeOrderedIds {
    clock: Arc<dyn Clock>,
}

impl TimeOrderedIds {
    /// Ids of this clock's time.
    pub fn new(clock: Arc<dyn Clock>) -> Self {
        Self { clock }
    }
}

impl Ids for TimeOrderedIds {
    fn prompt(&self) -> Result<String, NoRandomness> {
        let moment = u128::from(self.clock.now()) << 80;
        Ok(format!("ask_{:032x}", moment | random()? >> 48))
    }
}

/// 128 random bits.
pub(crate) fn random() -> Result<u128, NoRandomness> {
    let mut bytes = [0; 16];
    getrandom::fill(&mut bytes).map_err(|error| NoRandomness { cause: error.to_string() })?;
    Ok(u128::from_be_bytes(bytes))
}

/// A fresh id of a delivery.
#[cfg(feature = "channels")]
pub(crate) fn delivery() -> Result<String, NoRandomness> {
    Ok(format!("dlv_{:032x}", random()?))
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clock::ManualClock;

    #[test]
    fn ids_are_in_the_order_of_time_and_differ_within_a_moment() {
        let clock = Arc::new(ManualClock::new(0x0123_4567_89ab));
        let ids = TimeOrderedIds::new(clock.clone());
        let mut made = Vec::new();
        for _ in 0..100 {
            let (one, other) = (ids.prompt().unwrap(), ids.prompt().unwrap());
            assert_ne!(one, other);
            made.push(one);
            clock.advance(1);
        }
        assert!(made.is_sorted(), "{made:#?}");
        assert!(made[0].starts_with("ask_0123456789ab"));
        assert!(made.iter().all(|id| id.len() == 36));
    }
}
