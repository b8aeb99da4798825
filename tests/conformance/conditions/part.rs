//! Conditions about the answer to one question (rulings 13, 14 and 16).

use super::Condition;
use super::choice::{chooses, has_letters, is_label, is_label_undressed, is_letter, is_number_of_choice};
use super::message::has_control_characters;
use crate::text::{as_number, fold, is_blank, is_digits, is_line_break, lower, trim};
use crate::vectors::Question;

pub(super) const CONDITIONS: &[(&str, Condition)] = &[
    ("a-number-in-another-spelling", Condition::Answer(a_number_in_another_spelling)),
    ("a-label-but-for-white-space-or-folding", Condition::Answer(a_label_but_for_white_space_or_folding)),
    ("a-label-without-its-emoji-or-recommended", Condition::Answer(a_label_without_its_dress)),
    (
        "digits-or-a-letter-where-a-label-reads-as-a-number",
        Condition::Answer(digits_where_a_label_is_a_number),
    ),
    ("the-word-other-alone", Condition::Answer(the_word_other_alone)),
    ("an-answer-with-nothing-to-see", Condition::Answer(nothing_to_see)),
    ("several-choices-between-other-separators", Condition::Answer(other_separators)),
    ("several-choices-of-which-no-part-fits", Condition::Answer(no_part_fits)),
    ("several-choices-of-numbers-with-one-out-of-range", Condition::Answer(a_number_out_of_range)),
    ("several-choices-with-a-label-that-holds-a-separator", Condition::Answer(a_label_with_a_separator)),
    (
        "several-choices-of-a-closed-question-with-a-part-that-does-not-fit",
        Condition::Answer(not_all_parts_fit),
    ),
];

/// Ruling 13: `2.`, `2)`, `#2`, keycap and full-width digits. OpenClaw reads plain digits only.
fn a_number_in_another_spelling(question: &Question, text: &str) -> bool {
    pieces(question, text).any(|piece| !is_digits(piece) && is_number_of_choice(question, piece))
}

/// Ruling 13: white space in and around a label, and which of the two small forms of Σ is typed. OpenClaw compares the
/// label as it was written, in lower case.
fn a_label_but_for_white_space_or_folding(question: &Question, text: &str) -> bool {
    let is_ours_only = |piece: &str| is_label(question, piece) && !is_their_label(question, piece);
    pieces(question, text).any(|piece| is_ours_only(piece) && !has_control_characters(piece))
}

/// Ruling 13: emoji in front of a label and `(Recommended)` behind it need not be typed.
fn a_label_without_its_dress(question: &Question, text: &str) -> bool {
    pieces(question, text).any(|piece| is_label_undressed(question, piece) && !is_label(question, piece))
}

/// Ruling 13: digits mean labels only, and the choices have letters.
fn digits_where_a_label_is_a_number(question: &Question, text: &str) -> bool {
    let count = question.labels.len() as u64;
    let is_place = |piece| is_digits(piece) && as_number(piece).is_some_and(|at| (1..=count).contains(&at));
    has_letters(question) && pieces(question, text).any(|piece| is_place(piece) || is_letter(piece))
}

/// Ruling 13: *Other* asks for the own answer and is never the value.
fn the_word_other_alone(question: &Question, text: &str) -> bool {
    pieces(question, text).any(|piece| {
        matches!(fold(piece).as_str(), "other" | "other…" | "other..." | "other …" | "other ...")
    })
}

/// Ruling 16: what nobody can see is no answer. OpenClaw takes invisible characters for text.
fn nothing_to_see(question: &Question, text: &str) -> bool {
    let is_unseen = |piece: &str| !trim(piece).is_empty() && is_blank(piece);
    is_unseen(text) || (question.is_multi && text.split(is_separator).any(is_unseen))
}

/// Ruling 14: separators of other scripts, and line ends that OpenClaw does not know.
fn other_separators(question: &Question, text: &str) -> bool {
    let lone_return = || text.replace("\r\n", "\n").contains('\r');
    let is_other = |c: char| is_separator(c) && !matches!(c, ',' | ';' | '\n' | '\r');
    question.is_multi && (text.contains(is_other) || lone_return())
}

/// Ruling 14: if no part fits, all of the text is one own answer.
fn no_part_fits(question: &Question, text: &str) -> bool {
    question.is_multi
        && trim(text).contains(is_separator)
        && parts(text).next().is_some()
        && !chooses(question, text)
        && !parts(text).any(|part| chooses(question, part))
}

/// Ruling 14: numbers only, one of them without a choice: a correction. OpenClaw takes that one as own text, or drops it
/// where the question is closed.
fn a_number_out_of_range(question: &Question, text: &str) -> bool {
    question.is_multi
        && !question.labels.is_empty()
        && !has_letters(question)
        && parts(text).all(|part| as_number(part).is_some())
        && parts(text).any(|part| !is_number_of_choice(question, part))
}

/// Ruling 14: the longest label first, so that a label with a comma survives among others.
fn a_label_with_a_separator(question: &Question, text: &str) -> bool {
    question.is_multi
        && text.contains(is_separator)
        && !is_their_label(question, text)
        && question.labels.iter().any(|label| {
            label.contains(is_separator)
                && parts(label).all(|part| parts(text).any(|typed| fold(typed).contains(&fold(part))))
        })
}

/// Rulings 13 and 14: what a closed question does not offer is corrected. OpenClaw takes the rest without a word.
fn not_all_parts_fit(question: &Question, text: &str) -> bool {
    question.is_multi
        && question.is_closed()
        && parts(text).any(|part| chooses(question, part))
        && !parts(text).all(|part| chooses(question, part))
}

/// Whether OpenClaw takes `text` for a label: as it was written, in any case; and to the letter but for white space
/// around it when own text settles the prompt. Among several choices that is too late to take a duplicate out.
fn is_their_label(question: &Question, text: &str) -> bool {
    question.labels.iter().any(|label| {
        label.to_lowercase() == lower(text)
            || (!question.is_closed() && !question.is_multi && trim(label) == trim(text))
    })
}

/// The text, and its parts where a question takes several choices.
fn pieces<'t>(question: &Question, text: &'t str) -> impl Iterator<Item = &'t str> {
    let parts = question.is_multi.then(|| parts(text));
    std::iter::once(trim(text)).chain(parts.into_iter().flatten())
}

fn parts(text: &str) -> impl Iterator<Item = &str> {
    text.split(is_separator).map(trim).filter(|part| !is_blank(part))
}

fn is_separator(c: char) -> bool {
    matches!(c, ',' | ';' | '，' | '；' | '、' | '､' | '﹐' | '﹑' | '﹔' | '،' | '؛') || is_line_break(c)
}
