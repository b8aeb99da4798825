//! Prompts as a model or a gateway client could make them, with everything in their texts that could do harm.

use ask_user_plugin::model::{Choice, Origin, Prompt, Question};
use proptest::collection::vec;
use proptest::prelude::*;

/// Text made of ordinary words, pieces of attacks and any characters at all.
pub(crate) fn text() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        4 => "[a-zA-Z ]{1,12}",
        3 => proptest::sample::select(vec![
            "\n", "\r\n", "\r", "\u{85}", "\u{2028}", "\t", "\0", "\u{1b}[2K", "\u{202e}", "\u{2066}", "\u{2069}", "\u{200b}",
            "\u{200f}", "\n1. ", "\n2) ", "1.", "2. ", "a) ", "(b) ", "3\u{fe0f}\u{20e3} ", "2", "#1", "１．", "3000", "1,3",
            "Link: ", "> ", " - ", ": ", "Question 1 of 2 · ", "Choose one:", "{example}", "{total}", "שלום", "خادم", "部署",
            "🚀", "👩‍👩‍👧", "e\u{301}", "@everyone", "<b>", "```", "(Recommended)", "Other",
        ])
        .prop_map(str::to_owned),
        2 => any::<char>().prop_map(String::from),
    ];
    vec(piece, 1..6).prop_map(|pieces| pieces.concat())
}

fn choice() -> impl Strategy<Value = Choice> {
    (text(), proptest::option::of(text())).prop_map(|(label, description)| Choice { label, description })
}

fn question(index: usize) -> impl Strategy<Value = Question> {
    let choices = prop_oneof![1 => Just(Vec::new()), 4 => vec(choice(), 2..5)];
    let header = prop_oneof![1 => Just(String::new()), 4 => text()];
    let flag = || proptest::option::of(any::<bool>());
    let url = proptest::option::of(Just("https://example.com/a?b=c".to_owned()));
    ("[a-z][a-z0-9_]{0,8}", header, text(), choices, flag(), flag(), url).prop_map(
        move |(id, header, text, choices, multi_select, is_other, url)| Question {
            id: format!("{id}_{index}"),
            header,
            text,
            choices,
            multi_select,
            is_other,
            is_secret: None,
            url,
        },
    )
}

/// A pending prompt of one to three questions.
pub(crate) fn prompt() -> impl Strategy<Value = Prompt> {
    prop_oneof![
        question(0).prop_map(|first| vec![first]),
        (question(0), question(1)).prop_map(|(first, second)| vec![first, second]),
        (question(0), question(1), question(2)).prop_map(|(first, second, third)| vec![first, second, third]),
    ]
    .prop_map(|questions| Prompt {
        id: "ask_1".into(),
        questions,
        origin: Origin::default(),
        created_at: 0,
        expires_at: 900_000,
        settlement: None,
    })
}
