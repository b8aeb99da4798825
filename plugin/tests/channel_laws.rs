//! What every service of a built-in channel asks of each call, by its name: its own limits, and that nothing of the model's
//! text comes alive by its own rules. What holds for channels of anybody is the law suite's, `ask-user plugin check`.

use ask_user_plugin::channel::{
    BindingTarget, Call, Descriptor, Feedback, Tap, Target, channels, interpret_interaction, render,
    render_composer, render_feedback, render_settled,
};
use ask_user_plugin::text::{Lines, clean};
use proptest::prelude::*;
use proptest::sample::select;
use serde_json::Value;

mod occasions;
mod prompts;

use occasions::{FEEDBACK, ended, long, target};
use prompts::prompt;

/// A channel, and a target of it.
fn place() -> impl Strategy<Value = (Descriptor, Target)> {
    select(channels()).prop_flat_map(|channel| (Just(channel.clone()), target(&channel)))
}

/// Everything a call may not do, whatever it says.
fn assert_call(channel: &Descriptor, call: &Call) -> Result<(), TestCaseError> {
    prop_assert!(!call.method.is_empty());
    let body: Value = serde_json::from_str(&call.body).expect("a body is JSON");
    prop_assert!(body.is_object());
    if let Some(limit) = channel.text {
        let length = limit.unit.len(&call.text);
        prop_assert!(length <= limit.most as usize, "{length} of {limit:?} in {:?}", call.text);
    }
    match channel.name.as_str() {
        "telegram" => assert_telegram(&body),
        "discord" => assert_discord(call, &body),
        "slack" => assert_slack(&body),
        "mattermost" => assert_mattermost(&body),
        "line" => assert_line(&body),
        "whatsapp" => assert_whatsapp(&body),
        _ => Ok(()),
    }
}

fn utf16(text: &str) -> usize {
    text.encode_utf16().count()
}

/// All strings of a document with the member that holds them.
fn strings(value: &Value) -> Vec<(String, String)> {
    fn collect(member: &str, value: &Value, found: &mut Vec<(String, String)>) {
        match value {
            Value::String(text) => found.push((member.to_owned(), text.clone())),
            Value::Array(items) => items.iter().for_each(|item| collect(member, item, found)),
            Value::Object(members) => members.iter().for_each(|(name, value)| collect(name, value, found)),
            _ => {}
        }
    }
    let mut found = Vec::new();
    collect("", value, &mut found);
    found
}

fn assert_telegram(body: &Value) -> Result<(), TestCaseError> {
    prop_assert!(body.get("parse_mode").is_none());
    let Some(text) = body["text"].as_str().filter(|_| body.get("chat_id").is_some()) else { return Ok(()) };
    prop_assert!((1..=4096).contains(&utf16(text)));
    let units: Vec<u16> = text.encode_utf16().collect();
    let entities = body["entities"].as_array().cloned().unwrap_or_default();
    prop_assert!(entities.len() <= 100, "{} entities", entities.len());
    let mut code = vec![false; units.len()];
    for entity in &entities {
        let at = |name: &str| entity[name].as_u64().expect("what is always there") as usize;
        let (start, end) = (at("offset"), at("offset") + at("length"));
        prop_assert!(start < end && end <= units.len(), "{entity} in {text:?}");
        prop_assert!(String::from_utf16(&units[start..end]).is_ok(), "{entity} cuts a character of {text:?}");
        if entity["type"] == "code" || entity["type"] == "text_mention" {
            code[start..end].fill(true);
        }
    }
    for sign in ['@', '#', '$'] {
        let mut offset = 0;
        for c in text.chars() {
            let in_code = code.get(offset).copied().unwrap_or_default();
            let next = units.get(offset + 1).and_then(|unit| char::from_u32(u32::from(*unit)));
            let lively = next.is_some_and(char::is_alphanumeric);
            prop_assert!(c != sign || in_code || !lively, "{sign} at {offset} may come alive in {text:?}");
            offset += c.len_utf16();
        }
    }
    for row in body.pointer("/reply_markup/inline_keyboard").and_then(Value::as_array).into_iter().flatten() {
        for button in row.as_array().into_iter().flatten() {
            let data = button["callback_data"].as_str().expect("what is always there");
            prop_assert!((1..=64).contains(&data.len()), "{data:?}");
            prop_assert!(!button["text"].as_str().expect("what is always there").trim().is_empty());
        }
    }
    Ok(())
}

fn assert_discord(call: &Call, body: &Value) -> Result<(), TestCaseError> {
    let message = if call.method.ends_with("/callback") { body.get("data") } else { Some(body) };
    let Some(content) = message.and_then(|message| message["content"].as_str()) else { return Ok(()) };
    prop_assert!((1..=2000).contains(&utf16(content)), "{}", utf16(content));
    prop_assert_eq!(
        message.map(|message| &message["allowed_mentions"]),
        Some(&serde_json::json!({ "parse": [] }))
    );
    let mut escaped = false;
    for c in content.chars() {
        prop_assert!(escaped || !"<@`_~|[]()>".contains(c), "{c:?} in {content:?}");
        escaped = !escaped && c == '\\';
    }
    Ok(())
}

fn assert_slack(body: &Value) -> Result<(), TestCaseError> {
    for (member, text) in strings(body) {
        prop_assert!(!text.contains(['<', '>']), "{member}: {text:?}");
        for (at, _) in text.match_indices('&') {
            let entity = ["&amp;", "&lt;", "&gt;"].iter().any(|entity| text[at..].starts_with(entity));
            prop_assert!(entity, "{member}: {text:?}");
        }
        prop_assert!(text != "mrkdwn", "{body}");
    }
    let blocks = body["blocks"].as_array().cloned().unwrap_or_default();
    for block in &blocks {
        let most = if block["type"] == "header" { 150 } else { 3000 };
        if let Some(text) = block.pointer("/text/text").and_then(Value::as_str) {
            prop_assert!((1..=most).contains(&utf16(text)), "{block}");
        }
        for element in block["elements"].as_array().into_iter().flatten() {
            if let Some(label) = element.pointer("/text/text").and_then(Value::as_str) {
                prop_assert!((1..=75).contains(&utf16(label)), "{element}");
            }
        }
    }
    Ok(())
}

fn assert_mattermost(body: &Value) -> Result<(), TestCaseError> {
    let Some(text) = body.pointer("/props/attachments/0/text").and_then(Value::as_str) else { return Ok(()) };
    let mut characters = text.chars().peekable();
    while let Some(c) = characters.next() {
        if c == '@' {
            prop_assert_eq!(characters.peek(), Some(&'\u{200b}'), "in {:?}", text);
        }
    }
    Ok(())
}

fn assert_line(body: &Value) -> Result<(), TestCaseError> {
    for message in body["messages"].as_array().into_iter().flatten() {
        prop_assert!((1..=5000).contains(&utf16(message["text"].as_str().expect("what is always there"))));
        for item in message.pointer("/quickReply/items").and_then(Value::as_array).into_iter().flatten() {
            let data = item.pointer("/action/data").and_then(Value::as_str).expect("what is always there");
            prop_assert!((1..=300).contains(&data.len()));
        }
    }
    Ok(())
}

fn assert_whatsapp(body: &Value) -> Result<(), TestCaseError> {
    let most = |pointer: &str, most: usize| {
        let text = body.pointer(pointer).and_then(Value::as_str);
        text.is_none_or(|text| (1..=most).contains(&utf16(text)))
    };
    prop_assert!(most("/interactive/body/text", 1024) && most("/text/body", 4096), "{body}");
    let buttons = body.pointer("/interactive/action/buttons").and_then(Value::as_array).map_or(0, Vec::len);
    let rows =
        body.pointer("/interactive/action/sections/0/rows").and_then(Value::as_array).map_or(0, Vec::len);
    prop_assert!(buttons <= 3 && rows <= 10, "{body}");
    Ok(())
}

/// The handle of a tap on the control with this token.
fn handle(channel: &Descriptor, token: &str) -> String {
    let tap = channel.example_tap.as_deref().expect("there is a control to tap");
    let payload = tap.replace("{token}", token).replace("{sender}", "42");
    interpret_interaction(&channel.name, &payload).expect("the channel takes its own example").handle
}

proptest! {
    #[test]
    fn what_is_sent_is_within_the_limits_and_nothing_of_it_comes_alive(
        prompt in prompt(), (channel, target) in place(), times in select(vec![1, 12, 200]),
    ) {
        let prompt = long(prompt, times);
        let rendering = render(&prompt, &channel.name, &target).unwrap();
        prop_assert!(!rendering.calls.is_empty());
        for call in &rendering.calls {
            assert_call(&channel, call)?;
        }
        let messages: Vec<String> = (1..=rendering.calls.len()).map(|number| number.to_string()).collect();
        for settled in ended(&prompt) {
            for messages in [messages.as_slice(), &[]] {
                let calls = render_settled(&settled, &channel.name, &target, messages).unwrap();
                prop_assert!(!calls.is_empty());
                for call in &calls {
                    assert_call(&channel, call)?;
                    prop_assert!(!call.body.contains("au1:"), "a control is left in {}", call.body);
                    prop_assert!(!target.shared || !call.body.contains('⚿'), "own text in {}", call.body);
                }
            }
        }
    }

    #[test]
    fn a_place_for_own_text_is_within_the_limits_too(
        prompt in prompt(), (channel, target) in place(), times in select(vec![1, 12]),
    ) {
        let prompt = long(prompt, times);
        for binding in &render(&prompt, &channel.name, &target).unwrap().bindings {
            let BindingTarget::Other(_) = binding.target else { continue };
            let tap = Tap { sender: "42".into(), handle: handle(&channel, &binding.token), acknowledged: false };
            for call in render_composer(&prompt, &channel.name, &target, binding, Some("1"), &tap).unwrap() {
                assert_call(&channel, &call)?;
            }
        }
    }

    #[test]
    fn every_label_is_shown_in_full(prompt in prompt(), (channel, target) in place()) {
        let rendering = render(&prompt, &channel.name, &target).unwrap();
        let all: Vec<&str> = rendering.calls.iter().map(|call| call.text.as_str()).collect();
        let shown = all.join("\n").replace(['\u{2068}', '\u{2069}'], "");
        for choice in prompt.questions.iter().flat_map(|question| &question.choices) {
            let label = clean(&choice.label, Lines::One);
            prop_assert!(all.len() > 1 || shown.contains(label.trim_end()), "{label:?} is not in {shown:?}");
        }
    }

    #[test]
    fn every_feedback_can_be_given((channel, target) in place(), feedback in select(FEEDBACK.to_vec()), acknowledged: bool) {
        let taps = [None, channel.example_tap.as_ref().map(|_| {
            Tap { sender: "42".into(), handle: handle(&channel, "au1:ask_1:x"), acknowledged }
        })];
        for tap in taps {
            let calls = render_feedback(&channel.name, &target, feedback, tap.as_ref()).unwrap();
            let quiet = feedback == Feedback::Received || (target.shared && feedback == Feedback::NotAllowed);
            prop_assert!(quiet || !calls.is_empty(), "{feedback:?} is not said on {}", channel.name);
            for call in &calls {
                assert_call(&channel, call)?;
            }
        }
    }
}
