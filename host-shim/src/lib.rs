//! Draft.
pub mod clock;
pub mod contract;
pub mod store;
#[cfg(feature = "cli")]
pub mod terminal;
