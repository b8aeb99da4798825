//! What is done with text: labels are cleaned, measured and cut between characters as people see them, and lines are
//! spread over messages.

use unicode_segmentation::UnicodeSegmentation;

/// Stands before a line of a question, so that it does not pass for a line of ours, in place of the host's `>`: clients
/// take lines with that at the beginning of a reply for a quotation and drop them.
const QUOTED: &str = "│";

/// A line of the prompt in the form that every client shows.
pub(crate) fn quoted(line: &str) -> String {
    match line.strip_prefix('>') {
        Some(rest) if rest.is_empty() || rest.starts_with(' ') => format!("{QUOTED}{rest}"),
        _ => line.to_owned(),
    }
}

/// Text as one line without characters that control a terminal or turn the direction of others.
pub(crate) fn one_line(text: &str) -> String {
    let breaks = ['\n', '\r', '\u{85}', '\u{2028}', '\u{2029}'];
    trim(&harmless(&text.replace("\r\n", " ").replace(breaks, " "))).to_owned()
}

fn harmless(line: &str) -> String {
    let turns = |c: char| matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    let spaced = line.replace(['\t', '\u{b}', '\u{c}'], " ");
    spaced.chars().filter(|c| !c.is_control() && !turns(*c)).collect()
}

fn trim(text: &str) -> &str {
    text.trim_matches(|c: char| c.is_whitespace() || c == '\u{feff}')
}

/// What two labels are compared by: people do not see a difference of case or white space.
pub(crate) fn folded(label: &str) -> String {
    label.split_whitespace().map(str::to_lowercase).collect::<Vec<_>>().join(" ")
}

/// Whether there is nothing to see in cleaned text.
pub(crate) fn is_blank(cleaned: &str) -> bool {
    cleaned.chars().all(|c| {
        c.is_whitespace()
            || matches!(c, '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}'
                | '\u{180b}'..='\u{180f}' | '\u{200b}'..='\u{200f}' | '\u{2060}'..='\u{206f}' | '\u{2800}' | '\u{3164}'
                | '\u{fe00}'..='\u{fe0f}' | '\u{feff}' | '\u{ffa0}' | '\u{fff0}'..='\u{fffb}' | '\u{e0000}'..='\u{e0fff}')
    })
}

/// Length in UTF-16 units.
pub(crate) fn utf16(text: &str) -> usize {
    text.encode_utf16().count()
}

/// The longest beginning that is no longer than `most`. It ends between grapheme clusters, or inside the first one if
/// that alone is too long: nobody writes such a thing but to do harm.
fn beginning(text: &str, most: usize, length: fn(&str) -> usize) -> &str {
    let fits = |pieces: &mut dyn Iterator<Item = &str>| {
        let mut used = 0;
        let fitting = pieces.take_while(|piece| {
            used += length(piece);
            used <= most
        });
        fitting.map(str::len).sum::<usize>()
    };
    match fits(&mut text.graphemes(true)) {
        0 => &text[..fits(&mut text.split("").filter(|piece| !piece.is_empty()))],
        end => &text[..end],
    }
}

/// Text, or its beginning with `…` if it is longer than `most`.
pub(crate) fn cut(text: &str, most: usize, length: fn(&str) -> usize) -> String {
    if length(text) <= most {
        return text.to_owned();
    }
    format!("{}…", trim(beginning(text, most.saturating_sub(length("…")), length)))
}

/// What somebody wrote as one short line.
pub(crate) fn excerpt(text: &str, most: usize) -> String {
    cut(&one_line(text), most, utf16)
}

/// A page and what stands below it.
pub(crate) fn below(page: &str, closing: &str) -> String {
    if page.is_empty() { closing.to_owned() } else { format!("{page}\n\n{closing}") }
}

/// Lines as pages of at most `most` bytes, the last of which, empty if need be, has room for `closing` more below it.
pub(crate) fn spread(lines: Vec<String>, most: usize, closing: usize) -> Vec<String> {
    let mut pages = vec![String::new()];
    for piece in lines.iter().flat_map(|line| pieces(line, most)) {
        match pages.last_mut() {
            Some(page) if page.is_empty() => page.push_str(&piece),
            Some(page) if page.len() + "\n".len() + piece.len() <= most => {
                page.push('\n');
                page.push_str(&piece);
            }
            _ => pages.push(piece),
        }
    }
    for page in &mut pages {
        page.truncate(page.trim_end_matches('\n').len());
    }
    if pages.last().is_some_and(|page| page.len() + "\n\n".len() + closing > most) {
        pages.push(String::new());
    }
    pages
}

/// A line as pieces that each fit into a page. All but the first show that they go on.
fn pieces(line: &str, most: usize) -> Vec<String> {
    let lead = if line.starts_with(QUOTED) { QUOTED } else { "…" };
    let mut rest = line;
    let mut pieces = Vec::new();
    while rest.len() > most || pieces.is_empty() {
        let piece = beginning(rest, most - lead.len() - " ".len(), str::len);
        let piece = if rest.len() <= most { rest } else { piece };
        pieces.push(if pieces.is_empty() { piece.to_owned() } else { format!("{lead} {piece}") });
        rest = &rest[piece.len()..];
    }
    if !rest.is_empty() {
        pieces.push(format!("{lead} {rest}"));
    }
    pieces
}
