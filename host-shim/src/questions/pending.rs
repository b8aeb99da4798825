//! A prompt that was asked, to be waited for.

use std::sync::Arc;

use tokio_util::sync::CancellationToken;

use super::AskUser;
use super::error::{HostError, WaitError};
use super::waiters::Wait;
use crate::contract::{Prompt, ToolResult};
use crate::store::TenantId;

/// A prompt that was asked. Dropping it changes nothing: the prompt does not need a waiter.
#[derive(Debug)]
pub struct PendingPrompt {
    pub(super) host: AskUser,
    pub(super) tenant: TenantId,
    pub(super) prompt: Arc<Prompt>,
    pub(super) cancellation: CancellationToken,
}

impl PendingPrompt {
    /// The prompt as it was when it was asked, or re-attached to.
    pub fn prompt(&self) -> &Prompt {
        &self.prompt
    }

    /// Its id.
    pub fn id(&self) -> &str {
        &self.prompt.id
    }

    /// Waits until the prompt has ended, and gives what the tool returns to the agent. Can be called again, and dropped
    /// and called again, as often as one likes.
    pub async fn outcome(&self) -> Result<ToolResult, WaitError> {
        let settled = tokio::select! {
            biased;
            () = self.cancellation.cancelled() => {
                self.host.abort_in(&self.tenant, &self.prompt.id).await?;
                return Err(WaitError::Aborted);
            }
            settled = self.settled() => settled?,
        };
        let result = self.host.plugin_of(&self.tenant).outcome(&settled).map_err(HostError::from)?;
        result.ok_or_else(|| WaitError::NotFound { id: self.prompt.id.clone() })
    }

    /// Waits until the prompt has ended, however it ends.
    pub async fn settled(&self) -> Result<Arc<Prompt>, WaitError> {
        self.host.wait_in(&self.tenant, &self.prompt.id).await
    }

    /// Cancels the prompt when its run is aborted, whether or not anybody waits. Does not keep the host alive.
    pub(super) fn watch_run(&self, news: Wait) {
        let inner = Arc::downgrade(&self.host.inner);
        let (tenant, id) = (self.tenant.clone(), self.prompt.id.clone());
        let cancellation = self.cancellation.clone();
        tokio::spawn(async move {
            tokio::select! {
                () = cancellation.cancelled() => {}
                _ = news => return,
            }
            let Some(inner) = inner.upgrade() else { return };
            // Boxed, since most runs are never aborted, and all of them wait here.
            let ending = Box::pin(async move { AskUser { inner }.abort_in(&tenant, &id).await });
            if let Err(error) = ending.await {
                tracing::warn!(%error, "an aborted run's question could not be cancelled");
            }
        });
    }
}
