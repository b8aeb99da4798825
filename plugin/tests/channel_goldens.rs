//! What each channel sends for prompts that people will meet, one file each: `goldens/<channel>/<case>.snap`.

use std::fmt::Write;

use ask_user_plugin::channel::{Person, Target, channels, render, render_settled};
use ask_user_plugin::model::{Answer, Choice, Origin, Outcome, Prompt, Question, Settlement};

mod known;

fn question(id: &str, header: &str, text: &str, choices: &[&str]) -> Question {
    let choices = choices.iter().map(|label| Choice { label: (*label).to_owned(), description: None });
    Question {
        id: id.to_owned(),
        header: header.to_owned(),
        text: text.to_owned(),
        choices: choices.collect(),
        multi_select: None,
        is_other: Some(true),
        is_secret: None,
        url: None,
    }
}

fn cases() -> Vec<(&'static str, Vec<Question>)> {
    let deploy = || {
        let mut deploy = question(
            "deploy_target",
            "Target",
            "Where should the new version go?",
            &["Staging (Recommended)", "Production"],
        );
        deploy.choices[0].description = Some("Nobody notices when it breaks.".to_owned());
        deploy
    };
    let checks = || Question {
        multi_select: Some(true),
        ..question(
            "checks",
            "Checks",
            "What should run before it?",
            &["Unit tests", "Load test", "Smoke test"],
        )
    };
    let notes = || Question {
        is_other: None,
        ..question("notes", "Notes", "What should the release notes say?", &[])
    };
    let long = "It is deployed to every region at the same time, without a canary and without";
    let long = [format!("{long} a rollback"), format!("{long} a notice")];
    vec![
        ("single_select", vec![deploy()]),
        ("multi_select", vec![checks()]),
        ("three_questions", vec![deploy(), checks(), notes()]),
        ("long_labels", vec![question("how", "How", "How?", &[&long[0], &long[1], "Not at all"])]),
        ("emoji", vec![question("mood", "🎉", "How was the launch? 👩‍👩‍👧", &["🚀 Great", "👍🏽 Fine", "🇳🇱"])]),
        (
            "hebrew",
            vec![question("env", "סביבה", "לאן לפרוס את הגרסה 2.0?", &["סביבת בדיקות", "ייצור (prod)"])],
        ),
        ("arabic", vec![question("env", "البيئة", "أين ننشر الإصدار 2.0؟", &["الاختبار", "الإنتاج"])]),
        ("chinese", vec![question("env", "环境", "新版本部署到哪里？", &["预发布环境", "生产环境"])]),
        (
            "markup",
            vec![question(
                "markup",
                "**H** <b>",
                "<b>bold</b> [click](https://evil.example) `code` *a* _b_ ~c~ &amp; <!channel> <@U1> |secret|",
                &["[x](https://evil.example)", "<https://evil.example|here>"],
            )],
        ),
        (
            "mentions",
            vec![question(
                "mentions",
                "@here",
                "@everyone @channel #general /start $TSLA @ada https://evil.example",
                &["@everyone", "@here"],
            )],
        ),
    ]
}

fn target(channel: &str) -> Target {
    Target {
        address: known::descriptor(channel).example_address,
        extras: true,
        requester: Some(Person { id: "7".to_owned(), name: Some("Ada".to_owned()) }),
        callback_url: Some("https://host.example/taps".to_owned()),
        ..Target::default()
    }
}

fn shown(channel: &str, questions: Vec<Question>) -> String {
    let target = target(channel);
    let prompt = Prompt {
        id: "ask_0123456789abcdef0123456789abcdef".to_owned(),
        questions,
        origin: Origin::default(),
        created_at: 0,
        expires_at: 900_000,
        settlement: None,
    };
    let mut shown = String::new();
    let pretty = |body: &str| {
        let mut body: serde_json::Value = serde_json::from_str(body).expect("a body is JSON");
        // Whether members come in the order of their names depends on what else is built.
        body.sort_all_objects();
        format!("{body:#}")
    };
    let rendering = render(&prompt, channel, &target).expect("it is as the test made it");
    for call in &rendering.calls {
        writeln!(shown, "{}\n{}\n\nwithout controls:\n{}\n", call.method, pretty(&call.body), call.text)
            .expect("it is as the test made it");
    }
    for binding in &rendering.bindings {
        writeln!(shown, "{} {:?}", binding.token, binding.target).expect("it is as the test made it");
    }
    let answers = prompt.questions.iter().map(|question| Answer {
        question_id: question.id.clone(),
        values: vec![question.choices.first().map_or("Faster.".to_owned(), |choice| choice.label.clone())],
    });
    let outcome = Outcome::Answered(answers.collect());
    let settlement = Some(Settlement { outcome, at: 1, resolved_by: None, resolution_id: None });
    let ended = Prompt { settlement, ..prompt.clone() };
    let messages: Vec<String> = (1..=rendering.calls.len()).map(|number| number.to_string()).collect();
    for call in render_settled(&ended, channel, &target, &messages).expect("it is as the test made it") {
        writeln!(shown, "\nended: {}\n{}", call.method, pretty(&call.body))
            .expect("it is as the test made it");
    }
    shown
}

#[test]
fn every_channel_shows_what_people_meet() {
    for channel in channels() {
        for (case, questions) in cases() {
            insta::with_settings!({
                snapshot_path => format!("goldens/{}", channel.name),
                prepend_module_to_snapshot => false,
                omit_expression => true,
            }, {
                insta::assert_snapshot!(case, shown(&channel.name, questions));
            });
        }
    }
}
