//! What a call of the tool may look like (rulings 1 to 11).

use ask_user_host::AskError;
use ask_user_host::contract::{Rule, SessionKind, SessionStanding, Violation};
use ask_user_host::store::Query;
use ask_user_tests::world::*;
use serde_json::{Value, json};

/// The violations of a call that is refused, after a look that nothing was registered.
async fn refused(arguments: &str) -> Vec<Violation> {
    let world = World::new();
    let error = world.host.ask_user(arguments, &run()).await.expect_err("the call is refused");
    let AskError::InvalidArguments(violations) = error else { panic!("{error}") };
    let page = world.host.list(&operator(), &Query::default()).await.unwrap();
    assert!(page.prompts.is_empty(), "a refused call registers nothing");
    violations
}

async fn refused_at(arguments: &Value) -> Vec<(String, Rule)> {
    refused(&arguments.to_string())
        .await
        .into_iter()
        .map(|violation| (violation.path, violation.rule))
        .collect()
}

/// The question that a valid call with this one makes.
async fn accepted(question: Value) -> ask_user_host::contract::Question {
    let world = World::new();
    let pending = world.ask_json(&json!({ "questions": [question] })).await;
    pending.prompt().questions[0].clone()
}

/// B01
#[tokio::test]
async fn a_header_that_is_too_long_is_cut_and_never_an_error() {
    for (header, stored) in [
        ("Error Handling", "Error Handli"),
        ("Twelve chars", "Twelve chars"),
        ("  padded  ", "padded"),
        ("Eleven char x", "Eleven char"),
        // B28: never in the middle of a character.
        ("Ship it now🚀", "Ship it now🚀"),
        ("Ship it now🚀!", "Ship it now🚀"),
        ("部署目标选择错误处理方式确认", "部署目标选择错误处理方式"),
        ("aaaaaaaaaaae\u{301}e\u{301}", "aaaaaaaaaaae\u{301}"),
        ("👩‍👩‍👧‍👦👩‍👩‍👧‍👦👩‍👩‍👧‍👦👩‍👩‍👧‍👦👩‍👩‍👧‍👦👩‍👩‍👧‍👦👩‍👩‍👧‍👦👩‍👩‍👧‍👦👩‍👩‍👧‍👦👩‍👩‍👧‍👦👩‍👩‍👧‍👦👩‍👩‍👧‍👦👩‍👩‍👧‍👦", "👩‍👩‍👧‍👦👩‍👩‍👧‍👦👩‍👩‍👧‍👦👩‍👩‍👧‍👦👩‍👩‍👧‍👦👩‍👩‍👧‍👦👩‍👩‍👧‍👦👩‍👩‍👧‍👦👩‍👩‍👧‍👦👩‍👩‍👧‍👦👩‍👩‍👧‍👦👩‍👩‍👧‍👦"),
    ] {
        let mut question = question("q", &["A", "B"]);
        question["header"] = json!(header);
        assert_eq!(accepted(question).await.header, stored, "{header}");
    }
}

#[tokio::test]
async fn a_long_question_is_kept_whole() {
    let text = "Which of these? ".repeat(500);
    let mut question = question("q", &["A", "B"]);
    question["question"] = json!(text);
    assert_eq!(accepted(question).await.text, text.trim());
}

/// B02
#[tokio::test]
async fn a_refusal_names_place_rule_and_what_came() {
    let arguments = json!({ "questions": [question("fine", &["A", "B"]), question("region", &["A", "B", "C", "D", "E"])] });
    let violations = refused(&arguments.to_string()).await;
    assert_eq!(violations.len(), 1);
    assert_eq!(violations[0].path, "questions[1].options");
    assert_eq!(violations[0].rule, Rule::Count);
    assert_eq!(violations[0].received, "5");
    assert!(violations[0].allowed.contains("2 to 4"));
    assert!(!violations[0].message.contains("fine"));
}

#[tokio::test]
async fn every_violation_is_listed_in_one_go() {
    let arguments = json!({
        "questions": [
            { "id": "Bad Id", "header": " ", "options": [{ "label": "A" }], "multi": true },
            { "id": "b", "header": "B", "question": "B?", "options": [{ "label": "" }, { "label": "x", "note": 1 }] },
        ],
        "timeoutSeconds": 59.7,
        "sessionKey": "x",
    });
    assert_eq!(
        refused_at(&arguments).await,
        [
            ("sessionKey".into(), Rule::UnknownMember),
            ("questions[0].multi".into(), Rule::UnknownMember),
            ("questions[0].id".into(), Rule::Pattern),
            ("questions[0].header".into(), Rule::Blank),
            ("questions[0].question".into(), Rule::Missing),
            ("questions[0].options".into(), Rule::Count),
            ("questions[1].options[0].label".into(), Rule::Blank),
            ("questions[1].options[1].note".into(), Rule::UnknownMember),
            ("timeoutSeconds".into(), Rule::Integer),
        ]
    );
}

#[tokio::test]
async fn a_flood_of_violations_is_counted_and_not_listed_whole() {
    let members: serde_json::Map<_, _> = (0..5000).map(|n| (format!("m{n}"), Value::Null)).collect();
    let violations = refused(&Value::Object(members).to_string()).await;
    assert_eq!(violations.len(), 65);
    let last = violations.last().unwrap();
    assert_eq!(last.rule, Rule::More);
    assert!(last.message.contains("4937"), "{}", last.message);
}

/// B03
#[tokio::test]
async fn one_option_is_too_few_and_other_does_not_count() {
    let mut without = question("q", &[]);
    without.as_object_mut().unwrap().remove("options");
    for question in [question("q", &["Whole app"]), question("q", &[]), without] {
        let violations = refused(&json!({ "questions": [question] }).to_string()).await;
        assert_eq!(violations[0].path, "questions[0].options");
        assert!(violations[0].message.contains("2 to 4"));
        assert!(violations[0].message.contains("Other is added automatically and does not count"));
    }
}

/// B04
#[tokio::test]
async fn options_of_the_wrong_shape_are_refused_where_they_stand() {
    for (options, path, rule) in [
        (json!(["Fast", "Safe"]), "questions[0].options[0]", Rule::WrongType),
        (
            json!([{ "description": "only" }, { "label": "Safe" }]),
            "questions[0].options[0].label",
            Rule::Missing,
        ),
        (
            json!([{ "label": { "text": "Fast" } }, { "label": "Safe" }]),
            "questions[0].options[0].label",
            Rule::WrongType,
        ),
        (json!([null, { "label": "Safe" }]), "questions[0].options[0]", Rule::WrongType),
        (json!([{ "label": 7 }, { "label": "Safe" }]), "questions[0].options[0].label", Rule::WrongType),
        (
            json!([{ "label": "A", "description": 7 }, { "label": "B" }]),
            "questions[0].options[0].description",
            Rule::WrongType,
        ),
    ] {
        let mut question = question("q", &[]);
        question["options"] = options;
        let violations = refused(&json!({ "questions": [question] }).to_string()).await;
        assert_eq!((violations[0].path.as_str(), violations[0].rule), (path, rule));
        assert!(!violations[0].message.contains("[object"));
    }
}

/// B05
#[tokio::test]
async fn the_time_limit_is_an_integer_that_is_clamped() {
    for (given, seconds) in [
        (None, 900),
        (Some(json!(10)), 30),
        (Some(json!(30)), 30),
        (Some(json!(3600)), 3600),
        (Some(json!(99999)), 3600),
        (Some(json!(-5)), 30),
        (Some(json!(900.0)), 900),
        (Some(json!(1e300)), 3600),
        (Some(json!("120")), 120),
        (Some(json!(" 120 ")), 120),
        (Some(json!("-45")), 30),
        (Some(json!("99999999999999999999999")), 3600),
    ] {
        let mut arguments = one_question("q", &["A", "B"]);
        if let Some(given) = &given {
            arguments["timeoutSeconds"] = given.clone();
        }
        let world = World::new();
        let pending = world.ask_json(&arguments).await;
        let prompt = pending.prompt();
        assert_eq!(prompt.expires_at - prompt.created_at, seconds * 1000, "{given:?}");
    }
    for given in [
        json!(59.7),
        json!("59.7"),
        json!("9e2"),
        json!(""),
        json!("abc"),
        json!(null),
        json!(true),
        json!([900]),
    ] {
        let mut arguments = one_question("q", &["A", "B"]);
        arguments["timeoutSeconds"] = given;
        assert_eq!(refused_at(&arguments).await, [("timeoutSeconds".into(), Rule::Integer)]);
    }
}

#[tokio::test]
async fn three_repairs_are_made_and_no_more() {
    let questions = json!([question("q", &["A", "B"])]);
    let mut options_as_text = question("q", &[]);
    options_as_text["options"] = json!(r#"[{"label":"A"},{"label":"B"}]"#);
    for arguments in [
        json!({ "questions": questions.to_string() }),
        json!({ "questions": question("q", &["A", "B"]) }),
        json!({ "questions": [options_as_text] }),
    ] {
        let pending = World::new().ask_json(&arguments).await;
        assert_eq!(pending.prompt().questions[0].choices.len(), 2);
    }
    for arguments in [
        json!({ "questions": question("q", &["A", "B"]).to_string() }),
        json!({ "questions": [question("q", &["A", "B"]).to_string()] }),
        json!(json!({ "questions": questions }).to_string()),
        question("q", &["A", "B"]),
    ] {
        assert!(!refused(&arguments.to_string()).await.is_empty());
    }
}

#[tokio::test]
async fn ids_are_unique_snake_case_and_otherwise_ordinary() {
    for id in ["constructor", "a", "a1_b2", "__proto__"] {
        let fits = id != "__proto__";
        let arguments = one_question(id, &["A", "B"]);
        let asked = World::new().host.ask_user(&arguments.to_string(), &run()).await;
        assert_eq!(asked.is_ok(), fits, "{id}");
    }
    let twice = json!({ "questions": [question("same", &["A", "B"]), question("same", &["C", "D"])] });
    assert_eq!(refused_at(&twice).await, [("questions[1].id".into(), Rule::Duplicate)]);
}

#[tokio::test]
async fn labels_differ_in_more_than_case_space_and_recommended() {
    for labels in
        [["Yes", " yes "], ["Go  now", "go now"], ["Staging", "Staging (Recommended)"], ["A", "A\u{202e}"]]
    {
        let at = refused_at(&one_question("q", &labels)).await;
        assert_eq!(at, [("questions[0].options[1].label".into(), Rule::Duplicate)], "{labels:?}");
    }
    let long = "x".repeat(256);
    World::new().ask(&[&long, "B"]).await;
    let longer = "x".repeat(257);
    assert_eq!(
        refused_at(&one_question("q", &[&longer, "B"])).await,
        [("questions[0].options[0].label".into(), Rule::TooLong)]
    );
}

#[tokio::test]
async fn an_authored_other_is_refused_with_the_reason() {
    for label in ["Other", "other", " OTHER ", "Other…", "Other...", "Other (Recommended)"] {
        let violations = refused(&one_question("q", &["A", label]).to_string()).await;
        assert_eq!(violations[0].rule, Rule::Reserved, "{label}");
        assert!(violations[0].message.contains("added automatically"));
    }
    for label in ["Others", "Another", "Something else", "None"] {
        World::new().ask(&["A", label]).await;
    }
}

/// B91
#[tokio::test]
async fn control_characters_and_overrides_are_cleaned_away() {
    let asked = accepted(json!({
        "id": "q",
        "header": "a\u{202e}b",
        "question": "Clean\u{1b}[2K up?\r\nNow?",
        "options": [{ "label": "Keep\r" }, { "label": "Drop\nALL", "description": "\u{0}" }],
    }))
    .await;
    assert_eq!(asked.header, "ab");
    assert_eq!(asked.text, "Clean[2K up?\nNow?");
    assert_eq!(asked.choices[0].label, "Keep");
    assert_eq!(asked.choices[1].label, "Drop ALL");
    assert_eq!(asked.choices[1].description, None);
    let blank = one_question("q", &["\u{200b}", "B"]);
    assert_eq!(refused_at(&blank).await, [("questions[0].options[0].label".into(), Rule::Blank)]);
}

#[tokio::test]
async fn arguments_beyond_64_kib_are_refused_unread() {
    let mut arguments = one_question("q", &["A", "B"]);
    arguments["questions"][0]["question"] = json!("x".repeat(64 * 1024));
    assert_eq!(refused_at(&arguments).await, [("arguments".into(), Rule::TooLong)]);
}

#[tokio::test]
async fn what_is_not_json_is_refused_as_that() {
    for arguments in ["", "nonsense", "{", "[1,2", "{\"questions\": [}", &"[".repeat(10_000)] {
        let violations = refused(arguments).await;
        assert_eq!((violations[0].path.as_str(), violations[0].rule), ("arguments", Rule::Json));
    }
    for arguments in ["null", "7", "[]", "\"text\""] {
        assert_eq!(refused(arguments).await[0].rule, Rule::WrongType);
    }
}

/// B60, B68: whatever is declared, only a main session may ask, and others do not even see the tool.
#[tokio::test]
async fn only_a_main_session_may_ask() {
    let world = World::new();
    let arguments = one_question("q", &["A", "B"]).to_string();
    for (run, standing) in [
        (run().session_kind(SessionKind::Subagent), SessionStanding::Subagent),
        (run().session_kind(SessionKind::Acp), SessionStanding::Acp),
        (run().session_kind(SessionKind::Scheduled), SessionStanding::Scheduled),
        (run().session_kind(SessionKind::Heartbeat), SessionStanding::Heartbeat),
        (
            ask_user_host::Run::new("agent:main:subagent:7", "r").session_kind(SessionKind::Main),
            SessionStanding::Subagent,
        ),
        (ask_user_host::Run::new("agent:main:cron:nightly", "r"), SessionStanding::Scheduled),
        (ask_user_host::Run::new(" ", "r"), SessionStanding::NoSession),
    ] {
        assert_eq!(world.host.definition(&run).unwrap(), None);
        let error = world.host.ask_user(&arguments, &run).await.unwrap_err();
        assert!(matches!(&error, AskError::NotAMainSession(found) if *found == standing), "{error}");
    }
    assert!(world.host.definition(&run()).unwrap().is_some());
}

/// B44: the second question of a session is refused at once, and says which one it waits for.
#[tokio::test]
async fn a_second_question_of_a_session_is_refused_with_the_first_ones_id() {
    let world = World::new();
    let first = world.ask(&["A", "B"]).await;
    let second = run().tool_call("call-2");
    let error = world.host.ask_user(&one_question("q", &["A", "B"]).to_string(), &second).await.unwrap_err();
    assert!(matches!(&error, AskError::AlreadyPending { id } if id == first.id()), "{error}");
    assert!(error.to_string().contains(first.id()));

    world.type_in("1").await;
    world
        .host
        .ask_user(&one_question("q", &["A", "B"]).to_string(), &second)
        .await
        .expect("the first one has ended");
}
