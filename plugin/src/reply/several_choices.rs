//! The parts of a reply to a question that takes several choices (ruling 14).

use super::answer::{Part, Problem};
use super::choice::Choices;
use super::line::is_line_break;
use crate::numbering::{Marked, as_number};
use crate::text::{fold, is_blank, is_space, trim};

/// More parts than anybody would list by hand. A longer text is prose: one own answer.
const MOST_PARTS: usize = 256;

/// Takes a reply apart. Parts that fit are choices, other ones own text each; if none fits, all of it is one own answer.
pub(super) fn parts<'t>(choices: &Choices<'_>, text: &'t str) -> Result<Vec<Part<'t>>, Problem> {
    let text = trim(text);
    if !text.contains(is_line_break)
        && let Marked::Choice(index) = choices.meant(text)
    {
        return Ok(vec![Part::Choice(index)]);
    }
    let segments = segments(text);
    if segments.is_empty() {
        return Err(Problem::Nothing);
    }
    let found = if segments.len() > MOST_PARTS { Vec::new() } else { read(choices, text, &segments) };
    let numbers_only = found.iter().all(|(part, _)| as_number(part).is_some());
    if numbers_only && found.iter().any(|(_, marked)| *marked == Marked::OutOfRange) {
        return Err(Problem::OutOfRange);
    }
    if !found.iter().any(|(_, marked)| matches!(marked, Marked::Choice(_))) {
        return Ok(vec![Part::Own(text)]);
    }
    let mut parts = Vec::new();
    for (part, marked) in found {
        let part = match marked {
            Marked::Choice(index) => Part::Choice(index),
            _ => Part::Own(part),
        };
        if !parts.contains(&part) {
            parts.push(part);
        }
    }
    Ok(parts)
}

/// Whether `c` ends a part of a list.
fn is_separator(c: char) -> bool {
    matches!(c, ',' | ';' | '，' | '；' | '、' | '､' | '﹐' | '﹑' | '﹔' | '،' | '؛') || is_line_break(c)
}

/// A part between separators: where it lies, what it is compared by, and the separators between it and the next one.
struct Segment {
    start: usize,
    end: usize,
    folded: String,
    gap: String,
}

/// The parts of `text` that are not blank.
fn segments(text: &str) -> Vec<Segment> {
    let mut segments: Vec<Segment> = Vec::new();
    let mut start = 0;
    let mut push = |start: usize, end: usize| {
        let part = text.get(start..end).unwrap_or_default();
        let trimmed = trim(part);
        if !is_blank(trimmed) {
            let start = start + (part.len() - part.trim_start_matches(is_space).len());
            segments.push(Segment {
                start,
                end: start + trimmed.len(),
                folded: fold(trimmed),
                gap: String::new(),
            });
        }
    };
    for (at, separator) in text.char_indices().filter(|(_, c)| is_separator(*c)) {
        push(start, at);
        start = at + separator.len_utf8();
    }
    push(start, text.len());
    let starts: Vec<usize> = segments.iter().skip(1).map(|next| next.start).collect();
    for (segment, next) in segments.iter_mut().zip(starts) {
        let between = text.get(segment.end..next).unwrap_or_default();
        // A label may be typed over two lines after its comma; a newline on its own is the separator itself.
        segment.gap = between.chars().filter(|c| is_separator(*c) && !is_line_break(*c)).collect();
    }
    segments
}

/// Reads segment after segment, each time as many of them as the longest label there takes.
fn read<'t>(choices: &Choices<'_>, text: &'t str, segments: &[Segment]) -> Vec<(&'t str, Marked)> {
    let cut_labels = cut_labels(choices);
    let mut found = Vec::new();
    let mut rest = segments;
    while let Some(first) = rest.first() {
        let longest = cut_labels
            .iter()
            .filter(|label| starts_with(rest, &label.segments))
            .max_by_key(|label| label.rank);
        let taken = longest.map_or(1, |label| label.segments.len().max(1));
        let end = rest.get(taken - 1).map_or(first.end, |last| last.end);
        let part = text.get(first.start..end).unwrap_or_default();
        let marked = match (choices.meant(part), longest) {
            // One segment can be a label of its own as well as what is left of one that ends with a separator.
            (Marked::Choice(index), _) if taken == 1 => Marked::Choice(index),
            (_, Some(label)) => Marked::Choice(label.choice),
            (marked, None) => marked,
        };
        found.push((part, marked));
        rest = rest.get(taken..).unwrap_or_default();
    }
    found
}

/// A label that holds separators, as its segments.
struct CutLabel {
    choice: usize,
    segments: Vec<Segment>,
    /// What the longest one is: most segments, then those that are all of it, then those of a label with all its dress.
    rank: (usize, bool, bool),
}

fn cut_labels(choices: &Choices<'_>) -> Vec<CutLabel> {
    let mut labels = Vec::new();
    for (choice, spelling, is_whole) in choices.spellings() {
        if !spelling.contains(is_separator) || choices.labelled(&spelling) != Some(choice) {
            continue;
        }
        let segments = segments(&spelling);
        let is_all = !spelling.starts_with(is_separator) && !spelling.ends_with(is_separator);
        labels.push(CutLabel { choice, rank: (segments.len(), is_all, is_whole), segments });
    }
    labels
}

/// Whether the segments of a text begin with those of a label, with the same separators between them.
fn starts_with(text: &[Segment], label: &[Segment]) -> bool {
    let last = label.len().saturating_sub(1);
    !label.is_empty()
        && text.len() >= label.len()
        && label
            .iter()
            .zip(text)
            .enumerate()
            .all(|(at, (label, text))| label.folded == text.folded && (at == last || label.gap == text.gap))
}
