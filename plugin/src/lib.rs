//! The rules of `ask_user`, as pure functions: each gets everything it needs and returns a decision.
//!
//! | module | decides |
//! |---|---|
//! | [`tool`] | whether a run gets the tool, whether its call is valid, what it gets back |
//! | [`question`] | the rules of the gateway methods `question.*` |
//! | [`reply`] | what a typed message means |
//! | [`channel`] | how a prompt looks, and how it looks once it has ended |
//! | [`catalogue`] | our own words, in every language we have |
//!
//! On WebAssembly `component.rs` exports them as the world `ask-user-plugin`; natively the same modules are tested.

pub mod catalogue;
pub mod channel;
#[cfg(target_family = "wasm")]
mod component;
#[cfg(target_family = "wasm")]
mod heap;
pub mod model;
pub mod numbering;
pub mod question;
pub mod reply;
pub mod text;
pub mod tool;
mod violations;
pub mod words;
