//! The answer to one question in a piece of text, within what the operator allows (rulings 13, 14, 17 and 18).

use super::choice::Choices;
use super::credential::{holds_private_key, looks_like_credential};
use super::several_choices;
use crate::catalogue::{Language, fill};
use crate::model::{CredentialPolicy, Policy};
use crate::numbering::Marked;
use crate::text::{Lines, clean, fold, trim};

/// One value in a reply.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Part<'t> {
    /// The choice at this index.
    Choice(usize),
    /// Own text, as it was typed.
    Own(&'t str),
}

/// Why a piece of text is no answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Problem {
    /// There is nothing in it.
    Nothing,
    /// It names the free-text answer, and the text is still to come.
    OwnTextWanted,
    /// It is own text where only the choices count.
    NotAChoice,
    /// It is a number without a choice.
    OutOfRange,
    /// It looks like a credential.
    Credential {
        /// Whether it goes on in the lines after it.
        in_lines: bool,
    },
    /// It is longer than the operator allows.
    TooLong {
        /// Its bytes.
        received: usize,
        /// The bytes that are possible.
        limit: u32,
    },
}

/// The answer to one question.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Values {
    /// Labels as they were stored, and own text.
    pub(super) values: Vec<String>,
    /// Whether own text looks like a credential and the operator only warns.
    pub(super) is_suspect: bool,
}

/// What the reading of an answer depends on besides the question.
pub(super) struct Rules<'p> {
    /// The language of corrections.
    pub(super) language: &'static Language,
    /// Every language whose words for our controls the person may have seen.
    pub(super) shown: [&'static Language; 2],
    /// What the operator decided.
    pub(super) policy: &'p Policy,
}

impl Rules<'_> {
    /// Whether `text` names the free-text answer as a control does: *Other*, *Other…*, in English or as it was shown.
    fn names_own_answer(&self, text: &str) -> bool {
        let name = |text: &str| {
            let folded = fold(text);
            trim(folded.trim_end_matches(['.', '…'])).to_owned()
        };
        let dots =
            |text: &str| matches!(text.trim_start_matches(|c| !matches!(c, '.' | '…')), "" | "…" | "...");
        dots(trim(text))
            && (name(text) == "other"
                || self.shown.iter().any(|shown| name(text) == name(shown.controls.other)))
    }
}

/// The choices that `text` is made of, where it is made of nothing else.
pub(super) fn choices_only(choices: &Choices<'_>, text: &str) -> Option<Vec<usize>> {
    let chosen = |part: &Part<'_>| match part {
        Part::Choice(index) => Some(*index),
        Part::Own(_) => None,
    };
    parts(choices, text).ok()?.iter().map(chosen).collect()
}

/// Reads `text` as the answer. `line` is what it was taken from: a key in front may be a part of a credential.
pub(super) fn read(
    choices: &Choices<'_>,
    text: &str,
    line: &str,
    rules: &Rules<'_>,
) -> Result<Values, Problem> {
    let refuses = rules.policy.credentials == CredentialPolicy::Refuse;
    let parts = parts(choices, text)?;
    let own: Vec<&str> =
        parts.iter().filter_map(|part| if let Part::Own(text) = part { Some(*text) } else { None }).collect();
    let is_suspect = rules.policy.credentials != CredentialPolicy::Accept
        && !own.is_empty()
        && (own.iter().any(|own| looks_like_credential(own))
            || (line != text && looks_like_credential(line)));
    if is_suspect && refuses {
        return Err(Problem::Credential { in_lines: holds_private_key(&clean(line, Lines::Many)) });
    }
    if !own.is_empty() && !choices.question.takes_own_text() {
        return Err(Problem::NotAChoice);
    }
    if own.iter().any(|own| rules.names_own_answer(own)) {
        return Err(Problem::OwnTextWanted);
    }
    let received = own.iter().map(|own| own.len()).sum();
    if let Some(limit) = rules.policy.own_text_limit
        && usize::try_from(limit).is_ok_and(|limit| received > limit)
    {
        return Err(Problem::TooLong { received, limit });
    }
    let value = |part: &Part<'_>| match part {
        Part::Choice(index) => choices.label(*index).unwrap_or_default().to_owned(),
        Part::Own(text) => (*text).to_owned(),
    };
    Ok(Values { values: parts.iter().map(value).collect(), is_suspect })
}

fn parts<'t>(choices: &Choices<'_>, text: &'t str) -> Result<Vec<Part<'t>>, Problem> {
    if choices.question.takes_many() {
        return several_choices::parts(choices, text);
    }
    Ok(vec![match choices.meant(text) {
        Marked::Choice(index) => Part::Choice(index),
        Marked::OutOfRange | Marked::NotAMark => Part::Own(trim(text)),
    }])
}

impl Problem {
    /// What to tell the person. Nothing of what they typed is repeated.
    pub(super) fn correction(self, choices: &Choices<'_>, language: &Language) -> String {
        let words = &language.corrections;
        match self {
            Self::Nothing | Self::OwnTextWanted if choices.question.takes_own_text() => {
                words.type_own.to_owned()
            }
            Self::Nothing | Self::OwnTextWanted | Self::NotAChoice => {
                format!("{}\n{}", words.only_choices, choices.listed())
            }
            Self::OutOfRange => {
                let (first, last) = choices.range();
                fill(words.out_of_range, &[("first", &first), ("last", &last)])
            }
            Self::Credential { .. } => words.credential.to_owned(),
            Self::TooLong { received, limit } => {
                fill(words.too_long, &[("received", &received.to_string()), ("limit", &limit.to_string())])
            }
        }
    }
}
