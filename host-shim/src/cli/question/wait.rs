//! `ask-user question wait`.

use serde_json::json;

use super::{WaitArgs, shown};
use crate::cli::exit::Exit;
use crate::cli::failure::Failure;
use crate::cli::gateway::call_failure;
use crate::cli::output;
use crate::client::{Client, Status};

pub(super) async fn run(client: &Client, args: &WaitArgs, json: bool) -> Result<Exit, Failure> {
    let waited = tokio::select! {
        waited = client.wait_answer(&args.id, args.timeout.map(|seconds| seconds * 1_000)) => waited,
        _ = tokio::signal::ctrl_c() => return Err(Failure::aborted()),
    };
    let outcome = waited.map_err(|error| call_failure(error).about(&args.id))?;
    output::result(&if json { json!(outcome).to_string() } else { shown::outcome(&outcome) })?;
    Ok(if outcome.status == Status::Answered { Exit::Done } else { Exit::NoAnswer })
}
