//! How prompts end (rulings 20 to 24): once, for one reason, and without anybody choosing for the person.

use std::sync::Arc;
use std::time::Duration;

use ask_user_host::contract::{NoAnswerReason, Outcome, SessionKind};
use ask_user_host::store::{MemoryStore, Query, SqliteStore, StatusFilter, Store};
use ask_user_host::{
    AskError, Event, FindError, Liveness, Principal, Reply, Run, SettleError, Submission, TenantId, WaitError,
};
use ask_user_tests::world::*;
use serde_json::json;

/// Lets everything run that can.
async fn settle_down() {
    for _ in 0..64 {
        tokio::task::yield_now().await;
    }
}

/// B37: the call blocks until somebody answers; nothing but a person gives an answer.
#[tokio::test]
async fn an_ask_waits_until_somebody_answers() {
    let world = World::new();
    let pending = world.ask(&["Delete (Recommended)", "Keep"]).await;
    let waiting = tokio::spawn({
        let id = pending.id().to_owned();
        let host = world.host.clone();
        async move { host.wait(&ada(), &id).await }
    });
    world.clock.advance(899_000);
    settle_down().await;
    assert!(!waiting.is_finished());
    world.type_in("keep").await;
    let result = pending.outcome().await.unwrap();
    assert_eq!(
        parse(&result.json),
        json!({ "status": "answered", "answers": { "answers": { "target": ["Keep"] } } })
    );
    assert!(waiting.await.unwrap().is_ok());
}

/// B38: nobody answers, nothing is chosen.
#[tokio::test]
async fn an_expired_prompt_is_no_answer_and_names_no_option() {
    let world = World::new();
    let mut arguments = one_question("target", &["Delete (Recommended)", "Keep"]);
    arguments["timeoutSeconds"] = json!(30);
    let pending = world.ask_json(&arguments).await;
    world.clock.advance(30_000);
    let result = pending.outcome().await.unwrap();
    assert_eq!(result.json, r#"{"status":"no_answer","reason":"expired"}"#);
    assert!(!result.text.contains("Delete") && !result.text.contains("Keep"));
    let record = world.host.get(&ada(), pending.id()).await.unwrap();
    assert_eq!(record.settlement.as_ref().unwrap().outcome, Outcome::NoAnswer(NoAnswerReason::Expired));
}

/// B46: no other timer ends a long question early, and a short one shortens nothing else.
#[tokio::test]
async fn an_answer_just_before_the_longest_deadline_arrives() {
    let world = World::new();
    let mut long = one_question("target", &["A", "B"]);
    long["timeoutSeconds"] = json!(3600);
    let pending = world.ask_json(&long).await;
    let mut short = one_question("target", &["A", "B"]);
    short["timeoutSeconds"] = json!(30);
    let other = ask_user_host::Run::new("agent:main:other", "run-2").requested_by("ada", CONVERSATION);
    let brief = world.host.ask_user(&short.to_string(), &other).await.unwrap();
    world.clock.advance(30_000);
    assert!(brief.outcome().await.unwrap().json.contains("expired"));
    world.clock.advance(3_470_000 - 1);
    settle_down().await;
    assert!(matches!(world.type_in("a").await, Reply::Answered(_)));
    assert!(pending.outcome().await.unwrap().json.contains("answered"));
}

/// B47: four ends without an answer, each with its reason, none like consent.
#[tokio::test]
async fn every_end_without_an_answer_says_why() {
    for (reason, word) in [
        (NoAnswerReason::Skipped, "skipped"),
        (NoAnswerReason::Cancelled, "cancelled"),
        (NoAnswerReason::Undeliverable, "undeliverable"),
    ] {
        let world = World::new();
        let pending = world.ask(&["A", "B"]).await;
        world.host.cancel(&ada(), pending.id(), reason).await.unwrap();
        let result = pending.outcome().await.unwrap();
        assert_eq!(parse(&result.json), json!({ "status": "no_answer", "reason": word }));
    }
}

/// B39: aborting the run cancels its prompt, tells everybody once, and ends the call without a result.
#[tokio::test]
async fn an_aborted_run_cancels_its_prompt_and_gets_no_result() {
    let world = World::new();
    let mut events = world.host.subscribe(operator());
    let run = run();
    let pending = world.host.ask_user(&one_question("target", &["A", "B"]).to_string(), &run).await.unwrap();
    run.cancellation().cancel();
    assert!(matches!(pending.outcome().await, Err(WaitError::Aborted)));
    assert!(matches!(events.next().await, Some(Event::Requested(_))));
    let Some(Event::Resolved(prompt)) = events.next().await else { panic!("no event") };
    let settlement = prompt.settlement.clone().unwrap();
    assert_eq!(settlement.outcome, Outcome::NoAnswer(NoAnswerReason::Cancelled));
    assert_eq!(settlement.resolved_by.as_deref(), Some("run-abort"));
    assert!(world.host.list(&operator(), &Query::default()).await.unwrap().prompts.is_empty());
    let late = world.host.resolve(&ada(), pending.id(), Submission::of(vec![answer("target", &["A"])])).await;
    assert!(matches!(late, Err(SettleError::AlreadyTerminal { .. })));
    assert!(matches!(world.type_in("1").await, Reply::NotAnAnswer(_)), "the next message is ordinary chat");
}

/// Ruling 22: the prompt of an aborted run ends even if nobody waits for it.
#[tokio::test]
async fn aborting_works_without_a_waiter_and_dropping_a_wait_changes_nothing() {
    let world = World::new();
    let run = run();
    let pending = world.host.ask_user(&one_question("target", &["A", "B"]).to_string(), &run).await.unwrap();
    let id = pending.id().to_owned();
    drop(pending.outcome());
    drop(pending);
    settle_down().await;
    assert_eq!(world.host.get(&ada(), &id).await.unwrap().settlement, None);
    run.cancellation().cancel();
    let ended = world.host.wait(&ada(), &id).await.unwrap();
    assert!(matches!(
        ended.settlement.as_ref().unwrap().outcome,
        Outcome::NoAnswer(NoAnswerReason::Cancelled)
    ));
    let again = world.host.ask_user(&one_question("target", &["A", "B"]).to_string(), &run).await;
    assert!(matches!(again, Err(AskError::Aborted)));
}

/// B40: what comes after the end is ordinary chat.
#[tokio::test]
async fn an_expired_prompt_swallows_no_later_message() {
    let world = World::new();
    let pending = world.ask(&["A", "B"]).await;
    world.clock.advance(900_000);
    pending.outcome().await.unwrap();
    assert!(matches!(world.type_in("deploy again").await, Reply::NotAnAnswer(_)));
    assert!(matches!(world.type_in("1").await, Reply::NotAnAnswer(_)));
}

/// Ruling 21: in the very millisecond of the deadline it is too late, whether or not the loop has looked.
#[tokio::test]
async fn an_answer_in_the_millisecond_of_the_deadline_is_too_late() {
    for (late_by, expected) in [(0, "expired"), (-1_i64, "answered")] {
        let store: Arc<dyn Store> = Arc::new(MemoryStore::default());
        let world = World::on(store, START);
        let pending = world.ask(&["A", "B"]).await;
        world.clock.advance(u64::try_from(900_000 + late_by).unwrap());
        let answered =
            world.host.resolve(&ada(), pending.id(), Submission::of(vec![answer("target", &["A"])])).await;
        assert_eq!(answered.is_ok(), expected == "answered", "{answered:?}");
        assert!(pending.outcome().await.unwrap().json.contains(expected));
    }
}

/// Two answers at once: one wins, the other learns that it came late.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn of_many_answers_at_once_exactly_one_wins() {
    for _ in 0..20 {
        let world = World::new();
        let mut events = world.host.subscribe(operator());
        let pending = world.ask(&["A", "B"]).await;
        let answers: Vec<_> = (0..16)
            .map(|n| {
                let (host, id) = (world.host.clone(), pending.id().to_owned());
                let label = if n % 2 == 0 { "A" } else { "B" };
                tokio::spawn(async move {
                    host.resolve(&operator(), &id, Submission::of(vec![answer("target", &[label])])).await
                })
            })
            .collect();
        let mut won = Vec::new();
        for result in answers {
            match result.await.unwrap() {
                Ok(accepted) => won.push(accepted),
                Err(error) => assert!(matches!(error, SettleError::AlreadyTerminal { .. }), "{error}"),
            }
        }
        assert_eq!(won.len(), 1);
        let result = pending.outcome().await.unwrap();
        let Outcome::Answered(answers) = &won[0].prompt.settlement.as_ref().unwrap().outcome else {
            panic!()
        };
        assert!(result.json.contains(&format!("[\"{}\"]", answers[0].values[0])));
        assert!(matches!(events.next().await, Some(Event::Requested(_))));
        assert!(matches!(events.next().await, Some(Event::Resolved(_))));
        drop((pending, world));
        assert_eq!(events.next().await, None, "one event of each kind and no more");
    }
}

/// Ruling 27.
#[tokio::test]
async fn repeating_the_same_submission_gives_the_first_result() {
    let world = World::new();
    let pending = world.ask(&["A", "B"]).await;
    let submission = |label: &str, mark: &str| Submission {
        answers: vec![answer("target", &[label])],
        resolution_id: Some(mark.into()),
        answered_by: None,
    };
    let first = world.host.resolve(&ada(), pending.id(), submission("A", "m1")).await.unwrap();
    let again = world.host.resolve(&ada(), pending.id(), submission("A", "m1")).await.unwrap();
    assert_eq!(first.prompt, again.prompt);
    for late in [submission("B", "m1"), submission("A", "m2"), Submission::of(vec![answer("target", &["A"])])]
    {
        let refused = world.host.resolve(&ada(), pending.id(), late).await;
        assert!(matches!(refused, Err(SettleError::AlreadyTerminal { .. })), "{refused:?}");
    }
}

/// Ruling 12: an answer that does not fit leaves the prompt pending, and every reason is named.
#[tokio::test]
async fn an_answer_that_does_not_fit_leaves_the_prompt_pending() {
    let world = World::new();
    let arguments = json!({ "questions": [question("a", &["X", "Y"]), multi("b", &["X", "Y"])] });
    let pending = world.ask_json(&arguments).await;
    for (answers, said) in [
        (vec![answer("a", &["X"])], "'b' requires an answer"),
        (vec![answer("a", &["X", "Y"]), answer("b", &["X"])], "'a' takes one answer"),
        (vec![answer("a", &[" "]), answer("b", &["X"])], "'a' got a blank answer"),
        (vec![answer("a", &["X"]), answer("b", &["X"]), answer("c", &["X"])], "'c' is not part"),
        (vec![answer("a", &[]), answer("b", &[])], "'a' requires an answer\nquestion 'b' requires"),
    ] {
        let error = world.host.resolve(&ada(), pending.id(), Submission::of(answers)).await.unwrap_err();
        assert!(error.to_string().contains(said), "{error}");
        assert_eq!(world.host.get(&ada(), pending.id()).await.unwrap().settlement, None);
    }
    // B17: choices and own text stay together, own text as it was typed.
    let answers = vec![answer("b", &["Y", " and the changelog "]), answer("a", &[" X "])];
    world.host.resolve(&ada(), pending.id(), Submission::of(answers)).await.unwrap();
    assert_eq!(
        pending.outcome().await.unwrap().json,
        r#"{"status":"answered","answers":{"answers":{"a":["X"],"b":["Y","and the changelog"]}}}"#
    );
}

/// Ten thousand deadlines, all kept, none early.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn ten_thousand_deadlines_are_kept() {
    let world = World::new();
    let mut pending = Vec::new();
    for n in 0..10_000_u64 {
        let mut arguments = one_question("target", &["A", "B"]);
        arguments["timeoutSeconds"] = json!(30 + n % 60);
        let run =
            ask_user_host::Run::new(format!("agent:main:s{n}"), "run").requested_by("ada", CONVERSATION);
        pending.push(world.host.ask_user(&arguments.to_string(), &run).await.unwrap());
    }
    for second in 30..90_u64 {
        world.clock.advance(if second == 30 { 30_000 } else { 1_000 });
        for (n, prompt) in pending.iter().enumerate() {
            if 30 + (n as u64) % 60 == second {
                let ended = prompt.settled().await.unwrap();
                assert_eq!(ended.settlement.as_ref().unwrap().at, START + second * 1_000);
            }
        }
    }
    let page = world.host.list(&operator(), &Query::default()).await.unwrap();
    assert!(page.prompts.is_empty());
}

/// A deadline that is earlier than the one the loop sleeps for wakes it.
#[tokio::test]
async fn a_shorter_deadline_that_comes_later_is_kept_too() {
    let world = World::new();
    let long = world.ask(&["A", "B"]).await;
    settle_down().await;
    let mut arguments = one_question("target", &["A", "B"]);
    arguments["timeoutSeconds"] = json!(30);
    let other = ask_user_host::Run::new("agent:main:other", "run-2").requested_by("ada", CONVERSATION);
    let short = world.host.ask_user(&arguments.to_string(), &other).await.unwrap();
    settle_down().await;
    world.clock.advance(30_000);
    assert!(short.outcome().await.unwrap().json.contains("expired"));
    assert_eq!(world.host.get(&ada(), long.id()).await.unwrap().settlement, None);
}

/// Ruling 11: the same session, run and tool call name one prompt.
#[tokio::test]
async fn asking_again_with_the_same_tool_call_re_attaches() {
    let world = World::new();
    let run = run().tool_call("call-1");
    let arguments = one_question("target", &["A", "B"]).to_string();
    let first = world.host.ask_user(&arguments, &run).await.unwrap();
    let again = world.host.ask_user(&arguments, &run).await.unwrap();
    assert_eq!(first.id(), again.id());
    world.type_in("b").await;
    assert_eq!(first.outcome().await.unwrap(), again.outcome().await.unwrap());
    let after = world.host.ask_user(&arguments, &run).await.unwrap();
    assert_eq!(after.outcome().await.unwrap().json, first.outcome().await.unwrap().json);
    let listed =
        world.host.list(&operator(), &Query { status: StatusFilter::All, ..Query::default() }).await.unwrap();
    assert_eq!(listed.prompts.len(), 1);
}

/// Ruling 11: a new run cancels the prompt of one that is known to be dead, and of no other.
#[tokio::test]
async fn the_prompt_of_a_dead_run_makes_way() {
    for (liveness, makes_way) in
        [(Liveness::Dead, true), (Liveness::Alive, false), (Liveness::Unknown, false)]
    {
        let world = World::with(START, |builder| builder.liveness(move |_, _| liveness));
        let first = world.ask(&["A", "B"]).await;
        let next = ask_user_host::Run::new(SESSION, "run-2").requested_by("ada", CONVERSATION);
        let second = world.host.ask_user(&one_question("q", &["C", "D"]).to_string(), &next).await;
        assert_eq!(second.is_ok(), makes_way);
        if makes_way {
            assert!(first.outcome().await.unwrap().json.contains("cancelled"));
        }
    }
}

#[tokio::test]
async fn cancelling_a_run_ends_what_it_has_pending() {
    let world = World::new();
    let pending = world.ask(&["A", "B"]).await;
    let tenant = ask_user_host::TenantId::default();
    assert_eq!(world.host.cancel_run(&tenant, SESSION, "another").await.unwrap(), 0);
    assert_eq!(world.host.cancel_run(&tenant, SESSION, "run-1").await.unwrap(), 1);
    assert!(pending.outcome().await.unwrap().json.contains("cancelled"));
}

/// Ruling 24: settled prompts stay for the retention, the summary for as long as its session.
#[tokio::test]
async fn settled_prompts_are_kept_for_the_retention_and_summaries_longer() {
    let world = World::with(START, |builder| builder.retention(Duration::from_secs(3600)));
    let pending = world.ask(&["A", "B"]).await;
    let id = pending.id().to_owned();
    world.type_in("b").await;
    pending.outcome().await.unwrap();
    world.clock.advance(3_500_000);
    settle_down().await;
    assert!(world.host.get(&ada(), &id).await.is_ok());
    world.clock.advance(200_000);
    // The loop removes it a moment later.
    for _ in 0..1_000 {
        if world.host.get(&ada(), &id).await.is_err() {
            break;
        }
        tokio::task::yield_now().await;
    }
    assert!(matches!(world.host.get(&ada(), &id).await, Err(FindError::NotFound { .. })));
    let tenant = ask_user_host::TenantId::default();
    let summaries = world.host.summaries(&tenant, SESSION).await.unwrap();
    assert_eq!(summaries[0].questions, [("Which target?".to_owned(), vec!["B".to_owned()])]);
    world.host.forget_session(&tenant, SESSION).await.unwrap();
    assert!(world.host.summaries(&tenant, SESSION).await.unwrap().is_empty());
}

#[tokio::test]
async fn a_settled_prompt_can_be_deleted_and_a_pending_one_cannot() {
    let world = World::new();
    let pending = world.ask(&["A", "B"]).await;
    assert!(!world.host.delete(&ada(), pending.id()).await.unwrap());
    world.type_in("a").await;
    assert!(!world.host.delete(&bob(), pending.id()).await.unwrap());
    assert!(world.host.delete(&ada(), pending.id()).await.unwrap());
    assert!(matches!(world.host.get(&ada(), pending.id()).await, Err(FindError::NotFound { .. })));
}

/// Events come after the commit, in order, and only to those who may see the prompt.
#[tokio::test]
async fn events_tell_those_who_may_see_and_nobody_else() {
    let world = World::new();
    let (mut adas, mut bobs, mut all) =
        (world.host.subscribe(ada()), world.host.subscribe(bob()), world.host.subscribe(operator()));
    let pending = world.ask(&["A", "B"]).await;
    world.type_in("a").await;
    let id = pending.id().to_owned();
    for events in [&mut adas, &mut all] {
        assert!(matches!(events.next().await, Some(Event::Requested(prompt)) if prompt.id == id));
        assert!(matches!(events.next().await, Some(Event::Resolved(prompt)) if prompt.id == id));
    }
    drop((pending, world));
    assert_eq!(bobs.next().await, None);
}

/// The same fates with a durable store.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_durable_store_keeps_the_same_fates() {
    let folder = tempfile::tempdir().unwrap();
    let store: Arc<dyn Store> = Arc::new(SqliteStore::open(folder.path().join("prompts.db")).unwrap());
    let world = World::on(store, START);
    let pending = world.ask(&["A", "B"]).await;
    assert!(matches!(world.type_in("2").await, Reply::Answered(_)));
    assert!(pending.outcome().await.unwrap().json.contains(r#"["B"]"#));
    let next = world.ask(&["A", "B"]).await;
    world.clock.advance(900_000);
    assert!(next.outcome().await.unwrap().json.contains("expired"));
}

/// Ruling 24: a tenant can choose another retention, or none.
#[tokio::test]
async fn a_tenant_may_keep_nothing_that_has_ended() {
    let forgetful = TenantId::new("forgetful").unwrap();
    let world = World::with(START, |builder| builder.retention_of(forgetful.clone(), Duration::ZERO));
    for (tenant, is_kept) in [(forgetful.clone(), false), (TenantId::default(), true)] {
        let run = run().tenant(tenant.clone());
        let arguments = one_question("target", &["A", "B"]).to_string();
        let pending = world.host.ask_user(&arguments, &run).await.unwrap();
        let operator = Principal::operator(tenant, "operator");
        let submission = Submission::of(vec![answer("target", &["A"])]);
        world.host.resolve(&operator, pending.id(), submission).await.unwrap();
        assert_eq!(world.host.get(&operator, pending.id()).await.is_ok(), is_kept);
        // Whoever asked is told all the same.
        assert!(pending.outcome().await.unwrap().json.contains("\"A\""));
    }
    assert_eq!(world.host.count_pending(None).await.unwrap(), 0);
}

/// Ruling 11: tenants have quotas. A call that was made before is taken up again at the quota, too.
#[tokio::test]
async fn a_tenant_has_no_more_prompts_pending_than_its_quota() {
    let world = World::with(START, |builder| builder.pending_limit(2));
    let arguments = one_question("target", &["A", "B"]).to_string();
    let session = |name: &str| run_in(name).tool_call("call-1");
    for name in ["agent:main:a", "agent:main:b"] {
        world.host.ask_user(&arguments, &session(name)).await.unwrap();
    }
    let refused = world.host.ask_user(&arguments, &session("agent:main:c")).await.unwrap_err();
    assert_eq!(refused.to_string(), "2 questions are pending, which is as many as there may be");
    let again = world.host.ask_user(&arguments, &session("agent:main:a")).await.unwrap();
    let elsewhere = session("agent:main:c").tenant(TenantId::new("elsewhere").unwrap());
    world.host.ask_user(&arguments, &elsewhere).await.unwrap();
    world.host.cancel(&operator(), again.id(), NoAnswerReason::Cancelled).await.unwrap();
    world.host.ask_user(&arguments, &session("agent:main:c")).await.unwrap();
}

fn run_in(session: &str) -> Run {
    Run::new(session, "run-1").session_kind(SessionKind::Main).requested_by("ada", CONVERSATION)
}
