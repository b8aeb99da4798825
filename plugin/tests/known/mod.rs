//! The built-in channels by their names.

use ask_user_plugin::channel::{Descriptor, channels};

/// What the channel can do.
pub(crate) fn descriptor(name: &str) -> Descriptor {
    channels().into_iter().find(|channel| channel.name == name).expect("a built-in channel")
}
