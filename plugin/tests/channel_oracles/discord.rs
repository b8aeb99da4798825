//! `discord` against twilight: twilight-model for shapes, twilight-validate for limits. It counts code points, of which
//! there are never more than the UTF-16 units in which our channel counts.

use ask_user_plugin::channel::{Action, Call, Interaction, OwnText, interpret_interaction, render};
use proptest::prelude::*;
use serde_json::{Value, json};
use twilight_model::application::interaction as received;
use twilight_model::channel::message::{AllowedMentions, Component, MessageFlags};
use twilight_model::http::interaction::{
    InteractionResponse, InteractionResponseData, InteractionResponseType,
};
use twilight_model::id::Id;
use twilight_model::id::marker::GenericMarker;
use twilight_validate::{component, message};

use crate::known::descriptor;
use crate::occasions::target;
use crate::prompts::prompt;
use crate::{
    Edge, all_different, ask, asked, assert_notices, assert_taken, body, composer, edited, example_tap,
    items, of_any_length, one_of, only, question, read, some_of, text, utf16, within,
};

const CHANNEL: &str = "discord";

/// Whether Discord takes a call.
fn check(call: &Call) -> Result<(), String> {
    let body = body(call);
    match call.method.split(['/', ' ']).collect::<Vec<_>>().as_slice() {
        ["POST", "", "channels", channel, "messages"] => {
            snowflakes(&[channel])?;
            check_message(&body)
        }
        ["PATCH", "", "channels", channel, "messages", message] => {
            snowflakes(&[channel, message])?;
            check_message(&body)
        }
        ["POST", "", "webhooks", application, _] => {
            snowflakes(&[application])?;
            check_message(&body)
        }
        ["POST", "", "interactions", interaction, _, "callback"] => {
            snowflakes(&[interaction])?;
            check_response(&body)
        }
        _ => Err(format!("{} is no method of this channel", call.method)),
    }
}

fn snowflakes(ids: &[&str]) -> Result<(), String> {
    let is_id = |id: &&&str| id.parse::<Id<GenericMarker>>().is_err();
    ids.iter().find(is_id).map_or(Ok(()), |id| Err(format!("{id:?} is no id")))
}

/// A message that is made or changed, or says something to one person. twilight-model has the members of such a body only
/// as those of a response to an interaction.
fn check_message(body: &Value) -> Result<(), String> {
    let data: InteractionResponseData = read(body, defaults)?;
    message::content(data.content.as_deref().unwrap_or_default()).map_err(|error| error.to_string())?;
    if data.content.as_deref().is_none_or(str::is_empty) {
        return Err("a message without content".to_owned());
    }
    // The default of this type mentions nobody.
    if data.allowed_mentions != Some(AllowedMentions::default()) {
        return Err(format!("{:?} mentions somebody", data.allowed_mentions));
    }
    let known = MessageFlags::SUPPRESS_EMBEDS | MessageFlags::EPHEMERAL;
    if data.flags.is_none_or(|flags| !known.contains(flags) || !flags.contains(MessageFlags::SUPPRESS_EMBEDS))
    {
        return Err(format!("the flags {:?}", data.flags));
    }
    if data.title.is_some() || data.custom_id.is_some() {
        return Err("a message with members of a modal".to_owned());
    }
    let components = data.components.unwrap_or_default();
    message::components(&components, false).map_err(|error| error.to_string())?;
    components.iter().try_for_each(check_row)?;
    all_different("custom_id", &custom_ids(body))
}

/// A row of a message, for what twilight-validate does not look at: that there is something in it and on it, that nobody
/// has to choose more than there is, and that no two options mean the same.
fn check_row(component: &Component) -> Result<(), String> {
    let Component::ActionRow(row) = component else { return Err(format!("{component:?} is no row")) };
    if row.components.is_empty() {
        return Err("an empty row".to_owned());
    }
    for component in &row.components {
        match component {
            Component::Button(button) => {
                if [&button.label, &button.custom_id]
                    .iter()
                    .any(|text| text.as_deref().is_none_or(str::is_empty))
                {
                    return Err(format!("nothing is on {button:?} or sent by it"));
                }
            }
            Component::SelectMenu(menu) => {
                let options = menu.options.as_deref().unwrap_or_default();
                within("max_values", menu.max_values.unwrap_or(1).into(), options.len())?;
                all_different("value", &options.iter().map(|option| &option.value).collect::<Vec<_>>())?;
                if let Some(option) =
                    options.iter().find(|option| option.label.is_empty() || option.value.is_empty())
                {
                    return Err(format!("nothing is on {option:?} or sent by it"));
                }
            }
            other => return Err(format!("{other:?} does not belong into a message")),
        }
    }
    Ok(())
}

/// The first response to an interaction.
fn check_response(body: &Value) -> Result<(), String> {
    let response: InteractionResponse = read(body, defaults)?;
    match (response.kind, response.data) {
        (InteractionResponseType::DeferredUpdateMessage, None) => Ok(()),
        (InteractionResponseType::ChannelMessageWithSource, Some(_)) => check_message(&body["data"]),
        (InteractionResponseType::Modal, Some(modal)) => check_modal(&modal),
        (kind, _) => Err(format!("a response of the kind {kind:?} with this data")),
    }
}

/// A modal. twilight-validate knows what is in it, but not the limits of the modal itself: its title and its id.
fn check_modal(modal: &InteractionResponseData) -> Result<(), String> {
    within("title", modal.title.as_deref().map_or(0, utf16), 45)?;
    within("custom_id", modal.custom_id.as_deref().map_or(0, str::len), 100)?;
    let components = modal.components.as_deref().unwrap_or_default();
    within("components", components.len(), 5)?;
    if modal.content.is_some() || modal.allowed_mentions.is_some() || modal.flags.is_some() {
        return Err("a modal with members of a message".to_owned());
    }
    for component in components {
        let Component::Label(label) = component else { return Err(format!("{component:?} is no label")) };
        component::label(label).map_err(|error| error.to_string())?;
        if label.label.is_empty() {
            return Err("a label without text".to_owned());
        }
    }
    Ok(())
}

/// Takes away what twilight writes beside every select menu and every option: that they are not disabled, not chosen.
fn defaults(written: &mut Value) {
    match written {
        Value::Object(members) => {
            members.retain(|name, value| {
                !matches!(name.as_str(), "disabled" | "default") || *value != json!(false)
            });
            members.values_mut().for_each(defaults);
        }
        Value::Array(items) => items.iter_mut().for_each(defaults),
        _ => {}
    }
}

/// All ids of controls in a body.
fn custom_ids(body: &Value) -> Vec<&str> {
    let rows = items(body, "/components").iter();
    rows.flat_map(|row| items(row, "/components")).filter_map(|control| text(control, "/custom_id")).collect()
}

proptest! {
    #[test]
    fn discord_takes_every_call(prompt in of_any_length(), target in target(&descriptor(CHANNEL))) {
        assert_taken(CHANNEL, &prompt, &target, check)?;
    }

    #[test]
    fn a_tap_on_every_control_is_understood_as_twilight_writes_it(prompt in prompt(), target in target(&descriptor(CHANNEL))) {
        let rendering = render(&prompt, CHANNEL, &target).expect("every prompt can be shown");
        let sent = rendering.calls.last().map(body).unwrap_or_default();
        for row in items(&sent, "/components") {
            for control in items(row, "/components") {
                let values: Vec<&Value> = items(control, "/options").iter().map(|option| &option["value"]).collect();
                let mut data = json!({ "component_type": control["type"], "custom_id": control["custom_id"] });
                let mut chosen = vec![&control["custom_id"]];
                if !values.is_empty() {
                    data["values"] = json!(values);
                    chosen = values;
                }
                let chosen = chosen.iter().map(|token| token.as_str().unwrap_or_default().to_owned());
                let action = Action::Choose(chosen.collect());
                for place in [in_a_guild(), in_a_private_channel()] {
                    let payload = interaction(3, &data, &place);
                    let twilight = received(&payload).map_err(TestCaseError::fail)?;
                    for payload in [payload.to_string(), twilight] {
                        let ours = interpret_interaction(CHANNEL, &payload);
                        prop_assert_eq!(ours, Ok(understood(action.clone())), "{}", payload);
                    }
                }
            }
        }
    }
}

/// What is made of the interactions below.
fn understood(action: Action) -> Interaction {
    Interaction {
        action,
        sender: "53908232506183680".to_owned(),
        conversation: Some("645027906669510667".to_owned()),
        message: Some("1104812029304705054".to_owned()),
        handle: "290926444748734465/846462639134605312/aW50ZXJhY3Rpb24_dG9rZW4.=".to_owned(),
    }
}

fn user() -> Value {
    json!({
        "id": "53908232506183680", "username": "ada", "discriminator": "0", "global_name": "Ada", "avatar": null,
        "public_flags": 64,
    })
}

fn in_a_guild() -> Value {
    json!({
        "guild_id": "290926798626357999", "guild_locale": "en-GB",
        "member": {
            "user": user(), "roles": ["539082325061836999"], "permissions": "2147483647", "nick": null, "mute": false,
            "deaf": false, "joined_at": "2017-03-13T19:19:14.040000+00:00", "flags": 0,
            "communication_disabled_until": null,
        },
        "context": 0, "authorizing_integration_owners": { "0": "290926798626357999" },
    })
}

fn in_a_private_channel() -> Value {
    json!({ "user": user(), "context": 1, "authorizing_integration_owners": { "1": "53908232506183680" } })
}

/// An interaction with all that Discord sends.
fn interaction(kind: u64, data: &Value, place: &Value) -> Value {
    let bot = json!({
        "id": "290926444748734465", "username": "agent", "discriminator": "0001", "avatar": null, "bot": true,
    });
    let message = json!({
        "id": "1104812029304705054", "type": 0, "channel_id": "645027906669510667", "content": "Where?", "author": bot,
        "attachments": [], "embeds": [], "mentions": [], "mention_roles": [], "mention_everyone": false,
        "pinned": false, "tts": false, "timestamp": "2026-05-07T20:28:35.134000+00:00", "edited_timestamp": null,
        "flags": 4, "components": [],
    });
    let interaction = json!({
        "version": 1, "type": kind, "id": "846462639134605312", "application_id": "290926444748734465",
        "token": "aW50ZXJhY3Rpb24_dG9rZW4.=", "channel_id": "645027906669510667",
        "channel": { "id": "645027906669510667", "type": 0 }, "message": message, "data": data, "locale": "nl",
        "app_permissions": "442368", "entitlements": [], "attachment_size_limit": 10_485_760,
    });
    merged(interaction, place)
}

/// The members of both; those of `over` count.
fn merged(under: Value, over: &Value) -> Value {
    match (under, over) {
        (Value::Object(mut under), Value::Object(over)) => {
            for (name, value) in over {
                let below = under.remove(name).unwrap_or_default();
                under.insert(name.clone(), merged(below, value));
            }
            Value::Object(under)
        }
        (_, over) => over.clone(),
    }
}

/// An interaction as twilight writes it once it has read it.
fn received(payload: &Value) -> Result<String, String> {
    let read = serde_json::from_value::<received::Interaction>(payload.clone());
    let read = read.map_err(|error| format!("{error} in {payload}"))?;
    serde_json::to_string(&read).map_err(|error| format!("{error} in {payload}"))
}

#[test]
fn what_the_example_tap_has_discord_sends() {
    let tap = example_tap(CHANNEL, "au1:ask_1:0:0");
    let example: Value = serde_json::from_str(&tap).expect("the example is JSON");
    let whole = merged(interaction(3, &json!({}), &in_a_guild()), &example);
    let twilight = received(&whole).unwrap_or_else(|fault| panic!("{fault}"));
    let kept: Value = serde_json::from_str(&twilight).expect("twilight writes JSON");
    assert_eq!(merged(kept.clone(), &example), kept, "twilight does not know all of {tap}");
    assert_eq!(interpret_interaction(CHANNEL, &twilight), interpret_interaction(CHANNEL, &tap));
}

#[test]
fn own_text_is_understood_as_twilight_writes_it() {
    let input = json!({ "type": 4, "id": 2, "custom_id": "answer", "value": "Neither\nof them" });
    for components in [
        json!([{ "type": 18, "id": 1, "component": input }]),
        json!([{ "type": 1, "id": 1, "components": [input] }]),
    ] {
        let data = json!({ "custom_id": "au1:ask_1:0:o", "components": components });
        let payload = interaction(5, &data, &in_a_guild());
        let twilight = received(&payload).unwrap_or_else(|fault| panic!("{fault}"));
        let typed = OwnText { token: "au1:ask_1:0:o".to_owned(), text: "Neither\nof them".to_owned() };
        for payload in [payload.to_string(), twilight] {
            let ours = interpret_interaction(CHANNEL, &payload);
            assert_eq!(ours, Ok(understood(Action::OwnText(typed.clone()))), "{payload}");
        }
    }
}

/// twilight says that `channel_id` goes away, in favour of `channel`.
#[test]
fn the_conversation_is_known_by_either_member() {
    let data = json!({ "component_type": 2, "custom_id": "au1:ask_1:0:0" });
    for member in ["channel", "channel_id"] {
        let mut payload = interaction(3, &data, &in_a_guild());
        payload.as_object_mut().and_then(|payload| payload.remove(member));
        let twilight = received(&payload).unwrap_or_else(|fault| panic!("{fault}"));
        let action = Action::Choose(vec!["au1:ask_1:0:0".to_owned()]);
        assert_eq!(
            interpret_interaction(CHANNEL, &twilight),
            Ok(understood(action)),
            "without {member}: {twilight}"
        );
    }
}

#[test]
fn the_check_notices_what_is_wrong() {
    let unknown = |body: &mut Value| body["colour"] = json!("red");
    let buttons = asked(CHANNEL, &one_of(&["Staging", "Production"]));
    let button = "/components/0/components/0";
    assert_notices(
        only(&buttons),
        check,
        &[
            ("an unknown member", "", &unknown),
            ("an unknown member of a button", button, &unknown),
            ("a button without an id", button, &|button| {
                drop(button.as_object_mut().and_then(|button| button.remove("custom_id")));
            }),
            ("a button outside of a row", "/components/0", &|row| *row = row["components"][0].clone()),
            ("an empty row", "/components/0/components", &|row| *row = json!([])),
            ("an id that is there twice", "/components/1/components/0/custom_id", &|id| {
                *id = json!("au1:ask_1:0:0")
            }),
            ("a message that mentions everyone", "/allowed_mentions/parse", &|parse| {
                *parse = json!(["everyone"])
            }),
            ("an empty message", "/content", &|content| *content = json!("")),
        ],
    );
    let list = asked(CHANNEL, &some_of("ask_1", &["Unit tests", "Load test"]));
    assert_notices(
        only(&list),
        check,
        &[
            ("more to choose than there is", &format!("{button}/max_values"), &|most| *most = json!(3)),
            ("a list without options", &format!("{button}/options"), &|options| *options = json!([])),
            ("an unknown member of an option", &format!("{button}/options/0"), &unknown),
            ("a placeholder that is too long", &format!("{button}/placeholder"), &|text| {
                *text = json!("x".repeat(151))
            }),
            ("an id of an option that is there twice", &format!("{button}/options/1/value"), &|value| {
                *value = json!("au1:ask_1:0:0");
            }),
        ],
    );
    let modal = composer(CHANNEL, &one_of(&["Staging", "Production"]));
    assert_notices(
        only(&modal),
        check,
        &[
            ("an unknown member of a modal", "/data", &unknown),
            ("an unknown member of an input", "/data/components/0/component", &unknown),
            ("an input without a label", "/data/components/0", &|label| *label = label["component"].clone()),
            ("own text that is too long", "/data/components/0/component/max_length", &|most| {
                *most = json!(4001)
            }),
            ("another kind of response", "/type", &|kind| *kind = json!(6)),
        ],
    );
}

#[test]
fn content_has_2000_units() {
    let calls = |size: usize| asked(CHANNEL, &ask("ask_1", question(&"x".repeat(size), &[])));
    Edge { pointer: "/content", most: 2000, calls: &calls, check }.hold();
}

/// What is escaped counts as it is written.
#[test]
fn content_has_2000_units_with_its_backslashes() {
    let calls = |size: usize| asked(CHANNEL, &ask("ask_1", question(&format!("x{}", "*".repeat(size)), &[])));
    let size = (1..).find(|size| calls(size + 1).len() > 1).expect("a message ends");
    let length = text(&body(only(&calls(size))), "/content").map(utf16);
    assert!(length.is_some_and(|length| (1999..=2000).contains(&length)), "{length:?}");
    for call in calls(size).iter().chain(&calls(size + 1)) {
        assert_eq!(check(call), Ok(()), "{call:#?}");
    }
}

#[test]
fn a_button_has_80_units() {
    let calls = |size: usize| asked(CHANNEL, &one_of(&[&"x".repeat(size), "Production"]));
    Edge { pointer: "/components/0/components/0/label", most: 80, calls: &calls, check }.hold();
}

#[test]
fn an_id_has_100_bytes() {
    let buttons =
        |size: usize| asked(CHANNEL, &ask(&"i".repeat(size), question("Where?", &["Staging", "Production"])));
    Edge { pointer: "/components/0/components/0/custom_id", most: 100, calls: &buttons, check }.hold();
    let list = |size: usize| asked(CHANNEL, &some_of(&"i".repeat(size), &["Unit tests", "Load test"]));
    Edge { pointer: "/components/0/components/0/custom_id", most: 100, calls: &list, check }.hold();
    Edge { pointer: "/components/0/components/0/options/0/value", most: 100, calls: &list, check }.hold();
    let modal = |size: usize| {
        composer(CHANNEL, &ask(&"i".repeat(size), question("Where?", &["Staging", "Production"])))
    };
    Edge { pointer: "/data/custom_id", most: 100, calls: &modal, check }.hold();
}

#[test]
fn an_option_has_100_units_and_its_description_too() {
    let labels = |size: usize| asked(CHANNEL, &some_of("ask_1", &[&"x".repeat(size), "Load test"]));
    Edge { pointer: "/components/0/components/0/options/0/label", most: 100, calls: &labels, check }.hold();
    let descriptions = |size: usize| {
        let mut prompt = some_of("ask_1", &["Unit tests", "Load test"]);
        prompt.questions[0].choices[0].description = Some("x".repeat(size));
        asked(CHANNEL, &prompt)
    };
    Edge {
        pointer: "/components/0/components/0/options/0/description",
        most: 100,
        calls: &descriptions,
        check,
    }
    .hold();
}

#[test]
fn a_modal_has_a_title_of_45_units() {
    let calls = |size: usize| {
        let mut prompt = one_of(&["Staging", "Production"]);
        prompt.questions[0].header = "x".repeat(size);
        composer(CHANNEL, &prompt)
    };
    Edge { pointer: "/data/title", most: 45, calls: &calls, check }.hold();
}

/// A prompt of four choices is as many rows as a message has.
#[test]
fn a_message_has_5_rows() {
    let calls = asked(CHANNEL, &one_of(&["a", "b", "c", "d"]));
    let call = only(&calls);
    assert_eq!(items(&body(call), "/components").len(), 5, "{call:#?}");
    assert_eq!(check(call), Ok(()), "{call:#?}");
    let row = |id: &str| json!({ "type": 1, "components": [{ "type": 2, "style": 2, "label": "e", "custom_id": id }] });
    let six = edited(call, "/components", |rows| rows.as_array_mut().expect("rows").push(row("e")));
    assert!(check(&six).is_err(), "{six:#?}");
}

/// Of these we never come near the limit: two buttons stand in a row at most, four options in a list, and our own words
/// are short. What is longer is refused here.
#[test]
fn what_we_never_reach_is_known_too() {
    let grown = |call: &Call, pointer: &str, count: usize| {
        edited(call, pointer, |list| {
            let list = list.as_array_mut().expect("a list");
            while list.len() < count {
                let mut next = list[0].clone();
                let name = if next.get("value").is_some() { "value" } else { "custom_id" };
                next[name] = json!(format!("au1:ask_1:0:{}", 10 + list.len()));
                list.push(next);
            }
        })
    };
    let buttons = asked(CHANNEL, &one_of(&["Staging", "Production"]));
    let list = asked(CHANNEL, &some_of("ask_1", &["Unit tests", "Load test"]));
    for (calls, pointer, most) in
        [(&buttons, "/components/0/components", 5), (&list, "/components/0/components/0/options", 25)]
    {
        let call = only(calls);
        assert_eq!(check(&grown(call, pointer, most)), Ok(()), "{pointer} of {most} in {call:#?}");
        assert!(check(&grown(call, pointer, most + 1)).is_err(), "{pointer} of {} in {call:#?}", most + 1);
    }
    let modal = composer(CHANNEL, &one_of(&["Staging", "Production"]));
    for (calls, pointer, most) in
        [(&list, "/components/0/components/0/placeholder", 150), (&modal, "/data/components/0/label", 45)]
    {
        let call = only(calls);
        let of = |length: usize| edited(call, pointer, |text| *text = json!("x".repeat(length)));
        assert_eq!(check(&of(most)), Ok(()), "{pointer} of {most} in {call:#?}");
        assert!(check(&of(most + 1)).is_err(), "{pointer} of {} in {call:#?}", most + 1);
    }
}
