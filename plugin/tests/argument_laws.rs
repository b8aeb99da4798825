//! Laws of the tool's arguments and of answers, for any input.

use ask_user_plugin::model::{
    Answer, Context, CredentialPolicy, Origin, Outcome, Policy, Prompt, RepeatPolicy,
};
use ask_user_plugin::question::{Resolution, Verdict, resolve};
use ask_user_plugin::tool::{Refusal, ask_user};
use proptest::prelude::*;
use serde_json::{Value, json};
use unicode_segmentation::UnicodeSegmentation;

const NOW: u64 = 1_800_000_000_000;

fn context() -> Context {
    let origin = Origin { session_key: Some("agent:main:main".into()), ..Origin::default() };
    Context { now: NOW, id: "ask_1".into(), origin }
}

fn ask(arguments: &Value) -> Result<Prompt, Refusal> {
    ask_user(&arguments.to_string(), context())
}

/// Text with what tends to go wrong in it.
fn text() -> impl Strategy<Value = String> {
    prop_oneof![
        4 => "[a-zA-Z0-9 ]{0,20}",
        2 => ".{0,20}",
        1 => prop::sample::select(vec![
            "👩‍👩‍👧‍👦 family", "e\u{301}e\u{301}e\u{301}", "\u{202e}gnirts", "\u{200b}", "\u{0}", "a\r\nb", "Other…",
            "A (Recommended)", "שלום v2.0", "部署目标选择错误处理方式确认", "🇳🇱🇳🇱🇳🇱🇳🇱🇳🇱🇳🇱🇳🇱🇳🇱🇳🇱🇳🇱🇳🇱🇳🇱🇳🇱", "1", "2.",
        ]).prop_map(str::to_owned),
    ]
}

/// A JSON value of any shape.
fn any_json() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>()
            .prop_filter_map("JSON has no such number", |n| serde_json::Number::from_f64(n).map(Value::from)),
        text().prop_map(Value::from),
    ];
    leaf.prop_recursive(4, 32, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..5).prop_map(Value::from),
            prop::collection::vec((name(), inner), 0..6)
                .prop_map(|members| Value::Object(members.into_iter().collect())),
        ]
    })
}

/// The name of a member, mostly one that means something.
fn name() -> impl Strategy<Value = String> {
    prop_oneof![
        8 => prop::sample::select(vec![
            "questions", "timeoutSeconds", "id", "header", "question", "options", "multiSelect", "label", "description",
        ]).prop_map(str::to_owned),
        1 => text(),
    ]
}

/// A call that is nearly right.
fn nearly_valid() -> impl Strategy<Value = Value> {
    let option = (text(), prop::option::of(text())).prop_map(|(label, description)| match description {
        Some(description) => json!({ "label": label, "description": description }),
        None => json!({ "label": label }),
    });
    let question = ("[a-z][a-z0-9_]{0,8}", text(), text(), prop::collection::vec(option, 1..6), any::<bool>()).prop_map(
        |(id, header, question, options, multi)| {
            json!({ "id": id, "header": header, "question": question, "options": options, "multiSelect": multi })
        },
    );
    (prop::collection::vec(question, 1..5), prop::option::of(any::<i32>())).prop_map(
        |(questions, timeout)| match timeout {
            Some(timeout) => json!({ "questions": questions, "timeoutSeconds": timeout }),
            None => json!({ "questions": questions }),
        },
    )
}

/// The arguments that would make these questions.
fn arguments_of(prompt: &Prompt) -> Value {
    let questions: Vec<_> = prompt
        .questions
        .iter()
        .map(|question| {
            let options: Vec<_> = question
                .choices
                .iter()
                .map(|choice| match &choice.description {
                    Some(description) => json!({ "label": choice.label, "description": description }),
                    None => json!({ "label": choice.label }),
                })
                .collect();
            json!({
                "id": question.id,
                "header": question.header,
                "question": question.text,
                "options": options,
                "multiSelect": question.multi_select == Some(true),
            })
        })
        .collect();
    json!({ "questions": questions, "timeoutSeconds": (prompt.expires_at - prompt.created_at) / 1000 })
}

fn policy() -> Policy {
    Policy {
        credentials: CredentialPolicy::Refuse,
        own_text_limit: Some(16 << 10),
        repeats: RepeatPolicy::FirstResult,
    }
}

proptest! {

    #[test]
    fn no_text_makes_it_panic(arguments in ".{0,200}") {
        let _ = ask_user(&arguments, context());
    }

    #[test]
    fn no_json_makes_it_panic_and_every_refusal_says_something(arguments in any_json()) {
        if let Err(Refusal::InvalidArguments(violations)) = ask(&arguments) {
            prop_assert!(!violations.is_empty());
            for violation in violations {
                prop_assert!(!violation.path.is_empty() && !violation.allowed.is_empty() && !violation.received.is_empty());
                prop_assert!(violation.received.chars().count() <= 160, "{}", violation.received);
                prop_assert!(!violation.message.chars().any(char::is_control), "{:?}", violation.message);
            }
        }
    }

    #[test]
    fn what_is_accepted_keeps_every_limit(arguments in nearly_valid()) {
        if let Ok(prompt) = ask(&arguments) {
            prop_assert!((1..=3).contains(&prompt.questions.len()));
            let seconds = (prompt.expires_at - prompt.created_at) / 1000;
            prop_assert!((30..=3600).contains(&seconds));
            for question in &prompt.questions {
                let clusters = question.header.graphemes(true).count();
                prop_assert!((1..=12).contains(&clusters), "{:?}", question.header);
                prop_assert!((2..=4).contains(&question.choices.len()));
                prop_assert_eq!(question.is_other, Some(true));
                for choice in &question.choices {
                    prop_assert!(!choice.label.trim().is_empty());
                    prop_assert!(choice.label.encode_utf16().count() <= 256);
                    prop_assert!(!choice.label.chars().any(char::is_control), "{:?}", choice.label);
                }
            }
        }
    }

    #[test]
    fn asking_what_was_accepted_changes_nothing(arguments in nearly_valid()) {
        if let Ok(prompt) = ask(&arguments) {
            let again = ask(&arguments_of(&prompt));
            prop_assert_eq!(again, Ok(prompt));
        }
    }

    #[test]
    fn resolving_with_what_was_resolved_changes_nothing(
        arguments in nearly_valid(),
        own in prop::collection::vec(text(), 1..4),
        picks in prop::collection::vec(0_usize..4, 3),
    ) {
        if let Ok(prompt) = ask(&arguments) {
            let answers = prompt.questions.iter().zip(picks).map(|(question, pick)| {
                let picked = question.choices.get(pick).map(|choice| choice.label.clone());
                let mut values: Vec<_> = picked.into_iter().chain(own.iter().cloned()).collect();
                if question.multi_select != Some(true) {
                    values.truncate(1);
                }
                Answer { question_id: question.id.clone(), values }
            }).collect();
            let resolution = Resolution { answers, resolved_by: None, resolution_id: None };
            if let Ok(Verdict::Settle(first)) = resolve(&prompt, resolution, &policy(), NOW) {
                let Outcome::Answered(answers) = &first.settlement.outcome else { panic!("not answered") };
                let again = Resolution { answers: answers.clone(), resolved_by: None, resolution_id: None };
                prop_assert_eq!(resolve(&prompt, again, &policy(), NOW), Ok(Verdict::Settle(first)));
            }
        }
    }
}
