//! Our own words (ruling 35): everything a person reads that is neither the model's nor the person's own.
//!
//! One file a language. To add one, copy `en.rs`, translate it, and name it in [`LANGUAGES`]; the compiler asks for
//! whatever is missing, and the tests for placeholders that got lost. What the model reads stays English.

mod en;
mod id;
mod nl;

/// The languages we have. The first one is used where none fits.
pub static LANGUAGES: [&Language; 3] = [&en::ENGLISH, &nl::DUTCH, &id::INDONESIAN];

/// All our words in one language. Text in braces stands for something that is filled in.
#[derive(Debug)]
pub struct Language {
    /// BCP 47 tag.
    pub tag: &'static str,
    /// Further primary language subtags that mean this language.
    pub also: &'static [&'static str],
    /// Words on and around controls.
    pub controls: Controls,
    /// Lines of the text form of a prompt.
    pub form: Form,
    /// How a prompt ended.
    pub status: Status,
    /// What to tell a person whose reply cannot be taken.
    pub corrections: Corrections,
    /// What to tell a person after a tap.
    pub feedback: FeedbackWords,
}

/// Words on and around controls.
#[derive(Debug)]
pub struct Controls {
    /// The free-text answer.
    pub other: &'static str,
    /// Where own text is typed.
    pub own_answer: &'static str,
    /// End the prompt without an answer.
    pub skip: &'static str,
    /// The whole message that skips. `/skip` works in every language.
    pub skip_command: &'static str,
    /// Go to the next question.
    pub next: &'static str,
    /// Go to the question before.
    pub back: &'static str,
    /// Submit the answers.
    pub submit: &'static str,
    /// One answer is wanted.
    pub choose_one: &'static str,
    /// Several answers are possible.
    pub choose_any: &'static str,
    /// `{n}` of `{total}` questions.
    pub step: &'static str,
    /// `{seconds}` left.
    pub seconds_left: &'static str,
}

/// Lines of the text form of a prompt.
#[derive(Debug)]
pub struct Form {
    /// First line, one question.
    pub intro_one: &'static str,
    /// First line, `{total}` questions.
    pub intro_many: &'static str,
    /// In front of a question's address.
    pub link: &'static str,
    /// Above the choices, where one is wanted.
    pub choose_one: &'static str,
    /// Above the choices, where several are possible.
    pub choose_any: &'static str,
    /// After the choices, where own words count.
    pub own_words: &'static str,
    /// How to answer one single-select question by number or choice, or in own words.
    pub hint_number: &'static str,
    /// The same where only the choices count.
    pub hint_number_closed: &'static str,
    /// As `hint_number`, where the choices are lettered.
    pub hint_letter: &'static str,
    /// As `hint_number_closed`, where the choices are lettered.
    pub hint_letter_closed: &'static str,
    /// How to choose several; `{example}` is such as `1,3`.
    pub hint_many: &'static str,
    /// How to answer where there are no choices.
    pub hint_free: &'static str,
    /// How to answer several questions; `{example}` is one line of such a reply.
    pub hint_lines: &'static str,
    /// How to skip; `{command}` is the skip command.
    pub hint_skip: &'static str,
    /// How to answer where there are buttons.
    pub hint_tap: &'static str,
    /// How to answer where there is a list to choose from.
    pub hint_list: &'static str,
    /// That only a reply to this very message is seen.
    pub hint_quote: &'static str,
}

/// How a prompt ended.
#[derive(Debug)]
pub struct Status {
    /// It was answered.
    pub answered: &'static str,
    /// It was answered with choices; `{answers}` lists them.
    pub answered_with: &'static str,
    /// It was skipped.
    pub skipped: &'static str,
    /// Its time ran out.
    pub expired: &'static str,
    /// It was called off.
    pub cancelled: &'static str,
    /// It could be shown nowhere.
    pub undeliverable: &'static str,
}

/// What to tell a person whose reply cannot be taken.
#[derive(Debug)]
pub struct Corrections {
    /// They named the free-text answer; the text itself is wanted.
    pub type_own: &'static str,
    /// Only the choices count. The choices follow, a line each.
    pub only_choices: &'static str,
    /// A number without a choice; `{first}` and `{last}` are the ends of the range as shown.
    pub out_of_range: &'static str,
    /// Questions still without an answer; `{missing}` lists them.
    pub missing: &'static str,
    /// More lines than questions: `{lines}` and `{total}`.
    pub too_many_lines: &'static str,
    /// One question was answered twice in one message; `{question}` names it.
    pub answered_twice: &'static str,
    /// In front of a correction that is about one of several questions; `{question}` names it, `{correction}` follows.
    pub about: &'static str,
    /// It looks like a credential and is refused.
    pub credential: &'static str,
    /// It looks like a credential and was taken.
    pub credential_warning: &'static str,
    /// Own text beyond the limit of `{limit}` bytes; it has `{received}`.
    pub too_long: &'static str,
}

/// What to tell a person after a tap.
#[derive(Debug)]
pub struct FeedbackWords {
    /// It came in and is being looked at.
    pub received: &'static str,
    /// The answer counts.
    pub accepted: &'static str,
    /// Somebody answered before.
    pub already_answered: &'static str,
    /// The prompt has expired.
    pub expired: &'static str,
    /// This person may not answer.
    pub not_allowed: &'static str,
    /// Nothing was chosen.
    pub nothing_chosen: &'static str,
    /// It did not work and can be tried again.
    pub try_again: &'static str,
}

/// The language for a BCP 47 tag such as `nl-NL`; English where we have none.
pub fn language(locale: Option<&str>) -> &'static Language {
    let primary = locale.and_then(|tag| tag.split(['-', '_']).next()).unwrap_or_default();
    LANGUAGES
        .into_iter()
        .find(|language| {
            language.tag.eq_ignore_ascii_case(primary)
                || language.also.iter().any(|tag| tag.eq_ignore_ascii_case(primary))
        })
        .unwrap_or(LANGUAGES[0])
}

/// `template` with each `{name}` replaced. What is filled in is not looked at again.
pub fn fill(template: &str, values: &[(&str, &str)]) -> String {
    let mut filled = String::with_capacity(template.len());
    let mut rest = template;
    while let Some(start) = rest.find('{') {
        filled.push_str(&rest[..start]);
        rest = &rest[start..];
        let value = rest.find('}').and_then(|end| {
            let name = &rest[1..end];
            values.iter().find(|(known, _)| *known == name).map(|(_, value)| (*value, end))
        });
        match value {
            Some((value, end)) => {
                filled.push_str(value);
                rest = &rest[end + 1..];
            }
            None => {
                filled.push('{');
                rest = &rest[1..];
            }
        }
    }
    filled.push_str(rest);
    filled
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn a_locale_finds_its_language_and_english_otherwise() {
        for (locale, tag) in [
            (None, "en"),
            (Some("nl"), "nl"),
            (Some("NL-be"), "nl"),
            (Some("id_ID"), "id"),
            (Some("in"), "id"),
            (Some("fr"), "en"),
            (Some(""), "en"),
        ] {
            assert_eq!(language(locale).tag, tag, "{locale:?}");
        }
    }

    #[test]
    fn what_is_filled_in_is_not_looked_at_again() {
        assert_eq!(fill("{a} of {b}", &[("a", "{b}"), ("b", "2")]), "{b} of 2");
        assert_eq!(fill("{c} {", &[("a", "1")]), "{c} {");
    }

    /// The phrases of a language with their names, read off its `Debug` form: whoever adds a field cannot forget it.
    fn phrases(language: &Language) -> Vec<(String, String)> {
        format!("{language:#?}")
            .lines()
            .filter_map(|line| line.trim().trim_end_matches(',').split_once(": \""))
            .map(|(name, text)| (name.to_owned(), text.trim_end_matches('"').to_owned()))
            .collect()
    }

    fn placeholders(text: &str) -> BTreeSet<String> {
        text.split('{')
            .skip(1)
            .filter_map(|part| part.split_once('}'))
            .map(|(name, _)| name.to_owned())
            .collect()
    }

    #[test]
    fn every_language_is_complete_and_keeps_the_placeholders() {
        let english = phrases(LANGUAGES[0]);
        assert!(english.len() > 40, "the phrases were not found");
        for language in &LANGUAGES[1..] {
            let translated = phrases(language);
            assert_eq!(english.len(), translated.len());
            for ((name, original), (_, translation)) in english.iter().zip(&translated) {
                assert!(!translation.trim().is_empty(), "{}: {name} is empty", language.tag);
                assert_eq!(
                    placeholders(original),
                    placeholders(translation),
                    "{}: placeholders of {name}",
                    language.tag
                );
            }
        }
    }

    #[test]
    fn nothing_but_the_tap_hint_speaks_of_tapping() {
        for language in LANGUAGES {
            for (name, text) in phrases(language) {
                let speaks_of_tapping = text
                    .split(|c: char| !c.is_alphabetic())
                    .any(|word| ["tap", "tik", "ketuk"].contains(&word.to_lowercase().as_str()));
                assert_eq!(speaks_of_tapping, name == "hint_tap", "{}: {name}: {text}", language.tag);
            }
        }
    }
}
