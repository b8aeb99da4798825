//! A prompt as the messages that a channel needs for it.

use super::fit::{Room, cut};
use super::form::{self, Line, plain};
use crate::catalogue::Language;
use crate::model::Prompt;

/// One message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Page {
    /// What it shows.
    pub lines: Vec<Line>,
    /// The same for where controls cannot be shown.
    pub text: String,
}

/// What stands below the questions, in place of the words of the text form.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Closing<'c> {
    /// How to use the controls, where there are some.
    pub controls: Option<&'c str>,
    /// How to reply here, besides that.
    pub also: Option<&'c str>,
}

impl Closing<'_> {
    /// What is shown, and what is said where controls cannot be shown.
    fn words(self, prompt: &Prompt, language: &Language) -> (String, String) {
        let how_to = form::how_to(prompt, language);
        let with = |first: &str| self.also.map_or_else(|| first.to_owned(), |also| format!("{first} {also}"));
        (with(self.controls.unwrap_or(&how_to)), with(&how_to))
    }
}

/// A pending prompt. The last page is the one for controls.
pub(super) fn pending(prompt: &Prompt, language: &Language, room: &Room, closing: Closing<'_>) -> Vec<Page> {
    let (shown, said) = closing.words(prompt, language);
    let mut bodies = bodies(prompt, language, room, &shown, &said);
    let last = bodies.pop().unwrap_or_default();
    let mut pages: Vec<Page> = bodies.into_iter().map(|lines| Page { text: plain(&lines), lines }).collect();
    pages.push(Page { text: plain(&below(last.clone(), &said)), lines: below(last, &shown) });
    pages
}

/// The last page of a prompt that has ended: what it showed, and how it ended in place of how to answer. Of a long page
/// the beginning is kept; nobody has to choose from it any more.
pub(super) fn settled(
    prompt: &Prompt,
    status: &str,
    language: &Language,
    room: &Room,
    closing: Closing<'_>,
) -> Page {
    let (shown, said) = closing.words(prompt, language);
    let last = bodies(prompt, language, room, &shown, &said).pop().unwrap_or_default();
    let status = status_lines(status, room);
    let mut lines = room.beside(last, room.lines(&status));
    if !lines.is_empty() {
        lines.push(Line::text(""));
    }
    lines.extend(status);
    Page { text: plain(&lines), lines }
}

/// How a prompt ended as a message of its own.
pub(super) fn status(status: &str, room: &Room) -> Page {
    let lines = status_lines(status, room);
    Page { text: plain(&lines), lines }
}

/// A status line, or one a question, within a message.
fn status_lines(status: &str, room: &Room) -> Vec<Line> {
    let lines: Vec<Line> = status.lines().map(Line::text).collect();
    if room.lines(&lines) <= room.most {
        return lines;
    }
    let whole = cut(status, room.most, &room.cost);
    whole.lines().map(Line::text).collect()
}

/// How many messages a pending prompt takes.
fn bodies(prompt: &Prompt, language: &Language, room: &Room, shown: &str, said: &str) -> Vec<Vec<Line>> {
    let closing = (room.cost)(shown).max((room.cost)(said));
    room.spread(form::body(prompt, language), closing)
}

fn below(mut lines: Vec<Line>, closing: &str) -> Vec<Line> {
    if !lines.is_empty() {
        lines.push(Line::text(""));
    }
    lines.push(Line::text(closing));
    lines
}
