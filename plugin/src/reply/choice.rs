//! One piece of text against the choices of one question (ruling 13).

use crate::model::{Choice, Question};
use crate::numbering::{Dress, Marked, Numbering, comparable, marked_choice, without_recommended};
use crate::text::{Lines, clean, fold, trim};

/// A question and what its labels are compared by.
pub(super) struct Choices<'q> {
    /// The question.
    pub(super) question: &'q Question,
    labels: Vec<Spelling>,
}

/// What a label or a reply is compared by.
struct Spelling {
    /// To the letter.
    whole: String,
    /// Without case and white space.
    folded: String,
    /// Taken apart.
    emoji: String,
    core: String,
    recommended: bool,
    /// The core with `(Recommended)` where that is there.
    bare: String,
}

impl Spelling {
    fn of(text: &str) -> Self {
        let cleaned = clean(text, Lines::One);
        let dress = Dress::of(&cleaned);
        Self {
            whole: trim(text).to_owned(),
            folded: fold(text),
            emoji: comparable(dress.emoji).replace(' ', ""),
            core: comparable(dress.core),
            recommended: dress.recommended,
            bare: comparable(bare(&cleaned, dress)),
        }
    }

    /// Whether `typed` is this label with some of its dress left out, and none that it does not have.
    fn is_left_of(&self, typed: &Self) -> bool {
        let same_core = self.core == typed.core && (self.recommended || !typed.recommended);
        // The core of a label may end with `(Recommended)` itself.
        (same_core || self.core == typed.bare) && (typed.emoji.is_empty() || typed.emoji == self.emoji)
    }
}

/// A cleaned label without the emoji in front.
fn bare<'l>(label: &'l str, dress: Dress<'_>) -> &'l str {
    trim(label.strip_prefix(dress.emoji).unwrap_or(label))
}

impl<'q> Choices<'q> {
    /// The choices of a question, ready to be compared with.
    pub(super) fn of(question: &'q Question) -> Self {
        let labels = question.choices.iter().map(|choice| Spelling::of(&choice.label)).collect();
        Self { question, labels }
    }

    /// The choice whose label `text` is: to the letter, else but for case and white space, else but for emoji in front
    /// and `(Recommended)` behind, if that fits exactly one.
    ///
    /// Labels come before numbers: what a choice is called is always its own.
    pub(super) fn labelled(&self, text: &str) -> Option<usize> {
        let typed = Spelling::of(text);
        let exactly = self.labels.iter().position(|label| label.whole == typed.whole);
        let folded = || self.labels.iter().position(|label| label.folded == typed.folded);
        let undressed = || {
            let mut fitting = self.labels.iter().enumerate().filter(|(_, label)| label.is_left_of(&typed));
            match (fitting.next(), fitting.next()) {
                (Some((index, _)), None) => Some(index),
                _ => None,
            }
        };
        exactly.or_else(folded).or_else(undressed)
    }

    /// The choice that `text` means by its label or by its mark, or how it misses.
    pub(super) fn meant(&self, text: &str) -> Marked {
        match self.labelled(text) {
            Some(index) => Marked::Choice(index),
            None if self.labels.is_empty() => Marked::NotAMark,
            None => marked_choice(self.question, &clean(text, Lines::One)),
        }
    }

    /// The label of a choice as it was stored: what the agent gets.
    pub(super) fn label(&self, index: usize) -> Option<&'q str> {
        self.question.choices.get(index).map(|choice| choice.label.as_str())
    }

    /// The choices as they can be typed, a line each.
    pub(super) fn listed(&self) -> String {
        let numbering = Numbering::of(self.question);
        let line = |(index, choice): (usize, &Choice)| {
            format!("{} {}", numbering.mark(index), clean(&choice.label, Lines::One))
        };
        self.question.choices.iter().enumerate().map(line).collect::<Vec<_>>().join("\n")
    }

    /// Every way to spell a label, cleaned: with and without its dress. Whether it is all of the label comes with it.
    pub(super) fn spellings(&self) -> Vec<(usize, String, bool)> {
        let mut spellings = Vec::new();
        for (index, choice) in self.question.choices.iter().enumerate() {
            let label = clean(&choice.label, Lines::One);
            let dress = Dress::of(&label);
            let bare = bare(&label, dress);
            let plain = if dress.recommended { without_recommended(&label) } else { &label };
            for spelling in [&label, bare, plain, dress.core] {
                if !spellings.iter().any(|(known, text, _)| *known == index && text == spelling) {
                    spellings.push((index, spelling.to_owned(), spelling.len() == label.len()));
                }
            }
        }
        spellings
    }

    /// The ends of the range of marks as they are shown.
    pub(super) fn range(&self) -> (String, String) {
        let numbering = Numbering::of(self.question);
        (numbering.name(0), numbering.name(self.question.choices.len().saturating_sub(1)))
    }
}
