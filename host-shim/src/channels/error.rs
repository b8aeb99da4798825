//! Why nothing could be shown or understood.

use crate::contract::ChannelError;
use crate::questions::{FindError, HostError, SettleError};
use crate::sandbox::CallError;
use crate::store::StoreError;

/// Why nothing could be shown or understood.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ChannelsError {
    /// There is no channel of this name.
    #[error("there is no channel {0:?}")]
    NoChannel(String),
    /// The tenant has no such prompt.
    #[error("there is no question {0}")]
    NoPrompt(String),
    /// The tenant has no such delivery.
    #[error("there is no delivery {0}")]
    NoDelivery(String),
    /// It was said before that this delivery failed.
    #[error("the delivery {0} was said to have failed")]
    Failed(String),
    /// The target is not one of the channel's.
    #[error("the target does not fit the channel: {0}")]
    BadTarget(String),
    /// The prompt cannot be shown like this.
    #[error("the question cannot be shown: {0}")]
    Unshowable(String),
    /// What came in is no tap that the channel understands.
    #[error("this is no tap: {0}")]
    Malformed(String),
    /// The channel's component did not do its work.
    #[error(transparent)]
    Call(#[from] CallError),
    /// The host or its store did not do its work.
    #[error("{0}")]
    Unavailable(String),
}

impl From<ChannelError> for ChannelsError {
    fn from(error: ChannelError) -> Self {
        match error {
            ChannelError::UnknownChannel(name) => Self::NoChannel(name),
            ChannelError::NotOurs => Self::Malformed("it is not one of ours".into()),
            ChannelError::Malformed(why) => Self::Malformed(why),
            ChannelError::BadTarget(why) => Self::BadTarget(why),
            ChannelError::Unshowable(why) => Self::Unshowable(why),
        }
    }
}

impl From<FindError> for ChannelsError {
    fn from(error: FindError) -> Self {
        match error {
            FindError::NotFound { id } => Self::NoPrompt(id),
            FindError::Host(error) => error.into(),
        }
    }
}

impl From<HostError> for ChannelsError {
    fn from(error: HostError) -> Self {
        Self::Unavailable(error.to_string())
    }
}

impl From<SettleError> for ChannelsError {
    fn from(error: SettleError) -> Self {
        Self::Unavailable(error.to_string())
    }
}

impl From<StoreError> for ChannelsError {
    fn from(error: StoreError) -> Self {
        Self::Unavailable(error.to_string())
    }
}
