//! `ask-user question list`.

use super::shown::{one_line, summary, time_left, with_reason};
use super::table::{Column, table, terminal_width};
use super::{ListArgs, StatusChoice};
use crate::cli::exit::Exit;
use crate::cli::failure::Failure;
use crate::cli::gateway::call_failure;
use crate::cli::output;
use crate::client::{Client, EXTENSIONS, ListParams, Page, Record, Status};

/// How many are asked for at a time where all are wanted.
const PAGE: u64 = 256;

pub(super) async fn run(client: &Client, args: ListArgs, json: bool) -> Result<Exit, Failure> {
    let is_extended = client.hello().is_capable_of(EXTENSIONS);
    let status = args.status.map(|status| match status {
        StatusChoice::Pending => "pending".to_owned(),
        StatusChoice::Settled => "settled".to_owned(),
        StatusChoice::All => "all".to_owned(),
    });
    let mut params = ListParams {
        session_key: args.session,
        run_id: args.run,
        status,
        limit: args.limit,
        cursor: args.cursor,
    };
    if !is_extended && params != ListParams::default() {
        let problem = "this gateway can only list all that is pending: \
            --session, --run, --status, --limit and --cursor are known to ask-user's alone";
        return Err(Failure::other("unsupported", problem));
    }
    if args.all && is_extended {
        params.limit = Some(PAGE);
    }
    let mut listed = client.list(&params).await.map_err(call_failure)?;
    while args.all
        && let Some(next) = listed.next_cursor.take()
    {
        params.cursor = Some(next);
        let page = client.list(&params).await.map_err(call_failure)?;
        listed.questions.extend(page.questions);
        listed.next_cursor = page.next_cursor;
    }
    print(client, &listed, json)?;
    Ok(Exit::Done)
}

fn print(client: &Client, listed: &Page, json: bool) -> Result<(), Failure> {
    if json {
        return output::result(&serde_json::json!(listed).to_string());
    }
    if listed.questions.is_empty() {
        output::note("no questions");
    } else {
        output::result(&text(&listed.questions, client.gateway_now(), terminal_width()))?;
    }
    if let Some(next) = &listed.next_cursor {
        output::note(&format!("there are more: --cursor {}, or --all", one_line(next)));
    }
    Ok(())
}

fn text(records: &[Record], now: u64, width: Option<usize>) -> String {
    let header = [("ID", false), ("QUESTION", true), ("SESSION", true), ("LEFT", false), ("STATUS", false)]
        .map(|(title, may_be_cut)| Column { title, may_be_cut });
    let rows: Vec<Vec<String>> = records
        .iter()
        .map(|record| {
            let left = match record.status {
                Status::Pending => time_left(record.expires_at_ms, now),
                _ => "-".into(),
            };
            vec![
                one_line(&record.id),
                summary(record),
                record.session_key.as_deref().map_or_else(|| "-".into(), one_line),
                left,
                with_reason(record.status, &record.more),
            ]
        })
        .collect();
    table(&header, &rows, width)
}
