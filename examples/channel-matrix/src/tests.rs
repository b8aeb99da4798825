//! What the law suite (`ask-user plugin check`) cannot know: that Matrix's clients read what is sent, seen by the types of
//! ruma, and what each kind of vote means.

use ruma_events::poll::response::PollResponseEventContent;
use ruma_events::poll::unstable_end::UnstablePollEndEventContent;
use ruma_events::poll::unstable_response::UnstablePollResponseEventContent;
use ruma_events::poll::unstable_start::UnstablePollStartEventContent;
use ruma_events::room::message::RoomMessageEventContent;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use crate::wit::exports::ask_user::plugin::channel::{
    Action, BindingTarget, Call, ChannelError, Feedback, Guest, Interaction, Rendering, Tap, Target,
};
use crate::wit::exports::ask_user::plugin::types::{
    Answer, Choice, Line, LineKind, Origin, Outcome, Prompt, Question, Settlement, Words,
};
use crate::{Component, NAME, room};

fn prompt(text: &str, labels: &[&str]) -> Prompt {
    let choice = |label: &&str| Choice { label: (*label).to_owned(), description: None };
    let question = Question {
        id: "target".to_owned(),
        header: "Deploy".to_owned(),
        text: text.to_owned(),
        choices: labels.iter().map(choice).collect(),
        multi_select: None,
        is_other: Some(true),
        is_secret: None,
        url: None,
    };
    let origin = Origin {
        agent: None,
        session_key: None,
        session_kind: None,
        run: None,
        tool_call: None,
        requester: None,
        conversation: None,
        locale: None,
    };
    let id = "ask_1".to_owned();
    Prompt { id, questions: vec![question], origin, created_at: 0, expires_at: 900_000, settlement: None }
}

fn of_several(mut prompt: Prompt) -> Prompt {
    prompt.questions[0].multi_select = Some(true);
    prompt
}

fn answered(mut prompt: Prompt, values: &[&str]) -> Prompt {
    let values = values.iter().map(|value| (*value).to_owned()).collect();
    let outcome = Outcome::Answered(vec![Answer { question_id: "target".to_owned(), values }]);
    prompt.settlement = Some(Settlement { outcome, at: 1, resolved_by: None, resolution_id: None });
    prompt
}

/// What the host says about a prompt of these tests in English.
fn words(prompt: &Prompt) -> Words {
    let question = &prompt.questions[0];
    let mut lines = vec!["A question for you · Deploy".to_owned(), String::new()];
    match question.text.lines().collect::<Vec<_>>().as_slice() {
        [line] => lines.push((*line).to_owned()),
        several => lines.extend(several.iter().map(|line| format!("> {line}").trim_end().to_owned())),
    }
    lines.extend([String::new(), "Choose one:".to_owned()]);
    let is_number = |choice: &Choice| choice.label.trim().parse::<u32>().is_ok();
    let marks = if question.choices.iter().any(is_number) { ["a)", "b)", "c)"] } else { ["1.", "2.", "3."] };
    lines.extend(
        marks
            .iter()
            .zip(&question.choices)
            .map(|(mark, choice)| format!("{mark} {}", choice.label.trim()).trim_end().to_owned()),
    );
    let (count, choices) = (lines.len(), question.choices.len());
    let kind = |index| match index {
        0 => LineKind::Title,
        index if index >= count - choices => LineKind::Choice,
        _ => LineKind::Text,
    };
    let message = prompt.settlement.as_ref().map(|settlement| match &settlement.outcome {
        Outcome::Answered(answers) => format!("Deploy · Answered: {}", answers[0].values.join(", ")),
        Outcome::NoAnswer(reason) => format!("Deploy · {reason:?}"),
    });
    Words {
        body: lines.into_iter().enumerate().map(|(at, text)| Line { kind: kind(at), text }).collect(),
        how_to: "Reply with a number, an option or your own words. To skip, reply /skip.".to_owned(),
        how_to_tap: "Tap a button, or reply.".to_owned(),
        other: "Other…".to_owned(),
        skip: "Skip".to_owned(),
        submit: "Submit".to_owned(),
        type_own: "Please type your own answer.".to_owned(),
        message,
    }
}

fn target() -> Target {
    Target {
        address: "!abc:example.org".to_owned(),
        thread: None,
        locale: None,
        shared: false,
        extras: true,
        requester: None,
        callback_url: None,
        words: None,
    }
}

fn told(prompt: &Prompt, target: Target) -> Target {
    Target { words: Some(words(prompt)), ..target }
}

fn render(prompt: &Prompt) -> Rendering {
    render_to(prompt, target())
}

fn render_to(prompt: &Prompt, target: Target) -> Rendering {
    Component::render(prompt.clone(), NAME.to_owned(), told(prompt, target)).unwrap()
}

fn settle(prompt: &Prompt, target: Target, messages: &[&str]) -> Vec<Call> {
    let messages = messages.iter().map(|message| (*message).to_owned()).collect();
    Component::render_settled(prompt.clone(), NAME.to_owned(), told(prompt, target), messages).unwrap()
}

/// The content of a call as ruma reads it, which has to be all of it.
fn read<T: DeserializeOwned + Serialize>(call: &Call, kind: &str) -> T {
    assert!(call.method.contains(&format!("/send/{kind}/")), "{}", call.method);
    let mut sent: Value = serde_json::from_str(&call.body).unwrap();
    let content: T = serde_json::from_str(&call.body).unwrap();
    let read = serde_json::to_value(&content).unwrap();
    // Everything may have mentions; ruma knows them on messages only.
    assert_eq!(sent["m.mentions"], json!({}), "{sent}");
    if read.get("m.mentions").is_none() {
        sent.as_object_mut().unwrap().remove("m.mentions");
    }
    assert_eq!(sent, read);
    content
}

fn interpret(kind: &str, content: &impl Serialize) -> Result<Interaction, ChannelError> {
    let event =
        json!({ "type": kind, "sender": "@ada:example.org", "event_id": "$vote", "content": content });
    Component::interpret_interaction(NAME.to_owned(), event.to_string())
}

fn vote(tokens: &[&str]) -> Result<Interaction, ChannelError> {
    let answers = tokens.iter().map(|token| (*token).to_owned()).collect();
    let content = UnstablePollResponseEventContent::new(answers, "$poll".try_into().unwrap());
    interpret("org.matrix.msc3381.poll.response", &content)
}

fn decided(tokens: &[&str]) -> Action {
    vote(tokens).unwrap().action
}

fn choose(tokens: &[&str]) -> Action {
    Action::Choose(tokens.iter().map(|token| (*token).to_owned()).collect())
}

fn tap() -> Tap {
    Tap { sender: "@ada:example.org".to_owned(), handle: "$vote".to_owned(), acknowledged: false }
}

#[test]
fn clients_read_the_poll_below_its_text() {
    let rendering = render(&prompt("Where?", &["Staging", "Production"]));
    let [text, poll] = rendering.calls.as_slice() else { panic!("{rendering:?}") };
    let text: RoomMessageEventContent = read(text, "m.room.message");
    assert_eq!(
        text.body(),
        "A question for you · Deploy\n\nWhere?\n\nChoose one:\n1. Staging\n2. Production\n\n\
         Reply with a number, an option or your own words. To skip, reply /skip."
    );
    let poll: UnstablePollStartEventContent = read(poll, "org.matrix.msc3381.poll.start");
    let poll = poll.poll_start();
    assert_eq!((poll.question.text.as_str(), u64::from(poll.max_selections)), ("Where?", 1));
    let answers: Vec<(&str, &str)> =
        poll.answers.iter().map(|answer| (answer.id.as_str(), answer.text.as_str())).collect();
    let bound = rendering.bindings.iter().map(|binding| (binding.token.as_str(), binding.label.as_str()));
    assert_eq!(answers, bound.collect::<Vec<_>>());
    assert_eq!(answers[1..], [("mx1:ask_1:1", "Production"), ("mx1:ask_1:skip", "Skip")]);
}

#[test]
fn ruma_refuses_what_is_no_poll() {
    let mut body: Value =
        serde_json::from_str(&render(&prompt("Where?", &["a", "b"])).calls[1].body).unwrap();
    body["org.matrix.msc3381.poll.start"]["answers"] = json!([]);
    assert!(serde_json::from_value::<UnstablePollStartEventContent>(body).is_err());
}

#[test]
fn the_end_changes_the_text_and_closes_the_poll() {
    let ended = answered(prompt("Where?", &["Staging", "Production"]), &["Production"]);
    let calls = settle(&ended, target(), &["$text", "$poll"]);
    let [edit, end] = calls.as_slice() else { panic!("{calls:?}") };
    let _: RoomMessageEventContent = read(edit, "m.room.message");
    let edit: Value = serde_json::from_str(&edit.body).unwrap();
    assert_eq!(edit["m.relates_to"], json!({ "rel_type": "m.replace", "event_id": "$text" }));
    assert_eq!(edit["m.new_content"]["m.mentions"], json!({}));
    let text = edit["m.new_content"]["body"].as_str().unwrap();
    assert!(text.ends_with("\n2. Production\n\nDeploy · Answered: Production"), "{text}");
    let end: UnstablePollEndEventContent = read(end, "org.matrix.msc3381.poll.end");
    assert_eq!(
        (end.text.as_str(), end.relates_to.event_id.as_str()),
        ("Deploy · Answered: Production", "$poll")
    );
}

#[test]
fn without_its_messages_the_end_is_a_message() {
    let ended = answered(prompt("Where?", &["a", "b"]), &["b"]);
    for messages in [&[][..], &["$text"]] {
        let calls = settle(&ended, target(), messages);
        let [call] = calls.as_slice() else { panic!("{calls:?}") };
        assert_eq!(read::<RoomMessageEventContent>(call, "m.room.message").body(), "Deploy · Answered: b");
    }
}

#[test]
fn nothing_is_shown_without_the_words_of_the_host() {
    let no_words = || ChannelError::Unshowable("the host gave no words".to_owned());
    let pending = prompt("Where?", &["a", "b"]);
    let ended = answered(pending.clone(), &["b"]);
    let wordless = Target { words: Some(words(&pending)), ..target() };
    assert_eq!(Component::render(pending, NAME.to_owned(), target()), Err(no_words()));
    for target in [target(), wordless] {
        let settled = Component::render_settled(ended.clone(), NAME.to_owned(), target, Vec::new());
        assert_eq!(settled, Err(no_words()));
    }
    let told = Component::render_feedback(NAME.to_owned(), target(), Feedback::Expired, Some(tap()));
    assert_eq!(told, Err(no_words()));
}

#[test]
fn a_thread_keeps_all_but_what_relates_to_a_message_of_its_own() {
    let target = || Target { thread: Some("$root".to_owned()), ..target() };
    let prompt = prompt("Where?", &["a", "b"]);
    let rendering = render_to(&prompt, target());
    let _: RoomMessageEventContent = read(&rendering.calls[0], "m.room.message");
    let _: UnstablePollStartEventContent = read(&rendering.calls[1], "org.matrix.msc3381.poll.start");
    assert!(rendering.calls.iter().all(|call| call.body.contains("m.thread")));
    let calls = settle(&answered(prompt, &["a"]), target(), &["$text", "$poll"]);
    assert!(calls.iter().all(|call| !call.body.contains("m.thread")));
}

#[test]
fn a_vote_for_one_answer_decides_at_once() {
    let interaction = vote(&["mx1:ask_1:1"]).unwrap();
    assert_eq!(interaction.action, choose(&["mx1:ask_1:1"]));
    assert_eq!((interaction.sender.as_str(), interaction.handle.as_str()), ("@ada:example.org", "$vote"));
    assert_eq!((interaction.message.as_deref(), interaction.conversation), (Some("$poll"), None));
    assert_eq!(decided(&["mx1:ask_1:skip"]), choose(&["mx1:ask_1:skip"]));
    assert_eq!(decided(&["mx1:ask_1:0", "mx1:ask_1:1"]), choose(&["mx1:ask_1:0"]));
}

#[test]
fn a_vote_for_several_decides_once_it_is_submitted() {
    let bindings = render(&of_several(prompt("Which?", &["a", "b", "c"]))).bindings;
    let tokens: Vec<&str> = bindings.iter().map(|binding| binding.token.as_str()).collect();
    let [a, _, c, submit, skip] = tokens[..] else { panic!("{tokens:?}") };
    assert_eq!(bindings[3].target, BindingTarget::Submit("target".to_owned()));
    assert_eq!(decided(&[a]), Action::Nothing);
    assert_eq!(decided(&[a, c]), Action::Nothing);
    assert_eq!(decided(&[a, c, submit]), choose(&[a, c]));
    assert_eq!(decided(&[submit]), choose(&[]));
    assert_eq!(decided(&[a, skip]), choose(&[skip]));
}

#[test]
fn a_poll_of_several_is_an_extra() {
    let prompt = of_several(prompt("Which?", &["a", "b"]));
    let plain = Target { extras: false, ..target() };
    let rendering = render_to(&prompt, plain);
    assert_eq!((rendering.calls.len(), rendering.bindings), (1, Vec::new()));
    let poll: UnstablePollStartEventContent =
        read(&render(&prompt).calls[1], "org.matrix.msc3381.poll.start");
    assert_eq!(u64::from(poll.poll_start().max_selections), 3);
}

#[test]
fn votes_of_others_and_spoiled_ones_are_refused() {
    assert_eq!(vote(&["pizza"]), Err(ChannelError::NotOurs));
    assert_eq!(vote(&[]), Err(ChannelError::NotOurs));
    assert!(matches!(vote(&["mx1:ask_1:0", "pizza"]), Err(ChannelError::Malformed(_))));
    assert_eq!(interpret("m.room.message", &json!({ "body": "mx1:ask_1:0" })), Err(ChannelError::NotOurs));
    let stable =
        PollResponseEventContent::new(vec!["mx1:ask_1:0".to_owned()].into(), "$poll".try_into().unwrap());
    assert_eq!(interpret("m.poll.response", &stable).unwrap().action, choose(&["mx1:ask_1:0"]));
}

#[test]
fn the_longest_event_has_room_for_its_encryption() {
    let rendering = render(&prompt(&"\"\\".repeat(50_000), &["\"".repeat(5_000).as_str(), "b"]));
    let messages = vec!["$e"; rendering.calls.len()];
    let ended = answered(prompt(&"\"\\".repeat(50_000), &["\"".repeat(5_000).as_str(), "b"]), &["b"]);
    let calls = [rendering.calls, settle(&ended, target(), &messages)].concat();
    assert!(calls.len() > 8);
    for call in calls {
        assert!(call.text.len() <= room::MOST, "{}", call.text.len());
        assert!(call.body.len() * 4 / 3 + 4096 <= 65_536, "{}", call.body.len());
    }
}

#[test]
fn no_line_of_a_question_passes_for_a_reply() {
    let text = |question: &str| render(&prompt(question, &["a", "b"])).calls[0].text.clone();
    assert!(text("Where?\n\n1. there").contains("\n\n│ Where?\n│\n│ 1. there\n\nChoose one:\n"));
    assert!(text("> Where?").contains("\n\n│ Where?\n"));
    assert!(text(">5 or >=5?").contains("\n\n>5 or >=5?\n"));
    let long = format!("> {}", "very ".repeat(10_000));
    assert!(render(&prompt(&long, &["a", "b"])).calls[1].text.starts_with("│ "));
}

#[test]
fn the_poll_as_text_has_the_marks_that_work() {
    let text = &render(&prompt("Which?", &["3000", "8080"])).calls[1].text;
    assert!(text.starts_with("Which?\na) 3000\nb) 8080\nReply with"), "{text}");
}

#[test]
fn labels_that_look_alike_are_told_apart() {
    let labels = |labels: &[&str]| {
        let bindings = render(&prompt("Which?", labels)).bindings;
        bindings.into_iter().map(|binding| binding.label).take(2).collect::<Vec<_>>()
    };
    assert_eq!(labels(&["Prod", "prod"]), ["1. Prod", "2. prod"]);
    assert_eq!(labels(&["skip", "\u{200b}"]), ["1. skip", "2. \u{200b}"]);
    assert_eq!(labels(&["80", "80 "]), ["a) 80", "b) 80"]);
}

#[test]
fn a_request_can_be_repeated_and_is_for_one_room() {
    let prompt = Prompt { id: "a/b".to_owned(), ..prompt("Where?", &["a", "b"]) };
    let rendering = render(&prompt);
    assert_eq!(rendering, render(&prompt));
    let start = "PUT /_matrix/client/v3/rooms/!abc:example.org/send/m.room.message/a%2Fb.0.!abc:example.org";
    assert_eq!(rendering.calls[0].method, start);
}

#[test]
fn feedback_is_a_notice_to_a_tap() {
    let said = Words { message: Some("Too late.".to_owned()), ..words(&prompt("Where?", &["a", "b"])) };
    let tell = |feedback, tap, shared| {
        let target = Target { shared, words: Some(said.clone()), ..target() };
        Component::render_feedback(NAME.to_owned(), target, feedback, tap).unwrap()
    };
    let calls = tell(Feedback::AlreadyAnswered, Some(tap()), true);
    let notice: RoomMessageEventContent = read(&calls[0], "m.room.message");
    assert_eq!(notice.body(), "Too late.");
    assert_eq!(tell(Feedback::NotAllowed, Some(tap()), false).len(), 1);
    assert_eq!(tell(Feedback::NotAllowed, Some(tap()), true), []);
    assert_eq!(tell(Feedback::Accepted, Some(tap()), true), []);
    assert_eq!(tell(Feedback::TryAgain, None, false), []);
}
