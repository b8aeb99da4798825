//! What a message that somebody typed in a conversation means for the prompts that are shown there.

use super::{ChannelService, ChannelsError, answerer};
use crate::contract::{Message, NotAnAnswerReason};
use crate::questions::Reply;
use crate::store::TenantId;

/// What became of a message.
#[derive(Clone, Debug, PartialEq)]
pub enum Heard {
    /// No prompt is shown there: it is ordinary chat.
    Chat,
    /// A prompt is shown there, and this person may not answer it. The message answers nothing.
    NotAllowed,
    /// What it meant for a prompt. A correction is for the person, in the same conversation.
    Reply {
        /// The prompt.
        prompt: String,
        /// What it meant.
        reply: Reply,
    },
}

impl ChannelService {
    /// Takes a message that somebody typed: for the newest prompt there that they may answer.
    pub async fn said(
        &self,
        tenant: &TenantId,
        channel: &str,
        address: &str,
        thread: Option<&str>,
        sender: &str,
        message: &Message,
    ) -> Result<Heard, ChannelsError> {
        self.known(channel)?;
        let mut heard = Heard::Chat;
        for delivery in self.inner.store.deliveries_at(tenant, channel, address).await? {
            // A prompt in a thread is answered in the thread; one outside of threads, outside of them.
            if delivery.place.target.thread.as_deref() != thread {
                continue;
            }
            let prompt = match self.prompt(tenant, &delivery.prompt).await {
                Ok(prompt) if prompt.settlement.is_none() => prompt,
                Ok(_) | Err(ChannelsError::NoPrompt(_)) => continue,
                Err(error) => return Err(error),
            };
            let Some(principal) = answerer(tenant, &delivery.place, &prompt, sender) else {
                heard = Heard::NotAllowed;
                continue;
            };
            // Words such as /skip are taken as the place shows them.
            let locale = message.locale.clone().or_else(|| delivery.place.target.locale.clone());
            let message = Message { locale, ..message.clone() };
            let reply = self.inner.host.reply_to_prompt(&principal, &prompt.id, &message).await?;
            // It ended on the way: there may be another one.
            if reply == Reply::NotAnAnswer(NotAnAnswerReason::NotPending) {
                continue;
            }
            return Ok(Heard::Reply { prompt: prompt.id.clone(), reply });
        }
        Ok(heard)
    }
}
