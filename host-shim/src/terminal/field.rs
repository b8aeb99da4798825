//! Own text while it is typed: a text and a place in it, which is always between two grapheme clusters.

use unicode_segmentation::UnicodeSegmentation;

use super::text::{Lines, clean};

/// The text and the cursor. What is shown is what is sent: text is cleaned when it comes in.
#[derive(Clone, Debug, Default)]
pub(super) struct Field {
    text: String,
    /// Bytes in front of the cursor.
    cursor: usize,
}

impl Field {
    pub(super) fn text(&self) -> &str {
        &self.text
    }

    pub(super) fn cursor(&self) -> usize {
        self.cursor
    }

    /// Puts `text` in front of the cursor. Newlines are kept: a pasted log stays a log.
    pub(super) fn insert(&mut self, text: &str) {
        let text = clean(text, Lines::Many);
        self.text.insert_str(self.cursor, &text);
        // What came in may join the cluster in front of it or behind it, as an accent does.
        self.cursor = self.at_or_after(self.cursor + text.len());
    }

    pub(super) fn left(&mut self) {
        self.cursor = self.before();
    }

    pub(super) fn right(&mut self) {
        self.cursor = self.at_or_after(self.cursor + 1);
    }

    pub(super) fn word_left(&mut self) {
        self.cursor = self.word_before();
    }

    pub(super) fn word_right(&mut self) {
        let rest = &self.text[self.cursor..];
        let word = rest.split_word_bound_indices().find(|(_, word)| !is_space(word));
        self.cursor = word.map_or(self.text.len(), |(start, word)| self.cursor + start + word.len());
        self.cursor = self.at_or_after(self.cursor);
    }

    pub(super) fn home(&mut self) {
        self.cursor = self.text[..self.cursor].rfind('\n').map_or(0, |newline| newline + 1);
    }

    pub(super) fn end(&mut self) {
        self.cursor =
            self.text[self.cursor..].find('\n').map_or(self.text.len(), |newline| self.cursor + newline);
    }

    pub(super) fn delete_left(&mut self) {
        self.delete_from(self.before());
    }

    pub(super) fn delete_right(&mut self) {
        let end = self.at_or_after(self.cursor + 1);
        self.delete_to(end);
    }

    pub(super) fn delete_word(&mut self) {
        self.delete_from(self.word_before());
    }

    pub(super) fn delete_to_start(&mut self) {
        let end = self.cursor;
        self.home();
        self.delete_to(end);
    }

    pub(super) fn delete_to_end(&mut self) {
        let start = self.cursor;
        self.end();
        self.delete_from(start);
    }

    fn delete_from(&mut self, start: usize) {
        let end = std::mem::replace(&mut self.cursor, start);
        self.delete_to(end);
    }

    /// Two clusters that meet because what was between them is gone may become one; the cursor goes behind it.
    fn delete_to(&mut self, end: usize) {
        self.text.drain(self.cursor..end);
        self.cursor = self.at_or_after(self.cursor);
    }

    fn before(&self) -> usize {
        let clusters = self.text.grapheme_indices(true).map(|(start, _)| start);
        clusters.take_while(|start| *start < self.cursor).last().unwrap_or(0)
    }

    fn word_before(&self) -> usize {
        let mut words = self.text[..self.cursor].split_word_bound_indices();
        let start = words.rfind(|(_, word)| !is_space(word)).map_or(0, |(start, _)| start);
        self.text.grapheme_indices(true).map(|(at, _)| at).take_while(|at| *at <= start).last().unwrap_or(0)
    }

    /// The first border between clusters at `place` or behind it.
    fn at_or_after(&self, place: usize) -> usize {
        self.text
            .grapheme_indices(true)
            .map(|(start, _)| start)
            .find(|start| *start >= place)
            .unwrap_or(self.text.len())
    }
}

fn is_space(word: &str) -> bool {
    word.chars().all(char::is_whitespace)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn typed(text: &str) -> Field {
        let mut field = Field::default();
        for c in text.chars() {
            field.insert(&c.to_string());
        }
        field
    }

    #[test]
    fn a_cluster_is_deleted_whole() {
        let mut field = typed("ae\u{301}👩‍🚀");
        field.delete_left();
        assert_eq!(field.text(), "ae\u{301}");
        field.delete_left();
        assert_eq!(field.text(), "a");
    }

    #[test]
    fn text_goes_in_at_the_cursor() {
        let mut field = typed("部産");
        field.left();
        field.insert("生");
        assert_eq!(field.text(), "部生産");
        field.home();
        field.insert("1 ");
        field.end();
        field.insert("!");
        assert_eq!(field.text(), "1 部生産!");
    }

    #[test]
    fn an_accent_joins_the_letter_in_front_of_the_cursor() {
        let mut field = typed("ae");
        field.left();
        field.insert("\u{301}");
        assert_eq!(field.text(), "a\u{301}e");
        field.delete_left();
        assert_eq!(field.text(), "e");
    }

    #[test]
    fn words_are_stepped_over_and_deleted() {
        let mut field = typed("to staging now");
        field.word_left();
        field.delete_word();
        assert_eq!(field.text(), "to now");
        field.home();
        field.word_right();
        field.delete_to_end();
        assert_eq!(field.text(), "to");
        field.delete_to_start();
        assert_eq!(field.text(), "");
    }

    #[test]
    fn pasted_lines_stay_lines_and_lose_what_commands_a_terminal() {
        let mut field = typed("");
        field.insert("first\r\nsecond\u{1b}[31m\tthird\u{202e}");
        assert_eq!(field.text(), "first\nsecond[31m third");
    }
}
