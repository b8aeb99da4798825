//! What is counted of the service: for metrics, never for decisions.

use crate::contract::Prompt;

/// Counts what happens, over all tenants. Called after the commit and in line: it must be quick.
pub trait Observer: Send + Sync + 'static {
    /// A prompt is stored.
    fn asked(&self, prompt: &Prompt) {
        let _ = prompt;
    }

    /// A prompt has ended.
    fn settled(&self, prompt: &Prompt) {
        let _ = prompt;
    }

    /// The plugin took so long for one decision.
    fn decided(&self, seconds: f64) {
        let _ = seconds;
    }
}

/// Counts nothing.
pub(super) struct Unobserved;

impl Observer for Unobserved {}
