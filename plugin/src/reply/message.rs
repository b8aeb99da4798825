//! Which text of a message counts (rulings 16 and 19).

use super::{Message, NotAnAnswer};
use crate::text::{is_blank, is_space, trim};

/// What may stand between a mention and the rest, and belongs to the mention: `@ask_bot, 2`.
const AFTER: [char; 13] = [',', ':', ';', '.', '!', '?', '，', '：', '、', '；', '。', '،', '؛'];
/// The same before a mention at the end: `Prod, @ask_bot`.
const BEFORE: [char; 4] = [',', '，', '、', '،'];

/// What the person typed, or said where nothing was typed, without white space at the ends.
pub(super) fn words(message: &Message) -> Result<&str, NotAnAnswer> {
    if message.edited {
        return Err(NotAnAnswer::Edited);
    }
    if message.forwarded {
        return Err(NotAnAnswer::Forwarded);
    }
    let spoken = message.transcript.as_deref().unwrap_or_default();
    let words = if is_blank(&message.text) { spoken } else { &message.text };
    if is_blank(words) { Err(NotAnAnswer::NoText) } else { Ok(trim(words)) }
}

/// The bot's names as they stand in a text: `@ask_bot`, `<@U1>`.
pub(super) struct Mentions(Vec<String>);

impl Mentions {
    /// From what the caller says. A plain name is mentioned with `@` before it.
    pub(super) fn of(names: &[String]) -> Self {
        let as_typed = |name: &String| match trim(name) {
            name if is_blank(name) || name == "@" || name == "<" => None,
            name if name.starts_with(['@', '<']) => Some(name.to_owned()),
            name => Some(format!("@{name}")),
        };
        Self(names.iter().filter_map(as_typed).collect())
    }

    /// `text` without mentions at both ends, and without white space there.
    pub(super) fn removed<'t>(&self, text: &'t str) -> &'t str {
        let mut rest = trim(text);
        let shorter = |rest| {
            self.0.iter().find_map(|name| without_first(rest, name).or_else(|| without_last(rest, name)))
        };
        // Every round takes a whole name away.
        while let Some(shorter) = shorter(rest) {
            rest = trim(shorter);
        }
        rest
    }

    /// `/skip` of `/skip@ask_bot`, as messengers complete a command in a group.
    pub(super) fn command<'t>(&self, text: &'t str) -> &'t str {
        let addressed = |name: &String| {
            strip_end(text, name).filter(|command| name.starts_with('@') && is_command(command))
        };
        self.0.iter().find_map(addressed).unwrap_or(text)
    }
}

fn is_command(text: &str) -> bool {
    text.starts_with('/') && !text.contains(is_space)
}

fn without_first<'t>(text: &'t str, name: &str) -> Option<&'t str> {
    let rest = strip_start(text, name)?;
    match rest.chars().next() {
        None => Some(rest),
        Some(c) if is_space(c) => Some(rest),
        // `@ask_bot.test` and `@ask_bot:30` name something else.
        Some(c) if AFTER.contains(&c) => {
            let rest = rest.strip_prefix(c)?;
            (rest.starts_with(is_space) || rest.is_empty() || !c.is_ascii()).then_some(rest)
        }
        Some(_) => name.ends_with('>').then_some(rest),
    }
}

fn without_last<'t>(text: &'t str, name: &str) -> Option<&'t str> {
    let rest = strip_end(text, name)?;
    let bordered =
        rest.is_empty() || rest.ends_with(is_space) || rest.ends_with(BEFORE) || name.starts_with('<');
    let rest = trim(rest);
    bordered.then(|| rest.strip_suffix(BEFORE).unwrap_or(rest))
}

/// What follows `name` at the start of `text`, in any case.
fn strip_start<'t>(text: &'t str, name: &str) -> Option<&'t str> {
    let mut rest = text.chars();
    name.chars().all(|c| rest.next().is_some_and(|found| same(c, found))).then_some(rest.as_str())
}

/// What precedes `name` at the end of `text`, in any case.
fn strip_end<'t>(text: &'t str, name: &str) -> Option<&'t str> {
    let mut rest = text.chars();
    name.chars().rev().all(|c| rest.next_back().is_some_and(|found| same(c, found))).then_some(rest.as_str())
}

fn same(one: char, other: char) -> bool {
    one == other || one.to_lowercase().eq(other.to_lowercase())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message(text: &str) -> Message {
        Message { text: text.into(), ..Message::default() }
    }

    /// Ruling 16 and B19.
    #[test]
    fn a_message_without_words_is_not_an_answer() {
        for text in ["", " ", "\u{200b}", "\n\n", "\u{fe0f}"] {
            let picture = Message { has_media: true, ..message(text) };
            assert_eq!(words(&picture), Err(NotAnAnswer::NoText), "{text:?}");
            let recording = Message { transcript: Some(text.into()), ..picture };
            assert_eq!(words(&recording), Err(NotAnAnswer::NoText), "{text:?}");
        }
    }

    /// B19.
    #[test]
    fn a_transcript_counts_where_nothing_was_typed() {
        let transcript = Some("the second one please ".to_owned());
        let spoken = Message { has_media: true, transcript: transcript.clone(), ..message(" ") };
        assert_eq!(words(&spoken), Ok("the second one please"));
        assert_eq!(words(&Message { transcript, ..message("Prod") }), Ok("Prod"));
    }

    #[test]
    fn the_words_under_a_picture_count() {
        assert_eq!(words(&Message { has_media: true, ..message("Prod") }), Ok("Prod"));
    }

    /// Ruling 16.
    #[test]
    fn edited_and_forwarded_messages_are_not_answers() {
        assert_eq!(words(&Message { edited: true, ..message("1") }), Err(NotAnAnswer::Edited));
        assert_eq!(words(&Message { forwarded: true, ..message("1") }), Err(NotAnAnswer::Forwarded));
    }

    /// Ruling 19.
    #[test]
    fn a_mention_at_either_end_is_removed() {
        let names =
            ["@ask_bot".to_owned(), "<@U1>".to_owned(), "Ask Bot".to_owned(), " ".to_owned(), "@".to_owned()];
        for (text, rest) in [
            ("@ask_bot 2", "2"),
            ("@ASK_BOT 2", "2"),
            ("2 @ask_bot", "2"),
            ("@ask_bot, 2", "2"),
            ("@ask_bot: 2", "2"),
            ("@ask_bot\n2", "2"),
            ("Prod, @ask_bot", "Prod"),
            ("<@U1> 2", "2"),
            ("<@u1>2", "2"),
            ("2<@U1>", "2"),
            ("@Ask Bot 2", "2"),
            ("@ask_bot @ask_bot 2 <@U1>", "2"),
            ("@ask_bot", ""),
            ("@ask_bot2", "@ask_bot2"),
            ("@ask_bot2 2", "@ask_bot2 2"),
            ("@ask_bot's", "@ask_bot's"),
            ("@ask_bot.test is down", "@ask_bot.test is down"),
            ("me@ask_bot", "me@ask_bot"),
            ("ask @ask_bot again", "ask @ask_bot again"),
            ("ask_bot 2", "ask_bot 2"),
            ("@ 2", "@ 2"),
        ] {
            assert_eq!(Mentions::of(&names).removed(text), rest, "{text:?}");
        }
        assert_eq!(Mentions::of(&[]).removed("@ask_bot 2"), "@ask_bot 2");
    }

    #[test]
    fn a_command_may_be_addressed_to_the_bot() {
        let mentions = Mentions::of(&["ask_bot".to_owned(), "<@U1>".to_owned()]);
        assert_eq!(mentions.command("/skip@Ask_Bot"), "/skip");
        assert_eq!(mentions.command("/skip@other_bot"), "/skip@other_bot");
        assert_eq!(mentions.command("write /to@ask_bot"), "write /to@ask_bot");
    }
}
