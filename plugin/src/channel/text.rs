//! The channel `text`: any place that shows plain text and takes replies. It has no controls, and a message stays as it
//! was sent, so the end of a prompt is a message of its own.

use serde_json::{Value, json};

use super::{
    Call, Channel, ChannelError, Composer, Descriptor, Feedback, Interaction, Natives, Rendering, Tap,
    Target, form,
};
use crate::catalogue::Language;
use crate::model::Prompt;

pub(super) struct Text;

impl Channel for Text {
    fn descriptor(&self) -> Descriptor {
        Descriptor {
            name: "text".to_owned(),
            text: None,
            label: None,
            token_bytes: None,
            natives: Natives::default(),
            markup: Vec::new(),
            example_address: String::new(),
            example_tap: None,
        }
    }

    fn render(&self, prompt: &Prompt, _: &Target, language: &Language) -> Result<Rendering, ChannelError> {
        Ok(Rendering { calls: vec![message(form::text_form(prompt, language))], bindings: Vec::new() })
    }

    fn interpret_interaction(&self, _: &Value) -> Result<Interaction, ChannelError> {
        Err(ChannelError::NotOurs)
    }

    fn render_composer(
        &self,
        _: &Composer<'_>,
        _: &Target,
        language: &Language,
    ) -> Result<Vec<Call>, ChannelError> {
        Ok(vec![message(language.corrections.type_own.to_owned())])
    }

    fn render_settled(
        &self,
        _: &Prompt,
        status: &str,
        _: &Target,
        _: &[String],
        _: &Language,
    ) -> Result<Vec<Call>, ChannelError> {
        Ok(vec![message(status.to_owned())])
    }

    fn render_feedback(
        &self,
        _: Feedback,
        words: &str,
        _: &Target,
        _: Option<&Tap>,
    ) -> Result<Vec<Call>, ChannelError> {
        Ok(vec![message(words.to_owned())])
    }
}

fn message(text: String) -> Call {
    Call::new("message", &json!({ "text": text }), text)
}
