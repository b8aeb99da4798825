//! What the laws are tried on: prompts as a model or a gateway client could make them, targets, and payloads.

use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;
use proptest::sample::select;
use serde_json::Value;

use crate::contract::{Choice, Descriptor, Origin, Person, Prompt, Question, Target};

/// What kind of inputs a law is tried on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// Prompts with anything in their texts, of any length.
    AnyPrompt,
    /// Prompts with short texts that no channel has a reason to change.
    PlainPrompt,
    /// What may come in where taps come in.
    Payload,
}

/// One input. A law looks at what it needs of it.
#[derive(Clone, Debug)]
pub(super) struct Input {
    pub(super) prompt: Prompt,
    pub(super) target: Target,
    /// What somebody sent as a tap, with `{token}` where a control's token may stand.
    pub(super) payload: String,
}

/// Text that no channel may let through as it came wherever the service reads markup: it holds every character that some
/// service's markup is made of.
pub(super) const MARKUP: &str = "<b>*_~`|[x](https://evil.example)</b> @everyone <@1> &amp;";
/// Text that would add a member to a body that is put together by hand.
pub(super) const INJECTION: &str = r#"","injected":"\"#;
/// The member that it would add.
pub(super) const INJECTED: &str = "injected";

/// The inputs of a kind for a channel.
pub(super) fn of(kind: Kind, channel: &Descriptor) -> BoxedStrategy<Input> {
    let target = target(channel.example_address.clone());
    match kind {
        Kind::AnyPrompt => (any_prompt(), target)
            .prop_map(|(prompt, target)| Input { prompt, target, payload: String::new() })
            .boxed(),
        Kind::PlainPrompt => (prompt(plain_question), target)
            .prop_map(|(prompt, target)| Input { prompt, target, payload: String::new() })
            .boxed(),
        Kind::Payload => (target, payload(channel.example_tap.as_deref()))
            .prop_map(|(target, payload)| Input { prompt: yes_or_no(), target, payload })
            .boxed(),
    }
}

fn target(address: String) -> impl Strategy<Value = Target> {
    let locale = option::of(select(vec!["en", "nl", "id", "fr-CA", "?"]));
    let requester = option::of((select(vec!["7", "U7"]), option::of(text())));
    (locale, any::<bool>(), any::<bool>(), requester, any::<bool>()).prop_map(
        move |(locale, shared, extras, requester, taps)| Target {
            address: address.clone(),
            thread: None,
            locale: locale.map(str::to_owned),
            shared,
            extras,
            requester: requester.map(|(id, name)| Person { id: id.to_owned(), name }),
            callback_url: taps.then(|| "https://host.example/taps".to_owned()),
            words: None,
        },
    )
}

/// Prompts from a few words to more than any message holds.
fn any_prompt() -> impl Strategy<Value = Prompt> {
    (prompt(any_question), select(vec![1, 1, 1, 12, 200])).prop_map(|(mut prompt, times)| {
        for question in &mut prompt.questions {
            question.text = question.text.repeat(times);
            for choice in &mut question.choices {
                choice.label = choice.label.repeat(times.div_ceil(4));
            }
        }
        prompt
    })
}

fn prompt<S>(question: fn(usize) -> S) -> impl Strategy<Value = Prompt>
where
    S: Strategy<Value = Question> + 'static,
{
    prop_oneof![
        3 => question(0).prop_map(|first| vec![first]),
        1 => (question(0), question(1)).prop_map(|(first, second)| vec![first, second]),
        1 => (question(0), question(1), question(2)).prop_map(|(first, second, third)| vec![first, second, third]),
    ]
    .prop_map(prompt_of)
}

fn prompt_of(questions: Vec<Question>) -> Prompt {
    Prompt {
        id: "ask_0123456789abcdef0123456789abcdef".into(),
        questions,
        origin: Origin::default(),
        created_at: 0,
        expires_at: 900_000,
        settlement: None,
    }
}

/// A prompt that every channel with controls has controls for.
fn yes_or_no() -> Prompt {
    let choice = |label: &str| Choice { label: label.to_owned(), description: None };
    let choices = vec![choice("Yes"), choice("No")];
    prompt_of(vec![Question { choices, ..question_of("go_on".into(), "Go on?".into()) }])
}

fn question_of(id: String, text: String) -> Question {
    Question {
        id,
        header: String::new(),
        text,
        choices: Vec::new(),
        multi_select: None,
        is_other: Some(true),
        is_secret: None,
        url: None,
    }
}

fn flag() -> impl Strategy<Value = Option<bool>> {
    option::of(any::<bool>())
}

fn any_question(index: usize) -> impl Strategy<Value = Question> {
    let choice = (text(), option::of(text())).prop_map(|(label, description)| Choice { label, description });
    let choices = prop_oneof![1 => Just(Vec::new()), 4 => vec(choice, 2..5)];
    let header = prop_oneof![1 => Just(String::new()), 4 => text()];
    let url = option::of(Just("https://example.com/a?b=c".to_owned()));
    ("[a-z][a-z0-9_]{0,8}", header, text(), choices, flag(), flag(), url).prop_map(
        move |(id, header, text, choices, multi_select, is_other, url)| Question {
            header,
            choices,
            multi_select,
            is_other,
            url,
            ..question_of(format!("{id}_{index}"), text)
        },
    )
}

/// Text made of ordinary words, pieces of attacks and any characters at all. Never empty.
fn text() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        4 => "[a-zA-Z ]{1,12}",
        3 => select(vec![
            "\n", "\r\n", "\r", "\u{85}", "\u{2028}", "\t", "\0", "\u{1b}[2K", "\u{202e}", "\u{2066}", "\u{2069}",
            "\u{200b}", "\n1. ", "\n2) ", "a) ", "3\u{fe0f}\u{20e3} ", "3000", "1,3", "> ", "# ", "- ", "```", "שלום",
            "خادم", "部署", "🚀", "👩‍👩‍👧", "e\u{301}", "@everyone", "/start", "{token}", "{0}", "%s", "${x}",
            "(Recommended)", "Other", "null", MARKUP, INJECTION,
        ])
        .prop_map(str::to_owned),
        2 => any::<char>().prop_map(String::from),
    ];
    vec(piece, 1..6).prop_map(|pieces| pieces.concat())
}

fn plain_question(index: usize) -> impl Strategy<Value = Question> {
    let labels = proptest::sample::subsequence(
        vec![
            "Alpha",
            "Bravo two",
            "Charlie, Delta",
            "1",
            "3000",
            "2",
            "b",
            "a",
            "12 golf",
            "Unit tests",
            "生产环境",
            "Göteborg",
            "3",
            "Staging (Recommended)",
        ],
        2..5,
    );
    let choices = labels.prop_shuffle().prop_map(|labels| {
        let choice = |label: &str| Choice { label: label.to_owned(), description: None };
        labels.into_iter().map(choice).collect()
    });
    let header = select(vec!["", "Target", "Port"]);
    (header, choices, flag(), flag()).prop_map(move |(header, choices, multi_select, is_other)| Question {
        header: header.to_owned(),
        choices,
        multi_select,
        is_other,
        ..question_of(format!("q{index}"), format!("Which one is number {index}?"))
    })
}

/// Anything at all, JSON of all kinds with the members that a tap has, and taps that are almost right.
fn payload(example: Option<&str>) -> impl Strategy<Value = String> + use<> {
    let tap: Value = example.and_then(|tap| serde_json::from_str(tap).ok()).unwrap_or_default();
    let mut members = vec!["a".to_owned()];
    collect_members(&tap, &mut members);
    let places = paths(&tap);
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        text().prop_map(Value::from),
        Just(Value::from("")),
        Just(Value::from(Vec::<Value>::new())),
    ];
    let member = select(members);
    let tree = leaf.prop_recursive(4, 48, 8, move |inner| {
        prop_oneof![
            1 => vec(inner.clone(), 0..3).prop_map(Value::from),
            4 => vec((member.clone(), inner), 0..8).prop_map(|members| members.into_iter().collect()),
        ]
    });
    let almost = (select(places), tree.clone()).prop_map(move |(place, value)| {
        let mut tap = tap.clone();
        if let Some(there) = tap.pointer_mut(&place) {
            *there = value;
        }
        tap.to_string()
    });
    prop_oneof![
        3 => tree.prop_map(|tree| tree.to_string()),
        3 => almost,
        1 => text(),
        1 => select(vec![1_usize, 127, 5_000])
            .prop_map(|depth| format!("{}{}", "[".repeat(depth), "]".repeat(depth))),
    ]
}

fn collect_members(value: &Value, members: &mut Vec<String>) {
    match value {
        Value::Object(object) => {
            for (name, value) in object {
                members.push(name.clone());
                collect_members(value, members);
            }
        }
        Value::Array(items) => items.iter().for_each(|item| collect_members(item, members)),
        _ => {}
    }
}

/// JSON pointers to everything in a document, itself included.
fn paths(value: &Value) -> Vec<String> {
    let below = |step: String, value: &Value| -> Vec<String> {
        paths(value).into_iter().map(|path| format!("/{step}{path}")).collect()
    };
    let mut found = vec![String::new()];
    match value {
        Value::Object(members) => {
            for (name, value) in members {
                found.extend(below(name.replace('~', "~0").replace('/', "~1"), value));
            }
        }
        Value::Array(items) => {
            for (index, value) in items.iter().enumerate() {
                found.extend(below(index.to_string(), value));
            }
        }
        _ => {}
    }
    found
}
