//! What chooses, by ruling 13: pieces of text against the choices of one question.

use crate::text::{as_number, clean, fold_label, is_blank, without_emoji, without_recommended};
use crate::vectors::Question;

/// Whether a label of the question reads as a number, so that its choices have letters.
pub(super) fn has_letters(question: &Question) -> bool {
    question.labels.iter().any(|label| {
        let cleaned = clean(label);
        let bare = fold_label(without_emoji(without_recommended(&cleaned)));
        let unsigned = bare.strip_prefix(['+', '-', '−', '#']).unwrap_or(&bare);
        let is_figure = |c: char| c.is_ascii_digit() || matches!(c, '.' | ',' | '\'' | '_' | ' ');
        as_number(&bare).is_some()
            || (unsigned.starts_with(|c: char| c.is_ascii_digit()) && unsigned.chars().all(is_figure))
    })
}

/// Whether `text` is the mark of a lettered choice: `b`, `B)`, `b.`.
pub(super) fn is_letter(text: &str) -> bool {
    let fold_labeled = fold_label(text);
    let bare = fold_labeled.strip_suffix(['.', ')', '．', '）']).unwrap_or(&fold_labeled);
    matches!(bare.as_bytes(), [b'a'..=b'z'])
}

/// Whether `text` is the number of a choice, in any spelling.
pub(super) fn is_number_of_choice(question: &Question, text: &str) -> bool {
    let count = question.labels.len() as u64;
    as_number(text).is_some_and(|number| !has_letters(question) && (1..=count).contains(&number))
}

/// Whether `text` is a label but for case and white space.
pub(super) fn is_label(question: &Question, text: &str) -> bool {
    question.labels.iter().any(|label| fold_label(label) == fold_label(text))
}

/// Whether `text` is a label with its emoji, its `(Recommended)` or both left out or spaced in another way.
pub(super) fn is_label_undressed(question: &Question, text: &str) -> bool {
    let typed = Dressed::of(text);
    let fits = |label: &String| {
        let label = Dressed::of(label);
        let same = label.core == typed.core && (label.is_recommended || !typed.is_recommended);
        same && (typed.emoji.is_empty() || typed.emoji == label.emoji)
    };
    !is_blank(text) && question.labels.iter().any(fits)
}

/// Whether `text` chooses by any of these.
pub(super) fn chooses(question: &Question, text: &str) -> bool {
    is_label(question, text)
        || is_label_undressed(question, text)
        || is_number_of_choice(question, text)
        || (has_letters(question) && is_letter(text))
}

/// A text and what people leave out of a label.
struct Dressed {
    emoji: String,
    core: String,
    is_recommended: bool,
}

impl Dressed {
    fn of(text: &str) -> Self {
        let cleaned = clean(text);
        let rest = without_recommended(&cleaned);
        let (rest, is_recommended) =
            if is_blank(rest) { (cleaned.as_str(), false) } else { (rest, rest.len() < cleaned.len()) };
        let core = without_emoji(rest);
        let emoji = rest.strip_suffix(core).unwrap_or_default();
        Self { emoji: fold_label(emoji).replace(' ', ""), core: fold_label(core), is_recommended }
    }
}
