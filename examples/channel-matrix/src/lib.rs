//! A channel for Matrix: every prompt is a text message, and below it a poll (MSC3381) where one question has a few
//! choices. This file is the border to the contract, `wit/channel.wit`; its types are used as they are generated. What
//! the text says is given by the host, `target.words`.
//!
//! | module | holds |
//! |---|---|
//! | `poll` | which prompts get a poll, and what it looks like |
//! | `tap` | tokens, and what a vote means |
//! | `room` | the calls of Matrix's API |
//! | `text` | what is done with text: labels are cleaned and cut, lines are spread over messages |

mod poll;
mod room;
mod tap;
#[cfg(test)]
mod tests;
mod text;

/// The contract as Rust types. Outside of WebAssembly the exports are never called, and the types serve the tests.
#[allow(missing_docs, unreachable_pub)]
mod wit {
    wit_bindgen::generate!({ path: "../../wit", world: "channel-plugin", additional_derives: [PartialEq, Eq] });
}

use poll::Poll;
use room::Room;
use wit::exports::ask_user::plugin::channel::{
    Binding, Call, ChannelError, Descriptor, Feedback, Guest, Interaction, Limit, Natives, Rendering, Tap,
    Target, TextUnit,
};
use wit::exports::ask_user::plugin::types::{Prompt, Words};

const NAME: &str = "matrix";

/// Longest text on how a prompt ended, in bytes. A gateway client's labels may be of any length, and the prompt stands
/// above it in the same message.
const STATUS: usize = 2048;

struct Component;

wit::export!(Component with_types_in wit);

impl Guest for Component {
    fn channels() -> Vec<Descriptor> {
        let natives = Natives {
            buttons: true,
            edits: true,
            private_feedback: false,
            composer: false,
            multi_select: true,
            reactions: false,
        };
        vec![Descriptor {
            name: NAME.to_owned(),
            text: Some(Limit { most: room::MOST as u32, unit: TextUnit::Bytes }),
            label: Some(Limit { most: poll::LABEL as u32, unit: TextUnit::Utf16 }),
            token_bytes: Some(tap::TOKEN as u32),
            natives,
            markup: Vec::new(),
            example_address: tap::ROOM.to_owned(),
            example_tap: Some(tap::EXAMPLE.to_owned()),
        }]
    }

    fn render(prompt: Prompt, channel: String, target: Target) -> Result<Rendering, ChannelError> {
        known(&channel)?;
        if prompt.settlement.is_some() || prompt.questions.is_empty() {
            return Err(ChannelError::Unshowable("the prompt has ended or asks nothing".to_owned()));
        }
        let room = Room::of(&target)?;
        let shown = Shown::of(&prompt, words(&target)?, target.extras);
        let pages = shown.pages.iter().enumerate();
        let mut calls: Vec<Call> =
            pages.map(|(page, body)| room.message(&prompt.id, page, body, body)).collect();
        let mut bindings = Vec::new();
        if let Some(poll) = shown.poll {
            calls.push(room.poll(&prompt.id, calls.len(), &poll));
            bindings = poll.answers;
        }
        Ok(Rendering { calls, bindings })
    }

    fn interpret_interaction(channel: String, payload: String) -> Result<Interaction, ChannelError> {
        known(&channel)?;
        tap::interpret(&payload)
    }

    /// No control of ours asks for own text: it is typed into the room like any message.
    fn render_composer(
        _: Prompt,
        channel: String,
        _: Target,
        _: Binding,
        _: Option<String>,
        _: Tap,
    ) -> Result<Vec<Call>, ChannelError> {
        known(&channel)?;
        Err(ChannelError::Unshowable("no answer of a poll asks for own text".to_owned()))
    }

    /// The text tells how it ended, in place of how to answer; the poll is closed. A poll itself is not changed: clients
    /// show an ended one with its votes, of which the last one counts there and the first one here.
    fn render_settled(
        prompt: Prompt,
        channel: String,
        target: Target,
        messages: Vec<String>,
    ) -> Result<Vec<Call>, ChannelError> {
        known(&channel)?;
        let room = Room::of(&target)?;
        if prompt.settlement.is_none() {
            return Err(ChannelError::Unshowable("the prompt is pending".to_owned()));
        }
        let words = words(&target)?;
        let status = text::cut(message(words)?, STATUS, str::len);
        let shown = Shown::of(&prompt, words, target.extras);
        // Where not everything was sent, nobody knows which message is which.
        if messages.len() != shown.pages.len() + usize::from(shown.poll.is_some()) {
            return Ok(vec![room.message(&prompt.id, "end", &status, &status)]);
        }
        let text = shown.ended(&status);
        let mut calls = vec![room.edit(&prompt.id, &messages[shown.pages.len() - 1], &text, &status)];
        if shown.poll.is_some() {
            calls.push(room.end_of_poll(&prompt.id, &messages[shown.pages.len()], &status));
        }
        Ok(calls)
    }

    /// A notice in the room, which everybody there reads. What the end of the poll shows anyway is not said, nor is that
    /// somebody else was asked; and without a tap there is nothing that makes the request different from the last one.
    fn render_feedback(
        channel: String,
        target: Target,
        feedback: Feedback,
        tap: Option<Tap>,
    ) -> Result<Vec<Call>, ChannelError> {
        known(&channel)?;
        let room = Room::of(&target)?;
        let is_silent = match feedback {
            Feedback::Received | Feedback::Accepted => true,
            Feedback::NotAllowed => target.shared,
            _ => false,
        };
        match tap {
            Some(tap) if !is_silent => Ok(vec![room.notice(&tap.handle, message(words(&target)?)?)]),
            _ => Ok(Vec::new()),
        }
    }
}

fn known(channel: &str) -> Result<(), ChannelError> {
    if channel == NAME { Ok(()) } else { Err(ChannelError::UnknownChannel(text::excerpt(channel, 64))) }
}

/// What there is to say. The host gives it to every channel that is not its own.
fn words(target: &Target) -> Result<&Words, ChannelError> {
    target.words.as_ref().ok_or_else(no_words)
}

/// How the prompt ended, or what to tell a person.
fn message(words: &Words) -> Result<&str, ChannelError> {
    words.message.as_deref().ok_or_else(no_words)
}

fn no_words() -> ChannelError {
    ChannelError::Unshowable("the host gave no words".to_owned())
}

/// What a prompt looks like in a room. It is the same when the prompt ends as when it was asked, so that its messages
/// are found again.
struct Shown {
    /// The bodies of the messages.
    pages: Vec<String>,
    /// The last page before how to answer is told.
    last: String,
    poll: Option<Poll>,
}

impl Shown {
    fn of(prompt: &Prompt, words: &Words, extras: bool) -> Self {
        let lines = words.body.iter().map(|line| text::quoted(&line.text)).collect();
        let mut pages = text::spread(lines, room::MOST, words.how_to.len());
        let last = pages.pop().unwrap_or_default();
        pages.push(text::below(&last, &words.how_to));
        Self { pages, last, poll: Poll::of(prompt, words, extras) }
    }

    /// The last page, shortened if that is what it takes to say how the prompt ended.
    fn ended(&self, status: &str) -> String {
        let room = room::MOST.saturating_sub(status.len() + "\n\n".len());
        text::below(&text::cut(&self.last, room, str::len), status)
    }
}
