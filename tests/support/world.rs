//! A host with everything real but the time and the ids.

use std::path::PathBuf;
use std::sync::{Arc, OnceLock};

use ask_user_host::clock::ManualClock;
use ask_user_host::contract::{Answer, Message, SessionKind};
use ask_user_host::ids::SequentialIds;
use ask_user_host::sandbox::{Plugin, Sandbox};
use ask_user_host::store::{MemoryStore, Store};
use ask_user_host::{AskUser, AskUserBuilder, PendingPrompt, Principal, Run, TenantId};
use serde_json::{Value, json};

/// The moment at which every world begins.
pub const START: u64 = 1_800_000_000_000;

/// A folder for compiled code that all tests share, so that the component is compiled once.
pub fn code_cache() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../target/code-cache")
}

/// The bundled plugin, loaded once.
pub fn plugin() -> Plugin {
    static PLUGIN: OnceLock<Plugin> = OnceLock::new();
    PLUGIN
        .get_or_init(|| {
            let sandbox = Sandbox::builder().code_cache(code_cache()).build().expect("the engine starts");
            sandbox.load_bundled().expect("the bundled plugin loads")
        })
        .clone()
}

/// A host and the clock it goes by.
pub struct World {
    /// The host.
    pub host: AskUser,
    /// Its clock, which stands still until it is moved.
    pub clock: Arc<ManualClock>,
}

impl World {
    /// A host with an empty store in memory.
    pub fn new() -> Self {
        Self::on(Arc::new(MemoryStore::default()), START)
    }

    /// A host on this store, at this moment.
    pub fn on(store: Arc<dyn Store>, now: u64) -> Self {
        Self::with(now, |builder| builder.shared_store(store))
    }

    /// A host that differs from the usual in what `change` says.
    pub fn with(now: u64, change: impl FnOnce(AskUserBuilder) -> AskUserBuilder) -> Self {
        let clock = Arc::new(ManualClock::new(now));
        let builder =
            AskUser::builder().plugin(plugin()).clock(clock.clone()).ids(SequentialIds::starting_at(now));
        Self { host: change(builder).start().expect("the host starts"), clock }
    }

    /// Asks one single-select question in the main session.
    pub async fn ask(&self, labels: &[&str]) -> PendingPrompt {
        self.ask_json(&one_question("target", labels)).await
    }

    /// Asks with these arguments in the main session.
    pub async fn ask_json(&self, arguments: &Value) -> PendingPrompt {
        self.host.ask_user(&arguments.to_string(), &run()).await.expect("the call is valid")
    }

    /// Offers a typed message of the requester's.
    pub async fn type_in(&self, text: &str) -> ask_user_host::Reply {
        self.host.reply(&ada(), SESSION, &message(text)).await.expect("the host answers")
    }
}

impl Default for World {
    fn default() -> Self {
        Self::new()
    }
}

/// The main session.
pub const SESSION: &str = "agent:main:main";
/// The conversation in which the requester speaks.
pub const CONVERSATION: &str = "telegram:42";

/// A run of the main session, started by Ada.
pub fn run() -> Run {
    Run::new(SESSION, "run-1").session_kind(SessionKind::Main).requested_by("ada", CONVERSATION)
}

/// Who asked.
pub fn ada() -> Principal {
    Principal::speaker(TenantId::default(), "ada", CONVERSATION)
}

/// Somebody else in the same conversation.
pub fn bob() -> Principal {
    Principal::speaker(TenantId::default(), "bob", CONVERSATION)
}

/// Somebody who may answer everything.
pub fn operator() -> Principal {
    Principal::operator(TenantId::default(), "operator")
}

/// The arguments of a call with one single-select question.
pub fn one_question(id: &str, labels: &[&str]) -> Value {
    json!({ "questions": [question(id, labels)] })
}

/// One question of a call.
pub fn question(id: &str, labels: &[&str]) -> Value {
    let options: Vec<_> = labels.iter().map(|label| json!({ "label": label })).collect();
    json!({ "id": id, "header": id, "question": format!("Which {id}?"), "options": options })
}

/// The same question, to be answered with several choices.
pub fn multi(id: &str, labels: &[&str]) -> Value {
    let mut question = question(id, labels);
    question["multiSelect"] = Value::Bool(true);
    question
}

/// An answer of one value or more.
pub fn answer(id: &str, values: &[&str]) -> Answer {
    Answer { question_id: id.into(), values: values.iter().map(|value| (*value).into()).collect() }
}

/// A typed message.
pub fn message(text: &str) -> Message {
    Message::typed(text)
}

/// The tool result's JSON.
pub fn parse(json: &str) -> Value {
    serde_json::from_str(json).expect("a result is JSON")
}
