//! Typed messages, from the door to the tool result (rulings 13 to 19). The rules themselves are tested beside them in
//! the plugin; here it is shown that they reach the agent.

use ask_user_host::Reply;
use ask_user_host::contract::NotAnAnswerReason;
use ask_user_host::store::Query;
use ask_user_tests::world::*;
use serde_json::{Value, json};

/// What the agent gets when this is typed.
async fn answered(arguments: &Value, text: &str) -> Value {
    let world = World::new();
    let pending = world.ask_json(arguments).await;
    let reply = world.type_in(text).await;
    assert!(matches!(reply, Reply::Answered(_)), "{text:?} gave {reply:?}");
    parse(&pending.outcome().await.unwrap().json)["answers"]["answers"].take()
}

async fn target(labels: &[&str], text: &str) -> String {
    answered(&one_question("target", labels), text).await["target"][0].as_str().unwrap().to_owned()
}

/// B10
#[tokio::test]
async fn text_that_begins_with_a_digit_is_own_text() {
    let ports = ["3000", "8080", "9000"];
    for text in ["5173", "18:30", "4つ", "2 of them, but not on Friday", "1", "2"] {
        assert_eq!(target(&ports, text).await, text);
    }
    assert_eq!(target(&ports, "8080").await, "8080");
    assert_eq!(target(&ports, "b)").await, "8080");
}

/// B11
#[tokio::test]
async fn the_spelling_that_the_prompt_shows_works() {
    let labels = ["Read", "Run", "Skip it"];
    for text in ["1", " 1 ", "1.", "1)", "01"] {
        assert_eq!(target(&labels, text).await, "Read", "{text}");
    }
    for text in ["0", "7", "-1", "1.5"] {
        assert_eq!(target(&labels, text).await, text);
    }
}

/// B12, B13
#[tokio::test]
async fn several_choices_are_separated_and_labels_with_commas_survive() {
    let areas = json!({ "questions": [multi("area", &["Health, sleep and food", "Design", "Money"])] });
    for (text, values) in [
        ("health, sleep and food", json!(["Health, sleep and food"])),
        ("Design, Health, sleep and food", json!(["Design", "Health, sleep and food"])),
        ("1,2", json!(["Health, sleep and food", "Design"])),
    ] {
        assert_eq!(answered(&areas, text).await["area"], values, "{text}");
    }
    let checks = json!({ "questions": [multi("checks", &["Lint", "Test", "Docs"])] });
    for text in ["1, 3", "lint,docs", "1,docs", "1\n3"] {
        assert_eq!(answered(&checks, text).await["checks"], json!(["Lint", "Docs"]), "{text}");
    }
}

/// B14: one correction that names what is missing; the second message completes the first.
#[tokio::test]
async fn half_an_answer_is_kept_and_asked_for_the_rest() {
    let arguments =
        json!({ "questions": [question("city", &["Oslo", "Rome"]), question("budget", &["1000", "2000"])] });
    for rest in ["Oslo\n1500", "1500", "budget: 1500"] {
        let world = World::new();
        let pending = world.ask_json(&arguments).await;
        let Reply::Incomplete { correction, missing } = world.type_in("Oslo").await else {
            panic!("not incomplete")
        };
        assert!(correction.contains("budget"), "{correction}");
        assert_eq!(missing, ["budget"]);
        assert_eq!(world.host.list(&ada(), &Query::default()).await.unwrap().prompts.len(), 1);
        assert!(matches!(world.type_in(rest).await, Reply::Answered(_)));
        assert_eq!(
            pending.outcome().await.unwrap().json,
            r#"{"status":"answered","answers":{"answers":{"city":["Oslo"],"budget":["1500"]}}}"#
        );
    }
}

/// B15
#[tokio::test]
async fn own_words_answer_a_question() {
    assert_eq!(target(&["4", "6", "8"], "about five, keep them short").await, "about five, keep them short");
}

/// B16
#[tokio::test]
async fn the_recommended_suffix_is_optional_to_type_and_kept_in_the_answer() {
    let labels = ["Staging (Recommended)", "Production"];
    for text in ["staging", "Staging (recommended)", "1", "STAGING"] {
        assert_eq!(target(&labels, text).await, "Staging (Recommended)", "{text}");
    }
}

/// B18
#[tokio::test]
async fn questions_with_the_same_wording_keep_their_own_answers() {
    let mut api = question("api_choice", &["REST", "RPC"]);
    let mut ui = question("ui_choice", &["React", "Vue"]);
    for question in [&mut api, &mut ui] {
        question["question"] = json!("Which one?");
        question["header"] = json!("Which");
    }
    let arguments = json!({ "questions": [api, ui] });
    assert_eq!(
        answered(&arguments, "REST\nReact").await,
        json!({ "api_choice": ["REST"], "ui_choice": ["React"] })
    );
}

/// B19: what has no text is no answer; a transcript is text, a file's name is not.
#[tokio::test]
async fn a_message_without_text_is_not_an_answer() {
    let world = World::new();
    let pending = world.ask(&["A", "B"]).await;
    let mut photo = message("");
    photo.has_media = true;
    let reply = world.host.reply(&ada(), SESSION, &photo).await.unwrap();
    assert_eq!(reply, Reply::NotAnAnswer(NotAnAnswerReason::NoText));
    assert_eq!(world.host.get(&ada(), pending.id()).await.unwrap().settlement, None);
    let mut voice = message("");
    voice.has_media = true;
    voice.transcript = Some("the second one please".into());
    assert!(matches!(world.host.reply(&ada(), SESSION, &voice).await.unwrap(), Reply::Answered(_)));
    assert!(pending.outcome().await.unwrap().json.contains("the second one please"));
}

/// B20: with nothing pending every message is ordinary chat.
#[tokio::test]
async fn with_nothing_pending_a_yes_is_just_a_yes() {
    let world = World::new();
    for text in ["yes", "1", "2", "/skip"] {
        assert_eq!(world.type_in(text).await, Reply::NotAnAnswer(NotAnAnswerReason::NotPending));
    }
}

/// B96
#[tokio::test]
async fn a_choice_with_a_remark_survives_as_it_was_typed() {
    assert_eq!(target(&["Pause it", "Go on"], "1, but not on Mondays").await, "1, but not on Mondays");
}

/// Ruling 34.
#[tokio::test]
async fn skip_is_a_command_and_the_bare_word_is_own_text() {
    let world = World::new();
    let pending = world.ask(&["A", "B"]).await;
    assert!(matches!(world.type_in("/skip").await, Reply::Skipped(_)));
    assert_eq!(pending.outcome().await.unwrap().json, r#"{"status":"no_answer","reason":"skipped"}"#);
    assert_eq!(target(&["A", "B"], "skip").await, "skip");
}

/// B30, and ruling 29: what the text form shows can be typed, and it speaks of nothing that is not there.
#[tokio::test]
async fn the_text_form_shows_what_can_be_typed() {
    let world = World::new();
    let pending = world.ask(&["Staging (Recommended)", "Prod"]).await;
    let target = ask_user_host::contract::Target::private(None);
    let rendering = world.host.plugin().channel().render(pending.prompt(), "text", &target).unwrap().unwrap();
    let text = &rendering.calls[0].text;
    assert!(text.contains("1. Staging (Recommended)") && text.contains("2. Prod"), "{text}");
    assert!(text.contains("/skip"));
    assert!(!text.to_lowercase().contains("tap"));
}
