//! The channel `mattermost`: posts with interactive attachments, version 4 of the API.
//!
//! Text is always markdown there, and a mention notifies also from inside an attachment; a character of no width behind
//! what begins one takes that away. The server reports taps to the address that each button carries, so without
//! `target.callback-url` there are no buttons.

use serde_json::{Map, Value, json};

use super::controls::{Control, Space, buttons};
use super::fit::{Room, cut};
use super::pages::{self, Closing, Page};
use super::payload::{id, missing, need_id, tapped, text};
use super::{
    Action, Call, Channel, ChannelError, Composer, Descriptor, Feedback, Interaction, Limit, Natives,
    OwnText, Rendering, Tap, Target, markdown, token,
};
use crate::catalogue::Language;
use crate::model::Prompt;
use crate::text::utf16_len;

pub(super) struct Mattermost;

/// What a post may hold is set by the server, 16383 or 4000; the smaller one always fits.
const TEXT: u32 = 4000;
/// Mattermost states no limit for the name of an action; this much is seen.
const LABEL: Limit = Limit::utf16(60);
/// `callback_id` and `state` of a dialog are strings without a stated limit.
const TOKEN: u32 = 200;
/// `title` of a dialog, and `display_name` of an element.
const TITLE: usize = 24;

/// Punctuation of an address that markdown does not read.
const ADDRESS: &[u8] = b":/?&=%.,-+#";

const SPACE: Space = Space::plain(LABEL, utf16_len, TOKEN);
const ROOM: Room =
    Room { most: TEXT as usize, cost: |text| text.chars().map(cost).sum(), extra: markdown::extra };

/// A tap, as the law suite makes it.
const TAP: &str = r#"{
    "user_id": "{sender}", "channel_id": "abcdefghijklmnopqrstuvwxyz", "post_id": "p1", "trigger_id": "t1",
    "context": { "token": "{token}" }
}"#;

impl Channel for Mattermost {
    fn descriptor(&self) -> Descriptor {
        Descriptor {
            name: "mattermost".to_owned(),
            text: Some(Limit::utf16(TEXT)),
            label: Some(LABEL),
            token_bytes: Some(TOKEN),
            natives: Natives {
                buttons: true,
                edits: true,
                private_feedback: true,
                composer: true,
                ..Natives::default()
            },
            markup: vec!["text".to_owned()],
            example_address: "abcdefghijklmnopqrstuvwxyz".to_owned(),
            example_tap: Some(TAP.to_owned()),
        }
    }

    fn render(
        &self,
        prompt: &Prompt,
        target: &Target,
        language: &Language,
    ) -> Result<Rendering, ChannelError> {
        let channel = channel(target)?;
        let controls = controls(prompt, target, language);
        let url = target.callback_url.as_deref().unwrap_or_default();
        let pages = pages::pending(prompt, language, &ROOM, closing(controls.is_some(), language));
        let last = pages.len().saturating_sub(1);
        let calls = pages.into_iter().enumerate().map(|(index, page)| {
            let actions = controls.iter().flatten().filter(|_| index == last);
            let attachment = attachment(&page, actions.map(|control| action(control, url)).collect());
            let mut body = post(attachment);
            body.insert("channel_id".into(), channel.into());
            if let Some(thread) = &target.thread {
                body.insert("root_id".into(), json!(thread));
            }
            Call::new("POST /api/v4/posts", &Value::Object(body), page.text)
        });
        Ok(Rendering {
            calls: calls.collect(),
            bindings: controls.iter().flatten().map(Control::binding).collect(),
        })
    }

    fn interpret_interaction(&self, payload: &Value) -> Result<Interaction, ChannelError> {
        let (action, message) = match text(payload, "/context/token") {
            Some(data) => (tapped(data)?, id(payload, "/post_id")),
            None => {
                let opened = text(payload, "/callback_id").filter(|data| token::is_ours(data));
                let opened = opened.ok_or(ChannelError::NotOurs)?;
                if payload.get("cancelled") == Some(&Value::Bool(true)) {
                    (Action::Nothing, id(payload, "/state"))
                } else {
                    let typed =
                        text(payload, "/submission/answer").ok_or_else(|| missing("/submission/answer"))?;
                    let own = OwnText { token: opened.to_owned(), text: typed.to_owned() };
                    (Action::OwnText(own), id(payload, "/state"))
                }
            }
        };
        Ok(Interaction {
            action,
            sender: need_id(payload, "/user_id")?,
            conversation: id(payload, "/channel_id"),
            message,
            handle: text(payload, "/trigger_id").unwrap_or_default().to_owned(),
        })
    }

    /// A dialog with one input. Closing it decides nothing.
    fn render_composer(
        &self,
        composer: &Composer<'_>,
        target: &Target,
        language: &Language,
    ) -> Result<Vec<Call>, ChannelError> {
        let words = language.corrections.type_own;
        let Some(url) = target.callback_url.as_deref().filter(|_| !composer.tap.handle.is_empty()) else {
            return self.render_feedback(Feedback::TryAgain, words, target, Some(composer.tap));
        };
        let element = json!({
            "display_name": cut(language.controls.own_answer, TITLE, &utf16_len), "name": "answer",
            "type": "textarea", "max_length": 3000,
        });
        let dialog = json!({
            "callback_id": composer.token, "title": cut(&composer.title(language), TITLE, &utf16_len),
            "submit_label": language.controls.submit, "state": composer.message.unwrap_or_default(),
            "elements": [element],
        });
        let body = json!({ "trigger_id": composer.tap.handle, "url": url, "dialog": dialog });
        Ok(vec![Call::new("POST /api/v4/actions/dialogs/open", &body, words)])
    }

    fn render_settled(
        &self,
        prompt: &Prompt,
        status: &str,
        target: &Target,
        messages: &[String],
        language: &Language,
    ) -> Result<Vec<Call>, ChannelError> {
        let channel = channel(target)?;
        let Some(message) = messages.last() else {
            let page = pages::status(status, &ROOM);
            let mut body = post(attachment(&page, Vec::new()));
            body.insert("channel_id".into(), channel.into());
            return Ok(vec![Call::new("POST /api/v4/posts", &Value::Object(body), page.text)]);
        };
        let controls = controls(prompt, target, language);
        let page = pages::settled(prompt, status, language, &ROOM, closing(controls.is_some(), language));
        let method = format!("PUT /api/v4/posts/{}/patch", checked(message, "message")?);
        let body = Value::Object(post(attachment(&page, Vec::new())));
        Ok(vec![Call::new(method, &body, page.text)])
    }

    /// Text for the person who tapped, in the response to the server's request; later, or without a tap, a post.
    fn render_feedback(
        &self,
        feedback: Feedback,
        words: &str,
        target: &Target,
        tap: Option<&Tap>,
    ) -> Result<Vec<Call>, ChannelError> {
        let channel = channel(target)?;
        let post = json!({ "channel_id": channel, "message": escaped(words) });
        Ok(match tap {
            Some(tap) if !tap.acknowledged => {
                let body = if feedback == Feedback::Received {
                    json!({})
                } else {
                    json!({ "ephemeral_text": escaped(words) })
                };
                vec![Call::new("respond", &body, words)]
            }
            _ if feedback == Feedback::Received => Vec::new(),
            Some(tap) => {
                let body = json!({ "user_id": tap.sender, "post": post });
                vec![Call::new("POST /api/v4/posts/ephemeral", &body, words)]
            }
            None => vec![Call::new("POST /api/v4/posts", &post, words)],
        })
    }
}

fn controls(prompt: &Prompt, target: &Target, language: &Language) -> Option<Vec<Control>> {
    target.callback_url.as_ref()?;
    buttons(prompt, language, &SPACE)
}

fn closing(controls: bool, language: &Language) -> Closing<'_> {
    Closing { controls: controls.then_some(language.form.hint_tap), also: None }
}

fn action(control: &Control, url: &str) -> Value {
    // Ids of actions are letters and digits only.
    let id: String = control.token.chars().filter(char::is_ascii_alphanumeric).collect();
    let style = if control.recommended { "primary" } else { "default" };
    json!({
        "id": id, "name": control.label, "type": "button", "style": style,
        "integration": { "url": url, "context": { "token": control.token } },
    })
}

fn attachment(page: &Page, actions: Vec<Value>) -> Value {
    let text = markdown::text(&page.lines, escaped, ADDRESS);
    let mut attachment = json!({ "fallback": page.text, "text": text });
    if !actions.is_empty() {
        attachment["actions"] = actions.into();
    }
    attachment
}

fn post(attachment: Value) -> Map<String, Value> {
    let mut body = Map::new();
    body.insert("message".into(), "".into());
    body.insert("props".into(), json!({ "attachments": [attachment] }));
    body
}

/// What stands before a character that markdown could read, and behind one that no backslash disarms.
fn guards(c: char) -> (Option<char>, Option<char>) {
    match c {
        '@' | ':' => (None, Some('\u{200b}')),
        '"' | '\'' | ',' | ';' | '?' | '/' | '%' | '&' | '$' | '^' | '=' => (None, None),
        '<' => (Some('\\'), Some('\u{200b}')),
        c if c.is_ascii_punctuation() => (Some('\\'), None),
        _ => (None, None),
    }
}

fn cost(c: char) -> usize {
    let (before, behind) = guards(c);
    c.len_utf16() + usize::from(before.is_some()) + usize::from(behind.is_some())
}

fn escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len() + 8);
    for c in text.chars() {
        let (before, behind) = guards(c);
        escaped.extend(before.into_iter().chain([c]).chain(behind));
    }
    escaped
}

fn channel(target: &Target) -> Result<&str, ChannelError> {
    checked(&target.address, "address")
}

/// An id of Mattermost's, which may go into a path.
fn checked<'i>(id: &'i str, what: &str) -> Result<&'i str, ChannelError> {
    if !id.is_empty() && id.len() <= 64 && id.bytes().all(|byte| byte.is_ascii_alphanumeric()) {
        return Ok(id);
    }
    Err(ChannelError::bad_target(format!("{what} of Mattermost must be an id of letters and digits"), id))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_of_the_text_is_markdown_or_a_mention() {
        assert_eq!(
            escaped("@channel **b** :x: ~town"),
            "@\u{200b}channel \\*\\*b\\*\\* :\u{200b}x:\u{200b} \\~town"
        );
        let text = "<b> [a](https://x.y) 1. #t 部署 🚀";
        assert_eq!(text.chars().map(cost).sum::<usize>(), utf16_len(&escaped(text)));
    }
}
