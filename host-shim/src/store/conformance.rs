//! Facts that hold for every store.
