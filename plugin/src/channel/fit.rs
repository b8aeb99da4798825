//! How text is measured, cut and spread over messages. Services count differently, so a limit always comes with its unit;
//! cuts fall between grapheme clusters.

use unicode_segmentation::UnicodeSegmentation;

use super::TextUnit;
use super::form::{Line, LineKind};
use crate::text::utf16_len;

impl TextUnit {
    /// How long `text` is to whoever counts like this.
    pub fn len(self, text: &str) -> usize {
        match self {
            Self::Utf16 => utf16_len(text),
            Self::CodePoints => text.chars().count(),
            Self::Graphemes => text.graphemes(true).count(),
            Self::Bytes => text.len(),
        }
    }
}

/// The longest beginning of `text`, in whole grapheme clusters, that `measure` finds no longer than `most`.
pub fn beginning<'t>(text: &'t str, most: usize, measure: &dyn Fn(&str) -> usize) -> &'t str {
    let mut used = 0;
    for (start, cluster) in text.grapheme_indices(true) {
        used += measure(cluster);
        if used > most {
            return &text[..start];
        }
    }
    text
}

/// `text` if it is no longer than `most`, else its beginning with `…`.
pub fn cut(text: &str, most: usize, measure: &dyn Fn(&str) -> usize) -> String {
    if measure(text) <= most {
        return text.to_owned();
    }
    let kept = beginning(text, most.saturating_sub(measure("…")), measure);
    format!("{}…", kept.trim_end())
}

/// How much one message of a channel holds, and what a line of it costs once it is written as that channel writes it.
#[derive(Clone, Copy)]
pub struct Room {
    /// The longest message.
    pub most: usize,
    /// What a piece of a line costs. Adds up: the cost of two pieces is that of both together.
    pub cost: fn(&str) -> usize,
    /// What a line costs beyond its text, for the marks of its kind.
    pub extra: fn(LineKind) -> usize,
}

impl Room {
    fn line(&self, line: &Line) -> usize {
        (self.cost)(&line.text) + (self.extra)(line.kind)
    }

    /// What these lines cost, with the newlines between them.
    pub fn lines(&self, lines: &[Line]) -> usize {
        let newlines = lines.len().saturating_sub(1) * (self.cost)("\n");
        lines.iter().map(|line| self.line(line)).sum::<usize>() + newlines
    }

    /// Spreads lines over as many messages as they need, each of them full lines where a line fits into a message at
    /// all. The last one has room for `closing` more and may be empty for that.
    pub fn spread(&self, lines: Vec<Line>, closing: usize) -> Vec<Vec<Line>> {
        let newline = (self.cost)("\n");
        let mut pages: Vec<Vec<Line>> = vec![Vec::new()];
        let mut used = 0;
        for line in lines {
            for piece in self.pieces(line) {
                let cost = self.line(&piece);
                let page =
                    pages.last_mut().filter(|page| page.is_empty() || used + newline + cost <= self.most);
                match page {
                    // An empty line separates and is not wanted at the beginning of a message.
                    Some(page) if page.is_empty() && piece.text.is_empty() => {}
                    Some(page) => {
                        used += if page.is_empty() { cost } else { newline + cost };
                        page.push(piece);
                    }
                    None => {
                        used = if piece.text.is_empty() { 0 } else { cost };
                        pages.push(Some(piece).filter(|piece| !piece.text.is_empty()).into_iter().collect());
                    }
                }
            }
        }
        let used_by_last = pages.last().map_or(0, |page| self.lines(page));
        if closing > 0 && used_by_last > 0 && used_by_last + 2 * newline + closing > self.most {
            pages.push(Vec::new());
        }
        for page in &mut pages {
            while page.last().is_some_and(|line| line.text.is_empty()) {
                page.pop();
            }
        }
        pages
    }

    /// The line, in pieces that each fit into a message. A piece that goes on keeps the mark of a line that is set in,
    /// and otherwise shows that it goes on, so that none of them passes for a line of ours.
    fn pieces(&self, line: Line) -> Vec<Line> {
        if self.line(&line) <= self.most {
            return vec![line];
        }
        let lead = if line.text.starts_with("> ") { "> " } else { "… " };
        let mut pieces = Vec::new();
        let mut rest = line.text.as_str();
        while !rest.is_empty() {
            let lead = if pieces.is_empty() { "" } else { lead };
            let room = self.most.saturating_sub((self.cost)(lead));
            let whole = beginning(rest, room, &self.cost);
            let piece = if whole.len() == rest.len() {
                whole
            } else {
                // Between words where there is one in the last half, between clusters otherwise. A cluster that is
                // longer than a whole message is text made to do harm, and is taken apart.
                let space = whole.rfind(' ').map(|at| at + 1).filter(|at| *at > whole.len() / 2);
                match &whole[..space.unwrap_or(whole.len())] {
                    "" => first_chars(rest, room, &self.cost),
                    piece => piece,
                }
            };
            pieces.push(Line::text(format!("{lead}{}", piece.trim_end())));
            rest = &rest[piece.len()..];
        }
        pieces
    }

    /// The last lines that fit beside `closing`, from the front: what does not fit is left away.
    pub fn beside(&self, mut lines: Vec<Line>, closing: usize) -> Vec<Line> {
        let room = self.most.saturating_sub(closing + 2 * (self.cost)("\n"));
        while self.lines(&lines) > room {
            lines.pop();
        }
        while lines.last().is_some_and(|line| line.text.is_empty()) {
            lines.pop();
        }
        lines
    }
}

/// The longest beginning in code points; at least one.
fn first_chars<'t>(text: &'t str, most: usize, cost: &dyn Fn(&str) -> usize) -> &'t str {
    let mut used = 0;
    for (start, c) in text.char_indices() {
        used += cost(c.encode_utf8(&mut [0; 4]));
        if used > most && start > 0 {
            return &text[..start];
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEN: Room = Room { most: 10, cost: utf16_len, extra: |_| 0 };

    fn spread(text: &str, closing: usize) -> Vec<String> {
        let lines = text.split('\n').map(Line::text).collect();
        TEN.spread(lines, closing).iter().map(|page| super::super::form::plain(page)).collect()
    }

    #[test]
    fn every_unit_counts_as_its_service_does() {
        let family = "👩‍👩‍👧é";
        assert_eq!(TextUnit::Utf16.len(family), 9);
        assert_eq!(TextUnit::CodePoints.len(family), 6);
        assert_eq!(TextUnit::Graphemes.len(family), 2);
        assert_eq!(TextUnit::Bytes.len(family), 20);
    }

    #[test]
    fn a_cut_falls_between_clusters_and_shows_itself() {
        let units = |text: &str| utf16_len(text);
        assert_eq!(cut("Ship it", 7, &units), "Ship it");
        assert_eq!(cut("Ship it now", 8, &units), "Ship it…");
        assert_eq!(cut("abc👩‍👩‍👧", 10, &units), "abc…");
        assert_eq!(cut("👩‍👩‍👧", 3, &units), "…");
    }

    #[test]
    fn lines_stay_whole_where_they_fit() {
        assert_eq!(spread("12345\n6789", 0), ["12345\n6789"]);
        assert_eq!(spread("12345\n\n6789\nab", 0), ["12345", "6789\nab"]);
        assert_eq!(spread("1234567\n\n\n89", 0), ["1234567", "89"]);
    }

    #[test]
    fn the_last_message_has_room_for_the_closing() {
        assert_eq!(spread("12345", 3), ["12345"]);
        assert_eq!(spread("12345", 4), ["12345", ""]);
        assert_eq!(spread("", 4), [""]);
    }

    #[test]
    fn a_long_line_goes_on_and_shows_that_it_does() {
        assert_eq!(spread("one two three four", 0), ["one two", "… three", "… four"]);
        assert_eq!(spread("> 1. onetwothree", 0), ["> 1. onetw", "> othree"]);
        assert_eq!(spread("👩‍👩‍👧👩‍👩‍👧", 0), ["👩‍👩‍👧", "… 👩‍👩‍👧"]);
        let zalgo = format!("a{}", "\u{301}".repeat(12));
        assert_eq!(spread(&zalgo, 0).iter().map(|page| page.chars().count()).collect::<Vec<_>>(), [10, 5]);
    }
}
