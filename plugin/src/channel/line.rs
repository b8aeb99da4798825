//! The channel `line`: the Messaging API. In direct chats one single-select question gets quick replies; elsewhere, and
//! on computers, people answer by the numbers of the text, which stands above them in any case.

use serde_json::{Value, json};

use super::controls::{Control, Space, buttons};
use super::fit::Room;
use super::form::plain;
use super::pages::{self, Closing};
use super::payload::{missing, tapped, text};
use super::{
    Call, Channel, ChannelError, Composer, Descriptor, Feedback, Interaction, Limit, Natives, Rendering, Tap,
    Target, TextUnit,
};
use crate::catalogue::Language;
use crate::model::Prompt;
use crate::text::utf16_len;

pub(super) struct Line;

/// `text` of a text message.
const TEXT: u32 = 5000;
/// `label` of an action, which is counted in clusters.
const LABEL: Limit = Limit { most: 20, unit: TextUnit::Graphemes };
/// `data` of a postback action.
const DATA: u32 = 300;

const SPACE: Space = Space { label: LABEL, cost: |text| TextUnit::Graphemes.len(text), token_bytes: DATA };
const ROOM: Room = Room { most: TEXT as usize, cost: utf16_len, extra: |_| 0 };

/// A tap, as the law suite makes it.
const TAP: &str = r#"{
    "type": "postback", "replyToken": "r", "webhookEventId": "1", "timestamp": 0, "mode": "active",
    "source": { "type": "user", "userId": "{sender}" }, "postback": { "data": "{token}" }
}"#;

impl Channel for Line {
    fn descriptor(&self) -> Descriptor {
        Descriptor {
            name: "line".to_owned(),
            text: Some(Limit::utf16(TEXT)),
            label: Some(LABEL),
            token_bytes: Some(DATA),
            natives: Natives { buttons: true, ..Natives::default() },
            markup: Vec::new(),
            example_address: "U0123456789abcdef0123456789abcdef".to_owned(),
            example_tap: Some(TAP.to_owned()),
        }
    }

    fn render(
        &self,
        prompt: &Prompt,
        target: &Target,
        language: &Language,
    ) -> Result<Rendering, ChannelError> {
        let to = recipient(target)?;
        // Quick replies of a group are everybody's, and who tapped is not always said.
        let controls = buttons(prompt, language, &SPACE).filter(|_| !target.shared).unwrap_or_default();
        let closing =
            Closing { controls: (!controls.is_empty()).then_some(language.form.hint_tap), also: None };
        let pages = pages::pending(prompt, language, &ROOM, closing);
        let last = pages.len().saturating_sub(1);
        let calls = pages.into_iter().enumerate().map(|(index, page)| {
            let mut message = message(&plain(&page.lines));
            if index == last && !controls.is_empty() {
                message["quickReply"] = json!({ "items": controls.iter().map(item).collect::<Vec<_>>() });
            }
            push(to, message, page.text)
        });
        Ok(Rendering { calls: calls.collect(), bindings: controls.iter().map(Control::binding).collect() })
    }

    fn interpret_interaction(&self, payload: &Value) -> Result<Interaction, ChannelError> {
        let data = text(payload, "/postback/data").ok_or(ChannelError::NotOurs)?;
        let action = tapped(data)?;
        let sender = text(payload, "/source/userId").ok_or_else(|| missing("/source/userId"))?;
        let group = text(payload, "/source/groupId").or_else(|| text(payload, "/source/roomId"));
        Ok(Interaction {
            action,
            sender: sender.to_owned(),
            conversation: Some(group.unwrap_or(sender).to_owned()),
            message: None,
            handle: text(payload, "/replyToken").unwrap_or_default().to_owned(),
        })
    }

    fn render_composer(
        &self,
        composer: &Composer<'_>,
        target: &Target,
        language: &Language,
    ) -> Result<Vec<Call>, ChannelError> {
        self.render_feedback(Feedback::TryAgain, language.corrections.type_own, target, Some(composer.tap))
    }

    fn render_settled(
        &self,
        _: &Prompt,
        status: &str,
        target: &Target,
        _: &[String],
        _: &Language,
    ) -> Result<Vec<Call>, ChannelError> {
        let text = pages::status(status, &ROOM).text;
        Ok(vec![push(recipient(target)?, message(&text), text)])
    }

    /// A message, free of charge where the tap's reply token can be used for it.
    fn render_feedback(
        &self,
        feedback: Feedback,
        words: &str,
        target: &Target,
        tap: Option<&Tap>,
    ) -> Result<Vec<Call>, ChannelError> {
        let to = recipient(target)?;
        if feedback == Feedback::Received {
            return Ok(Vec::new());
        }
        Ok(vec![match tap.filter(|tap| !tap.handle.is_empty()) {
            Some(tap) => {
                let body = json!({ "replyToken": tap.handle, "messages": [message(words)] });
                Call::new("POST /v2/bot/message/reply", &body, words)
            }
            None => push(to, message(words), words),
        }])
    }
}

fn message(text: &str) -> Value {
    json!({ "type": "text", "text": text })
}

fn item(control: &Control) -> Value {
    let action = json!({ "type": "postback", "label": control.label, "data": control.token, "displayText": control.label });
    json!({ "type": "action", "action": action })
}

fn push(to: &str, message: Value, text: impl Into<String>) -> Call {
    Call::new("POST /v2/bot/message/push", &json!({ "to": to, "messages": [message] }), text)
}

fn recipient(target: &Target) -> Result<&str, ChannelError> {
    let to = target.address.as_str();
    if !to.is_empty() && to.bytes().all(|byte| byte.is_ascii_alphanumeric()) {
        return Ok(to);
    }
    Err(ChannelError::bad_target("address of LINE must be the id of a user, group or room", to))
}
