//! `slack` against slack-messaging, which builds messages of Block Kit and refuses what is beyond a limit. It cannot read
//! them, so what we send is built a second time and compared: block by block out of our JSON for every prompt, and from
//! the prompt alone for those that people meet.
//!
//! It knows neither the arguments of the Web API's methods nor modals; those are checked by hand.

use ask_user_plugin::channel::{Binding, Call, render};
use ask_user_plugin::model::{Prompt, Question};
use proptest::prelude::*;
use serde_json::{Value, json};
use slack_messaging::Message;
use slack_messaging::blocks::elements::{Button, Checkboxes, PlainTextInput};
use slack_messaging::blocks::{Actions, ActionsElement, Block, Header, Input, InputElement, Section};
use slack_messaging::composition_objects::{Opt, PlainText, Text};
use slack_messaging::errors::ValidationErrors;

use crate::known::descriptor;
use crate::occasions::target;
use crate::{
    Edge, all_different, ask, asked, assert_notices, assert_taken, body, composer, edited, everything, items,
    of_any_length, one_of, only, question, same, some_of, text, utf16, within,
};

const CHANNEL: &str = "slack";

/// Whether Slack takes a call.
fn check(call: &Call) -> Result<(), String> {
    let body = body(call);
    let arguments: &[&str] = match call.method.as_str() {
        "chat.postMessage" => &[
            "blocks",
            "channel",
            "link_names",
            "mrkdwn",
            "parse",
            "text",
            "thread_ts",
            "unfurl_links",
            "unfurl_media",
        ],
        "chat.update" => &["blocks", "channel", "link_names", "parse", "text", "ts"],
        "chat.postEphemeral" => &["blocks", "channel", "link_names", "parse", "text", "thread_ts", "user"],
        "views.open" => return check_modal(&body),
        other => return Err(format!("{other} is no method of this channel")),
    };
    known(&body, arguments)?;
    for needed in ["channel", "text", "ts", "user"].iter().filter(|name| arguments.contains(name)) {
        within(needed, text(&body, &format!("/{needed}")).map_or(0, utf16), 40_000)?;
    }
    check_message(&body)
}

/// That an object has these members and no other ones.
fn known(object: &Value, members: &[&str]) -> Result<(), String> {
    let object = object.as_object().ok_or_else(|| format!("{object} is no object"))?;
    match object.keys().find(|name| !members.contains(&name.as_str())) {
        Some(name) => Err(format!("{name} is not one of {members:?}")),
        None => Ok(()),
    }
}

/// What slack-messaging knows of a message.
fn check_message(body: &Value) -> Result<(), String> {
    let body = counted(body);
    let blocks = items(&body, "/blocks").iter().map(block).collect::<Result<Vec<Block>, String>>()?;
    let built = Message::builder()
        .set_text(text(&body, "/text"))
        .set_blocks(Some(blocks).filter(|blocks| !blocks.is_empty()))
        .set_thread_ts(text(&body, "/thread_ts"))
        .set_mrkdwn(body["mrkdwn"].as_bool());
    let theirs = written(&built.build().map_err(|errors| refused(&errors))?)?;
    let mut ours = body.clone();
    if let Some(members) = ours.as_object_mut() {
        members.retain(|name, _| ["text", "blocks", "thread_ts", "mrkdwn"].contains(&name.as_str()));
    }
    same(&ours, &theirs)?;
    all_different("block_id", &ids(&body, "block_id"))?;
    for block in items(&body, "/blocks") {
        all_different("action_id", &ids(&json!({ "blocks": block["elements"] }), "action_id"))?;
    }
    Ok(())
}

/// A modal, of which the package knows the blocks. The limits are those of the page on views.
fn check_modal(body: &Value) -> Result<(), String> {
    known(body, &["trigger_id", "view"])?;
    within("trigger_id", text(body, "/trigger_id").map_or(0, utf16), 255)?;
    let view = counted(&body["view"]);
    known(&view, &["type", "callback_id", "title", "submit", "close", "private_metadata", "blocks"])?;
    if view["type"] != "modal" {
        return Err(format!("{} is no modal", view["type"]));
    }
    for word in ["title", "submit", "close"] {
        same(&view[word], &written(&plain_text(&view[word])?)?)?;
        within(word, text(&view, &format!("/{word}/text")).map_or(0, utf16), 24)?;
    }
    within("callback_id", text(&view, "/callback_id").map_or(0, utf16), 255)?;
    within("private_metadata", text(&view, "/private_metadata").map_or(0, utf16), 3000)?;
    within("blocks", items(&view, "/blocks").len(), 100)?;
    items(&view, "/blocks").iter().try_for_each(|ours| same(ours, &written(&block(ours)?)?))
}

/// The same document with as many bytes in its texts as there are UTF-16 units in ours: the package counts bytes, where
/// Slack counts characters, and would refuse any long text that is not English.
fn counted(value: &Value) -> Value {
    match value {
        Value::String(text) => {
            let unit = |c: char| if c.is_ascii() { c.to_string() } else { "x".repeat(c.len_utf16()) };
            Value::String(text.chars().map(unit).collect())
        }
        Value::Array(items) => items.iter().map(counted).collect(),
        Value::Object(members) => {
            members.iter().map(|(name, value)| (name.clone(), counted(value))).collect()
        }
        other => other.clone(),
    }
}

fn ids<'v>(value: &'v Value, name: &str) -> Vec<&'v Value> {
    items(value, "/blocks").iter().filter_map(|item| item.get(name)).collect()
}

fn refused(errors: &ValidationErrors) -> String {
    format!("refused: {errors}")
}

fn written(built: &impl serde::Serialize) -> Result<Value, String> {
    serde_json::to_value(built).map_err(|error| format!("cannot be written: {error}"))
}

// Each of these builds with the package what our JSON says. A member that is not asked for here is missing in what the
// package then writes.

fn block(ours: &Value) -> Result<Block, String> {
    let block_id = text(ours, "/block_id");
    match text(ours, "/type") {
        Some("header") => {
            let header = Header::builder().text(plain_text(&ours["text"])?).set_block_id(block_id);
            header.build().map(Block::from).map_err(|errors| refused(&errors))
        }
        Some("section") => {
            let section = Section::builder().text(plain_text(&ours["text"])?).set_block_id(block_id);
            section.build().map(Block::from).map_err(|errors| refused(&errors))
        }
        Some("actions") => {
            let elements = items(ours, "/elements").iter().map(element).collect::<Result<Vec<_>, _>>()?;
            let actions = Actions::builder().elements(elements).set_block_id(block_id);
            actions.build().map(Block::from).map_err(|errors| refused(&errors))
        }
        Some("input") => {
            let element = InputElement::from(input(&ours["element"])?);
            let input =
                Input::builder().label(plain_text(&ours["label"])?).element(element).set_block_id(block_id);
            input.build().map(Block::from).map_err(|errors| refused(&errors))
        }
        other => Err(format!("{other:?} is no block of this channel")),
    }
}

fn plain_text(ours: &Value) -> Result<PlainText, String> {
    let built = PlainText::builder().set_text(text(ours, "/text")).set_emoji(ours["emoji"].as_bool());
    built.build().map_err(|errors| refused(&errors))
}

fn element(ours: &Value) -> Result<ActionsElement, String> {
    let action_id = text(ours, "/action_id");
    match text(ours, "/type") {
        Some("button") => {
            let button = Button::builder().text(plain_text(&ours["text"])?);
            let button = button.set_action_id(action_id).set_value(text(ours, "/value"));
            let button = if ours["style"] == "primary" { button.primary() } else { button };
            button.build().map(ActionsElement::from).map_err(|errors| refused(&errors))
        }
        Some("checkboxes") => {
            let options = items(ours, "/options").iter().map(option).collect::<Result<Vec<_>, _>>()?;
            let boxes = Checkboxes::builder().options(options).set_action_id(action_id);
            boxes.build().map(ActionsElement::from).map_err(|errors| refused(&errors))
        }
        other => Err(format!("{other:?} is no element of this channel")),
    }
}

fn option(ours: &Value) -> Result<Opt<Text>, String> {
    let description = ours.get("description").map(plain_text).transpose()?;
    let built = Opt::<Text>::builder()
        .text(plain_text(&ours["text"])?)
        .set_value(text(ours, "/value"))
        .set_description(description);
    built.build().map_err(|errors| refused(&errors))
}

fn input(ours: &Value) -> Result<PlainTextInput, String> {
    if ours["type"] != "plain_text_input" {
        return Err(format!("{} is no input of this channel", ours["type"]));
    }
    let built = PlainTextInput::builder()
        .set_action_id(text(ours, "/action_id"))
        .set_multiline(ours["multiline"].as_bool())
        .set_max_length(ours["max_length"].as_i64());
    built.build().map_err(|errors| refused(&errors))
}

proptest! {
    #[test]
    fn slack_takes_every_call(prompt in of_any_length(), target in target(&descriptor(CHANNEL))) {
        assert_taken(CHANNEL, &prompt, &target, check)?;
    }
}

fn deploy() -> Question {
    let mut deploy = question("Where should R&D's version go?", &["Staging (Recommended)", "<Production>"]);
    deploy.header = "Target".to_owned();
    deploy.choices[0].description = Some("Nobody notices when it breaks.".to_owned());
    deploy
}

fn checks() -> Question {
    let mut checks = question("What should run before it?", &["Unit tests", "Load test"]);
    checks.header = "Checks".to_owned();
    checks.multi_select = Some(true);
    checks.choices[1].description = Some("Takes an hour.".to_owned());
    checks
}

/// The blocks that a person builds for a prompt who reads Slack's pages.
struct Beside {
    prompt: Prompt,
    bindings: Vec<Binding>,
}

impl Beside {
    fn of(question: Question) -> Self {
        let prompt = ask("ask_1", question);
        let bindings =
            render(&prompt, CHANNEL, &everything(CHANNEL)).expect("every prompt can be shown").bindings;
        Self { prompt, bindings }
    }

    fn plain(text: &str) -> PlainText {
        PlainText::builder().text(text).emoji(false).build().expect("within the limits")
    }

    fn header(&self) -> Header {
        let title = format!("A question for you · {}", self.prompt.questions[0].header);
        Header::builder().text(Self::plain(&title)).build().expect("within the limits")
    }

    fn section(text: &str) -> Section {
        Section::builder().text(Self::plain(text)).build().expect("within the limits")
    }

    fn button(&self, index: usize, label: &str, recommended: bool) -> Button {
        let token = self.bindings[index].token.as_str();
        let button = Button::builder().text(Self::plain(label)).action_id(token).value(token);
        let button = if recommended { button.primary() } else { button };
        button.build().expect("within the limits")
    }

    fn option(&self, index: usize) -> Opt<Text> {
        let choice = &self.prompt.questions[0].choices[index];
        let option = Opt::<Text>::builder()
            .text(Self::plain(&choice.label))
            .value(self.bindings[index].token.as_str())
            .set_description(choice.description.as_deref().map(Self::plain));
        option.build().expect("within the limits")
    }

    fn assert_sent(&self, blocks: Vec<Block>, fallback: &str) {
        let built = Message::builder().text(fallback).blocks(blocks).mrkdwn(false).build();
        let mut theirs = serde_json::to_value(built.expect("within the limits")).expect("a message is JSON");
        let sent = asked(CHANNEL, &self.prompt);
        // The rest of the arguments is not Block Kit.
        for (name, value) in [
            ("channel", json!("C0123456789")),
            ("link_names", json!(false)),
            ("parse", json!("none")),
            ("unfurl_links", json!(false)),
            ("unfurl_media", json!(false)),
        ] {
            theirs[name] = value;
        }
        assert_eq!(body(only(&sent)), theirs, "of {:#?}", self.prompt);
    }
}

#[test]
fn one_choice_is_a_header_a_section_and_buttons() {
    let beside = Beside::of(deploy());
    let said = "Where should R&amp;D's version go?\n\nChoose one:\n1. Staging (Recommended) - Nobody notices when it \
                breaks.\n2. &lt;Production&gt;\n\nTap a button, or reply.";
    let actions = Actions::builder()
        .element(beside.button(0, "Staging (Recommended)", true))
        .element(beside.button(1, "&lt;Production&gt;", false))
        .element(beside.button(2, "Other…", false))
        .element(beside.button(3, "Skip", false));
    let actions = actions.build().expect("within the limits");
    let blocks = vec![beside.header().into(), Beside::section(said).into(), actions.into()];
    beside.assert_sent(blocks, &format!("A question for you · Target\n\n{said}"));
}

#[test]
fn several_choices_are_check_boxes_with_buttons_beside_them() {
    let beside = Beside::of(checks());
    let said = "What should run before it?\n\nChoose one or more:\n1. Unit tests\n2. Load test - Takes an hour.\n\n\
                Choose from the list, or reply.";
    let boxes = Checkboxes::builder()
        .action_id("ask_user_choices")
        .option(beside.option(0))
        .option(beside.option(1))
        .build()
        .expect("within the limits");
    let actions = Actions::builder()
        .block_id("ask_user_choices")
        .element(boxes)
        .element(beside.button(2, "Submit", false))
        .element(beside.button(3, "Other…", false))
        .element(beside.button(4, "Skip", false));
    let actions = actions.build().expect("within the limits");
    let blocks = vec![beside.header().into(), Beside::section(said).into(), actions.into()];
    beside.assert_sent(blocks, &format!("A question for you · Checks\n\n{said}"));
}

#[test]
fn own_text_is_a_modal_with_one_input() {
    let beside = Beside::of(deploy());
    let element = PlainTextInput::builder().action_id("ask_user_answer").multiline(true).max_length(3000);
    let input = Input::builder()
        .block_id("ask_user_answer")
        .label(Beside::plain("Your own answer"))
        .element(element.build().expect("within the limits"));
    let input = Block::from(input.build().expect("within the limits"));
    let theirs = json!({
        "trigger_id": "1.2.a",
        "view": {
            "type": "modal", "callback_id": beside.bindings[2].token, "title": Beside::plain("Target"),
            "submit": Beside::plain("Submit"), "close": Beside::plain("Back"), "private_metadata": "C0123456789 1",
            "blocks": [input],
        },
    });
    let calls = composer(CHANNEL, &beside.prompt);
    let call = only(&calls);
    assert_eq!((call.method.as_str(), body(call)), ("views.open", theirs));
}

#[test]
fn the_check_notices_what_is_wrong() {
    let unknown = |object: &mut Value| object["colour"] = json!("red");
    let mrkdwn = |text: &mut Value| text["type"] = json!("mrkdwn");
    let buttons = asked(CHANNEL, &one_of(&["Staging (Recommended)", "Production"]));
    assert_notices(
        only(&buttons),
        check,
        &[
            ("an unknown argument", "", &unknown),
            ("an unknown member of a block", "/blocks/0", &unknown),
            ("an unknown member of a button", "/blocks/2/elements/0", &unknown),
            ("an unknown member of a text", "/blocks/1/text", &unknown),
            ("markup in a section", "/blocks/1/text", &mrkdwn),
            ("markup in a button", "/blocks/2/elements/0/text", &mrkdwn),
            ("an empty text", "/blocks/1/text/text", &|text| *text = json!("")),
            ("a header that is too long in UTF-16 units only", "/blocks/0/text/text", &|text| {
                *text = json!("🚀".repeat(76))
            }),
            ("an unknown style", "/blocks/2/elements/0/style", &|style| *style = json!("loud")),
            ("an id that is there twice", "/blocks/2/elements/1/action_id", &|id| {
                *id = json!("au1:ask_1:0:0")
            }),
            ("no text for notifications", "", &|body| {
                drop(body.as_object_mut().and_then(|body| body.remove("text")))
            }),
        ],
    );
    let modal = composer(CHANNEL, &one_of(&["Staging", "Production"]));
    assert_notices(
        only(&modal),
        check,
        &[
            ("an unknown member of a view", "/view", &unknown),
            ("an unknown member of an input", "/view/blocks/0/element", &unknown),
            ("markup in a title", "/view/title", &mrkdwn),
            ("own text that is too long", "/view/blocks/0/element/max_length", &|most| *most = json!(3001)),
        ],
    );
}

/// A title that is too long for a header stands in the section, which then holds as much as a message of ours does.
#[test]
fn a_section_has_3000_units() {
    let calls = |size: usize| {
        let mut long = question(&"x".repeat(size), &[]);
        long.header = "x".repeat(150);
        asked(CHANNEL, &ask("ask_1", long))
    };
    Edge { pointer: "/blocks/0/text/text", most: 3000, calls: &calls, check }.hold();
}

#[test]
fn a_header_has_150_units() {
    let calls = |size: usize| {
        let header = "x".repeat(size);
        asked(CHANNEL, &ask("ask_1", Question { header, ..question("Where?", &["Staging", "Production"]) }))
    };
    Edge { pointer: "/blocks/0/text/text", most: 150, calls: &calls, check }.hold();
}

#[test]
fn a_button_has_75_units() {
    let calls = |size: usize| asked(CHANNEL, &one_of(&[&"x".repeat(size), "Production"]));
    Edge { pointer: "/blocks/2/elements/0/text/text", most: 75, calls: &calls, check }.hold();
}

#[test]
fn an_option_has_75_units_and_its_description_too() {
    let labels = |size: usize| asked(CHANNEL, &some_of("ask_1", &[&"x".repeat(size), "Load test"]));
    Edge { pointer: "/blocks/2/elements/0/options/0/text/text", most: 75, calls: &labels, check }.hold();
    let descriptions = |size: usize| {
        let mut prompt = some_of("ask_1", &["Unit tests", "Load test"]);
        prompt.questions[0].choices[0].description = Some("x".repeat(size));
        asked(CHANNEL, &prompt)
    };
    Edge {
        pointer: "/blocks/2/elements/0/options/0/description/text",
        most: 75,
        calls: &descriptions,
        check,
    }
    .hold();
}

/// By hand: the package has no modals.
#[test]
fn a_modal_has_a_title_of_24_units() {
    let calls = |size: usize| {
        let header = "x".repeat(size);
        composer(
            CHANNEL,
            &ask("ask_1", Question { header, ..question("Where?", &["Staging", "Production"]) }),
        )
    };
    Edge { pointer: "/view/title/text", most: 24, calls: &calls, check }.hold();
}

/// Of these we never come near the limit: tokens have 75 bytes at most, a message three blocks and seven elements, and our
/// own words are short. What is longer is refused here.
#[test]
fn what_we_never_reach_is_known_too() {
    let longest = |sent: fn(&str) -> Vec<Call>| {
        let calls: Vec<Vec<Call>> = (1..=75).map(|size| sent(&"i".repeat(size))).collect();
        let with_controls = |calls: &&Vec<Call>| calls.last().is_some_and(|call| call.body.contains("au1:"));
        only(calls.iter().rfind(with_controls).expect("a prompt with controls")).clone()
    };
    let buttons = longest(|id| asked(CHANNEL, &ask(id, question("Where?", &["Staging", "Production"]))));
    let list = longest(|id| asked(CHANNEL, &some_of(id, &["Unit tests", "Load test"])));
    let modal = longest(|id| composer(CHANNEL, &ask(id, question("Where?", &["Staging", "Production"]))));
    for (call, pointer, most) in [
        (&buttons, "/blocks/2/elements/0/action_id", 255),
        (&buttons, "/blocks/2/elements/0/value", 2000),
        (&list, "/blocks/2/block_id", 255),
        (&list, "/blocks/2/elements/0/options/0/value", 150),
        (&modal, "/view/blocks/0/label/text", 2000),
        (&modal, "/view/callback_id", 255),
        (&modal, "/view/private_metadata", 3000),
        (&modal, "/view/submit/text", 24),
        (&modal, "/view/close/text", 24),
    ] {
        let ours = text(&body(call), pointer).map_or(0, utf16);
        assert!((1..=75).contains(&ours), "{pointer} of {call:#?}");
        assert_eq!(check(call), Ok(()), "{call:#?}");
        let of = |length: usize| edited(call, pointer, |value| *value = json!("x".repeat(length)));
        assert_eq!(check(&of(most)), Ok(()), "{pointer} of {most} in {call:#?}");
        assert!(check(&of(most + 1)).is_err(), "{pointer} of {} in {call:#?}", most + 1);
    }
    let grown = |pointer: &str, count: usize| {
        edited(&list, pointer, |list| {
            let list = list.as_array_mut().expect("a list");
            let last = list.last().cloned().expect("an item");
            list.extend((list.len()..count).map(|index| {
                let mut next = last.clone();
                if next.get("action_id").is_some() {
                    next["action_id"] = json!(index.to_string());
                }
                next
            }));
        })
    };
    for (pointer, most) in [("/blocks/2/elements", 25), ("/blocks/2/elements/0/options", 10)] {
        assert_eq!(check(&grown(pointer, most)), Ok(()), "{pointer} of {most} in {list:#?}");
        assert!(check(&grown(pointer, most + 1)).is_err(), "{pointer} of {} in {list:#?}", most + 1);
    }
    let of_blocks = |count: usize| {
        edited(&list, "/blocks", |blocks| {
            let blocks = blocks.as_array_mut().expect("blocks");
            let section = blocks[1].clone();
            blocks.resize(count, section);
        })
    };
    assert_eq!(check(&of_blocks(50)), Ok(()), "50 blocks in {list:#?}");
    assert!(check(&of_blocks(51)).is_err(), "51 blocks in {list:#?}");
}
