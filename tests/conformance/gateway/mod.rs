//! What OpenClaw's gateway does when clients call `question.*`, recorded, against ours: over a real socket, each scenario
//! with a server, a store and a clock of its own.

mod connection;
mod frames;
mod methods;
mod notation;
mod published;
mod scenario;
mod server;
mod tests;

use ask_user_host::gateway::Compatibility;
use futures_util::StreamExt;
use serde_json::Value;

use crate::vectors::{Input, Vector};
pub(crate) use scenario::{Call, Course, Scenario, Step};
pub(crate) use server::Pace;

/// What our gateway does in a scenario.
#[derive(Clone, Debug)]
pub(crate) struct Replay {
    /// To be compared with what was recorded.
    pub(crate) document: Value,
    /// Where a frame is not as OpenClaw publishes it.
    pub(crate) faults: Vec<String>,
}

/// Scenarios that are replayed at the same time.
const AT_ONCE: usize = 16;

/// Replays all scenarios among these vectors, in their order.
pub(crate) fn replays(vectors: &[Vector], profile: Compatibility, pace: Pace) -> Vec<(&Vector, Replay)> {
    let runtime = tokio::runtime::Runtime::new().expect("a runtime starts");
    runtime.block_on(async {
        let scenarios = vectors.iter().filter_map(|vector| match &vector.input {
            Input::Scenario(scenario) => Some((vector, scenario.clone(), vector.expected.clone())),
            _ => None,
        });
        let replays = scenarios.map(|(vector, scenario, recorded)| async move {
            let replay = tokio::spawn(async move { replay(&scenario, &recorded, profile, pace).await });
            (vector, replay.await.unwrap_or_else(|_| panic!("{} breaks the replay", vector.name)))
        });
        futures_util::stream::iter(replays).buffered(AT_ONCE).collect().await
    })
}

async fn replay(scenario: &Scenario, recorded: &Value, profile: Compatibility, pace: Pace) -> Replay {
    match &scenario.course {
        Course::Methods { connections, steps } => {
            methods::replay(connections, steps, recorded, profile, pace).await
        }
        Course::Frames(sendings) => frames::replay(sendings, recorded, profile, pace).await,
    }
}
