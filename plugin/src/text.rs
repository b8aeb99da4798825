//! How text is trimmed, cleaned, cut and compared. One definition of each for the whole plugin.

use unicode_segmentation::UnicodeSegmentation;

/// Whether `c` is white space as JavaScript's `trim` sees it, which is what OpenClaw's peers use.
pub fn is_space(c: char) -> bool {
    c == '\u{feff}' || (c.is_whitespace() && c != '\u{85}')
}

/// `text` without white space at both ends.
pub fn trim(text: &str) -> &str {
    text.trim_matches(is_space)
}

/// Whether `c` can turn the direction of its neighbours: bidirectional overrides, embeddings and isolates.
fn is_direction_control(c: char) -> bool {
    matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// Whether `c` shows nothing on its own: zero-width characters, marks of direction, fillers, tags.
fn is_invisible(c: char) -> bool {
    matches!(
        c,
        '\u{ad}'
            | '\u{34f}'
            | '\u{61c}'
            | '\u{115f}'
            | '\u{1160}'
            | '\u{17b4}'
            | '\u{17b5}'
            | '\u{180b}'..='\u{180f}'
            | '\u{200b}'..='\u{200f}'
            | '\u{2028}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}'
            | '\u{2800}'
            | '\u{3164}'
            | '\u{fe00}'..='\u{fe0f}'
            | '\u{feff}'
            | '\u{ffa0}'
            | '\u{fff0}'..='\u{fffb}'
            | '\u{e0000}'..='\u{e0fff}'
    )
}

/// Whether there is nothing to see in `text`.
pub fn is_blank(text: &str) -> bool {
    text.chars().all(|c| is_space(c) || c.is_control() || is_invisible(c))
}

/// Whether a newline is kept by [`clean`].
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Lines {
    /// One line: a newline becomes a space.
    One,
    /// Newlines stay, as in a question's text.
    Many,
}

/// Model text made harmless (ruling 7): control characters, bidirectional overrides and isolates go; what separated
/// words or lines becomes a space, or stays a newline where `lines` says so; both ends are trimmed.
pub fn clean(text: &str, lines: Lines) -> String {
    let mut cleaned = String::with_capacity(text.len());
    let mut rest = text.chars().peekable();
    while let Some(c) = rest.next() {
        match c {
            '\r' if rest.peek() == Some(&'\n') => {}
            '\n' | '\r' | '\u{85}' | '\u{2028}' | '\u{2029}' => {
                cleaned.push(if lines == Lines::Many { '\n' } else { ' ' })
            }
            '\t' | '\u{b}' | '\u{c}' => cleaned.push(' '),
            c if c.is_control() || is_direction_control(c) => {}
            c => cleaned.push(c),
        }
    }
    trim(&cleaned).to_owned()
}

/// Whether `c` is written from right to left, or is a mark that acts like such a character.
fn is_right_to_left(c: char) -> bool {
    matches!(
        c,
        '\u{590}'..='\u{8ff}'
            | '\u{200f}'
            | '\u{fb1d}'..='\u{fdff}'
            | '\u{fe70}'..='\u{fefc}'
            | '\u{10800}'..='\u{10fff}'
            | '\u{1e800}'..='\u{1efff}'
    )
}

/// Cleaned text for the middle of a line of ours: between a first-strong isolate and its end where it holds
/// right-to-left characters, so that it keeps its own order and its neighbours, such as the mark of a choice, keep
/// theirs. Other text stays as it is. A reply may repeat the isolates; [`clean`] and so [`fold`] drop them.
pub fn isolate(cleaned: String) -> String {
    if cleaned.chars().any(is_right_to_left) { format!("\u{2068}{cleaned}\u{2069}") } else { cleaned }
}

/// What `text` is compared by: cleaned, lower-cased, every run of white space one space.
pub fn fold(text: &str) -> String {
    let cleaned = clean(text, Lines::One);
    let mut folded = String::with_capacity(cleaned.len());
    for word in cleaned.split(is_space).filter(|word| !word.is_empty()) {
        if !folded.is_empty() {
            folded.push(' ');
        }
        folded.push_str(&word.to_lowercase());
    }
    folded
}

/// The first `count` grapheme clusters of `text`.
pub fn first_graphemes(text: &str, count: usize) -> &str {
    match text.grapheme_indices(true).nth(count) {
        Some((end, _)) => &text[..end],
        None => text,
    }
}

/// Length in UTF-16 code units.
pub fn utf16_len(text: &str) -> usize {
    text.chars().map(char::len_utf16).sum()
}

/// `text` cleaned, on one line, cut to at most `limit` characters at a grapheme border, with `…` where it was cut.
pub fn excerpt(text: &str, limit: usize) -> String {
    let cleaned = clean(text, Lines::One);
    if cleaned.chars().count() <= limit {
        return cleaned;
    }
    let mut short = String::new();
    let mut used = 0;
    for cluster in cleaned.graphemes(true) {
        used += cluster.chars().count();
        if used >= limit {
            break;
        }
        short.push_str(cluster);
    }
    short.push('…');
    short
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn control_characters_and_overrides_go() {
        assert_eq!(clean("Keep\r", Lines::One), "Keep");
        assert_eq!(clean("Drop\nALL", Lines::One), "Drop ALL");
        assert_eq!(clean("a\r\nb", Lines::Many), "a\nb");
        assert_eq!(clean("x\u{1b}[2Ky", Lines::Many), "x[2Ky");
        assert_eq!(clean("a\u{202e}b", Lines::One), "ab");
    }

    #[test]
    fn invisible_text_is_blank() {
        for text in ["", " ", "\u{200b}", "\u{feff}\u{2060}", "\u{3164}", "\u{7}"] {
            assert!(is_blank(text), "{text:?}");
        }
        assert!(!is_blank("a\u{200b}"));
    }

    #[test]
    fn right_to_left_text_keeps_to_itself() {
        assert_eq!(isolate("Staging, v2.0 – 部署 🚀".into()), "Staging, v2.0 – 部署 🚀");
        assert_eq!(isolate("שרת v2.0".into()), "\u{2068}שרת v2.0\u{2069}");
        assert_eq!(isolate("خادم".into()), "\u{2068}خادم\u{2069}");
        assert_eq!(isolate("a\u{200f}b".into()), "\u{2068}a\u{200f}b\u{2069}");
        assert_eq!(fold(&isolate("שרת".into())), "שרת");
    }

    #[test]
    fn folding_ignores_case_and_white_space() {
        assert_eq!(fold("  🚀  Canary\u{a0}Run "), "🚀 canary run");
    }

    #[test]
    fn cuts_fall_between_graphemes() {
        assert_eq!(first_graphemes("Ship it now🚀!", 12), "Ship it now🚀");
        assert_eq!(first_graphemes("e\u{301}e\u{301}e\u{301}", 2), "e\u{301}e\u{301}");
        assert_eq!(excerpt("abcdef", 4), "abc…");
        assert_eq!(excerpt("abcd", 4), "abcd");
    }
}
