//! Which controls a prompt gets, and what stands on them (rulings 27 to 30 and 34).

use super::fit::cut;
use super::token::{self, token};
use super::{Binding, BindingTarget, ChoiceRef, Limit};
use crate::catalogue::Language;
use crate::model::{Prompt, Question};
use crate::numbering::{Numbering, without_recommended};
use crate::text::{Lines, clean, fold, is_blank};

/// One control.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Control {
    /// What it shows, in plain text.
    pub label: String,
    /// What it sends.
    pub token: String,
    /// What it does.
    pub target: BindingTarget,
    /// Whether the agent recommends it.
    pub recommended: bool,
    /// What the agent says of the choice, on one line.
    pub description: Option<String>,
}

impl Control {
    /// Whether it is one of the choices.
    pub(super) fn is_choice(&self) -> bool {
        matches!(self.target, BindingTarget::Choice(_))
    }

    /// What the host keeps of it.
    pub(super) fn binding(&self) -> Binding {
        Binding { token: self.token.clone(), target: self.target.clone(), label: self.label.clone() }
    }
}

/// What there is to tap on a service that also has a control for several choices.
pub(super) enum Controls {
    /// A button each.
    Buttons(Vec<Control>),
    /// The choices in one control, and buttons beside it.
    List { choices: Vec<Control>, beside: Vec<Control> },
}

impl Controls {
    /// All of them, in the order in which they are shown.
    pub(super) fn all(&self) -> impl Iterator<Item = &Control> {
        let (first, second) = match self {
            Self::Buttons(buttons) => (buttons.as_slice(), [].as_slice()),
            Self::List { choices, beside } => (choices.as_slice(), beside.as_slice()),
        };
        first.iter().chain(second)
    }

    /// How to use them.
    pub(super) fn how_to<'l>(&self, language: &'l Language) -> &'l str {
        match self {
            Self::Buttons(_) => language.form.hint_tap,
            Self::List { .. } => language.form.hint_list,
        }
    }
}

/// What a service's controls can hold.
#[derive(Clone, Copy)]
pub(super) struct Space {
    /// Longest label.
    pub label: Limit,
    /// What a piece of a label costs once it is written as the service wants it.
    pub cost: fn(&str) -> usize,
    /// Longest token in bytes.
    pub token_bytes: u32,
}

impl Space {
    /// A service that takes a label as it is.
    pub(super) const fn plain(label: Limit, cost: fn(&str) -> usize, token_bytes: u32) -> Self {
        Self { label, cost, token_bytes }
    }

    fn cut(&self, label: &str) -> String {
        cut(label, self.label.most as usize, &self.cost)
    }
}

/// The only question of a prompt, where it may have controls: it has 2 to 4 choices and is not secret.
pub(super) fn only_question(prompt: &Prompt) -> Option<&Question> {
    match prompt.questions.as_slice() {
        [question] if (2..=4).contains(&question.choices.len()) && question.is_secret != Some(true) => {
            Some(question)
        }
        _ => None,
    }
}

/// The controls of a prompt with exactly one single-select question (ruling 28): its choices, *Other…* where own text
/// counts, *Skip*. `None` where only text is possible.
pub(super) fn buttons(prompt: &Prompt, language: &Language, space: &Space) -> Option<Vec<Control>> {
    let question = only_question(prompt).filter(|question| !question.takes_many())?;
    let mut controls = choices(prompt, question, space)?;
    controls.extend(beside(prompt, question, language, space)?);
    Some(controls)
}

/// The choices of a prompt's only question as controls, in their order.
pub(super) fn choices(prompt: &Prompt, question: &Question, space: &Space) -> Option<Vec<Control>> {
    let labels = labels(question, space);
    let controls = labels.into_iter().zip(&question.choices).enumerate().map(|(index, (label, choice))| {
        Some(Control {
            label,
            token: token(&prompt.id, token::Control::Choice(0, index), space.token_bytes as usize)?,
            target: BindingTarget::Choice(ChoiceRef {
                question_id: question.id.clone(),
                index: u32::try_from(index).ok()?,
            }),
            recommended: without_recommended(&choice.label).len() < choice.label.trim().len(),
            description: choice
                .description
                .as_deref()
                .map(|text| clean(text, Lines::One))
                .filter(|text| !text.is_empty()),
        })
    });
    controls.collect()
}

/// What stands beside the choices: *Other…* where own text counts, and *Skip*.
pub(super) fn beside(
    prompt: &Prompt,
    question: &Question,
    language: &Language,
    space: &Space,
) -> Option<Vec<Control>> {
    let control = |label: &str, control, target| {
        let token = token(&prompt.id, control, space.token_bytes as usize)?;
        Some(Control { label: space.cut(label), token, target, recommended: false, description: None })
    };
    let mut controls = Vec::new();
    if question.takes_own_text() {
        let target = BindingTarget::Other(question.id.clone());
        controls.push(control(language.controls.other, token::Control::Other(0), target)?);
    }
    controls.push(control(language.controls.skip, token::Control::Skip, BindingTarget::Skip)?);
    Some(controls)
}

/// The control that submits what is chosen.
pub(super) fn submit(
    prompt: &Prompt,
    question: &Question,
    language: &Language,
    space: &Space,
) -> Option<Control> {
    Some(Control {
        label: space.cut(language.controls.submit),
        token: token(&prompt.id, token::Control::Submit(0), space.token_bytes as usize)?,
        target: BindingTarget::Submit(question.id.clone()),
        recommended: false,
        description: None,
    })
}

/// What stands on the controls of a question's choices. A label that is too long is cut; all of them then begin with
/// the mark by which the text lists the full label. So do labels that look the same, or like one of our own controls.
fn labels(question: &Question, space: &Space) -> Vec<String> {
    let full: Vec<String> = question.choices.iter().map(|choice| clean(&choice.label, Lines::One)).collect();
    let most = space.label.most as usize;
    let seen = |index: usize| full[..index].iter().any(|other| fold(other) == fold(&full[index]));
    let plain = full.iter().enumerate().all(|(index, label)| {
        !is_blank(label) && (space.cost)(label) <= most && !seen(index) && !is_ours(label)
    });
    if plain {
        return full;
    }
    let numbering = Numbering::of(question);
    full.iter()
        .enumerate()
        .map(|(index, label)| {
            let mark = numbering.mark(index);
            if is_blank(label) { mark } else { space.cut(&format!("{mark} {label}")) }
        })
        .collect()
}

/// Whether a label reads as one of our own controls in any language, which the gateway cannot refuse.
fn is_ours(label: &str) -> bool {
    let folded = fold(label);
    crate::catalogue::LANGUAGES
        .iter()
        .flat_map(|language| [language.controls.other, language.controls.skip, language.controls.submit])
        .any(|ours| fold(ours).trim_end_matches('…') == folded.trim_end_matches(['…', '.']))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::catalogue::language;
    use crate::model::{Choice, Origin};
    use crate::text::utf16_len;

    const SPACE: Space = Space::plain(Limit::utf16(20), utf16_len, 64);

    fn prompt(labels: &[&str]) -> Prompt {
        let choices =
            labels.iter().map(|label| Choice { label: (*label).to_owned(), description: None }).collect();
        Prompt {
            id: "ask_1".into(),
            questions: vec![Question {
                id: "q".into(),
                header: "H".into(),
                text: "T?".into(),
                choices,
                multi_select: None,
                is_other: Some(true),
                is_secret: None,
                url: None,
            }],
            origin: Origin::default(),
            created_at: 0,
            expires_at: 1,
            settlement: None,
        }
    }

    fn shown(labels: &[&str]) -> Vec<String> {
        let controls = buttons(&prompt(labels), language(None), &SPACE).unwrap();
        controls.into_iter().map(|control| control.label).collect()
    }

    #[test]
    fn choices_come_in_their_order_with_other_and_skip_behind() {
        assert_eq!(shown(&["Staging", "Production"]), ["Staging", "Production", "Other…", "Skip"]);
    }

    #[test]
    fn b27_labels_that_differ_in_what_is_cut_keep_their_numbers() {
        let start = "a".repeat(110);
        let labels = shown(&[&format!("{start}blue-green"), &format!("{start}all-at-one"), "Short"]);
        assert_eq!(
            labels[..3],
            [format!("1. {}…", &start[..16]), format!("2. {}…", &start[..16]), "3. Short".into()]
        );
    }

    #[test]
    fn labels_that_cannot_be_told_apart_are_numbered() {
        assert_eq!(shown(&["Prod", "prod "])[..2], ["1. Prod", "2. prod"]);
        assert_eq!(shown(&["\u{200b}", "Prod"])[..2], ["1.", "2. Prod"]);
        assert_eq!(shown(&["Skip", "Prod"])[..2], ["1. Skip", "2. Prod"]);
        assert_eq!(shown(&["other...", "1"])[..2], ["a) other...", "b) 1"]);
    }

    #[test]
    fn only_one_single_select_question_of_two_to_four_choices_has_controls() {
        let have = |change: fn(&mut Prompt)| {
            let mut prompt = prompt(&["a", "b"]);
            change(&mut prompt);
            buttons(&prompt, language(None), &SPACE).is_some()
        };
        assert!(have(|_| {}));
        assert!(!have(|prompt| prompt.questions[0].multi_select = Some(true)));
        assert!(!have(|prompt| prompt.questions[0].is_secret = Some(true)));
        assert!(!have(|prompt| prompt.questions.push(prompt.questions[0].clone())));
        assert!(!have(|prompt| prompt.questions[0].choices.truncate(1)));
        assert!(!have(|prompt| prompt.id = "x".repeat(60)));
    }

    #[test]
    fn a_closed_question_has_no_other() {
        let mut closed = prompt(&["a", "b"]);
        closed.questions[0].is_other = None;
        let labels = buttons(&closed, language(Some("nl")), &SPACE).unwrap();
        assert_eq!(
            labels.iter().map(|control| control.label.as_str()).collect::<Vec<_>>(),
            ["a", "b", "Overslaan"]
        );
    }
}
