//! A channel for Matrix: every prompt is a text message, and below it a poll (MSC3381) where one question has a few
//! choices. This file is the border to the contract, `wit/channel.wit`; its types are used as they are generated.
//!
//! | module | holds |
//! |---|---|
//! | `prompt` | a prompt as lines of text, and how it ended |
//! | `poll` | which prompts get a poll, and what it looks like |
//! | `tap` | tokens, and what a vote means |
//! | `room` | the calls of Matrix's API |
//! | `text` | what is done with text that somebody else wrote |
//! | `words` | our own words |

mod poll;
mod prompt;
mod room;
mod tap;
#[cfg(test)]
mod tests;
mod text;
mod words;

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
use wit::exports::ask_user::plugin::types::Prompt;
use words::Words;

const NAME: &str = "matrix";

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
        let shown = Shown::of(&prompt, &target);
        let messages = shown.pages.iter().zip(&shown.said).enumerate();
        let mut calls: Vec<Call> =
            messages.map(|(page, (body, said))| room.message(&prompt.id, page, body, said)).collect();
        let mut bindings = Vec::new();
        if let Some(poll) = shown.poll {
            let fallback = poll.fallback(&prompt::how_to(&prompt, shown.words));
            calls.push(room.poll(&prompt.id, calls.len(), &poll, &fallback));
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
        let shown = Shown::of(&prompt, &target);
        let Some(status) = prompt::status(&prompt, shown.words, target.shared) else {
            return Err(ChannelError::Unshowable("the prompt is pending".to_owned()));
        };
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
        let words = Words::of(target.locale.as_deref());
        let said = match feedback {
            Feedback::Received | Feedback::Accepted => None,
            Feedback::NotAllowed if target.shared => None,
            Feedback::NotAllowed => Some(words.not_allowed),
            Feedback::AlreadyAnswered => Some(words.already_answered),
            Feedback::Expired => Some(words.too_late),
            Feedback::NothingChosen => Some(words.nothing_chosen),
            Feedback::TryAgain => Some(words.try_again),
        };
        let calls = said.zip(tap).map(|(said, tap)| room.notice(&tap.handle, said));
        Ok(calls.into_iter().collect())
    }
}

fn known(channel: &str) -> Result<(), ChannelError> {
    if channel == NAME { Ok(()) } else { Err(ChannelError::UnknownChannel(text::excerpt(channel, 64))) }
}

/// What a prompt looks like in a room. It is the same when the prompt ends as when it was asked, so that its messages
/// are found again.
struct Shown {
    words: &'static Words,
    /// The bodies of the messages.
    pages: Vec<String>,
    /// The same without a word on the poll.
    said: Vec<String>,
    /// The last page before how to answer is told.
    last: String,
    poll: Option<Poll>,
}

impl Shown {
    fn of(prompt: &Prompt, target: &Target) -> Self {
        let words = Words::of(target.locale.as_deref().or(prompt.origin.locale.as_deref()));
        let poll = Poll::of(prompt, words, target.extras);
        let how_to = prompt::how_to(prompt, words);
        let closing = match &poll {
            Some(poll) => format!("{} {how_to}", poll.how_to(words)),
            None => how_to.clone(),
        };
        let mut pages = text::spread(prompt::body(prompt, words), room::MOST, closing.len());
        let last = pages.pop().unwrap_or_default();
        let mut said = pages.clone();
        pages.push(text::below(&last, &closing));
        said.push(text::below(&last, &how_to));
        Self { words, pages, said, last, poll }
    }

    /// The last page, shortened if that is what it takes to say how the prompt ended.
    fn ended(&self, status: &str) -> String {
        let room = room::MOST.saturating_sub(status.len() + "\n\n".len());
        text::below(&text::cut(&self.last, room, str::len), status)
    }
}
