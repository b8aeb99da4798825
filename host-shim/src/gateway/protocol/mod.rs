//! OpenClaw's Gateway protocol, version 4: frames, the handshake, errors. Knows nothing of questions or of sockets.

pub(crate) mod connect;
pub(crate) mod device;
pub(crate) mod error;
pub mod frame;
pub(crate) mod params;
pub(crate) mod scope;
