//! The channel `slack`: the Web API with Block Kit.
//!
//! What the model wrote stands in `plain_text` objects, and the three characters that Slack parses in any text are
//! written as entities, so nothing in it is a mention, a link or markup. `text`, which notifications and screen readers
//! use, is sent with every message.

use serde_json::{Map, Value, json};

use super::controls::{Control, Controls, Space, beside, buttons, choices, only_question, submit};
use super::fit::{Room, cut};
use super::form::{Line, LineKind, plain};
use super::pages::{self, Closing, Page};
use super::payload::{chosen, missing, need_id, tapped, text};
use super::{
    Action, Call, Channel, ChannelError, Composer, Descriptor, Feedback, Interaction, Limit, Natives,
    OwnText, Rendering, Tap, Target, token,
};
use crate::catalogue::Language;
use crate::model::Prompt;

pub(super) struct Slack;

/// `text` of a section.
const SECTION: u32 = 3000;
/// `text` of a header.
const HEADER: usize = 150;
/// `text` of a button and of an option, and `description` of an option.
const LABEL: Limit = Limit::utf16(75);
/// `value` of an option; a button's may be longer.
const VALUE: u32 = 75;
/// `title`, `submit` and `close` of a modal.
const MODAL_WORD: usize = 24;
/// The block and the element of the check boxes, and those of the input of the modal.
const CHOICES: &str = "ask_user_choices";
const ANSWER: &str = "ask_user_answer";

const SPACE: Space = Space { label: LABEL, cost, token_bytes: VALUE };
const ROOM: Room = Room { most: SECTION as usize, cost, extra: |_| 0 };

/// A tap, as the law suite makes it.
const TAP: &str = r#"{
    "type": "block_actions", "user": { "id": "{sender}" }, "trigger_id": "1.2.a",
    "channel": { "id": "C0123456789" }, "message": { "ts": "1.2" },
    "actions": [{ "type": "button", "action_id": "{token}", "value": "{token}" }]
}"#;

impl Channel for Slack {
    fn descriptor(&self) -> Descriptor {
        Descriptor {
            name: "slack".to_owned(),
            text: Some(Limit::utf16(SECTION)),
            label: Some(LABEL),
            token_bytes: Some(VALUE),
            natives: Natives {
                buttons: true,
                edits: true,
                private_feedback: true,
                composer: true,
                multi_select: true,
                reactions: false,
            },
            markup: Vec::new(),
            example_address: "C0123456789".to_owned(),
            example_tap: Some(TAP.to_owned()),
        }
    }

    fn render(
        &self,
        prompt: &Prompt,
        target: &Target,
        language: &Language,
    ) -> Result<Rendering, ChannelError> {
        let place = Place::of(target)?;
        let controls = controls(prompt, target, language);
        let pages = pages::pending(prompt, language, &ROOM, closing(controls.as_ref(), language));
        let last = pages.len().saturating_sub(1);
        let calls = pages.into_iter().enumerate().map(|(index, page)| {
            let mut blocks = blocks(&page.lines);
            if let Some(controls) = controls.as_ref().filter(|_| index == last) {
                blocks.push(block(controls));
            }
            place.call("chat.postMessage", &page, blocks)
        });
        Ok(Rendering {
            calls: calls.collect(),
            bindings: controls.iter().flat_map(Controls::all).map(Control::binding).collect(),
        })
    }

    fn interpret_interaction(&self, payload: &Value) -> Result<Interaction, ChannelError> {
        let (action, conversation, message) = match text(payload, "/type") {
            Some("block_actions") => {
                let action = of_blocks(payload)?;
                let at = |pointer| text(payload, pointer).map(str::to_owned);
                (action, at("/channel/id"), at("/message/ts"))
            }
            Some("view_submission") => {
                let opened = text(payload, "/view/callback_id").filter(|data| token::is_ours(data));
                let opened = opened.ok_or(ChannelError::NotOurs)?;
                let pointer = format!("/view/state/values/{ANSWER}/{ANSWER}/value");
                let typed = text(payload, &pointer).ok_or_else(|| missing(&pointer))?;
                let action = Action::OwnText(OwnText { token: opened.to_owned(), text: typed.to_owned() });
                let place = text(payload, "/view/private_metadata").and_then(|place| place.split_once(' '));
                let named = |name: &str| Some(name.to_owned()).filter(|name| !name.is_empty());
                (action, place.and_then(|place| named(place.0)), place.and_then(|place| named(place.1)))
            }
            _ => return Err(ChannelError::NotOurs),
        };
        Ok(Interaction {
            action,
            sender: need_id(payload, "/user/id")?,
            conversation,
            message,
            handle: text(payload, "/trigger_id").unwrap_or_default().to_owned(),
        })
    }

    /// A modal with one input. Closing it sends nothing, and the question stays as it is.
    fn render_composer(
        &self,
        composer: &Composer<'_>,
        target: &Target,
        language: &Language,
    ) -> Result<Vec<Call>, ChannelError> {
        let place = Place::of(target)?;
        let words = language.corrections.type_own;
        if composer.tap.handle.is_empty() {
            return self.render_feedback(Feedback::TryAgain, words, target, Some(composer.tap));
        }
        let word = |word: &str| plain_text(word, MODAL_WORD);
        let input = json!({
            "type": "input", "block_id": ANSWER, "label": plain_text(language.controls.own_answer, 2000),
            "element": { "type": "plain_text_input", "action_id": ANSWER, "multiline": true, "max_length": 3000 },
        });
        let view = json!({
            "type": "modal", "callback_id": composer.token, "title": word(&composer.title(language)),
            "submit": word(language.controls.submit), "close": word(language.controls.back),
            "private_metadata": format!("{} {}", place.channel, composer.message.unwrap_or_default()),
            "blocks": [input],
        });
        let body = json!({ "trigger_id": composer.tap.handle, "view": view });
        Ok(vec![Call::new("views.open", &body, words)])
    }

    fn render_settled(
        &self,
        prompt: &Prompt,
        status: &str,
        target: &Target,
        messages: &[String],
        language: &Language,
    ) -> Result<Vec<Call>, ChannelError> {
        let mut place = Place::of(target)?;
        let Some(message) = messages.last() else {
            let page = pages::status(status, &ROOM);
            return Ok(vec![place.call("chat.postMessage", &page, blocks(&page.lines))]);
        };
        let controls = controls(prompt, target, language);
        let page = pages::settled(prompt, status, language, &ROOM, closing(controls.as_ref(), language));
        place.message = Some(message);
        Ok(vec![place.call("chat.update", &page, blocks(&page.lines))])
    }

    /// A message that only the person who tapped sees. Nothing has to be sent to say that a tap came in: the host's empty
    /// response to Slack's request says it.
    fn render_feedback(
        &self,
        feedback: Feedback,
        words: &str,
        target: &Target,
        tap: Option<&Tap>,
    ) -> Result<Vec<Call>, ChannelError> {
        let place = Place::of(target)?;
        if feedback == Feedback::Received {
            return Ok(Vec::new());
        }
        let mut body = place.body(&escaped(words));
        let method = match tap {
            Some(tap) => {
                body.insert("user".into(), json!(tap.sender));
                "chat.postEphemeral"
            }
            None => "chat.postMessage",
        };
        Ok(vec![Call::new(method, &Value::Object(body), words)])
    }
}

/// What was done with a control in a message.
fn of_blocks(payload: &Value) -> Result<Action, ChannelError> {
    let action = payload.pointer("/actions/0").ok_or(ChannelError::NotOurs)?;
    if text(action, "/action_id") == Some(CHOICES) {
        return Ok(Action::Nothing);
    }
    let data = text(action, "/value").ok_or(ChannelError::NotOurs)?;
    if !token::submits(data) {
        return tapped(data);
    }
    // What is ticked comes with the control that submits it. Without a state nothing is.
    let pointer = format!("/state/values/{CHOICES}/{CHOICES}/selected_options");
    let ticked = payload.pointer(&pointer).and_then(Value::as_array);
    chosen(ticked.into_iter().flatten().map(|option| text(option, "/value")))
}

/// A conversation, a thread in it, and a message to change.
struct Place<'t> {
    channel: &'t str,
    thread: Option<&'t str>,
    message: Option<&'t str>,
}

impl<'t> Place<'t> {
    fn of(target: &'t Target) -> Result<Self, ChannelError> {
        let is_id = |id: &str| {
            id.starts_with(|c: char| c.is_ascii_uppercase()) && id.chars().all(|c| c.is_ascii_alphanumeric())
        };
        if !is_id(&target.address) {
            return Err(ChannelError::bad_target(
                "address of Slack must be the id of a conversation, such as C0123456789",
                &target.address,
            ));
        }
        Ok(Self { channel: &target.address, thread: target.thread.as_deref(), message: None })
    }

    /// The members of every message. `text` is escaped already.
    fn body(&self, text: &str) -> Map<String, Value> {
        let mut body = Map::new();
        body.insert("channel".into(), self.channel.into());
        body.insert("text".into(), text.into());
        match (self.message, self.thread) {
            (Some(message), _) => drop(body.insert("ts".into(), message.into())),
            (None, Some(thread)) => drop(body.insert("thread_ts".into(), thread.into())),
            (None, None) => {}
        }
        body
    }

    fn call(&self, method: &str, page: &Page, blocks: Vec<Value>) -> Call {
        let mut body = self.body(&escaped(&plain(&page.lines)));
        body.insert("blocks".into(), blocks.into());
        body.insert("link_names".into(), false.into());
        body.insert("parse".into(), "none".into());
        if self.message.is_none() {
            body.insert("mrkdwn".into(), false.into());
            body.insert("unfurl_links".into(), false.into());
            body.insert("unfurl_media".into(), false.into());
        }
        Call::new(method, &Value::Object(body), page.text.clone())
    }
}

fn controls(prompt: &Prompt, target: &Target, language: &Language) -> Option<Controls> {
    let question = only_question(prompt)?;
    if !question.takes_many() {
        return buttons(prompt, language, &SPACE).map(Controls::Buttons);
    }
    let mut buttons = vec![submit(prompt, question, language, &SPACE).filter(|_| target.extras)?];
    buttons.extend(beside(prompt, question, language, &SPACE)?);
    Some(Controls::List { choices: choices(prompt, question, &SPACE)?, beside: buttons })
}

fn block(controls: &Controls) -> Value {
    match controls {
        Controls::Buttons(buttons) => {
            json!({ "type": "actions", "elements": buttons.iter().map(button).collect::<Vec<_>>() })
        }
        Controls::List { choices, beside } => {
            let options: Vec<Value> = choices
                    .iter()
                    .map(|choice| {
                        let mut option =
                            json!({ "text": plain_text(&choice.label, LABEL.most as usize), "value": choice.token });
                        if let Some(description) = &choice.description {
                            option["description"] = plain_text(description, LABEL.most as usize);
                        }
                        option
                    })
                    .collect();
            let boxes = json!({ "type": "checkboxes", "action_id": CHOICES, "options": options });
            let elements: Vec<Value> = std::iter::once(boxes).chain(beside.iter().map(button)).collect();
            json!({ "type": "actions", "block_id": CHOICES, "elements": elements })
        }
    }
}

fn button(control: &Control) -> Value {
    let mut button = json!({
        "type": "button", "action_id": control.token, "value": control.token,
        "text": plain_text(&control.label, LABEL.most as usize),
    });
    if control.recommended {
        button["style"] = json!("primary");
    }
    button
}

fn closing<'l>(controls: Option<&Controls>, language: &'l Language) -> Closing<'l> {
    Closing { controls: controls.map(|controls| controls.how_to(language)), also: None }
}

/// The lines as blocks: a header where the first one is a title that fits, a section for all others.
fn blocks(lines: &[Line]) -> Vec<Value> {
    let is_header = |line: &&Line| line.kind == LineKind::Title && cost(&line.text) <= HEADER;
    let header = lines.first().filter(is_header);
    let rest = plain(&lines[usize::from(header.is_some())..]);
    let header = header.map(|line| json!({ "type": "header", "text": plain_text(&line.text, HEADER) }));
    let section = (!rest.trim().is_empty()).then(
        || json!({ "type": "section", "text": plain_text(rest.trim_start_matches('\n'), SECTION as usize) }),
    );
    header.into_iter().chain(section).collect()
}

/// A text object in which nothing is parsed.
fn plain_text(text: &str, most: usize) -> Value {
    json!({ "type": "plain_text", "text": escaped(&cut(text, most, &cost)), "emoji": false })
}

/// What a piece of text costs as [`escaped`] writes it, in UTF-16 units.
fn cost(text: &str) -> usize {
    text.chars().map(|c| entity(c).map_or(c.len_utf16(), str::len)).sum()
}

fn escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for c in text.chars() {
        match entity(c) {
            Some(entity) => escaped.push_str(entity),
            None => escaped.push(c),
        }
    }
    escaped
}

fn entity(c: char) -> Option<&'static str> {
    match c {
        '&' => Some("&amp;"),
        '<' => Some("&lt;"),
        '>' => Some("&gt;"),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::utf16_len;

    #[test]
    fn only_what_slack_parses_is_escaped() {
        assert_eq!(escaped("<!channel> & <@U1> &lt; *b*"), "&lt;!channel&gt; &amp; &lt;@U1&gt; &amp;lt; *b*");
        for text in ["<!channel>", "R&D 🚀", "plain"] {
            assert_eq!(cost(text), utf16_len(&escaped(text)));
        }
    }

    #[test]
    fn a_cut_never_leaves_half_an_entity() {
        let text = plain_text(&"&".repeat(75), 75);
        assert_eq!(text["text"].as_str().map(str::len), Some(14 * 5 + 3));
    }
}
