//! The rules of the gateway methods `question.*`.
