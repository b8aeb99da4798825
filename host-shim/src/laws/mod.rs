//! The law suite of channels: what a host relies on, whoever wrote the component.
//!
//! Every law is tried on generated prompts, with everything in their texts that could do harm, and on generated
//! payloads. Where one is broken, the smallest prompt that breaks it is looked for, which is what the report shows. The
//! inputs come from a seed: the same component and the same seed give the same report.

mod ended;
mod inputs;
mod shown;
mod taps;

use std::fmt;

use proptest::test_runner::{Config, RngAlgorithm, TestCaseError, TestError, TestRng, TestRunner};
use serde_json::{Value, json};

use crate::contract::{About, Call, Descriptor, Limit, Prompt, Target, TextUnit};
use crate::sandbox::{CallError, ChannelPlugin, Plugin};
use inputs::{Input, Kind};

/// A fact about channels.
#[derive(Debug)]
struct Law {
    /// What a channel that obeys it does.
    name: &'static str,
    /// On which inputs it is tried.
    on: Kind,
    holds: fn(&Subject<'_>, &Input) -> Result<(), Broken>,
}

/// All of them, in the order in which an author gets them right.
static LAWS: [Law; 11] = [
    shown::EVERY_PROMPT,
    shown::SAME_AGAIN,
    shown::EVERY_CHOICE,
    shown::NOTHING_ALIVE,
    shown::CONTROLS,
    taps::TAKEN_BACK,
    taps::OTHERS_REFUSED,
    taps::OWN_TEXT,
    taps::FEEDBACK,
    ended::SETTLED,
    ended::WRONG_STATE,
];

/// The channel that a law is tried on.
struct Subject<'p> {
    plugin: &'p ChannelPlugin,
    /// The rules of ask_user, which say what typed text means.
    rules: &'p Plugin,
    channel: &'p Descriptor,
    /// Whether the channel gets the host's words: not where it is of the component that makes them.
    gets_words: bool,
}

impl Subject<'_> {
    /// The target as a host gives it for this.
    fn told(&self, target: &Target, about: impl FnOnce() -> About) -> Result<Target, Broken> {
        Ok(if self.gets_words { self.rules.told(target, &about())? } else { target.clone() })
    }

    /// The same for a prompt.
    fn asked(&self, target: &Target, prompt: &Prompt) -> Result<Target, Broken> {
        self.told(target, || About::Prompt(prompt.clone()))
    }
}

/// How a law was broken.
#[derive(Debug)]
struct Broken(String);

/// Says how a law was broken.
macro_rules! broken {
    ($($part:tt)*) => { return Err(crate::laws::Broken(format!($($part)*))) };
}
use broken;

impl From<CallError> for Broken {
    fn from(error: CallError) -> Self {
        Self(format!("the call did not come back: {error}"))
    }
}

/// What the suite found out about one law and one channel.
#[derive(Clone, Debug, PartialEq)]
pub struct Verdict {
    /// The channel.
    pub channel: String,
    /// What a channel that obeys the law does.
    pub law: &'static str,
    /// How many inputs were tried.
    pub inputs: u32,
    /// How the law was broken, if it was.
    pub breach: Option<Breach>,
}

/// How a law was broken.
#[derive(Clone, Debug, PartialEq)]
pub struct Breach {
    /// In words.
    pub why: String,
    /// The smallest input that was found to break it. None for a law about what the channel says of itself.
    pub input: Option<Value>,
}

/// The suite, and how hard it tries.
#[derive(Clone, Copy, Debug)]
pub struct Suite {
    /// How many inputs are tried, over all channels and laws.
    pub inputs: u32,
    /// What the inputs come from.
    pub seed: u64,
}

impl Default for Suite {
    fn default() -> Self {
        Self { inputs: 10_000, seed: 0 }
    }
}

impl Suite {
    /// Tries every law on every channel of a component and tells of each as soon as it is known. `rules` are those of
    /// ask_user. Fails only where the component cannot even say which channels it has.
    pub fn check(
        &self,
        plugin: &ChannelPlugin,
        rules: &Plugin,
        mut tell: impl FnMut(&Verdict),
    ) -> Result<Vec<Verdict>, CallError> {
        let channels = plugin.channels()?;
        let mut verdicts = Vec::new();
        let mut add = |verdict: Verdict| {
            tell(&verdict);
            verdicts.push(verdict);
        };
        let shares = u32::try_from(channels.len().max(1) * LAWS.len()).unwrap_or(u32::MAX);
        let inputs = self.inputs.div_ceil(shares).max(1);
        for (index, channel) in channels.iter().enumerate() {
            let name = channel.name.clone();
            let described = describes_itself(channel, &channels[..index]);
            let is_described = described.is_ok();
            let breach = described.err().map(|Broken(why)| Breach { why, input: None });
            add(Verdict { channel: name.clone(), law: "describes itself", inputs: 1, breach });
            // Nothing else can be tried on a channel that does not say what it can do.
            if !is_described {
                continue;
            }
            let gets_words = plugin.inspection().sha256 != rules.inspection().sha256;
            let subject = Subject { plugin, rules, channel, gets_words };
            for law in &LAWS {
                let breach = self.try_law(law, &subject, inputs);
                add(Verdict { channel: name.clone(), law: law.name, inputs, breach });
            }
        }
        Ok(verdicts)
    }

    fn try_law(&self, law: &Law, subject: &Subject<'_>, inputs: u32) -> Option<Breach> {
        let config = Config {
            cases: inputs,
            max_shrink_iters: 2_000,
            failure_persistence: None,
            verbose: 0,
            ..Config::default()
        };
        let mut seed = [0; 32];
        seed[..8].copy_from_slice(&self.seed.to_le_bytes());
        let mut runner = TestRunner::new_with_rng(config, TestRng::from_seed(RngAlgorithm::ChaCha, &seed));
        let tried = runner.run(&inputs::of(law.on, subject.channel), |input| {
            (law.holds)(subject, &input).map_err(|Broken(why)| TestCaseError::fail(why))
        });
        match tried {
            Ok(()) => None,
            Err(TestError::Fail(why, input)) => {
                Some(Breach { why: why.message().to_owned(), input: Some(shown_input(law.on, &input)) })
            }
            Err(TestError::Abort(why)) => Some(Breach { why: why.message().to_owned(), input: None }),
        }
    }
}

/// What of an input a law of this kind looks at.
fn shown_input(kind: Kind, input: &Input) -> Value {
    match kind {
        Kind::Payload => json!({ "payload": input.payload }),
        Kind::AnyPrompt | Kind::PlainPrompt => json!({ "prompt": input.prompt, "target": input.target }),
    }
}

/// Whether the descriptor of a channel says what it must, in itself and beside those before it.
fn describes_itself(channel: &Descriptor, before: &[Descriptor]) -> Result<(), Broken> {
    let Descriptor { name, text, label, token_bytes, natives, markup, example_tap, .. } = channel;
    let is_name = |name: &str| {
        name.len() <= 64
            && name.starts_with(|c: char| c.is_ascii_lowercase())
            && name.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-')
    };
    if !is_name(name) {
        broken!("the name {name:?} is not ^[a-z][a-z0-9-]*$ of at most 64 bytes");
    }
    if before.iter().any(|other| other.name == *name) {
        broken!("there are two channels of the name {name:?}");
    }
    for (what, most) in [
        ("text.most", text.map(|limit| limit.most)),
        ("label.most", label.map(|limit| limit.most)),
        ("token-bytes", *token_bytes),
    ] {
        if most == Some(0) {
            broken!("{what} is 0, so nothing can be sent");
        }
    }
    let has_controls = natives.buttons || natives.multi_select;
    for (what, is_there) in [
        ("label", label.is_some()),
        ("token-bytes", token_bytes.is_some()),
        ("example-tap", example_tap.is_some()),
    ] {
        if has_controls != is_there {
            let (does, is) = if has_controls { ("has", "absent") } else { ("has no", "there") };
            broken!("{what} is {is} and the channel {does} controls (natives.buttons, natives.multi-select)");
        }
    }
    if natives.composer && !has_controls {
        broken!("natives.composer is set, and there is no control that could open one");
    }
    if markup.iter().any(String::is_empty) {
        broken!("markup names a member without a name");
    }
    if let Some(tap) = example_tap {
        for place in ["{token}", "{sender}"] {
            if !tap.contains(place) {
                broken!("example-tap has no {place}");
            }
        }
        if let Err(error) = serde_json::from_str::<Value>(tap) {
            broken!("example-tap is not JSON: {error}");
        }
    }
    Ok(())
}

/// What is asked of every call, whatever it is for.
fn check_call(channel: &Descriptor, call: &Call) -> Result<Value, Broken> {
    if call.method.is_empty() || call.method.chars().any(char::is_control) {
        broken!("the method {:?} is blank or has control characters", call.method);
    }
    let body: Value = match serde_json::from_str(&call.body) {
        Ok(body) => body,
        Err(error) => broken!("the body of {} is not JSON: {error}; it is {}", call.method, call.body),
    };
    if !body.is_object() {
        broken!("the body of {} is not a JSON object: {}", call.method, call.body);
    }
    if let Some(limit) = &channel.text {
        within("text", &call.text, limit)?;
    }
    Ok(body)
}

/// The same for several.
fn check_calls(channel: &Descriptor, calls: &[Call]) -> Result<Vec<Value>, Broken> {
    calls.iter().map(|call| check_call(channel, call)).collect()
}

/// Whether a text is as short as the channel promised.
fn within(what: &str, text: &str, limit: &Limit) -> Result<(), Broken> {
    let length = limit.unit.length(text);
    if length > limit.most as usize {
        broken!("the {what} has {length} {}, and {} were promised: {text:?}", limit.unit, limit.most);
    }
    Ok(())
}

impl TextUnit {
    /// How long a text is in this unit.
    fn length(self, text: &str) -> usize {
        use unicode_segmentation::UnicodeSegmentation;
        match self {
            Self::Utf16 => text.encode_utf16().count(),
            Self::CodePoints => text.chars().count(),
            Self::Graphemes => text.graphemes(true).count(),
            Self::Bytes => text.len(),
        }
    }
}

impl fmt::Display for TextUnit {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::Utf16 => "UTF-16 units",
            Self::CodePoints => "code points",
            Self::Graphemes => "graphemes",
            Self::Bytes => "bytes",
        })
    }
}
