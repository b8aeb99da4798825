//! The channel `discord`: version 10 of the HTTP API, with components of the first kind.
//!
//! Message text is always markdown there, so every character that could mean something is written with a backslash, and
//! every message says that nobody is to be mentioned. Labels are plain text.

use serde_json::{Map, Value, json};

use super::controls::{Control, Controls, Space, beside, buttons, choices, only_question};
use super::fit::{Room, cut};
use super::form::Line;
use super::pages::{self, Closing};
use super::payload::{chosen, id, missing, need_id, tapped, text};
use super::{
    Action, Call, Channel, ChannelError, Composer, Descriptor, Feedback, Interaction, Limit, Natives,
    OwnText, Rendering, Tap, Target, markdown, token,
};
use crate::catalogue::Language;
use crate::model::Prompt;
use crate::text::utf16_len;

pub(super) struct Discord;

/// `content` of a message.
const CONTENT: u32 = 2000;
/// `label` of a button.
const LABEL: Limit = Limit::utf16(80);
/// `label` and `description` of an option of a select.
const OPTION: Limit = Limit::utf16(100);
/// `custom_id`, and `value` of an option of a select.
const ID: u32 = 100;
/// `title` of a modal, and `label` of what is in it.
const TITLE: usize = 45;
/// `max_length` of a text input.
const INPUT: u32 = 4000;
/// Nothing of the text becomes a card with a preview.
const SUPPRESS_EMBEDS: u32 = 4;
/// Only the person who tapped sees it.
const EPHEMERAL: u32 = 64;

/// Punctuation of an address that markdown does not read.
const ADDRESS: &[u8] = b":/?&=%.,-+~#";

const SPACE: Space = Space::plain(LABEL, utf16_len, ID);
const ROOM: Room =
    Room { most: CONTENT as usize, cost: |text| text.chars().map(cost).sum(), extra: markdown::extra };

/// Discord's answers to an interaction.
mod response {
    pub(super) const MESSAGE: u32 = 4;
    pub(super) const DEFERRED_UPDATE: u32 = 6;
    pub(super) const MODAL: u32 = 9;
}

/// Discord's kinds of interactions and components.
mod kind {
    pub(super) const COMPONENT: u64 = 3;
    pub(super) const MODAL_SUBMIT: u64 = 5;

    pub(super) const ROW: u32 = 1;
    pub(super) const BUTTON: u32 = 2;
    pub(super) const STRING_SELECT: u32 = 3;
    pub(super) const TEXT_INPUT: u32 = 4;
    pub(super) const LABEL: u32 = 18;
}

/// A tap, as the law suite makes it.
const TAP: &str = r#"{
    "id": "1", "application_id": "2", "token": "t", "type": 3, "channel_id": "1000000000000000000",
    "message": { "id": "4" }, "member": { "user": { "id": "{sender}" } },
    "data": { "component_type": 2, "custom_id": "{token}" }
}"#;

impl Channel for Discord {
    fn descriptor(&self) -> Descriptor {
        Descriptor {
            name: "discord".to_owned(),
            text: Some(Limit::utf16(CONTENT)),
            label: Some(OPTION),
            token_bytes: Some(ID),
            natives: Natives {
                buttons: true,
                edits: true,
                private_feedback: true,
                composer: true,
                multi_select: true,
                reactions: false,
            },
            markup: vec!["content".to_owned()],
            example_address: "1000000000000000000".to_owned(),
            example_tap: Some(TAP.to_owned()),
        }
    }

    fn render(
        &self,
        prompt: &Prompt,
        target: &Target,
        language: &Language,
    ) -> Result<Rendering, ChannelError> {
        let path = messages_path(target)?;
        let controls = controls(prompt, target, language);
        let pages = pages::pending(prompt, language, &ROOM, closing(controls.as_ref(), language));
        let last = pages.len().saturating_sub(1);
        let calls = pages.into_iter().enumerate().map(|(index, page)| {
            let mut body = message(&page.lines);
            if let Some(controls) = controls.as_ref().filter(|_| index == last) {
                body.insert("components".into(), components(controls, prompt, language));
            }
            Call::new(format!("POST {path}"), &Value::Object(body), page.text)
        });
        Ok(Rendering {
            calls: calls.collect(),
            bindings: controls.iter().flat_map(Controls::all).map(Control::binding).collect(),
        })
    }

    fn interpret_interaction(&self, payload: &Value) -> Result<Interaction, ChannelError> {
        let data = text(payload, "/data/custom_id")
            .filter(|data| token::is_ours(data))
            .ok_or(ChannelError::NotOurs)?;
        let action = match payload.get("type").and_then(Value::as_u64) {
            Some(kind::COMPONENT) => match payload.pointer("/data/values").and_then(Value::as_array) {
                // Libraries write an empty list of values for a button, which has none.
                Some(values) if !is_button(payload) => chosen(values.iter().map(Value::as_str))?,
                _ => tapped(data)?,
            },
            Some(kind::MODAL_SUBMIT) => {
                Action::OwnText(OwnText { token: data.to_owned(), text: typed(payload)?.to_owned() })
            }
            _ => return Err(ChannelError::NotOurs),
        };
        let user = if payload.get("member").is_some() { "/member/user" } else { "/user" };
        if payload.pointer(&format!("{user}/bot")) == Some(&Value::Bool(true)) {
            return Err(ChannelError::Malformed("the user is a bot".to_owned()));
        }
        let handle = Handle {
            application: need_id(payload, "/application_id")?,
            interaction: need_id(payload, "/id")?,
            token: text(payload, "/token").ok_or_else(|| missing("/token"))?.to_owned(),
        };
        Ok(Interaction {
            action,
            sender: need_id(payload, &format!("{user}/id"))?,
            conversation: id(payload, "/channel_id").or_else(|| id(payload, "/channel/id")),
            message: id(payload, "/message/id"),
            handle: handle.checked()?.to_string(),
        })
    }

    /// A modal with one input. It has to be the first response to a tap; closing it sends nothing, and the question stays
    /// as it is.
    fn render_composer(
        &self,
        composer: &Composer<'_>,
        target: &Target,
        language: &Language,
    ) -> Result<Vec<Call>, ChannelError> {
        let words = language.corrections.type_own;
        if composer.tap.acknowledged {
            return self.render_feedback(Feedback::TryAgain, words, target, Some(composer.tap));
        }
        let handle = Handle::of(composer.tap)?;
        let input = json!({
            "type": kind::TEXT_INPUT, "custom_id": "answer", "style": 2, "min_length": 1, "max_length": INPUT,
            "required": true,
        });
        let label = json!({
            "type": kind::LABEL, "label": cut(language.controls.own_answer, TITLE, &utf16_len), "component": input,
        });
        let data = json!({
            "custom_id": composer.token, "title": cut(&composer.title(language), TITLE, &utf16_len), "components": [label],
        });
        Ok(vec![handle.respond(response::MODAL, Some(data), words)])
    }

    fn render_settled(
        &self,
        prompt: &Prompt,
        status: &str,
        target: &Target,
        messages: &[String],
        language: &Language,
    ) -> Result<Vec<Call>, ChannelError> {
        let path = messages_path(target)?;
        let (method, page) = match messages.last() {
            None => (format!("POST {path}"), pages::status(status, &ROOM)),
            Some(message) => {
                let controls = controls(prompt, target, language);
                let closing = closing(controls.as_ref(), language);
                let page = pages::settled(prompt, status, language, &ROOM, closing);
                (format!("PATCH {path}/{}", snowflake(message, "message")?), page)
            }
        };
        let mut body = message(&page.lines);
        body.insert("components".into(), json!([]));
        Ok(vec![Call::new(method, &Value::Object(body), page.text)])
    }

    /// A message that only the person who tapped sees.
    fn render_feedback(
        &self,
        feedback: Feedback,
        words: &str,
        target: &Target,
        tap: Option<&Tap>,
    ) -> Result<Vec<Call>, ChannelError> {
        let mut body = message(&[Line::text(words)]);
        let Some(tap) = tap else {
            if feedback == Feedback::Received {
                return Ok(Vec::new());
            }
            return Ok(vec![Call::new(
                format!("POST {}", messages_path(target)?),
                &Value::Object(body),
                words,
            )]);
        };
        let handle = Handle::of(tap)?;
        body.insert("flags".into(), json!(SUPPRESS_EMBEDS | EPHEMERAL));
        Ok(match (feedback, tap.acknowledged) {
            (Feedback::Received, true) => Vec::new(),
            (Feedback::Received, false) => vec![handle.respond(response::DEFERRED_UPDATE, None, words)],
            (_, false) => vec![handle.respond(response::MESSAGE, Some(Value::Object(body)), words)],
            (_, true) => vec![handle.follow_up(&Value::Object(body), words)],
        })
    }
}

fn controls(prompt: &Prompt, target: &Target, language: &Language) -> Option<Controls> {
    let question = only_question(prompt)?;
    if !question.takes_many() {
        return buttons(prompt, language, &SPACE).map(Controls::Buttons);
    }
    let space = Space { label: OPTION, ..SPACE };
    Some(Controls::List {
        choices: choices(prompt, question, &space).filter(|_| target.extras)?,
        beside: beside(prompt, question, language, &SPACE)?,
    })
}

/// One button a row, so that long labels have their place; a message has five rows, so *Other…* and *Skip* share one.
fn components(controls: &Controls, prompt: &Prompt, language: &Language) -> Value {
    let row = |components: Vec<Value>| json!({ "type": kind::ROW, "components": components });
    match controls {
        Controls::Buttons(buttons) => {
            let (choices, beside): (Vec<&Control>, Vec<&Control>) =
                buttons.iter().partition(|control| control.is_choice());
            let mut rows: Vec<Value> = choices.into_iter().map(|choice| row(vec![button(choice)])).collect();
            rows.push(row(beside.into_iter().map(button).collect()));
            Value::Array(rows)
        }
        Controls::List { choices, beside } => {
            let options: Vec<Value> = choices
                .iter()
                .map(|choice| {
                    let mut option = json!({ "label": choice.label, "value": choice.token });
                    if let Some(description) = &choice.description {
                        option["description"] = json!(cut(description, OPTION.most as usize, &utf16_len));
                    }
                    option
                })
                .collect();
            // Its own id stands for nothing; what is chosen comes as values.
            let list = token::token(&prompt.id, token::Control::Submit(0), ID as usize);
            let select = json!({
                "type": kind::STRING_SELECT, "custom_id": list.unwrap_or_default(),
                "placeholder": language.controls.choose_any,
                "min_values": 1, "max_values": options.len(), "options": options,
            });
            json!([row(vec![select]), row(beside.iter().map(button).collect())])
        }
    }
}

fn button(control: &Control) -> Value {
    let style = if control.recommended { 1 } else { 2 };
    json!({ "type": kind::BUTTON, "style": style, "label": control.label, "custom_id": control.token })
}

fn closing<'l>(controls: Option<&Controls>, language: &'l Language) -> Closing<'l> {
    Closing { controls: controls.map(|controls| controls.how_to(language)), also: None }
}

fn message(lines: &[Line]) -> Map<String, Value> {
    let mut body = Map::new();
    body.insert("content".into(), markdown::text(lines, escaped, ADDRESS).into());
    body.insert("allowed_mentions".into(), json!({ "parse": [] }));
    body.insert("flags".into(), SUPPRESS_EMBEDS.into());
    body
}

/// Whether markdown, a mention, an emoji or a link could begin at this character, or be told by it.
fn means_something(c: char) -> bool {
    c.is_ascii_punctuation() && !matches!(c, '"' | '\'' | ',' | ';' | '?' | '/' | '%' | '&' | '$' | '^')
}

fn cost(c: char) -> usize {
    c.len_utf16() + usize::from(means_something(c))
}

fn escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len() + 8);
    for c in text.chars() {
        if means_something(c) {
            escaped.push('\\');
        }
        escaped.push(c);
    }
    escaped
}

fn messages_path(target: &Target) -> Result<String, ChannelError> {
    // A thread is a channel of its own there.
    let channel = match &target.thread {
        Some(thread) => snowflake(thread, "thread")?,
        None => snowflake(&target.address, "address")?,
    };
    Ok(format!("/channels/{channel}/messages"))
}

/// An id of Discord's, which goes into a path.
fn snowflake<'i>(id: &'i str, what: &str) -> Result<&'i str, ChannelError> {
    if !id.is_empty() && id.len() <= 20 && id.bytes().all(|byte| byte.is_ascii_digit()) {
        return Ok(id);
    }
    Err(ChannelError::bad_target(format!("{what} of Discord must be a number of at most 20 digits"), id))
}

/// Whether a component that was used is a button.
fn is_button(payload: &Value) -> bool {
    let used = payload.pointer("/data/component_type").and_then(Value::as_u64);
    used == Some(u64::from(kind::BUTTON))
}

/// What was typed into the modal: its only text input, in a row or under a label.
fn typed(payload: &Value) -> Result<&str, ChannelError> {
    let components = payload.pointer("/data/components").and_then(Value::as_array);
    let inputs = components.into_iter().flatten().flat_map(|component| {
        let inside = component.get("components").and_then(Value::as_array).into_iter().flatten();
        inside.chain(component.get("component"))
    });
    inputs
        .filter_map(|input| input.get("value").and_then(Value::as_str))
        .next()
        .ok_or_else(|| missing("/data/components"))
}

/// What it takes to respond to an interaction. It goes into paths, and is checked each time it comes in.
struct Handle {
    application: String,
    interaction: String,
    token: String,
}

impl Handle {
    fn of(tap: &Tap) -> Result<Self, ChannelError> {
        let mut parts = tap.handle.splitn(3, '/').map(str::to_owned);
        match (parts.next(), parts.next(), parts.next()) {
            (Some(application), Some(interaction), Some(token)) => {
                Self { application, interaction, token }.checked()
            }
            _ => Err(ChannelError::Malformed("the handle is not one of this channel".to_owned())),
        }
    }

    fn checked(self) -> Result<Self, ChannelError> {
        let is_number = |id: &str| snowflake(id, "").is_ok();
        let is_token = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.=+".contains(&byte);
        let token = !self.token.is_empty() && self.token.len() <= 1024 && self.token.bytes().all(is_token);
        if is_number(&self.application) && is_number(&self.interaction) && token {
            Ok(self)
        } else {
            Err(ChannelError::Malformed("application_id, id or token is not what Discord sends".to_owned()))
        }
    }

    fn respond(&self, kind: u32, data: Option<Value>, words: &str) -> Call {
        let mut body = json!({ "type": kind });
        if let Some(data) = data {
            body["data"] = data;
        }
        Call::new(format!("POST /interactions/{}/{}/callback", self.interaction, self.token), &body, words)
    }

    fn follow_up(&self, body: &Value, words: &str) -> Call {
        Call::new(format!("POST /webhooks/{}/{}", self.application, self.token), body, words)
    }
}

impl std::fmt::Display for Handle {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}/{}/{}", self.application, self.interaction, self.token)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_of_the_text_is_markdown() {
        assert_eq!(
            escaped("**b** <@1> [a](b) :x: 1. @everyone"),
            r"\*\*b\*\* \<\@1\> \[a\]\(b\) \:x\: 1\. \@everyone"
        );
        assert_eq!(escaped(r"https://x \* # > ```"), r"https\://x \\\* \# \> \`\`\`");
        let text = "Staging, v2.0 – 部署 🚀!";
        assert_eq!(text.chars().map(cost).sum::<usize>(), utf16_len(&escaped(text)));
    }

    #[test]
    fn what_goes_into_a_path_is_checked() {
        for address in ["", "1/../2", "abc", "123456789012345678901", "1\n"] {
            let target = Target { address: address.to_owned(), ..Target::default() };
            assert!(matches!(messages_path(&target), Err(ChannelError::BadTarget(_))), "{address:?}");
        }
        for handle in ["", "1/2", "1/2/", "1/2/../../x", "1/x/t", "1/2/a b"] {
            let tap = Tap { sender: "1".into(), handle: handle.to_owned(), acknowledged: false };
            assert!(Handle::of(&tap).is_err(), "{handle:?}");
        }
    }
}
