//! What a person has done with a prompt so far, and what a key does to it. Knows nothing of a screen but what drawing
//! tells it: which part can be seen.

use crate::contract::{Answer, Prompt, Question};
use crate::text::trim;

use super::field::Field;
use super::keys::Key;
use super::text::is_blank;

/// How a person ends a prompt at the terminal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Action {
    /// The answers, one a question, in the order of the questions.
    Submit(Vec<Answer>),
    /// No answer is wanted (ruling 34).
    Skip,
    /// Ctrl-C: the run that asked is to end (ruling 22).
    Abort,
}

/// Something that can have the focus.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Row {
    /// The choice with this index.
    Choice(usize),
    /// Own text.
    Own,
    /// *Next*, or *Submit* on the last question.
    Forward,
    Back,
    Skip,
}

/// What to tell the person until the next key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Notice {
    /// A choice is missing.
    ChooseOne,
    /// At least one choice is missing.
    ChooseAny,
    /// Own text is missing.
    TypeOwn,
    /// Somebody else's words, such as a correction.
    Message(String),
}

/// Which part of a page that is taller than the screen is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum View {
    /// From this line on. A page starts at its first line, so that the question is read before it is answered.
    From(usize),
    /// Around the focus.
    Focus,
}

/// What drawing found out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Seen {
    /// The first line shown.
    pub(super) top: usize,
    /// The last line that can be the first one shown.
    pub(super) last_top: usize,
    /// How many lines are shown.
    pub(super) height: usize,
    /// Whether any of the row in focus is shown.
    pub(super) focus: bool,
    /// Whether some of it is above the lines shown.
    pub(super) focus_above: bool,
    /// Whether some of it is below the lines shown.
    pub(super) focus_below: bool,
}

impl Seen {
    /// As long as nothing was drawn.
    const ALL: Self =
        Self { top: 0, last_top: 0, height: 1, focus: true, focus_above: false, focus_below: false };
}

/// One question and what was done with it. Kept when the person goes to another question and comes back.
#[derive(Clone, Debug)]
pub(super) struct Page {
    question: Question,
    /// One a choice.
    chosen: Vec<bool>,
    field: Field,
    /// Whether own text is part of the answer. Text that is not stays where it is.
    own_chosen: bool,
    focus: Row,
    /// Whether keys are text. Only with the focus on own text.
    typing: bool,
}

impl Page {
    fn new(question: &Question) -> Self {
        let mut page = Self {
            question: question.clone(),
            chosen: vec![false; question.choices.len()],
            field: Field::default(),
            own_chosen: false,
            focus: Row::Forward,
            typing: false,
        };
        page.focus_on_answer();
        page
    }

    pub(super) fn question(&self) -> &Question {
        &self.question
    }

    pub(super) fn field(&self) -> &Field {
        &self.field
    }

    pub(super) fn focus(&self) -> Row {
        self.focus
    }

    pub(super) fn is_typing(&self) -> bool {
        self.typing
    }

    pub(super) fn takes_many(&self) -> bool {
        self.question.multi_select == Some(true) && !self.question.choices.is_empty()
    }

    /// Whether own text can be given: beside the choices, or because there are none.
    pub(super) fn takes_own(&self) -> bool {
        self.question.is_other == Some(true) || self.question.choices.is_empty()
    }

    /// Whether `row` is part of the answer.
    pub(super) fn is_chosen(&self, row: Row) -> bool {
        match row {
            Row::Choice(index) => self.chosen.get(index).copied().unwrap_or(false),
            Row::Own => self.own_chosen,
            Row::Forward | Row::Back | Row::Skip => false,
        }
    }

    fn is_answered(&self) -> bool {
        self.own_chosen || self.chosen.contains(&true)
    }

    /// The labels as the prompt has them, in the order of the choices, then own text (rulings 14 and 32).
    fn answer(&self) -> Answer {
        let choices = self.question.choices.iter().zip(&self.chosen);
        let mut values: Vec<String> =
            choices.filter(|(_, chosen)| **chosen).map(|(choice, _)| choice.label.clone()).collect();
        let own = trim(self.field.text());
        if self.own_chosen && !values.iter().any(|value| trim(value) == own) {
            values.push(own.to_owned());
        }
        Answer { question_id: self.question.id.clone(), values }
    }

    fn missing(&self) -> Notice {
        if self.question.choices.is_empty() {
            Notice::TypeOwn
        } else if self.takes_many() {
            Notice::ChooseAny
        } else {
            Notice::ChooseOne
        }
    }

    fn set_focus(&mut self, row: Row) {
        self.focus = row;
        self.typing = row == Row::Own;
    }

    fn focus_on_answer(&mut self) {
        let row = match self.chosen.iter().position(|chosen| *chosen) {
            Some(index) => Row::Choice(index),
            None if self.own_chosen || self.question.choices.is_empty() => Row::Own,
            None => Row::Choice(0),
        };
        self.set_focus(row);
    }

    fn choose(&mut self, index: usize) {
        if index >= self.chosen.len() {
            return;
        }
        if self.takes_many() {
            self.chosen[index] = !self.chosen[index];
        } else {
            self.chosen.fill(false);
            self.chosen[index] = true;
            self.own_chosen = false;
        }
    }

    fn choose_own(&mut self) {
        self.own_chosen = !is_blank(self.field.text());
        if self.own_chosen && !self.takes_many() {
            self.chosen.fill(false);
        }
    }

    fn insert(&mut self, text: &str) {
        self.field.insert(text);
        self.choose_own();
    }

    fn has_own_text(&self) -> bool {
        !is_blank(self.field.text())
    }
}

/// A prompt that is being answered.
#[derive(Clone, Debug)]
pub(super) struct Form {
    /// At least one.
    pages: Vec<Page>,
    /// Less than the number of pages.
    step: usize,
    notice: Option<Notice>,
    view: View,
    seen: Seen,
}

impl Form {
    /// Nothing chosen, the first question shown. `None` for a prompt without questions.
    pub(super) fn new(prompt: &Prompt) -> Option<Self> {
        let pages: Vec<Page> = prompt.questions.iter().map(Page::new).collect();
        if pages.is_empty() {
            return None;
        }
        Some(Self { pages, step: 0, notice: None, view: View::From(0), seen: Seen::ALL })
    }

    pub(super) fn page(&self) -> &Page {
        &self.pages[self.step]
    }

    fn page_mut(&mut self) -> &mut Page {
        &mut self.pages[self.step]
    }

    /// The number of the question shown, counted from 1, and how many there are.
    pub(super) fn position(&self) -> (usize, usize) {
        (self.step + 1, self.pages.len())
    }

    pub(super) fn is_last(&self) -> bool {
        self.step + 1 == self.pages.len()
    }

    pub(super) fn notice(&self) -> Option<&Notice> {
        self.notice.as_ref()
    }

    pub(super) fn show_notice(&mut self, notice: Notice) {
        self.notice = Some(notice);
    }

    pub(super) fn view(&self) -> View {
        self.view
    }

    pub(super) fn seen(&self) -> Seen {
        self.seen
    }

    /// Drawing says what can be seen now. Keys go by it: nothing acts on a row out of sight.
    pub(super) fn drawn(&mut self, seen: Seen) {
        self.seen = seen;
    }

    /// The screen has another size: who could see the focus shall not lose it.
    pub(super) fn resized(&mut self) {
        if self.seen.focus {
            self.view = View::Focus;
        }
    }

    /// Whether keys are text, and the person can see where it goes.
    pub(super) fn is_typing_in_sight(&self) -> bool {
        self.page().typing && self.seen.focus
    }

    /// Everything in the order of the focus.
    pub(super) fn rows(&self) -> Vec<Row> {
        let page = self.page();
        let mut rows: Vec<Row> = (0..page.chosen.len()).map(Row::Choice).collect();
        if page.takes_own() {
            rows.push(Row::Own);
        }
        rows.push(Row::Forward);
        if self.step > 0 {
            rows.push(Row::Back);
        }
        rows.push(Row::Skip);
        rows
    }

    /// Own text typed so far that is not blank, question by question, also where a choice has replaced it.
    pub(super) fn own_texts(&self) -> Vec<String> {
        self.pages
            .iter()
            .filter(|page| page.has_own_text())
            .map(|page| trim(page.field.text()).to_owned())
            .collect()
    }

    /// Does what `key` asks for.
    pub(super) fn press(&mut self, key: Key) -> Option<Action> {
        self.notice = None;
        match key {
            Key::Abort => return Some(Action::Abort),
            // Only the focus moves: one key pressed by mistake never ends a prompt.
            Key::Skip => self.focus_on(Row::Skip),
            Key::PageUp => {
                self.view = View::From(self.seen.top.saturating_sub(self.page_height()));
            }
            Key::PageDown => {
                self.view = View::From((self.seen.top + self.page_height()).min(self.seen.last_top));
            }
            Key::Up => self.up(),
            Key::Down => self.down(),
            // First show what would be acted on.
            Key::Enter | Key::NextRow | Key::PreviousRow if !self.seen.focus => {
                self.view = View::Focus;
            }
            Key::Char(' ') if !self.seen.focus && !self.page().typing => self.view = View::Focus,
            Key::NextRow => self.move_focus(1),
            Key::PreviousRow => self.move_focus(-1),
            Key::Enter => return self.enter(),
            Key::Paste(text) => {
                if self.page().takes_own() {
                    self.focus_on(Row::Own);
                    self.page_mut().insert(&text);
                }
            }
            key if self.page().typing => self.edit(key),
            key => self.choose(key),
        }
        None
    }

    /// One line is left over, for the eye to go on from.
    fn page_height(&self) -> usize {
        self.seen.height.saturating_sub(1).max(1)
    }

    fn focus_on(&mut self, row: Row) {
        self.page_mut().set_focus(row);
        self.view = View::Focus;
    }

    /// Up and Down are for reading as long as there is something of the row in focus to be read, or on the way to it, or
    /// above the first row: a mouse wheel sends these keys too. They stop at both ends for the same reason.
    fn up(&mut self) {
        let Seen { top, focus, focus_above, .. } = self.seen;
        let is_first = self.rows().first() == Some(&self.page().focus);
        if focus && !focus_above && !is_first {
            self.move_focus(-1);
        } else if top > 0 {
            self.view = View::From(top - 1);
        }
    }

    fn down(&mut self) {
        let Seen { top, last_top, focus, focus_below, .. } = self.seen;
        let is_last = self.rows().last() == Some(&self.page().focus);
        if focus && !focus_below && !is_last {
            self.move_focus(1);
        } else if top < last_top {
            self.view = View::From(top + 1);
        }
    }

    /// To the next row or the one before, and round at the ends.
    fn move_focus(&mut self, by: isize) {
        let rows = self.rows();
        let focus = self.page().focus;
        let now = rows.iter().position(|row| *row == focus).unwrap_or(0);
        let next = now.checked_add_signed(by).unwrap_or(rows.len() - 1);
        self.focus_on(rows.get(next).copied().unwrap_or(rows[0]));
    }

    fn enter(&mut self) -> Option<Action> {
        let page = self.page_mut();
        match page.focus {
            Row::Skip => return Some(Action::Skip),
            Row::Back => {
                self.go_back();
                return None;
            }
            Row::Own if !page.typing => {
                self.focus_on(Row::Own);
                return None;
            }
            Row::Own if !page.takes_many() => {
                if !page.has_own_text() {
                    self.show_notice(Notice::TypeOwn);
                    return None;
                }
                page.choose_own();
            }
            Row::Choice(index) if !page.takes_many() => page.choose(index),
            // Of several choices Enter changes none; Space does.
            Row::Choice(_) | Row::Own | Row::Forward => {}
        }
        self.go_forward()
    }

    fn go_forward(&mut self) -> Option<Action> {
        if !self.page().is_answered() {
            self.show_notice(self.page().missing());
            return None;
        }
        if !self.is_last() {
            self.turn_to(self.step + 1);
            return None;
        }
        // An answer may have been taken back on the way.
        if let Some(step) = self.pages.iter().position(|page| !page.is_answered()) {
            self.turn_to(step);
            self.show_notice(self.page().missing());
            return None;
        }
        Some(Action::Submit(self.pages.iter().map(Page::answer).collect()))
    }

    fn go_back(&mut self) {
        if self.step > 0 {
            self.turn_to(self.step - 1);
        }
    }

    fn turn_to(&mut self, step: usize) {
        self.step = step;
        self.page_mut().focus_on_answer();
        self.view = View::From(0);
        self.seen = Seen::ALL;
    }

    /// A key while text is typed. In the field a digit is a digit.
    fn edit(&mut self, key: Key) {
        self.view = View::Focus;
        let page = self.page_mut();
        let field = &mut page.field;
        match key {
            Key::Char(c) => return page.insert(c.encode_utf8(&mut [0; 4])),
            Key::NewLine => return page.insert("\n"),
            // What was typed stays.
            Key::Escape => page.typing = false,
            Key::Left => field.left(),
            Key::Right => field.right(),
            Key::WordLeft => field.word_left(),
            Key::WordRight => field.word_right(),
            Key::Home => field.home(),
            Key::End => field.end(),
            Key::Backspace => field.delete_left(),
            Key::Delete => field.delete_right(),
            Key::DeleteWord => field.delete_word(),
            Key::DeleteToStart => field.delete_to_start(),
            Key::DeleteToEnd => field.delete_to_end(),
            _ => {}
        }
        if !page.has_own_text() {
            page.own_chosen = false;
        }
    }

    /// A key while no text is typed.
    fn choose(&mut self, key: Key) {
        match key {
            Key::Left => self.go_back(),
            Key::Right if !self.is_last() => {
                self.go_forward();
            }
            Key::Home => self.focus_on(self.rows()[0]),
            Key::End => self.focus_on(Row::Skip),
            Key::Char(' ') => self.toggle(),
            Key::Char(c) => self.type_or_pick(c),
            _ => {}
        }
    }

    fn toggle(&mut self) {
        let page = self.page_mut();
        match page.focus {
            Row::Choice(index) => page.choose(index),
            Row::Own if !page.has_own_text() => page.set_focus(Row::Own),
            Row::Own if page.own_chosen && page.takes_many() => page.own_chosen = false,
            Row::Own => page.choose_own(),
            Row::Forward | Row::Back | Row::Skip => {}
        }
        self.view = View::Focus;
    }

    /// A digit is the choice that has it, or *Other* after the last one. Other characters mean nothing on a choice, since
    /// whoever types there may think to be elsewhere; on own text that was left they go on with it.
    fn type_or_pick(&mut self, c: char) {
        let page = self.page_mut();
        match digit(c).and_then(|digit| digit.checked_sub(1)) {
            Some(index) if index < page.chosen.len() => {
                page.choose(index);
                self.focus_on(Row::Choice(index));
            }
            Some(index) if index == page.chosen.len() && index > 0 && page.takes_own() => {
                self.focus_on(Row::Own)
            }
            _ if page.focus == Row::Own => {
                page.insert(c.encode_utf8(&mut [0; 4]));
                self.focus_on(Row::Own);
            }
            _ => {}
        }
    }
}

/// The value of a digit, also of a full-width one as input methods type it.
fn digit(c: char) -> Option<usize> {
    let value = match c {
        '0'..='9' => u32::from(c) - u32::from('0'),
        '０'..='９' => u32::from(c) - u32::from('０'),
        _ => return None,
    };
    usize::try_from(value).ok()
}

#[cfg(test)]
mod tests {
    use super::super::sample::{free, prompt, several, single};
    use super::*;
    use crate::contract::Question;

    fn form(questions: Vec<Question>) -> Form {
        Form::new(&prompt(questions)).expect("a question")
    }

    fn press(form: &mut Form, keys: &[Key]) -> Option<Action> {
        let mut action = None;
        for key in keys {
            assert_eq!(action, None, "nothing may follow");
            action = form.press(key.clone());
        }
        action
    }

    fn type_in(form: &mut Form, text: &str) {
        for c in text.chars() {
            assert_eq!(form.press(Key::Char(c)), None);
        }
    }

    fn submitted(values: &[(&str, &[&str])]) -> Option<Action> {
        let answer = |(id, values): &(&str, &[&str])| Answer {
            question_id: (*id).into(),
            values: values.iter().map(|value| (*value).into()).collect(),
        };
        Some(Action::Submit(values.iter().map(answer).collect()))
    }

    #[test]
    fn enter_on_a_choice_answers_with_its_label() {
        let mut form = form(vec![single("q", &["A", "B (Recommended)"])]);
        assert_eq!(press(&mut form, &[Key::Down, Key::Enter]), submitted(&[("q", &["B (Recommended)"])]));
    }

    #[test]
    fn a_label_goes_back_as_the_prompt_has_it() {
        let mut form = form(vec![single("q", &["Keep\r", " Drop\nALL"])]);
        assert_eq!(press(&mut form, &[Key::Char('2'), Key::Enter]), submitted(&[("q", &[" Drop\nALL"])]));
    }

    #[test]
    fn moving_never_chooses_and_never_submits() {
        let mut form = form(vec![single("q", &["A", "B", "C"])]);
        for key in
            [Key::Down, Key::Down, Key::Up, Key::NextRow, Key::PreviousRow, Key::End, Key::Home, Key::Up]
        {
            assert_eq!(form.press(key), None);
        }
        assert!(!form.page().is_answered());
    }

    #[test]
    fn arrows_stop_at_the_ends_and_tab_goes_round() {
        let mut form = form(vec![single("q", &["A", "B"])]);
        press(&mut form, &[Key::Up]);
        assert_eq!(form.page().focus(), Row::Choice(0));
        press(&mut form, &[Key::PreviousRow]);
        assert_eq!(form.page().focus(), Row::Skip);
        press(&mut form, &[Key::Down]);
        assert_eq!(form.page().focus(), Row::Skip);
        press(&mut form, &[Key::NextRow]);
        assert_eq!(form.page().focus(), Row::Choice(0));
    }

    #[test]
    fn a_digit_chooses_and_enter_submits() {
        let mut form = form(vec![single("q", &["A", "B"])]);
        assert_eq!(press(&mut form, &[Key::Char('2')]), None);
        assert!(form.page().is_chosen(Row::Choice(1)));
        assert_eq!(press(&mut form, &[Key::Char('１'), Key::Enter]), submitted(&[("q", &["A"])]));
    }

    #[test]
    fn space_and_a_walk_to_submit_answer_too() {
        let mut form = form(vec![single("q", &["A", "B", "C"])]);
        let keys = [
            Key::Down,
            Key::Down,
            Key::Down,
            Key::Up,
            Key::Char(' '),
            Key::NextRow,
            Key::NextRow,
            Key::Enter,
        ];
        assert_eq!(press(&mut form, &keys), submitted(&[("q", &["C"])]));
    }

    #[test]
    fn the_digit_after_the_last_choice_opens_own_text() {
        let mut form = form(vec![single("q", &["A", "B"])]);
        press(&mut form, &[Key::Char('3')]);
        assert!(form.page().is_typing());
        assert!(!form.page().is_answered());
    }

    #[test]
    fn digits_and_commands_in_own_text_are_text() {
        let mut form = form(vec![single("q", &["A", "B"])]);
        press(&mut form, &[Key::Down, Key::Down]);
        type_in(&mut form, "2 of them s");
        assert_eq!(form.press(Key::Enter), submitted(&[("q", &["2 of them s"])]));
    }

    #[test]
    fn letters_on_a_choice_do_nothing() {
        let mut form = form(vec![single("q", &["A", "B"])]);
        type_in(&mut form, "skip staging");
        assert!(!form.page().has_own_text());
        assert_eq!(form.page().focus(), Row::Choice(0));
    }

    #[test]
    fn own_text_replaces_a_single_choice_and_a_choice_keeps_own_text_for_later() {
        let mut form = form(vec![single("q", &["A", "B"])]);
        press(&mut form, &[Key::Char('1'), Key::Char('3')]);
        assert!(form.page().is_chosen(Row::Choice(0)), "going there is not typing");
        type_in(&mut form, "else");
        assert!(!form.page().is_chosen(Row::Choice(0)));
        press(&mut form, &[Key::Escape, Key::Char('2')]);
        assert!(!form.page().is_chosen(Row::Own));
        assert_eq!(form.page().field().text(), "else");
        assert_eq!(form.press(Key::Enter), submitted(&[("q", &["B"])]));
    }

    #[test]
    fn empty_own_text_is_not_an_answer() {
        let mut form = form(vec![single("q", &["A"])]);
        press(&mut form, &[Key::Down]);
        type_in(&mut form, "  \u{200b}");
        assert_eq!(form.press(Key::Enter), None);
        assert_eq!(form.notice(), Some(&Notice::TypeOwn));
        type_in(&mut form, "x");
        assert_eq!(form.notice(), None);
        press(&mut form, &[Key::Backspace]);
        assert!(!form.page().is_answered());
    }

    #[test]
    fn own_text_is_trimmed() {
        let mut form = form(vec![free("q")]);
        type_in(&mut form, "  5173 ");
        assert_eq!(form.press(Key::Enter), submitted(&[("q", &["5173"])]));
    }

    #[test]
    fn escape_leaves_own_text_and_throws_nothing_away() {
        let mut form = form(vec![single("q", &["A"])]);
        press(&mut form, &[Key::Down]);
        type_in(&mut form, "long text");
        assert_eq!(press(&mut form, &[Key::Escape, Key::Escape, Key::Escape]), None);
        assert!(!form.page().is_typing());
        assert_eq!(form.own_texts(), ["long text"]);
        // Enter goes on typing rather than sending what was left.
        assert_eq!(press(&mut form, &[Key::Enter]), None);
        type_in(&mut form, "!");
        assert_eq!(form.press(Key::Enter), submitted(&[("q", &["long text!"])]));
    }

    #[test]
    fn several_answers_come_in_the_order_of_the_choices_and_own_text_last() {
        let mut form = form(vec![several("q", &["A", "B", "C"])]);
        press(&mut form, &[Key::Char('4')]);
        type_in(&mut form, "and the changelog");
        let keys = [Key::Escape, Key::Char('3'), Key::Char('1'), Key::Enter];
        assert_eq!(press(&mut form, &keys), submitted(&[("q", &["A", "C", "and the changelog"])]));
    }

    #[test]
    fn own_text_alone_answers_a_question_with_several_answers() {
        let mut form = form(vec![several("q", &["A", "B"])]);
        press(&mut form, &[Key::Down, Key::Down]);
        type_in(&mut form, "and the changelog");
        assert_eq!(form.press(Key::Enter), submitted(&[("q", &["and the changelog"])]));
    }

    #[test]
    fn own_text_that_repeats_a_chosen_label_is_sent_once() {
        let mut form = form(vec![several("q", &["A", "B"])]);
        press(&mut form, &[Key::Char('1'), Key::Char('3')]);
        type_in(&mut form, "A ");
        assert_eq!(form.press(Key::Enter), submitted(&[("q", &["A"])]));
    }

    #[test]
    fn of_several_choices_enter_changes_none_and_asks_for_one() {
        let mut form = form(vec![several("q", &["A", "B"])]);
        assert_eq!(form.press(Key::Enter), None);
        assert_eq!(form.notice(), Some(&Notice::ChooseAny));
        press(&mut form, &[Key::Char(' '), Key::Char(' ')]);
        assert_eq!(form.press(Key::Enter), None);
        assert_eq!(press(&mut form, &[Key::Down, Key::Char(' '), Key::Enter]), submitted(&[("q", &["B"])]));
    }

    #[test]
    fn own_text_can_be_left_out_and_kept() {
        let mut form = form(vec![several("q", &["A", "B"])]);
        press(&mut form, &[Key::Char('1'), Key::Char('3')]);
        type_in(&mut form, "perhaps");
        assert_eq!(press(&mut form, &[Key::Escape, Key::Char(' ')]), None);
        assert_eq!(form.own_texts(), ["perhaps"]);
        assert_eq!(press(&mut form, &[Key::Up, Key::Enter]), submitted(&[("q", &["A"])]));
    }

    #[test]
    fn a_closed_question_has_no_own_text() {
        let mut form = form(vec![Question { is_other: None, ..single("q", &["A", "B"]) }]);
        assert!(!form.rows().contains(&Row::Own));
        press(&mut form, &[Key::Char('3'), Key::Paste("C".into())]);
        assert_eq!(form.own_texts(), [""; 0]);
    }

    #[test]
    fn a_question_without_choices_is_typed_at_once() {
        let mut form = form(vec![Question { is_other: None, multi_select: Some(true), ..free("q") }]);
        assert!(form.page().is_typing());
        type_in(&mut form, "1");
        assert_eq!(form.press(Key::Enter), submitted(&[("q", &["1"])]));
    }

    #[test]
    fn what_is_pasted_is_text_and_never_keys() {
        let mut form = form(vec![single("q", &["A", "B"])]);
        assert_eq!(form.press(Key::Paste("1\r\n\u{3}second line\r\n".into())), None);
        assert_eq!(form.press(Key::Enter), submitted(&[("q", &["1\nsecond line"])]));
    }

    #[test]
    fn all_questions_are_submitted_together_at_the_end() {
        let mut form = form(vec![single("a", &["A", "B"]), several("b", &["C", "D"]), free("c")]);
        assert_eq!(press(&mut form, &[Key::Char('2'), Key::Enter]), None);
        assert_eq!(form.position(), (2, 3));
        assert_eq!(press(&mut form, &[Key::Char('1'), Key::Char('2'), Key::Enter]), None);
        type_in(&mut form, "why not");
        assert_eq!(
            form.press(Key::Enter),
            submitted(&[("a", &["B"]), ("b", &["C", "D"]), ("c", &["why not"])])
        );
    }

    #[test]
    fn answers_are_kept_going_back_and_forth() {
        let mut form = form(vec![single("a", &["A", "B"]), free("b")]);
        press(&mut form, &[Key::Char('2'), Key::Enter]);
        type_in(&mut form, "draft");
        press(&mut form, &[Key::Escape, Key::Left]);
        assert_eq!(form.position(), (1, 2));
        assert_eq!(form.page().focus(), Row::Choice(1));
        press(&mut form, &[Key::Right]);
        assert_eq!(form.page().field().text(), "draft");
        assert_eq!(form.press(Key::Enter), submitted(&[("a", &["B"]), ("b", &["draft"])]));
    }

    #[test]
    fn the_back_row_is_there_from_the_second_question_on() {
        let mut form = form(vec![single("a", &["A", "B"]), single("b", &["C", "D"])]);
        assert!(!form.rows().contains(&Row::Back));
        press(&mut form, &[Key::Enter, Key::PreviousRow, Key::PreviousRow]);
        assert_eq!(form.page().focus(), Row::Back);
        press(&mut form, &[Key::Enter]);
        assert_eq!(form.position(), (1, 2));
    }

    #[test]
    fn an_answer_taken_back_on_the_way_is_asked_for_again() {
        let mut form = form(vec![several("a", &["A"]), single("b", &["B"])]);
        press(&mut form, &[Key::Char('1'), Key::Enter, Key::Left, Key::Char('1'), Key::Right]);
        assert_eq!(form.position(), (1, 2));
        assert_eq!(form.notice(), Some(&Notice::ChooseAny));
    }

    #[test]
    fn skipping_takes_two_keys_and_aborting_one() {
        let mut form = form(vec![single("q", &["A"]), free("r")]);
        press(&mut form, &[Key::Enter]);
        type_in(&mut form, "text");
        assert_eq!(form.press(Key::Skip), None);
        assert_eq!(form.page().field().text(), "text");
        assert_eq!(form.press(Key::Enter), Some(Action::Skip));
        assert_eq!(form.press(Key::Abort), Some(Action::Abort));
    }

    #[test]
    fn a_refused_answer_leaves_everything_as_it_was() {
        let mut form = form(vec![free("q")]);
        type_in(&mut form, "secret");
        assert!(form.press(Key::Enter).is_some());
        form.show_notice(Notice::Message("That looks like a password.".into()));
        assert_eq!(form.page().field().text(), "secret");
        press(&mut form, &[Key::DeleteToStart]);
        assert_eq!(form.notice(), None);
    }

    #[test]
    fn what_is_out_of_sight_is_shown_before_it_is_acted_on() {
        let mut form = form(vec![single("q", &["A", "B"])]);
        let out_of_sight = Seen { last_top: 5, height: 4, focus: false, focus_below: true, ..Seen::ALL };
        for key in [Key::Enter, Key::Char(' '), Key::NextRow] {
            form.drawn(out_of_sight);
            assert_eq!(form.press(key), None);
            assert_eq!(form.view(), View::Focus);
            assert_eq!(form.page().focus(), Row::Choice(0));
            assert!(!form.page().is_answered());
        }
        form.drawn(out_of_sight);
        form.press(Key::Down);
        assert_eq!(form.view(), View::From(1));
        form.press(Key::PageDown);
        assert_eq!(form.view(), View::From(3));
    }
}
