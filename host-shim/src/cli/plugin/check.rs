//! `ask-user plugin check`: the law suite on the channels of a component.

use std::io::{IsTerminal, stderr};
use std::path::PathBuf;

use clap::Args;
use serde_json::{Value, json};

use super::{Exit, Failure, channels, setup};
use crate::cli::output;
use crate::laws::{Suite, Verdict};

#[derive(Debug, Args)]
#[command(after_help = HELP)]
pub(in crate::cli) struct CheckArgs {
    /// A component; the built-in one unless given
    file: Option<PathBuf>,
    /// How many inputs are tried, over all channels and laws
    #[arg(long, value_name = "COUNT", default_value_t = Suite::default().inputs,
        value_parser = clap::value_parser!(u32).range(1..=10_000_000))]
    inputs: u32,
    /// What the inputs come from; the same number gives the same inputs
    #[arg(long, value_name = "NUMBER", default_value_t = Suite::default().seed)]
    seed: u64,
    /// Print what was found as JSON
    #[arg(long)]
    pub(super) json: bool,
}

const HELP: &str = "\
The laws are what a host relies on: every prompt is shown within the limits that the channel declares, every control \
and every number gives back its choice, no text of a prompt comes alive, feedback and the end of a prompt can be shown, \
what is not a tap is refused, and nothing traps. Where a law is broken, the smallest input that breaks it is shown.

Examples:
  ask-user plugin check
  ask-user plugin check channel.wasm --inputs 500
  ask-user plugin check channel.wasm --json

Exit codes:
  0    every law holds
  1    a law is broken, or the component does not load
  64   wrong usage of this command line";

pub(super) fn run(args: &CheckArgs) -> Result<Exit, Failure> {
    let sandbox = setup::sandbox()?;
    let rules = sandbox.load_bundled().map_err(|error| Failure::other("plugin", error))?;
    let plugin = match &args.file {
        None => rules.channel().clone(),
        Some(path) => channels(&sandbox, path)?,
    };
    let suite = Suite { inputs: args.inputs, seed: args.seed };
    let mut progress = Progress { is_shown: !args.json && stderr().is_terminal(), ..Progress::default() };
    let verdicts = suite
        .check(&plugin, &rules, |verdict| progress.tell(verdict))
        .map_err(|error| Failure::other("plugin", error))?;
    progress.end();
    let is_sound = !verdicts.is_empty() && verdicts.iter().all(|verdict| verdict.breach.is_none());
    let text = if args.json { document(plugin.name(), is_sound, &verdicts) } else { report(&verdicts) };
    output::result(&text)?;
    Ok(if is_sound { Exit::Done } else { Exit::Failed })
}

/// Which channel and law is done, on one line that the report replaces.
#[derive(Default)]
struct Progress {
    is_shown: bool,
    done: usize,
}

impl Progress {
    fn tell(&mut self, verdict: &Verdict) {
        self.done += 1;
        if self.is_shown {
            let broken = if verdict.breach.is_some() { ", broken" } else { "" };
            let channel = output::printable(&verdict.channel);
            output::on_this_line(&format!("{}. {channel}: {}{broken}", self.done, verdict.law));
        }
    }

    fn end(&self) {
        if self.is_shown {
            output::on_this_line("");
        }
    }
}

fn report(verdicts: &[Verdict]) -> String {
    let mut lines = Vec::new();
    let mut channel = None;
    for verdict in verdicts {
        if channel != Some(&verdict.channel) {
            channel = Some(&verdict.channel);
            lines.push(output::printable(&verdict.channel));
        }
        match &verdict.breach {
            None => lines.push(format!("  ok      {}", verdict.law)),
            Some(breach) => {
                lines.push(format!("  {}  {}", output::emphasised_result("BROKEN"), verdict.law));
                lines.push(format!("          {}", output::printable(&breach.why)));
                if let Some(input) = &breach.input {
                    lines.push(format!("          with {input}"));
                }
            }
        }
    }
    let broken = verdicts.iter().filter(|verdict| verdict.breach.is_some()).count();
    let inputs: u64 = verdicts.iter().map(|verdict| u64::from(verdict.inputs)).sum();
    lines.push(match (verdicts.len(), broken) {
        (0, _) => "The component has no channels.".to_owned(),
        (_, 0) => format!("Every law holds on {inputs} inputs."),
        (laws, broken) => format!("{broken} of {laws} are broken."),
    });
    lines.join("\n")
}

fn document(plugin: &str, is_sound: bool, verdicts: &[Verdict]) -> String {
    let verdicts: Vec<Value> = verdicts
        .iter()
        .map(|verdict| {
            json!({
                "channel": verdict.channel,
                "law": verdict.law,
                "inputs": verdict.inputs,
                "holds": verdict.breach.is_none(),
                "why": verdict.breach.as_ref().map(|breach| &breach.why),
                "input": verdict.breach.as_ref().and_then(|breach| breach.input.as_ref()),
            })
        })
        .collect();
    format!("{:#}", json!({ "name": plugin, "holds": is_sound, "laws": verdicts }))
}
