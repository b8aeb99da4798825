//! The calls of Matrix's client-server API for one room. The host makes them with its own access token, and encrypts
//! them where the room wants that.
//!
//! Event types and members of polls are those of the draft of MSC3381, `org.matrix.msc3381.*`: the stable ones may only
//! be sent in a room version with extensible events, and there is none yet. `m.mentions` is on everything, empty, so that
//! no text pings anybody; without it old push rules look for names and `@room` in `body`.

use std::fmt::{Display, Write};

use serde_json::{Value, json};

use crate::poll::Poll;
use crate::text::excerpt;
use crate::wit::exports::ask_user::plugin::channel::{Call, ChannelError, Target};

/// Longest text in bytes. An event may have 65,536 bytes of JSON with its signatures: that leaves room for a text in
/// which every byte is escaped, and for its encryption, which makes it longer by a third.
pub(crate) const MOST: usize = 16_384;

/// A room, and a thread in it.
pub(crate) struct Room<'t> {
    id: &'t str,
    thread: Option<&'t str>,
}

impl<'t> Room<'t> {
    pub(crate) fn of(target: &'t Target) -> Result<Self, ChannelError> {
        let is_id = |id: &str, sigil: char| {
            (2..=255).contains(&id.len())
                && id.starts_with(sigil)
                && !id.contains(|c: char| c.is_control() || c == ' ')
        };
        let bad =
            |rule: &str, id: &str| Err(ChannelError::BadTarget(format!("{rule}: “{}”", excerpt(id, 64))));
        if !is_id(&target.address, '!') {
            return bad("address must be the id of a room, such as !abc:example.org", &target.address);
        }
        match target.thread.as_deref() {
            Some(thread) if !is_id(thread, '$') => {
                bad("thread must be the id of the event it begins with", thread)
            }
            thread => Ok(Self { id: &target.address, thread }),
        }
    }

    /// A part of a prompt.
    pub(crate) fn message(&self, prompt: &str, part: impl Display, body: &str, text: &str) -> Call {
        self.send("m.room.message", prompt, part, self.threaded(message("m.text", body)), text)
    }

    pub(crate) fn poll(&self, prompt: &str, part: usize, poll: &Poll) -> Call {
        let content = json!({
            "org.matrix.msc3381.poll.start": poll.content(),
            "org.matrix.msc1767.text": poll.fallback,
            "m.mentions": {},
        });
        self.send("org.matrix.msc3381.poll.start", prompt, part, self.threaded(content), &poll.fallback)
    }

    /// The text of a message becomes another one. Clients that know nothing of that show the status alone.
    pub(crate) fn edit(&self, prompt: &str, event: &str, body: &str, status: &str) -> Call {
        let mut content = message("m.text", &format!("* {status}"));
        content["m.new_content"] = message("m.text", body);
        content["m.relates_to"] = json!({ "rel_type": "m.replace", "event_id": event });
        self.send("m.room.message", prompt, "edit", content, body)
    }

    pub(crate) fn end_of_poll(&self, prompt: &str, event: &str, status: &str) -> Call {
        let content = json!({
            "org.matrix.msc3381.poll.end": {},
            "org.matrix.msc1767.text": status,
            "m.relates_to": { "rel_type": "m.reference", "event_id": event },
            "m.mentions": {},
        });
        self.send("org.matrix.msc3381.poll.end", prompt, "close", content, status)
    }

    /// What is told to somebody who voted.
    pub(crate) fn notice(&self, vote: &str, body: &str) -> Call {
        self.send("m.room.message", vote, "notice", self.threaded(message("m.notice", body)), body)
    }

    fn threaded(&self, mut content: Value) -> Value {
        if let Some(root) = self.thread {
            content["m.relates_to"] = json!({
                "rel_type": "m.thread", "event_id": root,
                "is_falling_back": true, "m.in_reply_to": { "event_id": root },
            });
        }
        content
    }

    /// A request that the server takes once, however often the host repeats it. The scope of such an id is the device and
    /// not the room, so the room is part of it.
    fn send(&self, kind: &str, about: &str, part: impl Display, content: Value, text: &str) -> Call {
        let (room, once) = (escaped(self.id), escaped(&format!("{about}.{part}.{}", self.id)));
        Call {
            method: format!("PUT /_matrix/client/v3/rooms/{room}/send/{kind}/{once}"),
            body: content.to_string(),
            text: text.to_owned(),
        }
    }
}

fn message(kind: &str, body: &str) -> Value {
    json!({ "msgtype": kind, "body": body, "m.mentions": {} })
}

/// A segment of a path.
fn escaped(segment: &str) -> String {
    let mut escaped = String::with_capacity(segment.len());
    for byte in segment.bytes() {
        if byte.is_ascii_alphanumeric() || b"-._~!$:".contains(&byte) {
            escaped.push(char::from(byte));
        } else {
            write!(escaped, "%{byte:02X}").expect("a string takes everything");
        }
    }
    escaped
}
