//! How foreign text is made fit for a screen of cells: cleaned, measured and wrapped.

use std::ops::Range;

use ratatui::buffer::CellWidth;
use unicode_segmentation::UnicodeSegmentation;

use crate::text::trim;

/// Whether a newline is kept by [`clean`].
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Lines {
    /// One line: a newline becomes a space.
    One,
    /// Newlines stay.
    Many,
}

/// `text` without what could command the terminal or turn its neighbours around (rulings 7 and 31). The same rule as
/// the plugin's, which cannot be called from here; the ends are not trimmed, since the text may still be typed at.
pub(crate) fn clean(text: &str, lines: Lines) -> String {
    let mut cleaned = String::with_capacity(text.len());
    let mut rest = text.chars().peekable();
    while let Some(c) = rest.next() {
        match c {
            '\r' if rest.peek() == Some(&'\n') => {}
            '\n' | '\r' | '\u{85}' | '\u{2028}' | '\u{2029}' => {
                cleaned.push(if lines == Lines::Many { '\n' } else { ' ' });
            }
            '\t' | '\u{b}' | '\u{c}' => cleaned.push(' '),
            c if c.is_control() || matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}') => {}
            c => cleaned.push(c),
        }
    }
    cleaned
}

/// Whether there is nothing to see in a text: white space and characters without a width.
pub(super) fn is_blank(text: &str) -> bool {
    trim(text).graphemes(true).all(|cluster| {
        cluster.chars().all(|c| {
            c.is_whitespace()
                || c.is_control()
                || matches!(c, '\u{115f}' | '\u{2800}' | '\u{3164}' | '\u{ffa0}')
        }) || columns(cluster) == 0
    })
}

/// How many columns of the screen `text` takes. Without control characters.
pub(crate) fn columns(text: &str) -> usize {
    text.graphemes(true).map(|cluster| usize::from(cluster.cell_width())).sum()
}

/// The lines of `text` on a screen of `width` columns, as ranges of bytes. Every byte but a newline is in a line, so
/// that a place in the text has a place on the screen. Lines break after spaces and wide characters, or within a word
/// that is longer than a line. Spaces at the end of a line may hang over its edge. There is at least one line.
pub(super) fn wrap(text: &str, width: usize) -> Vec<Range<usize>> {
    let mut lines = Vec::new();
    let mut start = 0;
    for paragraph in text.split('\n') {
        wrap_paragraph(text, start..start + paragraph.len(), width, &mut lines);
        start += paragraph.len() + 1;
    }
    lines
}

fn wrap_paragraph(text: &str, paragraph: Range<usize>, width: usize, lines: &mut Vec<Range<usize>>) {
    let mut start = paragraph.start;
    let mut used = 0;
    let mut opportunity = start;
    for (offset, cluster) in text[paragraph.clone()].grapheme_indices(true) {
        let here = paragraph.start + offset;
        let wide = columns(cluster);
        let space =
            cluster.chars().all(|c| c.is_whitespace() && !matches!(c, '\u{a0}' | '\u{2007}' | '\u{202f}'));
        if wide > 1 {
            opportunity = here;
        }
        while !space && used + wide > width && here > start {
            let end = if opportunity > start { opportunity } else { here };
            lines.push(start..end);
            start = end;
            used = columns(&text[start..here]);
        }
        used += wide;
        if space || wide > 1 {
            opportunity = here + cluster.len();
        }
    }
    lines.push(start..paragraph.end);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wrapped(text: &str, width: usize) -> Vec<&str> {
        wrap(text, width).into_iter().map(|line| &text[line]).collect()
    }

    #[test]
    fn what_commands_a_terminal_goes() {
        assert_eq!(clean("Keep\r", Lines::One), "Keep ");
        assert_eq!(clean("Drop\nALL", Lines::One), "Drop ALL");
        assert_eq!(clean("a\r\nb", Lines::Many), "a\nb");
        assert_eq!(clean("x\u{1b}[2K\u{9b}2Jy", Lines::Many), "x[2K2Jy");
        assert_eq!(clean("a\u{202e}b\u{2066}c", Lines::One), "abc");
    }

    #[test]
    fn lines_break_between_words_and_lose_nothing() {
        assert_eq!(wrapped("the quick brown fox", 10), ["the quick ", "brown fox"]);
        assert_eq!(wrapped("one\n\n  two", 10), ["one", "", "  two"]);
        assert_eq!(wrapped("", 10), [""]);
    }

    #[test]
    fn a_word_longer_than_a_line_breaks_between_graphemes() {
        assert_eq!(wrapped("go https://example.org", 8), ["go ", "https://", "example.", "org"]);
        assert_eq!(wrapped("e\u{301}e\u{301}e\u{301}", 2), ["e\u{301}e\u{301}", "e\u{301}"]);
    }

    #[test]
    fn wide_characters_take_two_columns() {
        assert_eq!(wrapped("部署到生产", 5), ["部署", "到生", "产"]);
        assert_eq!(wrapped("ab 部署", 5), ["ab 部", "署"]);
        assert_eq!(wrapped("👩‍🚀👩‍🚀", 2), ["👩‍🚀", "👩‍🚀"]);
        assert_eq!(wrapped("部", 1), ["部"]);
    }

    #[test]
    fn text_without_anything_to_see_is_blank() {
        for text in ["", "  \n", "\u{200b}", "\u{feff}\u{2060}", "\u{3164}", "\u{2800}"] {
            assert!(is_blank(text), "{text:?}");
        }
        for text in ["a", "部", "👍", "-"] {
            assert!(!is_blank(text), "{text:?}");
        }
    }
}
