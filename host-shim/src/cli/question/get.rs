//! `ask-user question get`.

use serde_json::json;

use super::shown::{self, moment, one_line, time_left};
use crate::cli::exit::Exit;
use crate::cli::failure::Failure;
use crate::cli::gateway::call_failure;
use crate::cli::{output, setup};
use crate::client::{Client, Outcome, Record, Status};
use crate::contract::Target;

pub(super) async fn run(client: &Client, id: &str, json: bool) -> Result<Exit, Failure> {
    let record = client.get(id).await.map_err(|error| call_failure(error).about(id))?;
    output::result(&if json { json!(record).to_string() } else { text(&record, client.gateway_now())? })?;
    Ok(Exit::Done)
}

fn text(record: &Record, now: u64) -> Result<String, Failure> {
    let mut text = question(record)?;
    text.push('\n');
    let mut line = |name: &str, value: String| text.push_str(&format!("\n{name:<9}{value}"));
    line("id", one_line(&record.id));
    for (name, value) in [("session", &record.session_key), ("run", &record.run_id)] {
        if let Some(value) = value {
            line(name, one_line(value));
        }
    }
    line("asked", moment(record.created_at_ms));
    match record.status {
        Status::Pending => line("expires", format!("in {}", time_left(record.expires_at_ms, now))),
        _ => line("expires", moment(record.expires_at_ms)),
    }
    line("status", shown::with_reason(record.status, &record.more));
    if record.answers.is_some() {
        let outcome =
            Outcome { status: record.status, answers: record.answers.clone(), more: serde_json::Map::new() };
        line("answer", shown::outcome(&outcome));
    }
    if let Some(by) = record.more.get("resolvedBy").and_then(|by| by.as_str()) {
        line("by", one_line(by));
    }
    Ok(text)
}

/// The question as a person would be asked it: what it numbers works in an answer.
fn question(record: &Record) -> Result<String, Failure> {
    let prompt = shown::prompt(record, &record.questions);
    let rendering = setup::bundled_plugin()?.channel().render(&prompt, "text", &Target::private(None));
    let rendering = rendering.map_err(|error| Failure::other("plugin", error))?;
    let calls = rendering.map(|rendering| rendering.calls).unwrap_or_default();
    Ok(calls.iter().map(|call| call.text.as_str()).collect::<Vec<_>>().join("\n\n"))
}
