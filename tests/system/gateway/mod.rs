//! The gateway, through its socket. That it is as OpenClaw's is shown by the recorded vectors; what is here is ours.

mod authority;
mod bad_clients;
mod calls;
mod channels;
mod cli;
mod ending;
mod host;
mod program;
