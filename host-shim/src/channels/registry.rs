//! Which channels there are, and which component each belongs to.

use std::collections::BTreeMap;

use crate::contract::{About, Descriptor, Target};
use crate::sandbox::{CallError, ChannelPlugin, Plugin};

/// All channels of a host by their names.
#[derive(Clone, Debug, Default)]
pub struct Channels {
    known: BTreeMap<String, Known>,
}

/// A channel and the component it belongs to.
#[derive(Clone, Debug)]
pub struct Known {
    /// What the channel can do.
    pub descriptor: Descriptor,
    /// Its component.
    pub plugin: ChannelPlugin,
    /// Whether it came with the host.
    pub is_built_in: bool,
}

impl Known {
    /// The target with what there is to say about this. The built-in channels know that by themselves.
    pub fn told(
        &self,
        rules: &Plugin,
        target: &Target,
        about: impl FnOnce() -> About,
    ) -> Result<Target, CallError> {
        if self.is_built_in { Ok(target.clone()) } else { rules.told(target, &about()) }
    }
}

impl Plugin {
    /// The target with what these rules have to say about this.
    pub fn told(&self, target: &Target, about: &About) -> Result<Target, CallError> {
        let words = self.in_words(about, target.locale.as_deref(), target.shared)?;
        Ok(Target { words: Some(words), ..target.clone() })
    }
}

/// Two components want the same name.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Clash {
    /// Two plugins bring the same channel.
    #[error("the plugins {first} and {second} both bring the channel {channel:?}; remove one of them")]
    Plugins {
        /// The channel.
        channel: String,
        /// The plugin that had it.
        first: String,
        /// The plugin that came later.
        second: String,
    },
    /// A plugin brings a channel that is built in, and nobody said that it may.
    #[error(
        "{plugin} brings the channel {channel:?}, which is built in; it takes its place only where the operator says so (replaces)"
    )]
    BuiltIn {
        /// The channel.
        channel: String,
        /// The plugin.
        plugin: String,
    },
    /// A plugin may take the place of a channel that it does not bring, or that is not built in.
    #[error("{plugin} is to replace the channel {channel:?}, {why}")]
    NothingToReplace {
        /// The channel.
        channel: String,
        /// The plugin.
        plugin: String,
        /// Why that cannot be.
        why: &'static str,
    },
}

/// Why the channels of a plugin are not added.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum AddError {
    /// Their names are taken.
    #[error(transparent)]
    Clash(#[from] Clash),
    /// They cannot be told.
    #[error(transparent)]
    Call(#[from] CallError),
}

impl Channels {
    /// The channels that came with the host.
    pub fn of(built_in: ChannelPlugin) -> Result<Self, CallError> {
        let known = built_in.channels()?.into_iter().map(|descriptor| {
            let name = descriptor.name.clone();
            (name, Known { descriptor, plugin: built_in.clone(), is_built_in: true })
        });
        Ok(Self { known: known.collect() })
    }

    /// Adds the channels of a plugin, which may take the places of the built-in ones in `replaces` and no others.
    pub fn add(&mut self, plugin: ChannelPlugin, replaces: &[String]) -> Result<(), AddError> {
        let descriptors = plugin.channels()?;
        let mut known = self.known.clone();
        for channel in replaces {
            let why = match known.get(channel) {
                _ if descriptors.iter().all(|descriptor| descriptor.name != *channel) => {
                    "which it does not bring"
                }
                Some(known) if known.is_built_in => continue,
                Some(_) => "which another plugin brings",
                None => "which is not built in",
            };
            let (channel, plugin) = (channel.clone(), plugin.name().to_owned());
            return Err(Clash::NothingToReplace { channel, plugin, why }.into());
        }
        for descriptor in descriptors {
            let channel = descriptor.name.clone();
            if let Some(first) = known.get(&channel) {
                let second = plugin.name().to_owned();
                if !first.is_built_in {
                    let first = first.plugin.name().to_owned();
                    return Err(Clash::Plugins { channel, first, second }.into());
                }
                if !replaces.contains(&channel) {
                    return Err(Clash::BuiltIn { channel, plugin: second }.into());
                }
            }
            known.insert(channel, Known { descriptor, plugin: plugin.clone(), is_built_in: false });
        }
        self.known = known;
        Ok(())
    }

    /// The channel of this name.
    pub fn get(&self, name: &str) -> Option<&Known> {
        self.known.get(name)
    }

    /// All of them, by their names.
    pub fn iter(&self) -> impl Iterator<Item = &Known> {
        self.known.values()
    }
}
