//! One line of a message that answers several questions, and what it says about which question it answers
//! (ruling 15).

use super::choice::Choices;
use crate::numbering::as_number;
use crate::text::{fold, is_blank, is_space, trim};

/// More separators in a line than a key could hold.
const MOST_SEPARATORS: usize = 64;

/// Whether `c` ends a line. The same characters that [`crate::text::clean`] takes for one.
pub(super) fn is_line_break(c: char) -> bool {
    matches!(c, '\n' | '\r' | '\u{85}' | '\u{2028}' | '\u{2029}')
}

/// The lines of `text` that are not blank, without white space at their ends.
pub(super) fn lines(text: &str) -> impl Iterator<Item = &str> {
    text.split(is_line_break).map(trim).filter(|line| !is_blank(line))
}

/// What names a question.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum KeyKind {
    Number,
    Header,
    Id,
}

/// How sure it is that a line begins with a key, and not just with the same characters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Certainty {
    /// `city: Rome`, `city - Rome`, `2: Rome`.
    Sure,
    /// `city-Rome`, where words are written with hyphens too.
    Word,
    /// `2-3`, `2:30`, where ranges and times are written the same.
    Number,
}

/// A line that begins with a key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Keyed<'t> {
    /// The questions of that key; several where they share a header.
    pub(super) questions: Vec<usize>,
    /// What follows, trimmed. Blank where nothing does.
    pub(super) value: &'t str,
    /// Whether the key is the question's number.
    pub(super) is_number: bool,
    /// How sure it is.
    pub(super) certainty: Certainty,
}

/// What the questions of a prompt are called.
pub(super) struct Keys {
    ids: Vec<String>,
    headers: Vec<String>,
    longest: usize,
}

impl Keys {
    /// The keys of these questions.
    pub(super) fn of(questions: &[Choices<'_>]) -> Self {
        let ids: Vec<String> = questions.iter().map(|choices| fold(&choices.question.id)).collect();
        let headers: Vec<String> = questions.iter().map(|choices| fold(&choices.question.header)).collect();
        let longest = ids.iter().chain(&headers).map(|key| key.chars().count()).max().unwrap_or_default();
        Self { ids, headers, longest }
    }

    /// Takes the key off `key: value`, `key = value` or `key - value`. The longest key wins, so that a header may hold a
    /// hyphen; then an id before a header before a number.
    pub(super) fn keyed<'t>(&self, line: &'t str) -> Option<Keyed<'t>> {
        let separators: Vec<(usize, char)> =
            line.char_indices().filter(|(_, c)| is_key_end(*c)).take(MOST_SEPARATORS).collect();
        separators.into_iter().rev().find_map(|(at, separator)| {
            let key = trim(line.get(..at)?);
            let (questions, kind) = self.named(key)?;
            let rest = line.get(at + separator.len_utf8()..)?;
            let is_tight = rest.starts_with(|c| !is_space(c));
            let certainty = match kind {
                KeyKind::Number if is_tight => Certainty::Number,
                KeyKind::Header | KeyKind::Id if is_tight && is_hyphen(separator) => Certainty::Word,
                _ => Certainty::Sure,
            };
            Some(Keyed { questions, value: trim(rest), is_number: kind == KeyKind::Number, certainty })
        })
    }

    /// The questions that `key` names.
    fn named(&self, key: &str) -> Option<(Vec<usize>, KeyKind)> {
        // White space does not count, but nobody types so much of it.
        if key.is_empty() || key.chars().count() > self.longest.saturating_mul(2).saturating_add(16) {
            return None;
        }
        let folded = fold(key);
        let places = |keys: &[String]| -> Vec<usize> {
            keys.iter()
                .enumerate()
                .filter(|(_, key)| **key == folded && !is_blank(key))
                .map(|(at, _)| at)
                .collect()
        };
        let number = || {
            let number = usize::try_from(as_number(key)?).ok()?;
            (1..=self.ids.len()).contains(&number).then(|| vec![number - 1])
        };
        let found = [(places(&self.ids), KeyKind::Id), (places(&self.headers), KeyKind::Header)];
        found
            .into_iter()
            .find(|(questions, _)| !questions.is_empty())
            .or_else(|| number().map(|questions| (questions, KeyKind::Number)))
    }
}

/// Takes the number off `1. Prod` or `2) 2000`, where something follows it.
pub(super) fn numbered(line: &str) -> Option<(usize, &str)> {
    let digits = line.find(|c: char| !matches!(c, '0'..='9' | '０'..='９'))?;
    let (number, rest) = line.split_at_checked(digits)?;
    let mark = rest.chars().next()?;
    let rest = rest.strip_prefix(['.', ')', '．', '）'])?;
    // `1.5` is a number itself.
    if matches!(mark, '.' | '．') && rest.starts_with(char::is_numeric) {
        return None;
    }
    let number = usize::try_from(as_number(number)?).ok()?;
    let value = trim(rest);
    (!is_blank(value)).then_some((number.checked_sub(1)?, value))
}

fn is_key_end(c: char) -> bool {
    matches!(c, ':' | '=' | '：' | '＝') || is_hyphen(c)
}

fn is_hyphen(c: char) -> bool {
    matches!(c, '-' | '–' | '—' | '−' | '－')
}
