//! The door of the tool: the arguments of one call, as a model sent them, become questions or a list of violations
//! (rulings 1 to 9). Nothing behind this door checks them again.

use std::borrow::Cow;
use std::collections::BTreeMap;

use serde_json::{Map, Value};

use crate::model::{Choice, Question, Rule, Violation};
use crate::numbering::without_recommended;
use crate::text::{Lines, clean, excerpt, first_graphemes, fold, is_blank, trim, utf16_len};
use crate::violations::{Violations, describe, describe_text};

/// Longest arguments, in bytes (ruling 9).
pub(crate) const MAX_BYTES: usize = 64 * 1024;
/// Questions a call (contract).
pub(crate) const QUESTIONS: std::ops::RangeInclusive<usize> = 1..=3;
/// Choices a question (ruling 4).
pub(crate) const OPTIONS: std::ops::RangeInclusive<usize> = 2..=4;
/// Longest label, in UTF-16 units (ruling 5).
pub(crate) const MAX_LABEL: usize = 256;
/// Longest header, in grapheme clusters; a longer one is cut (ruling 3).
pub(crate) const MAX_HEADER: usize = 12;
/// Lifetime when the model does not say (ruling 8), in seconds.
pub(crate) const DEFAULT_TIMEOUT: u64 = 900;
/// Shortest and longest lifetime; anything else is clamped (ruling 8), in seconds.
pub(crate) const TIMEOUT: std::ops::RangeInclusive<u64> = 30..=3600;

/// The arguments of a valid call.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Arguments {
    /// 1 to 3, cleaned, with Other.
    pub(crate) questions: Vec<Question>,
    /// 30 to 3600.
    pub(crate) timeout_seconds: u64,
}

/// Reads the arguments of one call.
pub(crate) fn parse(arguments: &str) -> Result<Arguments, Vec<Violation>> {
    let mut violations = Violations::default();
    let parsed = read(arguments, &mut violations);
    violations.into_result(|| parsed)
}

fn read(arguments: &str, violations: &mut Violations) -> Option<Arguments> {
    if arguments.len() > MAX_BYTES {
        violations.add(
            "arguments",
            Rule::TooLong,
            format!("at most {MAX_BYTES} bytes"),
            format!("{} bytes", arguments.len()),
        );
        return None;
    }
    let value: Value = match serde_json::from_str(arguments) {
        Ok(value) => value,
        Err(error) => {
            violations.add(
                "arguments",
                Rule::Json,
                "a JSON object",
                format!("text that is not JSON ({error})"),
            );
            return None;
        }
    };
    let Value::Object(members) = value else {
        violations.add("arguments", Rule::WrongType, "a JSON object", describe(&value));
        return None;
    };
    let object = Object::new("", &members, &["questions", "timeoutSeconds"], violations);
    let questions = object
        .required("questions", "an array of 1 to 3 questions", violations)
        .and_then(|value| read_questions(value, violations));
    let timeout_seconds = match object.get("timeoutSeconds") {
        None => Some(DEFAULT_TIMEOUT),
        Some(value) => read_timeout(value, violations),
    };
    Some(Arguments { questions: questions?, timeout_seconds: timeout_seconds? })
}

/// A closed object with its place.
struct Object<'a> {
    path: &'a str,
    members: &'a Map<String, Value>,
}

impl<'a> Object<'a> {
    /// Notes every member that is not one of `known`.
    fn new(
        path: &'a str,
        members: &'a Map<String, Value>,
        known: &[&str],
        violations: &mut Violations,
    ) -> Self {
        let object = Self { path, members };
        for (name, value) in members {
            if !known.contains(&name.as_str()) {
                violations.add(
                    object.at(name),
                    Rule::UnknownMember,
                    format!("only the members {}", known.join(", ")),
                    describe(value),
                );
            }
        }
        object
    }

    /// Where a member stands. A name that does not read as one is quoted and shortened.
    fn at(&self, member: &str) -> String {
        let plain = !member.is_empty()
            && member.len() <= 60
            && member.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
        match (plain, self.path) {
            (true, "") => member.to_owned(),
            (true, path) => format!("{path}.{member}"),
            (false, path) => format!("{path}[\"{}\"]", excerpt(member, 60)),
        }
    }

    fn get(&self, member: &str) -> Option<&'a Value> {
        self.members.get(member)
    }

    fn required(&self, member: &str, allowed: &str, violations: &mut Violations) -> Option<&'a Value> {
        let value = self.members.get(member);
        if value.is_none() {
            violations.add(self.at(member), Rule::Missing, allowed, "nothing");
        }
        value
    }

    fn required_text(&self, member: &str, allowed: &str, violations: &mut Violations) -> Option<&'a str> {
        match self.required(member, allowed, violations)? {
            Value::String(text) => Some(text),
            other => {
                violations.add(self.at(member), Rule::WrongType, allowed, describe(other));
                None
            }
        }
    }
}

/// The items of an array; the JSON text of an array is read as that array (ruling 1).
fn array<'a>(value: &'a Value) -> Option<Cow<'a, [Value]>> {
    match value {
        Value::Array(items) => Some(Cow::Borrowed(items)),
        Value::String(text) => match serde_json::from_str(text) {
            Ok(Value::Array(items)) => Some(Cow::Owned(items)),
            _ => None,
        },
        _ => None,
    }
}

fn read_questions(value: &Value, violations: &mut Violations) -> Option<Vec<Question>> {
    const ALLOWED: &str = "an array of 1 to 3 questions";
    let items = match value {
        // One question alone is a list of one (ruling 1).
        Value::Object(_) => Cow::Borrowed(std::slice::from_ref(value)),
        _ => match array(value) {
            Some(items) => items,
            None => {
                violations.add("questions", Rule::WrongType, ALLOWED, describe(value));
                return None;
            }
        },
    };
    if !QUESTIONS.contains(&items.len()) {
        violations.add("questions", Rule::Count, ALLOWED, items.len().to_string());
    }
    let mut first_use = BTreeMap::new();
    let questions: Vec<_> = items
        .iter()
        .enumerate()
        .map(|(index, item)| {
            let path = format!("questions[{index}]");
            let question = read_question(item, &path, violations);
            // A duplicate is worth a word even where the rest of the question is wrong.
            if let Some(id) = item.get("id").and_then(Value::as_str) {
                if let Some(first) = first_use.get(id) {
                    violations.add(
                        format!("{path}.id"),
                        Rule::Duplicate,
                        "an id of its own for every question",
                        format!("{}, as in questions[{first}].id", describe_text(id)),
                    );
                } else {
                    first_use.insert(id.to_owned(), index);
                }
            }
            question
        })
        .collect();
    questions.into_iter().collect()
}

fn read_question(value: &Value, path: &str, violations: &mut Violations) -> Option<Question> {
    let Value::Object(members) = value else {
        violations.add(
            path,
            Rule::WrongType,
            "an object with id, header, question and options",
            describe(value),
        );
        return None;
    };
    let object =
        Object::new(path, members, &["id", "header", "question", "options", "multiSelect"], violations);
    let id = object
        .required_text("id", "a snake_case text such as deploy_target", violations)
        .and_then(|id| read_id(id, &object.at("id"), violations));
    let header = object
        .required_text("header", "a short text, cut to 12 characters", violations)
        .and_then(|header| read_header(header, &object.at("header"), violations));
    let text = object
        .required_text("question", "one sentence", violations)
        .and_then(|text| read_text(text, Lines::Many, &object.at("question"), violations));
    let choices = object
        .required("options", OPTIONS_ALLOWED, violations)
        .and_then(|options| read_options(options, &object.at("options"), violations));
    let multi_select = match object.get("multiSelect") {
        None | Some(Value::Bool(false)) => Some(None),
        Some(Value::Bool(true)) => Some(Some(true)),
        Some(other) => {
            violations.add(object.at("multiSelect"), Rule::WrongType, "true or false", describe(other));
            None
        }
    };
    Some(Question {
        id: id?,
        header: header?,
        text: text?,
        choices: choices?,
        multi_select: multi_select?,
        is_other: Some(true),
        is_secret: None,
        url: None,
    })
}

/// Whether `id` may be an answer key (ruling 2).
pub(crate) fn is_id(id: &str) -> bool {
    let mut bytes = id.bytes();
    bytes.next().is_some_and(|first| first.is_ascii_lowercase())
        && bytes.all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_')
}

fn read_id(id: &str, path: &str, violations: &mut Violations) -> Option<String> {
    if is_id(id) {
        return Some(id.to_owned());
    }
    violations.add(
        path,
        Rule::Pattern,
        "a snake_case text: a lower-case letter, then lower-case letters, digits and underscores",
        describe_text(id),
    );
    None
}

fn read_header(header: &str, path: &str, violations: &mut Violations) -> Option<String> {
    let cleaned = read_text(header, Lines::One, path, violations)?;
    let header = trim(first_graphemes(&cleaned, MAX_HEADER));
    if is_blank(header) {
        violations.add(
            path,
            Rule::Blank,
            "a text that can be seen in its first 12 characters",
            describe_text(&cleaned),
        );
        return None;
    }
    Some(header.to_owned())
}

fn read_text(text: &str, lines: Lines, path: &str, violations: &mut Violations) -> Option<String> {
    if is_blank(text) {
        violations.add(path, Rule::Blank, "a text that is not blank", describe_text(text));
        return None;
    }
    Some(clean(text, lines))
}

const OPTIONS_ALLOWED: &str = "an array of 2 to 4 options; Other is added automatically and does not count";

fn read_options(value: &Value, path: &str, violations: &mut Violations) -> Option<Vec<Choice>> {
    let Some(items) = array(value) else {
        violations.add(path, Rule::WrongType, OPTIONS_ALLOWED, describe(value));
        return None;
    };
    let before = violations.count();
    if !OPTIONS.contains(&items.len()) {
        violations.add(path, Rule::Count, OPTIONS_ALLOWED, items.len().to_string());
    }
    let mut first_use: BTreeMap<String, usize> = BTreeMap::new();
    let choices: Option<Vec<_>> = items
        .iter()
        .enumerate()
        .map(|(index, item)| {
            let path = format!("{path}[{index}]");
            let choice = read_option(item, &path, violations)?;
            let folded = fold(without_recommended(&choice.label));
            if let Some(first) = first_use.get(&folded) {
                violations.add(
                    format!("{path}.label"),
                    Rule::Duplicate,
                    "labels that differ in more than case, white space and (Recommended)",
                    format!("{}, like option {}", describe_text(&choice.label), first + 1),
                );
            } else {
                first_use.insert(folded, index);
            }
            Some(choice)
        })
        .collect::<Vec<_>>()
        .into_iter()
        .collect();
    choices.filter(|_| violations.count() == before)
}

fn read_option(value: &Value, path: &str, violations: &mut Violations) -> Option<Choice> {
    let Value::Object(members) = value else {
        violations.add(
            path,
            Rule::WrongType,
            "an object with a label, such as {\"label\": \"Staging\"}",
            describe(value),
        );
        return None;
    };
    let object = Object::new(path, members, &["label", "description"], violations);
    let label = object
        .required_text("label", "a short text", violations)
        .and_then(|label| read_label(label, &object.at("label"), violations));
    let description = match object.get("description") {
        None => Some(None),
        Some(Value::String(text)) if is_blank(text) => Some(None),
        Some(Value::String(text)) => Some(Some(clean(text, Lines::One))),
        Some(other) => {
            violations.add(object.at("description"), Rule::WrongType, "a text", describe(other));
            None
        }
    };
    Some(Choice { label: label?, description: description? })
}

fn read_label(label: &str, path: &str, violations: &mut Violations) -> Option<String> {
    let label = read_text(label, Lines::One, path, violations)?;
    let units = utf16_len(&label);
    if units > MAX_LABEL {
        violations.add(
            path,
            Rule::TooLong,
            format!("at most {MAX_LABEL} UTF-16 units"),
            format!("{} of {units}", describe_text(&label)),
        );
        return None;
    }
    if is_blank(without_recommended(&label)) {
        violations.add(path, Rule::Blank, "a label beside (Recommended)", describe_text(&label));
        return None;
    }
    if is_other(&label) {
        violations.add(
            path,
            Rule::Reserved,
            "any label but Other: a free-text Other is added automatically",
            describe_text(&label),
        );
        return None;
    }
    Some(label)
}

/// Whether a label is exactly the word that the automatic answer has (ruling 6). Near-synonyms are not guessed at.
fn is_other(label: &str) -> bool {
    let folded = fold(without_recommended(label));
    let word = folded.strip_suffix('…').or_else(|| folded.strip_suffix("...")).unwrap_or(&folded);
    trim(word) == "other"
}

fn read_timeout(value: &Value, violations: &mut Violations) -> Option<u64> {
    let seconds = match value {
        Value::Number(number) => whole_number(number),
        // An integer in a string is read as that integer (ruling 1).
        Value::String(text) => integer_text(text),
        _ => None,
    };
    let Some(seconds) = seconds else {
        violations.add(
            "timeoutSeconds",
            Rule::Integer,
            "a whole number of seconds, clamped to 30 to 3600",
            describe(value),
        );
        return None;
    };
    Some(seconds.clamp(*TIMEOUT.start() as i64, *TIMEOUT.end() as i64) as u64)
}

/// A JSON number without a fraction, in whatever spelling (`900.0`, `9e2`); saturates.
fn whole_number(number: &serde_json::Number) -> Option<i64> {
    if let Some(integer) = number.as_i64() {
        return Some(integer);
    }
    let float = number.as_f64()?;
    // `as` saturates, which is what the clamp needs.
    (float.is_finite() && float.fract() == 0.0).then_some(float as i64)
}

/// Decimal digits with an optional minus; saturates.
fn integer_text(text: &str) -> Option<i64> {
    let text = trim(text);
    let (negative, digits) = match text.strip_prefix('-') {
        Some(digits) => (true, digits),
        None => (false, text),
    };
    if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let value = digits.parse().unwrap_or(i64::MAX);
    Some(if negative { -value } else { value })
}
