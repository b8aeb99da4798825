//! The program between pipes, as scripts and agents run it: what goes in, what comes out where, and the exit code.

use std::fs;
use std::process::Stdio;

use ask_user_host::sandbox::BUNDLED_PLUGIN;
use ask_user_tests::guests::channels_only;
use ask_user_tests::program::{Ran, Running, ask_user, command, fed, ran};
use ask_user_tests::prompts::PromptFile;
use ask_user_tests::world::{multi, one_question, parse, plugin};
use serde_json::{Value, json};

const DEPLOY: &str = "examples/deploy-target.json";
const RELEASE: &str = "examples/release-plan.json";
const KEY: &str = "ghp_abcdefghijklmnopqrstuvwxyz0123456789";

/// Arguments with everything that they can do wrong in one place each.
const REFUSED: &str =
    r#"{"questions":[{"id":"Target","header":"T","question":"Where?","options":[{"label":"A"}]}]}"#;

fn answered(answers: &Value) -> String {
    json!({ "status": "answered", "answers": { "answers": answers } }).to_string() + "\n"
}

fn no_answer(reason: &str) -> String {
    json!({ "status": "no_answer", "reason": reason }).to_string() + "\n"
}

/// Standard error as the one JSON value that a script finds there.
fn problem(ran: &Ran) -> Value {
    serde_json::from_str(&ran.stderr).unwrap_or_else(|error| panic!("{error}: {ran:?}"))
}

/// Runs `ask -` with these arguments.
fn ask(arguments: &Value, more: &[&str]) -> Ran {
    ask_user(&[&["ask", "-"], more].concat(), &arguments.to_string())
}

mod answering {
    use super::*;

    #[test]
    fn with_json_the_tool_result_is_all_there_is() {
        let ran = ask_user(&["ask", DEPLOY, "--json"], "2\n");
        assert_eq!(ran.code, 0);
        assert_eq!(
            ran.stdout,
            "{\"status\":\"answered\",\"answers\":{\"answers\":{\"deploy_target\":[\"Production\"]}}}\n"
        );
        assert_eq!(ran.stderr, "");
    }

    #[test]
    fn without_json_a_person_can_read_everything() {
        let ran = ask_user(&["ask", DEPLOY], "production\n");
        assert_eq!(ran.code, 0);
        for text in ["Where should this build be deployed?", "1. Staging (Recommended)", "/skip"] {
            assert!(ran.stderr.contains(text), "{}", ran.stderr);
            assert!(!ran.stdout.contains(text), "{}", ran.stdout);
        }
        assert!(ran.stdout.starts_with("Deploy: Production\n"), "{}", ran.stdout);
        assert!(!ran.stderr.contains('\u{1b}') && !ran.stdout.contains('\u{1b}'), "no terminal, no colours");
    }

    /// One line answers one single-select question: a script need not close its pipe.
    #[test]
    fn one_line_is_a_message_for_one_single_select_question() {
        let mut running = Running::start(&["ask", DEPLOY, "--json"]);
        running.type_in("\n\n");
        running.type_in("2\n");
        assert_eq!(running.finish().stdout, answered(&json!({ "deploy_target": ["Production"] })));
    }

    #[test]
    fn the_last_line_needs_no_newline() {
        assert_eq!(
            ask_user(&["ask", DEPLOY, "--json"], "own words").stdout,
            answered(&json!({ "deploy_target": ["own words"] }))
        );
    }

    #[test]
    fn a_blank_line_ends_a_message_for_several_questions() {
        let mut running = Running::start(&["ask", RELEASE, "--json"]);
        running.type_in("Thursday\n1,3\nAda\n\n");
        let ran = running.finish();
        assert_eq!(
            ran.stdout,
            answered(&json!({
                "release_day": ["Thursday"],
                "checks": ["Load test", "Translation review"],
                "rollback": ["Ada"],
            }))
        );
    }

    #[test]
    fn a_blank_line_ends_a_message_for_a_multi_select_question() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("questions.json");
        fs::write(&file, json!({ "questions": [multi("checks", &["Lint", "Test", "Docs"])] }).to_string())
            .unwrap();
        let mut running = Running::start(&["ask", file.to_str().unwrap(), "--json"]);
        running.type_in("Lint\nDocs\n\n");
        assert_eq!(running.finish().stdout, answered(&json!({ "checks": ["Lint", "Docs"] })));
    }

    #[test]
    fn the_end_of_the_input_ends_a_message_too() {
        let ran = ask_user(&["ask", RELEASE, "--json"], "1\n2\n1");
        assert_eq!(ran.code, 0, "{ran:?}");
        assert_eq!(parse(&ran.stdout)["answers"]["answers"]["rollback"], json!(["The person on call"]));
    }

    #[test]
    fn a_reply_on_the_command_line_answers() {
        for (reply, value) in
            [("2", "Production"), ("staging", "Staging (Recommended)"), ("-1", "-1"), ("--skip", "--skip")]
        {
            let ran = ask_user(&["ask", DEPLOY, "--json", "--reply", reply], "");
            assert_eq!(ran.stdout, answered(&json!({ "deploy_target": [value] })), "{reply}");
        }
    }

    /// Own text is taken as it is typed, whatever the language.
    #[test]
    fn own_words_come_back_as_they_were_typed() {
        let ran = ask_user(&["ask", DEPLOY, "--json"], "naar  de máquina 🚀, niet vóór 12:00\n");
        assert_eq!(
            ran.stdout,
            answered(&json!({ "deploy_target": ["naar  de máquina 🚀, niet vóór 12:00"] }))
        );
    }

    #[test]
    fn a_byte_order_mark_and_windows_newlines_are_no_part_of_the_text() {
        let file = "\u{feff}".to_owned() + &one_question("target", &["A", "B"]).to_string() + "\r\n";
        let ran = ask_user(&["ask", "-", "--json", "--reply", "b\r\n"], &file);
        assert_eq!(ran.stdout, answered(&json!({ "target": ["B"] })), "{ran:?}");
        let ran = ask_user(&["ask", DEPLOY, "--json"], "2\r\n");
        assert_eq!(ran.stdout, answered(&json!({ "deploy_target": ["Production"] })));
    }

    #[test]
    fn a_file_is_found_whatever_its_name() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("wél ✓ -.json");
        fs::write(&file, one_question("target", &["A", "B"]).to_string()).unwrap();
        let ran = ask_user(&["ask", file.to_str().unwrap(), "--json"], "1\n");
        assert_eq!(ran.stdout, answered(&json!({ "target": ["A"] })));
    }

    #[test]
    fn our_own_words_are_in_the_language_asked_for() {
        for (locale, words) in [
            ("nl", ["Een vraag voor je", "Kies er één", "/overslaan"]),
            ("id", ["Satu pertanyaan untuk Anda", "Pilih satu", "/lewati"]),
            ("id-ID", ["Satu pertanyaan untuk Anda", "Pilih satu", "/lewati"]),
            ("xx", ["A question for you", "Choose one", "/skip"]),
        ] {
            let ran = ask_user(&["ask", DEPLOY, "--locale", locale], &format!("{}\n", words[2]));
            assert_eq!(ran.code, 3, "{ran:?}");
            for words in words {
                assert!(ran.stderr.contains(words), "{words} is missing in\n{}", ran.stderr);
            }
            // What the model gets is the same everywhere.
            assert!(ran.stdout.starts_with("The user skipped the question."), "{}", ran.stdout);
        }
    }
}

mod corrections {
    use super::*;

    #[test]
    fn a_line_that_needs_correcting_is_followed_by_the_next() {
        let mut running = Running::start(&["ask", DEPLOY]);
        running.wait_for("Reply with a number");
        running.type_in("other\n");
        running.wait_for("type your own answer");
        running.type_in("nowhere\n");
        let ran = running.finish();
        assert_eq!(ran.code, 0);
        assert!(ran.stdout.starts_with("Deploy: nowhere\n"), "{}", ran.stdout);
    }

    #[test]
    fn a_reply_that_needs_correcting_is_followed_by_the_next() {
        let replies = ["--reply", "Thursday", "--reply", "checks: 1, 9", "--reply", "checks: 2\nrollback: 1"];
        let ran = ask_user(&[&["ask", RELEASE], &replies[..]].concat(), "");
        assert_eq!(ran.code, 0, "{ran:?}");
        assert!(ran.stderr.contains("Still needed: Checks (checks), Rollback (rollback)"), "{}", ran.stderr);
        assert!(ran.stdout.starts_with("Day: Thursday\nChecks: Accessibility audit\n"), "{}", ran.stdout);
    }

    #[test]
    fn with_json_corrections_are_one_json_value() {
        let ran =
            ask_user(&["ask", DEPLOY, "--json", "--reply", "other", "--reply", "other…", "--reply", "2"], "");
        assert_eq!(ran.stdout, answered(&json!({ "deploy_target": ["Production"] })));
        assert_eq!(problem(&ran)["corrections"].as_array().unwrap().len(), 2, "{ran:?}");
    }

    #[test]
    fn replies_that_are_not_needed_change_nothing() {
        let ran = ask_user(&["ask", DEPLOY, "--json", "--reply", "1", "--reply", "2"], "2\n");
        assert_eq!(ran.stdout, answered(&json!({ "deploy_target": ["Staging (Recommended)"] })));
        assert_eq!(ran.stderr, "");
    }

    /// Ruling 17.
    #[test]
    fn a_credential_is_refused_and_said_nowhere() {
        for json in [&["--json"][..], &[]] {
            let file = PromptFile::new();
            let store = file.option();
            let ran = ask_user(&[&["ask", DEPLOY, "--store", &store], json].concat(), &format!("{KEY}\n"));
            assert_eq!(ran.code, 3, "{ran:?}");
            assert!(ran.stderr.contains("secrets tool"), "{ran:?}");
            assert!(!format!("{ran:?}").contains(KEY), "{ran:?}");
            let stored = fs::read(file.path()).unwrap();
            assert!(!stored.windows(KEY.len()).any(|bytes| bytes == KEY.as_bytes()));
        }
    }
}

mod no_answer {
    use super::*;

    #[test]
    fn the_end_of_the_input_cancels() {
        for input in ["", "\n", "  \n\n"] {
            let ran = ask_user(&["ask", DEPLOY, "--json"], input);
            assert_eq!((ran.code, ran.stdout, ran.stderr), (3, super::no_answer("cancelled"), String::new()));
        }
    }

    #[test]
    fn a_correction_that_nothing_follows_cancels() {
        let ran = ask_user(&["ask", DEPLOY, "--json"], "other\n");
        assert_eq!((ran.code, ran.stdout.clone()), (3, super::no_answer("cancelled")));
        assert_eq!(problem(&ran)["corrections"].as_array().unwrap().len(), 1);
        // So does a part of an answer: it is no answer.
        let ran = ask_user(&["ask", RELEASE, "--json", "--reply", "Thursday"], "");
        assert_eq!((ran.code, ran.stdout), (3, super::no_answer("cancelled")));
    }

    #[test]
    fn a_reply_without_text_is_no_answer() {
        for reply in ["", "  ", "\u{200b}"] {
            let ran = ask_user(&["ask", DEPLOY, "--json", "--reply", reply], "");
            assert_eq!((ran.code, ran.stdout), (3, super::no_answer("cancelled")), "{reply:?}");
        }
    }

    #[test]
    fn skip_skips_without_asking() {
        let ran = ask_user(&["ask", DEPLOY, "--json", "--skip"], "2\n");
        assert_eq!((ran.code, ran.stdout, ran.stderr), (3, super::no_answer("skipped"), String::new()));
        let ran = ask_user(&["ask", DEPLOY, "--skip"], "");
        assert_eq!((ran.code, ran.stderr.as_str()), (3, ""), "nobody is asked");
        assert!(ran.stdout.contains("skipped"), "{}", ran.stdout);
    }

    #[test]
    fn a_typed_skip_skips_and_the_word_alone_does_not() {
        let ran = ask_user(&["ask", DEPLOY, "--json"], "/skip\n");
        assert_eq!((ran.code, ran.stdout), (3, super::no_answer("skipped")));
        let ran = ask_user(&["ask", DEPLOY, "--json"], "skip\n");
        assert_eq!(ran.stdout, answered(&json!({ "deploy_target": ["skip"] })));
    }
}

mod refused_arguments {
    use super::*;

    #[test]
    fn with_json_every_violation_is_a_member_of_one_array() {
        let ran = ask_user(&["ask", "-", "--json", "--skip"], REFUSED);
        assert_eq!((ran.code, ran.stdout.as_str()), (2, ""), "{ran:?}");
        let violations = problem(&ran);
        let violations = violations.as_array().unwrap();
        let of = |violation: &Value| (violation["path"].clone(), violation["rule"].clone());
        assert_eq!(
            violations.iter().map(of).collect::<Vec<_>>(),
            [(json!("questions[0].id"), json!("pattern")), (json!("questions[0].options"), json!("count")),]
        );
        for violation in violations {
            let members: Vec<_> = violation.as_object().unwrap().keys().collect();
            assert_eq!(members, ["path", "rule", "allowed", "received", "message"]);
            assert!(
                violation
                    .as_object()
                    .unwrap()
                    .values()
                    .all(|value| value.as_str().is_some_and(|s| !s.is_empty()))
            );
        }
    }

    #[test]
    fn without_json_they_can_be_read() {
        let ran = ask_user(&["ask", "-", "--skip"], REFUSED);
        assert_eq!((ran.code, ran.stdout.as_str()), (2, ""), "{ran:?}");
        for text in [
            "questions[0].id",
            "questions[0].options",
            "Other is added automatically",
            "received: \"Target\"",
        ] {
            assert!(ran.stderr.contains(text), "{}", ran.stderr);
        }
        assert!(!ran.stderr.contains('\u{1b}'));
    }

    #[test]
    fn what_is_no_json_is_refused_with_the_place() {
        for (arguments, received) in [
            (&b""[..], "not JSON"),
            (b"{", "not JSON"),
            (b"[]", "array"),
            (b"{\"questions\":\"\xff\"}", "other bytes at byte 14"),
            (b"\xff\xfe{\0}\0", "other bytes at byte 0"),
        ] {
            let ran = fed(&mut command(&["ask", "-", "--json", "--skip"]), arguments);
            assert_eq!((ran.code, ran.stdout.as_str()), (2, ""), "{ran:?}");
            let violations = problem(&ran);
            assert!(violations[0]["received"].as_str().unwrap().contains(received), "{violations}");
            assert_eq!(violations.as_array().unwrap().len(), 1, "{violations}");
        }
    }

    #[test]
    fn arguments_beyond_the_limit_are_refused_however_long() {
        for size in [65 * 1024, 3 << 20] {
            let ran = ask_user(&["ask", "-", "--json", "--skip"], &" ".repeat(size));
            assert_eq!((ran.code, ran.stdout.as_str()), (2, ""), "{size}");
            assert_eq!(problem(&ran)[0]["rule"], "too-long", "{size}");
        }
    }

    /// Nothing is registered, so the session is free.
    #[test]
    fn nothing_is_stored() {
        let file = PromptFile::new();
        let ran = ask_user(&["ask", "-", "--skip", "--store", &file.option()], REFUSED);
        assert_eq!(ran.code, 2);
        assert!(file.all().is_empty());
    }

    /// Ruling 31: what a model wrote is repeated without what could command the terminal.
    #[test]
    fn what_is_repeated_is_clean() {
        let mut arguments = one_question("a\u{1b}[31mb", &["A", "B"]);
        arguments["\u{1b}[2J"] = 1.into();
        let ran = ask(&arguments, &["--skip"]);
        assert_eq!(ran.code, 2);
        assert!(!ran.stderr.contains('\u{1b}'), "{:?}", ran.stderr);
    }
}

mod usage {
    use super::*;

    #[test]
    fn a_wrong_command_line_is_64_and_says_what_is_right() {
        for (line, says) in [
            (&["ask"][..], "<FILE|->"),
            (&["ask", DEPLOY, "--unknown"], "--unknown"),
            (&["ask", DEPLOY, "one too many"], "one too many"),
            (&["ask", DEPLOY, "--reply"], "--reply"),
            (&["ask", DEPLOY, "--skip", "--reply", "1"], "cannot be used with"),
            (&["ask", DEPLOY, "--session-kind", "robot"], "main, subagent, acp, scheduled, heartbeat"),
            (&["ask", DEPLOY, "--store", "postgres"], "memory or sqlite:PATH"),
            (&["ask", DEPLOY, "--store", "sqlite:"], "memory or sqlite:PATH"),
            (&["tool", "--format", "soap"], "openai, anthropic, mcp"),
            (&["plugin"], "inspect"),
            (&["completions"], "<SHELL>"),
            (&["completions", "tcsh"], "bash"),
            (&["unknown"], "unknown"),
            (&[], "Usage: ask-user <COMMAND>"),
        ] {
            let ran = ask_user(line, "");
            assert_eq!((ran.code, ran.stdout.as_str()), (64, ""), "{line:?} {ran:?}");
            assert!(ran.stderr.contains(says), "{line:?}\n{}", ran.stderr);
        }
    }

    #[test]
    fn with_json_a_wrong_command_line_is_told_as_json() {
        for line in [&["ask", "--json"][..], &["ask", DEPLOY, "--json", "--unknown"], &["ask", "-", "--json"]]
        {
            let ran = ask_user(line, REFUSED);
            assert_eq!((ran.code, ran.stdout.as_str()), (64, ""), "{ran:?}");
            assert_eq!(problem(&ran)["error"], "usage");
            assert!(!problem(&ran)["message"].as_str().unwrap().is_empty());
        }
    }

    /// Standard input cannot hold both the arguments and the reply.
    #[test]
    fn arguments_on_standard_input_need_a_reply_from_elsewhere() {
        let ran = ask_user(&["ask", "-"], &one_question("target", &["A", "B"]).to_string());
        assert_eq!((ran.code, ran.stdout.as_str()), (64, ""));
        for way in ["--reply", "--skip", "terminal"] {
            assert!(ran.stderr.contains(way), "{}", ran.stderr);
        }
        let ran = ask(&one_question("target", &["A", "B"]), &["--json", "--reply", "b"]);
        assert_eq!(ran.stdout, answered(&json!({ "target": ["B"] })));
    }

    #[cfg(unix)]
    #[test]
    fn a_command_line_that_is_no_text_is_64() {
        use std::os::unix::ffi::OsStrExt;
        let reply = std::ffi::OsStr::from_bytes(b"\xff");
        let ran = fed(command(&["ask", DEPLOY, "--reply"]).arg(reply), b"");
        assert_eq!((ran.code, ran.stdout.as_str()), (64, ""), "{ran:?}");
        assert!(ran.stderr.contains("UTF-8"), "{}", ran.stderr);
    }

    #[test]
    fn help_and_version_are_0_on_standard_output() {
        for line in [
            &["--help"][..],
            &["-h"],
            &["help"],
            &["help", "ask"],
            &["ask", "--help"],
            &["tool", "--help"],
            &["plugin", "--help"],
            &["plugin", "inspect", "--help"],
            &["completions", "--help"],
            &["--version"],
        ] {
            let ran = ask_user(line, "");
            assert_eq!((ran.code, ran.stderr.as_str()), (0, ""), "{line:?}");
            assert!(ran.stdout.contains("ask"), "{line:?}\n{}", ran.stdout);
        }
        assert_eq!(ask_user(&["--version"], "").stdout, format!("ask-user {}\n", env!("CARGO_PKG_VERSION")));
    }

    /// A reader of `--help` learns all there is to know without another page.
    #[test]
    fn the_help_of_ask_tells_everything() {
        let help = ask_user(&["ask", "--help"], "").stdout;
        for text in [
            "--reply",
            "--skip",
            "--json",
            "--store",
            "--session",
            "--session-kind",
            "--locale",
            "standard input",
            "blank line",
            "Examples:",
            "64",
            "130",
        ] {
            assert!(help.contains(text), "{text} is missing in\n{help}");
        }
    }

    /// The examples of the help work as they stand.
    #[test]
    fn the_examples_of_the_help_work() {
        let help = ask_user(&["ask", "--help"], "").stdout;
        let examples: Vec<_> =
            help.lines().filter(|line| line.starts_with("  ") && line.contains("ask-user ask ")).collect();
        assert_eq!(examples.len(), 4, "{help}");
        for example in examples {
            let program = ask_user_tests::program::path().display().to_string();
            let line = example.trim().replace("ask-user ask", &format!("{program} ask"));
            let mut shell = std::process::Command::new("bash");
            shell.args(["-c", &line]).current_dir(ask_user_tests::program::root());
            let ran = fed(shell.env("ASK_USER_CACHE_DIR", ask_user_tests::world::code_cache()), b"1\n");
            assert!([0, 3].contains(&ran.code), "{example}\n{ran:?}");
        }
    }
}

mod failures {
    use super::*;

    /// Runs into a failure with and without `--json`: exit 1, nothing on standard output, and the reason.
    fn fails(line: &[&str], kind: &str, says: &str) {
        let ran = ask_user(line, "");
        assert_eq!((ran.code, ran.stdout.as_str()), (1, ""), "{line:?} {ran:?}");
        assert!(
            ran.stderr.starts_with("ask-user: ") && ran.stderr.contains(says),
            "{line:?}\n{}",
            ran.stderr
        );
        assert_eq!(ran.stderr.lines().count(), 1, "{}", ran.stderr);
        let ran = ask_user(&[line, &["--json"]].concat(), "");
        assert_eq!((ran.code, ran.stdout.as_str()), (1, ""), "{line:?} {ran:?}");
        assert_eq!(problem(&ran)["error"], kind, "{ran:?}");
        assert!(problem(&ran)["message"].as_str().unwrap().contains(says), "{ran:?}");
    }

    #[test]
    fn a_missing_file_is_named() {
        fails(&["ask", "nowhere/questions.json"], "input", "cannot read nowhere/questions.json");
        fails(&["ask", "examples"], "input", "cannot read examples");
    }

    /// Ruling 10; B68.
    #[test]
    fn only_a_main_session_may_ask() {
        for (kind, says) in
            [("subagent", "subagent"), ("acp", "ACP"), ("scheduled", "schedule"), ("heartbeat", "heartbeat")]
        {
            fails(&["ask", DEPLOY, "--skip", "--session-kind", kind], "not_a_main_session", says);
        }
        // The stricter of the two counts.
        fails(
            &["ask", DEPLOY, "--skip", "--session-kind", "main", "--session", "agent:main:subagent:7"],
            "not_a_main_session",
            "subagent",
        );
        fails(&["ask", DEPLOY, "--skip", "--session", ""], "not_a_main_session", "no session");
    }

    #[test]
    fn a_store_that_cannot_be_opened_is_named() {
        let folder = tempfile::tempdir().unwrap();
        let missing = folder.path().join("missing/prompts.db").display().to_string();
        fails(&["ask", DEPLOY, "--skip", "--store", &format!("sqlite:{missing}")], "store", &missing);
        let other = folder.path().join("other.db");
        fs::write(&other, "this is no database, and it is long enough to be none of SQLite's either")
            .unwrap();
        let other = other.display().to_string();
        fails(&["ask", DEPLOY, "--skip", "--store", &format!("sqlite:{other}")], "store", &other);
    }

    #[test]
    fn a_reader_who_has_gone_away_is_no_failure() {
        let mut running = Running::start_without_reader(&["ask", DEPLOY]);
        running.wait_for("Reply with a number");
        running.type_in("2\n");
        let ran = running.finish();
        assert_eq!(ran.code, 0, "{ran:?}");
        assert!(!ran.stderr.contains("panicked"), "{}", ran.stderr);
        for line in [&["tool"][..], &["plugin", "inspect"], &["completions", "bash"], &["--help"]] {
            let ran = Running::start_without_reader(line).finish();
            assert_eq!((ran.code, ran.stderr.as_str()), (0, ""), "{line:?}");
        }
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn a_result_that_cannot_be_printed_is_a_failure() {
        let full = fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
        let child = command(&["ask", DEPLOY, "--json", "--reply", "2"])
            .stdin(Stdio::null())
            .stdout(full)
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let ran = ran(child.wait_with_output().unwrap());
        assert_eq!(ran.code, 1);
        assert_eq!(problem(&ran)["error"], "output");
    }
}

mod sessions {
    use super::*;

    #[cfg(target_os = "linux")]
    use ask_user_tests::program::eventually;

    const SESSION: [&str; 2] = ["--session", "agent:main:main"];

    #[test]
    fn each_ask_is_a_session_of_its_own() {
        let file = PromptFile::new();
        let store = file.option();
        let line = ["ask", DEPLOY, "--json", "--store", &store];
        let waiting = Running::start(&line);
        file.first();
        let ran = ask_user(&[&line[..], &["--reply", "2"]].concat(), "");
        assert_eq!(ran.code, 0, "{ran:?}");
        let sessions: Vec<_> = file.all().into_iter().map(|prompt| prompt.origin.session_key).collect();
        assert_eq!(sessions.len(), 2);
        assert_ne!(sessions[0], sessions[1]);
        drop(waiting);
    }

    /// Ruling 11.
    #[test]
    fn a_session_that_waits_refuses_a_second_question_and_names_the_first() {
        let file = PromptFile::new();
        let option = file.option();
        let store = ["--store", &option];
        let mut waiting = Running::start(&[&["ask", DEPLOY], &store[..], &SESSION].concat());
        waiting.wait_for("Reply with a number");
        let first = file.first().id;
        let second = [&["ask", RELEASE, "--skip"], &store[..], &SESSION].concat();
        let ran = ask_user(&second, "");
        assert_eq!((ran.code, ran.stdout.as_str()), (1, ""), "{ran:?}");
        assert!(ran.stderr.contains(&first), "{}", ran.stderr);
        let ran = ask_user(&[&second[..], &["--json"]].concat(), "");
        assert_eq!((ran.code, ran.stdout.as_str()), (1, ""), "{ran:?}");
        assert_eq!(
            (&problem(&ran)["error"], &problem(&ran)["id"]),
            (&json!("already_pending"), &json!(first))
        );
        // The first one is still answered, and the session is free afterwards.
        waiting.type_in("2\n");
        assert_eq!(waiting.finish().code, 0);
        assert_eq!(ask_user(&second, "").code, 3);
    }

    /// Ruling 11: a run that is known to be dead makes way. Nobody has collected the process, as when its agent hangs.
    #[cfg(target_os = "linux")]
    #[test]
    fn a_question_whose_process_was_killed_makes_way() {
        let file = PromptFile::new();
        let store = file.option();
        let line = [&["ask", DEPLOY, "--json", "--store", &store], &SESSION[..]].concat();
        let mut waiting = Running::start(&line);
        file.first();
        waiting.kill();
        eventually("the end of the process", || state(&waiting).contains(") Z ").then_some(()));
        assert_eq!(file.outcome(), None, "it could do nothing any more");
        let ran = ask_user(&[&line[..], &["--reply", "2"]].concat(), "");
        assert_eq!(ran.stdout, answered(&json!({ "deploy_target": ["Production"] })), "{ran:?}");
        assert_eq!(file.outcome().unwrap(), super::no_answer("cancelled").trim_end());
    }

    #[test]
    fn an_answer_from_elsewhere_is_noticed() {
        let file = PromptFile::new();
        let waiting = Running::start(&["ask", DEPLOY, "--json", "--store", &file.option()]);
        file.answer("Staging (Recommended)");
        // Its standard input is still open: it does not wait for that.
        let ran = waiting.finish();
        assert_eq!((ran.code, ran.stderr.as_str()), (0, ""));
        assert_eq!(ran.stdout, answered(&json!({ "deploy_target": ["Staging (Recommended)"] })));
    }

    /// Answered and deleted between two looks. The program stands still meanwhile, so that it is.
    #[cfg(target_os = "linux")]
    #[test]
    fn a_question_that_was_deleted_elsewhere_is_not_waited_for() {
        use rustix::process::{Pid, Signal, kill_process};
        let file = PromptFile::new();
        let waiting = Running::start(&["ask", DEPLOY, "--json", "--store", &file.option()]);
        file.first();
        let process = Pid::from_raw(waiting.id().cast_signed()).unwrap();
        kill_process(process, Signal::STOP).unwrap();
        eventually("the halt of the process", || state(&waiting).contains(") T ").then_some(()));
        file.answer("Production");
        file.delete();
        kill_process(process, Signal::CONT).unwrap();
        let ran = waiting.finish();
        assert_eq!((ran.code, ran.stdout.as_str()), (1, ""), "{ran:?}");
        assert_eq!(problem(&ran)["error"], "not_found");
    }

    /// What the system knows of the process.
    #[cfg(target_os = "linux")]
    fn state(running: &Running) -> String {
        fs::read_to_string(format!("/proc/{}/stat", running.id())).unwrap()
    }

    /// Section 8 of the design.
    #[cfg(unix)]
    #[test]
    fn the_file_of_prompts_is_private() {
        use std::os::unix::fs::PermissionsExt;
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("new.db");
        let store = format!("sqlite:{}", file.display());
        assert_eq!(ask_user(&["ask", DEPLOY, "--skip", "--store", &store], "").code, 3);
        for entry in fs::read_dir(folder.path()).unwrap() {
            let mode = entry.unwrap().metadata().unwrap().permissions().mode();
            assert_eq!(mode & 0o777, 0o600);
        }
        assert!(file.exists());
    }
}

/// Ruling 22.
#[cfg(unix)]
mod signals {
    use super::*;
    use rustix::process::{Pid, Signal, kill_process};

    #[test]
    fn a_signal_to_end_aborts_and_cancels() {
        for signal in [Signal::INT, Signal::TERM, Signal::HUP] {
            for (json, says) in [(&[][..], "ask-user: aborted"), (&["--json"], r#""error":"aborted""#)] {
                let file = PromptFile::new();
                let store = file.option();
                let waiting = Running::start(&[&["ask", DEPLOY, "--store", &store], json].concat());
                file.first();
                kill_process(Pid::from_raw(waiting.id().cast_signed()).unwrap(), signal).unwrap();
                let ran = waiting.finish();
                assert_eq!((ran.code, ran.stdout.as_str()), (130, ""), "{signal:?} {ran:?}");
                assert!(ran.stderr.contains(says), "{}", ran.stderr);
                assert_eq!(file.outcome().unwrap(), super::no_answer("cancelled").trim_end());
            }
        }
    }
}

mod the_tool {
    use super::*;

    fn format(name: &str) -> Value {
        let ran = ask_user(&["tool", "--format", name], "");
        assert_eq!((ran.code, ran.stderr.as_str()), (0, ""));
        parse(&ran.stdout)
    }

    fn keys(value: &Value) -> Vec<&str> {
        value.as_object().unwrap().keys().map(String::as_str).collect()
    }

    /// A schema that is an object with every member described, down to the last level.
    fn is_closed_object(schema: &Value) {
        assert_eq!(
            (&schema["type"], &schema["additionalProperties"]),
            (&json!("object"), &json!(false)),
            "{schema}"
        );
        let properties = schema["properties"].as_object().unwrap();
        for required in schema["required"].as_array().unwrap() {
            assert!(properties.contains_key(required.as_str().unwrap()), "{required}");
        }
        for (name, property) in properties {
            assert!(
                property["type"].is_string() && property["description"].is_string(),
                "{name}: {property}"
            );
            if property["type"] == "array" {
                is_closed_object(&property["items"]);
            }
        }
    }

    #[test]
    fn is_told_to_people() {
        let ran = ask_user(&["tool"], "");
        assert_eq!((ran.code, ran.stderr.as_str()), (0, ""));
        for text in [
            "ask_user",
            "questions (array of 1 to 3)",
            "options (array of 2 to 4)",
            "timeoutSeconds (integer",
        ] {
            assert!(ran.stdout.contains(text), "{text} is missing in\n{}", ran.stdout);
        }
    }

    #[test]
    fn is_told_as_json() {
        let ran = ask_user(&["tool", "--json"], "");
        let tool = parse(&ran.stdout);
        assert_eq!(keys(&tool), ["name", "title", "description", "parameters", "outputSchema"]);
        assert_eq!(tool["name"], "ask_user");
        is_closed_object(&tool["parameters"]);
        assert_eq!(keys(&tool["parameters"]["properties"]), ["questions", "timeoutSeconds"]);
    }

    #[test]
    fn is_told_as_the_apis_take_it() {
        let tool = parse(&ask_user(&["tool", "--json"], "").stdout);
        let openai = format("openai");
        assert_eq!(keys(&openai), ["type", "function"]);
        assert_eq!(openai["type"], "function");
        assert_eq!(keys(&openai["function"]), ["name", "description", "parameters"]);
        assert_eq!(openai["function"]["parameters"], tool["parameters"]);
        let anthropic = format("anthropic");
        assert_eq!(keys(&anthropic), ["name", "description", "input_schema"]);
        assert_eq!(anthropic["input_schema"], tool["parameters"]);
        let mcp = format("mcp");
        assert_eq!(
            keys(&mcp),
            ["name", "title", "description", "inputSchema", "outputSchema", "annotations"]
        );
        assert_eq!(mcp["inputSchema"], tool["parameters"]);
        // MCP wants an object of the result too.
        assert_eq!(mcp["outputSchema"]["type"], "object");
        for name in [&openai["function"]["name"], &anthropic["name"], &mcp["name"]] {
            assert_eq!(name, "ask_user");
        }
    }

    /// The arguments of the examples are arguments by the definition's own words.
    #[test]
    fn takes_what_it_describes() {
        let tool = parse(&ask_user(&["tool", "--json"], "").stdout);
        let questions = &tool["parameters"]["properties"]["questions"];
        for example in [DEPLOY, RELEASE] {
            let path = ask_user_tests::program::root().join(example);
            let arguments = parse(&fs::read_to_string(path).unwrap());
            let given = arguments["questions"].as_array().unwrap();
            assert!((1..=questions["maxItems"].as_u64().unwrap()).contains(&(given.len() as u64)));
            for question in given {
                let known = questions["items"]["properties"].as_object().unwrap();
                assert!(keys(question).iter().all(|key| known.contains_key(*key)), "{question}");
            }
        }
    }
}

mod plugins {
    use super::*;

    /// Inspects a file of these bytes with `--json`.
    fn inspect(bytes: &[u8]) -> (i32, Value) {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("guest.wasm");
        fs::write(&file, bytes).unwrap();
        let ran = ask_user(&["plugin", "inspect", file.to_str().unwrap(), "--json"], "");
        assert_eq!(ran.stderr, "");
        let told = parse(&ran.stdout);
        // A person is told the same.
        let read = ask_user(&["plugin", "inspect", file.to_str().unwrap()], "");
        assert_eq!(read.code, ran.code);
        assert!(read.stdout.contains(told["sha256"].as_str().unwrap()), "{}", read.stdout);
        if let Some(refusal) = told["refusal"].as_str() {
            assert!(read.stdout.contains(&format!("no: {refusal}")), "{}", read.stdout);
        }
        (ran.code, told)
    }

    #[test]
    fn the_built_in_one_imports_nothing() {
        let ran = ask_user(&["plugin", "inspect", "--json"], "");
        assert_eq!((ran.code, ran.stderr.as_str()), (0, ""));
        let told = parse(&ran.stdout);
        assert_eq!(told["imports"], json!([]));
        assert_eq!(told["contract"], "ask-user:plugin@0.1.0");
        assert_eq!(told["sha256"], plugin().inspection().sha256.as_str());
        assert_eq!(told["size"], BUNDLED_PLUGIN.len());
        assert_eq!((&told["loads"], &told["refusal"]), (&json!(true), &Value::Null));
        assert!(told["channels"].as_array().unwrap().contains(&json!("text")), "{told}");
        for interface in ["types", "tool", "question", "reply", "channel"] {
            let export = format!("ask-user:plugin/{interface}@0.1.0");
            assert!(told["exports"].as_array().unwrap().contains(&export.into()), "{told}");
        }
        let read = ask_user(&["plugin", "inspect"], "");
        assert_eq!(read.code, 0);
        assert!(
            read.stdout.contains("imports    none\n") && read.stdout.contains("loads      yes\n"),
            "{}",
            read.stdout
        );
    }

    #[test]
    fn the_same_component_from_a_file_is_the_same() {
        let (code, told) = inspect(BUNDLED_PLUGIN);
        let mut built_in = parse(&ask_user(&["plugin", "inspect", "--json"], "").stdout);
        built_in["name"] = "guest".into();
        assert_eq!((code, told), (0, built_in));
    }

    #[test]
    fn one_that_only_has_channels_loads_for_them() {
        let (code, told) = inspect(&channels_only("(i32.const 1024)"));
        assert_eq!(
            (code, &told["loads"], &told["world"]),
            (0, &json!(true), &json!("channel-plugin")),
            "{told}"
        );
        assert_eq!(told["channels"], json!([]));
    }

    #[test]
    fn one_with_imports_does_not_load_and_they_are_named() {
        let component = wat::parse_str(
            r#"(component
                (import "wasi:cli/environment@0.2.0" (instance (export "get-environment" (func))))
                (import "log" (func)))"#,
        );
        let (code, told) = inspect(&component.unwrap());
        assert_eq!((code, &told["loads"]), (1, &json!(false)));
        assert_eq!(told["imports"], json!(["wasi:cli/environment@0.2.0", "log"]));
        assert!(told["refusal"].as_str().unwrap().contains("wasi:cli/environment@0.2.0"), "{told}");
        assert!(told["refusal"].as_str().unwrap().contains("imports nothing"), "{told}");
    }

    #[test]
    fn one_of_another_contract_does_not_load() {
        let (code, told) = inspect(&wat::parse_str("(component)").unwrap());
        assert_eq!((code, &told["loads"], &told["contract"]), (1, &json!(false), &Value::Null));
        assert!(
            told["refusal"].as_str().unwrap().contains("this host speaks ask-user:plugin@0.1.0"),
            "{told}"
        );
    }

    #[test]
    fn a_file_that_is_no_component_is_told_apart_and_why() {
        let cut = &BUNDLED_PLUGIN[..BUNDLED_PLUGIN.len() / 2];
        let module = wat::parse_str("(module)").unwrap();
        for bytes in [&b""[..], b"no component", &module, cut] {
            let (code, told) = inspect(bytes);
            assert_eq!((code, &told["loads"]), (1, &json!(false)), "{told}");
            assert_eq!(told["size"], bytes.len());
            assert_eq!(told["sha256"].as_str().unwrap().len(), 64);
            assert_eq!((&told["imports"], &told["exports"]), (&Value::Null, &Value::Null));
            assert!(told["refusal"].as_str().unwrap().contains("not a WebAssembly component"), "{told}");
        }
    }

    #[test]
    fn a_missing_file_is_named() {
        let ran = ask_user(&["plugin", "inspect", "nowhere.wasm"], "");
        assert_eq!((ran.code, ran.stdout.as_str()), (1, ""));
        assert!(ran.stderr.contains("cannot read nowhere.wasm"), "{}", ran.stderr);
        let ran = ask_user(&["plugin", "inspect", "nowhere.wasm", "--json"], "");
        assert_eq!((ran.code, ran.stdout.as_str()), (1, ""));
        assert_eq!(problem(&ran)["error"], "input");
    }
}

mod completions {
    use super::*;

    #[test]
    fn every_shell_learns_the_commands_and_options() {
        for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
            let ran = ask_user(&["completions", shell], "");
            assert_eq!((ran.code, ran.stderr.as_str()), (0, ""), "{shell}");
            for word in ["ask", "tool", "plugin", "inspect", "completions", "session-kind", "heartbeat"] {
                // Elvish and PowerShell do not learn the values of options.
                if word == "heartbeat" && ["elvish", "powershell"].contains(&shell) {
                    continue;
                }
                assert!(ran.stdout.contains(word), "{shell}: {word}");
            }
        }
    }

    /// Where the shell is there, it takes its script.
    #[test]
    fn the_script_for_bash_is_one() {
        let script = ask_user(&["completions", "bash"], "").stdout;
        let ran = fed(std::process::Command::new("bash").arg("-n"), script.as_bytes());
        assert_eq!((ran.code, ran.stderr.as_str()), (0, ""));
    }
}

/// Twenty programs at one file: each gets its own answer.
#[test]
fn many_at_once_do_not_disturb_each_other() {
    let file = PromptFile::new();
    let store = file.option();
    let mut running: Vec<_> =
        (0..20).map(|_| Running::start(&["ask", DEPLOY, "--json", "--store", &store])).collect();
    for (number, running) in running.iter_mut().enumerate() {
        running.type_in(&format!("answer number {number}\n"));
    }
    for (number, running) in running.into_iter().enumerate() {
        let ran = running.finish();
        assert_eq!(
            ran.stdout,
            answered(&json!({ "deploy_target": [format!("answer number {number}")] })),
            "{ran:?}"
        );
    }
    assert_eq!(file.all().len(), 20);
}
