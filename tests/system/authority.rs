//! Who may answer (rulings 19a, 25, 26).

use ask_user_host::contract::{NoAnswerReason, NotAnAnswerReason};
use ask_user_host::store::Query;
use ask_user_host::{FindError, Principal, Reply, SettleError, Submission, TenantId};
use ask_user_tests::world::*;

fn elsewhere() -> Principal {
    Principal::speaker(TenantId::default(), "ada", "discord:7")
}

fn other_tenant() -> Principal {
    Principal::operator(TenantId::new("other").unwrap(), "operator")
}

/// Absent and not-yours are the same answer, whichever way one asks.
#[tokio::test]
async fn what_is_not_yours_does_not_exist() {
    let world = World::new();
    let pending = world.ask(&["A", "B"]).await;
    let unknown = "ask_00000000000000000000000000000000";
    for stranger in [bob(), elsewhere(), other_tenant()] {
        for id in [pending.id(), unknown] {
            let found = world.host.get(&stranger, id).await;
            assert!(matches!(&found, Err(FindError::NotFound { id: named }) if named == id));
            let submission = Submission::of(vec![answer("target", &["A"])]);
            let resolved = world.host.resolve(&stranger, id, submission).await;
            assert!(matches!(&resolved, Err(SettleError::NotFound { id: named }) if named == id));
            let cancelled = world.host.cancel(&stranger, id, NoAnswerReason::Skipped).await;
            assert!(matches!(cancelled, Err(SettleError::NotFound { .. })));
            assert!(world.host.wait(&stranger, id).await.is_err());
            let reply = world.host.reply_to_prompt(&stranger, id, &message("1")).await.unwrap();
            assert_eq!(reply, Reply::NotAnAnswer(NotAnAnswerReason::NotPending));
        }
        let page = world.host.list(&stranger, &Query::default()).await.unwrap();
        assert!(page.prompts.is_empty());
        assert!(matches!(
            world.host.reply(&stranger, SESSION, &message("1")).await.unwrap(),
            Reply::NotAnAnswer(_)
        ));
    }
    assert_eq!(world.host.get(&ada(), pending.id()).await.unwrap().settlement, None);
}

#[tokio::test]
async fn the_requester_and_operators_may_answer() {
    for who in [ada(), operator()] {
        let world = World::new();
        let pending = world.ask(&["A", "B"]).await;
        assert_eq!(world.host.list(&who, &Query::default()).await.unwrap().prompts.len(), 1);
        let subject = who.subject.clone();
        let accepted = world
            .host
            .resolve(&who, pending.id(), Submission::of(vec![answer("target", &["A"])]))
            .await
            .unwrap();
        assert_eq!(accepted.prompt.settlement.as_ref().unwrap().resolved_by, Some(subject));
    }
}

/// Ruling 25.
#[tokio::test]
async fn only_an_adapter_may_name_somebody_else_as_the_one_who_answers() {
    let world = World::new();
    let pending = world.ask(&["A", "B"]).await;
    let named = || Submission {
        answers: vec![answer("target", &["A"])],
        answered_by: Some("grace".into()),
        ..Submission::default()
    };
    let refused = world.host.resolve(&operator(), pending.id(), named()).await;
    assert!(matches!(refused, Err(SettleError::MayNotNameAnswerer)));
    let adapter = operator().naming_answerers();
    let accepted = world.host.resolve(&adapter, pending.id(), named()).await.unwrap();
    assert_eq!(accepted.prompt.settlement.as_ref().unwrap().resolved_by.as_deref(), Some("grace"));
}

/// B90: an id is no authority, and edits and forwards are no answers.
#[tokio::test]
async fn knowing_an_id_opens_nothing() {
    let world = World::new();
    let pending = world.ask(&["A", "B"]).await;
    let id = pending.id().to_owned();
    let guess = world.host.reply(&bob(), SESSION, &message(&format!("{id} 1"))).await.unwrap();
    assert!(matches!(guess, Reply::NotAnAnswer(_)));
    for change in [
        |message: &mut ask_user_host::contract::Message| message.edited = true,
        |message: &mut ask_user_host::contract::Message| message.forwarded = true,
    ] {
        let mut changed = message("1");
        change(&mut changed);
        assert!(matches!(world.host.reply(&ada(), SESSION, &changed).await.unwrap(), Reply::NotAnAnswer(_)));
    }
    assert_eq!(world.host.get(&ada(), &id).await.unwrap().settlement, None);
}

#[tokio::test]
async fn tenants_with_the_same_session_never_meet() {
    let world = World::new();
    let acme = TenantId::new("acme").unwrap();
    let ours = world.ask(&["A", "B"]).await;
    let theirs = world
        .host
        .ask_user(&one_question("target", &["C", "D"]).to_string(), &run().tenant(acme.clone()))
        .await
        .expect("another tenant's session is another session");
    let their_ada = Principal::speaker(acme, "ada", CONVERSATION);
    assert!(matches!(
        world.host.reply(&their_ada, SESSION, &message("1")).await.unwrap(),
        Reply::Answered(_)
    ));
    assert!(theirs.outcome().await.unwrap().json.contains(r#"["C"]"#));
    assert_eq!(world.host.get(&ada(), ours.id()).await.unwrap().settlement, None);
}
