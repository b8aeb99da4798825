//! Conditions about the arguments of a call (rulings 1 to 9).

use std::borrow::Cow;

use serde_json::Value;

use super::Condition;
use crate::difference::Place;
use crate::text::{clean, fold, is_blank, is_unclean, trim, utf16_len, without_recommended};
use crate::vectors::is_lone_surrogate;

pub(super) const CONDITIONS: &[(&str, Condition)] = &[
    ("a-lone-surrogate", Condition::Arguments(lone_surrogate)),
    ("arguments-that-our-repairs-mend", Condition::Arguments(|arguments| Mended::of(arguments).is_mended)),
    (
        "a-type-that-openclaw-repairs-in-another-way",
        Condition::Arguments(|arguments| Mended::of(arguments).is_left),
    ),
    ("a-header-of-more-than-12-utf16-units", Condition::Text(|header| utf16_len(trim(header)) > 12)),
    ("a-label-of-65-to-256-utf16-units", Condition::Arguments(long_label)),
    ("labels-equal-but-for-case-white-space-or-recommended", Condition::Arguments(equal_labels)),
    ("a-label-that-is-only-recommended", Condition::Arguments(only_recommended)),
    ("an-option-called-other", Condition::Arguments(called_other)),
    ("text-with-control-characters", Condition::Text(|text| trim(text).contains(is_unclean))),
    ("a-text-with-nothing-to-see", Condition::Arguments(nothing_to_see)),
    ("a-description-with-nothing-to-see", Condition::Text(|text| !trim(text).is_empty() && is_blank(text))),
    (
        "arguments-of-more-than-64-kib",
        Condition::Arguments(|arguments| arguments.to_string().len() > 64 * 1024),
    ),
];

/// The accident of a validator that counts what UTF-8 cannot hold.
fn lone_surrogate(arguments: &Value) -> bool {
    arguments.to_string().contains(is_lone_surrogate)
}

/// Ruling 5: labels may be longer than OpenClaw's 64. It counts what it has trimmed, and we count what we have cleaned.
fn long_label(arguments: &Value) -> bool {
    let is_long = |label: &String| utf16_len(trim(label)) > 64 && utf16_len(&clean(label)) <= 256;
    labels(arguments).iter().flatten().any(is_long)
}

/// Ruling 5: labels of one question differ in more than case, white space and `(Recommended)`.
fn equal_labels(arguments: &Value) -> bool {
    labels(arguments).iter().any(|labels| {
        let folded: Vec<String> =
            labels.iter().map(|label| fold(without_recommended(&clean(label)))).collect();
        folded.iter().enumerate().any(|(at, one)| folded.iter().skip(at + 1).any(|other| one == other))
    })
}

/// Ruling 5: nothing is left of such a label.
fn only_recommended(arguments: &Value) -> bool {
    let is_only = |label: &String| {
        let label = clean(label);
        !is_blank(&label) && is_blank(without_recommended(&label))
    };
    labels(arguments).iter().flatten().any(is_only)
}

/// Ruling 6: the automatic answer has that word.
fn called_other(arguments: &Value) -> bool {
    labels(arguments).iter().flatten().any(|label| {
        let folded = fold(without_recommended(&clean(label)));
        trim(folded.strip_suffix('…').or_else(|| folded.strip_suffix("...")).unwrap_or(&folded)) == "other"
    })
}

/// Ruling 7: a text that nobody can see is blank, though trimming does not empty it. Of a header only the first 12
/// characters are seen.
fn nothing_to_see(arguments: &Value) -> bool {
    let is_unseen = |text: &str| !trim(text).is_empty() && is_blank(text);
    let first = |header: &str| clean(header).chars().take(12).collect::<String>();
    labels(arguments).iter().flatten().any(|label| is_unseen(label))
        || questions(arguments).iter().any(|question| {
            question["question"].as_str().is_some_and(is_unseen)
                || question["header"]
                    .as_str()
                    .is_some_and(|header| is_unseen(header) || is_unseen(&first(header)))
        })
}

/// What our three repairs (ruling 1) find to mend in arguments, and what they leave to OpenClaw's coercion.
#[derive(Default)]
struct Mended {
    is_mended: bool,
    is_left: bool,
}

impl Mended {
    fn of(arguments: &Value) -> Self {
        let mut mended = Self::default();
        if !arguments.is_object() {
            mended.is_left = true;
            return mended;
        }
        mended.timeout(arguments.get("timeoutSeconds"));
        if let Some(value) = arguments.get("questions") {
            mended.is_mended |= value.is_object();
            let questions = questions_in(value);
            mended.list(value, questions.is_some());
            questions
                .iter()
                .flat_map(|questions| questions.iter())
                .for_each(|question| mended.question(question));
        }
        mended
    }

    fn list(&mut self, value: &Value, is_list: bool) {
        self.is_mended |= is_list && value.is_string();
        self.is_left |= !is_list;
    }

    fn question(&mut self, question: &Value) {
        self.members(question, &["id", "header", "question"], Value::is_string);
        self.members(question, &["multiSelect"], Value::is_boolean);
        let Some(value) = question.get("options") else { return };
        let options = array_in(value);
        self.list(value, options.is_some());
        for option in options.iter().flat_map(|options| options.iter()) {
            self.members(option, &["label", "description"], Value::is_string);
        }
    }

    fn members(&mut self, object: &Value, members: &[&str], is_right: impl Fn(&Value) -> bool) {
        let is_wrong = |member: &&str| object.get(member).is_some_and(|value| !is_right(value));
        self.is_left |= !object.is_object() || members.iter().any(is_wrong);
    }

    /// An integer in a string is mended. Coercion wants one that a double holds exactly, and goes on where we stop.
    fn timeout(&mut self, value: Option<&Value>) {
        match value {
            None => {}
            Some(Value::Number(number)) => {
                self.is_left |= number.as_f64().is_none_or(|number| number.fract() != 0.0);
            }
            Some(Value::String(text)) if is_integer(trim(text)) => {
                self.is_mended = true;
                self.is_left |=
                    trim(text).parse::<i64>().map_or(true, |number| number.unsigned_abs() >= 1 << 53);
            }
            Some(_) => self.is_left = true,
        }
    }
}

fn is_integer(text: &str) -> bool {
    let digits = text.strip_prefix('-').unwrap_or(text);
    !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit())
}

fn array_in(value: &Value) -> Option<Cow<'_, [Value]>> {
    match value {
        Value::Array(items) => Some(Cow::Borrowed(items)),
        Value::String(text) => match serde_json::from_str(text) {
            Ok(Value::Array(items)) => Some(Cow::Owned(items)),
            _ => None,
        },
        _ => None,
    }
}

fn questions_in(value: &Value) -> Option<Cow<'_, [Value]>> {
    if value.is_object() { Some(Cow::Borrowed(std::slice::from_ref(value))) } else { array_in(value) }
}

fn questions(arguments: &Value) -> Cow<'_, [Value]> {
    arguments.get("questions").and_then(questions_in).unwrap_or_default()
}

/// The labels of every question.
fn labels(arguments: &Value) -> Vec<Vec<String>> {
    let label = |option: &Value| option["label"].as_str().map(str::to_owned);
    let of = |question: &Value| {
        let options = question.get("options").and_then(array_in).unwrap_or_default();
        options.iter().filter_map(label).collect()
    };
    questions(arguments).iter().map(of).collect()
}

/// Every text that a person would see, with its place in the result, such as `questions[0].options[1].label`.
pub(super) fn texts(arguments: &Value) -> Vec<(Place, String)> {
    let mut texts = Vec::new();
    let mut add = |place: &Place, object: &Value, member: &str| {
        if let Some(text) = object[member].as_str() {
            texts.push((place.member(member), text.to_owned()));
        }
    };
    for (at, question) in questions(arguments).iter().enumerate() {
        let place = Place::default().member("questions").item(at);
        add(&place, question, "header");
        add(&place, question, "question");
        let options = question.get("options").and_then(array_in).unwrap_or_default();
        for (at, option) in options.iter().enumerate() {
            let place = place.member("options").item(at);
            add(&place, option, "label");
            add(&place, option, "description");
        }
    }
    texts
}
