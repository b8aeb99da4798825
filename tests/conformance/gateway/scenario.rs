//! Recorded scenarios, read.

use serde_json::{Map, Value, json};

use crate::vectors::mark_lone_surrogates;

/// What happens, one thing after the other.
#[derive(Clone, Debug)]
pub(crate) struct Scenario {
    /// Which of the recorded groups it belongs to.
    pub(crate) group: String,
    pub(crate) course: Course,
}

/// At which level a scenario speaks.
#[derive(Clone, Debug)]
pub(crate) enum Course {
    /// Methods, called on these connections with these scopes.
    Methods { connections: Vec<(String, Vec<String>)>, steps: Vec<Step> },
    /// Frames of one connection.
    Frames(Vec<Sending>),
}

/// One step of methods.
#[derive(Clone, Debug)]
pub(crate) enum Step {
    /// Calls and waits for the response, and then for so many milliseconds.
    Call {
        by: String,
        call: Call,
        then_wait: u64,
    },
    /// Calls, and does not wait. The name is for later.
    Start {
        by: String,
        call: Call,
        name: String,
    },
    /// Waits for the response of a call that was started.
    Finish(String),
    /// Looks whether a call that was started has no response yet.
    StillWaits(String),
    /// Waits until the record with this id has run out.
    Expiry(String),
    /// Lets so many milliseconds pass.
    Sleep(u64),
    Disconnect(String),
    Reconnect(String),
}

/// A call of a method.
#[derive(Clone, Debug)]
pub(crate) struct Call {
    pub(crate) method: String,
    /// The text of the parameters, in the notation of the recording; nothing where there are none.
    pub(crate) text: Option<String>,
    /// The same, read, with stand-ins for lone surrogates; null where it is no JSON.
    pub(crate) params: Value,
    /// What the recording calls the id that the server chooses.
    pub(crate) id_name: Option<String>,
}

/// One step of frames.
#[derive(Clone, Debug)]
pub(crate) enum Sending {
    /// Nothing is sent; the connection was just opened.
    Nothing,
    /// Texts, one frame each, without waiting between them, and the calls that some of them are.
    Texts {
        texts: Vec<String>,
        calls: Vec<Step>,
    },
    /// A text in a binary frame.
    Binary(String),
    Ping,
}

impl Scenario {
    /// Reads a line. With it comes the document of what was recorded, one item a step.
    pub(crate) fn read(line: &Value) -> Result<(Self, Value), String> {
        let group = text(line, "group")?;
        let steps = line["steps"].as_array().ok_or("a scenario has steps")?;
        let (course, recorded) = if line["transport"] == true {
            let sendings = steps.iter().map(sending).collect::<Result<_, _>>()?;
            (Course::Frames(sendings), steps.iter().map(recorded_frames).collect::<Vec<_>>())
        } else {
            let connections = line["connections"].as_object().ok_or("a scenario has connections")?;
            let connections = connections.iter().map(|(name, connection)| (name.clone(), scopes(connection)));
            let course = Course::Methods {
                connections: connections.collect(),
                steps: steps.iter().map(step).collect::<Result<_, _>>()?,
            };
            (course, steps.iter().map(recorded_step).collect())
        };
        Ok((Self { group, course }, json!({ "steps": recorded })))
    }

    /// The steps up to one and with it. Of frames these are the calls in them.
    pub(crate) fn steps_until(&self, step: usize) -> Vec<&Step> {
        let count = step.saturating_add(1);
        match &self.course {
            Course::Methods { steps, .. } => steps.iter().take(count).collect(),
            Course::Frames(sendings) => sendings.iter().take(count).flat_map(Sending::calls).collect(),
        }
    }
}

impl Sending {
    fn calls(&self) -> &[Step] {
        match self {
            Self::Texts { calls, .. } => calls,
            Self::Nothing | Self::Binary(_) | Self::Ping => &[],
        }
    }
}

fn text(object: &Value, member: &str) -> Result<String, String> {
    object[member].as_str().map(str::to_owned).ok_or_else(|| format!("{member} is missing in {object}"))
}

fn scopes(connection: &Value) -> Vec<String> {
    let scopes = connection["scopes"].as_array().into_iter().flatten();
    scopes.filter_map(|scope| scope.as_str().map(str::to_owned)).collect()
}

fn step(step: &Value) -> Result<Step, String> {
    let milliseconds = |member: &str| step[member].as_u64();
    let named = |member: &str| step[member].as_str().map(str::to_owned);
    if step.get("method").is_some() {
        let (by, call) = (text(step, "as")?, call(step)?);
        return Ok(match named("start") {
            Some(name) => Step::Start { by, call, name },
            None => Step::Call { by, call, then_wait: milliseconds("afterMs").unwrap_or(0) },
        });
    }
    if step["waitEvent"] == "question.resolved" {
        return Ok(Step::Expiry(text(step, "id")?));
    }
    let others = [
        milliseconds("sleepMs").map(Step::Sleep),
        named("finish").map(Step::Finish),
        named("notFinished").map(Step::StillWaits),
        named("disconnect").map(Step::Disconnect),
        named("reconnect").map(Step::Reconnect),
    ];
    others.into_iter().flatten().next().ok_or_else(|| format!("there is no such step as {step}"))
}

fn call(step: &Value) -> Result<Call, String> {
    let text = match (step.get("params"), step["paramsRaw"].as_str()) {
        (Some(params), _) => Some(params.to_string()),
        (None, raw) => raw.map(str::to_owned),
    };
    let marked = text.as_deref().map(|text| mark_lone_surrogates(&escaped(text)));
    let params = marked.and_then(|text| serde_json::from_str(&text).ok()).unwrap_or_default();
    let id = step["outcome"]["payload"]["id"].as_str();
    let id_name = id.filter(|id| id.starts_with('$')).map(str::to_owned);
    Ok(Call { method: self::text(step, "method")?, text, params, id_name })
}

/// A text in which lone surrogates, which the recording writes `⟦u+d83d⟧`, are the escapes that JSON has for them.
pub(super) fn escaped(text: &str) -> String {
    text.replace("⟦u+", "\\u").replace('⟧', "")
}

/// What is compared of a step. Messages are ours.
fn recorded_step(step: &Value) -> Value {
    let mut recorded = Map::new();
    if let Some(outcome) = step.get("outcome") {
        recorded.insert("outcome".into(), without_message(outcome));
    }
    if let Some(result) = step.get("result") {
        recorded.insert("waits".into(), json!(result == "still waiting"));
    }
    if step["method"] == "question.request" && step["outcome"]["ok"] == true {
        recorded.insert("order".into(), in_order(step["order"].as_array().into_iter().flatten()));
    }
    let mut events = step.get("events").cloned().unwrap_or_else(|| json!([]));
    for event in events.as_array_mut().into_iter().flatten() {
        sort(&mut event["to"]);
    }
    recorded.insert("events".into(), events);
    recorded.into()
}

/// An outcome or a response, with of its error what is compared.
pub(super) fn without_message(outcome: &Value) -> Value {
    let mut outcome = outcome.clone();
    if let Some(error) = outcome.get_mut("error").and_then(Value::as_object_mut) {
        error.retain(|member, _| matches!(member.as_str(), "code" | "details"));
    }
    outcome
}

/// The order that counts: that a question is told before the response to its request.
pub(super) fn in_order<'v>(frames: impl Iterator<Item = &'v Value>) -> Value {
    frames.filter(|frame| *frame == "event:question.requested" || *frame == "response").cloned().collect()
}

/// Puts names in an order that does not matter.
pub(super) fn sort(names: &mut Value) {
    if let Some(names) = names.as_array_mut() {
        names.sort_by_key(|name| name.to_string());
    }
}

fn sending(step: &Value) -> Result<Sending, String> {
    if step["open"] == true {
        return Ok(Sending::Nothing);
    }
    if step["ping"] == true {
        return Ok(Sending::Ping);
    }
    if let Some(text) = step["sendBinaryUtf8"].as_str() {
        return Ok(Sending::Binary(text.to_owned()));
    }
    let one = step.get("sendText").into_iter();
    let texts: Vec<String> = one
        .chain(step["sendTexts"].as_array().into_iter().flatten())
        .map(expanded)
        .collect::<Result<_, _>>()?;
    if texts.is_empty() {
        return Err(format!("there is no such step as {step}"));
    }
    let calls = texts.iter().filter_map(|text| call_in(text)).collect();
    Ok(Sending::Texts { texts, calls })
}

/// The call that a frame is.
fn call_in(frame: &str) -> Option<Step> {
    let mut frame: Value = serde_json::from_str(frame).ok()?;
    let (method, params) = (frame["method"].as_str()?.to_owned(), frame["params"].take());
    let call = Call { method, text: Some(params.to_string()), params, id_name: None };
    Some(Step::Call { by: String::new(), call, then_wait: 0 })
}

/// A text, or what `{prefix, repeat, count, suffix}` stands for.
fn expanded(value: &Value) -> Result<String, String> {
    if let Some(text) = value.as_str() {
        return Ok(text.to_owned());
    }
    let count = value["count"].as_u64().and_then(|count| usize::try_from(count).ok());
    let repeated = text(value, "repeat")?.repeat(count.ok_or("a long text has a count")?);
    Ok([text(value, "prefix")?, repeated, text(value, "suffix")?].concat())
}

/// What is compared of a step of frames: the frames, the code of the end, and whether a ping was answered.
fn recorded_frames(step: &Value) -> Value {
    let frames = step["frames"].as_array().into_iter().flatten().map(without_message).collect();
    json!({ "frames": responses_in_order(frames), "close": step["close"]["code"], "pong": step["pong"] == true })
}

/// Frames with the responses between two events in the order of their ids: of several calls that are on their way, it
/// does not matter which is answered first.
pub(super) fn responses_in_order(mut frames: Vec<Value>) -> Vec<Value> {
    for responses in frames.chunk_by_mut(|one, other| one["type"] == "res" && other["type"] == "res") {
        responses.sort_by_key(|response| response["id"].to_string());
    }
    frames
}
