//! The program on a terminal: what a person sees, what the keys do, and what is left when it has ended.

use std::fs;
use std::process::Stdio;

use ask_user_tests::prompts::PromptFile;
use ask_user_tests::terminal::*;
use ask_user_tests::world::{multi, one_question, parse, question};
use rustix::process::Signal;
use serde_json::{Value, json};

const DEPLOY: &str = "examples/deploy-target.json";
const RELEASE: &str = "examples/release-plan.json";
/// What is on the screen as soon as keys count.
const OPEN: &str = "Where should this build be deployed?";
const KEY: &str = "ghp_abcdefghijklmnopqrstuvwxyz0123456789";

/// The panel with one question, open, and its result on a pipe.
fn deploy() -> Terminal {
    open(&["ask", DEPLOY, "--json"])
}

fn open(arguments: &[&str]) -> Terminal {
    let mut terminal = Terminal::run_with(80, 24, arguments, |command| {
        command.stdout(Stdio::piped());
    });
    terminal.wait_until("the panel", Terminal::is_panel);
    terminal
}

/// Asks these questions and opens the panel.
fn asking(questions: Value) -> (tempfile::TempDir, Terminal) {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("questions.json");
    fs::write(&file, json!({ "questions": questions }).to_string()).unwrap();
    let terminal = open(&["ask", file.to_str().unwrap(), "--json"]);
    (folder, terminal)
}

/// What the agent gets, which is all that is on standard output.
fn answers(terminal: Terminal) -> Value {
    let left = terminal.finish();
    assert_eq!(left.code, 0, "{left:?}");
    assert_eq!(left.stdout.lines().count(), 1, "{left:?}");
    parse(&left.stdout)["answers"]["answers"].clone()
}

#[test]
fn arrows_move_and_enter_answers() {
    let mut terminal = deploy();
    assert!(terminal.shown().contains("› ( ) 1. Staging (Recommended)"), "{}", terminal.shown());
    terminal.press(DOWN);
    terminal.wait_for("› ( ) 2. Production");
    terminal.press(UP);
    terminal.wait_for("› ( ) 1. Staging (Recommended)");
    terminal.press(DOWN);
    terminal.wait_for("› ( ) 2. Production");
    terminal.press(ENTER);
    assert_eq!(answers(terminal), json!({ "deploy_target": ["Production"] }));
}

#[test]
fn keys_pressed_in_one_go_all_count() {
    let mut terminal = deploy();
    terminal.press(&[DOWN, DOWN, UP, UP, DOWN, ENTER].concat());
    assert_eq!(answers(terminal), json!({ "deploy_target": ["Production"] }));
}

/// B77: whatever was typed before the question was seen is no answer to it.
#[test]
fn what_was_typed_before_is_no_answer() {
    for typed in ["2\r", "2", "\r\r\r", "\x1b[B\r"] {
        let mut terminal = Terminal::run_after(typed, &["ask", DEPLOY]);
        terminal.wait_until("the panel", Terminal::is_panel);
        assert!(terminal.shown().contains("› ( ) 1. Staging (Recommended)"), "{}", terminal.shown());
        terminal.press(ENTER);
        let left = terminal.finish();
        assert!(left.screen.contains("Deploy: Staging (Recommended)"), "{typed:?}\n{}", left.screen);
    }
}

#[test]
fn a_digit_chooses_and_does_not_submit() {
    let mut terminal = deploy();
    terminal.press("2");
    terminal.wait_for("› (•) 2. Production");
    terminal.press("1");
    terminal.wait_for("› (•) 1. Staging");
    assert!(terminal.shown().contains("( ) 2. Production"), "{}", terminal.shown());
    terminal.press(ENTER);
    assert_eq!(answers(terminal), json!({ "deploy_target": ["Staging (Recommended)"] }));
}

/// B10, B78.
#[test]
fn own_text_is_typed_under_other_where_a_digit_is_text() {
    let mut terminal = deploy();
    terminal.press("3");
    terminal.wait_for("Your own answer");
    terminal.press("2 machines, früh 👍");
    terminal.wait_for("│ 2 machines, früh 👍");
    terminal.wait_for("› (•) 3. Other…");
    terminal.press(ENTER);
    assert_eq!(answers(terminal), json!({ "deploy_target": ["2 machines, früh 👍"] }));
}

#[test]
fn own_text_is_corrected_with_the_usual_keys() {
    let mut terminal = deploy();
    terminal.press("3");
    terminal.wait_for("Your own answer");
    terminal.press("to teh\x7f\x7fhe moon\x17sun");
    terminal.wait_for("│ to the sun");
    terminal.press(ENTER);
    assert_eq!(answers(terminal), json!({ "deploy_target": ["to the sun"] }));
}

#[test]
fn a_paste_is_text_and_its_newlines_do_not_submit() {
    let mut terminal = deploy();
    // Nothing is focused but the first choice: a paste goes where text can be.
    terminal.press(&pasted("first 1\r\nsecond\x03 2"));
    terminal.wait_for("│ first 1");
    terminal.wait_for("│ second 2");
    terminal.press(ENTER);
    assert_eq!(answers(terminal), json!({ "deploy_target": ["first 1\nsecond 2"] }));
}

#[test]
fn an_empty_other_is_not_submitted() {
    let mut terminal = deploy();
    terminal.press("3");
    terminal.wait_for("Your own answer");
    terminal.press(ENTER);
    terminal.wait_for("! Your own answer");
    terminal.press("x");
    terminal.wait_for("│ x");
    terminal.press(ENTER);
    assert_eq!(answers(terminal), json!({ "deploy_target": ["x"] }));
}

/// B81.
#[test]
fn escape_keeps_the_text_and_ends_nothing() {
    let mut terminal = deploy();
    terminal.press("3");
    terminal.wait_for("Your own answer");
    terminal.press("kept");
    terminal.wait_for("│ kept");
    for _ in 0..2 {
        terminal.press(ESCAPE);
        terminal.wait_for("1-3");
    }
    assert!(terminal.shown().contains("│ kept"), "{}", terminal.shown());
    terminal.press(TAB);
    terminal.wait_for("› Submit");
    terminal.press(ENTER);
    assert_eq!(answers(terminal), json!({ "deploy_target": ["kept"] }));
}

/// B17, B79.
#[test]
fn several_choices_are_toggled_and_own_text_comes_last() {
    let (_folder, mut terminal) = asking(json!([multi("checks", &["Lint", "Test", "Docs"])]));
    assert!(terminal.shown().contains("Choose one or more"), "{}", terminal.shown());
    terminal.press("3");
    terminal.wait_for("› [x] 3. Docs");
    terminal.press("2");
    terminal.wait_for("› [x] 2. Test");
    terminal.press(" ");
    terminal.wait_for("› [ ] 2. Test");
    terminal.press(UP);
    terminal.wait_for("› [ ] 1. Lint");
    terminal.press(" ");
    terminal.wait_for("› [x] 1. Lint");
    terminal.press("4");
    terminal.wait_for("Your own answer");
    terminal.press("and the changelog");
    terminal.wait_for("[x] 4. Other…");
    terminal.press(ENTER);
    assert_eq!(answers(terminal), json!({ "checks": ["Lint", "Docs", "and the changelog"] }));
}

#[test]
fn nothing_chosen_of_several_is_not_submitted() {
    let (_folder, mut terminal) = asking(json!([multi("checks", &["Lint", "Test"])]));
    terminal.press(ENTER);
    terminal.wait_for("! Choose one or more");
    terminal.press("2");
    terminal.wait_for("[x] 2. Test");
    terminal.press(ENTER);
    assert_eq!(answers(terminal), json!({ "checks": ["Test"] }));
}

#[test]
fn three_questions_are_gone_through_forth_and_back() {
    let mut terminal = open_release();
    terminal.press("2");
    terminal.wait_for("› (•) 2. Thursday");
    terminal.press(ENTER);
    terminal.wait_for("Question 2 of 3");
    terminal.press("1");
    terminal.wait_for("› [x] 1. Load test");
    terminal.press(LEFT);
    terminal.wait_for("Question 1 of 3");
    // What was chosen is still there, and can be changed.
    terminal.wait_for("› (•) 2. Thursday");
    terminal.press("3");
    terminal.wait_for("› (•) 3. Next week");
    terminal.press(ENTER);
    terminal.wait_for("Question 2 of 3");
    terminal.wait_for("[x] 1. Load test");
    terminal.press("4");
    terminal.wait_for("› [x] 4. Backup drill");
    terminal.press(ENTER);
    terminal.wait_for("Question 3 of 3");
    terminal.press("3");
    terminal.wait_for("Your own answer");
    terminal.press("Ada");
    terminal.wait_for("│ Ada");
    terminal.press(ENTER);
    assert_eq!(
        answers(terminal),
        json!({ "release_day": ["Next week"], "checks": ["Load test", "Backup drill"], "rollback": ["Ada"] })
    );
}

#[test]
fn no_question_is_left_out() {
    let mut terminal = open_release();
    terminal.press(&[TAB, TAB, TAB, TAB].concat());
    terminal.wait_for("› Next");
    terminal.press(ENTER);
    terminal.wait_for("! Choose one");
    assert!(terminal.shown().contains("Question 1 of 3"), "{}", terminal.shown());
    terminal.press(CTRL_C);
    assert_eq!(terminal.finish().code, 130);
}

fn open_release() -> Terminal {
    let mut terminal = open(&["ask", RELEASE, "--json"]);
    terminal.wait_for("Question 1 of 3");
    terminal
}

/// Ruling 34; B80: Ctrl-S goes to *Skip*, and Enter skips.
#[test]
fn skip_ends_the_prompt_without_an_answer() {
    let mut terminal = deploy();
    terminal.press(CTRL_S);
    terminal.wait_for("› Skip");
    terminal.press(ENTER);
    let left = terminal.finish();
    assert_eq!((left.code, left.stdout.as_str()), (3, "{\"status\":\"no_answer\",\"reason\":\"skipped\"}\n"));
}

/// Ruling 22: the run ends, and there is no tool result.
#[test]
fn ctrl_c_aborts_and_the_question_is_cancelled() {
    let file = PromptFile::new();
    let mut terminal = open(&["ask", DEPLOY, "--json", "--store", &file.option()]);
    terminal.press(CTRL_C);
    let left = terminal.finish();
    assert_eq!((left.code, left.stdout.as_str()), (130, ""), "{left:?}");
    assert_eq!(file.outcome().unwrap(), r#"{"status":"no_answer","reason":"cancelled"}"#);
}

#[test]
fn a_signal_to_end_gives_the_terminal_back_first() {
    for signal in [Signal::TERM, Signal::INT] {
        let file = PromptFile::new();
        let terminal = open(&["ask", DEPLOY, "--store", &file.option()]);
        terminal.signal(signal);
        let left = terminal.finish();
        assert_eq!((left.code, left.stdout.as_str()), (130, ""), "{left:?}");
        assert!(left.screen.contains("ask-user: aborted"), "{left:?}");
        assert_eq!(file.outcome().unwrap(), r#"{"status":"no_answer","reason":"cancelled"}"#);
    }
}

/// Section 8 of the design: no prompt waits where nobody can see it.
#[test]
fn a_closed_window_ends_the_question() {
    let file = PromptFile::new();
    let terminal = open(&["ask", DEPLOY, "--json", "--store", &file.option()]);
    let code = terminal.close_window();
    assert!([130, 1].contains(&code), "{code}");
    let outcome = file.outcome().expect("it has ended");
    assert!(outcome.contains("no_answer"), "{outcome}");
}

#[test]
fn a_window_that_changes_its_size_shows_the_same_as_one_that_had_it_from_the_start() {
    for (columns, rows) in [(44, 14), (110, 40), (80, 12)] {
        let mut as_expected = Terminal::run_with(columns, rows, &["ask", DEPLOY], |_| {});
        as_expected.wait_until("the panel", Terminal::is_panel);
        let mut resized = open(&["ask", DEPLOY]);
        resized.resize(columns, rows);
        let expected = without_time(&as_expected.shown());
        resized.wait_until("the new size", |screen| without_time(&screen.contents()) == expected);
        // Keys count as before.
        resized.press("2");
        resized.wait_for("(•) 2. Production");
        resized.press(ENTER);
        assert_eq!(resized.finish().code, 0);
        as_expected.press(CTRL_C);
        as_expected.finish();
    }
}

/// Who could see what has the focus does not lose it.
#[test]
fn a_window_that_becomes_too_small_shows_what_has_the_focus() {
    let mut terminal = open(&["ask", DEPLOY]);
    terminal.press("2");
    terminal.wait_for("› (•) 2. Production");
    terminal.resize(30, 5);
    terminal.wait_until("the small window", |screen| {
        let shown = screen.contents();
        shown.lines().nth(4).is_some_and(|line| line.contains("Enter"))
            && shown.contains("› (•) 2. Production")
    });
    terminal.resize(80, 24);
    terminal.wait_for(OPEN);
    assert!(terminal.shown().contains("› (•) 2. Production"), "{}", terminal.shown());
    terminal.press(ENTER);
    assert_eq!(terminal.finish().code, 0);
}

/// The terminal cuts what it shows, and the size is the same again by the time the program looks.
#[test]
fn a_window_that_is_small_for_a_moment_is_drawn_anew() {
    let mut terminal = open(&["ask", DEPLOY]);
    let before = without_time(&terminal.shown());
    for _ in 0..10 {
        terminal.resize(30, 5);
        terminal.resize(80, 24);
    }
    terminal.wait_until("all of it", |screen| without_time(&screen.contents()) == before);
    terminal.press(CTRL_C);
    terminal.finish();
}

/// A key and a change of the size at the same moment: neither is lost.
#[test]
fn keys_pressed_while_the_window_changes_all_count() {
    let mut terminal = open(&["ask", DEPLOY, "--json"]);
    terminal.press("3");
    terminal.wait_for("Your own answer");
    for digit in "0123456789".chars() {
        for columns in [79, 80] {
            terminal.press(&digit.to_string());
            terminal.resize(columns, 24);
        }
    }
    terminal.wait_for("│ 00112233445566778899");
    terminal.press(ENTER);
    assert_eq!(answers(terminal), json!({ "deploy_target": ["00112233445566778899"] }));
}

/// A terminal that does not mark pastes sends them as keys, more than fit into one read.
#[test]
fn a_long_unmarked_paste_arrives_whole() {
    let mut terminal = deploy();
    terminal.press("3");
    terminal.wait_for("Your own answer");
    let text = "word ".repeat(700) + "end";
    terminal.press(&text);
    terminal.wait_for("word end");
    terminal.press(ENTER);
    assert_eq!(answers(terminal), json!({ "deploy_target": [text] }));
}

/// The minutes and seconds left, which end the first line.
fn time_left(screen: &str) -> &str {
    screen.lines().next().unwrap_or_default().rsplit(' ').next().unwrap_or_default()
}

fn without_time(screen: &str) -> String {
    screen.replacen(time_left(screen), "", 1)
}

#[test]
fn a_long_question_is_read_in_a_small_window() {
    let mut long = question("target", &["A", "B"]);
    let middle = "word ".repeat(240);
    long["question"] = format!("It begins here. {middle}It ends here.").into();
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("questions.json");
    fs::write(&file, json!({ "questions": [long] }).to_string()).unwrap();
    let mut terminal = Terminal::run_with(50, 12, &["ask", file.to_str().unwrap()], |_| {});
    terminal.wait_for("It begins here.");
    // Wherever the lines break. The first line is about the prompt and the time.
    let page = |screen: &str| screen.lines().skip(1).collect::<Vec<_>>().join(" ");
    let words = |screen: &str| page(screen).split_whitespace().collect::<Vec<_>>().join(" ");
    let mut pages = 1;
    while !words(&terminal.shown()).contains("It ends here.") {
        let before = page(&terminal.shown());
        terminal.press("\x1b[6~");
        terminal.wait_until("the next page", |screen| page(&screen.contents()) != before);
        pages += 1;
    }
    assert!((2..10).contains(&pages), "{pages}");
    terminal.press("2");
    terminal.wait_for("(•) 2. B");
    terminal.press(ENTER);
    assert_eq!(terminal.finish().code, 0);
}

/// The panel is on the terminal, the result in the pipe, and neither is in the other.
#[test]
fn only_the_result_is_on_standard_output() {
    let mut terminal = deploy();
    assert!(terminal.shown().contains(OPEN));
    terminal.press(ENTER);
    let left = terminal.finish();
    assert_eq!(
        left.stdout,
        "{\"status\":\"answered\",\"answers\":{\"answers\":{\"deploy_target\":[\"Staging (Recommended)\"]}}}\n"
    );
    assert_eq!(left.screen.trim(), "", "with --json nothing is left on the terminal");
}

#[test]
fn a_person_is_left_with_how_it_ended_and_the_result() {
    let mut terminal = Terminal::run(&["ask", DEPLOY]);
    terminal.wait_until("the panel", Terminal::is_panel);
    terminal.press(&["2", ENTER].concat());
    let left = terminal.finish();
    assert_eq!(left.code, 0);
    assert!(left.screen.contains("Answered"), "{}", left.screen);
    assert!(left.screen.contains("Deploy: Production"), "{}", left.screen);
    assert!(!left.screen.contains("Ctrl-C"), "the panel is gone:\n{}", left.screen);
}

#[test]
fn seconds_go_by_on_the_screen() {
    let mut terminal = deploy();
    let before = time_left(&terminal.shown()).to_owned();
    assert!(["15:00", "14:59"].contains(&before.as_str()), "{before}");
    terminal.wait_until("less time", |screen| time_left(&screen.contents()) < before.as_str());
    terminal.press(CTRL_C);
    terminal.finish();
}

#[test]
fn our_own_words_are_in_the_language_asked_for() {
    for (locale, own_words) in [("nl", ["Kies er één", "Overslaan"]), ("id-ID", ["Pilih satu", "Lewati"])] {
        let mut terminal = Terminal::run(&["ask", DEPLOY, "--locale", locale]);
        terminal.wait_until("the panel", Terminal::is_panel);
        for words in own_words {
            terminal.wait_for(words);
        }
        terminal.press(CTRL_C);
        assert_eq!(terminal.finish().code, 130);
    }
}

/// B43: a question that ends by itself does not take what was being typed with it.
#[test]
fn own_text_is_given_back_when_the_question_was_answered_elsewhere() {
    let file = PromptFile::new();
    let mut terminal = Terminal::run(&["ask", DEPLOY, "--store", &file.option()]);
    terminal.wait_until("the panel", Terminal::is_panel);
    terminal.press("3");
    terminal.wait_for("Your own answer");
    terminal.press(&pasted("half a thought\nand more"));
    terminal.wait_for("│ and more");
    file.answer("Production");
    let left = terminal.finish();
    assert_eq!(left.code, 0, "{left:?}");
    assert!(left.screen.contains("Your own answer:\nhalf a thought\nand more"), "{}", left.screen);
    assert!(left.screen.contains("Deploy: Production"), "{}", left.screen);
}

#[test]
fn own_text_is_not_given_back_with_json() {
    let file = PromptFile::new();
    let mut terminal = open(&["ask", DEPLOY, "--json", "--store", &file.option()]);
    terminal.press("3");
    terminal.wait_for("Your own answer");
    terminal.press("half a thought");
    terminal.wait_for("│ half a thought");
    file.answer("Production");
    let left = terminal.finish();
    assert_eq!(left.code, 0, "{left:?}");
    assert_eq!(left.screen.trim(), "");
    assert_eq!(parse(&left.stdout)["answers"]["answers"], json!({ "deploy_target": ["Production"] }));
}

#[test]
fn own_text_is_not_given_back_to_somebody_who_skips() {
    let mut terminal = Terminal::run(&["ask", DEPLOY]);
    terminal.wait_until("the panel", Terminal::is_panel);
    terminal.press("3");
    terminal.wait_for("Your own answer");
    terminal.press("never mind");
    terminal.wait_for("│ never mind");
    terminal.press(CTRL_S);
    terminal.wait_for("› Skip");
    terminal.press(ENTER);
    let left = terminal.finish();
    assert_eq!(left.code, 3);
    assert!(!left.screen.contains("never mind"), "{}", left.screen);
}

/// Ruling 17.
#[test]
fn a_credential_is_refused_on_the_panel_and_never_left_on_the_terminal() {
    let file = PromptFile::new();
    let mut terminal = Terminal::run(&["ask", DEPLOY, "--store", &file.option()]);
    terminal.wait_until("the panel", Terminal::is_panel);
    terminal.press("3");
    terminal.wait_for("Your own answer");
    terminal.press(KEY);
    terminal.wait_for(KEY);
    terminal.press(ENTER);
    terminal.wait_for("secrets tool");
    assert_eq!(file.outcome(), None, "it is still pending");
    file.answer("Production");
    let left = terminal.finish();
    assert_eq!(left.code, 0, "{left:?}");
    assert!(!left.screen.contains(KEY), "{}", left.screen);
}

/// Ruling 31; B91.
#[test]
fn what_a_model_writes_does_not_command_the_terminal() {
    let mut questions = one_question("target", &["Keep\r", "Drop\nALL \u{1b}[2K"]);
    questions["questions"][0]["question"] = "Which \u{1b}]0;title\u{7}\u{1b}[31mone\u{202e}?".into();
    let (_folder, mut terminal) = asking(questions["questions"].clone());
    terminal.wait_for("Which ]0;title[31mone?");
    terminal.wait_for("2. Drop ALL [2K");
    terminal.press(ENTER);
    assert_eq!(answers(terminal), json!({ "target": ["Keep"] }));
}

#[test]
fn a_prompt_is_interactive_only_when_both_the_keyboard_and_the_messages_are_a_terminal() {
    // No keyboard: the text form, on the terminal that there is.
    let terminal = Terminal::run_with(80, 24, &["ask", DEPLOY], |command| {
        command.stdin(Stdio::null());
    });
    let left = terminal.finish();
    assert_eq!(left.code, 3);
    assert!(left.screen.contains("Reply with a number"), "{}", left.screen);
    // No terminal to draw on: lines are read from the keyboard.
    let mut terminal = Terminal::run_with(80, 24, &["ask", DEPLOY], |command| {
        command.stderr(Stdio::null());
    });
    terminal.press("2\n");
    let left = terminal.finish();
    assert_eq!(left.code, 0);
    assert!(left.screen.contains("Deploy: Production"), "{}", left.screen);
    // A terminal that can only print lines.
    let mut terminal = Terminal::run_with(80, 24, &["ask", DEPLOY], |command| {
        command.env("TERM", "dumb");
    });
    terminal.wait_for("Reply with a number");
    assert!(!terminal.screen().alternate_screen());
    terminal.press("2\n");
    assert_eq!(terminal.finish().code, 0);
}

#[test]
fn arguments_typed_at_the_terminal_are_answered_on_the_panel() {
    let mut terminal = Terminal::run(&["ask", "-"]);
    terminal.press(&one_question("target", &["A", "B"]).to_string());
    terminal.press("\n");
    terminal.wait_for("\"B\"");
    terminal.press(CTRL_D);
    terminal.wait_until("the panel", Terminal::is_panel);
    terminal.press(&["2", ENTER].concat());
    let left = terminal.finish();
    assert_eq!(left.code, 0, "{left:?}");
    assert!(left.screen.contains("target: B"), "{}", left.screen);
}

#[test]
fn where_the_arguments_are_wrong_stands_out_unless_colours_are_not_wanted() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("questions.json");
    fs::write(&file, one_question("target", &["A"]).to_string()).unwrap();
    for (no_color, stands_out) in [("", true), ("1", false)] {
        let mut terminal = Terminal::run_with(80, 24, &["ask", file.to_str().unwrap()], |command| {
            command.env("NO_COLOR", no_color);
        });
        terminal.wait_for("received: 1");
        let bold = |row| terminal.screen().cell(row, 2).is_some_and(vt100::Cell::bold);
        let row = terminal.shown().lines().position(|line| line.trim() == "questions[0].options").unwrap();
        assert_eq!(bold(u16::try_from(row).unwrap()), stands_out);
        assert!(!bold(0));
        assert_eq!(terminal.finish().code, 2);
    }
}

#[test]
fn the_panel_does_without_colours_where_they_are_not_wanted() {
    let mut terminal = Terminal::run_with(80, 24, &["ask", DEPLOY], |command| {
        command.env("NO_COLOR", "1");
    });
    terminal.wait_until("the panel", Terminal::is_panel);
    let screen = terminal.screen();
    let (rows, columns) = screen.size();
    for (row, column) in (0..rows.get()).flat_map(|row| (0..columns.get()).map(move |column| (row, column))) {
        let cell = screen.cell(row, column).unwrap();
        assert_eq!((cell.fgcolor(), cell.bgcolor()), (vt100::Color::Default, vt100::Color::Default));
    }
    terminal.press(CTRL_C);
    terminal.finish();
}
