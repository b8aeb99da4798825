//! `telegram` against frankenstein, the types of the Bot API. It knows shapes and no limits.

use ask_user_plugin::channel::{Action, Call, Interaction, interpret_interaction, render};
use frankenstein::methods::{AnswerCallbackQueryParams, EditMessageTextParams, SendMessageParams};
use frankenstein::types::{
    CallbackQuery, Chat, ChatType, InaccessibleMessage, MaybeInaccessibleMessage, Message, User,
};
use frankenstein::updates::{Update, UpdateContent};
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::known::descriptor;
use crate::occasions::target;
use crate::prompts::prompt;
use crate::{
    Edge, ask, asked, assert_notices, assert_taken, body, edited, everything, example_tap, items, nothing,
    of_any_length, one_of, only, question, read, text, utf16, within,
};

const CHANNEL: &str = "telegram";

/// Whether the Bot API takes a call.
fn check(call: &Call) -> Result<(), String> {
    let body = body(call);
    match call.method.as_str() {
        "sendMessage" => read::<SendMessageParams>(&body, nothing).map(drop)?,
        "editMessageText" => read::<EditMessageTextParams>(&body, nothing).map(drop)?,
        "answerCallbackQuery" => read::<AnswerCallbackQueryParams>(&body, nothing).map(drop)?,
        other => return Err(format!("{other} is no method of this channel")),
    }
    within_limits(&call.method, &body)
}

/// The limits of the Bot API's pages. frankenstein checks none of them, nor does any other package for all of them.
fn within_limits(method: &str, body: &Value) -> Result<(), String> {
    let most = if method == "answerCallbackQuery" { 200 } else { 4096 };
    if let Some(text) = text(body, "/text") {
        within("text", utf16(text), most)?;
    }
    let units = text(body, "/text").map_or(0, utf16);
    if items(body, "/entities").len() > 100 {
        return Err("more than 100 entities, of which the service drops some".to_owned());
    }
    for entity in items(body, "/entities") {
        let number = |name: &str| entity[name].as_u64().unwrap_or_default() as usize;
        if number("length") == 0 || number("offset") + number("length") > units {
            return Err(format!("{entity} is outside of the text"));
        }
    }
    if let Some(placeholder) = text(body, "/reply_markup/input_field_placeholder") {
        within("input_field_placeholder", utf16(placeholder), 64)?;
    }
    for row in items(body, "/reply_markup/inline_keyboard") {
        within("a row", items(row, "").len(), 8)?;
        for button in items(row, "") {
            within("callback_data", text(button, "/callback_data").map_or(0, str::len), 64)?;
            // No limit is stated for a button; this is what a phone shows.
            within("text of a button", text(button, "/text").map_or(0, utf16), 60)?;
        }
    }
    Ok(())
}

proptest! {
    #[test]
    fn the_bot_api_takes_every_call(prompt in of_any_length(), target in target(&descriptor(CHANNEL))) {
        assert_taken(CHANNEL, &prompt, &target, check)?;
    }

    #[test]
    fn callback_data_has_1_to_64_bytes(prompt in prompt(), id in "[!-~]{1,80}|\\PC{1,40}") {
        let prompt = ask(&id, prompt.questions[0].clone());
        for call in asked(CHANNEL, &prompt) {
            for row in items(&body(&call), "/reply_markup/inline_keyboard") {
                for button in items(row, "") {
                    let data = text(button, "/callback_data").unwrap_or_default();
                    prop_assert!((1..=64).contains(&data.len()), "{data:?} in {call:#?} of {prompt:#?}");
                }
            }
        }
    }

    #[test]
    fn a_tap_on_every_button_is_understood_as_frankenstein_writes_it(
        prompt in prompt(), target in target(&descriptor(CHANNEL)), person in 1..=1_u64 << 52, chat in any::<i64>(),
    ) {
        for binding in render(&prompt, CHANNEL, &target).expect("every prompt can be shown").bindings {
            let query = query(&binding.token, user(person), Some(message(chat)));
            let understood = Interaction {
                action: Action::Choose(vec![binding.token.clone()]),
                sender: person.to_string(),
                conversation: Some(chat.to_string()),
                message: Some("5".to_owned()),
                handle: "9".to_owned(),
            };
            let alone = serde_json::to_string(&query).expect("a query can be written");
            let update = Update { update_id: 1, content: UpdateContent::CallbackQuery(Box::new(query)) };
            for payload in [serde_json::to_string(&update).expect("an update can be written"), alone] {
                let ours = interpret_interaction(CHANNEL, &payload);
                prop_assert_eq!(ours.as_ref(), Ok(&understood), "{} for {:?}", payload, prompt);
            }
        }
    }
}

fn user(id: u64) -> User {
    User::builder().id(id).is_bot(false).first_name("Ada").build()
}

fn chat(id: i64) -> Chat {
    Chat::builder().id(id).type_field(ChatType::Supergroup).title("Deployments").build()
}

fn message(chat_id: i64) -> MaybeInaccessibleMessage {
    let message = Message::builder().message_id(5).date(1_700_000_000).chat(chat(chat_id)).text("Where?");
    MaybeInaccessibleMessage::Message(Box::new(message.build()))
}

fn query(data: &str, from: User, message: Option<MaybeInaccessibleMessage>) -> CallbackQuery {
    let query = CallbackQuery::builder().id("9").from(from).chat_instance("1").data(data);
    query.maybe_message(message).build()
}

#[test]
fn the_example_tap_is_an_update() {
    // An id is a number there, which a place in a string cannot hold.
    let tap = example_tap(CHANNEL, "au1:ask_1:0:0").replace("\"42\"", "42");
    let update = serde_json::from_str(&tap).expect("the example is JSON");
    let update: Update = read(&update, nothing).unwrap_or_else(|fault| panic!("{fault}\n{tap}"));
    let again = serde_json::to_string(&update).expect("an update can be written");
    assert_eq!(interpret_interaction(CHANNEL, &again), interpret_interaction(CHANNEL, &tap));
}

#[test]
fn taps_from_everywhere_are_updates_and_understood() {
    let from = json!({ "id": 42, "is_bot": false, "first_name": "Ada", "language_code": "nl" });
    let private = json!({ "id": 42, "type": "private", "first_name": "Ada" });
    let group = json!({ "id": -1_001_234_567_890_i64, "type": "supergroup", "title": "Deployments", "is_forum": true });
    let bot = json!({ "id": 7, "is_bot": true, "first_name": "Agent", "username": "agent_bot" });
    let button = json!({ "text": "Staging", "callback_data": "au1:ask_1:0:0" });
    for (place, message, conversation) in [
        (
            "a private chat",
            json!({
                "message_id": 5, "from": bot, "chat": private, "date": 1_700_000_000, "text": "Where?",
                "reply_markup": { "inline_keyboard": [[button]] },
            }),
            "42",
        ),
        (
            "a topic of a group",
            json!({
                "message_id": 5, "message_thread_id": 3, "is_topic_message": true, "from": bot, "chat": group,
                "date": 1_700_000_000, "text": "Where?",
            }),
            "-1001234567890",
        ),
        ("a message that is too old", json!({ "message_id": 5, "chat": group, "date": 0 }), "-1001234567890"),
    ] {
        let payload = json!({
            "update_id": 1,
            "callback_query": {
                "id": "4382bfdwdsb323b2d9", "from": from, "message": message, "chat_instance": "-3",
                "data": "au1:ask_1:0:0",
            },
        });
        if let Err(fault) = read::<Update>(&payload, nothing) {
            panic!("{place}: {fault}");
        }
        let understood = Interaction {
            action: Action::Choose(vec!["au1:ask_1:0:0".to_owned()]),
            sender: "42".to_owned(),
            conversation: Some(conversation.to_owned()),
            message: Some("5".to_owned()),
            handle: "4382bfdwdsb323b2d9".to_owned(),
        };
        assert_eq!(
            interpret_interaction(CHANNEL, &payload.to_string()),
            Ok(understood),
            "{place}: {payload}"
        );
    }
}

#[test]
fn a_message_that_the_service_no_longer_has_is_enough() {
    let gone = InaccessibleMessage::builder().message_id(5).date(0).chat(chat(-100)).build();
    let query = query("au1:ask_1:x", user(42), Some(MaybeInaccessibleMessage::InaccessibleMessage(gone)));
    let payload = serde_json::to_string(&query).expect("a query can be written");
    let understood = interpret_interaction(CHANNEL, &payload).map(|tap| (tap.conversation, tap.message));
    assert_eq!(understood, Ok((Some("-100".to_owned()), Some("5".to_owned()))), "{payload}");
}

#[test]
fn the_check_notices_what_is_wrong() {
    let prompt = one_of(&["Staging (Recommended)", "Production"]);
    let calls = asked(CHANNEL, &prompt);
    let keyboard = "/reply_markup/inline_keyboard";
    assert_notices(
        only(&calls),
        check,
        &[
            ("a message without text", "", &|body| {
                drop(body.as_object_mut().and_then(|body| body.remove("text")))
            }),
            ("an unknown member", "", &|body| body["colour"] = json!("red")),
            ("an unknown member of a button", &format!("{keyboard}/0/0"), &|button| {
                button["data"] = json!("x")
            }),
            ("an unknown style", &format!("{keyboard}/0/0/style"), &|style| *style = json!("loud")),
            ("a keyboard without rows", keyboard, &|rows| *rows = rows[0].clone()),
            ("an unknown entity", "/entities/0/type", &|kind| *kind = json!("blink")),
            ("an entity beyond the text", "/entities/0/length", &|length| *length = json!(4097)),
            ("a chat that is none", "/chat_id", &|chat| *chat = json!(true)),
        ],
    );
}

#[test]
fn a_text_has_4096_units() {
    let calls = |size: usize| asked(CHANNEL, &ask("ask_1", question(&"x".repeat(size), &[])));
    Edge { pointer: "/text", most: 4096, calls: &calls, check }.hold();
}

#[test]
fn a_button_has_60_units() {
    let calls =
        |size: usize| asked(CHANNEL, &ask("ask_1", question("Where?", &[&"x".repeat(size), "Production"])));
    Edge { pointer: "/reply_markup/inline_keyboard/0/0/text", most: 60, calls: &calls, check }.hold();
}

#[test]
fn callback_data_has_64_bytes() {
    let calls =
        |size: usize| asked(CHANNEL, &ask(&"i".repeat(size), question("Where?", &["Staging", "Production"])));
    Edge { pointer: "/reply_markup/inline_keyboard/0/0/callback_data", most: 64, calls: &calls, check }
        .hold();
}

#[test]
fn a_message_has_100_entities() {
    let calls = |size: usize| asked(CHANNEL, &ask("ask_1", question(&"@a x ".repeat(size), &[])));
    Edge { pointer: "/entities", most: 100, calls: &calls, check }.hold();
}

/// Our own words are shorter than these limits in every language, as `the_bot_api_takes_every_call` finds; what is
/// longer is refused here.
#[test]
fn a_toast_has_200_units_and_a_placeholder_64() {
    let prompt = one_of(&["Staging", "Production"]);
    let calls = crate::calls(CHANNEL, &prompt, &everything(CHANNEL));
    for (method, pointer, most) in
        [("answerCallbackQuery", "/text", 200), ("sendMessage", "/reply_markup/input_field_placeholder", 64)]
    {
        let call = calls.iter().find(|call| call.method == method && body(call).pointer(pointer).is_some());
        let call = call.unwrap_or_else(|| panic!("nothing has {pointer} of {method} in {calls:#?}"));
        let of = |length: usize| edited(call, pointer, |value| *value = json!("x".repeat(length)));
        assert_eq!(check(&of(most)), Ok(()), "{pointer} of {most}");
        assert!(check(&of(most + 1)).is_err(), "{pointer} of {}", most + 1);
    }
}
