//! The program `ask-user`: arguments, what is printed where, and exit codes.

mod ask;
mod bench;
mod config;
mod exit;
mod failure;
mod gateway;
mod log;
mod output;
mod plugin;
mod question;
mod render;
mod replies;
mod runs;
mod serve;
mod setup;
mod tool;

use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Args, Parser, Subcommand, ValueEnum};

use crate::contract::SessionKind;
use exit::Exit;
use failure::Failure;

/// Asks a person one to three structured questions for an AI agent, and prints what the agent gets back.
///
/// The questions are checked, shown and answered by a sandboxed WebAssembly component that imports nothing.
#[derive(Debug, Parser)]
#[command(name = "ask-user", version, max_term_width = 100, after_help = EXIT_CODES)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

const EXIT_CODES: &str = "\
Exit codes:
  0    answered, or done
  1    something else went wrong
  2    the arguments of ask_user were refused
  3    no answer: expired, skipped or cancelled
  64   wrong usage of this command line
  130  aborted";

#[derive(Debug, Subcommand)]
enum Command {
    /// Ask a person, wait, and print the tool result
    Ask(AskArgs),
    /// Print the definition of the tool ask_user, as a model gets it
    Tool(ToolArgs),
    /// Serve agent hosts and clients over OpenClaw's Gateway protocol
    Serve(ServeArgs),
    /// Look at the configuration of a gateway
    #[command(subcommand)]
    Config(ConfigCommand),
    /// See and answer the questions of a gateway
    Question(question::QuestionArgs),
    /// Measure how fast something is
    #[command(subcommand)]
    Bench(bench::BenchCommand),
    /// Print the calls with which a channel shows a prompt, without making them
    Render(render::RenderArgs),
    /// Make, check, keep and look at plugin components
    #[command(subcommand)]
    Plugin(plugin::PluginCommand),
    /// Print a completion script for a shell
    Completions {
        /// The shell
        shell: clap_complete::Shell,
    },
}

#[derive(Debug, Args)]
#[command(after_help = ASK_HELP)]
struct AskArgs {
    /// The arguments of ask_user as JSON: a file, or - for standard input
    #[arg(value_name = "FILE|-")]
    file: PathBuf,
    /// Reply with this text instead of asking; may be given again for the next message, after a correction
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true)]
    reply: Vec<String>,
    /// Skip the prompt instead of asking
    #[arg(long, conflicts_with = "reply")]
    skip: bool,
    /// Print exactly the tool result as JSON; problems are JSON on standard error
    #[arg(long)]
    json: bool,
    /// Where the prompt is kept
    #[arg(long, value_name = "memory|sqlite:PATH", default_value = "memory")]
    store: setup::StoreChoice,
    /// The kind of session that asks; only a main session may
    #[arg(long, value_enum, value_name = "KIND", default_value_t = Kind::Main)]
    session_kind: Kind,
    /// The session that asks, such as agent:main:main; a new one unless given
    #[arg(long, value_name = "KEY")]
    session: Option<String>,
    /// Language of our own words, such as nl or id-ID
    #[arg(long, value_name = "TAG")]
    locale: Option<String>,
}

const ASK_HELP: &str = "\
On a terminal the prompt is interactive: arrows or digits choose, Enter goes on. Otherwise it is printed to \
standard error and the reply is read from standard input: one line for one question with one answer; for anything \
else all lines up to a blank line or the end. A reply that does not fit is corrected, and the next one is read.

With --json, standard error holds one JSON value or nothing: a list of violations when the arguments were refused, \
the corrections when there were any, an error otherwise.

Examples:
  ask-user ask examples/deploy-target.json
  echo 2 | ask-user ask examples/deploy-target.json --json
  ask-user ask examples/release-plan.json --reply $'Thursday\\n1,3\\nwhoever is on call'
  ask-user ask - --skip < examples/deploy-target.json

Exit codes:
  0    answered
  1    something else went wrong
  2    the arguments of ask_user were refused
  3    no answer: expired, skipped or cancelled
  64   wrong usage of this command line
  130  aborted";

#[derive(Clone, Copy, Debug, ValueEnum)]
enum Kind {
    Main,
    Subagent,
    Acp,
    Scheduled,
    Heartbeat,
}

impl From<Kind> for SessionKind {
    fn from(kind: Kind) -> Self {
        match kind {
            Kind::Main => Self::Main,
            Kind::Subagent => Self::Subagent,
            Kind::Acp => Self::Acp,
            Kind::Scheduled => Self::Scheduled,
            Kind::Heartbeat => Self::Heartbeat,
        }
    }
}

#[derive(Debug, Args)]
struct ToolArgs {
    /// Print the definition as JSON
    #[arg(long)]
    json: bool,
    /// Print it as JSON in the form that an API takes
    #[arg(long, value_enum)]
    format: Option<tool::Format>,
}

#[derive(Debug, Args)]
#[command(after_help = SERVE_HELP)]
struct ServeArgs {
    /// Where to listen; port 0 takes a free one [default: 127.0.0.1:18790, or what the configuration says]
    #[arg(long, value_name = "ADDRESS:PORT", conflicts_with = "stdio")]
    listen: Option<std::net::SocketAddr>,
    /// The configuration, a TOML file
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,
    /// Where prompts are kept [default: memory, or what the configuration says]
    #[arg(long, value_name = "memory|sqlite:PATH")]
    store: Option<setup::StoreChoice>,
    #[command(flatten)]
    plugins: plugin::FolderArgs,
    /// A file with one token that may do everything, in place of tokens in a configuration
    #[arg(long, value_name = "FILE", conflicts_with_all = ["config", "stdio"])]
    token_file: Option<PathBuf>,
    /// Serve the process that starts this one, over standard input and output
    #[arg(long)]
    stdio: bool,
    /// How to write the log, which goes to standard error
    #[arg(long, value_enum, value_name = "FORM", default_value_t = log::Form::Text)]
    log: log::Form,
}

const SERVE_HELP: &str = "\
Clients connect with a token: one of the configuration's, the one in --token-file or ASK_USER_GATEWAY_TOKEN, or, \
without any, one that is made up and printed when the gateway starts. The line `listening on ws://…` on standard error \
says that it is ready. Ctrl-C or SIGTERM ends it: answers on their way are kept, and whoever waits is told that \
nothing is decided yet.

With --stdio each line on standard input is a frame, and each on standard output; no token is needed, and the end of \
standard input ends it.

/healthz, /readyz and /metrics (Prometheus) are served on the same port, without a token. What is logged is chosen by \
ASK_USER_LOG, such as info, or ask_user_host=debug; answers and tokens are never logged.

Examples:
  ask-user serve
  ask-user serve --store sqlite:questions.db --token-file gateway.token
  ask-user serve --config /etc/ask-user.toml --log json
  ask-user serve --stdio";

#[derive(Debug, Subcommand)]
enum ConfigCommand {
    /// Tell whether a configuration can be used, and what it means
    Check {
        /// The configuration, a TOML file
        file: PathBuf,
        /// Print the outcome as JSON
        #[arg(long)]
        json: bool,
    },
}

/// Runs the program with the process's arguments.
pub fn main() -> ExitCode {
    match Cli::try_parse() {
        Ok(cli) => run(cli.command).into(),
        Err(error) if !error.use_stderr() => {
            // Help or the version. A reader that has gone away has read enough.
            let _ = error.print();
            Exit::Done.into()
        }
        Err(error) if json_is_wanted() => {
            let message = error.render().to_string();
            Failure::usage(message.trim_start_matches("error: ").trim_end()).report_json().into()
        }
        Err(error) => {
            // Where even this cannot be printed, the exit code is all that is left to say it with.
            let _ = error.print();
            Exit::Usage.into()
        }
    }
}

fn run(command: Command) -> Exit {
    let json = match &command {
        Command::Ask(args) => args.json,
        Command::Tool(args) => args.json || args.format.is_some(),
        Command::Plugin(command) => command.json(),
        Command::Config(ConfigCommand::Check { json, .. }) => *json,
        Command::Question(args) => args.json,
        Command::Render(args) => args.json,
        Command::Bench(command) => command.json(),
        Command::Serve(_) | Command::Completions { .. } => false,
    };
    let done = match command {
        Command::Ask(args) => ask::run(args),
        Command::Tool(args) => tool::run(&args),
        Command::Plugin(command) => plugin::run(command),
        Command::Serve(args) => serve::run(&args),
        Command::Config(ConfigCommand::Check { file, json }) => config::check(&file, json),
        Command::Question(args) => question::run(args),
        Command::Render(args) => render::run(&args),
        Command::Bench(command) => bench::run(command),
        Command::Completions { shell } => completions(shell),
    };
    match done {
        Ok(exit) => exit,
        Err(failure) if json => failure.report_json(),
        Err(failure) => failure.report(),
    }
}

/// Whether a command line that could not be read asks for JSON: whoever does reads standard error with a parser.
fn json_is_wanted() -> bool {
    std::env::args_os().skip(1).take_while(|argument| argument != "--").any(|argument| argument == "--json")
}

fn completions(shell: clap_complete::Shell) -> Result<Exit, Failure> {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut <Cli as clap::CommandFactory>::command(), "ask-user", &mut script);
    output::result_bytes(&script)?;
    Ok(Exit::Done)
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn the_command_line_is_consistent() {
        Cli::command().debug_assert();
    }

    #[test]
    fn the_help_is_no_wider_than_a_page() {
        let mut commands = vec![Cli::command()];
        while let Some(mut command) = commands.pop() {
            for line in command.render_long_help().to_string().lines() {
                assert!(line.chars().count() <= 120, "{line}");
            }
            commands.extend(command.get_subcommands().cloned());
        }
    }
}
