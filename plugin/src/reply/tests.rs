//! What messages mean, read like the rulings. `B…` are cases from public bug reports.

use super::*;
use crate::model::{Choice, CredentialPolicy, Origin, Outcome, Question, RepeatPolicy, Settlement};

const POLICY: Policy = Policy {
    credentials: CredentialPolicy::Refuse,
    own_text_limit: Some(16 * 1024),
    repeats: RepeatPolicy::FirstResult,
};
const KEY: &str = "ghp_aB3dE6gH9jK2mN5pQ8sT1vW4yZ7bC0eF3hI6kL9";

fn question(id: &str, header: &str, labels: &[&str]) -> Question {
    Question {
        id: id.into(),
        header: header.into(),
        text: "Which one?".into(),
        choices: labels.iter().map(|label| Choice { label: (*label).into(), description: None }).collect(),
        multi_select: None,
        is_other: Some(true),
        is_secret: None,
        url: None,
    }
}

fn single(labels: &[&str]) -> Prompt {
    prompt(vec![question("target", "Deploy", labels)])
}

fn multi(labels: &[&str]) -> Prompt {
    prompt(vec![many(question("checks", "Checks", labels))])
}

fn many(question: Question) -> Question {
    Question { multi_select: Some(true), ..question }
}

fn closed(question: Question) -> Question {
    Question { is_other: None, ..question }
}

fn prompt(questions: Vec<Question>) -> Prompt {
    Prompt {
        id: "p".into(),
        questions,
        origin: Origin::default(),
        created_at: 0,
        expires_at: 1,
        settlement: None,
    }
}

fn trip() -> Prompt {
    prompt(vec![
        question("city", "City", &["Oslo", "Rome"]),
        many(question("extras", "Extras", &["Sea", "Pool", "Bar"])),
        question("note", "Note", &[]),
    ])
}

fn message(text: &str) -> Message {
    Message { text: text.into(), ..Message::default() }
}

fn say(prompt: &Prompt, text: &str) -> Interpretation {
    interpret(prompt, &message(text), None, &POLICY)
}

/// The values of the only question.
fn value(prompt: &Prompt, text: &str) -> Vec<String> {
    match say(prompt, text) {
        Interpretation::Answers { answers, .. } if answers.len() == 1 => answers[0].values.clone(),
        other => panic!("{text:?}: {other:?}"),
    }
}

fn correction(prompt: &Prompt, text: &str) -> String {
    match say(prompt, text) {
        Interpretation::Correction(correction) => correction,
        other => panic!("{text:?}: {other:?}"),
    }
}

fn answers(given: &[(&str, &[&str])]) -> Vec<Answer> {
    let owned = |values: &[&str]| values.iter().map(|value| (*value).to_owned()).collect();
    given.iter().map(|(id, values)| Answer { question_id: (*id).into(), values: owned(values) }).collect()
}

fn complete(given: &[(&str, &[&str])]) -> Interpretation {
    Interpretation::Answers { answers: answers(given), warning: None }
}

/// Checks an incomplete reading, and gives back its correction.
#[track_caller]
fn incomplete(read: Interpretation, draft: &[(&str, &[&str])], missing: &[&str]) -> String {
    match read {
        Interpretation::Incomplete { draft: found, missing: still, correction } => {
            assert_eq!(found, answers(draft));
            assert_eq!(still, missing);
            correction
        }
        other => panic!("{other:?}"),
    }
}

// One choice of one question: ruling 13.

#[test]
fn a_choice_is_found_by_number_label_and_what_is_left_of_a_label() {
    let prompt = single(&["Staging (Recommended)", "Prod", "🚀 Canary"]);
    for (text, label) in [
        ("1", "Staging (Recommended)"),
        (" 2 ", "Prod"),
        ("\t2\n", "Prod"),
        ("02", "Prod"),
        ("2.", "Prod"),
        ("2)", "Prod"),
        ("#2", "Prod"),
        ("2️⃣", "Prod"),
        ("２", "Prod"),
        ("PROD", "Prod"),
        ("\u{a0}prod\u{a0}", "Prod"),
        ("Prod\u{0}", "Prod"),
        ("staging", "Staging (Recommended)"),
        ("Staging (recommended)", "Staging (Recommended)"),
        ("staging  (RECOMMENDED)", "Staging (Recommended)"),
        ("Staging(Recommended)", "Staging (Recommended)"),
        ("canary", "🚀 Canary"),
        ("🚀  CANARY", "🚀 Canary"),
        ("🚀Canary", "🚀 Canary"),
        ("🚀\u{fe0f} canary", "🚀 Canary"),
        ("\u{2068}canary\u{2069}", "🚀 Canary"),
    ] {
        assert_eq!(value(&prompt, text), [label], "{text:?}");
    }
}

#[test]
fn case_does_not_matter_in_any_script() {
    let prompt = single(&["ΟΔΟΣ", "İstanbul", "Ǆ", "STRASSE"]);
    for (text, label) in
        [("οδος", "ΟΔΟΣ"), ("οδοσ", "ΟΔΟΣ"), ("İSTANBUL", "İstanbul"), ("ǅ", "Ǆ"), ("strasse", "STRASSE")]
    {
        assert_eq!(value(&prompt, text), [label]);
    }
    // Two labels that OpenClaw tells apart stay apart.
    let sigmas = single(&["ΟΔΟΣ", "οδοσ"]);
    assert_eq!(value(&sigmas, "οδοσ"), ["οδοσ"]);
    assert_eq!(value(&sigmas, "οδος"), ["ΟΔΟΣ"]);
}

/// B11.
#[test]
fn the_spelling_that_is_shown_works_and_nothing_is_clamped() {
    let prompt = single(&["Read", "Run", "Skip"]);
    for text in ["1", " 1 ", "1.", "1)", "01"] {
        assert_eq!(value(&prompt, text), ["Read"]);
    }
    for text in ["7", "0", "-1", "1.5", "+1", "1e0", "٢", "①", "9007199254740993", "99999999999999999999999"]
    {
        assert_eq!(value(&prompt, text), [text]);
    }
}

/// B10, B15, B96.
#[test]
fn a_reply_that_starts_with_a_digit_is_own_text() {
    let prompt = single(&["Read", "Run", "Skip"]);
    for text in [
        "2 of them, but not on Friday",
        "1, but not on Mondays",
        "1,2",
        "18:30",
        "4つ",
        "about five, keep them short",
        "2 \n3",
        "1: 2",
        "target: Run",
        "\"Run\"",
        "Option 2",
        "skip it",
        "- Run",
    ] {
        assert_eq!(value(&prompt, text), [text]);
    }
}

/// B10, B15 and ruling 13: digits mean labels only.
#[test]
fn numbers_mean_labels_where_labels_are_numbers() {
    let ports = single(&["3000", "8080", "9000"]);
    for text in ["5173", "1", "2", "18:30", "4つ", "d"] {
        assert_eq!(value(&ports, text), [text]);
    }
    assert_eq!(value(&ports, "8080"), ["8080"]);
    assert_eq!(value(&ports, "b"), ["8080"]);
    assert_eq!(value(&ports, " C) "), ["9000"]);
    let swapped = single(&["2", "1"]);
    assert_eq!(value(&swapped, "2"), ["2"]);
    assert_eq!(value(&swapped, "a"), ["2"]);
}

#[test]
fn a_label_is_its_own_choice_before_it_is_the_mark_of_another() {
    let letters = single(&["b", "1", "x"]);
    assert_eq!(value(&letters, "b"), ["b"]);
    assert_eq!(value(&letters, "1"), ["1"]);
    assert_eq!(value(&letters, "c)"), ["1"]);
    let hash = single(&["#2", "#1"]);
    assert_eq!(value(&hash, "#2"), ["#2"]);
    assert_eq!(value(&hash, "a)"), ["#2"]);
    let rocket = single(&["🚀 2", "Prod"]);
    assert_eq!(value(&rocket, "2"), ["🚀 2"]);
    assert_eq!(value(&rocket, "b"), ["Prod"]);
}

/// B16.
#[test]
fn recommended_may_be_left_out_unless_that_is_another_label() {
    let prompt = single(&["Staging (Recommended)", "Staging!"]);
    for text in ["staging", "Staging (recommended)", "1"] {
        assert_eq!(value(&prompt, text), ["Staging (Recommended)"]);
    }
    let exact = single(&["Staging (Recommended)", "Staging"]);
    assert_eq!(value(&exact, "staging"), ["Staging"]);
    let twice = single(&["A", "B(Recommended)(Recommended)"]);
    assert_eq!(value(&twice, "b (recommended)"), ["b (recommended)"]);
    assert_eq!(value(&twice, "b(recommended)"), ["B(Recommended)(Recommended)"]);
    assert_eq!(value(&twice, "a(recommended)"), ["a(recommended)"]);
    let ambiguous = single(&["🚀 Staging", "🔥 Staging"]);
    assert_eq!(value(&ambiguous, "Staging"), ["Staging"], "own text, since two labels fit");
    assert_eq!(value(&ambiguous, "🔥staging"), ["🔥 Staging"]);
    assert_eq!(value(&single(&["Prod", "Dev"]), "Prod (Recommended)"), ["Prod (Recommended)"]);
}

#[test]
fn own_text_is_taken_to_the_letter() {
    let prompt = single(&["Prod", "Dev"]);
    assert_eq!(value(&prompt, "  two\n lines\u{0}  & <b>tabs</b>\t"), ["two\n lines\u{0}  & <b>tabs</b>"]);
    assert_eq!(value(&prompt, "pro d"), ["pro d"]);
    assert_eq!(value(&prompt, "skip"), ["skip"]);
}

#[test]
fn a_label_goes_back_as_it_was_stored() {
    let prompt = single(&[" Yes ", "No\u{a0}", "May\nbe"]);
    assert_eq!(value(&prompt, "yes"), [" Yes "]);
    assert_eq!(value(&prompt, "2"), ["No\u{a0}"]);
    assert_eq!(value(&prompt, "may be"), ["May\nbe"]);
}

#[test]
fn a_closed_question_is_corrected_with_its_choices() {
    let prompt = prompt(vec![closed(question("c", "C", &["Yes\nplease", "No"]))]);
    for text in ["3", "maybe", "0", "Other", "-1"] {
        assert_eq!(correction(&prompt, text), "Please choose one of these:\n1. Yes please\n2. No", "{text}");
    }
    assert_eq!(value(&prompt, "02"), ["No"]);
    let numbers = super::tests::prompt(vec![closed(question("c", "C", &["4", "6"]))]);
    assert_eq!(correction(&numbers, "1"), "Please choose one of these:\na) 4\nb) 6");
}

#[test]
fn a_question_without_choices_takes_any_text() {
    let prompt = prompt(vec![closed(question("name", "Name", &[]))]);
    for text in ["1", "anything", "two\nlines", "a: b"] {
        assert_eq!(value(&prompt, text), [text]);
    }
}

/// Ruling 13: *Other* alone is never the value.
#[test]
fn other_asks_for_the_own_answer() {
    let prompt = single(&["Prod", "Dev"]);
    for text in ["Other", "other…", " OTHER... ", "Other …"] {
        assert_eq!(correction(&prompt, text), "Please type your own answer.", "{text}");
    }
    for text in ["Others", "Other one", "Other!", "Anders"] {
        assert_eq!(value(&prompt, text), [text]);
    }
    let dutch = Message { locale: Some("nl".into()), ..message("anders") };
    assert!(matches!(interpret(&prompt, &dutch, None, &POLICY), Interpretation::Correction(_)));
    assert_eq!(
        value(&single(&["Other", "Dev"]), "other"),
        ["Other"],
        "a gateway client may have such a label"
    );
}

// Several choices: ruling 14.

/// B13.
#[test]
fn several_choices_are_given_in_the_order_typed() {
    let prompt = multi(&["Lint", "Test", "Docs"]);
    for (text, labels) in [
        ("1", vec!["Lint"]),
        ("1, 3", vec!["Lint", "Docs"]),
        ("lint,docs", vec!["Lint", "Docs"]),
        ("1,docs", vec!["Lint", "Docs"]),
        ("3;1", vec!["Docs", "Lint"]),
        ("1\n3", vec!["Lint", "Docs"]),
        ("1\r\n\r\n3\r\n", vec!["Lint", "Docs"]),
        ("1，3", vec!["Lint", "Docs"]),
        ("1、3", vec!["Lint", "Docs"]),
        ("1；3", vec!["Lint", "Docs"]),
        ("1، 3", vec!["Lint", "Docs"]),
        ("1.,2)", vec!["Lint", "Test"]),
        (" , Lint ,, Docs , ", vec!["Lint", "Docs"]),
        ("1,lint,01", vec!["Lint"]),
    ] {
        assert_eq!(value(&prompt, text), labels, "{text:?}");
    }
}

/// B12.
#[test]
fn a_label_with_a_comma_is_not_cut() {
    let prompt = multi(&["Health, sleep and food", "Design", "Money; debt", "Health"]);
    for (text, labels) in [
        ("health, sleep and food", vec!["Health, sleep and food"]),
        ("Design, Health, sleep and food", vec!["Design", "Health, sleep and food"]),
        ("Design,HEALTH,  sleep   and food", vec!["Design", "Health, sleep and food"]),
        ("1,2", vec!["Health, sleep and food", "Design"]),
        ("Money; debt, Design", vec!["Money; debt", "Design"]),
        ("Health, Design", vec!["Health", "Design"]),
        ("Health, sleep", vec!["Health", "sleep"]),
        ("Design\nHealth,\nsleep and food", vec!["Design", "Health, sleep and food"]),
    ] {
        assert_eq!(value(&prompt, text), labels, "{text:?}");
    }
    let dressed = multi(&["🍏 Food, drink (Recommended)", "Sleep、rest", "Yes;"]);
    assert_eq!(value(&dressed, "sleep、rest，food, drink"), ["Sleep、rest", "🍏 Food, drink (Recommended)"]);
    assert_eq!(value(&dressed, "🍏 food, drink,Yes;"), ["🍏 Food, drink (Recommended)", "Yes;"]);
    assert_eq!(value(&dressed, "yes, 1"), ["Yes;", "🍏 Food, drink (Recommended)"]);
    let lines = multi(&["A", "B", "A B"]);
    assert_eq!(value(&lines, "A\nB"), ["A", "B"]);
    assert_eq!(value(&lines, "A B"), ["A B"]);
}

/// B17.
#[test]
fn own_text_beside_choices_is_kept() {
    let prompt = multi(&["Lint", "Test", "Docs"]);
    assert_eq!(value(&prompt, "1, Docs, and the changelog"), ["Lint", "Docs", "and the changelog"]);
    assert_eq!(value(&prompt, "lint, 9, spelling"), ["Lint", "9", "spelling"]);
    assert_eq!(value(&prompt, "lint, own, own"), ["Lint", "own"]);
}

#[test]
fn text_without_a_choice_in_it_is_one_own_answer() {
    let prompt = multi(&["Lint", "Test", "Docs"]);
    for text in ["own, Own", "none of these; really", "1 and 3", "1 3", "checks: all, soon", "Lint."] {
        assert_eq!(value(&prompt, text), [text]);
    }
    let free = super::tests::prompt(vec![many(question("tags", "Tags", &[]))]);
    for text in ["a,b", "1,2", "a"] {
        assert_eq!(value(&free, text), [text]);
    }
}

#[test]
fn numbers_out_of_range_are_never_a_silent_subset() {
    let prompt = multi(&["Lint", "Test", "Docs"]);
    for text in ["1,2,3,4", "0,1", "4", "#7", "1;99999999999999999999999"] {
        assert_eq!(correction(&prompt, text), "Please choose from 1 to 3. Nothing was taken yet.", "{text}");
    }
    let numbers = multi(&["4", "6", "8"]);
    assert_eq!(value(&numbers, "4, 5"), ["4", "5"]);
    assert_eq!(value(&numbers, "a,c"), ["4", "8"]);
}

#[test]
fn nothing_but_separators_is_corrected() {
    assert_eq!(correction(&multi(&["Lint", "Test"]), ", ,"), "Please type your own answer.");
    let closed = prompt(vec![closed(many(question("m", "M", &["A", "B"])))]);
    assert_eq!(correction(&closed, ";"), "Please choose one of these:\n1. A\n2. B");
}

#[test]
fn a_closed_question_takes_all_of_a_list_or_nothing() {
    let prompt = prompt(vec![closed(many(question("m", "M", &["A", "B", "C"])))]);
    assert_eq!(value(&prompt, "c,a,c"), ["C", "A"]);
    for text in ["a, z", "A B", "a, other"] {
        assert_eq!(correction(&prompt, text), "Please choose one of these:\n1. A\n2. B\n3. C", "{text}");
    }
}

#[test]
fn other_in_a_list_asks_for_the_own_answer() {
    assert_eq!(correction(&multi(&["Lint", "Test"]), "Lint, other"), "Please type your own answer.");
}

// Several questions: ruling 15.

#[test]
fn lines_name_their_question_by_id_header_or_number() {
    let done = complete(&[("city", &["Rome"]), ("extras", &["Sea", "Pool"]), ("note", &["late"])]);
    for text in [
        "city: 2\nextras: 1;2\nnote: late",
        "NOTE = late\nCity=Rome\nextras = sea, pool",
        "city - 2\nextras-1,2\nnote – late",
        "1: rome\n2: 1,2\n3: late",
        "3:late\n2:1,2\n1:2",
        "01: 2\n#2: 1,2\n３：late",
        "City：Rome\nExtras＝Sea、Pool\nNote：late",
        "\n  city  :  2  \n\n extras: 1,2\r\nnote: late\n",
    ] {
        assert_eq!(say(&trip(), text), done, "{text:?}");
    }
}

#[test]
fn lines_may_be_numbered_or_plain() {
    let done = complete(&[("city", &["Rome"]), ("extras", &["Sea", "Pool"]), ("note", &["late"])]);
    for text in [
        "1. Rome\n2. 1,2\n3. late",
        "3) late\n1) 2\n2) sea;pool",
        "Rome\n1,2\nlate",
        "2\nSea, Pool\nlate",
        "city: Rome\nSea, Pool\nlate",
        "1) Rome\nSea, Pool\nlate",
        "Rome\n\nsea,pool\n \nlate",
        "Rome\rsea,pool\u{2028}late",
    ] {
        assert_eq!(say(&trip(), text), done, "{text:?}");
    }
}

/// B18.
#[test]
fn answers_are_keyed_by_id() {
    let prompt = prompt(vec![
        question("api_choice", "Same", &["REST", "RPC"]),
        question("ui_choice", "Same", &["React", "Vue"]),
    ]);
    let done = complete(&[("api_choice", &["REST"]), ("ui_choice", &["React"])]);
    for text in [
        "REST\nReact",
        "ui_choice: react\napi_choice: rest",
        "same: 1\nui_choice: 1",
        "Same: rest\nSame: react",
        "Same: react\napi_choice: rest",
    ] {
        assert_eq!(say(&prompt, text), done, "{text:?}");
    }
}

#[test]
fn an_id_goes_before_a_header_and_a_header_before_a_number() {
    let clash =
        prompt(vec![question("budget", "Deploy", &["A", "B"]), question("deploy", "Budget", &["C", "D"])]);
    assert_eq!(say(&clash, "budget: 2\ndeploy: 1"), complete(&[("budget", &["B"]), ("deploy", &["C"])]));
    let numbers = prompt(vec![question("x1", "2", &["A", "B"]), question("x2", "1", &["C", "D"])]);
    assert_eq!(say(&numbers, "1: 1\n2: 2"), complete(&[("x1", &["B"]), ("x2", &["C"])]));
}

#[test]
fn a_header_may_hold_what_ends_a_key() {
    let prompt = prompt(vec![question("a", "Set-up", &["X", "Y"]), question("b", "x:y", &["X", "Y"])]);
    let done = complete(&[("a", &["Y"]), ("b", &["X"])]);
    for text in ["Set-up: 2\nx:y: 1", "set-up-2\nX:Y=1", "Set-up: 2\n1"] {
        assert_eq!(say(&prompt, text), done, "{text:?}");
    }
}

#[test]
fn a_value_may_hold_what_ends_a_key() {
    let prompt = prompt(vec![question("a", "A", &[]), question("b", "B", &[])]);
    let done = complete(&[("a", &["x: y = z - 1"]), ("b", &["-"])]);
    assert_eq!(say(&prompt, "a: x: y = z - 1\nb: -"), done);
}

#[test]
fn times_and_ranges_are_not_keys() {
    let prompt = prompt(vec![question("out", "Out", &[]), question("back", "Back", &[])]);
    for (one, two) in
        [("1:30", "2:45"), ("1-2 weeks", "2-3 weeks"), ("18:30", "2"), ("1.5", "2.5"), ("x", "2:30")]
    {
        assert_eq!(say(&prompt, &format!("{one}\n{two}")), complete(&[("out", &[one]), ("back", &[two])]));
    }
    assert_eq!(say(&prompt, "out: 1:30\n2:45"), complete(&[("out", &["1:30"]), ("back", &["2:45"])]));
    assert_eq!(say(&prompt, "1: 1:30\n2:45"), complete(&[("out", &["1:30"]), ("back", &["45"])]));
    incomplete(say(&prompt, "2:30"), &[("out", &["2:30"])], &["back"]);
    incomplete(say(&prompt, "2: 30"), &[("back", &["30"])], &["out"]);
}

#[test]
fn a_form_applies_only_if_every_line_fits_it() {
    let prompt = prompt(vec![question("a", "A", &["X", "Y"]), question("b", "B", &["Z"])]);
    assert_eq!(say(&prompt, "b: me\nb: z"), say(&prompt, "b: z\nb: me"), "both answer b twice");
    assert_eq!(say(&prompt, "maybe\nb: z"), complete(&[("a", &["maybe"]), ("b", &["Z"])]));
    assert_eq!(say(&prompt, "c: x\nfoo"), complete(&[("a", &["c: x"]), ("b", &["foo"])]));
    assert_eq!(say(&prompt, "3. x\n2. z"), complete(&[("a", &["3. x"]), ("b", &["Z"])]));
}

#[test]
fn a_label_that_looks_like_a_key_is_still_that_choice() {
    let prompt = prompt(vec![
        question("a", "A", &["b: x", "1. Foo"]),
        question("b", "B", &["a - y", "2) Bar", "2: z"]),
    ]);
    for (one, two) in [("b: x", "a - y"), ("1. Foo", "2) Bar"), ("b: x", "2: z"), ("1. Foo", "a - y")] {
        assert_eq!(say(&prompt, &format!("{one}\n{two}")), complete(&[("a", &[one]), ("b", &[two])]));
    }
    assert_eq!(say(&prompt, "a: 1\n2: z"), complete(&[("a", &["b: x"]), ("b", &["2: z"])]));
}

/// B14.
#[test]
fn what_is_missing_is_named_and_the_rest_is_kept() {
    let prompt = prompt(vec![
        question("city", "City", &["Oslo", "Rome"]),
        question("budget", "Budget", &["Low", "High"]),
    ]);
    let first = incomplete(say(&prompt, "Oslo"), &[("city", &["Oslo"])], &["budget"]);
    assert_eq!(first, "Still needed: Budget (budget). The rest is kept.");
    let draft = answers(&[("city", &["Oslo"])]);
    let then = |text: &str| interpret(&prompt, &message(text), Some(&draft), &POLICY);
    assert_eq!(then("1500"), complete(&[("city", &["Oslo"]), ("budget", &["1500"])]));
    assert_eq!(then("budget: 2"), complete(&[("city", &["Oslo"]), ("budget", &["High"])]));
    assert_eq!(then("Rome\n1500"), complete(&[("city", &["Rome"]), ("budget", &["1500"])]));
    incomplete(then("city: Rome"), &[("city", &["Rome"])], &["budget"]);
    assert_eq!(say(&prompt, "Oslo\n1500"), complete(&[("city", &["Oslo"]), ("budget", &["1500"])]));
}

#[test]
fn plain_lines_fill_what_a_draft_lacks() {
    let draft = answers(&[("extras", &["Sea"])]);
    let then = |text: &str| interpret(&trip(), &message(text), Some(&draft), &POLICY);
    assert_eq!(
        then("Rome\nlate"),
        complete(&[("city", &["Rome"]), ("extras", &["Sea"]), ("note", &["late"])])
    );
    incomplete(then("Rome"), &[("city", &["Rome"]), ("extras", &["Sea"])], &["note"]);
    assert_eq!(then("2\n3\nx"), complete(&[("city", &["Rome"]), ("extras", &["Bar"]), ("note", &["x"])]));
    let draft = answers(&[("extras", &["Sea"]), ("city", &["Oslo"]), ("gone", &["x"]), ("note", &[])]);
    let then = |text: &str| interpret(&trip(), &message(text), Some(&draft), &POLICY);
    let Interpretation::Correction(words) = then("a\nb") else { panic!("two lines for one question") };
    assert_eq!(
        words,
        "That has 2 lines for 3 questions. Please write one line for each question.\n\
         Still needed: Note (note). The rest is kept."
    );
}

#[test]
fn a_key_without_a_value_answers_nothing() {
    incomplete(say(&trip(), "city: Rome\nextras:\nnote:"), &[("city", &["Rome"])], &["extras", "note"]);
    incomplete(say(&trip(), "city:\nnote: x"), &[("note", &["x"])], &["city", "extras"]);
    incomplete(say(&trip(), "city:\nSea\nx"), &[("extras", &["Sea"]), ("note", &["x"])], &["city"]);
    assert!(correction(&trip(), "city:\nnote:").contains("extras"));
}

#[test]
fn a_question_answered_twice_is_corrected() {
    let words = "That answers “City” twice. Please send one answer for it.";
    assert_eq!(correction(&trip(), "city: Rome\nCity: Oslo\nnote: x"), words);
    assert_eq!(correction(&trip(), "1. Rome\n1. Oslo"), words);
    incomplete(say(&trip(), "city:\ncity: Oslo"), &[("city", &["Oslo"])], &["extras", "note"]);
}

#[test]
fn too_many_lines_are_corrected() {
    for text in ["a\nb\nc\nd", "city: Rome\nand\nthis\nnote: x"] {
        assert_eq!(
            correction(&trip(), text),
            "That has 4 lines for 3 questions. Please write one line for each question."
        );
    }
    assert!(correction(&trip(), &"city: x\n".repeat(30_000)).contains("30000"));
}

#[test]
fn a_bad_value_does_not_lose_the_good_ones() {
    let prompt = prompt(vec![
        closed(question("city", "City", &["Oslo", "Rome"])),
        many(question("extras", "", &["Sea", "Pool"])),
        question("note", "Note", &[]),
    ]);
    let words = incomplete(say(&prompt, "Paris\n1\nx"), &[("extras", &["Sea"]), ("note", &["x"])], &["city"]);
    assert_eq!(words, "City: Please choose one of these:\n1. Oslo\n2. Rome");
    let words = incomplete(say(&prompt, "Rome\n1,9"), &[("city", &["Rome"])], &["extras", "note"]);
    assert_eq!(
        words,
        "extras: Please choose from 1 to 2. Nothing was taken yet.\nStill needed: Note (note). The rest is kept."
    );
    assert!(correction(&prompt, "Paris").contains("Still needed: extras, Note (note)"));
}

#[test]
fn an_older_answer_does_not_stand_in_for_a_bad_new_one() {
    let prompt = prompt(vec![closed(question("a", "A", &["X", "Y"])), question("b", "B", &["Z"])]);
    let draft = answers(&[("a", &["X"])]);
    let then = |text: &str| interpret(&prompt, &message(text), Some(&draft), &POLICY);
    incomplete(then("a: none\nb: z"), &[("b", &["Z"])], &["a"]);
    incomplete(then("a: none"), &[], &["a", "b"]);
}

// What is no answer: rulings 16, 19, 34; B19, B20.

#[test]
fn a_settled_prompt_takes_nothing() {
    let settlement =
        Settlement { outcome: Outcome::Answered(vec![]), at: 1, resolved_by: None, resolution_id: None };
    let prompt = Prompt { settlement: Some(settlement), ..single(&["Prod", "Dev"]) };
    for text in ["Prod", "/skip", "yes", ""] {
        assert_eq!(say(&prompt, text), Interpretation::NotAnAnswer(NotAnAnswer::NotPending));
    }
}

#[test]
fn a_picture_is_not_an_answer_and_a_transcript_is() {
    let prompt = single(&["Prod", "Dev"]);
    let voice = Message { has_media: true, ..Message::default() };
    assert_eq!(interpret(&prompt, &voice, None, &POLICY), Interpretation::NotAnAnswer(NotAnAnswer::NoText));
    let heard = Message { transcript: Some("the second one please".into()), ..voice };
    assert_eq!(
        interpret(&prompt, &heard, None, &POLICY),
        complete(&[("target", &["the second one please"])])
    );
}

#[test]
fn a_mention_of_the_bot_is_not_part_of_the_answer() {
    let prompt = single(&["Prod", "Dev for @ask_bot"]);
    let to_bot = |text: &str| Message { bot_names: vec!["ask_bot".into(), "<@U1>".into()], ..message(text) };
    let say = |text: &str| interpret(&prompt, &to_bot(text), None, &POLICY);
    for text in ["@ask_bot prod", "1 <@U1>", "@Ask_Bot, Prod"] {
        assert_eq!(say(text), complete(&[("target", &["Prod"])]));
    }
    assert_eq!(say("@ask_bot dev for @ask_bot"), complete(&[("target", &["dev for"])]));
    assert_eq!(
        say("dev for @ask_bot"),
        complete(&[("target", &["Dev for @ask_bot"])]),
        "a label as it is shown"
    );
    assert_eq!(say("@ask_bot2 prod"), complete(&[("target", &["@ask_bot2 prod"])]));
    assert_eq!(say("@ask_bot"), Interpretation::NotAnAnswer(NotAnAnswer::NoText));
    assert_eq!(say("@ask_bot /skip"), Interpretation::Skip);
    assert_eq!(say("/skip@ask_bot"), Interpretation::Skip);
}

#[test]
fn only_the_whole_message_skips() {
    for prompt in [single(&["Prod", "Dev"]), trip()] {
        for text in ["/skip", " /SKIP\n"] {
            assert_eq!(say(&prompt, text), Interpretation::Skip);
        }
    }
    for text in ["skip", "/skip it", "/skip\n1", "/overslaan", "/stop"] {
        assert_eq!(value(&single(&["Prod", "Dev"]), text), [text]);
    }
    assert_eq!(say(&single(&["/skip", "Dev"]), "/skip"), Interpretation::Skip, "skip is everywhere");
}

#[test]
fn the_catalogue_form_skips_where_it_was_shown() {
    let mut prompt = single(&["Prod", "Dev"]);
    let indonesian = Message { locale: Some("id-ID".into()), ..message("/Lewati") };
    assert_eq!(interpret(&prompt, &indonesian, None, &POLICY), Interpretation::Skip);
    prompt.origin.locale = Some("nl".into());
    assert_eq!(say(&prompt, "/overslaan"), Interpretation::Skip);
    let shown_in_dutch = Message { locale: Some("en".into()), ..message("/overslaan") };
    assert_eq!(interpret(&prompt, &shown_in_dutch, None, &POLICY), Interpretation::Skip);
}

#[test]
fn corrections_come_in_the_language_of_the_message_else_of_the_prompt() {
    let mut prompt = single(&["Prod", "Dev"]);
    prompt.origin.locale = Some("nl".into());
    let dutch = language(Some("nl")).corrections.type_own;
    let indonesian = language(Some("id")).corrections.type_own;
    assert_eq!(correction(&prompt, "Other"), dutch);
    let message = Message { locale: Some("id".into()), ..message("Other") };
    assert_eq!(interpret(&prompt, &message, None, &POLICY), Interpretation::Correction(indonesian.into()));
}

// What may not be stored: rulings 17 and 18.

#[test]
fn a_credential_is_refused_and_not_repeated() {
    let words = language(None).corrections.credential;
    let closed_prompt = prompt(vec![closed(question("c", "C", &["Yes", "No"]))]);
    for (prompt, text) in [
        (single(&["Prod", "Dev"]), KEY.to_owned()),
        (single(&["Prod", "Dev"]), format!("use {KEY}, please")),
        (multi(&["Lint", "Test"]), format!("lint, {KEY}")),
        (multi(&["Lint", "Test"]), "lint\n-----BEGIN PRIVATE KEY-----\nMIIE".to_owned()),
        (closed_prompt, KEY.to_owned()),
        (trip(), format!("a\nb\nc\n{KEY}")),
        (trip(), format!("city: a\ncity: {KEY}")),
        (trip(), "-----BEGIN PRIVATE KEY-----\nMIIEaaaa\n-----END PRIVATE KEY-----".to_owned()),
    ] {
        let read = say(&prompt, &text);
        assert_eq!(read, Interpretation::Correction(words.to_owned()), "{text}");
    }
    let words = incomplete(
        say(&trip(), &format!("Rome\nSea\n{KEY}")),
        &[("city", &["Rome"]), ("extras", &["Sea"])],
        &["note"],
    );
    assert!(words.starts_with("Note: That looks like a password or key.") && !words.contains("ghp_"));
}

#[test]
fn a_key_in_front_does_not_hide_a_credential() {
    let prompt = prompt(vec![question("sk", "SK", &[]), question("b", "B", &[])]);
    let text = "sk-ant-api03-aB3dE6gH9jK2mN5pQ8sT1vW4yZ7bC0eF3hI6kL9\nb: x";
    let words = incomplete(say(&prompt, text), &[("b", &["x"])], &["sk"]);
    assert!(!words.contains("api03"));
}

#[test]
fn a_label_may_always_be_chosen() {
    let prompt = multi(&[KEY, "Test"]);
    assert_eq!(value(&prompt, KEY), [KEY]);
    assert_eq!(value(&prompt, &format!("test, {KEY}")), ["Test", KEY]);
    let tight = Policy { own_text_limit: Some(1), ..POLICY };
    let read = interpret(&prompt, &message(&format!("test, {KEY}")), None, &tight);
    assert_eq!(read, complete(&[("checks", &["Test", KEY])]));
}

#[test]
fn operators_can_have_a_warning_instead() {
    let read = |prompt: &Prompt, text: &str, credentials| {
        interpret(prompt, &message(text), None, &Policy { credentials, ..POLICY })
    };
    let warning = language(None).corrections.credential_warning;
    let taken = answers(&[("target", &[KEY])]);
    assert_eq!(
        read(&single(&["Prod", "Dev"]), KEY, CredentialPolicy::Warn),
        Interpretation::Answers { answers: taken.clone(), warning: Some(warning.to_owned()) }
    );
    assert_eq!(
        read(&single(&["Prod", "Dev"]), KEY, CredentialPolicy::Accept),
        Interpretation::Answers { answers: taken, warning: None }
    );
    let words =
        incomplete(read(&trip(), KEY, CredentialPolicy::Warn), &[("city", &[KEY])], &["extras", "note"]);
    assert!(words.ends_with(warning));
}

#[test]
fn own_text_beyond_the_limit_is_corrected() {
    let prompt = single(&["Prod", "Dev"]);
    let most = "é".repeat(8 * 1024);
    assert_eq!(value(&prompt, &format!("  {most} ")), [most.as_str()]);
    assert_eq!(
        correction(&prompt, &format!("{most}x")),
        "That answer has 16385 bytes; at most 16384 are possible."
    );
    let words = incomplete(
        say(&trip(), &format!("Rome\n1\n{most}x")),
        &[("city", &["Rome"]), ("extras", &["Sea"])],
        &["note"],
    );
    assert!(words.starts_with("Note: That answer has 16385 bytes"));
    let unlimited = Policy { own_text_limit: None, ..POLICY };
    let read = interpret(&prompt, &message(&format!("{most}x")), None, &unlimited);
    assert!(matches!(read, Interpretation::Answers { .. }));
}

/// Work grows with the length of a message and no faster, whatever it is made of.
#[test]
fn long_messages_are_read() {
    let labels = ["a,a,a,a,a,a,a,b", "🚀 a,b;c (Recommended)", "x", "y"];
    let prompts = [
        multi(&labels),
        prompt(vec![
            many(question("a", "a:b-c", &labels)),
            many(question("b", "", &labels)),
            question("c", "C", &[]),
        ]),
    ];
    for prompt in &prompts {
        for part in [
            "a,", "1,", "a: ", "a:b-", "a\n", "1.", "@b ", "sk-", "eyJ.", ",", "1: 2\n", "🚀", "\u{0}",
            "-BEGIN ",
        ] {
            let text = part.repeat(64 * 1024 / part.len());
            let message = Message { bot_names: vec!["b".into(), "@".into()], ..message(&text) };
            let _ = interpret(prompt, &message, None, &POLICY);
        }
    }
}
