//! The channel `text`: any place that shows plain text and takes replies. It has no controls, and a message stays as it
//! was sent, so the end of a prompt is a message of its own.

use serde_json::json;

use super::{Call, Channel, ChannelError, Descriptor, Interaction, Rendering, Target, TextUnit, form};
use crate::catalogue::Language;
use crate::model::Prompt;

pub(super) struct Text;

impl Channel for Text {
    fn descriptor(&self) -> Descriptor {
        Descriptor {
            name: "text".to_owned(),
            text_limit: None,
            unit: TextUnit::CodePoints,
            buttons: false,
            edits: false,
            private_feedback: false,
        }
    }

    fn render(&self, prompt: &Prompt, _: &Target, language: &Language) -> Result<Rendering, ChannelError> {
        Ok(Rendering { calls: vec![message(form::text_form(prompt, language))], bindings: Vec::new() })
    }

    fn interpret_interaction(&self, _: &str) -> Result<Interaction, ChannelError> {
        Err(ChannelError::NotOurs)
    }

    fn render_settled(
        &self,
        _: &Prompt,
        status: &str,
        _: &Target,
        _: &Language,
    ) -> Result<Vec<Call>, ChannelError> {
        Ok(vec![message(status.to_owned())])
    }

    fn render_feedback(&self, words: &str, _: &Target) -> Result<Vec<Call>, ChannelError> {
        Ok(vec![message(words.to_owned())])
    }
}

fn message(text: String) -> Call {
    Call { method: "message".to_owned(), body: json!({ "text": text }).to_string(), text }
}
