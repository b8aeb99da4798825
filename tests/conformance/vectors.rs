//! The recorded vectors, read.

use std::fs;
use std::path::{Path, PathBuf};

use ask_user_host::gateway::Compatibility;
use serde_json::Value;

use crate::gateway::Scenario;

/// Which file of a folder a vector is in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum File {
    /// `replies.jsonl`
    Replies,
    /// `tool-arguments.jsonl`
    ToolArguments,
    /// `gateway.jsonl`
    Gateway,
}

impl File {
    /// All of them.
    pub(crate) const ALL: [Self; 3] = [Self::Replies, Self::ToolArguments, Self::Gateway];

    /// The name without its ending, as the list of differences has it.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Replies => "replies",
            Self::ToolArguments => "tool-arguments",
            Self::Gateway => "gateway",
        }
    }

    /// The profiles that it is run with. The plugin knows none; what it is given otherwise is the default.
    pub(crate) fn profiles(self) -> &'static [Compatibility] {
        match self {
            Self::Replies | Self::ToolArguments => &[Compatibility::Better],
            Self::Gateway => &[Compatibility::Openclaw, Compatibility::Better],
        }
    }

    /// The file of this name.
    pub(crate) fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|file| file.name() == name)
    }
}

/// One question of a reply vector.
#[derive(Clone, Debug)]
pub(crate) struct Question {
    pub(crate) id: String,
    pub(crate) header: String,
    pub(crate) text: String,
    pub(crate) labels: Vec<String>,
    pub(crate) descriptions: Vec<Option<String>>,
    pub(crate) is_multi: bool,
    pub(crate) is_other: bool,
}

impl Question {
    /// Whether only its choices count.
    pub(crate) fn is_closed(&self) -> bool {
        !self.is_other && !self.labels.is_empty()
    }
}

/// What a vector gives to the plugin, or to the gateway.
#[derive(Clone, Debug)]
pub(crate) enum Input {
    /// A typed reply.
    Reply {
        /// To these questions.
        questions: Vec<Question>,
        /// As it was typed.
        reply: String,
    },
    /// The arguments of a call.
    Arguments(Value),
    /// What clients of the gateway do.
    Scenario(Scenario),
}

/// An input, and the document that OpenClaw makes of it.
#[derive(Clone, Debug)]
pub(crate) struct Vector {
    pub(crate) name: String,
    pub(crate) input: Input,
    /// `{"taken", "answers"?}` of a reply; `{"direct", "viaCoercion"?}` of arguments; `{"steps"}` of a scenario.
    pub(crate) expected: Value,
}

impl Vector {
    /// The group it is counted in: the part of its name before the first stroke.
    pub(crate) fn group(&self) -> &str {
        match &self.input {
            Input::Scenario(scenario) => &scenario.group,
            _ => self.name.split('/').next().unwrap_or_default(),
        }
    }

    /// The file it belongs to.
    pub(crate) fn file(&self) -> File {
        match self.input {
            Input::Reply { .. } => File::Replies,
            Input::Arguments(_) => File::ToolArguments,
            Input::Scenario(_) => File::Gateway,
        }
    }
}

/// The folder of the recorded vectors.
pub(crate) fn recorded() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("vectors")
}

/// All vectors of a folder. Of the files some may be missing, but not all.
pub(crate) fn of_folder(folder: &Path) -> Vec<Vector> {
    let mut vectors = Vec::new();
    let mut files = 0;
    for file in File::ALL {
        let path = folder.join(format!("{}.jsonl", file.name()));
        let Ok(lines) = fs::read_to_string(&path) else { continue };
        files += 1;
        for (at, line) in lines.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()) {
            let vector = of_line(file, line);
            vectors.push(vector.unwrap_or_else(|problem| panic!("{}:{}: {problem}", path.display(), at + 1)));
        }
    }
    assert!(files > 0, "{} holds no file of vectors", folder.display());
    vectors
}

/// One line of a file.
pub(crate) fn of_line(file: File, line: &str) -> Result<Vector, String> {
    let mut line: Value =
        serde_json::from_str(&mark_lone_surrogates(line)).map_err(|error| error.to_string())?;
    let name = line["name"].as_str().ok_or("a vector has a name")?.to_owned();
    let (input, expected) = match file {
        File::Replies => {
            let questions = line["questions"].as_array().ok_or("a reply has questions")?;
            let questions = questions.iter().map(question).collect::<Result<_, _>>()?;
            let reply = line["reply"].as_str().ok_or("a reply is text")?.to_owned();
            (Input::Reply { questions, reply }, expected_reply(&line["resolve"]))
        }
        File::ToolArguments => {
            let arguments = line.get("arguments").ok_or("a call has arguments")?.clone();
            let mut expected = serde_json::json!({ "direct": line["direct"].take() });
            if line["viaCoercion"] != "same" {
                expected["viaCoercion"] = line["viaCoercion"].take();
            }
            (Input::Arguments(arguments), expected)
        }
        File::Gateway => {
            let (scenario, expected) = Scenario::read(&line)?;
            (Input::Scenario(scenario), expected)
        }
    };
    Ok(Vector { name, input, expected })
}

fn question(value: &Value) -> Result<Question, String> {
    let text = |member: &str| {
        value[member].as_str().map(str::to_owned).ok_or_else(|| format!("a question has the text {member}"))
    };
    let options = value["options"].as_array().ok_or("a question has options")?;
    let label = |option: &Value| option["label"].as_str().map(str::to_owned).ok_or("an option has a label");
    Ok(Question {
        id: text("id")?,
        header: text("header")?,
        text: text("question")?,
        labels: options.iter().map(label).collect::<Result<_, _>>()?,
        descriptions: options
            .iter()
            .map(|option| option["description"].as_str().map(str::to_owned))
            .collect(),
        is_multi: value["multiSelect"] == true,
        is_other: value["isOther"] == true,
    })
}

fn expected_reply(resolve: &Value) -> Value {
    if resolve["ok"] == true {
        serde_json::json!({ "taken": true, "answers": resolve["answers"] })
    } else {
        serde_json::json!({ "taken": false })
    }
}

/// Where the stand-ins for lone surrogates begin: D800 to DFFF lie in plane 16, which is for private use.
const STAND_INS: u32 = 0x10_0000;

/// Whether `c` stands for a lone surrogate, which a Rust string cannot hold.
pub(crate) fn is_lone_surrogate(c: char) -> bool {
    (STAND_INS + 0xd800..=STAND_INS + 0xdfff).contains(&u32::from(c))
}

/// JSON text in which every escape of a lone surrogate is a stand-in, so that it can be read.
pub(crate) fn mark_lone_surrogates(json: &str) -> String {
    let unit =
        |text: &str| -> Option<u32> { u32::from_str_radix(text.strip_prefix("\\u")?.get(..4)?, 16).ok() };
    let mut marked = String::with_capacity(json.len());
    let mut rest = json;
    while let Some(at) = rest.find('\\') {
        let (before, escape) = rest.split_at(at);
        marked.push_str(before);
        let follower = escape.get(6..).unwrap_or_default();
        let taken = match unit(escape) {
            Some(0xd800..=0xdbff) if matches!(unit(follower), Some(0xdc00..=0xdfff)) => 12,
            Some(lone @ 0xd800..=0xdfff) => {
                marked.extend(char::from_u32(STAND_INS + lone));
                rest = follower;
                continue;
            }
            Some(_) => 6,
            None => 2,
        };
        let (escape, after) = escape.split_at(taken);
        marked.push_str(escape);
        rest = after;
    }
    marked.push_str(rest);
    marked
}

/// JSON text with the escapes of lone surrogates back in it.
pub(crate) fn unmark_lone_surrogates(json: &str) -> String {
    let mut text = String::with_capacity(json.len());
    for c in json.chars() {
        if is_lone_surrogate(c) {
            text.push_str(&format!("\\u{:04x}", u32::from(c) - STAND_INS));
        } else {
            text.push(c);
        }
    }
    text
}
