//! Where the messages come from that answer a prompt without a terminal: the command line, or standard input.

use std::io::{self, BufRead, Read};
use std::thread;

use tokio::sync::mpsc;

use crate::contract::Prompt;

/// Longest message that is read. Far beyond what an answer may have; the rest of a longer one is dropped unread.
const LONGEST: u64 = 1 << 20;

/// Messages, one after the other.
pub(super) struct Replies {
    messages: mpsc::Receiver<String>,
}

/// Where a message on standard input ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum MessageEnd {
    /// At the newline.
    Line,
    /// At a blank line.
    BlankLine,
}

impl MessageEnd {
    /// One single-select question is answered with one line; everything else may take several.
    pub(super) fn for_prompt(prompt: &Prompt) -> Self {
        match prompt.questions.as_slice() {
            [question] if question.multi_select != Some(true) => Self::Line,
            _ => Self::BlankLine,
        }
    }
}

impl Replies {
    /// The texts of the command line.
    pub(super) fn given(texts: Vec<String>) -> Self {
        let (sender, messages) = mpsc::channel(texts.len().max(1));
        for text in texts {
            // There is room for all of them.
            let _ = sender.try_send(text);
        }
        Self { messages }
    }

    /// What comes on standard input. The thread that reads it ends with the process.
    pub(super) fn standard_input(end: MessageEnd) -> io::Result<Self> {
        let (sender, messages) = mpsc::channel(1);
        thread::Builder::new().name("ask-user-input".into()).spawn(move || {
            let mut input = io::stdin().lock();
            while let Some(message) = read_message(&mut input, end) {
                if sender.blocking_send(message).is_err() {
                    return;
                }
            }
        })?;
        Ok(Self { messages })
    }

    /// The next message; nothing when there are no more.
    pub(super) async fn next(&mut self) -> Option<String> {
        self.messages.recv().await
    }
}

/// The next message that is not blank; nothing at the end of the input.
fn read_message(input: &mut impl BufRead, end: MessageEnd) -> Option<String> {
    let mut message = String::new();
    loop {
        let mut line = Vec::new();
        // An input that fails has ended.
        let read = input.by_ref().take(LONGEST).read_until(b'\n', &mut line).unwrap_or(0);
        let line = String::from_utf8_lossy(&line);
        let blank = line.trim().is_empty();
        if !blank && message.len() < LONGEST as usize {
            message.push_str(&line);
        }
        let complete = match end {
            MessageEnd::Line => !message.is_empty(),
            MessageEnd::BlankLine => blank && !message.is_empty(),
        };
        if complete || read == 0 {
            let message = message.trim_end_matches(['\n', '\r']);
            return (!message.is_empty()).then(|| message.to_owned());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn messages(input: &str, end: MessageEnd) -> Vec<String> {
        let mut input = input.as_bytes();
        std::iter::from_fn(|| read_message(&mut input, end)).collect()
    }

    #[test]
    fn a_line_is_a_message_for_one_single_select_question() {
        assert_eq!(messages("7\n\n 2 \r\nlast", MessageEnd::Line), ["7", " 2 ", "last"]);
        assert!(messages("\n\n", MessageEnd::Line).is_empty());
    }

    #[test]
    fn a_blank_line_ends_a_message_otherwise() {
        assert_eq!(messages("\na\nb\n\n\nc\n", MessageEnd::BlankLine), ["a\nb", "c"]);
        assert_eq!(messages("a\r\nb", MessageEnd::BlankLine), ["a\r\nb"]);
        assert!(messages("", MessageEnd::BlankLine).is_empty());
    }
}
