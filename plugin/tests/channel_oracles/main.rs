//! What the channels send and read, held against packages in which other people wrote down a service's API.
//!
//! Where a package knows the shape of a body, ours has to survive it: what we wrote is read as its types, written again,
//! and is the same JSON, so a member that it does not know is a fault. Where a package knows a limit, it is asked for it.
//! Limits that no package knows are checked here by hand, and the code says so. Every limit is approached from three
//! sides, in [`Edge`].

use std::fmt::Debug;

use ask_user_plugin::channel::{
    BindingTarget, Call, Tap, Target, interpret_interaction, render, render_composer, render_feedback,
    render_settled,
};
use ask_user_plugin::model::{Choice, Origin, Prompt, Question};
use proptest::prelude::*;
use proptest::sample::select;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

mod discord;
#[path = "../known/mod.rs"]
mod known;
#[path = "../occasions/mod.rs"]
mod occasions;
#[path = "../prompts/mod.rs"]
mod prompts;
mod slack;
mod telegram;

/// Whether a service takes a call, else why not.
type Check = fn(&Call) -> Result<(), String>;

/// The example tap of a channel on the control with this token, by the person 42.
fn example_tap(channel: &str, token: &str) -> String {
    let tap = known::descriptor(channel).example_tap.expect("a channel with controls");
    tap.replace("{token}", token).replace("{sender}", "42")
}

/// A pending prompt, mostly of an ordinary length.
fn of_any_length() -> impl Strategy<Value = Prompt> {
    let times = select(vec![1, 1, 1, 12, 12, 200]);
    (prompts::prompt(), times).prop_map(|(prompt, times)| occasions::long(prompt, times))
}

/// Every call that a channel makes for a prompt: to ask, to take own text, to show how it ended, to say something.
fn calls(channel: &str, prompt: &Prompt, target: &Target) -> Vec<Call> {
    let rendering = render(prompt, channel, target).expect("every prompt can be shown");
    let handle = interpret_interaction(channel, &example_tap(channel, "au1:ask_1:x")).expect("a tap").handle;
    let taps = [false, true].map(|acknowledged| Tap {
        sender: "42".to_owned(),
        handle: handle.clone(),
        acknowledged,
    });
    let mut calls = Vec::new();
    for binding in &rendering.bindings {
        if matches!(binding.target, BindingTarget::Other(_)) {
            for (tap, message) in taps.iter().zip([Some("1"), None]) {
                calls.extend(
                    render_composer(prompt, channel, target, binding, message, tap)
                        .expect("that control asks for own text"),
                );
            }
        }
    }
    let messages: Vec<String> = (1..=rendering.calls.len()).map(|number| number.to_string()).collect();
    for ended in occasions::ended(prompt) {
        for messages in [messages.as_slice(), &[]] {
            calls.extend(render_settled(&ended, channel, target, messages).expect("it has ended"));
        }
    }
    for feedback in occasions::FEEDBACK {
        for tap in [None, Some(&taps[0]), Some(&taps[1])] {
            calls.extend(render_feedback(channel, target, feedback, tap).expect("it can be said"));
        }
    }
    calls.extend(rendering.calls);
    calls
}

/// That the service takes every call that its channel makes for a prompt.
fn assert_taken(channel: &str, prompt: &Prompt, target: &Target, check: Check) -> Result<(), TestCaseError> {
    for call in calls(channel, prompt, target) {
        // The prompt and the target are in what the property says.
        check(&call).map_err(|fault| TestCaseError::fail(format!("{fault}\n{call:#?}")))?;
    }
    Ok(())
}

/// The body of a call.
fn body(call: &Call) -> Value {
    serde_json::from_str(&call.body).expect("a body is JSON")
}

/// `value` as a type of a package, if that type knows all of it. `defaults` takes away what the package writes and nobody
/// has to.
fn read<T: DeserializeOwned + Serialize>(value: &Value, defaults: fn(&mut Value)) -> Result<T, String> {
    let read: T = serde_json::from_value(value.clone()).map_err(|error| format!("refused: {error}"))?;
    let mut written = serde_json::to_value(&read).map_err(|error| format!("cannot be written: {error}"))?;
    defaults(&mut written);
    same(value, &written)?;
    Ok(read)
}

fn nothing(_: &mut Value) {}

/// That two documents are the same.
fn same(ours: &Value, theirs: &Value) -> Result<(), String> {
    if ours == theirs { Ok(()) } else { Err(format!("ours   {ours}\ntheirs {theirs}")) }
}

/// The text at a JSON pointer.
fn text<'v>(value: &'v Value, pointer: &str) -> Option<&'v str> {
    value.pointer(pointer).and_then(Value::as_str)
}

/// The items at a JSON pointer; none where there is no array.
fn items<'v>(value: &'v Value, pointer: &str) -> &'v [Value] {
    value.pointer(pointer).and_then(Value::as_array).map_or(&[], Vec::as_slice)
}

/// How long a text is in UTF-16 units.
fn utf16(text: &str) -> usize {
    text.encode_utf16().count()
}

/// A limit that no package knows: there is something, and at most so much.
fn within(what: &str, length: usize, most: usize) -> Result<(), String> {
    if (1..=most).contains(&length) {
        Ok(())
    } else {
        Err(format!("{what} has a length of {length}, not 1 to {most}"))
    }
}

/// That no two of these are the same.
fn all_different<T: PartialEq + Debug>(what: &str, values: &[T]) -> Result<(), String> {
    match values.iter().enumerate().find(|(index, value)| values[..*index].contains(value)) {
        Some((_, value)) => Err(format!("{what} {value:?} is there twice")),
        None => Ok(()),
    }
}

/// A limit of a service, approached by calls that grow with a number.
struct Edge<'e> {
    /// Where the text or the list stands in the body.
    pointer: &'e str,
    /// How long it may be, in UTF-16 units or items. Everything that grows here is ASCII, so services agree.
    most: usize,
    /// The calls of a prompt of this size.
    calls: &'e dyn Fn(usize) -> Vec<Call>,
    /// What the service says.
    check: Check,
}

impl Edge<'_> {
    /// That we go up to the limit and no further, and that the check would notice.
    fn hold(&self) {
        // Beyond the limit there are further messages, or no controls.
        let reaches = |size: &usize| match (self.calls)(*size).as_slice() {
            [call] => self.length(&body(call)).is_none_or(|length| length >= self.most),
            _ => true,
        };
        let sizes: Vec<usize> = (1..=self.most).collect();
        let size = sizes.partition_point(|size| !reaches(size)) + 1;

        let calls = (self.calls)(size);
        let [call] = calls.as_slice() else { panic!("{}: {size} is beyond {calls:#?}", self.pointer) };
        assert_eq!(self.length(&body(call)), Some(self.most), "{}: {call:#?}", self.pointer);
        assert_eq!((self.check)(call), Ok(()), "at the limit of {}: {call:#?}", self.pointer);

        let longer = self.longer(call);
        let refused = (self.check)(&longer);
        assert!(refused.is_err(), "one more than the limit of {} is taken: {longer:#?}", self.pointer);

        for call in (self.calls)(size + 1) {
            assert_eq!((self.check)(&call), Ok(()), "from beyond the limit of {}: {call:#?}", self.pointer);
        }
    }

    fn length(&self, body: &Value) -> Option<usize> {
        match body.pointer(self.pointer)? {
            Value::String(text) => Some(utf16(text)),
            Value::Array(items) => Some(items.len()),
            other => panic!("{} has no length: {other}", self.pointer),
        }
    }

    fn longer(&self, call: &Call) -> Call {
        let more = |value: &mut Value| match value {
            Value::String(text) => text.push('x'),
            Value::Array(items) => items.extend(items.last().cloned()),
            other => panic!("{} has no length: {other}", self.pointer),
        };
        edited(call, self.pointer, more)
    }
}

/// The same call with another value at a JSON pointer.
fn edited(call: &Call, pointer: &str, edit: impl FnOnce(&mut Value)) -> Call {
    let mut body = body(call);
    let value = body.pointer_mut(pointer);
    edit(value.unwrap_or_else(|| panic!("nothing is at {pointer} of {call:#?}")));
    Call { body: body.to_string(), ..call.clone() }
}

/// One edit of a call and what it spoils.
type Spoiler<'s> = (&'s str, &'s str, &'s dyn Fn(&mut Value));

/// That a check notices what is wrong: each is what is wrong, where, and how it is made.
fn assert_notices(call: &Call, check: Check, spoilers: &[Spoiler<'_>]) {
    assert_eq!(check(call), Ok(()), "{call:#?}");
    for (wrong, pointer, spoil) in spoilers {
        let spoiled = edited(call, pointer, spoil);
        assert!(check(&spoiled).is_err(), "{wrong} is taken: {spoiled:#?}");
    }
}

/// One question that can be answered in own words too.
fn question(text: &str, labels: &[&str]) -> Question {
    let choices = labels.iter().map(|label| Choice { label: (*label).to_owned(), description: None });
    Question {
        id: "q".to_owned(),
        header: "Header".to_owned(),
        text: text.to_owned(),
        choices: choices.collect(),
        multi_select: None,
        is_other: Some(true),
        is_secret: None,
        url: None,
    }
}

/// A pending prompt of one question.
fn ask(id: &str, question: Question) -> Prompt {
    Prompt {
        id: id.to_owned(),
        questions: vec![question],
        origin: Origin::default(),
        created_at: 0,
        expires_at: 900_000,
        settlement: None,
    }
}

/// A prompt of which one choice is taken.
fn one_of(labels: &[&str]) -> Prompt {
    ask("ask_1", question("Where?", labels))
}

/// A prompt of which several choices are taken.
fn some_of(id: &str, labels: &[&str]) -> Prompt {
    ask(id, Question { multi_select: Some(true), ..question("Which?", labels) })
}

/// The only one of these calls.
fn only(calls: &[Call]) -> &Call {
    let [call] = calls else { panic!("one call, not {calls:#?}") };
    call
}

/// A target with all that a channel can do.
fn everything(channel: &str) -> Target {
    Target { address: known::descriptor(channel).example_address, extras: true, ..Target::default() }
}

/// What a channel sends to ask.
fn asked(channel: &str, prompt: &Prompt) -> Vec<Call> {
    render(prompt, channel, &everything(channel)).expect("every prompt can be shown").calls
}

/// What a channel sends after a tap on *Other…*.
fn composer(channel: &str, prompt: &Prompt) -> Vec<Call> {
    let target = everything(channel);
    let bindings = render(prompt, channel, &target).expect("every prompt can be shown").bindings;
    let other = bindings.iter().find(|binding| matches!(binding.target, BindingTarget::Other(_)));
    let Some(other) = other else { return Vec::new() };
    let handle = interpret_interaction(channel, &example_tap(channel, &other.token)).expect("a tap").handle;
    let tap = Tap { sender: "42".to_owned(), handle, acknowledged: false };
    render_composer(prompt, channel, &target, other, Some("1"), &tap).expect("that control asks for own text")
}
