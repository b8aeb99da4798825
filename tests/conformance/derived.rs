//! Vectors that nobody recorded: inputs that the recorded ones lack, with what OpenClaw does by its documented rules. They
//! are here so that every declared difference has a vector that needs it; each shows one difference and nothing else.

use serde_json::{Value, json};

use crate::vectors::{File, Vector, of_line};

/// What their names begin with.
pub(crate) const GROUP: &str = "derived";

/// All of them.
pub(crate) fn vectors() -> Vec<Vector> {
    let replies = taken().into_iter().map(|(name, questions, reply, answers)| {
        let resolve = match answers {
            Some(answers) => json!({ "ok": true, "answers": answers }),
            None => json!({ "ok": false, "reason": "QUESTION_INVALID_ANSWER" }),
        };
        vector(File::Replies, name, &json!({ "questions": questions, "reply": reply, "resolve": resolve }))
    });
    let calls = accepted().into_iter().map(|(name, arguments, stored)| {
        let direct = json!({ "ok": true, "questions": stored, "timeoutSeconds": 900 });
        vector(
            File::ToolArguments,
            name,
            &json!({ "arguments": arguments, "direct": direct, "viaCoercion": "same" }),
        )
    });
    let answers = answered().into_iter().map(|(name, value)| vector(File::Gateway, name, &answering(&value)));
    let surrogates = [lone_surrogate_in_a_reply(), lone_surrogate_in_a_label()];
    replies.chain(calls).chain(answers).chain(surrogates).collect()
}

fn vector(file: File, name: &str, members: &Value) -> Vector {
    let mut line = members.clone();
    line["name"] = json!(format!("{GROUP}/{name}"));
    of_line(file, &line.to_string()).unwrap_or_else(|problem| panic!("{name}: {problem}"))
}

fn question(id: &str, header: &str, labels: &[&str]) -> Value {
    let options: Vec<Value> = labels.iter().map(|label| json!({ "label": label })).collect();
    json!({ "id": id, "header": header, "question": format!("Which {id}?"), "options": options, "isOther": true })
}

fn target() -> Value {
    json!([question("target", "Target", &["Staging", "Prod"])])
}

fn two(headers: [&str; 2]) -> Value {
    json!([question("one", headers[0], &["A", "B"]), question("two", headers[1], &["C", "D"])])
}

/// Replies, and the answers that OpenClaw takes; nothing where it takes none.
fn taken() -> Vec<(&'static str, Value, String, Option<Value>)> {
    let key = format!("ghp_{}", "a1B2".repeat(9));
    let long = "own ".repeat(5000);
    let one = |value: &str| Some(json!({ "target": [value] }));
    let both = |one: &str, two: &str| Some(json!({ "one": [one], "two": [two] }));
    vec![
        ("control-character", target(), "Pr\u{7}od".into(), one("Pr\u{7}od")),
        ("other", target(), "Other…".into(), one("Other…")),
        ("skip", target(), "/skip".into(), one("/skip")),
        ("nothing-to-see", target(), "\u{200b}".into(), one("\u{200b}")),
        ("credential", target(), key.clone(), one(&key)),
        ("long", target(), long.clone(), one(long.trim())),
        ("blank-line", two(["One", "Two"]), "A\n\nC".into(), None),
        ("carriage-return", two(["One", "Two"]), "A\rC".into(), None),
        ("time", two(["One", "Two"]), "1:30\n2:45".into(), both("30", "45")),
        ("header-with-hyphen", two(["Set-up", "Two"]), "Set-up: B\nTwo: D".into(), both("Set-up: B", "D")),
        ("header-spaced", two(["Set up", "Two"]), "Set  up: B\nTwo: D".into(), both("Set  up: B", "D")),
        ("key-alone", two(["One", "Two"]), "One:\nTwo: D".into(), both("One:", "D")),
        ("one-key", two(["One", "Two"]), "Two: D".into(), both("Two: D", "D")),
        (
            "label-like-a-key",
            json!([question("one", "One", &["one: A", "B"]), question("two", "Two", &["C", "D"])]),
            "one: A\ntwo: D".into(),
            both("A", "D"),
        ),
    ]
}

/// Arguments that OpenClaw accepts, and the questions it stores.
fn accepted() -> Vec<(&'static str, Value, Value)> {
    let call = |question: &str, label: &str, description: Option<&str>| {
        let mut option = json!({ "label": label });
        if let Some(description) = description {
            option["description"] = json!(description);
        }
        let options = json!([option, { "label": "B" }]);
        let sent = json!({ "id": "q", "header": "Q", "question": question, "options": options });
        let stored = json!({ "questionId": "q", "header": "Q", "question": question, "options": options, "isOther": true });
        (json!({ "questions": [sent] }), json!([stored]))
    };
    let long = "Which? ".repeat(10_000);
    [
        ("only-recommended", call("Which?", "(Recommended)", None)),
        ("description-with-nothing-to-see", call("Which?", "A", Some("\u{200b}"))),
        ("long", call(long.trim(), "A", None)),
    ]
    .into_iter()
    .map(|(name, (arguments, stored))| (name, arguments, stored))
    .collect()
}

/// Answers that clients of the gateway give, and OpenClaw takes.
fn answered() -> [(&'static str, String); 2] {
    [("credential", format!("ghp_{}", "a1B2".repeat(9))), ("long", "own ".repeat(5000).trim().to_owned())]
}

/// A scenario in which a client asks, and answers with a text of its own.
fn answering(value: &str) -> Value {
    let questions = json!([{
        "questionId": "target", "header": "Target", "question": "Which target?", "options": [], "isOther": true,
    }]);
    let (id, times) = ("gv-a", json!({ "$plusMs": 900_000 }));
    let record = json!({
        "id": id, "questions": questions, "createdAtMs": "$createdAtMs", "expiresAtMs": times, "status": "pending",
    });
    let answers = json!({ "answers": { "target": [value] } });
    json!({
        "group": GROUP,
        "connections": { "c": { "scopes": ["operator.questions"] } },
        "steps": [
            {
                "as": "c", "method": "question.request", "params": { "id": id, "questions": questions },
                "outcome": { "ok": true, "payload": { "id": id, "expiresAtMs": times } },
                "order": ["event:question.requested", "response"],
                "events": [{ "event": "question.requested", "to": ["c"], "payload": record }],
            },
            {
                "as": "c", "method": "question.resolve", "params": { "id": id, "answers": answers },
                "outcome": { "ok": true, "payload": { "status": "answered", "answers": answers } },
                "events": [{
                    "event": "question.resolved", "to": ["c"],
                    "payload": { "id": id, "status": "answered", "answers": answers },
                }],
            },
        ],
    })
}

fn lone_surrogate_in_a_reply() -> Vector {
    let line = r#"{"name":"derived/lone-surrogate","questions":[{"id":"q","header":"Q","question":"Q?","options":[],"isOther":true}],
        "reply":"\ud83d","resolve":{"ok":true,"answers":{"q":["\ud83d"]}}}"#;
    of_line(File::Replies, line).unwrap_or_else(|problem| panic!("{problem}"))
}

fn lone_surrogate_in_a_label() -> Vector {
    let question = r#""header":"Q","question":"Q?","options":[{"label":"\ud83d"},{"label":"B"}]"#;
    let line = format!(
        r#"{{"name":"derived/lone-surrogate","arguments":{{"questions":[{{"id":"q",{question}}}]}},
            "direct":{{"ok":true,"questions":[{{"questionId":"q",{question},"isOther":true}}],"timeoutSeconds":900}},
            "viaCoercion":"same"}}"#
    );
    of_line(File::ToolArguments, &line).unwrap_or_else(|problem| panic!("{problem}"))
}
