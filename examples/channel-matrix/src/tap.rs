//! Tokens, which are the ids of a poll's answers, and what a vote means.

use serde_json::Value;

use crate::text::excerpt;
use crate::wit::exports::ask_user::plugin::channel::{Action, ChannelError, Interaction};

/// Longest token in bytes. Matrix sets no limit.
pub(crate) const TOKEN: usize = 255;
/// What every token begins with, with the version of its form.
const MARK: &str = "mx1:";

/// A room as the vote below comes from.
pub(crate) const ROOM: &str = "!abc:example.org";

/// A vote as clients send it, decrypted.
pub(crate) const EXAMPLE: &str = r#"{
    "type": "org.matrix.msc3381.poll.response", "sender": "{sender}", "room_id": "!abc:example.org",
    "event_id": "$vote", "origin_server_ts": 0,
    "content": {
        "m.relates_to": { "rel_type": "m.reference", "event_id": "$poll" },
        "org.matrix.msc3381.poll.response": { "answers": ["{token}"] }
    }
}"#;

/// What an answer of a poll does.
#[derive(Clone, Copy)]
pub(crate) enum Control {
    Choice(usize),
    OneOfSeveral(usize),
    Submit,
    Skip,
}

/// The token of a control, if it can have one: the prompt's id may be of any length.
pub(crate) fn token(prompt_id: &str, control: Control) -> Option<String> {
    let control = match control {
        Control::Choice(index) => index.to_string(),
        Control::OneOfSeveral(index) => format!("+{index}"),
        Control::Submit => "submit".to_owned(),
        Control::Skip => "skip".to_owned(),
    };
    let token = format!("{MARK}{prompt_id}:{control}");
    (token.len() <= TOKEN && token.bytes().all(|byte| byte.is_ascii_graphic())).then_some(token)
}

/// What the event of a vote means. Clients send it under the names of the proposal's draft; the names of its final
/// text, and the mixture of both that some libraries write, are read as well.
pub(crate) fn interpret(payload: &str) -> Result<Interaction, ChannelError> {
    let event: Value = serde_json::from_str(payload)
        .map_err(|error| ChannelError::Malformed(format!("not JSON: {error}")))?;
    let text = |pointer: &str| event.pointer(pointer).and_then(Value::as_str).map(str::to_owned);
    if !matches!(text("/type").as_deref(), Some("org.matrix.msc3381.poll.response" | "m.poll.response")) {
        return Err(ChannelError::NotOurs);
    }
    let places = [
        "/content/org.matrix.msc3381.poll.response/answers",
        "/content/m.selections",
        "/content/m.poll.response/answers",
    ];
    let votes =
        places.iter().find_map(|place| event.pointer(place)?.as_array()).ok_or(ChannelError::NotOurs)?;
    let action = action(votes)?;
    let sender = text("/sender").filter(|sender| !sender.is_empty());
    Ok(Interaction {
        action,
        sender: sender.ok_or_else(|| ChannelError::Malformed("sender is missing".to_owned()))?,
        conversation: text("/room_id"),
        message: text("/content/m.relates_to/event_id"),
        handle: text("/event_id").unwrap_or_default(),
    })
}

/// What these votes decide. A client repeats all that is chosen with every change.
fn action(votes: &[Value]) -> Result<Action, ChannelError> {
    let is_ours = |vote: &Value| vote.as_str().is_some_and(|token| token.starts_with(MARK));
    if !votes.iter().any(is_ours) {
        return Err(ChannelError::NotOurs);
    }
    // One answer that the poll does not have spoils the vote.
    if let Some(strange) = votes.iter().find(|vote| !is_ours(vote)) {
        return Err(ChannelError::Malformed(format!("{} is no answer", excerpt(&strange.to_string(), 64))));
    }
    let tokens = || votes.iter().filter_map(Value::as_str);
    let does = |token: &str, control: &str| token.rsplit(':').next() == Some(control);
    let of_several = |token: &str| token.rsplit(':').next().is_some_and(|control| control.starts_with('+'));
    let one = tokens().find(|token| does(token, "skip"));
    let one = one.or_else(|| tokens().next().filter(|token| !of_several(token) && !does(token, "submit")));
    Ok(match one {
        Some(token) => Action::Choose(vec![token.to_owned()]),
        None if tokens().any(|token| does(token, "submit")) => {
            Action::Choose(tokens().filter(|token| of_several(token)).map(str::to_owned).collect())
        }
        None => Action::Nothing,
    })
}
