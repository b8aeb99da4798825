//! Facts that hold for every store.
//!
//! [`store_conformance!`](crate::store_conformance) makes a test of each, for whoever writes another store. Every fact
//! gets a store of its own that is empty. None of them measures time.

// A fact that does not hold ends in a panic: that is how a test tells.
#![allow(clippy::unwrap_used)]

#[cfg(feature = "channels")]
pub mod deliveries;

use std::borrow::Borrow;
use std::collections::BTreeSet;
use std::sync::Arc;

use super::{
    Cursor, Door, Inserted, Page, Query, Settled, StatusFilter, Store, StoreError, Summary, TenantId, Whose,
};
use crate::contract::{
    Answer, Choice, NoAnswerReason, Origin, Outcome, Prompt, Question, SessionKind, Settlement, Timestamp,
};

/// Makes a module with one test for each fact.
///
/// The second argument is an expression that gives a pair: whatever must live as long as the store does, such as a
/// temporary folder, and an `Arc` of an empty store. It is evaluated once a test, in an async function. The crate needs
/// tokio with its features `macros` and `rt-multi-thread`.
///
/// ```no_run
/// # use std::sync::Arc;
/// # use ask_user_host::store::MemoryStore;
/// ask_user_host::store_conformance!(in_memory, ((), Arc::new(MemoryStore::new())));
/// ```
#[macro_export]
macro_rules! store_conformance {
    ($module:ident, $open:expr) => {
        $crate::store_conformance! { @tests $module, $open,
            a_stored_prompt_is_found_as_it_was,
            a_prompt_is_stored_pending_whatever_it_says,
            a_tenants_prompts_are_nobody_elses,
            the_same_names_in_two_tenants_do_not_meet,
            a_client_may_ask_many_things_at_once,
            an_id_is_used_once,
            an_id_stays_in_use_while_the_settled_prompt_is_kept,
            a_session_has_one_pending_prompt_through_the_tool,
            an_overdue_prompt_keeps_its_session_busy,
            a_session_is_free_after_the_end,
            the_tools_rule_does_not_count_what_clients_asked,
            the_same_tool_call_attaches_to_its_pending_prompt,
            the_same_tool_call_attaches_to_its_settled_prompt,
            a_tool_call_is_known_by_all_three_names_only,
            a_prompt_without_a_session_has_no_rules_but_its_id,
            of_the_tools_rules_the_same_call_comes_first_and_the_id_last,
            of_two_settlements_the_first_wins,
            of_many_settlements_at_once_one_wins,
            of_many_tool_calls_at_once_one_is_stored,
            many_prompts_at_once_are_all_stored,
            an_answer_at_the_deadline_is_late_and_an_expiry_is_not,
            an_answer_before_the_deadline_is_in_time_and_an_expiry_is_not,
            a_cancellation_is_bound_to_the_deadline_like_an_answer,
            the_end_comes_back_as_it_was_written,
            prompts_are_listed_in_the_order_of_creation_then_of_ids,
            a_list_shows_what_can_be_answered_unless_asked_otherwise,
            a_list_is_narrowed_by_session_run_and_requester,
            a_page_ends_where_its_limit_says,
            a_page_is_not_larger_than_a_plugin_can_work_with,
            pages_have_no_gaps_and_no_doubles_while_prompts_come_in,
            a_settled_prompt_keeps_its_place_in_the_list_of_all,
            a_draft_belongs_to_one_sender_of_one_prompt,
            drafts_are_gone_after_the_end,
            summaries_come_in_the_order_of_the_ends,
            summaries_stay_when_the_prompts_are_purged,
            a_session_keeps_its_newest_thousand_summaries,
            a_deleted_prompt_leaves_nothing,
            a_deleted_prompts_names_can_be_used_again,
            a_pending_prompt_is_not_deleted,
            a_forgotten_session_keeps_only_what_is_pending,
            overdue_prompts_come_earliest_first,
            the_next_deadline_moves_on,
            a_purge_takes_the_oldest_ends_up_to_its_limit,
            a_purge_is_for_whom_it_is_meant,
            pending_prompts_are_counted,
            text_comes_back_unchanged,
            moments_at_the_end_of_time_are_kept,
        }
    };
    (@tests $module:ident, $open:expr, $($fact:ident,)*) => {
        mod $module {
            #[allow(unused_imports, reason = "the expression may need nothing from outside")]
            use super::*;

            $(
                #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
                async fn $fact() {
                    let (_kept, store) = $open;
                    $crate::store::conformance::$fact(store).await;
                }
            )*
        }
    };
}

/// The store that a fact looks at.
pub type Subject = Arc<dyn Store>;

const CREATED: Timestamp = 1_000;
const DEADLINE: Timestamp = 10_000;
/// Some moment in between.
const DURING: Timestamp = 5_000;

fn tenant(name: &str) -> TenantId {
    TenantId::new(name).unwrap()
}

fn ours() -> TenantId {
    tenant("ours")
}

fn prompt(id: &str) -> Prompt {
    let choice = |label: &str| Choice { label: label.into(), description: None };
    Prompt {
        id: id.into(),
        questions: vec![Question {
            id: "colour".into(),
            header: "Colour".into(),
            text: "Which colour?".into(),
            choices: vec![choice("Red"), choice("Green")],
            multi_select: None,
            is_other: Some(true),
            is_secret: None,
            url: None,
        }],
        origin: Origin::default(),
        created_at: CREATED,
        expires_at: DEADLINE,
        settlement: None,
    }
}

/// A prompt that a tool call made.
fn called(id: &str, session: &str, run: &str, call: &str) -> Prompt {
    let mut prompt = in_session(id, session);
    prompt.origin.run = Some(run.into());
    prompt.origin.tool_call = Some(call.into());
    prompt
}

fn in_session(id: &str, session: &str) -> Prompt {
    let mut prompt = prompt(id);
    prompt.origin.session_key = Some(session.into());
    prompt
}

fn made(id: &str, created_at: Timestamp) -> Prompt {
    Prompt { created_at, ..prompt(id) }
}

fn answers(value: &str) -> Vec<Answer> {
    vec![Answer { question_id: "colour".into(), values: vec![value.into()] }]
}

fn answered(value: &str, at: Timestamp) -> Settlement {
    Settlement { outcome: Outcome::Answered(answers(value)), at, resolved_by: None, resolution_id: None }
}

fn ended(reason: NoAnswerReason, at: Timestamp) -> Settlement {
    Settlement { outcome: Outcome::NoAnswer(reason), at, resolved_by: None, resolution_id: None }
}

fn with(prompt: &Prompt, settlement: &Settlement) -> Prompt {
    Prompt { settlement: Some(settlement.clone()), ..prompt.clone() }
}

fn ids<'a, P: Borrow<Prompt> + 'a>(prompts: impl IntoIterator<Item = &'a P>) -> Vec<&'a str> {
    prompts.into_iter().map(|prompt| prompt.borrow().id.as_str()).collect()
}

async fn insert(
    store: &Subject,
    tenant: &TenantId,
    prompt: &Prompt,
    door: Door,
) -> Result<Inserted, StoreError> {
    store.insert(tenant, &Arc::new(prompt.clone()), door).await
}

async fn get(store: &Subject, tenant: &TenantId, id: &str) -> Option<Prompt> {
    store.get(tenant, id).await.unwrap().map(Arc::unwrap_or_clone)
}

/// Stores what has to be new.
async fn store_new(store: &Subject, tenant: &TenantId, prompt: &Prompt, door: Door) {
    assert_eq!(insert(store, tenant, prompt, door).await.unwrap(), Inserted::New, "{}", prompt.id);
}

/// Ends what has to be pending.
async fn settle_now(store: &Subject, tenant: &TenantId, id: &str, settlement: &Settlement) -> Prompt {
    match store.settle(tenant, id, settlement).await.unwrap() {
        Settled::Committed(prompt) => Arc::unwrap_or_clone(prompt),
        other => panic!("{id} should have been settled, but: {other:?}"),
    }
}

async fn all_pages(store: &Subject, query: &Query, now: Timestamp) -> Vec<Prompt> {
    let mut query = query.clone();
    let mut prompts = Vec::new();
    loop {
        let page = store.list(&ours(), &query, now).await.unwrap();
        assert!(page.prompts.len() <= query.page_size());
        prompts.extend(page.prompts.into_iter().map(Arc::unwrap_or_clone));
        match page.next {
            Some(next) => query.after = Some(next),
            None => return prompts,
        }
    }
}

fn query(status: StatusFilter) -> Query {
    Query { status, ..Query::default() }
}

/// What is stored comes back in every part.
pub async fn a_stored_prompt_is_found_as_it_was(store: Subject) {
    let mut full = called("full", "agent:main:main", "run", "call");
    full.origin.agent = Some("main".into());
    full.origin.session_kind = Some(SessionKind::Main);
    full.origin.requester = Some("someone".into());
    full.origin.conversation = Some("chat".into());
    full.origin.locale = Some("nl-NL".into());
    full.questions[0].multi_select = Some(false);
    full.questions[0].url = Some("https://example.org/".into());
    full.questions[0].choices[0].description = Some("as a rose".into());
    full.questions.push(Question { id: "size".into(), choices: vec![], ..full.questions[0].clone() });
    store_new(&store, &ours(), &full, Door::Tool).await;
    store_new(&store, &ours(), &prompt("bare"), Door::Client).await;
    assert_eq!(get(&store, &ours(), "full").await, Some(full));
    assert_eq!(get(&store, &ours(), "bare").await, Some(prompt("bare")));
    assert_eq!(get(&store, &ours(), "none").await, None);
}

/// Only `settle` ends a prompt.
pub async fn a_prompt_is_stored_pending_whatever_it_says(store: Subject) {
    let claimed = with(&prompt("p"), &answered("Red", DURING));
    store_new(&store, &ours(), &claimed, Door::Client).await;
    assert_eq!(get(&store, &ours(), "p").await, Some(prompt("p")));
    settle_now(&store, &ours(), "p", &answered("Green", DURING)).await;
}

/// Absent and not-yours are the same answer (ruling 26), in every method.
pub async fn a_tenants_prompts_are_nobody_elses(store: Subject) {
    let theirs = tenant("theirs");
    store_new(&store, &ours(), &called("pending", "s", "r", "c"), Door::Tool).await;
    store.keep_draft(&ours(), "pending", "sender", &answers("Red")).await.unwrap();
    store_new(&store, &ours(), &in_session("settled", "s"), Door::Client).await;
    let settled = settle_now(&store, &ours(), "settled", &answered("Red", DURING)).await;

    assert_eq!(get(&store, &theirs, "pending").await, None);
    for status in [StatusFilter::Pending, StatusFilter::Settled, StatusFilter::All] {
        for query in [
            query(status),
            Query { session: Some("s".into()), ..query(status) },
            Query { run: Some("r".into()), ..query(status) },
        ] {
            assert_eq!(store.list(&theirs, &query, DURING).await.unwrap(), Page::default());
        }
    }
    let late = answered("Green", DURING);
    assert_eq!(store.settle(&theirs, "pending", &late).await.unwrap(), Settled::NotFound);
    assert_eq!(store.settle(&theirs, "settled", &late).await.unwrap(), Settled::NotFound);
    assert!(!store.delete(&theirs, "settled").await.unwrap());
    assert_eq!(store.draft(&theirs, "pending", "sender").await.unwrap(), None);
    store.keep_draft(&theirs, "pending", "sender", &answers("Green")).await.unwrap();
    assert_eq!(store.summaries(&theirs, "s").await.unwrap(), vec![]);
    store.forget_session(&theirs, "s").await.unwrap();

    let pending = called("pending", "s", "r", "c");
    assert_eq!(get(&store, &ours(), "pending").await, Some(pending));
    assert_eq!(store.draft(&ours(), "pending", "sender").await.unwrap(), Some(answers("Red")));
    assert_eq!(get(&store, &ours(), "settled").await, Some(settled));
    assert_eq!(store.summaries(&ours(), "s").await.unwrap().len(), 1);
}

/// Two tenants that use the same names for everything have nothing in common.
pub async fn the_same_names_in_two_tenants_do_not_meet(store: Subject) {
    let theirs = tenant("theirs");
    for tenant in [&ours(), &theirs] {
        store_new(&store, tenant, &called("p", "s", "r", "c"), Door::Tool).await;
    }
    store.keep_draft(&theirs, "p", "sender", &answers("Green")).await.unwrap();
    settle_now(&store, &ours(), "p", &answered("Red", DURING)).await;
    assert_eq!(get(&store, &theirs, "p").await, Some(called("p", "s", "r", "c")));
    assert_eq!(store.draft(&theirs, "p", "sender").await.unwrap(), Some(answers("Green")));
    settle_now(&store, &theirs, "p", &answered("Green", DURING)).await;
    store.forget_session(&ours(), "s").await.unwrap();
    assert_eq!(get(&store, &ours(), "p").await, None);
    assert_eq!(store.summaries(&theirs, "s").await.unwrap()[0].questions[0].1, ["Green"]);
    assert!(store.delete(&theirs, "p").await.unwrap());
}

/// The tool's rules are the tool's.
pub async fn a_client_may_ask_many_things_at_once(store: Subject) {
    store_new(&store, &ours(), &called("a", "s", "r", "c"), Door::Client).await;
    store_new(&store, &ours(), &called("b", "s", "r", "c"), Door::Client).await;
    store_new(&store, &ours(), &called("c", "s", "r", "c"), Door::Tool).await;
}

/// Of two prompts of one id the second is refused, and the first is not changed.
pub async fn an_id_is_used_once(store: Subject) {
    store_new(&store, &ours(), &prompt("p"), Door::Client).await;
    let other = in_session("p", "s");
    assert_eq!(insert(&store, &ours(), &other, Door::Client).await.unwrap(), Inserted::IdInUse);
    assert_eq!(insert(&store, &ours(), &other, Door::Tool).await.unwrap(), Inserted::IdInUse);
    assert_eq!(get(&store, &ours(), "p").await, Some(prompt("p")));
    store_new(&store, &ours(), &in_session("q", "s"), Door::Tool).await;
}

/// An id names one prompt for as long as the prompt can be looked at.
pub async fn an_id_stays_in_use_while_the_settled_prompt_is_kept(store: Subject) {
    store_new(&store, &ours(), &prompt("p"), Door::Client).await;
    settle_now(&store, &ours(), "p", &answered("Red", DURING)).await;
    assert_eq!(insert(&store, &ours(), &prompt("p"), Door::Client).await.unwrap(), Inserted::IdInUse);
    assert_eq!(store.purge(&Whose::ALL, DURING, 10).await.unwrap(), 1);
    store_new(&store, &ours(), &prompt("p"), Door::Client).await;
}

/// Ruling 11: the second call of a session learns what is pending.
pub async fn a_session_has_one_pending_prompt_through_the_tool(store: Subject) {
    let first = called("a", "s", "r", "c1");
    store_new(&store, &ours(), &first, Door::Tool).await;
    let second = called("b", "s", "r", "c2");
    assert_eq!(
        insert(&store, &ours(), &second, Door::Tool).await.unwrap(),
        Inserted::SessionBusy(Arc::new(first))
    );
    assert_eq!(get(&store, &ours(), "b").await, None);
    store_new(&store, &ours(), &called("c", "t", "r", "c2"), Door::Tool).await;
}

/// A prompt is pending until somebody settles it, also past its deadline.
pub async fn an_overdue_prompt_keeps_its_session_busy(store: Subject) {
    let overdue = in_session("a", "s");
    store_new(&store, &ours(), &overdue, Door::Tool).await;
    let next = Prompt { created_at: DEADLINE * 2, expires_at: DEADLINE * 3, ..in_session("b", "s") };
    assert_eq!(
        insert(&store, &ours(), &next, Door::Tool).await.unwrap(),
        Inserted::SessionBusy(Arc::new(overdue))
    );
}

/// Whatever the end was, the session may ask again.
pub async fn a_session_is_free_after_the_end(store: Subject) {
    let ends = [
        answered("Red", DURING),
        ended(NoAnswerReason::Skipped, DURING),
        ended(NoAnswerReason::Cancelled, DURING),
        ended(NoAnswerReason::Undeliverable, DURING),
        ended(NoAnswerReason::Expired, DEADLINE),
    ];
    for (turn, end) in ends.iter().enumerate() {
        let id = turn.to_string();
        store_new(&store, &ours(), &called(&id, "s", "r", &id), Door::Tool).await;
        settle_now(&store, &ours(), &id, end).await;
    }
}

/// What a client asked in a session does not keep the agent from asking, and what the agent asked is not the client's.
pub async fn the_tools_rule_does_not_count_what_clients_asked(store: Subject) {
    store_new(&store, &ours(), &in_session("a", "s"), Door::Client).await;
    store_new(&store, &ours(), &in_session("b", "s"), Door::Tool).await;
    store_new(&store, &ours(), &in_session("c", "s"), Door::Client).await;
}

/// Asking again with the same session, run and tool call waits for the same prompt (ruling 11).
pub async fn the_same_tool_call_attaches_to_its_pending_prompt(store: Subject) {
    let first = called("a", "s", "r", "c");
    store_new(&store, &ours(), &first, Door::Tool).await;
    let again = called("b", "s", "r", "c");
    assert_eq!(
        insert(&store, &ours(), &again, Door::Tool).await.unwrap(),
        Inserted::Attached(Arc::new(first))
    );
    assert_eq!(get(&store, &ours(), "b").await, None);
}

/// The answer that came before the second asking is not asked for twice.
pub async fn the_same_tool_call_attaches_to_its_settled_prompt(store: Subject) {
    store_new(&store, &ours(), &called("a", "s", "r", "c"), Door::Tool).await;
    let settled = settle_now(&store, &ours(), "a", &answered("Red", DURING)).await;
    // Something else is pending in the session by now; that does not matter to the call that has its answer.
    store_new(&store, &ours(), &called("b", "s", "r2", "c"), Door::Tool).await;
    let again = called("c", "s", "r", "c");
    assert_eq!(
        insert(&store, &ours(), &again, Door::Tool).await.unwrap(),
        Inserted::Attached(Arc::new(settled))
    );
}

/// Names of tool calls repeat from run to run, and runs from session to session.
pub async fn a_tool_call_is_known_by_all_three_names_only(store: Subject) {
    let mut unnamed = called("unnamed", "s0", "r", "c");
    unnamed.origin.run = None;
    let calls = [
        called("a", "s", "r", "c"),
        called("b", "s", "r", "c2"),
        called("c", "s", "r2", "c"),
        called("d", "s2", "r", "c"),
        unnamed.clone(),
    ];
    for call in &calls {
        store_new(&store, &ours(), call, Door::Tool).await;
        settle_now(&store, &ours(), &call.id, &answered(&call.id, DURING)).await;
    }
    // Without a run nobody knows whether it is the same call.
    store_new(&store, &ours(), &Prompt { id: "unnamed2".into(), ..unnamed }, Door::Tool).await;
    for call in &calls[..4] {
        let again = Prompt { id: "again".into(), ..call.clone() };
        match insert(&store, &ours(), &again, Door::Tool).await.unwrap() {
            Inserted::Attached(earlier) => assert_eq!(earlier.id, call.id),
            other => panic!("{} should be known, but: {other:?}", call.id),
        }
    }
}

/// A host without sessions can use the tool's door, too.
pub async fn a_prompt_without_a_session_has_no_rules_but_its_id(store: Subject) {
    store_new(&store, &ours(), &prompt("a"), Door::Tool).await;
    store_new(&store, &ours(), &prompt("b"), Door::Tool).await;
    assert_eq!(insert(&store, &ours(), &prompt("a"), Door::Tool).await.unwrap(), Inserted::IdInUse);
}

/// The order in which the rules are looked at.
pub async fn of_the_tools_rules_the_same_call_comes_first_and_the_id_last(store: Subject) {
    let first = called("a", "s", "r", "c");
    store_new(&store, &ours(), &first, Door::Tool).await;
    let attached = insert(&store, &ours(), &first, Door::Tool).await.unwrap();
    assert_eq!(attached, Inserted::Attached(Arc::new(first.clone())));
    let busy = insert(&store, &ours(), &called("a", "s", "r", "c2"), Door::Tool).await.unwrap();
    assert_eq!(busy, Inserted::SessionBusy(Arc::new(first.clone())));
    let in_use = insert(&store, &ours(), &called("a", "s2", "r", "c"), Door::Tool).await.unwrap();
    assert_eq!(in_use, Inserted::IdInUse);
    let by_client = insert(&store, &ours(), &first, Door::Client).await.unwrap();
    assert_eq!(by_client, Inserted::IdInUse);
}

/// A prompt settles once, and whoever comes later learns how.
pub async fn of_two_settlements_the_first_wins(store: Subject) {
    store_new(&store, &ours(), &prompt("p"), Door::Client).await;
    let first = answered("Red", DURING);
    let settled = with(&prompt("p"), &first);
    assert_eq!(settle_now(&store, &ours(), "p", &first).await, settled);
    for late in [
        answered("Green", DURING),
        first.clone(),
        ended(NoAnswerReason::Expired, DEADLINE),
        ended(NoAnswerReason::Cancelled, DEADLINE),
    ] {
        let before = store.settle(&ours(), "p", &late).await.unwrap();
        assert_eq!(before, Settled::Before(Arc::new(settled.clone())));
    }
    assert_eq!(get(&store, &ours(), "p").await, Some(settled));
    let missing = store.settle(&ours(), "none", &first).await.unwrap();
    assert_eq!(missing, Settled::NotFound);
}

/// Compare-and-set holds when everybody comes at the same time.
pub async fn of_many_settlements_at_once_one_wins(store: Subject) {
    store_new(&store, &ours(), &prompt("p"), Door::Client).await;
    let tasks: Vec<_> = (0..64)
        .map(|number: u32| {
            let store = store.clone();
            tokio::spawn(
                async move { store.settle(&ours(), "p", &answered(&number.to_string(), DURING)).await },
            )
        })
        .collect();
    let mut winners = Vec::new();
    let mut told = Vec::new();
    for task in tasks {
        match task.await.unwrap().unwrap() {
            Settled::Committed(prompt) => winners.push(prompt),
            Settled::Before(prompt) => told.push(prompt),
            other => panic!("nobody can see {other:?}"),
        }
    }
    assert_eq!((winners.len(), told.len()), (1, 63));
    assert!(told.iter().all(|prompt| *prompt == winners[0]));
    assert_eq!(get(&store, &ours(), "p").await.as_ref(), winners.first().map(|prompt| &**prompt));
}

/// A retried call does not make a second prompt, however quick the retry is.
pub async fn of_many_tool_calls_at_once_one_is_stored(store: Subject) {
    let tasks: Vec<_> = (0..64)
        .map(|number: u32| {
            let store = store.clone();
            let call = if number.is_multiple_of(2) { "even" } else { "odd" };
            let prompt = called(&number.to_string(), "s", "r", call);
            tokio::spawn(async move { insert(&store, &ours(), &prompt, Door::Tool).await })
        })
        .collect();
    let mut counts = [0; 3];
    for task in tasks {
        match task.await.unwrap().unwrap() {
            Inserted::New => counts[0] += 1,
            Inserted::Attached(_) => counts[1] += 1,
            Inserted::SessionBusy(_) => counts[2] += 1,
            Inserted::IdInUse => panic!("all ids are different"),
        }
    }
    assert_eq!(counts, [1, 31, 32]);
}

/// Nothing that was acknowledged is lost in the crowd.
pub async fn many_prompts_at_once_are_all_stored(store: Subject) {
    let tasks: Vec<_> = (0..500)
        .map(|number: u32| {
            let store = store.clone();
            tokio::spawn(async move {
                let prompt = prompt(&format!("{number:03}"));
                store_new(&store, &ours(), &prompt, Door::Client).await;
                // What was acknowledged can be seen at once.
                assert_eq!(get(&store, &ours(), &prompt.id).await.as_ref(), Some(&prompt));
            })
        })
        .collect();
    for task in tasks {
        task.await.unwrap();
    }
    let all = all_pages(&store, &query(StatusFilter::Pending), DURING).await;
    assert_eq!(ids(&all), (0..500).map(|number| format!("{number:03}")).collect::<Vec<_>>());
}

/// Ruling 21: from the deadline on a prompt can only expire.
pub async fn an_answer_at_the_deadline_is_late_and_an_expiry_is_not(store: Subject) {
    store_new(&store, &ours(), &prompt("p"), Door::Client).await;
    for late in [DEADLINE, DEADLINE + 1] {
        let untimely = store.settle(&ours(), "p", &answered("Red", late)).await.unwrap();
        assert_eq!(untimely, Settled::Untimely(Arc::new(prompt("p"))));
    }
    settle_now(&store, &ours(), "p", &ended(NoAnswerReason::Expired, DEADLINE)).await;
}

/// Ruling 21: before the deadline nothing expires.
pub async fn an_answer_before_the_deadline_is_in_time_and_an_expiry_is_not(store: Subject) {
    store_new(&store, &ours(), &prompt("p"), Door::Client).await;
    let early = ended(NoAnswerReason::Expired, DEADLINE - 1);
    let untimely = store.settle(&ours(), "p", &early).await.unwrap();
    assert_eq!(untimely, Settled::Untimely(Arc::new(prompt("p"))));
    settle_now(&store, &ours(), "p", &answered("Red", DEADLINE - 1)).await;
}

/// A skip or a cancellation at the deadline is late, too: the prompt has expired.
pub async fn a_cancellation_is_bound_to_the_deadline_like_an_answer(store: Subject) {
    let reasons = [NoAnswerReason::Skipped, NoAnswerReason::Cancelled, NoAnswerReason::Undeliverable];
    for (number, reason) in reasons.into_iter().enumerate() {
        let prompt = prompt(&number.to_string());
        store_new(&store, &ours(), &prompt, Door::Client).await;
        let late = store.settle(&ours(), &prompt.id, &ended(reason, DEADLINE)).await.unwrap();
        assert_eq!(late, Settled::Untimely(Arc::new(prompt.clone())));
        settle_now(&store, &ours(), &prompt.id, &ended(reason, DEADLINE - 1)).await;
    }
}

/// Every part of a settlement is kept.
pub async fn the_end_comes_back_as_it_was_written(store: Subject) {
    let ends = [
        Settlement {
            resolved_by: Some("operator".into()),
            resolution_id: Some("mark".into()),
            ..answered("Red", DURING)
        },
        ended(NoAnswerReason::Skipped, DURING),
        ended(NoAnswerReason::Cancelled, DURING),
        ended(NoAnswerReason::Undeliverable, DURING),
        ended(NoAnswerReason::Expired, DEADLINE + 7),
    ];
    for (number, end) in ends.iter().enumerate() {
        let prompt = prompt(&number.to_string());
        store_new(&store, &ours(), &prompt, Door::Client).await;
        assert_eq!(settle_now(&store, &ours(), &prompt.id, end).await, with(&prompt, end));
        assert_eq!(get(&store, &ours(), &prompt.id).await, Some(with(&prompt, end)));
    }
}

/// The order does not depend on when the store heard of a prompt.
pub async fn prompts_are_listed_in_the_order_of_creation_then_of_ids(store: Subject) {
    for (id, created_at) in [("d", 7), ("b", 9), ("c", 7), ("B", 7), ("a", 8), ("é", 7)] {
        store_new(&store, &ours(), &made(id, created_at), Door::Client).await;
    }
    let expected = ["B", "c", "d", "é", "a", "b"];
    for status in [StatusFilter::Pending, StatusFilter::All] {
        assert_eq!(ids(&all_pages(&store, &query(status), DURING).await), expected);
    }
    for (turn, id) in ["a", "b", "c", "d", "B", "é"].into_iter().enumerate() {
        settle_now(&store, &ours(), id, &answered("Red", DURING - turn as Timestamp)).await;
    }
    assert_eq!(ids(&all_pages(&store, &query(StatusFilter::Settled), DURING).await), expected);
}

/// Pending means that it can still be answered; what is overdue is neither pending nor settled yet.
pub async fn a_list_shows_what_can_be_answered_unless_asked_otherwise(store: Subject) {
    for id in ["a", "c"] {
        store_new(&store, &ours(), &prompt(id), Door::Client).await;
    }
    store_new(&store, &ours(), &Prompt { expires_at: DURING, ..prompt("b") }, Door::Client).await;
    settle_now(&store, &ours(), "c", &answered("Red", DURING)).await;
    let listed = async |status, now| {
        let page = store.list(&ours(), &query(status), now).await.unwrap();
        ids(&page.prompts).join(" ")
    };
    assert_eq!(Query::default().status, StatusFilter::Pending);
    assert_eq!(listed(StatusFilter::Pending, DURING - 1).await, "a b");
    assert_eq!(listed(StatusFilter::Pending, DURING).await, "a");
    assert_eq!(listed(StatusFilter::Settled, DURING).await, "c");
    assert_eq!(listed(StatusFilter::All, DURING).await, "a b c");
}

/// Each filter counts, and together they all do.
pub async fn a_list_is_narrowed_by_session_run_and_requester(store: Subject) {
    let parts = ["1", "2"];
    for session in parts {
        for run in parts {
            for requester in parts {
                let mut prompt = called(&format!("{session}{run}{requester}"), session, run, "c");
                prompt.origin.requester = Some(requester.into());
                store_new(&store, &ours(), &prompt, Door::Client).await;
            }
        }
    }
    store_new(&store, &ours(), &prompt("nobody's"), Door::Client).await;
    for id in ["111", "222"] {
        settle_now(&store, &ours(), id, &answered("Red", DURING)).await;
    }
    let listed = async |status, session: &str, run: &str, requester: &str, limit| {
        let part = |text: &str| (!text.is_empty()).then(|| text.to_owned());
        let (session, run, requester) = (part(session), part(run), part(requester));
        let query = Query { status, session, run, requester, limit, after: None };
        ids(&all_pages(&store, &query, DURING).await).join(" ")
    };
    for limit in [0, 1, 2, 3] {
        let pending = async |session, run, requester| {
            listed(StatusFilter::Pending, session, run, requester, limit).await
        };
        assert_eq!(pending("1", "", "").await, "112 121 122");
        assert_eq!(pending("", "2", "").await, "121 122 221");
        assert_eq!(pending("", "", "2").await, "112 122 212");
        assert_eq!(pending("2", "1", "").await, "211 212");
        assert_eq!(pending("2", "", "1").await, "211 221");
        assert_eq!(pending("", "1", "2").await, "112 212");
        assert_eq!(pending("1", "2", "1").await, "121");
        assert_eq!(pending("3", "", "").await, "");
        assert_eq!(listed(StatusFilter::Settled, "2", "", "", limit).await, "222");
        assert_eq!(listed(StatusFilter::Settled, "", "1", "1", limit).await, "111");
        assert_eq!(listed(StatusFilter::All, "", "2", "2", limit).await, "122 222");
        assert_eq!(listed(StatusFilter::All, "", "", "1", limit).await, "111 121 211 221");
    }
}

/// However large the prompts are, a page has at least one, and all pages together have all.
pub async fn a_page_is_not_larger_than_a_plugin_can_work_with(store: Subject) {
    for (at, kib) in (CREATED..).zip([600, 600, 300, 2_000, 1, 1, 300]) {
        let mut large = made(&at.to_string(), at);
        large.questions[0].text = "x".repeat(kib << 10);
        store_new(&store, &ours(), &large, Door::Client).await;
    }
    let mut query = Query::default();
    let mut pages = Vec::new();
    loop {
        let page = store.list(&ours(), &query, DURING).await.unwrap();
        pages.push(page.prompts.len());
        match page.next {
            Some(next) => query.after = Some(next),
            None => break,
        }
    }
    assert_eq!(pages, [1, 2, 1, 3]);
}

/// A page tells where the next one begins, and the last page tells that it is the last.
pub async fn a_page_ends_where_its_limit_says(store: Subject) {
    for number in 0..300 {
        store_new(&store, &ours(), &made(&format!("{number:03}"), CREATED + number), Door::Client).await;
    }
    let page = async |limit, after| {
        let query = Query { limit, after, ..Query::default() };
        store.list(&ours(), &query, DURING).await.unwrap()
    };
    for limit in [0, Query::MAX_LIMIT, Query::MAX_LIMIT + 1, usize::MAX] {
        let first = page(limit, None).await;
        assert_eq!(first.prompts.len(), Query::MAX_LIMIT);
        let next = first.next.unwrap();
        assert_eq!(next, Cursor { created_at: CREATED + 255, id: "255".into() });
        let rest = page(limit, Some(next)).await;
        assert_eq!((rest.prompts.len(), rest.next), (44, None));
    }
    let first = page(2, None).await;
    assert_eq!(ids(&first.prompts), ["000", "001"]);
    let exact = page(2, Some(Cursor { created_at: CREATED + 297, id: "297".into() })).await;
    assert_eq!((ids(&exact.prompts), &exact.next), (vec!["298", "299"], &None));
    let beyond = page(2, Some(Cursor { created_at: CREATED + 299, id: "299".into() })).await;
    assert_eq!(beyond, Page::default());
    // A cursor is a place, not a prompt: whether there is one does not matter.
    let between = page(1, Some(Cursor { created_at: CREATED + 7, id: "007x".into() })).await;
    assert_eq!(ids(&between.prompts), ["008"]);
}

/// Whoever pages while others ask sees each prompt that was there all the time once.
pub async fn pages_have_no_gaps_and_no_doubles_while_prompts_come_in(store: Subject) {
    for number in 0..60 {
        store_new(&store, &ours(), &made(&format!("old{number:02}"), number / 4), Door::Client).await;
    }
    let mut query = Query { limit: 7, status: StatusFilter::All, ..Query::default() };
    let mut seen = Vec::new();
    for turn in 0.. {
        // One comes in before the place of the page, one right in it, one behind.
        for (name, created_at) in [("new", 0), ("old", turn / 2), ("zzz", turn)] {
            let id = format!("{name}{turn}x");
            store_new(&store, &ours(), &made(&id, created_at), Door::Client).await;
        }
        settle_now(&store, &ours(), &format!("old{turn:02}"), &answered("Red", DURING)).await;
        let page = store.list(&ours(), &query, DURING).await.unwrap();
        seen.extend(page.prompts);
        match page.next {
            Some(next) => query.after = Some(next),
            None => break,
        }
    }
    let old: Vec<_> = ids(&seen).into_iter().filter(|id| !id.ends_with('x')).collect();
    assert_eq!(old, (0..60).map(|number| format!("old{number:02}")).collect::<Vec<_>>());
    assert_eq!(ids(&seen).into_iter().collect::<BTreeSet<_>>().len(), seen.len());
}

/// A prompt's place is when it was made, whatever became of it.
pub async fn a_settled_prompt_keeps_its_place_in_the_list_of_all(store: Subject) {
    for number in 0..10 {
        store_new(&store, &ours(), &made(&number.to_string(), number), Door::Client).await;
    }
    for number in [8, 3, 4, 1] {
        settle_now(&store, &ours(), &number.to_string(), &answered("Red", DURING)).await;
    }
    for limit in 1..12 {
        let query = Query { limit, ..query(StatusFilter::All) };
        let all = all_pages(&store, &query, DURING).await;
        assert_eq!(ids(&all).concat(), "0123456789");
        let settled = |prompt: &&Prompt| prompt.settlement.is_some();
        assert_eq!(ids(all.iter().filter(settled)).concat(), "1348");
    }
}

/// What one person has typed so far is not another's, and the newest counts.
pub async fn a_draft_belongs_to_one_sender_of_one_prompt(store: Subject) {
    for id in ["a", "b"] {
        store_new(&store, &ours(), &prompt(id), Door::Client).await;
    }
    store.keep_draft(&ours(), "a", "one", &answers("Red")).await.unwrap();
    store.keep_draft(&ours(), "a", "two", &answers("Green")).await.unwrap();
    store.keep_draft(&ours(), "b", "one", &answers("Blue")).await.unwrap();
    store.keep_draft(&ours(), "a", "one", &answers("Yellow")).await.unwrap();
    store.keep_draft(&ours(), "a", "", &[]).await.unwrap();
    store.keep_draft(&ours(), "none", "one", &answers("Red")).await.unwrap();
    let expected = [
        ("a", "one", Some(answers("Yellow"))),
        ("a", "two", Some(answers("Green"))),
        ("b", "one", Some(answers("Blue"))),
        ("b", "two", None),
        ("a", "", Some(vec![])),
        ("none", "one", None),
    ];
    for (id, sender, draft) in expected {
        assert_eq!(store.draft(&ours(), id, sender).await.unwrap(), draft, "{id} {sender}");
    }
    assert_eq!(get(&store, &ours(), "a").await, Some(prompt("a")));
}

/// What was not sent as an answer does not outlive the prompt.
pub async fn drafts_are_gone_after_the_end(store: Subject) {
    store_new(&store, &ours(), &prompt("p"), Door::Client).await;
    store.keep_draft(&ours(), "p", "sender", &answers("Red")).await.unwrap();
    settle_now(&store, &ours(), "p", &answered("Green", DURING)).await;
    assert_eq!(store.draft(&ours(), "p", "sender").await.unwrap(), None);
    store.keep_draft(&ours(), "p", "sender", &answers("Red")).await.unwrap();
    assert_eq!(store.draft(&ours(), "p", "sender").await.unwrap(), None);
    assert!(store.delete(&ours(), "p").await.unwrap());
    store_new(&store, &ours(), &prompt("p"), Door::Client).await;
    assert_eq!(store.draft(&ours(), "p", "sender").await.unwrap(), None);
}

/// A session's past reads from the oldest end to the newest.
pub async fn summaries_come_in_the_order_of_the_ends(store: Subject) {
    for id in ["a", "b", "c", "d"] {
        store_new(&store, &ours(), &in_session(id, "s"), Door::Client).await;
    }
    store_new(&store, &ours(), &in_session("other", "t"), Door::Client).await;
    settle_now(&store, &ours(), "c", &answered("Red", DURING)).await;
    settle_now(&store, &ours(), "a", &ended(NoAnswerReason::Skipped, DURING + 1)).await;
    settle_now(&store, &ours(), "b", &answered("Green", DURING - 1)).await;
    settle_now(&store, &ours(), "other", &answered("Blue", DURING)).await;
    let summary = |id: &str, settled_at, value: &[&str], no_answer| Summary {
        prompt: id.into(),
        run: None,
        settled_at,
        questions: vec![("Which colour?".into(), value.iter().map(|&text| text.to_owned()).collect())],
        no_answer,
    };
    let expected = vec![
        summary("b", DURING - 1, &["Green"], None),
        summary("c", DURING, &["Red"], None),
        summary("a", DURING + 1, &[], Some(NoAnswerReason::Skipped)),
    ];
    assert_eq!(store.summaries(&ours(), "s").await.unwrap(), expected);
    assert_eq!(store.summaries(&ours(), "none").await.unwrap(), vec![]);
}

/// Ruling 24: a short retention does not make a session forget.
pub async fn summaries_stay_when_the_prompts_are_purged(store: Subject) {
    for (turn, id) in ["a", "b", "c"].into_iter().enumerate() {
        store_new(&store, &ours(), &called(id, "s", "r", id), Door::Tool).await;
        settle_now(&store, &ours(), id, &answered(id, DURING + turn as Timestamp)).await;
    }
    let before = store.summaries(&ours(), "s").await.unwrap();
    assert_eq!(before.iter().map(|summary| summary.prompt.as_str()).collect::<Vec<_>>(), ["a", "b", "c"]);
    assert_eq!(store.purge(&Whose::ALL, DURING + 1, 10).await.unwrap(), 2);
    assert_eq!(get(&store, &ours(), "a").await, None);
    assert_eq!(store.summaries(&ours(), "s").await.unwrap(), before);
    assert_eq!(store.purge(&Whose::ALL, DURING + 2, 10).await.unwrap(), 1);
    assert_eq!(store.summaries(&ours(), "s").await.unwrap(), before);
}

/// A session that lives for years stays small.
pub async fn a_session_keeps_its_newest_thousand_summaries(store: Subject) {
    for number in 0..1_010 {
        let id = format!("{number:04}");
        store_new(&store, &ours(), &in_session(&id, "s"), Door::Client).await;
        settle_now(&store, &ours(), &id, &answered("Red", CREATED + number)).await;
    }
    let kept = async || {
        let summaries = store.summaries(&ours(), "s").await.unwrap();
        (summaries.len(), summaries[0].prompt.clone(), summaries[999].prompt.clone())
    };
    let expected = (1_000, "0010".to_owned(), "1009".to_owned());
    assert_eq!(kept().await, expected);
    assert_eq!(store.purge(&Whose::ALL, CREATED + 500, usize::MAX).await.unwrap(), 501);
    assert_eq!(kept().await, expected);
    assert_eq!(store.purge(&Whose::ALL, DEADLINE, usize::MAX).await.unwrap(), 509);
    assert_eq!(kept().await, expected);
    assert!(!store.delete(&ours(), "0009").await.unwrap());
    assert!(store.delete(&ours(), "0010").await.unwrap());
    assert_eq!(store.summaries(&ours(), "s").await.unwrap().len(), 999);
}

/// Deleting is for what must not be kept: the prompt, its answers and its summary go, before and after a purge.
pub async fn a_deleted_prompt_leaves_nothing(store: Subject) {
    for id in ["a", "b", "c"] {
        store_new(&store, &ours(), &in_session(id, "s"), Door::Client).await;
        settle_now(&store, &ours(), id, &answered("Red", DURING)).await;
    }
    assert!(store.delete(&ours(), "a").await.unwrap());
    assert!(!store.delete(&ours(), "a").await.unwrap());
    assert_eq!(get(&store, &ours(), "a").await, None);
    assert_eq!(ids(&all_pages(&store, &query(StatusFilter::All), DURING).await), ["b", "c"]);
    assert_eq!(store.purge(&Whose::ALL, DURING, 10).await.unwrap(), 2);
    assert!(store.delete(&ours(), "b").await.unwrap());
    assert!(!store.delete(&ours(), "b").await.unwrap());
    let left = store.summaries(&ours(), "s").await.unwrap();
    assert_eq!(left.iter().map(|summary| summary.prompt.as_str()).collect::<Vec<_>>(), ["c"]);
    assert!(!store.delete(&ours(), "none").await.unwrap());
}

/// Nothing points to what was deleted.
pub async fn a_deleted_prompts_names_can_be_used_again(store: Subject) {
    for _ in 0..2 {
        store_new(&store, &ours(), &called("p", "s", "r", "c"), Door::Tool).await;
        settle_now(&store, &ours(), "p", &answered("Red", DURING)).await;
        assert!(store.delete(&ours(), "p").await.unwrap());
    }
}

/// Somebody waits for it.
pub async fn a_pending_prompt_is_not_deleted(store: Subject) {
    store_new(&store, &ours(), &prompt("p"), Door::Client).await;
    assert!(!store.delete(&ours(), "p").await.unwrap());
    assert_eq!(get(&store, &ours(), "p").await, Some(prompt("p")));
}

/// A session that is deleted takes its past with it; whoever waits goes on waiting.
pub async fn a_forgotten_session_keeps_only_what_is_pending(store: Subject) {
    for id in ["a", "b"] {
        store_new(&store, &ours(), &called(id, "s", "r", id), Door::Tool).await;
        settle_now(&store, &ours(), id, &answered("Red", DURING)).await;
        store.purge(&Whose::ALL, DURING, 1).await.unwrap();
    }
    for id in ["c", "d"] {
        store_new(&store, &ours(), &in_session(id, "s"), Door::Client).await;
    }
    store_new(&store, &ours(), &in_session("other", "t"), Door::Client).await;
    for id in ["c", "other"] {
        settle_now(&store, &ours(), id, &answered("Red", DURING)).await;
    }
    assert_eq!(store.summaries(&ours(), "s").await.unwrap().len(), 3);
    store.forget_session(&ours(), "s").await.unwrap();
    assert_eq!(store.summaries(&ours(), "s").await.unwrap(), vec![]);
    assert_eq!(ids(&all_pages(&store, &query(StatusFilter::All), DURING).await), ["d", "other"]);
    assert_eq!(store.summaries(&ours(), "t").await.unwrap().len(), 1);
    settle_now(&store, &ours(), "d", &answered("Red", DURING)).await;
    store.forget_session(&ours(), "none").await.unwrap();
}

/// The deadline loop sees all tenants, in the order of the deadlines.
pub async fn overdue_prompts_come_earliest_first(store: Subject) {
    let theirs = tenant("theirs");
    for (tenant, id, expires_at) in [
        (&ours(), "c", DURING + 2),
        (&theirs, "a", DURING),
        (&ours(), "b", DURING + 1),
        (&theirs, "d", DURING + 3),
        (&ours(), "settled", DURING),
    ] {
        store_new(&store, tenant, &Prompt { expires_at, ..prompt(id) }, Door::Client).await;
    }
    settle_now(&store, &ours(), "settled", &answered("Red", DURING - 1)).await;
    let overdue = async |now, limit| {
        let found = store.overdue(now, limit).await.unwrap();
        let named = found.iter().map(|(tenant, prompt)| format!("{tenant}/{}", prompt.id));
        named.collect::<Vec<_>>().join(" ")
    };
    assert_eq!(overdue(DURING - 1, 10).await, "");
    assert_eq!(overdue(DURING, 10).await, "theirs/a");
    assert_eq!(overdue(DURING + 2, 10).await, "theirs/a ours/b ours/c");
    assert_eq!(overdue(DURING + 2, 2).await, "theirs/a ours/b");
    assert_eq!(overdue(DURING + 2, 0).await, "");
    assert_eq!(overdue(Timestamp::MAX, usize::MAX).await, "theirs/a ours/b ours/c theirs/d");
}

/// The loop sleeps until the earliest deadline of all tenants.
pub async fn the_next_deadline_moves_on(store: Subject) {
    let theirs = tenant("theirs");
    assert_eq!(store.next_deadline().await.unwrap(), None);
    for (tenant, id, expires_at) in [(&ours(), "b", 200), (&theirs, "a", 100), (&ours(), "c", 300)] {
        store_new(&store, tenant, &Prompt { expires_at, ..prompt(id) }, Door::Client).await;
    }
    assert_eq!(store.next_deadline().await.unwrap(), Some(100));
    settle_now(&store, &theirs, "a", &ended(NoAnswerReason::Expired, 100)).await;
    assert_eq!(store.next_deadline().await.unwrap(), Some(200));
    settle_now(&store, &ours(), "b", &answered("Red", 150)).await;
    assert_eq!(store.next_deadline().await.unwrap(), Some(300));
    settle_now(&store, &ours(), "c", &ended(NoAnswerReason::Cancelled, 299)).await;
    assert_eq!(store.next_deadline().await.unwrap(), None);
}

/// A purge is done in parts, so that nobody has to wait for all of it.
pub async fn a_purge_takes_the_oldest_ends_up_to_its_limit(store: Subject) {
    let theirs = tenant("theirs");
    for (tenant, id, at) in
        [(&ours(), "c", 30), (&theirs, "a", 10), (&ours(), "b", 20), (&theirs, "d", 40), (&ours(), "e", 50)]
    {
        store_new(&store, tenant, &prompt(id), Door::Client).await;
        settle_now(&store, tenant, id, &answered("Red", at)).await;
    }
    store_new(&store, &ours(), &prompt("pending"), Door::Client).await;
    assert_eq!(store.purge(&Whose::ALL, 9, 10).await.unwrap(), 0);
    assert_eq!(store.purge(&Whose::ALL, 40, 0).await.unwrap(), 0);
    assert_eq!(store.purge(&Whose::ALL, 40, 2).await.unwrap(), 2);
    assert_eq!(get(&store, &theirs, "a").await, None);
    assert_eq!(get(&store, &ours(), "b").await, None);
    assert_eq!(ids(&all_pages(&store, &query(StatusFilter::Settled), DURING).await), ["c", "e"]);
    assert_eq!(store.purge(&Whose::ALL, 40, 10).await.unwrap(), 2);
    assert_eq!(store.purge(&Whose::ALL, 40, 10).await.unwrap(), 0);
    assert!(get(&store, &ours(), "e").await.is_some());
    assert_eq!(store.purge(&Whose::ALL, Timestamp::MAX, usize::MAX).await.unwrap(), 1);
    assert!(get(&store, &ours(), "pending").await.is_some());
}

/// A tenant may have a retention of its own: purged before the others, or after them.
pub async fn a_purge_is_for_whom_it_is_meant(store: Subject) {
    let theirs = tenant("theirs");
    for tenant in [&ours(), &theirs] {
        store_new(&store, tenant, &prompt("a"), Door::Client).await;
        settle_now(&store, tenant, "a", &answered("Red", 10)).await;
    }
    assert_eq!(store.purge(&Whose::Only(tenant("nobody")), 10, 10).await.unwrap(), 0);
    assert_eq!(store.purge(&Whose::AllBut(vec![theirs.clone(), ours()]), 10, 10).await.unwrap(), 0);
    assert_eq!(store.purge(&Whose::Only(theirs.clone()), 10, 10).await.unwrap(), 1);
    assert_eq!(get(&store, &theirs, "a").await, None);
    assert!(get(&store, &ours(), "a").await.is_some());
    assert_eq!(store.purge(&Whose::AllBut(vec![theirs]), 10, 10).await.unwrap(), 1);
    assert_eq!(get(&store, &ours(), "a").await, None);
}

/// For quotas and for operators.
pub async fn pending_prompts_are_counted(store: Subject) {
    let theirs = tenant("theirs");
    for (tenant, id) in [(&ours(), "a"), (&ours(), "b"), (&theirs, "a"), (&ours(), "c")] {
        store_new(&store, tenant, &called(id, "session", "run", id), Door::Client).await;
    }
    settle_now(&store, &ours(), "b", &answered("Red", 10)).await;
    for (tenant, limit, expected) in [
        (None, usize::MAX, 3),
        (None, 2, 2),
        (Some(&ours()), usize::MAX, 2),
        (Some(&ours()), 1, 1),
        (Some(&theirs), 10, 1),
        (Some(&tenant("nobody")), 10, 0),
    ] {
        assert_eq!(store.count_pending(tenant, limit).await.unwrap(), expected, "{tenant:?} {limit}");
    }
}

/// A store keeps text and does not read it.
pub async fn text_comes_back_unchanged(store: Subject) {
    let long = "ß".repeat(32 * 1024);
    let texts = [
        "👩‍👩‍👧‍👦 🇳🇱 e\u{301}",
        "before\0after",
        "\u{202e}עברית\u{202c} العربية",
        "'; DROP TABLE prompts; --",
        "\"\\\n\r\t\u{1}\u{7f}\u{2028}",
        "  spaces stay  ",
        "\u{fffd}\u{feff}\u{10ffff}",
        &long,
    ];
    for (number, text) in texts.into_iter().enumerate() {
        let mut prompt = called(&format!("{number}{text}"), text, text, text);
        prompt.questions[0].text = text.into();
        prompt.questions[0].choices[1].label = text.into();
        prompt.origin.requester = Some(text.into());
        store_new(&store, &ours(), &prompt, Door::Tool).await;
        assert_eq!(get(&store, &ours(), &prompt.id).await.as_ref(), Some(&prompt));
        let again = Prompt { id: "again".into(), ..prompt.clone() };
        let attached = insert(&store, &ours(), &again, Door::Tool).await.unwrap();
        assert_eq!(attached, Inserted::Attached(Arc::new(prompt.clone())));
        store.keep_draft(&ours(), &prompt.id, text, &answers(text)).await.unwrap();
        assert_eq!(store.draft(&ours(), &prompt.id, text).await.unwrap(), Some(answers(text)));
        let by_session = Query { session: Some(text.into()), ..Query::default() };
        let listed = store.list(&ours(), &by_session, DURING).await.unwrap();
        assert_eq!(ids(&listed.prompts), [prompt.id.as_str()]);

        let end = Settlement { resolved_by: Some(text.into()), ..answered(text, DURING) };
        let settled = with(&prompt, &end);
        assert_eq!(settle_now(&store, &ours(), &prompt.id, &end).await, settled);
        assert_eq!(get(&store, &ours(), &prompt.id).await, Some(settled));
        let summary = vec![(text.to_owned(), vec![text.to_owned()])];
        assert_eq!(store.summaries(&ours(), text).await.unwrap()[0].questions, summary);
        assert_eq!(store.purge(&Whose::ALL, DURING, 10).await.unwrap(), 1);
        assert_eq!(store.summaries(&ours(), text).await.unwrap()[0].questions, summary);
    }
}

/// No moment wraps around into the past. A store may take those beyond the year 292,000,000 for one moment.
pub async fn moments_at_the_end_of_time_are_kept(store: Subject) {
    let endless = Prompt { created_at: Timestamp::MAX - 1, expires_at: Timestamp::MAX, ..prompt("endless") };
    store_new(&store, &ours(), &endless, Door::Client).await;
    store_new(&store, &ours(), &Prompt { expires_at: Timestamp::MAX, ..prompt("soon") }, Door::Client).await;
    assert_eq!(get(&store, &ours(), "endless").await.as_ref(), Some(&endless));
    assert_eq!(ids(&all_pages(&store, &Query::default(), DURING).await), ["soon", "endless"]);
    let one_by_one = Query { limit: 1, ..Query::default() };
    assert_eq!(ids(&all_pages(&store, &one_by_one, DURING).await), ["soon", "endless"]);
    assert!(store.next_deadline().await.unwrap().unwrap() > DURING);
    assert_eq!(store.overdue(DURING, 10).await.unwrap(), vec![]);
    assert_eq!(store.overdue(Timestamp::MAX, 10).await.unwrap().len(), 2);
    settle_now(&store, &ours(), "soon", &answered("Red", DURING)).await;
    let end = ended(NoAnswerReason::Expired, Timestamp::MAX);
    assert_eq!(settle_now(&store, &ours(), "endless", &end).await, with(&endless, &end));
    assert_eq!(store.purge(&Whose::ALL, DURING, 10).await.unwrap(), 1);
    assert_eq!(store.purge(&Whose::ALL, Timestamp::MAX, 10).await.unwrap(), 1);
}
