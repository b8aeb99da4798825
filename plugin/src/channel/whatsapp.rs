//! The channel `whatsapp`: the Cloud API. One single-select question gets reply buttons where all its controls fit on
//! three of them, else a list. Messages cannot be changed, so the end of a prompt is a message of its own.
//!
//! WhatsApp formats text between marks and knows no way to escape them; a joiner of no width beside a mark keeps it from
//! being one.

use serde_json::{Value, json};

use super::controls::{Control, Space, buttons};
use super::fit::{Room, cut};
use super::form::plain;
use super::pages::{self, Closing};
use super::payload::{missing, tapped, text};
use super::{
    Call, Channel, ChannelError, Composer, Descriptor, Feedback, Interaction, Limit, Natives, Rendering, Tap,
    Target,
};
use crate::catalogue::Language;
use crate::model::Prompt;
use crate::text::utf16_len;

pub(super) struct WhatsApp;

/// `body.text` of an interactive message; a plain one may be longer.
const BODY: u32 = 1024;
/// `title` of a reply button, and `button` of a list.
const BUTTON: Limit = Limit::utf16(20);
/// Reply buttons of a message.
const BUTTONS: usize = 3;
/// `title` and `description` of a row of a list.
const ROW: Limit = Limit::utf16(24);
const DESCRIPTION: usize = 72;
/// `id` of a row; a button's may be longer.
const ID: u32 = 200;

const ROOM: Room = Room { most: BODY as usize, cost: |text| text.chars().map(cost).sum(), extra: |_| 0 };

/// A tap, as the law suite makes it.
const TAP: &str = r#"{
    "from": "{sender}", "id": "wamid.2", "timestamp": "0", "type": "interactive",
    "context": { "from": "1", "id": "wamid.1" },
    "interactive": { "type": "list_reply", "list_reply": { "id": "{token}", "title": "A" } }
}"#;

impl Channel for WhatsApp {
    fn descriptor(&self) -> Descriptor {
        Descriptor {
            name: "whatsapp".to_owned(),
            text: Some(Limit::utf16(BODY)),
            label: Some(ROW),
            token_bytes: Some(ID),
            natives: Natives { buttons: true, ..Natives::default() },
            markup: Vec::new(),
            example_address: "15550000000".to_owned(),
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
        let controls = Controls::of(prompt, language);
        let pages = pages::pending(prompt, language, &ROOM, closing(controls.as_ref(), language));
        let last = pages.len().saturating_sub(1);
        let calls = pages.into_iter().enumerate().map(|(index, page)| {
            let shown = escaped(&plain(&page.lines));
            match controls.as_ref().filter(|_| index == last) {
                Some(controls) => {
                    let interactive = controls.interactive(&shown, language);
                    message(to, "interactive", interactive, page.text)
                }
                None => text_message(to, &shown, page.text),
            }
        });
        Ok(Rendering {
            calls: calls.collect(),
            bindings: controls.iter().flat_map(|controls| &controls.all).map(Control::binding).collect(),
        })
    }

    fn interpret_interaction(&self, payload: &Value) -> Result<Interaction, ChannelError> {
        let data = ["button_reply", "list_reply"]
            .iter()
            .find_map(|kind| text(payload, &format!("/interactive/{kind}/id")))
            .ok_or(ChannelError::NotOurs)?;
        let action = tapped(data)?;
        let sender = text(payload, "/from").ok_or_else(|| missing("/from"))?;
        Ok(Interaction {
            action,
            sender: sender.to_owned(),
            conversation: Some(sender.to_owned()),
            message: text(payload, "/context/id").map(str::to_owned),
            handle: text(payload, "/id").unwrap_or_default().to_owned(),
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
        let status = pages::status(status, &ROOM).text;
        Ok(vec![text_message(recipient(target)?, &escaped(&status), status)])
    }

    /// A message, as a reply to the tap.
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
        let mut body = json!({
            "messaging_product": "whatsapp", "recipient_type": "individual", "to": to, "type": "text",
            "text": { "body": escaped(words), "preview_url": false },
        });
        if let Some(tap) = tap.filter(|tap| !tap.handle.is_empty()) {
            body["context"] = json!({ "message_id": tap.handle });
        }
        Ok(vec![Call::new("POST /messages", &body, words)])
    }
}

/// What to tap.
struct Controls {
    all: Vec<Control>,
    as_list: bool,
}

impl Controls {
    fn of(prompt: &Prompt, language: &Language) -> Option<Self> {
        let space = |label| Space::plain(label, utf16_len, ID);
        let few = buttons(prompt, language, &space(BUTTON)).filter(|all| all.len() <= BUTTONS);
        match few {
            Some(all) => Some(Self { all, as_list: false }),
            None => buttons(prompt, language, &space(ROW)).map(|all| Self { all, as_list: true }),
        }
    }

    fn interactive(&self, shown: &str, language: &Language) -> Value {
        let action = if self.as_list { self.list(language) } else { self.buttons() };
        let kind = if self.as_list { "list" } else { "button" };
        json!({ "type": kind, "body": { "text": shown }, "action": action })
    }

    fn buttons(&self) -> Value {
        let button = |control: &Control| json!({ "type": "reply", "reply": { "id": control.token, "title": control.label } });
        json!({ "buttons": self.all.iter().map(button).collect::<Vec<_>>() })
    }

    fn list(&self, language: &Language) -> Value {
        let rows: Vec<Value> = self
            .all
            .iter()
            .map(|control| {
                let mut row = json!({ "id": control.token, "title": control.label });
                if let Some(description) = &control.description {
                    row["description"] = json!(cut(description, DESCRIPTION, &utf16_len));
                }
                row
            })
            .collect();
        let opener = cut(language.controls.choose_one, BUTTON.most as usize, &utf16_len);
        json!({ "button": opener, "sections": [{ "rows": rows }] })
    }
}

fn closing<'l>(controls: Option<&Controls>, language: &'l Language) -> Closing<'l> {
    let words = controls.map(|controls| match controls.as_list {
        true => language.form.hint_list,
        false => language.form.hint_tap,
    });
    Closing { controls: words, also: None }
}

fn text_message(to: &str, shown: &str, text: String) -> Call {
    message(to, "text", json!({ "body": shown, "preview_url": false }), text)
}

fn message(to: &str, kind: &str, content: Value, text: String) -> Call {
    let mut body =
        json!({ "messaging_product": "whatsapp", "recipient_type": "individual", "to": to, "type": kind });
    body[kind] = content;
    Call::new("POST /messages", &body, text)
}

/// Whether WhatsApp could read the character as the mark of a format.
fn is_mark(c: char) -> bool {
    matches!(c, '*' | '_' | '~' | '`')
}

fn cost(c: char) -> usize {
    c.len_utf16() + if is_mark(c) { 2 } else { 0 }
}

fn escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for c in text.chars() {
        let joiner = is_mark(c).then_some('\u{2060}');
        escaped.extend(joiner.into_iter().chain([c]).chain(joiner));
    }
    escaped
}

fn recipient(target: &Target) -> Result<&str, ChannelError> {
    let to = target.address.as_str();
    if !to.is_empty() && to.len() <= 32 && to.bytes().all(|byte| byte.is_ascii_digit() || byte == b'+') {
        return Ok(to);
    }
    Err(ChannelError::bad_target("address of WhatsApp must be a phone number", to))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_mark_of_a_format_touches_a_word() {
        assert_eq!(escaped("*b*"), "\u{2060}*\u{2060}b\u{2060}*\u{2060}");
        assert_eq!("_a_`".chars().map(cost).sum::<usize>(), utf16_len(&escaped("_a_`")));
    }
}
