//! `ask-user question`: sees and answers the questions of a gateway, ours or OpenClaw's.

mod get;
mod list;
mod resolve;
mod shown;
mod table;
mod wait;
mod watch;

use clap::{Args, Subcommand, ValueEnum};

use super::exit::Exit;
use super::failure::Failure;
use super::gateway::GatewayArgs;
use super::setup;
use crate::client::CancelReason;

#[derive(Debug, Args)]
#[command(after_help = HELP)]
pub(super) struct QuestionArgs {
    #[command(flatten)]
    gateway: GatewayArgs,
    /// Print JSON for scripts; problems are JSON on standard error
    #[arg(long, global = true)]
    pub(super) json: bool,
    #[command(subcommand)]
    command: QuestionCommand,
}

const HELP: &str = "\
Works with `ask-user serve` and with OpenClaw's own gateway. The token is read from a file or from the environment and \
never taken as an argument, since others on the machine can see arguments. ws:// is not encrypted: reach a gateway on \
another machine through a tunnel, such as ssh -L 18790:127.0.0.1:18790.

Examples:
  export ASK_USER_GATEWAY_TOKEN=$(cat gateway.token)
  ask-user question list
  ask-user question get ask_019ad
  ask-user question resolve ask_019ad 2
  ask-user question wait ask_019ad --timeout 60 --json
  ask-user question watch --url ws://127.0.0.1:18789 --token-file openclaw.token

Exit codes:
  0    done; for wait: answered
  1    the gateway refused, or something else went wrong
  3    for wait: no answer, since it expired, was skipped or cancelled, or nobody has answered yet
  64   wrong usage of this command line
  130  aborted";

#[derive(Debug, Subcommand)]
enum QuestionCommand {
    /// List questions: the pending ones unless asked otherwise
    List(ListArgs),
    /// Show one question with its choices, and how it ended
    Get {
        /// Its id
        id: String,
    },
    /// Wait until a question has ended, and print the answer
    Wait(WaitArgs),
    /// Answer a question
    Resolve(ResolveArgs),
    /// Call a question off
    Cancel(CancelArgs),
    /// Print what is pending, then what happens as it happens, until Ctrl-C
    #[command(after_help = WATCH_HELP)]
    Watch,
}

#[derive(Debug, Args)]
#[command(after_help = LIST_HELP)]
struct ListArgs {
    /// Only questions of this session, such as agent:main:main
    #[arg(long, value_name = "KEY")]
    session: Option<String>,
    /// Only questions of this run
    #[arg(long, value_name = "ID")]
    run: Option<String>,
    /// Only questions that are so far
    #[arg(long, value_enum, value_name = "STATUS")]
    status: Option<StatusChoice>,
    /// At most so many
    #[arg(long, value_name = "NUMBER", value_parser = clap::value_parser!(u64).range(1..=256), conflicts_with = "all")]
    limit: Option<u64>,
    /// From where the page before ended, which it says itself
    #[arg(long, value_name = "CURSOR")]
    cursor: Option<String>,
    /// All of them, page after page
    #[arg(long)]
    all: bool,
}

const LIST_HELP: &str = "\
Without options it asks for what every gateway can tell: all that is pending. --session, --run, --status, --limit and \
--cursor are ours, and OpenClaw's gateway does not know them.

Examples:
  ask-user question list
  ask-user question list --session agent:main:main --status all --limit 20
  ask-user question list --all --status settled --json | jq -r '.questions[].id'";

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum StatusChoice {
    /// Nobody has answered yet
    Pending,
    /// They have ended
    Settled,
    /// Both
    All,
}

#[derive(Debug, Args)]
#[command(after_help = WAIT_HELP)]
struct WaitArgs {
    /// Its id
    id: String,
    /// Give up after so long; the question stays as it is
    #[arg(long, value_name = "SECONDS", value_parser = clap::value_parser!(u64).range(1..=86_400))]
    timeout: Option<u64>,
}

const WAIT_HELP: &str = "\
Examples:
  ask-user question wait ask_019ad
  ask-user question wait ask_019ad --timeout 60 --json

Exit codes:
  0    answered
  1    the gateway refused, or something else went wrong
  3    no answer: it expired, was skipped or cancelled, or --timeout has passed
  130  aborted; the question stays as it is";

#[derive(Debug, Args)]
#[command(after_help = RESOLVE_HELP)]
struct ResolveArgs {
    /// Its id
    id: String,
    /// The answer, where there is one question; several where several may be chosen
    #[arg(value_name = "VALUE", required_unless_present = "answer", conflicts_with = "answer")]
    values: Vec<String>,
    /// The answer to one of several questions; may be given again for the next one, or for another choice of the same
    #[arg(long, value_name = "QUESTION=VALUE", value_parser = question_and_value)]
    answer: Vec<(String, String)>,
    /// Send the values as they are: a number is text, and not a choice
    #[arg(long)]
    verbatim: bool,
    /// A mark of this answer: whoever sends the same again gets the first result
    #[arg(long, value_name = "TEXT")]
    resolution_id: Option<String>,
}

const RESOLVE_HELP: &str = "\
A value is read as if it were typed as a reply: a number or letter as `get` shows it, a label, or own text where that \
is allowed.

Examples:
  ask-user question resolve ask_019ad 2
  ask-user question resolve ask_019ad \"Staging, but not before noon\"
  ask-user question resolve ask_019ad --answer day=Thursday --answer checks=1 --answer checks=3
  ask-user question resolve ask_019ad --verbatim -- -5

Exit codes:
  0    it is answered
  1    the answer does not fit, the question has ended already, or something else went wrong
  64   wrong usage, such as a question that is not there";

#[derive(Debug, Args)]
#[command(after_help = CANCEL_HELP)]
struct CancelArgs {
    /// Its id
    id: String,
    /// Why; a skip unless given. OpenClaw's gateway does not know reasons
    #[arg(long, value_enum, value_name = "REASON")]
    reason: Option<CancelReason>,
}

const CANCEL_HELP: &str = "\
Whoever waits for the answer gets none.

Examples:
  ask-user question cancel ask_019ad
  ask-user question cancel ask_019ad --reason cancelled";

const WATCH_HELP: &str = "\
With --json each line is one object: {\"event\":\"pending\"} with the record for what is pending at the start, then \
{\"event\":\"question.requested\"} and {\"event\":\"question.resolved\"} with the payload that the gateway sent.

Examples:
  ask-user question watch
  ask-user question watch --json | jq -r 'select(.event == \"question.resolved\") | .payload.id'";

/// One question and its answer.
fn question_and_value(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((question, value)) if !question.is_empty() => Ok((question.to_owned(), value.to_owned())),
        _ => Err("expected QUESTION=VALUE, such as day=Thursday".into()),
    }
}

pub(super) fn run(args: QuestionArgs) -> Result<Exit, Failure> {
    let QuestionArgs { gateway, json, command } = args;
    setup::block_on(async move {
        let (client, events) = gateway.connect().await?;
        match command {
            QuestionCommand::Watch => watch::run(&client, events, json).await,
            other => {
                // Nobody reads them.
                drop(events);
                match other {
                    QuestionCommand::List(args) => list::run(&client, args, json).await,
                    QuestionCommand::Get { id } => get::run(&client, &id, json).await,
                    QuestionCommand::Wait(args) => wait::run(&client, &args, json).await,
                    QuestionCommand::Resolve(args) => resolve::run(&client, &args, json).await,
                    QuestionCommand::Cancel(args) => resolve::cancel(&client, &args, json).await,
                    QuestionCommand::Watch => Ok(Exit::Done),
                }
            }
        }
    })?
}
