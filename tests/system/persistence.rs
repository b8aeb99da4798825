//! What a restart leaves (ruling 23; B71).

use std::sync::Arc;

use ask_user_host::Reply;
use ask_user_host::store::{SqliteStore, Store};
use ask_user_tests::world::*;

fn open(folder: &tempfile::TempDir) -> Arc<dyn Store> {
    Arc::new(SqliteStore::open(folder.path().join("prompts.db")).unwrap())
}

/// B71: the same question is there, and answering it resumes the same tool call.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_pending_prompt_survives_a_restart_and_its_call_re_attaches() {
    let folder = tempfile::tempdir().unwrap();
    let run = run().tool_call("call-1");
    let arguments = one_question("target", &["A", "B"]).to_string();
    let id = {
        let world = World::on(open(&folder), START);
        world.host.ask_user(&arguments, &run).await.unwrap().id().to_owned()
    };
    let world = World::on(open(&folder), START + 60_000);
    let pending = world.host.ask_user(&arguments, &run).await.unwrap();
    assert_eq!(pending.id(), id);
    assert!(matches!(world.type_in("2").await, Reply::Answered(_)));
    assert!(pending.outcome().await.unwrap().json.contains(r#"["B"]"#));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_client_waits_again_by_id_after_a_restart() {
    let folder = tempfile::tempdir().unwrap();
    let id = {
        let world = World::on(open(&folder), START);
        world.ask(&["A", "B"]).await.id().to_owned()
    };
    let world = World::on(open(&folder), START + 1);
    let (host, waiting_for) = (world.host.clone(), id.clone());
    let waiting = tokio::spawn(async move { host.wait(&ada(), &waiting_for).await });
    world.type_in("a").await;
    assert_eq!(waiting.await.unwrap().unwrap().id, id);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_became_overdue_meanwhile_expires_at_the_start() {
    let folder = tempfile::tempdir().unwrap();
    let id = {
        let world = World::on(open(&folder), START);
        world.ask(&["A", "B"]).await.id().to_owned()
    };
    let world = World::on(open(&folder), START + 900_000);
    let ended = world.host.wait(&ada(), &id).await.unwrap();
    let settlement = ended.settlement.as_ref().unwrap();
    assert_eq!(settlement.at, START + 900_000);
    assert!(matches!(world.type_in("1").await, Reply::NotAnAnswer(_)));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn drafts_of_partial_answers_survive_a_restart() {
    let folder = tempfile::tempdir().unwrap();
    let arguments = serde_json::json!({ "questions": [question("city", &["Oslo", "Rome"]), question("budget", &["Low", "High"])] });
    {
        let world = World::on(open(&folder), START);
        world.ask_json(&arguments).await;
        assert!(matches!(world.type_in("Oslo").await, Reply::Incomplete { .. }));
    }
    let world = World::on(open(&folder), START + 1);
    let Reply::Answered(accepted) = world.type_in("Low").await else { panic!("not answered") };
    let result = world.host.plugin().outcome(&accepted.prompt).unwrap().unwrap();
    assert!(result.json.contains(r#"{"city":["Oslo"],"budget":["Low"]}"#), "{}", result.json);
}
