//! `ask-user render`: what a channel would send, for its author and for whoever runs a host.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use serde_json::{Value, json};

use super::exit::Exit;
use super::failure::Failure;
use super::{ask, output, plugin as plugins, setup};
use crate::channels::{Channels, Known};
use crate::contract::{
    About, Answer, Binding, BindingTarget, Call, ChannelError, Context, Descriptor, NoAnswerReason, Outcome,
    Person, Prompt, Question, Refusal, Settlement, Target,
};
use crate::questions::Run;
use crate::sandbox::Plugin;

#[derive(Debug, Args)]
#[command(after_help = HELP)]
pub(super) struct RenderArgs {
    /// The arguments of ask_user as JSON: a file, or - for standard input
    #[arg(value_name = "FILE|-")]
    file: PathBuf,
    /// The channel, such as telegram; built in or of a plugin
    #[arg(long, value_name = "NAME", default_value = "text")]
    channel: String,
    /// A component whose channels are used, and no others
    #[arg(long, value_name = "COMPONENT", conflicts_with = "plugins")]
    plugin: Option<PathBuf>,
    #[command(flatten)]
    folder: plugins::FolderArgs,
    /// The service's own address of the conversation; the channel's example unless given
    #[arg(long, value_name = "ADDRESS", allow_hyphen_values = true)]
    target: Option<String>,
    /// The thread or topic in it
    #[arg(long, value_name = "ID")]
    thread: Option<String>,
    /// As where others than the person who is asked read too
    #[arg(long)]
    shared: bool,
    /// With native controls beyond one single-select question
    #[arg(long)]
    extras: bool,
    /// The service's id of the person who is asked
    #[arg(long, value_name = "ID")]
    requester: Option<String>,
    /// Where the service reports taps, for a service that wants that in every message
    #[arg(long, value_name = "URL")]
    callback_url: Option<String>,
    /// Language of our own words, such as nl or id-ID
    #[arg(long, value_name = "TAG")]
    locale: Option<String>,
    /// How it looks once it has ended like this; an answer takes the first choice of every question
    #[arg(long, value_enum, value_name = "OUTCOME")]
    settled: Option<Settled>,
    /// The service's id of a message that was sent, in the order of the calls; made up unless given
    #[arg(long, value_name = "ID", requires = "settled")]
    message: Vec<String>,
    /// Print the calls as one JSON document
    #[arg(long)]
    pub(super) json: bool,
}

const HELP: &str = "\
Nothing is sent. The prompt has a made-up id, so the same arguments always print the same calls.

Examples:
  ask-user render --channel telegram examples/deploy-target.json
  ask-user render --channel slack --extras examples/deploy-target.json --json
  ask-user render --channel discord --settled answered --message 1234 examples/deploy-target.json

Exit codes:
  0    printed
  1    the channel is not there, or cannot show this at that target
  2    the arguments of ask_user were refused
  64   wrong usage of this command line";

#[derive(Clone, Copy, Debug, ValueEnum)]
enum Settled {
    Answered,
    Expired,
    Skipped,
    Cancelled,
    Undeliverable,
}

/// The id of every prompt that is only looked at.
const ID: &str = "ask_0123456789abcdef0123456789abcdef";

pub(super) fn run(args: &RenderArgs) -> Result<Exit, Failure> {
    let arguments = ask::read_arguments(&args.file)?;
    let sandbox = setup::sandbox()?;
    let rules = sandbox.load_bundled().map_err(|error| Failure::other("plugin", error))?;
    let origin = Run::new("agent:main:main", "render").origin().clone();
    let context = Context { now: 0, id: ID.into(), origin };
    let prompt = rules
        .ask_user(&arguments, &context)
        .map_err(|error| Failure::other("plugin", error))?
        .map_err(refused)?;
    let channels = match &args.plugin {
        None => plugins::all_channels(&args.folder.folder()?, &sandbox, rules.channel().clone())?,
        Some(path) => {
            let mut channels = Channels::default();
            let added = channels.add(plugins::channels(&sandbox, path)?, &[]);
            added.map_err(|error| Failure::other("plugin", error))?;
            channels
        }
    };
    let Some(known) = channels.get(&args.channel) else {
        let names: Vec<&str> = channels.iter().map(|known| known.descriptor.name.as_str()).collect();
        let text = format!("no channel {:?} here; there are {}", args.channel, names.join(", "));
        return Err(Failure::other("channel", text));
    };
    let channel = &known.descriptor;
    let (calls, bindings) = rendered(args, &rules, known, prompt)?;
    let text = if args.json { document(channel, &calls, &bindings) } else { for_people(&calls, &bindings) };
    output::result(&text)?;
    Ok(Exit::Done)
}

fn rendered(
    args: &RenderArgs,
    rules: &Plugin,
    known: &Known,
    prompt: Prompt,
) -> Result<(Vec<Call>, Vec<Binding>), Failure> {
    let Known { descriptor: channel, plugin, .. } = known;
    let failed = |error| Failure::other("plugin", error);
    let told = |prompt: &Prompt| {
        known.told(rules, &target(args, channel), || About::Prompt(prompt.clone())).map_err(failed)
    };
    let pending =
        plugin.render(&prompt, &channel.name, &told(&prompt)?).map_err(failed)?.map_err(channel_failure)?;
    let Some(settled) = args.settled else { return Ok((pending.calls, pending.bindings)) };
    let made_up = (1..=pending.calls.len()).map(|number| number.to_string());
    let messages = if args.message.is_empty() { made_up.collect() } else { args.message.clone() };
    let settlement = Some(settlement(settled, &prompt));
    let ended = Prompt { settlement, ..prompt };
    let calls = plugin.render_settled(&ended, &channel.name, &told(&ended)?, &messages).map_err(failed)?;
    Ok((calls.map_err(channel_failure)?, Vec::new()))
}

fn target(args: &RenderArgs, channel: &Descriptor) -> Target {
    Target {
        address: args.target.clone().unwrap_or_else(|| channel.example_address.clone()),
        thread: args.thread.clone(),
        shared: args.shared,
        extras: args.extras,
        requester: args.requester.clone().map(|id| Person { id, name: None }),
        callback_url: args.callback_url.clone(),
        ..Target::private(args.locale.clone())
    }
}

fn settlement(settled: Settled, prompt: &Prompt) -> Settlement {
    let answer = |question: &Question| {
        let first = question.choices.first().map_or_else(|| "…".to_owned(), |choice| choice.label.clone());
        Answer { question_id: question.id.clone(), values: vec![first] }
    };
    let outcome = match settled {
        Settled::Answered => Outcome::Answered(prompt.questions.iter().map(answer).collect()),
        Settled::Expired => Outcome::NoAnswer(NoAnswerReason::Expired),
        Settled::Skipped => Outcome::NoAnswer(NoAnswerReason::Skipped),
        Settled::Cancelled => Outcome::NoAnswer(NoAnswerReason::Cancelled),
        Settled::Undeliverable => Outcome::NoAnswer(NoAnswerReason::Undeliverable),
    };
    Settlement { outcome, at: 0, resolved_by: None, resolution_id: None }
}

fn refused(refusal: Refusal) -> Failure {
    match refusal {
        Refusal::InvalidArguments(violations) => Failure::refused(&violations),
        Refusal::NotAMainSession(_) => Failure::other("not_a_main_session", "only a main session may ask"),
    }
}

fn channel_failure(error: ChannelError) -> Failure {
    match error {
        ChannelError::UnknownChannel(name) => Failure::other("channel", format!("no channel {name:?} here")),
        ChannelError::BadTarget(why) => Failure::other("target", why),
        ChannelError::Unshowable(why) | ChannelError::Malformed(why) => Failure::other("channel", why),
        ChannelError::NotOurs => Failure::other("channel", "the channel does not take this"),
    }
}

/// The body of a call as a JSON value. A channel of somebody else may have written anything.
fn body(call: &Call) -> Value {
    serde_json::from_str(&call.body).unwrap_or_else(|_| Value::String(call.body.clone()))
}

fn document(channel: &Descriptor, calls: &[Call], bindings: &[Binding]) -> String {
    let calls: Vec<Value> = calls
        .iter()
        .map(|call| json!({ "method": call.method, "body": body(call), "text": call.text }))
        .collect();
    let bindings: Vec<Value> = bindings
        .iter()
        .map(|binding| {
            let mut shown = json!({ "token": binding.token, "label": binding.label });
            let (does, question) = match &binding.target {
                BindingTarget::Choice(choice) => {
                    shown["index"] = json!(choice.index);
                    ("choice", Some(&choice.question_id))
                }
                BindingTarget::Other(question) => ("other", Some(question)),
                BindingTarget::Submit(question) => ("submit", Some(question)),
                BindingTarget::Skip => ("skip", None),
            };
            shown["does"] = json!(does);
            if let Some(question) = question {
                shown["questionId"] = json!(question);
            }
            shown
        })
        .collect();
    format!("{:#}", json!({ "channel": channel.name, "calls": calls, "bindings": bindings }))
}

fn for_people(calls: &[Call], bindings: &[Binding]) -> String {
    let mut parts: Vec<String> =
        calls.iter().map(|call| format!("{}\n{:#}", output::printable(&call.method), body(call))).collect();
    if !bindings.is_empty() {
        let width = bindings.iter().map(|binding| binding.token.chars().count()).max().unwrap_or_default();
        let line = |binding: &Binding| {
            let does = match &binding.target {
                BindingTarget::Choice(choice) => format!("choice {} of {}", choice.index, choice.question_id),
                BindingTarget::Other(question) => format!("own text for {question}"),
                BindingTarget::Submit(question) => format!("submits {question}"),
                BindingTarget::Skip => "skips".to_owned(),
            };
            output::printable(&format!("{:width$}  {does}", binding.token))
        };
        parts.push(bindings.iter().map(line).collect::<Vec<_>>().join("\n"));
    }
    parts.join("\n\n")
}
