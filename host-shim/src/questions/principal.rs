//! Who is calling, and what they may do (rulings 19a, 25 and 26).

use crate::contract::Prompt;
use crate::store::TenantId;

/// What a caller may do beyond answering the questions that they led to themselves.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Scopes {
    /// `operator.questions`: see and answer every prompt of the tenant.
    pub questions: bool,
    /// Name somebody else as the one who answered. For adapters of messaging services.
    pub name_answerer: bool,
}

/// Who is calling. The host makes it from what it knows of a connection or a message, never from what the caller says
/// of itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Principal {
    /// Whose prompts are concerned.
    pub tenant: TenantId,
    /// The person or program.
    pub subject: String,
    /// The conversation in which they speak, where it is one.
    pub conversation: Option<String>,
    /// What they may do.
    pub scopes: Scopes,
}

impl Principal {
    /// An operator: may see and answer everything of the tenant.
    pub fn operator(tenant: TenantId, subject: impl Into<String>) -> Self {
        let scopes = Scopes { questions: true, name_answerer: false };
        Self { tenant, subject: subject.into(), conversation: None, scopes }
    }

    /// Somebody who speaks in a conversation: may answer what their own messages there led to.
    pub fn speaker(tenant: TenantId, subject: impl Into<String>, conversation: impl Into<String>) -> Self {
        Self {
            tenant,
            subject: subject.into(),
            conversation: Some(conversation.into()),
            scopes: Scopes::default(),
        }
    }

    /// Lets this caller name somebody else as the one who answered.
    pub fn naming_answerers(mut self) -> Self {
        self.scopes.name_answerer = true;
        self
    }

    /// Whether they may see and answer this prompt of their tenant: the requester in the conversation that asked, and
    /// whoever holds `operator.questions` (ruling 19a). Nobody else, in groups in particular.
    pub fn may_answer(&self, prompt: &Prompt) -> bool {
        self.scopes.questions
            || (prompt.origin.requester.as_deref() == Some(&self.subject)
                && prompt.origin.conversation == self.conversation)
    }
}
