//! Loads `ask_user`'s sandboxed component, and does everything that has an effect: time, ids, storage, waiting, telling.
//!
//! A host holds one [`AskUser`]. An agent's run asks, a person answers, the run goes on:
//!
//! ```
//! # #[cfg(feature = "bundled-plugin")]
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! use ask_user_host::contract::Answer;
//! use ask_user_host::{AskUser, Principal, Run, Submission, TenantId};
//!
//! let host = AskUser::builder().start()?;
//!
//! // The agent's side.
//! let run = Run::new("agent:main:main", "run-1").tool_call("call-1").requested_by("ada", "terminal");
//! let arguments = r#"{"questions": [{"id": "target", "header": "Target", "question": "Where to?",
//!     "options": [{"label": "Staging (Recommended)"}, {"label": "Production"}]}]}"#;
//! let pending = host.ask_user(arguments, &run).await?;
//!
//! // The person's side.
//! let ada = Principal::speaker(TenantId::default(), "ada", "terminal");
//! let answer = Answer { question_id: "target".into(), values: vec!["Production".into()] };
//! host.resolve(&ada, pending.id(), Submission::of(vec![answer])).await?;
//!
//! let result = pending.outcome().await?;
//! assert_eq!(result.json, r#"{"status":"answered","answers":{"answers":{"target":["Production"]}}}"#);
//! # Ok(())
//! # }
//! # #[cfg(not(feature = "bundled-plugin"))]
//! # fn main() {}
//! ```
//!
//! A folder is a layer, and a layer only looks down:
//! `cli → terminal, gateway → channels → questions → store, sandbox`. `sandbox` knows nothing of prompts in a store;
//! `store` knows nothing of WebAssembly; `client` talks to gateways and knows neither. `plugins` loads components from a
//! folder, `laws` tries the channels of one. Cargo features cut the upper ones off; without default features what remains
//! is `sandbox`, `questions` and the store in memory.

#[cfg(feature = "channels")]
pub mod channels;
#[cfg(feature = "cli")]
pub mod cli;
#[cfg(feature = "client")]
pub mod client;
pub mod clock;
#[cfg(feature = "cli")]
pub mod config;
pub mod contract;
#[cfg(feature = "gateway")]
pub mod gateway;
pub mod ids;
#[cfg(feature = "laws")]
pub mod laws;
#[cfg(feature = "plugins")]
pub mod plugins;
mod questions;
pub mod sandbox;
pub mod store;
#[cfg(feature = "cli")]
pub mod terminal;
#[cfg(any(feature = "gateway", feature = "cli"))]
mod text;

pub use questions::{
    Accepted, AskError, AskUser, AskUserBuilder, Attribution, Event, FindError, HostError, Liveness,
    Observer, PendingPrompt, Principal, Reply, RequestError, Run, Scopes, SettleError, StartError,
    Submission, Subscription, WaitError,
};
pub use store::TenantId;
pub use tokio_util::sync::CancellationToken;
