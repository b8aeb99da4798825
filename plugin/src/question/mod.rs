//! The rules of the gateway methods `question.*`, applied to prompts that the host hands in.

mod fate;
mod record;
mod request;
mod resolve;

pub use fate::{Cancellation, cancel, expire};
pub use record::{RecordForm, get, list};
pub use request::{RequestParams, request};
pub use resolve::{AnswerError, AnswerErrorKind, Resolution, ResolveError, Resolved, Verdict, resolve};
