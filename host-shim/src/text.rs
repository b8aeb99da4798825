//! Text as the other side of the wire treats it.

/// `text` without white space at both ends, as JavaScript trims it and `question.resolve` with it.
pub(crate) fn trim(text: &str) -> &str {
    text.trim_matches(|c: char| c == '\u{feff}' || (c.is_whitespace() && c != '\u{85}'))
}

#[cfg(test)]
mod tests {
    use super::trim;

    #[test]
    fn white_space_is_what_javascript_takes_for_it() {
        assert_eq!(trim("\u{feff} \u{a0}\n a b\u{2028}\t"), "a b");
        assert_eq!(trim("\u{85}a\u{200b}"), "\u{85}a\u{200b}");
    }
}
