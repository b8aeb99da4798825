//! Faults that people reported of tools like this one, on every channel. The number in a name is the case's.

use ask_user_plugin::channel::{
    Action, BindingTarget, ChannelError, Feedback, Rendering, Tap, Target, channels, interpret_interaction,
    render, render_feedback,
};
use ask_user_plugin::model::{Choice, Origin, Prompt, Question};
use serde_json::Value;

mod known;

const ID: &str = "ask_0123456789abcdef0123456789abcdef";

fn question(text: &str, labels: &[&str]) -> Question {
    Question {
        id: "q".to_owned(),
        header: "Header".to_owned(),
        text: text.to_owned(),
        choices: labels
            .iter()
            .map(|label| Choice { label: (*label).to_owned(), description: None })
            .collect(),
        multi_select: None,
        is_other: Some(true),
        is_secret: None,
        url: None,
    }
}

fn prompt(questions: Vec<Question>) -> Prompt {
    let origin = Origin::default();
    Prompt { id: ID.to_owned(), questions, origin, created_at: 0, expires_at: 900_000, settlement: None }
}

fn target(channel: &str) -> Target {
    Target {
        address: known::descriptor(channel).example_address,
        callback_url: Some("https://host.example/taps".to_owned()),
        ..Target::default()
    }
}

/// What every channel makes of a prompt, by its name.
fn everywhere(prompt: &Prompt) -> Vec<(String, Rendering)> {
    let names = channels().into_iter().map(|channel| channel.name);
    names
        .map(|name| {
            let rendering = render(prompt, &name, &target(&name)).expect("every channel shows every prompt");
            (name, rendering)
        })
        .collect()
}

/// All that a rendering says, without its controls.
fn said(rendering: &Rendering) -> String {
    rendering.calls.iter().map(|call| call.text.as_str()).collect::<Vec<_>>().join("\n")
}

/// The token of the control that does this, in a prompt like this one.
fn tap(channel: &str, token: &str, sender: &str) -> String {
    known::descriptor(channel)
        .example_tap
        .expect("a tap")
        .replace("{token}", token)
        .replace("{sender}", sender)
}

const TAPPED: [&str; 6] = ["telegram", "discord", "slack", "mattermost", "line", "whatsapp"];

#[test]
fn b27_two_long_labels_are_listed_in_full_and_keep_their_numbers_on_the_controls() {
    let start = "x".repeat(110);
    let labels = [format!("{start}blue-green"), format!("{start}all-at-one")];
    for (channel, rendering) in everywhere(&prompt(vec![question("How?", &[&labels[0], &labels[1]])])) {
        let said = said(&rendering);
        for (index, label) in labels.iter().enumerate() {
            assert!(said.contains(&format!("{}. {label}", index + 1)), "{channel}: {said}");
        }
        for (index, binding) in rendering.bindings.iter().take(2).enumerate() {
            assert!(binding.label.starts_with(&format!("{}. x", index + 1)), "{channel}: {binding:?}");
        }
    }
}

#[test]
fn b28_no_label_ends_in_half_of_an_emoji() {
    let long: Vec<String> = ["👩‍👩‍👧", "🇳🇱", "e\u{301}"].iter().map(|cluster| cluster.repeat(120)).collect();
    let labels: Vec<&str> = long.iter().map(String::as_str).collect();
    for (channel, rendering) in everywhere(&prompt(vec![question("How?", &labels)])) {
        for (binding, cluster) in rendering.bindings.iter().zip(["👩‍👩‍👧", "🇳🇱", "e\u{301}"])
        {
            let kept = binding.label[3..].trim_end_matches('…').replace(cluster, "");
            assert_eq!(kept, "", "{channel}: {binding:?}");
        }
    }
}

#[test]
fn b29_tokens_have_at_most_64_bytes_whatever_the_labels_say() {
    let labels = ["部".repeat(60), "署".repeat(60)];
    let mut long = question("去哪里？", &[&labels[0], &labels[1]]);
    long.id = "q".repeat(40);
    for (channel, rendering) in everywhere(&prompt(vec![long.clone()])) {
        assert_eq!(rendering.bindings.is_empty(), channel == "text");
        for binding in &rendering.bindings {
            assert!(
                (1..=64).contains(&binding.token.len()) && binding.token.is_ascii(),
                "{channel}: {binding:?}"
            );
        }
    }
    // Where no token fits, the prompt is text.
    let strange = Prompt { id: "i".repeat(400), ..prompt(vec![long]) };
    for (channel, rendering) in everywhere(&strange) {
        assert_eq!(rendering.bindings, [], "{channel}");
        assert!(said(&rendering).contains(&labels[0]), "{channel}");
    }
}

#[test]
fn b30_nobody_is_told_to_tap_where_there_is_nothing_to_tap() {
    let one = question("Where?", &["Staging", "Production"]);
    let many = Question { multi_select: Some(true), ..one.clone() };
    let second = Question { id: "r".to_owned(), ..one.clone() };
    for (questions, native) in [(vec![one.clone()], true), (vec![many], false), (vec![one, second], false)] {
        for (channel, rendering) in everywhere(&prompt(questions.clone())) {
            let last = rendering.calls.last().expect("a call");
            let has_controls = native && channel != "text";
            assert_eq!(!rendering.bindings.is_empty(), has_controls, "{channel}");
            let asks_to_tap = last.body.contains("Tap a button") || last.body.contains("from the list");
            assert_eq!(asks_to_tap, has_controls, "{channel}: {}", last.body);
            let says_how = last.text.contains("Reply") || last.text.contains("Answer");
            assert!(says_how && !last.text.contains("Tap"), "{channel}: {}", last.text);
        }
    }
}

#[test]
fn b31_a_long_question_goes_on_in_further_messages() {
    let words: Vec<String> = (0..2000).map(|number| format!("word{number}")).collect();
    for (channel, rendering) in
        everywhere(&prompt(vec![question(&words.join(" "), &["Staging", "Production"])]))
    {
        let said = said(&rendering);
        let mut rest = said.as_str();
        for word in &words {
            let at = rest.find(word.as_str()).unwrap_or_else(|| panic!("{channel}: {word} is not there"));
            rest = &rest[at + word.len()..];
        }
        assert!(rest.contains("1. Staging") && rest.contains("2. Production"), "{channel}: {rest}");
    }
}

#[test]
fn b33_a_number_stays_with_its_choice_in_text_from_right_to_left() {
    for (channel, rendering) in
        everywhere(&prompt(vec![question("לאן לפרוס את v2.0?", &["בדיקות", "ייצור", "prod"])]))
    {
        let said = said(&rendering).replace(['\u{2068}', '\u{2069}'], "");
        for line in ["1. בדיקות", "2. ייצור", "3. prod"] {
            assert!(said.lines().any(|shown| shown == line), "{channel}: {said}");
        }
    }
}

#[test]
fn b42_whoever_taps_second_is_told_something_else_than_success() {
    for channel in TAPPED {
        let handle = interpret_interaction(channel, &tap(channel, "au1:ask_1:x", "7")).expect("a tap").handle;
        let tap = Tap { sender: "7".to_owned(), handle, acknowledged: false };
        let told =
            |feedback| render_feedback(channel, &target(channel), feedback, Some(&tap)).expect("feedback");
        assert_ne!(told(Feedback::Accepted), told(Feedback::AlreadyAnswered), "{channel}");
        assert_ne!(told(Feedback::TryAgain), told(Feedback::AlreadyAnswered), "{channel}");
    }
}

#[test]
fn b59_a_tap_can_be_acknowledged_before_anything_is_decided() {
    for (channel, method) in [
        ("telegram", Some("answerCallbackQuery")),
        ("discord", Some("POST /interactions/1/t/callback")),
        // The empty response to the request that brought the tap is the acknowledgement.
        ("slack", None),
        ("line", None),
        ("whatsapp", None),
    ] {
        let handle = interpret_interaction(channel, &tap(channel, "au1:ask_1:x", "7")).expect("a tap").handle;
        let mut tap = Tap { sender: "7".to_owned(), handle, acknowledged: false };
        let first =
            render_feedback(channel, &target(channel), Feedback::Received, Some(&tap)).expect("feedback");
        assert_eq!(first.first().map(|call| call.method.as_str()), method, "{channel}");
        tap.acknowledged = true;
        let second =
            render_feedback(channel, &target(channel), Feedback::Accepted, Some(&tap)).expect("feedback");
        assert_eq!(second.len(), 1, "{channel}");
        assert_ne!(Some(second[0].method.as_str()), method, "{channel}: a service takes one first response");
    }
}

#[test]
fn b65_every_tap_says_who_tapped() {
    for channel in TAPPED {
        for sender in ["7", "4815162342"] {
            let tapped =
                interpret_interaction(channel, &tap(channel, "au1:ask_1:0:0", sender)).expect("a tap");
            assert_eq!(tapped.sender, sender, "{channel}");
            assert_eq!(tapped.action, Action::Choose(vec!["au1:ask_1:0:0".to_owned()]), "{channel}");
        }
    }
}

#[test]
fn b67_a_tap_says_where_it_came_from() {
    for channel in ["telegram", "discord", "slack", "mattermost", "line", "whatsapp"] {
        let tapped = interpret_interaction(channel, &tap(channel, "au1:ask_1:0:0", "7")).expect("a tap");
        assert!(tapped.conversation.is_some(), "{channel}");
    }
}

#[test]
fn b89_nothing_of_a_label_becomes_markup() {
    let label = "`code` **bold** <b>x</b> [a](javascript:1) <!channel>";
    for (channel, rendering) in everywhere(&prompt(vec![question("```\nWhere?\n```", &[label, "No"])])) {
        let call = rendering.calls.last().expect("a call");
        assert!(call.text.contains(label), "{channel}: {}", call.text);
        let body: Value = serde_json::from_str(&call.body).expect("JSON");
        match channel.as_str() {
            "telegram" => assert!(
                body.get("parse_mode").is_none()
                    && body["text"].as_str().is_some_and(|text| text.contains(label))
            ),
            "discord" => assert!(body["content"].as_str().is_some_and(
                |text| text.contains(r"\<\!channel\>") && text.contains(r"\[a\]\(javascript\:1\)")
            )),
            "slack" => {
                assert!(!call.body.contains('<') && call.body.contains("&lt;!channel&gt;"), "{}", call.body)
            }
            "mattermost" => {
                let text =
                    body.pointer("/props/attachments/0/text").and_then(Value::as_str).unwrap_or_default();
                assert!(text.contains(r"\*\*bold\*\*") && text.contains(r"\[a\]"), "{text}");
            }
            "whatsapp" => {
                let text = body.pointer("/interactive/body/text").and_then(Value::as_str).unwrap_or_default();
                assert!(
                    text.contains("bold") && !text.contains("*bold*") && !text.contains("`code`"),
                    "{text}"
                );
            }
            _ => {}
        }
    }
}

#[test]
fn b90_a_token_is_no_authority_and_a_bot_is_nobody() {
    // What a token of another prompt means is for the host's bindings to say; the channel only hands it on.
    let other = interpret_interaction("telegram", &tap("telegram", "au1:ask_other:0:0", "7")).expect("a tap");
    assert_eq!(other.action, Action::Choose(vec!["au1:ask_other:0:0".to_owned()]));
    let bot = tap("telegram", "au1:ask_1:0:0", "7").replace("\"is_bot\": false", "\"is_bot\": true");
    assert!(matches!(interpret_interaction("telegram", &bot), Err(ChannelError::Malformed(_))));
    for channel in TAPPED {
        let foreign = interpret_interaction(channel, &tap(channel, "tgq1:1:0", "7"));
        assert_eq!(foreign, Err(ChannelError::NotOurs), "{channel}");
    }
}

#[test]
fn b91_control_characters_spoil_no_list() {
    let spoiled =
        Question { header: "a\u{202e}b".to_owned(), ..question("Which\u{1b}[2K?", &["Keep\r", "Drop\nALL"]) };
    for (channel, rendering) in everywhere(&prompt(vec![spoiled])) {
        let said = said(&rendering);
        assert!(said.contains("1. Keep\n2. Drop ALL"), "{channel}: {said:?}");
        let harmless = |text: &str| !text.chars().any(|c| (c.is_control() && c != '\n') || c == '\u{202e}');
        assert!(harmless(&said), "{channel}: {said:?}");
        assert!(rendering.bindings.iter().all(|binding| harmless(&binding.label)), "{channel}");
    }
}

#[test]
fn b95_a_channel_declares_its_controls_and_the_rest_is_complete_text() {
    let one = prompt(vec![question("Where?", &["Staging", "Production"])]);
    for descriptor in channels() {
        let rendering = render(&one, &descriptor.name, &target(&descriptor.name)).expect("a rendering");
        assert_eq!(descriptor.natives.buttons, !rendering.bindings.is_empty(), "{}", descriptor.name);
        let chosen = rendering.bindings.iter().filter_map(|binding| match &binding.target {
            BindingTarget::Choice(choice) => Some(choice.index),
            _ => None,
        });
        let expected = if descriptor.natives.buttons { vec![0, 1] } else { vec![] };
        assert_eq!(chosen.collect::<Vec<_>>(), expected, "{}", descriptor.name);
        assert!(said(&rendering).contains("1. Staging\n2. Production"), "{}", descriptor.name);
    }
}
