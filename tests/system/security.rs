//! What must never happen (section 8 of the design; rulings 17, 18, 31).

use ask_user_host::contract::{CredentialPolicy, Policy, RepeatPolicy, RequestParams};
use ask_user_host::{HostError, Reply, RequestError, SettleError, Submission, TenantId};
use ask_user_tests::world::*;

const KEYS: [&str; 4] = [
    "sk-proj-abcdefghijklmnopqrstuvwxyz0123456789ABCD",
    "ghp_abcdefghijklmnopqrstuvwxyz0123456789",
    "AKIAIOSFODNN7EXAMPLE",
    "-----BEGIN RSA PRIVATE KEY-----\nMIIEpAIBAAKCAQEA\n-----END RSA PRIVATE KEY-----",
];

/// Ruling 17: neither kept, nor echoed, whichever way it comes.
#[tokio::test]
async fn a_credential_is_refused_and_left_nowhere() {
    for key in KEYS {
        let world = World::new();
        let pending = world.ask(&["A", "B"]).await;
        let Reply::Correction(correction) = world.type_in(key).await else { panic!("{key} was taken") };
        assert!(!correction.contains(&key[..12]), "{correction}");
        assert!(correction.contains("secrets"));
        let error = world
            .host
            .resolve(&ada(), pending.id(), Submission::of(vec![answer("target", &[key])]))
            .await
            .unwrap_err();
        assert!(matches!(error, SettleError::InvalidAnswers(_)));
        assert!(!format!("{error} {error:?}").contains(&key[..12]));
        let record = world.host.get(&ada(), pending.id()).await.unwrap();
        assert_eq!(record.settlement, None);
    }
}

#[tokio::test]
async fn an_operator_can_make_it_a_warning() {
    let policy = Policy {
        credentials: CredentialPolicy::Warn,
        own_text_limit: None,
        repeats: RepeatPolicy::FirstResult,
    };
    let world = World::with(START, |builder| builder.policy(policy));
    world.ask(&["A", "B"]).await;
    let Reply::Answered(accepted) = world.type_in(KEYS[1]).await else { panic!("not taken") };
    assert!(accepted.warning.unwrap().contains("secrets"));
}

/// Ruling 18.
#[tokio::test]
async fn own_text_beyond_16_kib_is_refused_and_the_prompt_stays_pending() {
    let world = World::new();
    let pending = world.ask(&["A", "B"]).await;
    let fits = "x".repeat(16 * 1024);
    let longer = "x".repeat(16 * 1024 + 1);
    assert!(matches!(world.type_in(&longer).await, Reply::Correction(_)));
    let refused =
        world.host.resolve(&ada(), pending.id(), Submission::of(vec![answer("target", &[&longer])])).await;
    assert!(matches!(refused, Err(SettleError::InvalidAnswers(_))));
    assert!(matches!(world.type_in(&fits).await, Reply::Answered(_)));
}

/// B89: markup of the model is data; the answer is the untouched label.
#[tokio::test]
async fn markup_stays_text_and_answers_keep_it() {
    let label = "`code` **bold** <b>x</b> [a](javascript:1) <!channel>";
    let world = World::new();
    let pending = world.ask(&[label, "```\nend"]).await;
    assert!(matches!(world.type_in("1").await, Reply::Answered(_)));
    assert_eq!(
        parse(&pending.outcome().await.unwrap().json)["answers"]["answers"]["target"][0],
        serde_json::json!(label)
    );
}

/// The plugin is not asked about what is larger than any honest record: it would run out of memory, and nobody could tell
/// why.
#[tokio::test]
async fn a_record_that_is_too_large_for_the_plugin_is_refused_as_such() {
    let world = World::new();
    let pending = world.ask(&["A", "B"]).await;
    let mut questions = pending.prompt().questions.clone();
    let mut ask = async |bytes| {
        questions[0].text = "x".repeat(bytes);
        let params = RequestParams { questions: questions.clone(), timeout_ms: None };
        world.host.request(&TenantId::default(), &params, run().origin(), None).await
    };
    let refused = ask(1 << 20).await;
    assert!(
        matches!(&refused, Err(RequestError::Host(HostError::TooLarge { size, limit })) if size > limit),
        "{refused:?}"
    );
    let asked = ask((1 << 20) - 2048).await.unwrap();
    assert!(
        world
            .host
            .plugin()
            .channel()
            .render(&asked, "text", &ask_user_host::contract::Target::private(None))
            .is_ok()
    );

    let huge = "x".repeat(1 << 20);
    let refused =
        world.host.resolve(&ada(), pending.id(), Submission::of(vec![answer("target", &[&huge])])).await;
    assert!(matches!(refused, Err(SettleError::Host(HostError::TooLarge { .. }))), "{refused:?}");
    let refused = world.host.reply(&ada(), SESSION, &message(&huge)).await;
    assert!(matches!(refused, Err(HostError::TooLarge { .. })), "{refused:?}");
    assert_eq!(world.host.get(&ada(), pending.id()).await.unwrap().settlement, None);
}
