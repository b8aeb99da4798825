//! Conditions about a whole reply: what skips or is refused (rulings 7, 17, 18, 34), and which line of it answers which
//! question (ruling 15).

use super::Condition;
use super::choice::chooses;
use crate::text::{as_number, fold, is_blank, is_direction_control, is_line_break, is_space, lower, trim};
use crate::vectors::{Question, is_lone_surrogate};

pub(super) const CONDITIONS: &[(&str, Condition)] = &[
    ("a-lone-surrogate", Condition::Message(|_, reply| reply.contains(is_lone_surrogate))),
    ("control-characters-in-the-reply", Condition::Message(control_characters)),
    ("the-words-that-skip", Condition::Message(|_, reply| fold(reply) == "/skip")),
    ("text-that-looks-like-a-credential", Condition::Message(|_, reply| looks_like_credential(reply))),
    ("more-than-16-kib", Condition::Message(|_, reply| reply.len() > 16 * 1024)),
    ("lines-with-blank-ones-between", Condition::Message(blank_lines_between)),
    ("lines-that-end-in-another-way", Condition::Message(other_line_ends)),
    ("lines-with-numbers-in-front", Condition::Message(numbers_in_front)),
    ("more-lines-than-questions", Condition::Message(more_lines_than_questions)),
    ("a-key-before-another-separator", Condition::Message(another_separator)),
    ("a-number-key-in-another-spelling", Condition::Message(number_key_in_another_spelling)),
    ("a-number-key-as-in-a-time-or-range", Condition::Message(number_key_as_in_a_time)),
    ("a-key-that-holds-a-separator", Condition::Message(key_with_a_separator)),
    ("a-key-but-for-white-space", Condition::Message(key_but_for_white_space)),
    ("a-key-without-a-value", Condition::Message(key_without_a_value)),
    ("a-key-that-questions-share", Condition::Message(shared_key)),
    ("a-question-whose-key-is-in-no-line", Condition::Message(question_without_a_keyed_line)),
    ("the-text-of-a-question-as-its-key", Condition::Message(question_text_as_key)),
    ("a-choice-that-begins-like-a-key", Condition::Message(choice_that_begins_like_a_key)),
];

/// Ruling 7: a matcher cleans what it compares, and a control character ends a line or is not there. White space that
/// everybody trims does not count.
fn control_characters(questions: &[Question], reply: &str) -> bool {
    let names =
        |question: &Question| [question.labels.as_slice(), std::slice::from_ref(&question.header)].concat();
    has_control_characters(reply)
        || questions.iter().flat_map(names).any(|name| has_control_characters(&name))
}

pub(super) fn has_control_characters(text: &str) -> bool {
    text.contains(|c: char| (c.is_control() && !is_space(c)) || is_direction_control(c))
}

/// Ruling 17: the forms of keys that are known well. Enough of them for what a vector would hold.
pub(super) fn looks_like_credential(reply: &str) -> bool {
    const PREFIXES: [&str; 12] = [
        "sk-",
        "sk_live_",
        "ghp_",
        "gho_",
        "github_pat_",
        "glpat-",
        "xoxb-",
        "xoxp-",
        "AKIA",
        "AIza",
        "npm_",
        "hf_",
    ];
    let is_of_key = |c: &char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_');
    let is_key = |prefix: &str| {
        reply.match_indices(prefix).any(|(at, _)| {
            reply
                .get(at + prefix.len()..)
                .is_some_and(|rest| rest.chars().take_while(is_of_key).count() >= 16)
        })
    };
    let is_token =
        || reply.split_whitespace().any(|word| word.contains("eyJ") && word.matches('.').count() == 2);
    (reply.contains("-----BEGIN ") && reply.contains("PRIVATE KEY"))
        || PREFIXES.into_iter().any(is_key)
        || is_token()
}

/// Ruling 15: blank lines do not count. In OpenClaw they take the place of a question's line.
fn blank_lines_between(questions: &[Question], reply: &str) -> bool {
    let theirs: Vec<&str> = reply.split('\n').collect();
    let last = theirs.iter().rposition(|line| !is_blank(line));
    is_several(questions) && last.is_some_and(|last| theirs.iter().take(last).any(|line| is_blank(line)))
}

/// Ruling 15: a carriage return, NEL and the separators of Unicode end a line too.
fn other_line_ends(questions: &[Question], reply: &str) -> bool {
    let reply = reply.replace("\r\n", "\n");
    is_several(questions) && trim(&reply).contains(|c| is_line_break(c) && c != '\n')
}

/// Ruling 15: `1. Prod` answers the first question with `Prod`.
fn numbers_in_front(questions: &[Question], reply: &str) -> bool {
    is_several(questions)
        && lines(reply).any(|line| numbered(line).is_some_and(|(at, _)| at < questions.len()))
}

/// Ruling 15: a line too many is corrected, never dropped.
fn more_lines_than_questions(questions: &[Question], reply: &str) -> bool {
    is_several(questions) && lines(reply).count() > questions.len()
}

/// Ruling 15: full-width colons and equals signs, and dashes, stand after a key as `:`, `=` and `-` do.
fn another_separator(questions: &[Question], reply: &str) -> bool {
    is_any_key(questions, reply, |key| !is_their_separator(key.separator))
}

/// Ruling 15: the number of a question in the spellings of ruling 13.
fn number_key_in_another_spelling(questions: &[Question], reply: &str) -> bool {
    let is_plain = |text: &str| !text.starts_with('0') && text.bytes().all(|byte| byte.is_ascii_digit());
    is_any_key(questions, reply, |key| key.kind == KeyKind::Number && !is_plain(key.text))
}

/// Ruling 15: `1:30` and `2-3 weeks` are answers and no keys, unless other lines show that numbers are keys.
fn number_key_as_in_a_time(questions: &[Question], reply: &str) -> bool {
    is_any_key(questions, reply, |key| {
        key.kind == KeyKind::Number && !key.value.is_empty() && !key.after.starts_with(is_space)
    })
}

/// Ruling 15: a header may hold a separator and is a key all the same.
fn key_with_a_separator(questions: &[Question], reply: &str) -> bool {
    is_any_key(questions, reply, |key| key.kind == KeyKind::Header && key.text.contains(is_separator))
}

/// Rulings 13 and 15: white space within a key does not matter.
fn key_but_for_white_space(questions: &[Question], reply: &str) -> bool {
    is_any_key(questions, reply, |key| {
        key.kind == KeyKind::Header
            && !questions.iter().any(|question| lower(&question.header) == lower(key.text))
    })
}

/// Ruling 15: a key with nothing after it answers nothing; its question is missing.
fn key_without_a_value(questions: &[Question], reply: &str) -> bool {
    is_any_key(questions, reply, |key| is_blank(key.value))
}

/// Ruling 15: a line answers one question. Lines with a header that questions share go to them in turn, and an id comes
/// before a header before a number. In OpenClaw every question looks for a line of its own, and may find the same one.
fn shared_key(questions: &[Question], reply: &str) -> bool {
    is_any_key(questions, reply, |key| {
        let named = names(questions, key.text).map(|(_, named)| named).concat();
        named.iter().any(|one| named.first() != Some(one)) && key.kind != KeyKind::Text
    })
}

/// Ruling 15: a line with a key answers its own question only, and a form applies only if every line fits it. In
/// OpenClaw a question without a key of its own gets whatever line stands at its place.
fn question_without_a_keyed_line(questions: &[Question], reply: &str) -> bool {
    let named: Vec<usize> =
        lines(reply).filter_map(|line| key_of(questions, line)).flat_map(|key| key.questions).collect();
    is_several(questions) && !named.is_empty() && (0..questions.len()).any(|at| !named.contains(&at))
}

/// Ruling 15: a key is an id, a header or a number. In OpenClaw a question's text is one as well.
fn question_text_as_key(questions: &[Question], reply: &str) -> bool {
    is_any_key(questions, reply, |key| key.kind == KeyKind::Text)
}

/// Rulings 13 and 15: what a choice is called is always its own, also where it begins like a key or a number.
fn choice_that_begins_like_a_key(questions: &[Question], reply: &str) -> bool {
    let is_like_a_key = |line: &str| key_of(questions, line).is_some() || numbered(line).is_some();
    is_several(questions)
        && lines(reply)
            .any(|line| is_like_a_key(line) && questions.iter().any(|question| chooses(question, line)))
}

/// Every text that may be the answer to the question at `at`, by OpenClaw's reading or by ours.
pub(super) fn answers_to<'t>(questions: &[Question], at: usize, reply: &'t str) -> Vec<&'t str> {
    if !is_several(questions) {
        return vec![reply];
    }
    let mut texts: Vec<&str> = lines(reply).chain(reply.split('\n').map(trim)).collect();
    for line in lines(reply) {
        texts.extend(keys_of(questions, line).filter(|key| key.questions.contains(&at)).map(|key| key.value));
        texts.extend(numbered(line).filter(|(number, _)| *number == at).map(|(_, value)| value));
    }
    texts
}

fn is_several(questions: &[Question]) -> bool {
    questions.len() > 1
}

/// The lines that are not blank.
fn lines(reply: &str) -> impl Iterator<Item = &str> {
    reply.split(is_line_break).map(trim).filter(|line| !is_blank(line))
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum KeyKind {
    Id,
    Header,
    Number,
    Text,
}

/// A key at the start of a line.
struct Key<'t> {
    text: &'t str,
    kind: KeyKind,
    questions: Vec<usize>,
    separator: char,
    /// What follows the separator, as it stands.
    after: &'t str,
    value: &'t str,
}

fn is_their_separator(c: char) -> bool {
    matches!(c, ':' | '=' | '-')
}

fn is_separator(c: char) -> bool {
    is_their_separator(c) || matches!(c, '：' | '＝' | '–' | '—' | '−' | '－')
}

/// Every reading of the start of a line as a key, the longest first.
fn keys_of<'t>(questions: &[Question], line: &'t str) -> impl Iterator<Item = Key<'t>> {
    let separators: Vec<(usize, char)> = line.char_indices().filter(|(_, c)| is_separator(*c)).collect();
    separators.into_iter().rev().filter_map(move |(at, separator)| {
        let text = trim(line.get(..at)?);
        let (kind, questions) = named(questions, text)?;
        let after = line.get(at + separator.len_utf8()..)?;
        Some(Key { text, kind, questions, separator, after, value: trim(after) })
    })
}

/// The key that a line begins with by ruling 15.
fn key_of<'t>(questions: &[Question], line: &'t str) -> Option<Key<'t>> {
    keys_of(questions, line).find(|key| key.kind != KeyKind::Text)
}

/// What a text names by ruling 15.
fn named(questions: &[Question], text: &str) -> Option<(KeyKind, Vec<usize>)> {
    names(questions, text).into_iter().find(|(_, questions)| !questions.is_empty())
}

/// The questions of which a text is the id, the header, the number or the text.
fn names(questions: &[Question], text: &str) -> [(KeyKind, Vec<usize>); 4] {
    let places = |is_named: &dyn Fn(&Question) -> bool| -> Vec<usize> {
        let all = questions.iter().enumerate().filter(|(_, question)| !is_blank(text) && is_named(question));
        all.map(|(at, _)| at).collect()
    };
    let number = as_number(text).and_then(|number| usize::try_from(number).ok()?.checked_sub(1));
    [
        (KeyKind::Id, places(&|question| fold(&question.id) == fold(text))),
        (KeyKind::Header, places(&|question| fold(&question.header) == fold(text))),
        (KeyKind::Number, number.filter(|at| *at < questions.len()).into_iter().collect()),
        (KeyKind::Text, places(&|question| fold(&question.text) == fold(text))),
    ]
}

fn is_any_key(questions: &[Question], reply: &str, holds: impl Fn(&Key<'_>) -> bool) -> bool {
    is_several(questions) && lines(reply).any(|line| keys_of(questions, line).any(|key| holds(&key)))
}

/// The index and the rest of a line that begins `1.` or `2)`.
fn numbered(line: &str) -> Option<(usize, &str)> {
    let at = line.find(|c: char| !matches!(c, '0'..='9' | '０'..='９'))?;
    let (number, rest) = line.split_at_checked(at)?;
    let value = trim(rest.strip_prefix(['.', ')', '．', '）'])?);
    let number = usize::try_from(as_number(number)?).ok()?;
    (!is_blank(value)).then_some((number.checked_sub(1)?, value))
}
