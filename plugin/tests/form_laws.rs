//! What holds for the text form of every prompt, whatever a model or a gateway client wrote into it.

use ask_user_plugin::catalogue::{LANGUAGES, language};
use ask_user_plugin::channel::form::{status_line, text_form};
use ask_user_plugin::model::{Answer, Outcome, Prompt, Settlement};
use ask_user_plugin::numbering::{Marked, Numbering, marked_choice};
use ask_user_plugin::text::{Lines, clean, is_space};
use proptest::prelude::*;

mod prompts;

use prompts::{prompt, text};

fn locale() -> impl Strategy<Value = &'static str> {
    proptest::sample::select(LANGUAGES.map(|language| language.tag).to_vec())
}

/// Whether a line starts with something like `1.` or `b)`.
fn starts_with_a_mark(line: &str) -> bool {
    let mut start = line.chars();
    matches!(
        (start.next(), start.next(), start.next()),
        (Some('0'..='9' | 'a'..='z'), Some('.' | ')'), None | Some(' '))
    )
}

fn without_isolates(text: &str) -> String {
    text.replace(['\u{2068}', '\u{2069}'], "")
}

fn assert_harmless(text: &str) -> Result<(), TestCaseError> {
    for c in text.chars() {
        prop_assert!(c == '\n' || !c.is_control(), "{c:?} in {text:?}");
        prop_assert!(!matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}' | '\u{2067}'), "{c:?} in {text:?}");
    }
    for line in text.lines() {
        let mut open = false;
        for c in line.chars().filter(|c| matches!(c, '\u{2068}' | '\u{2069}')) {
            prop_assert_eq!(c == '\u{2068}', !open, "isolates are not in pairs in {:?}", line);
            open = !open;
        }
        prop_assert!(!open, "an isolate stays open in {line:?}");
    }
    Ok(())
}

proptest! {

    #[test]
    fn a_form_holds_nothing_that_changes_its_surroundings(prompt in prompt(), locale in locale()) {
        assert_harmless(&text_form(&prompt, language(Some(locale))))?;
    }

    #[test]
    fn every_choice_has_its_own_line_with_a_mark_that_works(prompt in prompt(), locale in locale()) {
        let form = without_isolates(&text_form(&prompt, language(Some(locale))));
        let mut lines = form.lines().filter(|line| starts_with_a_mark(line));
        for question in &prompt.questions {
            for (index, choice) in question.choices.iter().enumerate() {
                let mark = Numbering::of(question).mark(index);
                let line = lines.next().unwrap_or_default();
                let shown = format!("{mark} {}", clean(&choice.label, Lines::One));
                prop_assert!(line.starts_with(shown.trim_end()), "{shown:?} is not in {form:?}");
                prop_assert_eq!(marked_choice(question, &mark), Marked::Choice(index));
            }
        }
        prop_assert_eq!(lines.next(), None, "not a choice, in {:?}", form);
    }

    #[test]
    fn every_word_of_a_question_is_shown(prompt in prompt(), locale in locale()) {
        let form = text_form(&prompt, language(Some(locale)));
        for question in &prompt.questions {
            for line in clean(&question.text, Lines::Many).lines() {
                prop_assert!(form.contains(line.trim_end_matches(is_space)), "{line:?} is not in {form:?}");
            }
        }
    }

    #[test]
    fn what_others_read_never_repeats_what_somebody_typed(prompt in prompt(), own in text(), locale in locale()) {
        let own = format!("{own}⚿{own}");
        let answers = prompt.questions.iter().map(|question| Answer {
            question_id: question.id.clone(),
            values: question.choices.iter().take(1).map(|choice| choice.label.clone()).chain([own.clone()]).collect(),
        });
        let outcome = Outcome::Answered(answers.collect());
        let settlement = Some(Settlement { outcome, at: 1, resolved_by: None, resolution_id: None });
        let settled = Prompt { settlement, ..prompt };
        let shared = status_line(&settled, language(Some(locale)), true).unwrap_or_default();
        assert_harmless(&shared)?;
        assert_harmless(&status_line(&settled, language(Some(locale)), false).unwrap_or_default())?;
        prop_assert_eq!(shared.lines().count(), settled.questions.len());
        prop_assert!(!shared.contains('⚿'), "{shared:?}");
    }
}
