//! The channel `telegram`: the Bot API, version 10.
//!
//! Text goes out without a parse mode, so that nothing in it is markup. Telegram still finds links, mentions, hashtags
//! and commands in plain text by itself; words that it could find one in are marked as code, where it does not look.
//! Addresses that belong to a question are the exception: they are meant to be opened.

use serde_json::{Map, Value, json};

use super::controls::{Control, Space, buttons};
use super::fit::{Room, cut};
use super::form::{Line, LineKind, plain};
use super::pages::{self, Closing};
use super::payload::{id, missing, need_id, tapped, text};
use super::{
    Call, Channel, ChannelError, Composer, Descriptor, Feedback, Interaction, Limit, Natives, Person,
    Rendering, Tap, Target,
};
use crate::catalogue::Language;
use crate::model::Prompt;
use crate::text::{Lines, clean, excerpt, is_space, utf16_len};

pub(super) struct Telegram;

/// `text` of `sendMessage` and `editMessageText`.
const TEXT: u32 = 4096;
/// `text` of `answerCallbackQuery`.
const TOAST: usize = 200;
/// `input_field_placeholder` of `ForceReply`.
const PLACEHOLDER: usize = 64;
/// Entities beyond this number are dropped by the service.
const ENTITIES: usize = 100;
/// `callback_data`, in bytes.
const DATA: u32 = 64;
/// Telegram states no limit for labels; a phone shows about this much of a button as wide as the message.
const LABEL: Limit = Limit::utf16(60);

const SPACE: Space = Space::plain(LABEL, utf16_len, DATA);
const ROOM: Room = Room { most: TEXT as usize, cost: utf16_len, extra: |_| 0 };

/// A tap, as the law suite makes it.
const TAP: &str = r#"{
    "update_id": 1,
    "callback_query": {
        "id": "1", "from": { "id": "{sender}", "is_bot": false, "first_name": "A" },
        "message": { "message_id": 1, "date": 0, "chat": { "id": 1000000000, "type": "private" } },
        "chat_instance": "1", "data": "{token}"
    }
}"#;

impl Channel for Telegram {
    fn descriptor(&self) -> Descriptor {
        Descriptor {
            name: "telegram".to_owned(),
            text: Some(Limit::utf16(TEXT)),
            label: Some(LABEL),
            token_bytes: Some(DATA),
            natives: Natives {
                buttons: true,
                edits: true,
                private_feedback: true,
                composer: true,
                ..Natives::default()
            },
            markup: Vec::new(),
            example_address: "1000000000".to_owned(),
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
        let controls = buttons(prompt, language, &SPACE).unwrap_or_default();
        let pages = pages::pending(prompt, language, &ROOM, closing(!controls.is_empty(), target, language));
        let last = pages.len().saturating_sub(1);
        let calls = pages.into_iter().enumerate().map(|(index, page)| {
            // Whoever is asked in a group is told so by the message that asks.
            let lines = if index == 0 { addressed(page.lines, target) } else { (page.lines, None) };
            let mut body = place.message(&lines.0, lines.1);
            if index == last && !controls.is_empty() {
                body.insert("reply_markup".into(), json!({ "inline_keyboard": keyboard(&controls) }));
            }
            Call::new("sendMessage", &Value::Object(body), page.text)
        });
        Ok(Rendering { calls: calls.collect(), bindings: controls.iter().map(Control::binding).collect() })
    }

    fn interpret_interaction(&self, payload: &Value) -> Result<Interaction, ChannelError> {
        // An update, or the callback query alone as libraries hand it on.
        let query = match payload.get("callback_query") {
            Some(query) => query,
            None if payload.get("chat_instance").is_some() => payload,
            None => return Err(ChannelError::NotOurs),
        };
        let action = tapped(text(query, "/data").ok_or(ChannelError::NotOurs)?)?;
        // A group's anonymous administrators and channels act through bots of the service.
        if query.pointer("/from/is_bot") == Some(&Value::Bool(true)) {
            return Err(ChannelError::Malformed("from is a bot or an anonymous administrator".to_owned()));
        }
        Ok(Interaction {
            action,
            sender: need_id(query, "/from/id")?,
            conversation: id(query, "/message/chat/id"),
            message: id(query, "/message/message_id"),
            handle: text(query, "/id").ok_or_else(|| missing("/id"))?.to_owned(),
        })
    }

    /// A second message that asks for a reply; the question stays as it is. `selective`, with a mention or as a reply,
    /// opens the input of the person who tapped and of nobody else.
    fn render_composer(
        &self,
        composer: &Composer<'_>,
        target: &Target,
        language: &Language,
    ) -> Result<Vec<Call>, ChannelError> {
        let place = Place::of(target)?;
        let words = language.corrections.type_own;
        let asked = clean(&composer.question.header, Lines::One);
        let mut line =
            Line::text(if asked.is_empty() { words.to_owned() } else { format!("{asked} · {words}") });
        line.text = cut(&line.text, TEXT as usize / 2, &utf16_len);
        let tapper = Target {
            requester: Some(Person { id: composer.tap.sender.clone(), name: None }),
            ..target.clone()
        };
        let (lines, mention) = addressed(vec![line.clone()], &tapper);
        let mut body = place.message(&lines, mention);
        if let Some(message) = composer.message {
            let reply =
                json!({ "message_id": number(message, "message")?, "allow_sending_without_reply": true });
            body.insert("reply_parameters".into(), reply);
        }
        body.insert(
            "reply_markup".into(),
            json!({
                "force_reply": true,
                "selective": target.shared,
                "input_field_placeholder": cut(language.controls.own_answer, PLACEHOLDER, &utf16_len),
            }),
        );
        let acknowledgement = (!composer.tap.acknowledged).then(|| {
            Call::new("answerCallbackQuery", &json!({ "callback_query_id": composer.tap.handle }), words)
        });
        let ask = Call::new("sendMessage", &Value::Object(body), line.text);
        Ok(acknowledgement.into_iter().chain([ask]).collect())
    }

    fn render_settled(
        &self,
        prompt: &Prompt,
        status: &str,
        target: &Target,
        messages: &[String],
        language: &Language,
    ) -> Result<Vec<Call>, ChannelError> {
        let place = Place::of(target)?;
        let Some(message) = messages.last() else {
            let page = pages::status(status, &ROOM);
            let body = Value::Object(place.message(&page.lines, None));
            return Ok(vec![Call::new("sendMessage", &body, page.text)]);
        };
        let controls = buttons(prompt, language, &SPACE).is_some();
        let page = pages::settled(prompt, status, language, &ROOM, closing(controls, target, language));
        let lines = if messages.len() == 1 { addressed(page.lines, target) } else { (page.lines, None) };
        let mut body = place.message(&lines.0, lines.1);
        body.remove("message_thread_id");
        body.insert("message_id".into(), number(message, "message")?);
        body.insert("reply_markup".into(), json!({ "inline_keyboard": [] }));
        Ok(vec![Call::new("editMessageText", &Value::Object(body), page.text)])
    }

    /// A toast; an alert, which has to be closed, where somebody was refused. Late or without a tap a message.
    fn render_feedback(
        &self,
        feedback: Feedback,
        words: &str,
        target: &Target,
        tap: Option<&Tap>,
    ) -> Result<Vec<Call>, ChannelError> {
        let place = Place::of(target)?;
        match tap {
            Some(tap) if !tap.acknowledged => {
                let mut body = json!({ "callback_query_id": tap.handle });
                // The first response is the only one. What only says to wait leaves the message for the next one.
                if feedback != Feedback::Received {
                    body["text"] = json!(cut(words, TOAST, &utf16_len));
                    body["show_alert"] = json!(matches!(feedback, Feedback::NotAllowed));
                }
                Ok(vec![Call::new("answerCallbackQuery", &body, words)])
            }
            // That nobody else may answer is not for everybody to read.
            Some(_) if target.shared && feedback == Feedback::NotAllowed => Ok(Vec::new()),
            _ if feedback == Feedback::Received => Ok(Vec::new()),
            _ => {
                let lines = [Line::text(words)];
                Ok(vec![Call::new("sendMessage", &Value::Object(place.message(&lines, None)), words)])
            }
        }
    }
}

/// A chat, and the topic in it.
struct Place {
    chat: Value,
    topic: Option<Value>,
}

impl Place {
    fn of(target: &Target) -> Result<Self, ChannelError> {
        let name = target.address.strip_prefix('@').filter(|name| {
            !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
        });
        let chat = match name {
            Some(_) => json!(target.address),
            None => number(&target.address, "address")?,
        };
        let topic = target.thread.as_deref().map(|thread| number(thread, "thread")).transpose()?;
        Ok(Self { chat, topic })
    }

    fn message(&self, lines: &[Line], mention: Option<Value>) -> Map<String, Value> {
        let mut body = Map::new();
        body.insert("chat_id".into(), self.chat.clone());
        if let Some(topic) = &self.topic {
            body.insert("message_thread_id".into(), topic.clone());
        }
        body.insert("text".into(), plain(lines).into());
        let entities = entities(lines, mention);
        if !entities.is_empty() {
            body.insert("entities".into(), entities.into());
        }
        body.insert("link_preview_options".into(), json!({ "is_disabled": true }));
        body
    }
}

/// A whole number, as Telegram names chats, topics and messages.
fn number(value: &str, what: &str) -> Result<Value, ChannelError> {
    let rule = || format!("{what} of a Telegram chat must be a whole number");
    value.parse::<i64>().map(Value::from).map_err(|_| ChannelError::bad_target(rule(), value))
}

fn closing<'l>(controls: bool, target: &Target, language: &'l Language) -> Closing<'l> {
    Closing {
        controls: controls.then_some(language.form.hint_tap),
        // A bot sees what is typed in a group only where it replies to the bot.
        also: target.shared.then_some(language.form.hint_quote),
    }
}

/// One button a row, as wide as the message.
fn keyboard(controls: &[Control]) -> Vec<Value> {
    let button = |control: &Control| {
        let mut button = json!({ "text": control.label, "callback_data": control.token });
        if control.recommended {
            button["style"] = json!("primary");
        }
        json!([button])
    };
    controls.iter().map(button).collect()
}

/// In a group, the lines with the name of the person who is asked in front, and the entity that makes it a mention. A
/// number below 1 is that of a chat, such as the channel in whose name somebody speaks; Telegram refuses a message that
/// mentions one.
fn addressed(mut lines: Vec<Line>, target: &Target) -> (Vec<Line>, Option<Value>) {
    let person = target.requester.as_ref().filter(|_| target.shared);
    let user = person
        .and_then(|person| person.id.parse::<i64>().ok().map(|id| (id, person)))
        .filter(|(id, _)| *id > 0);
    let (Some((id, person)), Some(first)) = (user, lines.first_mut()) else { return (lines, None) };
    let name = person.name.as_deref().map(|name| excerpt(name, 64)).filter(|name| !name.is_empty());
    let name = name.unwrap_or_else(|| "@".to_owned());
    let mention = json!({
        "type": "text_mention", "offset": 0, "length": utf16_len(&name),
        "user": { "id": id, "is_bot": false, "first_name": name },
    });
    let text = format!("{name} · {}", first.text);
    // A first line that is as long as a message has no room for the name; the message then goes without.
    if utf16_len(&text) + ROOM.lines(&lines) - utf16_len(&lines[0].text) > TEXT as usize {
        return (lines, None);
    }
    lines[0] = Line { text, kind: lines[0].kind };
    (lines, Some(mention))
}

/// What Telegram is told about the text: which words are bold, and which hold nothing that may come alive.
fn entities(lines: &[Line], mention: Option<Value>) -> Vec<Value> {
    let mentioned =
        mention.as_ref().and_then(|mention| mention["length"].as_u64()).unwrap_or_default() as usize;
    let mut titles = Vec::new();
    let mut lively = Vec::new();
    let mut offset = 0;
    for (index, line) in lines.iter().enumerate() {
        let skipped = if index == 0 { mentioned } else { 0 };
        if line.kind == LineKind::Title {
            titles.push((offset + skipped, utf16_len(&line.text) - skipped));
        }
        let end = match line.kind {
            LineKind::Address(start) => start.min(line.text.len()),
            _ => line.text.len(),
        };
        let mut at = 0;
        for word in line.text[..end].split_inclusive(is_space) {
            let trimmed = word.trim_end_matches(is_space);
            let start = utf16_len(&line.text[..at]);
            if start >= skipped && may_come_alive(trimmed) {
                lively.push((offset + start, utf16_len(trimmed)));
            }
            at += word.len();
        }
        offset += utf16_len(&line.text) + 1;
    }
    // Where there are more of them than the service takes, neighbours are joined until there are not.
    let most = ENTITIES - titles.len() - usize::from(mention.is_some());
    while lively.len() > most {
        let mut closest = 1;
        for index in 2..lively.len() {
            if gap(&lively, index) < gap(&lively, closest) {
                closest = index;
            }
        }
        let (start, length) = lively.remove(closest);
        let before = &mut lively[closest - 1];
        before.1 = start + length - before.0;
    }
    // Code takes no other style, so a bold line ends where code begins. Of the two, code is the one that matters.
    let mut entities: Vec<(usize, usize, &str)> =
        lively.iter().map(|(start, length)| (*start, *length, "code")).collect();
    for (start, length) in titles {
        let mut from = start;
        let inside = lively.iter().filter(|(code, _)| (start..start + length).contains(code));
        for (code, code_length) in inside.copied().chain([(start + length, 0)]) {
            if code > from && entities.len() < ENTITIES - usize::from(mention.is_some()) {
                entities.push((from, code - from, "bold"));
            }
            from = from.max(code + code_length);
        }
    }
    entities.sort_unstable();
    let styled = entities
        .into_iter()
        .map(|(offset, length, kind)| json!({ "type": kind, "offset": offset, "length": length }));
    mention.into_iter().chain(styled).collect()
}

fn gap(spans: &[(usize, usize)], index: usize) -> usize {
    spans[index].0 - spans[index - 1].0 - spans[index - 1].1
}

/// Whether Telegram could find a link, a mention, a hashtag, a command, an address or a number to call in a word. Wide on
/// purpose: a word too many in code harms nobody.
fn may_come_alive(word: &str) -> bool {
    let dotted = || {
        word.split(|c: char| !(c.is_alphanumeric() || c == '.' || c == '-')).any(|host| {
            host.rsplit_once('.').is_some_and(|(before, last)| {
                !before.is_empty() && last.chars().count() >= 2 && last.chars().all(char::is_alphabetic)
            })
        })
    };
    let digits = || word.chars().filter(char::is_ascii_digit).count() >= 7;
    word.contains(['@', '#', '/', '$', '+']) || word.contains("://") || dotted() || digits()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_that_telegram_looks_into_are_known() {
        for word in [
            "@everyone",
            "#tag",
            "/start",
            "(/start)",
            "t.me/x",
            "https://a.b",
            "evil.com",
            "a@b.co",
            "$TON",
            "+31201234567",
            "4111111111111111",
        ] {
            assert!(may_come_alive(word), "{word}");
        }
        for word in ["Staging", "v2.0", "e.g.", "…", "1.", "<b>", "**x**", "2026"] {
            assert!(!may_come_alive(word), "{word}");
        }
    }

    fn spans(lines: &[Line]) -> Vec<(u64, u64, String)> {
        entities(lines, None)
            .iter()
            .map(|entity| {
                let number = |name: &str| entity[name].as_u64().unwrap();
                (number("offset"), number("length"), entity["type"].as_str().unwrap().to_owned())
            })
            .collect()
    }

    #[test]
    fn offsets_count_utf16_units_and_styles_do_not_overlap() {
        let title = Line { text: "🚀 @all go".into(), kind: LineKind::Title };
        let found = spans(&[title, Line::text("see evil.com now")]);
        let bold = |from, length| (from, length, "bold".to_owned());
        let code = |from, length| (from, length, "code".to_owned());
        assert_eq!(found, [bold(0, 3), code(3, 4), bold(7, 3), code(15, 8)]);
    }

    #[test]
    fn an_address_that_belongs_to_the_question_stays_a_link() {
        let line = Line { text: "Link: https://example.com".into(), kind: LineKind::Address(6) };
        assert!(spans(&[line]).is_empty());
    }

    #[test]
    fn more_words_than_entities_are_all_covered() {
        let words = vec!["@a"; 400].join(" ");
        let found = spans(&[Line::text(words.clone())]);
        assert!(found.len() <= ENTITIES);
        for (at, _) in words.match_indices('@') {
            let at = at as u64;
            assert!(found.iter().any(|(from, length, _)| (*from..from + length).contains(&at)), "{at}");
        }
    }
}
