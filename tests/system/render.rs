//! `ask-user render`: what a channel would send.

use std::fs;

use ask_user_host::sandbox::BUNDLED_PLUGIN;
use ask_user_tests::program::{ask_user, root};
use ask_user_tests::world::parse;
use serde_json::json;

const DEPLOY: &str = "examples/deploy-target.json";

#[test]
fn a_telegram_message_is_what_would_be_sent() {
    let ran = ask_user(&["render", "--channel", "telegram", "--json", DEPLOY], "");
    assert_eq!((ran.code, ran.stderr.as_str()), (0, ""));
    let told = parse(&ran.stdout);
    assert_eq!(told["channel"], "telegram");
    let call = &told["calls"][0];
    assert_eq!(call["method"], "sendMessage");
    let rows = call.pointer("/body/reply_markup/inline_keyboard").unwrap().as_array().unwrap();
    let bindings = told["bindings"].as_array().unwrap();
    assert_eq!(rows.len(), bindings.len());
    for (row, binding) in rows.iter().zip(bindings) {
        assert_eq!(row[0]["callback_data"], binding["token"]);
        assert_eq!(row[0]["text"], binding["label"]);
    }
    assert_eq!((&bindings[0]["does"], &bindings[0]["index"]), (&json!("choice"), &json!(0)));
    assert_eq!(bindings.last().unwrap()["does"], "skip");
}

#[test]
fn a_person_reads_the_calls_and_what_the_tokens_stand_for() {
    let ran =
        ask_user(&["render", "--channel", "discord", "-"], &fs::read_to_string(root().join(DEPLOY)).unwrap());
    assert_eq!((ran.code, ran.stderr.as_str()), (0, ""));
    assert!(ran.stdout.starts_with("POST /channels/1000000000000000000/messages\n{\n"), "{}", ran.stdout);
    assert!(ran.stdout.contains("  choice 0 of deploy_target\n"), "{}", ran.stdout);
    assert!(ran.stdout.ends_with("  skips\n"), "{}", ran.stdout);
}

#[test]
fn every_channel_shows_how_it_ended_without_controls() {
    let listed = parse(&ask_user(&["plugin", "inspect", "--json"], "").stdout);
    let channels = listed["channels"].as_array().unwrap();
    assert_eq!(channels.len(), 7, "{listed}");
    for channel in channels {
        for settled in ["answered", "expired", "skipped", "cancelled", "undeliverable"] {
            let channel = channel.as_str().unwrap();
            let ran = ask_user(&["render", "--channel", channel, "--settled", settled, "--json", DEPLOY], "");
            assert_eq!((ran.code, ran.stderr.as_str()), (0, ""), "{channel} {settled}");
            let told = parse(&ran.stdout);
            assert_eq!(told["bindings"], json!([]));
            assert_eq!(told["calls"].as_array().unwrap().len(), 1, "{told}");
            assert!(!ran.stdout.contains("au1:"), "{told}");
        }
    }
}

#[test]
fn the_message_that_is_changed_is_the_one_that_was_named() {
    let ran = ask_user(
        &[
            "render",
            "--channel",
            "telegram",
            "--target",
            "-100777",
            "--settled",
            "skipped",
            "--message",
            "42",
            "--json",
            DEPLOY,
        ],
        "",
    );
    let told = parse(&ran.stdout);
    assert_eq!(told["calls"][0]["method"], "editMessageText");
    assert_eq!(told["calls"][0]["body"]["message_id"], 42);
    assert_eq!(told["calls"][0]["body"]["chat_id"], -100_777);
}

#[test]
fn what_cannot_be_shown_is_said_with_its_reason() {
    let example = DEPLOY;
    let failed = |arguments: &[&str]| {
        let ran = ask_user(&[&["render", "--json"], arguments].concat(), "");
        assert_eq!(ran.stdout, "");
        (ran.code, parse(&ran.stderr))
    };
    let (code, told) = failed(&["--channel", "fax", example]);
    assert_eq!((code, &told["error"]), (1, &json!("channel")));
    assert!(told["message"].as_str().unwrap().contains("telegram"), "{told}");
    let (code, told) = failed(&["--channel", "telegram", "--target", "my chat", example]);
    assert_eq!((code, &told["error"]), (1, &json!("target")));
    assert!(told["message"].as_str().unwrap().contains("my chat"), "{told}");
    let (code, told) = failed(&["--plugin", "README.md", example]);
    assert_eq!((code, &told["error"]), (1, &json!("plugin")));
    let (code, _) = failed(&["--message", "1", example]);
    assert_eq!(code, 64);
    let ran = ask_user(&["render", "--json", "-"], "{}");
    assert_eq!((ran.code, ran.stdout.as_str()), (2, ""));
    assert!(parse(&ran.stderr).is_array(), "{}", ran.stderr);
}

#[test]
fn the_channels_of_another_component_can_be_looked_at() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("other.wasm");
    fs::write(&file, BUNDLED_PLUGIN).unwrap();
    let ran = ask_user(&["render", "--plugin", file.to_str().unwrap(), DEPLOY], "");
    assert_eq!((ran.code, ran.stderr.as_str()), (0, ""));
    assert!(ran.stdout.starts_with("message\n"), "{}", ran.stdout);
}
