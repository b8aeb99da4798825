//! The whole system, one module a behaviour. Names are facts; a B number is a case of users' reports that the fact
//! settles.

#![allow(clippy::unwrap_used)]

mod arguments;
mod authority;
mod channels;
mod component;
mod examples;
mod fate;
mod gateway;
mod persistence;
mod plugins;
mod program;
mod readme;
mod render;
mod replies;
mod reuse;
mod sandbox;
mod security;
#[cfg(unix)]
mod terminal;
