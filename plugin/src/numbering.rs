//! How the choices of a question are numbered where people read and type them (rulings 13 and 29): the text form shows
//! these marks and a reply is matched against the same ones, so that what is shown always works.

use crate::model::Question;
use crate::text::{Lines, clean, fold, is_blank, is_space, trim};
use unicode_segmentation::UnicodeSegmentation;

/// How the choices of one question are marked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Numbering {
    /// `1.` to `4.`
    Digits,
    /// `a)` to `d)`, where a label reads as a number and digits could mean either.
    Letters {
        /// The mark of the first choice: `a`, or the first letter from which no label is the mark of another choice, as
        /// it would be for the labels `b` and `1`.
        first: char,
    },
}

impl Numbering {
    /// The numbering of a question's choices.
    pub fn of(question: &Question) -> Self {
        let labels: Vec<String> =
            question.choices.iter().map(|choice| clean(&choice.label, Lines::One)).collect();
        if labels.iter().any(|label| reads_as_number(&comparable(Dress::of(label).core))) {
            Self::Letters { first: first_letter(&labels) }
        } else {
            Self::Digits
        }
    }

    /// The mark of the choice at `index` as the text form shows it, such as `2.` or `b)`.
    pub fn mark(self, index: usize) -> String {
        match self {
            Self::Digits => format!("{}.", index + 1),
            Self::Letters { first } => format!("{})", letter(first, index)),
        }
    }

    /// The bare number or letter of the choice at `index`, such as `2` or `b`.
    pub fn name(self, index: usize) -> String {
        match self {
            Self::Digits => (index + 1).to_string(),
            Self::Letters { first } => letter(first, index).to_string(),
        }
    }
}

fn letter(first: char, index: usize) -> char {
    // A question has at most four choices; one with more still gets a mark and never a panic.
    let index = u32::try_from(index).unwrap_or(u32::MAX);
    char::from_u32(u32::from(first).saturating_add(index)).filter(char::is_ascii_lowercase).unwrap_or('z')
}

/// The first letter from which the choices can be marked without a label that is the mark of another choice. Four labels
/// rule out four letters at most, which leaves five in a row somewhere; `a` if there were ever more labels than that.
fn first_letter(labels: &[String]) -> char {
    let taken: Vec<Option<char>> = labels.iter().map(|label| as_letter(Dress::of(label).core)).collect();
    let is_free = |first: &char| {
        let last = u32::from(*first) + u32::try_from(labels.len()).unwrap_or(u32::MAX).saturating_sub(1);
        last <= u32::from('z')
            && taken.iter().enumerate().all(|(index, taken)| {
                taken.is_none_or(|taken| {
                    taken == letter(*first, index) || !(u32::from(*first)..=last).contains(&u32::from(taken))
                })
            })
    };
    ('a'..='z').find(is_free).unwrap_or('a')
}

/// The letter that `text` is, where it is nothing else: `b`, `B`, `b)`, `b.`.
fn as_letter(text: &str) -> Option<char> {
    let folded = comparable(text);
    let bare = folded.strip_suffix(['.', ')', '．', '）']).unwrap_or(&folded);
    let mut letters = bare.chars();
    match (letters.next(), letters.next()) {
        (Some(c @ 'a'..='z'), None) => Some(c),
        _ => None,
    }
}

/// What a label and a typed text are compared by where they need not be the same to the letter: folded, without the
/// selectors that make a symbol colourful and that few keyboards send, and with one lower-case sigma, since which of the
/// two Σ becomes depends on its neighbours.
pub fn comparable(text: &str) -> String {
    fold(text).replace(['\u{fe0e}', '\u{fe0f}'], "").replace('ς', "σ")
}

/// A label and what people leave out when they type it (ruling 13): emoji in front and `(Recommended)` behind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Dress<'l> {
    /// The emoji in front, empty where there are none or nothing else would be left.
    pub emoji: &'l str,
    /// What is left. Never blank unless the label is.
    pub core: &'l str,
    /// Whether `(Recommended)` follows.
    pub recommended: bool,
}

impl<'l> Dress<'l> {
    /// Takes a cleaned label apart.
    pub fn of(label: &'l str) -> Self {
        let label = trim(label);
        let rest = without_recommended(label);
        let (rest, recommended) =
            if is_blank(rest) { (label, false) } else { (rest, rest.len() < label.len()) };
        let emoji: usize = rest
            .graphemes(true)
            .take_while(|cluster| is_emoji(cluster) || cluster.chars().all(is_space))
            .map(str::len)
            .sum();
        match rest.split_at_checked(emoji) {
            Some((emoji, core)) if !is_blank(core) => {
                Self { emoji: trim(emoji), core: trim(core), recommended }
            }
            _ => Self { emoji: "", core: rest, recommended },
        }
    }
}

/// Whether a grapheme cluster is a picture. Wide on purpose: nobody types a symbol back to tell labels apart.
fn is_emoji(cluster: &str) -> bool {
    let picture = |c: char| {
        matches!(c, '\u{1f000}'..='\u{1faff}' | '\u{2600}'..='\u{27bf}' | '\u{2300}'..='\u{23ff}'
            | '\u{2b00}'..='\u{2bff}' | '\u{2190}'..='\u{21ff}' | '\u{25a0}'..='\u{25ff}')
    };
    cluster.starts_with(picture) || cluster.contains(['\u{fe0f}', '\u{20e3}'])
}

/// `(Recommended)` at the end of a label, in any case, and the label without it. It is plain text to us: the label
/// goes back to the agent with it (ruling 13).
pub fn without_recommended(label: &str) -> &str {
    const SUFFIX: &str = "(recommended)";
    let label = trim(label);
    let Some(start) = label.len().checked_sub(SUFFIX.len()) else { return label };
    match label.get(start..) {
        Some(end) if end.eq_ignore_ascii_case(SUFFIX) => trim(&label[..start]),
        _ => label,
    }
}

/// The number that `text` is, where it is nothing else: `2`, `02`, `2.`, `2)`, `#2`, keycap and full-width digits.
/// Saturates; never fails on long input.
pub fn as_number(text: &str) -> Option<u64> {
    let text = trim(text);
    let text = text.strip_prefix(['#', '＃']).unwrap_or(text);
    let text = text.strip_suffix(['.', ')', '．', '）']).unwrap_or(text);
    let mut number: u64 = 0;
    let mut digits = 0;
    let mut rest = text.chars().peekable();
    while let Some(c) = rest.next() {
        let digit = match c {
            '0'..='9' => u64::from(c) - u64::from('0'),
            '０'..='９' => u64::from(c) - u64::from('０'),
            _ => return None,
        };
        number = number.saturating_mul(10).saturating_add(digit);
        digits += 1;
        // A keycap is a digit, an optional variation selector, and the enclosing mark.
        rest.next_if_eq(&'\u{fe0f}');
        rest.next_if_eq(&'\u{20e3}');
    }
    (digits > 0).then_some(number)
}

/// Whether a label reads as a number to a person: then digits in a reply could mean the label or its place.
pub fn reads_as_number(label: &str) -> bool {
    let label = clean(without_recommended(label), Lines::One);
    if as_number(&label).is_some() {
        return true;
    }
    let label = label.strip_prefix(['+', '-', '−', '#']).unwrap_or(&label);
    label.starts_with(|c: char| c.is_ascii_digit())
        && label
            .chars()
            .all(|c| c.is_ascii_digit() || matches!(c, '.' | ',' | '\'' | '_' | ' ' | '\u{a0}' | '\u{202f}'))
}

/// The index of the choice that `text` marks under `numbering`, or how it misses: see [`Marked`].
pub fn marked_choice(question: &Question, text: &str) -> Marked {
    let count = question.choices.len();
    match Numbering::of(question) {
        Numbering::Digits => match as_number(text) {
            Some(number) => match usize::try_from(number) {
                Ok(number) if (1..=count).contains(&number) => Marked::Choice(number - 1),
                _ => Marked::OutOfRange,
            },
            None => Marked::NotAMark,
        },
        Numbering::Letters { first } => as_letter(text)
            .and_then(|c| (0..count).find(|index| letter(first, *index) == c))
            .map_or(Marked::NotAMark, Marked::Choice),
    }
}

/// What a piece of text is, seen as the mark of a choice.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Marked {
    /// The mark of this choice.
    Choice(usize),
    /// A number, but no choice has it.
    OutOfRange,
    /// Something else.
    NotAMark,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Choice;

    fn question(labels: &[&str]) -> Question {
        Question {
            id: "q".into(),
            header: "Q".into(),
            text: "Q?".into(),
            choices: labels
                .iter()
                .map(|label| Choice { label: (*label).into(), description: None })
                .collect(),
            multi_select: None,
            is_other: Some(true),
            is_secret: None,
            url: None,
        }
    }

    #[test]
    fn a_number_is_read_in_every_spelling_the_prompt_suggests() {
        for text in ["2", " 2 ", "02", "2.", "2)", "#2", "2\u{fe0f}\u{20e3}", "2\u{20e3}", "２", "２．"] {
            assert_eq!(as_number(text), Some(2), "{text:?}");
        }
        for text in
            ["", "-1", "+2", "1.5", "1,2", "1e0", "two", "٢", "²", "①", "2 1", "2 of them", "#", ")", "18:30"]
        {
            assert_eq!(as_number(text), None, "{text:?}");
        }
        assert_eq!(as_number("99999999999999999999999999"), Some(u64::MAX));
    }

    #[test]
    fn labels_that_read_as_numbers_are_lettered() {
        let ports = question(&["3000", "8080", "Another one"]);
        assert_eq!(Numbering::of(&ports), Numbering::Letters { first: 'a' });
        assert_eq!(marked_choice(&ports, "B)"), Marked::Choice(1));
        assert_eq!(marked_choice(&ports, "b"), Marked::Choice(1));
        assert_eq!(marked_choice(&ports, "d"), Marked::NotAMark);
        assert_eq!(marked_choice(&ports, "1"), Marked::NotAMark);
        for label in ["2", "1.5", "-3", "1,000", "#4", "2)", "4 (Recommended)", "１２"] {
            assert!(reads_as_number(label), "{label}");
        }
        for label in ["2 weeks", "v2.0", "50%", "Prod", "18:30", "A"] {
            assert!(!reads_as_number(label), "{label}");
        }
    }

    /// The law of ruling 29, where labels are numbers and letters at once: nothing that is shown means two things.
    #[test]
    fn no_label_is_the_mark_of_another_choice() {
        for (labels, first) in [
            (["3000", "8080", "x"], 'a'),
            (["1", "b", "x"], 'a'),
            (["b", "1", "x"], 'b'),
            (["1", "x", "B)"], 'c'),
            (["1", "🚀 a (Recommended)", "c."], 'd'),
            (["🚀 2", "y", "z"], 'a'),
            (["2.\u{fe0f}", "y", "z"], 'a'),
            (["d", "1", "h"], 'a'),
        ] {
            let question = question(&labels);
            assert_eq!(Numbering::of(&question), Numbering::Letters { first }, "{labels:?}");
            for index in 0..labels.len() {
                let numbering = Numbering::of(&question);
                assert_eq!(marked_choice(&question, &numbering.mark(index)), Marked::Choice(index));
                assert_eq!(marked_choice(&question, &numbering.name(index)), Marked::Choice(index));
            }
        }
        assert_eq!(Numbering::of(&question(&["b", "a"])), Numbering::Digits);
    }

    #[test]
    fn emoji_and_recommended_come_off_a_label_but_never_all_of_it() {
        for (label, emoji, core, recommended) in [
            ("🚀 Canary", "🚀", "Canary", false),
            ("🚀🔥 Canary (recommended)", "🚀🔥", "Canary", true),
            ("❤️Love", "❤️", "Love", false),
            ("🇳🇱 Nederland", "🇳🇱", "Nederland", false),
            ("2️⃣ Prod", "2️⃣", "Prod", false),
            ("👍", "", "👍", false),
            ("👍 (Recommended)", "", "👍", true),
            ("(Recommended)", "", "(Recommended)", false),
            ("2 weeks", "", "2 weeks", false),
            ("北京", "", "北京", false),
            ("", "", "", false),
        ] {
            assert_eq!(Dress::of(label), Dress { emoji, core, recommended }, "{label:?}");
        }
    }

    #[test]
    fn numbers_outside_the_range_choose_nothing() {
        let three = question(&["Read", "Run", "Skip"]);
        assert_eq!(marked_choice(&three, "3"), Marked::Choice(2));
        assert_eq!(marked_choice(&three, "0"), Marked::OutOfRange);
        assert_eq!(marked_choice(&three, "4"), Marked::OutOfRange);
        assert_eq!(marked_choice(&three, "99999999999999999999999999"), Marked::OutOfRange);
    }

    #[test]
    fn the_recommended_suffix_comes_off_in_any_case() {
        assert_eq!(without_recommended("Staging (Recommended)"), "Staging");
        assert_eq!(without_recommended("Staging (RECOMMENDED) "), "Staging");
        assert_eq!(without_recommended("Recommended"), "Recommended");
        assert_eq!(without_recommended("İ(recommended)"), "İ");
    }
}
