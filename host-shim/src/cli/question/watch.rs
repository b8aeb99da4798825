//! `ask-user question watch`.

use std::collections::HashSet;

use serde_json::json;

use super::shown::{self, moment, one_line, summary, time_left};
use super::table::{fit, terminal_width};
use crate::cli::exit::Exit;
use crate::cli::failure::Failure;
use crate::cli::gateway::call_failure;
use crate::cli::output;
use crate::client::{CallError, Client, Event, Events, ListParams, QuestionEvent, Record, Status};

/// Prints until Ctrl-C. Events have come since we connected; what they tell of the time before the list was made, the list
/// holds as well.
pub(super) async fn run(client: &Client, mut events: Events, json: bool) -> Result<Exit, Failure> {
    let mut watching = Watching { client, json, listed: HashSet::new() };
    let ending = tokio::signal::ctrl_c();
    tokio::pin!(ending);
    let pending = ListParams::default();
    let listed = tokio::select! {
        listed = client.list(&pending) => listed.map_err(call_failure)?,
        _ = &mut ending => return Ok(Exit::Done),
    };
    for record in listed.questions {
        if !watching.list(record)? {
            return Ok(Exit::Done);
        }
    }
    loop {
        tokio::select! {
            event = events.next() => match event {
                Some(event) if watching.tell(&event)? => {}
                // Whoever read it has seen enough.
                Some(_) => return Ok(Exit::Done),
                None => return Err(call_failure(CallError::Closed(client.closed().await))),
            },
            _ = &mut ending => return Ok(Exit::Done),
        }
    }
}

struct Watching<'a> {
    client: &'a Client,
    json: bool,
    /// What was printed as pending, and need not be told again.
    listed: HashSet<String>,
}

impl Watching<'_> {
    /// Prints what is pending. Whether anybody reads it.
    fn list(&mut self, record: Record) -> Result<bool, Failure> {
        let is_read = if self.json {
            output::is_result_read(&json!({ "event": "pending", "payload": record }).to_string())?
        } else {
            self.print("pending", &record.id, &self.asked(&record))?
        };
        self.listed.insert(record.id);
        Ok(is_read)
    }

    /// Prints what happens. Whether anybody reads it.
    fn tell(&mut self, event: &Event) -> Result<bool, Failure> {
        let about = event.question();
        match &about {
            Some(QuestionEvent::Requested(record)) if self.listed.contains(&record.id) => return Ok(true),
            Some(QuestionEvent::Resolved { id, .. }) => drop(self.listed.remove(id)),
            Some(QuestionEvent::Requested(_)) => {}
            // Ticks, and what has nothing to do with questions.
            None => return Ok(true),
        }
        if self.json {
            let (name, payload) = (json!(event.name), event.payload.get());
            return output::is_result_read(&format!("{{\"event\":{name},\"payload\":{payload}}}"));
        }
        match about {
            Some(QuestionEvent::Requested(record)) => self.print("asked", &record.id, &self.asked(&record)),
            Some(QuestionEvent::Resolved { id, outcome }) => {
                let text = match outcome.status {
                    Status::Answered => shown::outcome(&outcome),
                    _ => shown::reason(&outcome.more).unwrap_or_default(),
                };
                self.print(outcome.status.word(), &id, &text)
            }
            None => Ok(true),
        }
    }

    fn asked(&self, record: &Record) -> String {
        let left = time_left(record.expires_at_ms, self.client.gateway_now());
        match record.session_key.as_deref() {
            Some(session) => format!("{} ({left}, {})", summary(record), one_line(session)),
            None => format!("{} ({left})", summary(record)),
        }
    }

    fn print(&self, what: &str, id: &str, text: &str) -> Result<bool, Failure> {
        let now = moment(self.client.gateway_now());
        let line = format!("{now}  {what:<9}  {}  {text}", one_line(id));
        output::is_result_read(&match terminal_width() {
            Some(width) => fit(&line, width),
            None => line,
        })
    }
}
