//! `ask-user question` and `ask-user bench` against our gateway, as scripts and people run them.

use std::io::Write as _;

use ask_user_tests::gateway::*;
use ask_user_tests::program::{Ran, Running, command, fed};
use ask_user_tests::world::START;
use serde_json::{Value, json};

const QUESTIONS: &[&str] = &["operator.questions"];

/// The environment in which the program finds a gateway.
fn environment(served: &Served) -> [(&'static str, String); 2] {
    [
        ("ASK_USER_GATEWAY_URL", format!("ws://{}", served.address())),
        ("ASK_USER_GATEWAY_TOKEN", TOKEN.to_owned()),
    ]
}

/// Runs the program to its end, while the gateway serves.
async fn run(served: &Served, arguments: &[&str]) -> Ran {
    let mut command = command(arguments);
    command.envs(environment(served));
    tokio::task::spawn_blocking(move || fed(&mut command, b"")).await.unwrap()
}

fn start(served: &Served, arguments: &[&str]) -> Running {
    let environment = environment(served);
    Running::start_with(arguments, &environment.each_ref().map(|(name, value)| (*name, value.as_str())))
}

async fn ask(client: &mut Client, params: &Value) -> String {
    client.call("question.request", params).await.unwrap()["id"].as_str().unwrap().to_owned()
}

async fn asked_in(client: &mut Client, session: &str) -> String {
    let mut params = one_wire_question(&["Staging", "Production"]);
    params["sessionKey"] = session.into();
    ask(client, &params).await
}

fn parsed(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_else(|error| panic!("{error}: {text}"))
}

async fn fate(client: &mut Client, id: &str) -> Value {
    let mut got = client.call("question.get", &json!({ "id": id })).await.unwrap();
    got["question"].take()
}

mod listing {
    use super::*;

    #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
    async fn people_get_a_table_and_scripts_get_records() {
        let served = Served::new().await;
        let ran = run(&served, &["question", "list"]).await;
        assert_eq!((ran.code, ran.stdout.as_str(), ran.stderr.as_str()), (0, "", "no questions\n"));

        let mut client = served.client(QUESTIONS).await;
        let first = asked_in(&mut client, "main").await;
        let mut hostile = one_wire_question(&["A\u{1b}[2J", "B"]);
        hostile["questions"][0]["question"] = "Red\u{1b}[31m or\nblue\u{202e}?".into();
        let second = ask(&mut client, &hostile).await;

        let ran = run(&served, &["question", "list"]).await;
        assert_eq!(ran.code, 0, "{}", ran.stderr);
        let lines: Vec<&str> = ran.stdout.lines().collect();
        assert!(lines[0].starts_with("ID ") && lines[0].ends_with("STATUS"), "{}", ran.stdout);
        assert!(lines[1].starts_with(&first) && lines[1].contains("target: Which target?"), "{}", ran.stdout);
        assert!(lines[1].contains("agent:main:main") && lines[1].ends_with("pending"), "{}", ran.stdout);
        // The gateway's clock stands still, and it is the one that counts.
        assert!(lines[1].contains("14:5") || lines[1].contains("15:00"), "{}", ran.stdout);
        assert!(lines[2].starts_with(&second) && lines[2].contains("Red[31m or blue?"), "{}", ran.stdout);
        assert!(!ran.stdout.contains(['\u{1b}', '\u{202e}']));

        let ran = run(&served, &["question", "list", "--json"]).await;
        let listed = parsed(&ran.stdout);
        assert_eq!(
            listed["questions"],
            json!([fate(&mut client, &first).await, fate(&mut client, &second).await])
        );
    }

    #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
    async fn it_can_be_filtered_and_read_in_parts() {
        let served = Served::new().await;
        let mut client = served.client(QUESTIONS).await;
        let mut asked = Vec::new();
        for session in ["main", "other", "main"] {
            asked.push(asked_in(&mut client, session).await);
            served.clock.advance(1);
        }
        client.call("question.resolve", &wire_answer(&json!(asked[2]), "Staging")).await.unwrap();
        for (options, expected) in [
            (["--session", "main"].as_slice(), vec![0]),
            (&["--status", "settled"], vec![2]),
            (&["--status", "all", "--session", "agent:main:main"], vec![0, 2]),
            (&["--all", "--status", "all"], vec![0, 1, 2]),
            (&["--run", "none"], vec![]),
        ] {
            let ran = run(&served, &[&["question", "list", "--json"], options].concat()).await;
            let listed = parsed(&ran.stdout);
            let ids: Vec<_> = listed["questions"].as_array().unwrap().iter().map(|one| &one["id"]).collect();
            let expected: Vec<_> = expected.into_iter().map(|place: usize| json!(asked[place])).collect();
            assert_eq!(ids, expected.iter().collect::<Vec<_>>(), "{options:?}");
        }
        let ran = run(&served, &["question", "list", "--limit", "1"]).await;
        assert!(ran.stdout.contains(&asked[0]) && !ran.stdout.contains(&asked[1]), "{}", ran.stdout);
        let cursor = ran.stderr.trim().strip_prefix("there are more: --cursor ").unwrap();
        let cursor = cursor.strip_suffix(", or --all").unwrap();
        let ran = run(&served, &["question", "list", "--limit", "1", "--cursor", cursor]).await;
        assert!(ran.stdout.contains(&asked[1]) && ran.stderr.is_empty(), "{ran:?}");
    }

    #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
    async fn one_question_is_shown_as_a_person_is_asked_it() {
        let served = Served::new().await;
        let mut client = served.client(QUESTIONS).await;
        let id = asked_in(&mut client, "main").await;
        let ran = run(&served, &["question", "get", &id]).await;
        for text in
            ["Which target?", "1. Staging", "2. Production", "status   pending", "session  agent:main:main"]
        {
            assert!(ran.stdout.contains(text), "{text}: {}", ran.stdout);
        }
        client.call("question.resolve", &wire_answer(&json!(id), "own words")).await.unwrap();
        let ran = run(&served, &["question", "get", &id]).await;
        for text in ["status   answered", "answer   target: own words", "by       operator"] {
            assert!(ran.stdout.contains(text), "{text}: {}", ran.stdout);
        }
        let ran = run(&served, &["question", "get", &id, "--json"]).await;
        assert_eq!(parsed(&ran.stdout), fate(&mut client, &id).await);
    }
}

mod answering {
    use super::*;

    #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
    async fn a_value_is_read_as_a_typed_reply() {
        let served = Served::new().await;
        let mut client = served.client(QUESTIONS).await;
        for (labels, values, expected) in [
            (["Staging (Recommended)", "Production"], ["2"].as_slice(), json!(["Production"])),
            (["Staging (Recommended)", "Production"], &["staging"], json!(["Staging (Recommended)"])),
            (["Staging (Recommended)", "Production"], &["2 of them"], json!(["2 of them"])),
            // Where labels are numbers, choices have letters.
            (["8080", "3000"], &["b"], json!(["3000"])),
            (["8080", "3000"], &["1"], json!(["1"])),
            (["Staging (Recommended)", "Production"], &["--verbatim", "--", "2"], json!(["2"])),
        ] {
            let id = ask(&mut client, &one_wire_question(&labels)).await;
            let ran = run(&served, &[&["question", "resolve", &id], values].concat()).await;
            assert_eq!(ran.code, 0, "{values:?}: {}", ran.stderr);
            assert_eq!(fate(&mut client, &id).await["answers"]["answers"]["target"], expected, "{values:?}");
        }
    }

    #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
    async fn several_questions_are_answered_by_name() {
        let served = Served::new().await;
        let mut client = served.client(QUESTIONS).await;
        let mut checks = wire_question("checks", &["Unit", "Lint", "Fuzz"]);
        checks["multiSelect"] = true.into();
        let params = json!({ "questions": [wire_question("day", &["Monday", "Thursday"]), checks] });
        let id = ask(&mut client, &params).await;

        let ran = run(&served, &["question", "resolve", &id, "2"]).await;
        assert_eq!(ran.code, 64);
        assert!(ran.stderr.contains("--answer QUESTION=VALUE for each of day, checks"), "{}", ran.stderr);
        let ran = run(&served, &["question", "resolve", &id, "--answer", "week=1", "--json"]).await;
        assert_eq!((ran.code, &parsed(&ran.stderr)["error"]), (64, &json!("usage")));

        let answers = ["--answer", "day=2", "--answer", "checks=3", "--answer", "checks=Unit", "--json"];
        let resolve =
            [["question", "resolve", &id].as_slice(), &answers, &["--resolution-id", "mine"]].concat();
        let ran = run(&served, &resolve).await;
        let expected = json!({
            "status": "answered", "answers": { "answers": { "day": ["Thursday"], "checks": ["Unit", "Fuzz"] } },
        });
        let sorted = |value: &Value| value["answers"]["answers"]["checks"].as_array().unwrap().len();
        let answered = parsed(&ran.stdout);
        assert_eq!((ran.code, &answered["status"]), (0, &expected["status"]), "{}", ran.stderr);
        assert_eq!(answered["answers"]["answers"]["day"], expected["answers"]["answers"]["day"]);
        assert_eq!(sorted(&answered), 2);
        // The mark makes it safe to repeat.
        assert_eq!(run(&served, &resolve).await.code, 0);
        let ran =
            run(&served, &["question", "resolve", &id, "--answer", "day=1", "--verbatim", "--json"]).await;
        assert_eq!((ran.code, &parsed(&ran.stderr)["reason"]), (1, &json!("QUESTION_ALREADY_TERMINAL")));
    }

    #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
    async fn what_does_not_fit_leaves_the_question_as_it_is() {
        let served = Served::new().await;
        let mut client = served.client(QUESTIONS).await;
        let mut params = one_wire_question(&["A", "B"]);
        params["questions"][0]["isOther"] = false.into();
        let id = ask(&mut client, &params).await;
        let ran = run(&served, &["question", "resolve", &id, "3", "--json"]).await;
        assert_eq!((ran.code, &parsed(&ran.stderr)["error"]), (1, &json!("correction")), "{ran:?}");
        let ran = run(&served, &["question", "resolve", &id, "--verbatim", "3", "--json"]).await;
        assert_eq!((ran.code, &parsed(&ran.stderr)["reason"]), (1, &json!("QUESTION_INVALID_ANSWER")));
        let ran = run(&served, &["question", "resolve", &id, "/skip"]).await;
        assert_eq!(ran.code, 64);
        assert_eq!(fate(&mut client, &id).await["status"], "pending");

        let ran = run(&served, &["question", "cancel", &id, "--reason", "cancelled"]).await;
        assert_eq!((ran.code, ran.stdout.as_str()), (0, "cancelled\n"), "{}", ran.stderr);
        let id = ask(&mut client, &params).await;
        let ran = run(&served, &["question", "cancel", &id, "--json"]).await;
        assert_eq!(parsed(&ran.stdout), json!({ "status": "cancelled", "reason": "skipped" }));
    }
}

mod waiting {
    use super::*;

    /// Waits until somebody waits for an answer.
    async fn somebody_waits(served: &Served) {
        while !served.page("/metrics").await.1.contains("ask_user_waiters 1") {
            tokio::task::yield_now().await;
        }
    }

    #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
    async fn the_exit_code_tells_an_answer_from_none() {
        let served = Served::new().await;
        let mut client = served.client(QUESTIONS).await;
        let id = ask(&mut client, &one_wire_question(&["A", "B"])).await;

        let waiting = start(&served, &["question", "wait", &id, "--timeout", "60", "--json"]);
        somebody_waits(&served).await;
        served.clock.advance(60_000);
        let ran = tokio::task::spawn_blocking(|| waiting.finish()).await.unwrap();
        assert_eq!((ran.code, parsed(&ran.stdout)), (3, json!({ "status": "pending" })), "{}", ran.stderr);

        let waiting = start(&served, &["question", "wait", &id]);
        somebody_waits(&served).await;
        client.call("question.resolve", &wire_answer(&json!(id), "B")).await.unwrap();
        let ran = tokio::task::spawn_blocking(|| waiting.finish()).await.unwrap();
        assert_eq!((ran.code, ran.stdout.as_str()), (0, "target: B\n"), "{}", ran.stderr);

        let id = ask(&mut client, &one_wire_question(&["A", "B"])).await;
        served.clock.advance(900_000);
        let ran = run(&served, &["question", "wait", &id]).await;
        assert_eq!((ran.code, ran.stdout.as_str()), (3, "expired\n"), "{}", ran.stderr);
        let ran = run(&served, &["question", "wait", "nope", "--json"]).await;
        let problem = parsed(&ran.stderr);
        assert_eq!(
            (ran.code, &problem["reason"], &problem["id"]),
            (1, &json!("QUESTION_NOT_FOUND"), &json!("nope"))
        );
    }

    #[cfg(unix)]
    #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
    async fn ctrl_c_ends_the_wait_and_not_the_question() {
        let served = Served::new().await;
        let mut client = served.client(QUESTIONS).await;
        let id = ask(&mut client, &one_wire_question(&["A", "B"])).await;
        let waiting = start(&served, &["question", "wait", &id, "--json"]);
        somebody_waits(&served).await;
        let ran = tokio::task::spawn_blocking(|| waiting.interrupt()).await.unwrap();
        assert_eq!((ran.code, &parsed(&ran.stderr)["error"]), (130, &json!("aborted")), "{ran:?}");
        assert_eq!(fate(&mut client, &id).await["status"], "pending");
    }

    #[cfg(unix)]
    #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
    async fn whoever_watches_sees_what_is_pending_and_then_what_happens() {
        let served = Served::new().await;
        let mut client = served.client(QUESTIONS).await;
        let first = ask(&mut client, &one_wire_question(&["A", "B"])).await;
        let mut watching =
            [start(&served, &["question", "watch"]), start(&served, &["question", "watch", "--json"])];
        for watching in &watching {
            watching.wait_for_result(&first);
        }
        let second = ask(&mut client, &one_wire_question(&["A", "B"])).await;
        client.call("question.resolve", &wire_answer(&json!(first), "A")).await.unwrap();
        client.call("question.resolve", &json!({ "id": second, "cancel": true })).await.unwrap();
        for watching in &mut watching {
            watching.wait_for_result("skipped");
        }
        let [people, scripts] = watching.map(Running::interrupt);
        assert_eq!((people.code, scripts.code), (0, 0), "{people:?} {scripts:?}");
        let told: Vec<String> = people
            .stdout
            .lines()
            .map(|line| {
                line.split("  ").filter(|part| !part.is_empty()).skip(1).take(2).collect::<Vec<_>>().join(" ")
            })
            .map(|line| line.split_whitespace().collect::<Vec<_>>().join(" "))
            .collect();
        let line = |what: &str, id: &str| format!("{what} {id}");
        assert_eq!(
            told,
            [
                line("pending", &first),
                line("asked", &second),
                line("answered", &first),
                line("cancelled", &second)
            ]
        );
        let lines: Vec<Value> = scripts.stdout.lines().map(parsed).collect();
        let told: Vec<_> = lines.iter().map(|line| (&line["event"], &line["payload"]["id"])).collect();
        let (pending, requested, resolved) =
            (json!("pending"), json!("question.requested"), json!("question.resolved"));
        let (first, second) = (json!(first), json!(second));
        assert_eq!(
            told,
            [(&pending, &first), (&requested, &second), (&resolved, &first), (&resolved, &second)]
        );
        assert_eq!(lines[0]["payload"]["createdAtMs"], START);
    }

    #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
    async fn whoever_watches_learns_that_the_gateway_ends() {
        let served = Served::new().await;
        let mut client = served.client(QUESTIONS).await;
        let id = ask(&mut client, &one_wire_question(&["A", "B"])).await;
        let watching = start(&served, &["question", "watch", "--json"]);
        watching.wait_for_result(&id);
        // It does not read, and would be waited for.
        drop(client);
        served.gateway.shutdown().await;
        let ran = tokio::task::spawn_blocking(|| watching.finish()).await.unwrap();
        let problem = parsed(&ran.stderr);
        assert_eq!((ran.code, &problem["error"]), (1, &json!("closed")));
        assert!(problem["message"].as_str().unwrap().contains("1012 service restart"), "{problem}");
    }
}

mod connecting {
    use super::*;

    #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
    async fn what_is_in_the_way_is_told() {
        let served = Served::new().await;
        let url = format!("ws://{}", served.address());
        let list = async |environment: &[(&str, &str)], options: &[&str]| {
            let mut command = command(&[&["question", "list", "--json"], options].concat());
            command.env_remove("ASK_USER_GATEWAY_TOKEN").envs(environment.iter().copied());
            let ran = tokio::task::spawn_blocking(move || fed(&mut command, b"")).await.unwrap();
            let problem = parsed(&ran.stderr);
            (
                ran.code,
                problem["error"].as_str().unwrap().to_owned(),
                problem["message"].as_str().unwrap().to_owned(),
            )
        };
        let (code, error, message) = list(&[("ASK_USER_GATEWAY_TOKEN", "wrong")], &["--url", &url]).await;
        assert_eq!((code, error.as_str()), (1, "refused"), "{message}");
        assert!(!message.contains("there is no token"), "{message}");
        let (code, error, message) = list(&[("ASK_USER_GATEWAY_URL", &url)], &[]).await;
        assert_eq!((code, error.as_str()), (1, "refused"), "{message}");
        assert!(message.contains("give one with --token-file or ASK_USER_GATEWAY_TOKEN"), "{message}");
        let (code, error, _) = list(&[], &["--url", "http://127.0.0.1"]).await;
        assert_eq!((code, error.as_str()), (64, "usage"));
        let (code, error, _) = list(&[], &["--url", &url, "--token-file", "no/such/file"]).await;
        assert_eq!((code, error.as_str()), (1, "token"));
        // A token on the command line would be seen by everybody on the machine.
        let (code, error, _) = list(&[], &["--token", TOKEN]).await;
        assert_eq!((code, error.as_str()), (64, "usage"));
    }

    #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
    async fn the_token_is_the_first_line_of_its_file() {
        let served = Served::new().await;
        let mut file = tempfile::NamedTempFile::new().unwrap();
        writeln!(file, "{TOKEN}\nand a remark").unwrap();
        let url = format!("ws://{}", served.address());
        let path = file.path().to_str().unwrap().to_owned();
        let mut command = command(&["question", "--url", &url, "list", "--token-file", &path]);
        command.env("ASK_USER_GATEWAY_TOKEN", "not this one");
        let ran = tokio::task::spawn_blocking(move || fed(&mut command, b"")).await.unwrap();
        assert_eq!(ran.code, 0, "{}", ran.stderr);
    }
}

mod measuring {
    use super::*;

    #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
    async fn rounds_are_driven_to_their_end() {
        let served = Served::new().await;
        let bench = |options: &'static [&'static str]| {
            let arguments = [&["bench", "gateway", "--json"], options].concat();
            let served = &served;
            async move { run(served, &arguments).await }
        };
        let ran = bench(&["--rounds", "60", "--connections", "2", "--in-flight", "8"]).await;
        assert_eq!(ran.code, 0, "{}", ran.stderr);
        let measured = parsed(&ran.stdout);
        assert_eq!((&measured["rounds"], &measured["errors"]), (&json!(60), &json!(0)), "{measured}");
        assert!(measured["p50Ms"].as_f64().unwrap() <= measured["p99Ms"].as_f64().unwrap());
        // Whoever is done first does not read the last events of the others.
        let events = measured["events"].as_u64().unwrap();
        assert!((120..=240).contains(&events), "{measured}");

        let ran = bench(&["--all-at-once", "--in-flight", "300"]).await;
        let measured = parsed(&ran.stdout);
        assert_eq!((&measured["rounds"], &measured["errors"]), (&json!(300), &json!(0)), "{measured}");
        assert_eq!(measured["events"], 600);
        let mut client = served.client(QUESTIONS).await;
        let listed = client.call("question.list", &json!({})).await.unwrap();
        assert_eq!(listed, json!({ "questions": [] }), "nothing is left behind");
    }
}
