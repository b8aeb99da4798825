//! A small agent host. An agent in this process gets stuck on a decision that is not its own, asks, and goes on; the
//! person reads and types in the terminal.
//!
//! ```text
//! echo 2 | cargo run -p ask-user-example-embed
//! ```

#![allow(clippy::print_stdout)]

use ask_user_host::contract::{Message, Target};
use ask_user_host::{AskUser, Event, Principal, Reply, Run, TenantId};
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, BufReader};

const SESSION: &str = "agent:main:main";
const CONVERSATION: &str = "terminal";

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    // The bundled plugin, a store in memory, the machine's clock.
    let host = AskUser::builder().start()?;
    let ada = Principal::speaker(TenantId::default(), "ada", CONVERSATION);
    let mut events = host.subscribe(ada.clone());

    let agent = tokio::spawn(agent(host.clone()));
    let mut lines = BufReader::new(tokio::io::stdin()).lines();
    while let Some(event) = events.next().await {
        match event {
            Event::Requested(prompt) => {
                let here = Target::private(None);
                if let Ok(rendering) = host.plugin().channel().render(&prompt, "text", &here)? {
                    rendering.calls.iter().for_each(|call| println!("{}\n", call.text));
                }
                // What is typed answers the prompt, or is ordinary chat.
                loop {
                    let line = lines.next_line().await?.unwrap_or_else(|| "/skip".into());
                    match host.reply(&ada, SESSION, &Message::typed(line)).await? {
                        Reply::Incomplete { correction, .. } | Reply::Correction(correction) => {
                            println!("{correction}")
                        }
                        Reply::Answered(_) | Reply::Skipped(_) => break,
                        Reply::NotAnAnswer(_) => println!("(ordinary chat)"),
                    }
                }
            }
            Event::Resolved(_) => break,
            Event::Missed(_) => continue,
        }
    }
    agent.await?
}

/// The agent: it works, asks, and goes on with what it gets.
async fn agent(host: AskUser) -> anyhow::Result<()> {
    let run = Run::new(SESSION, "run-1").tool_call("call-1").requested_by("ada", CONVERSATION);
    let arguments = json!({
        "questions": [{
            "id": "database",
            "header": "Database",
            "question": "Which database should the service use?",
            "options": [
                { "label": "PostgreSQL (Recommended)", "description": "Already run by the team." },
                { "label": "SQLite", "description": "One file, nothing to run." },
            ],
        }],
    });
    let pending = host.ask_user(&arguments.to_string(), &run).await?;
    let result: Value = serde_json::from_str(&pending.outcome().await?.json)?;
    match result["answers"]["answers"]["database"][0].as_str() {
        Some(database) => println!("agent: going on with {database}"),
        None => println!("agent: no answer ({}), going on with PostgreSQL", result["reason"]),
    }
    Ok(())
}
