//! `ask-user bench gateway`: how fast a gateway is, ours or OpenClaw's.

mod load;

use std::time::Duration;

use clap::{Args, Subcommand};
use serde_json::json;

use super::exit::Exit;
use super::failure::Failure;
use super::gateway::{GatewayArgs, connect_failure};
use super::{output, setup};
use crate::client::greet;
use crate::terminal::text::{Lines, clean};
use load::{Amount, Load, Measured};

#[derive(Debug, Subcommand)]
pub(super) enum BenchCommand {
    /// Drive whole rounds through a gateway, and tell how many it does and how long one takes
    Gateway(BenchArgs),
}

impl BenchCommand {
    pub(super) fn json(&self) -> bool {
        let Self::Gateway(args) = self;
        args.json
    }
}

#[derive(Debug, Args)]
#[command(after_help = HELP)]
pub(super) struct BenchArgs {
    #[command(flatten)]
    gateway: GatewayArgs,
    /// Connections
    #[arg(long, value_name = "NUMBER", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=1024))]
    connections: u32,
    /// Rounds on their way at the same time, of each connection
    #[arg(long, value_name = "NUMBER", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=16_384))]
    in_flight: u32,
    /// How long to measure
    #[arg(long, value_name = "SECONDS", default_value_t = 5, value_parser = clap::value_parser!(u64).range(1..=600))]
    seconds: u64,
    /// How long to run before that, so that the gateway is warm
    #[arg(long, value_name = "SECONDS", default_value_t = 1, value_parser = clap::value_parser!(u64).range(0..=600))]
    warm_up: u64,
    /// Measure so many rounds in place of a time, without warming up
    #[arg(long, value_name = "NUMBER", conflicts_with_all = ["seconds", "warm_up"])]
    rounds: Option<u64>,
    /// One round each, answered only when all of them are waiting
    #[arg(long, conflicts_with_all = ["seconds", "warm_up", "rounds"])]
    all_at_once: bool,
    /// The gateway's process, to tell its resident memory (Linux)
    #[arg(long, value_name = "PID")]
    pid: Option<u32>,
    /// Print the outcome as JSON
    #[arg(long)]
    json: bool,
}

const HELP: &str = "\
A round is question.request with question.waitAnswer right behind it, question.resolve when the request has been answered, \
and ends with the waiter's response. Each connection has the next round begin when one ends, and reads the two \
events of every round of every connection. The questions are real: do not run it against a gateway that people use.

Examples:
  ask-user bench gateway --token-file gateway.token --in-flight 32
  ask-user bench gateway --connections 8 --in-flight 8 --seconds 10 --pid $(pgrep -f 'ask-user serve') --json
  ask-user bench gateway --in-flight 10000 --all-at-once

Exit codes:
  0    measured
  1    calls were refused, or something else went wrong
  64   wrong usage of this command line";

pub(super) fn run(command: BenchCommand) -> Result<Exit, Failure> {
    let BenchCommand::Gateway(args) = command;
    // One thread drives all connections: on a machine of two cores the gateway has the other.
    setup::block_on_this_thread(measure(&args))?
}

async fn measure(args: &BenchArgs) -> Result<Exit, Failure> {
    let settings = args.gateway.settings()?;
    let mut sockets = Vec::new();
    for _ in 0..args.connections {
        let (socket, hello) =
            greet(&settings).await.map_err(|error| connect_failure(&error, settings.token.is_some()))?;
        if !hello.scopes.iter().any(|scope| scope == "operator.questions") {
            return Err(Failure::other("forbidden", "the token lacks operator.questions"));
        }
        sockets.push(socket);
    }
    let before = args.pid.and_then(resident);
    let amount = match (args.all_at_once, args.rounds) {
        (true, _) => Amount::OneEach,
        (false, Some(rounds)) => Amount::Rounds(rounds),
        (false, None) => Amount::Time {
            warm_up: Duration::from_secs(args.warm_up),
            measured: Duration::from_secs(args.seconds),
        },
    };
    let load = Load { in_flight: args.in_flight as usize, amount };
    let measured =
        load.run(sockets).await.map_err(|problem| Failure::other("bench", clean(&problem, Lines::One)))?;
    let after = args.pid.and_then(resident);
    output::result(&if args.json {
        in_json(args, &measured, before, after)
    } else {
        in_words(&measured, before, after)
    })?;
    Ok(if measured.errors == 0 { Exit::Done } else { Exit::Failed })
}

fn in_json(args: &BenchArgs, measured: &Measured, before: Option<u64>, after: Option<u64>) -> String {
    json!({
        "connections": args.connections,
        "inFlight": args.in_flight,
        "rounds": measured.rounds(),
        "seconds": measured.seconds,
        "roundsPerSecond": measured.rate(),
        "p50Ms": measured.quantile(0.5),
        "p99Ms": measured.quantile(0.99),
        "maxMs": measured.quantile(1.0),
        "events": measured.events,
        "errors": measured.errors,
        "firstError": measured.first_error,
        "residentBytesBefore": before,
        "residentBytesAfter": after,
    })
    .to_string()
}

fn in_words(measured: &Measured, before: Option<u64>, after: Option<u64>) -> String {
    let [p50, p99, most] = [0.5, 0.99, 1.0].map(|quantile| measured.quantile(quantile));
    let mut text = format!(
        "rounds      {} in {:.2} s: {:.0} a second\nround time  p50 {p50:.3} ms, p99 {p99:.3} ms, longest {most:.3} ms\n\
         events      {}\nerrors      {}",
        measured.rounds(),
        measured.seconds,
        measured.rate(),
        measured.events,
        measured.errors,
    );
    if let Some(error) = &measured.first_error {
        text.push_str(&format!(", such as: {}", clean(error, Lines::One)));
    }
    if let (Some(before), Some(after)) = (before, after) {
        let mebibytes = |bytes: u64| bytes as f64 / f64::from(1 << 20);
        text.push_str(&format!(
            "\nresident    {:.1} MiB before, {:.1} MiB after",
            mebibytes(before),
            mebibytes(after)
        ));
    }
    text
}

/// The resident memory of a process, in bytes. Only where there is a `/proc`.
fn resident(pid: u32) -> Option<u64> {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"))?;
    let kibibytes: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kibibytes * 1024)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[cfg(target_os = "linux")]
    #[test]
    fn resident_memory_is_read() {
        assert!(resident(std::process::id()).is_some_and(|bytes| bytes > 1 << 20));
        assert_eq!(resident(u32::MAX), None);
    }
}
