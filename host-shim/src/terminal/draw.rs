//! How a form looks. A page is laid out at its full height first; then as much of it is shown as there is room for,
//! between a line about the prompt and a line about the keys. Colours only add to what marks and words say.

use std::ops::Range;

use ratatui::Frame;
use ratatui::layout::{Position, Rect};
use ratatui::style::{Color, Modifier, Style};
use ratatui::text::{Line, Span};

use crate::contract::PhraseBook;

use super::form::{Form, Notice, Page, Row, Seen, View};
use super::text::{Lines, clean, columns, wrap};

/// Between things on one line.
const SEPARATOR: &str = " · ";

/// Longer lines are hard to read.
const LONGEST_LINE: usize = 100;

/// With less room than this beside a mark, text goes below the mark.
const NARROWEST_COLUMN: usize = 8;

/// From this many seconds on the time left asks for attention.
const HURRY: u64 = 30;

/// How things stand out.
#[derive(Clone, Copy, Debug)]
pub(super) struct Palette {
    /// Whether colours may be used at all.
    pub(super) colors: bool,
}

impl Palette {
    fn plain(self) -> Style {
        Style::new()
    }

    fn strong(self) -> Style {
        Style::new().add_modifier(Modifier::BOLD)
    }

    fn faint(self) -> Style {
        Style::new().add_modifier(Modifier::DIM)
    }

    fn focus(self) -> Style {
        self.colored(Color::Cyan)
    }

    fn attention(self) -> Style {
        self.colored(Color::Yellow)
    }

    fn colored(self, color: Color) -> Style {
        if self.colors { self.strong().fg(color) } else { self.strong() }
    }
}

/// Draws `form` on all of `frame` and tells it what can be seen. `left` are the seconds until the prompt expires.
pub(super) fn draw(
    frame: &mut Frame<'_>,
    form: &mut Form,
    phrases: &PhraseBook,
    left: u64,
    palette: Palette,
) {
    let area = frame.area();
    if area.is_empty() {
        return;
    }
    let width = usize::from(area.width);
    let height = usize::from(area.height);
    // Short screens give up what can be done without: first the empty lines, then the keys, then the top.
    let spacing = usize::from(height >= 16);
    let top = (height >= 3).then(|| Top::new(form, phrases, left, width.min(LONGEST_LINE + 2), palette));
    let head = if top.is_some() { 1 + spacing } else { 0 };
    let keys = usize::from(height >= 4);
    let notice = notice(form, phrases, width, height.saturating_sub(head + keys + spacing + 1), palette);
    let room = height - head - keys - spacing - notice.len();

    let gutter = if width >= 20 { 2 } else { 0 };
    let mut body = Body::new((width - gutter).min(LONGEST_LINE), palette);
    let title = top.as_ref().map_or_else(|| title(form, phrases, palette), |top| top.left_over.clone());
    body.heading(form, phrases, &title);
    body.rows(form, phrases);
    let seen = body.seen(form.view(), form.seen().top, room);
    form.drawn(seen);

    let mut canvas = Canvas { frame, area };
    if let Some(top) = top {
        canvas.line(0, &top.line);
    }
    let shown = seen.top..(seen.top + room).min(body.lines.len());
    for (row, line) in body.lines[shown.clone()].iter().enumerate() {
        canvas.line(head + row, line);
    }
    if gutter > 0 {
        let edge = |mark: &'static str| Line::from(Span::styled(mark, palette.strong()));
        if seen.top > 0 {
            canvas.line_at(width - 1, head, &edge("↑"));
        }
        if shown.end < body.lines.len() {
            canvas.line_at(width - 1, head + room - 1, &edge("↓"));
        }
    }
    if shown.contains(&body.cursor.0) {
        canvas.cursor(body.cursor.1, head + body.cursor.0 - seen.top);
    }
    for (row, line) in notice.iter().enumerate() {
        canvas.line(head + room + spacing + row, line);
    }
    if keys > 0 {
        canvas.line(height - 1, &hint(form, phrases, seen.last_top > 0, width, palette));
    }
}

/// The part of the screen that is drawn on, in columns and rows from its own corner.
struct Canvas<'c, 'f> {
    frame: &'c mut Frame<'f>,
    area: Rect,
}

impl Canvas<'_, '_> {
    fn line(&mut self, row: usize, line: &Line<'_>) {
        self.line_at(0, row, line);
    }

    fn line_at(&mut self, column: usize, row: usize, line: &Line<'_>) {
        if let Some(Position { x, y }) = self.place(column, row) {
            self.frame.buffer_mut().set_line(x, y, line, self.area.right() - x);
        }
    }

    fn cursor(&mut self, column: usize, row: usize) {
        let column = column.min(usize::from(self.area.width) - 1);
        if let Some(place) = self.place(column, row) {
            self.frame.set_cursor_position(place);
        }
    }

    fn place(&self, column: usize, row: usize) -> Option<Position> {
        let x = self.area.x.checked_add(u16::try_from(column).ok()?)?;
        let y = self.area.y.checked_add(u16::try_from(row).ok()?)?;
        self.area.contains(Position { x, y }).then_some(Position { x, y })
    }
}

/// The first line: where in the prompt we are, and how long there is.
struct Top {
    line: Line<'static>,
    /// What did not fit, for the page's heading.
    left_over: Vec<Span<'static>>,
}

impl Top {
    fn new(form: &Form, phrases: &PhraseBook, left: u64, width: usize, palette: Palette) -> Self {
        let time = time_left(phrases, left);
        let room = width.saturating_sub(columns(&time));
        let mut used = 0;
        let mut spans = Vec::new();
        let mut left_over = Vec::new();
        for part in title(form, phrases, palette) {
            let separator = if used == 0 { "" } else { SEPARATOR };
            let wide = columns(separator) + columns(&part.content);
            if used + wide + 2 > room {
                left_over.push(part);
                continue;
            }
            used += wide;
            spans.extend([Span::styled(separator, palette.faint()), part]);
        }
        spans.push(Span::raw(" ".repeat(room.saturating_sub(used))));
        spans.push(Span::styled(time, if left < HURRY { palette.attention() } else { palette.faint() }));
        Self { line: Line::from(spans), left_over }
    }
}

/// Which question it is, where there are several, and its header.
fn title(form: &Form, phrases: &PhraseBook, palette: Palette) -> Vec<Span<'static>> {
    let mut parts = Vec::new();
    let (n, total) = form.position();
    if total > 1 {
        let step = phrases.step.replace("{n}", &n.to_string()).replace("{total}", &total.to_string());
        parts.push(Span::styled(step, palette.plain()));
    }
    let header = clean(&form.page().question().header, Lines::One);
    if !header.trim().is_empty() {
        parts.push(Span::styled(header.trim().to_owned(), palette.strong()));
    }
    parts
}

/// Minutes and seconds, and in words when they run out.
fn time_left(phrases: &PhraseBook, left: u64) -> String {
    match left {
        0 => phrases.expired.clone(),
        1..60 => phrases.seconds_left.replace("{seconds}", &left.to_string()),
        _ => format!("{}:{:02}", left / 60, left % 60),
    }
}

/// The lines of the notice, at most `room` of them.
fn notice(
    form: &Form,
    phrases: &PhraseBook,
    width: usize,
    room: usize,
    palette: Palette,
) -> Vec<Line<'static>> {
    let text = match form.notice() {
        None => return Vec::new(),
        Some(Notice::ChooseOne) => &phrases.choose_one,
        Some(Notice::ChooseAny) => &phrases.choose_any,
        Some(Notice::TypeOwn) => &phrases.own_answer,
        Some(Notice::Message(message)) => message,
    };
    let mut body = Body::new(width.min(LONGEST_LINE), palette);
    body.beside(
        vec![Span::styled("! ", palette.attention())],
        &clean(text, Lines::Many),
        palette.attention(),
    );
    let cut = body.lines.len() > room;
    body.lines.truncate(room);
    if let Some(last) = body.lines.last_mut().filter(|_| cut) {
        *last = Line::from(Span::styled("…", palette.attention()));
    }
    body.lines
}

/// The keys that do something now, as many as fit; the least known ones stay the longest.
fn hint(form: &Form, phrases: &PhraseBook, scrolls: bool, width: usize, palette: Palette) -> Line<'static> {
    let page = form.page();
    let typing = page.is_typing();
    let enter = match page.focus() {
        Row::Own if !typing => &phrases.own_answer,
        Row::Back => &phrases.back,
        Row::Skip => &phrases.skip,
        _ => forward(form, phrases),
    };
    let choices = page.question().choices.len();
    let digits = choices + usize::from(page.takes_own());
    let toggle = if page.takes_many() { "Space [x]" } else { "Space (•)" };
    let (position, _) = form.position();
    // In the order shown, each with its place in the order of importance.
    let keys = [
        (true, 4, "↑↓".to_owned()),
        (choices > 0 && !typing, 5, format!("1-{}", digits.min(9))),
        (choices > 0 && !typing, 3, toggle.to_owned()),
        (typing, 3, "Esc".to_owned()),
        (true, 0, format!("Enter {enter}")),
        (position > 1 && !typing, 6, format!("← {}", phrases.back)),
        (scrolls, 2, "PgUp PgDn".to_owned()),
        (true, 1, format!("Ctrl-S {}", phrases.skip)),
        (true, 7, "Ctrl-C ✕".to_owned()),
    ];
    let mut by_importance: Vec<usize> = (0..keys.len()).filter(|index| keys[*index].0).collect();
    by_importance.sort_by_key(|index| keys[*index].1);
    let mut used = 0;
    let mut fitting = Vec::new();
    for index in by_importance {
        let separator = if fitting.is_empty() { 0 } else { columns(SEPARATOR) };
        let wide = separator + columns(&keys[index].2);
        if used + wide <= width {
            used += wide;
            fitting.push(index);
        }
    }
    fitting.sort_unstable();
    let words: Vec<&str> = fitting.iter().map(|index| keys[*index].2.as_str()).collect();
    Line::from(Span::styled(words.join(SEPARATOR), palette.faint()))
}

/// What going on is called here.
fn forward<'p>(form: &Form, phrases: &'p PhraseBook) -> &'p str {
    if form.is_last() { &phrases.submit } else { &phrases.next }
}

/// A page at its full height.
struct Body {
    width: usize,
    palette: Palette,
    lines: Vec<Line<'static>>,
    /// The row in focus with all that belongs to it.
    focus: Range<usize>,
    /// Where the cursor is, line and column: in the text that is typed, or on the mark of the focus, where screen readers
    /// look for it.
    cursor: (usize, usize),
}

impl Body {
    fn new(width: usize, palette: Palette) -> Self {
        Self { width, palette, lines: Vec::new(), focus: 0..0, cursor: (0, 0) }
    }

    /// What stands above the rows.
    fn heading(&mut self, form: &Form, phrases: &PhraseBook, title: &[Span<'static>]) {
        for part in title {
            self.paragraph(&part.content, part.style);
        }
        let question = form.page().question();
        self.paragraph(clean(&question.text, Lines::Many).trim_end(), self.palette.strong());
        if let Some(url) = &question.url {
            self.paragraph(&clean(url, Lines::One), self.palette.plain());
        }
        self.gap();
        if !question.choices.is_empty() {
            let words = if form.page().takes_many() { &phrases.choose_any } else { &phrases.choose_one };
            self.paragraph(words, self.palette.faint());
        }
    }

    fn rows(&mut self, form: &Form, phrases: &PhraseBook) {
        let page = form.page();
        for row in form.rows() {
            let start = self.lines.len();
            let focused = page.focus() == row;
            if focused {
                self.cursor = (start, 0);
            }
            match row {
                Row::Choice(index) => self.choice(page, index),
                Row::Own => self.own(page, phrases),
                Row::Forward => {
                    self.gap();
                    self.button(page, row, forward(form, phrases));
                }
                Row::Back => self.button(page, row, &phrases.back),
                Row::Skip => self.button(page, row, &phrases.skip),
            }
            if focused {
                self.focus = start..self.lines.len();
            }
        }
    }

    fn choice(&mut self, page: &Page, index: usize) {
        let Some(choice) = page.question().choices.get(index) else { return };
        let row = Row::Choice(index);
        let label = clean(&choice.label, Lines::One);
        let indent = self.beside(self.marks(page, row, Some(index)), label.trim(), self.style(page, row));
        if let Some(description) = &choice.description {
            let description = clean(description, Lines::One);
            self.beside(vec![Span::raw(" ".repeat(indent))], description.trim(), self.palette.faint());
        }
    }

    fn own(&mut self, page: &Page, phrases: &PhraseBook) {
        let style = self.style(page, Row::Own);
        let indent = if page.question().choices.is_empty() {
            self.beside(self.marks(page, Row::Own, None), &phrases.own_answer, style)
        } else {
            let number = page.question().choices.len();
            self.beside(self.marks(page, Row::Own, Some(number)), &phrases.other, style)
        };
        if page.is_typing() || !page.field().text().is_empty() || page.question().choices.is_empty() {
            self.field(page, phrases, indent);
        }
    }

    fn field(&mut self, page: &Page, phrases: &PhraseBook, indent: usize) {
        const EDGE: &str = "│ ";
        let style = if page.is_typing() { self.palette.focus() } else { self.palette.faint() };
        let mut margin = vec![Span::raw(" ".repeat(indent)), Span::styled(EDGE, style)];
        let mut used = indent + columns(EDGE);
        if used + NARROWEST_COLUMN > self.width {
            margin.clear();
            used = 0;
        }
        let (text, cursor) = (page.field().text(), page.field().cursor());
        // One column is left for a cursor behind the last character.
        let room = self.width.saturating_sub(used + 1).max(1);
        for line in wrap(text, room) {
            if page.is_typing() && line.start <= cursor {
                let column = columns(&text[line.start..cursor.min(line.end)]).min(room);
                self.cursor = (self.lines.len(), used + column);
            }
            let mut spans = margin.clone();
            spans.push(Span::raw(text[line].to_owned()));
            self.lines.push(Line::from(spans));
        }
        if text.is_empty() && !page.question().choices.is_empty() {
            // In the line that the empty text has taken already.
            let placeholder = Span::styled(phrases.own_answer.clone(), self.palette.faint());
            if let Some(line) = self.lines.last_mut() {
                line.push_span(placeholder);
            }
        }
    }

    fn button(&mut self, page: &Page, row: Row, words: &str) {
        self.beside(self.marks(page, row, None), words, self.style(page, row));
    }

    /// What is in front of a row: whether it has the focus, whether it is chosen, and its digit.
    fn marks(&self, page: &Page, row: Row, number: Option<usize>) -> Vec<Span<'static>> {
        let style = self.style(page, row);
        let mut marks = vec![Span::styled(if page.focus() == row { "› " } else { "  " }, style)];
        let Some(number) = number else { return marks };
        let chosen = match (page.takes_many(), page.is_chosen(row)) {
            (true, true) => "[x] ",
            (true, false) => "[ ] ",
            (false, true) => "(•) ",
            (false, false) => "( ) ",
        };
        marks.push(Span::styled(chosen, style));
        // There is no key for more than nine.
        marks.push(Span::styled(if number < 9 { format!("{}. ", number + 1) } else { "   ".into() }, style));
        marks
    }

    fn style(&self, page: &Page, row: Row) -> Style {
        if page.focus() == row { self.palette.focus() } else { self.palette.plain() }
    }

    /// `text` to the right of `marks`, or below them where it is too narrow for that. Gives the column of the text.
    fn beside(&mut self, marks: Vec<Span<'static>>, text: &str, style: Style) -> usize {
        let indent: usize = marks.iter().map(|mark| columns(&mark.content)).sum();
        if indent + NARROWEST_COLUMN > self.width {
            let marks: String = marks.iter().map(|mark| mark.content.as_ref()).collect();
            if !marks.trim().is_empty() {
                self.paragraph(marks.trim_end(), style);
            }
            self.paragraph(text, style);
            return 0;
        }
        let mut margin = marks;
        for line in wrap(text, self.width - indent) {
            margin.push(Span::styled(text[line].trim_end().to_owned(), style));
            self.lines.push(Line::from(std::mem::replace(&mut margin, vec![Span::raw(" ".repeat(indent))])));
        }
        indent
    }

    fn paragraph(&mut self, text: &str, style: Style) {
        for line in wrap(text, self.width) {
            self.lines.push(Line::from(Span::styled(text[line].trim_end().to_owned(), style)));
        }
    }

    fn gap(&mut self) {
        self.lines.push(Line::default());
    }

    /// Which lines are shown where there is room for `room`, `before` having been the first one until now.
    fn seen(&self, view: View, before: usize, room: usize) -> Seen {
        let last_top = self.lines.len().saturating_sub(room);
        let cursor = self.cursor.0..self.cursor.0 + 1;
        let top = match view {
            View::From(line) => line.min(last_top),
            View::Focus => {
                let shown = [self.focus.clone(), cursor.clone()];
                shown.iter().fold(before.min(last_top), |top, lines| {
                    let top = top.max(lines.end.saturating_sub(room));
                    top.min(lines.start)
                })
            }
        };
        let focus = if self.cursor.0 == self.focus.start { &self.focus } else { &cursor };
        Seen {
            top,
            last_top,
            height: room,
            focus: focus.start < top + room && top < focus.end,
            focus_above: focus.start < top,
            focus_below: focus.end > top + room,
        }
    }
}

#[cfg(test)]
mod tests {
    use ratatui::Terminal;
    use ratatui::backend::TestBackend;

    use super::super::keys::Key;
    use super::super::sample::{english, free, prompt, several, single, target};
    use super::*;
    use crate::contract::{Choice, Prompt};

    struct Shown {
        form: Form,
        terminal: Terminal<TestBackend>,
        left: u64,
    }

    impl Shown {
        fn new(prompt: &Prompt, width: u16, height: u16) -> Self {
            let form = Form::new(prompt).expect("a question");
            let terminal = Terminal::new(TestBackend::new(width, height)).expect("a screen");
            let mut shown = Self { form, terminal, left: 899 };
            shown.draw();
            shown
        }

        fn draw(&mut self) {
            let Self { form, terminal, left } = self;
            let palette = Palette { colors: true };
            terminal.draw(|frame| draw(frame, form, &english(), *left, palette)).expect("drawn");
        }

        fn press(&mut self, keys: &[Key]) -> &mut Self {
            for key in keys {
                self.form.press(key.clone());
                self.draw();
            }
            self
        }

        fn cursor(&mut self) -> (u16, u16) {
            let Position { x, y } = self.terminal.get_cursor_position().expect("a cursor");
            (x, y)
        }

        fn text(&self) -> String {
            let buffer = self.terminal.backend().buffer();
            let width = usize::from(buffer.area.width);
            let mut text = String::new();
            for row in buffer.content().chunks(width) {
                let mut line = String::new();
                let mut skip = 0;
                for cell in row {
                    if skip == 0 {
                        line.push_str(cell.symbol());
                        skip = columns(cell.symbol());
                    }
                    skip = usize::saturating_sub(skip, 1);
                }
                text.push_str(line.trim_end());
                text.push('\n');
            }
            text
        }
    }

    /// The words on the screen, from the first to the last line.
    fn words(shown: &Shown) -> Vec<String> {
        shown.text().split_whitespace().map(str::to_owned).collect()
    }

    fn golden(shown: &Shown, expected: &str) {
        let text = shown.text();
        assert_eq!(text, expected.trim_start_matches('\n'), "\n{text}");
    }

    #[test]
    fn one_question() {
        let mut shown = Shown::new(&prompt(vec![target()]), 64, 16);
        golden(
            &shown,
            "
Target                                                     14:59

Where should this build go?

Choose one
› ( ) 1. Staging (Recommended)
         Safe to break; nobody but us looks at it.
  ( ) 2. Production
  ( ) 3. Other…

  Submit
  Skip



↑↓ · 1-3 · Space (•) · Enter Submit · Ctrl-S Skip · Ctrl-C ✕
",
        );
        shown.left = 29;
        shown.press(&[Key::Char('2'), Key::Char('3')]);
        golden(
            &shown,
            "
Target                                                 29 s left

Where should this build go?

Choose one
  ( ) 1. Staging (Recommended)
         Safe to break; nobody but us looks at it.
  (•) 2. Production
› ( ) 3. Other…
         │ Your own answer

  Submit
  Skip


↑↓ · Esc · Enter Submit · Ctrl-S Skip · Ctrl-C ✕
",
        );
        assert_eq!(shown.cursor(), (11, 9));
        shown.press(&[Key::Paste("to the first\nfree machine".into()), Key::Left]);
        golden(
            &shown,
            "
Target                                                 29 s left

Where should this build go?

Choose one
  ( ) 1. Staging (Recommended)
         Safe to break; nobody but us looks at it.
  ( ) 2. Production
› (•) 3. Other…
         │ to the first
         │ free machine

  Submit
  Skip

↑↓ · Esc · Enter Submit · Ctrl-S Skip · Ctrl-C ✕
",
        );
        assert_eq!(shown.cursor(), (22, 10));
    }

    #[test]
    fn several_answers() {
        let mut shown = Shown::new(&prompt(vec![several("suite", &["Unit", "Integration", "Load"])]), 60, 12);
        shown.press(&[Key::Enter]);
        golden(
            &shown,
            "
suite                                                  14:59
Which suite?

Choose one or more
› [ ] 1. Unit
  [ ] 2. Integration
  [ ] 3. Load
  [ ] 4. Other…

  Submit                                                   ↓
! Choose one or more
↑↓ · Space [x] · Enter Submit · PgUp PgDn · Ctrl-S Skip
",
        );
        shown.press(&[Key::Char('1'), Key::Char('3')]);
        golden(
            &shown,
            "
suite                                                  14:59
Which suite?

Choose one or more
  [x] 1. Unit
  [ ] 2. Integration
› [x] 3. Load
  [ ] 4. Other…

  Submit
  Skip
↑↓ · 1-4 · Space [x] · Enter Submit · Ctrl-S Skip · Ctrl-C ✕
",
        );
    }

    #[test]
    fn three_questions() {
        let questions = vec![target(), several("suite", &["Unit", "Load"]), free("reason")];
        let mut shown = Shown::new(&prompt(questions), 64, 13);
        shown.press(&[Key::Enter]);
        golden(
            &shown,
            "
Question 2 of 3 · suite                                    14:59
Which suite?

Choose one or more
› [ ] 1. Unit
  [ ] 2. Load
  [ ] 3. Other…

  Next
  Back
  Skip

↑↓ · 1-3 · Space [x] · Enter Next · ← Back · Ctrl-S Skip
",
        );
        shown.press(&[Key::Char(' '), Key::Enter, Key::Char('4')]);
        golden(
            &shown,
            "
Question 3 of 3 · reason                                   14:59
Which reason?

› Your own answer
  │ 4

  Submit
  Back
  Skip



↑↓ · Esc · Enter Submit · Ctrl-S Skip · Ctrl-C ✕
",
        );
    }

    #[test]
    fn wide_characters_keep_their_columns() {
        let mut question = single("q", &["部署到生产环境，然后通知所有人", "👩‍🚀 Staging", "הפצה"]);
        question.header = "部署目标".into();
        question.text = "这个版本应该部署到哪里？请选择一个环境。".into();
        let mut shown = Shown::new(&prompt(vec![question]), 30, 15);
        shown.press(&[Key::Char('4'), Key::Paste("日本語🎉e\u{301}".into())]);
        golden(
            &shown,
            "
部署目标                 14:59
这个版本应该部署到哪里？请选
择一个环境。

Choose one
  ( ) 1. 部署到生产环境，然
         后通知所有人
  ( ) 2. 👩‍🚀 Staging
  ( ) 3. הפצה
› (•) 4. Other…
         │ 日本語🎉e\u{301}

  Submit
  Skip
Enter Submit · Ctrl-S Skip
",
        );
        assert_eq!(shown.cursor(), (20, 10));
    }

    #[test]
    fn text_of_the_model_commands_nothing() {
        let mut question = single("q", &["Keep\r", "Drop\nALL\u{1b}[31m"]);
        question.header = "a\u{202e}b".into();
        question.text = "first\u{1b}[2K\nsecond\tline".into();
        let shown = Shown::new(&prompt(vec![question]), 40, 11);
        golden(
            &shown,
            "
ab                                 14:59
first[2K
second line

Choose one
› ( ) 1. Keep
  ( ) 2. Drop ALL[31m
  ( ) 3. Other…

  Submit                               ↓
Enter Submit · PgUp PgDn · Ctrl-S Skip
",
        );
    }

    fn long() -> Prompt {
        let numbered =
            |name: &str, count: usize| (0..count).map(|n| format!("{name}{n}")).collect::<Vec<_>>().join(" ");
        let mut question = single("long", &[&numbered("first", 30), &numbered("second", 30)]);
        question.text = numbered("question", 100);
        for (index, Choice { description, .. }) in question.choices.iter_mut().enumerate() {
            *description = Some(numbered(&format!("about{index}-"), 50));
        }
        prompt(vec![question])
    }

    #[test]
    fn a_long_page_starts_at_its_start_and_shows_the_focus_before_it_acts() {
        let mut shown = Shown::new(&long(), 40, 12);
        assert!(shown.text().contains("question0 "));
        shown.press(&[Key::Enter]);
        assert!(shown.text().contains("› ( ) 1. first0"), "{}", shown.text());
        assert!(!shown.form.page().is_chosen(Row::Choice(0)));
        // Down reads the rest of a row that is taller than the screen before it leaves it.
        let mut keys = 0;
        while !shown.text().contains("about0-49") {
            shown.press(&[Key::Down]);
            assert_eq!(shown.form.page().focus(), Row::Choice(0));
            keys += 1;
        }
        assert!(keys > 1);
        shown.press(&[Key::Down]);
        assert!(shown.text().contains("› ( ) 2. second0"), "{}", shown.text());
    }

    #[test]
    fn up_leads_back_to_the_question() {
        let mut shown = Shown::new(&long(), 40, 12);
        shown.press(&[Key::NextRow]);
        for _ in 0..100 {
            shown.press(&[Key::Up]);
        }
        assert!(shown.text().contains("question0 "), "{}", shown.text());
        assert_eq!(shown.form.page().focus(), Row::Choice(0));
    }

    #[test]
    fn the_focus_stays_in_sight_when_the_window_shrinks() {
        let mut shown = Shown::new(&prompt(vec![target()]), 64, 16);
        shown.press(&[Key::Char('2')]);
        shown.terminal.backend_mut().resize(30, 5);
        shown.form.resized();
        shown.draw();
        golden(
            &shown,
            "
Target                   14:59
         nobody but us looks ↑
         at it.
› (•) 2. Production          ↓
Enter Submit · Ctrl-S Skip
",
        );
    }

    #[test]
    fn every_word_of_a_long_page_can_be_read() {
        for (width, height) in [(40, 12), (20, 5), (9, 4), (80, 24)] {
            let mut shown = Shown::new(&long(), width, height);
            let mut pages = words(&shown);
            for _ in 0..2000 {
                shown.press(&[Key::PageDown]);
                pages.extend(words(&shown));
                if shown.form.seen().top == shown.form.seen().last_top {
                    break;
                }
            }
            let all = pages.concat();
            let expected =
                ["question99", "first29", "about0-49", "second29", "about1-49", "Other…", "Submit", "Skip"];
            for word in expected {
                // Words longer than a narrow line are broken, so the start has to do.
                assert!(
                    all.contains(&word.chars().take(6).collect::<String>()),
                    "{word} at {width}x{height}"
                );
            }
            for n in 0..100 {
                assert!(width < 20 || all.contains(&format!("question{n}")), "{n} at {width}x{height}");
            }
        }
    }

    #[test]
    fn a_refusal_is_shown_whole_and_gone_with_the_next_key() {
        let mut shown = Shown::new(&prompt(vec![free("reason")]), 40, 12);
        let message = "That looks like a password or key. It was not kept. Please never send one here.";
        shown.form.show_notice(Notice::Message(message.into()));
        shown.draw();
        golden(
            &shown,
            "
reason                             14:59
Which reason?

› Your own answer
  │

  Submit
  Skip
! That looks like a password or key. It
  was not kept. Please never send one
  here.
↑↓ · Esc · Enter Submit · Ctrl-S Skip
",
        );
        shown.press(&[Key::Char('x')]);
        assert!(!shown.text().contains('!'));
    }

    #[test]
    fn colours_are_left_out_where_nobody_wants_them() {
        let mut form = Form::new(&prompt(vec![target()])).expect("a question");
        let mut terminal = Terminal::new(TestBackend::new(60, 16)).expect("a screen");
        let palette = Palette { colors: false };
        terminal.draw(|frame| draw(frame, &mut form, &english(), 5, palette)).expect("drawn");
        let cells = terminal.backend().buffer().content();
        assert!(cells.iter().all(|cell| cell.fg == Color::Reset && cell.bg == Color::Reset));
    }

    mod laws {
        use proptest::prelude::*;

        use super::*;
        use crate::contract::{Answer, Question};
        use crate::terminal::form::Action;
        use crate::terminal::text::is_blank;

        fn text() -> impl Strategy<Value = String> {
            prop_oneof![
                ".{0,60}",
                "(?s).{0,20}",
                "[a-z ]{0,200}",
                "[一-龥🎉👩\u{200d}🚀\u{301}\u{ff9e}\n\t ]{0,30}",
                "[\u{1b}\u{202e}\u{2066}\u{feff}\u{200b}א-ת\r\n]{0,10}",
            ]
        }

        fn question() -> impl Strategy<Value = Question> {
            let flag = || proptest::option::of(any::<bool>());
            let choice = (text(), proptest::option::of(text()));
            let choices = proptest::collection::vec(choice, 0..12);
            (text(), text(), choices, flag(), flag(), proptest::option::of(text())).prop_map(
                |(header, question, choices, multi_select, is_other, url)| Question {
                    header,
                    text: question,
                    choices: choices
                        .into_iter()
                        .map(|(label, description)| Choice { label, description })
                        .collect(),
                    multi_select,
                    is_other,
                    url,
                    ..single("q", &[])
                },
            )
        }

        fn key() -> impl Strategy<Value = Key> {
            use Key::*;
            let plain = vec![
                Up,
                Down,
                Left,
                Right,
                WordLeft,
                WordRight,
                Home,
                End,
                PageUp,
                PageDown,
                NextRow,
                PreviousRow,
                Enter,
                NewLine,
                Escape,
                Backspace,
                Delete,
                DeleteWord,
                DeleteToStart,
                DeleteToEnd,
                Skip,
            ];
            prop_oneof![
                6 => proptest::sample::select(plain),
                2 => "[0-9 ]".prop_map(|text| Char(text.chars().next().unwrap_or(' '))),
                2 => any::<char>().prop_map(Char),
                1 => text().prop_map(Paste),
            ]
        }

        fn is_valid(question: &Question, answer: &Answer) -> bool {
            let is_label = |value: &String| question.choices.iter().any(|choice| choice.label == *value);
            let takes_one = question.multi_select != Some(true) || question.choices.is_empty();
            answer.values.iter().all(|value| is_label(value) || !is_blank(value))
                && if takes_one { answer.values.len() == 1 } else { !answer.values.is_empty() }
        }

        proptest! {
            #![proptest_config(ProptestConfig { cases: 150, ..ProptestConfig::default() })]

            #[test]
            fn no_prompt_key_or_size_is_too_much(
                questions in proptest::collection::vec(question(), 1..4),
                keys in proptest::collection::vec(key(), 0..60),
                sizes in proptest::collection::vec((1u16..70, 1u16..30), 1..5),
                left in 0u64..4000,
            ) {
                let mut shown = Shown::new(&prompt(questions.clone()), sizes[0].0, sizes[0].1);
                shown.left = left;
                for (turn, key) in keys.into_iter().enumerate() {
                    let (width, height) = sizes[turn % sizes.len()];
                    shown.terminal.backend_mut().resize(width, height);
                    shown.form.resized();
                    shown.draw();
                    let action = shown.form.press(key);
                    shown.draw();
                    if let Some(Action::Submit(answers)) = action {
                        prop_assert_eq!(answers.len(), questions.len());
                        for (question, answer) in questions.iter().zip(&answers) {
                            prop_assert!(is_valid(question, answer), "{:?}", answer);
                        }
                    }
                    if shown.form.view() == View::Focus {
                        prop_assert!(shown.form.seen().focus);
                    }
                    prop_assert!(!shown.text().chars().any(|c| c != '\n' && c.is_control()));
                }
            }

            #[test]
            fn every_row_can_be_reached_on_every_screen(
                question in question(),
                width in 4u16..50,
                height in 1u16..15,
            ) {
                let mut shown = Shown::new(&prompt(vec![question]), width, height);
                let mut missing = shown.form.rows();
                for _ in 0..20_000 {
                    let focus = shown.form.page().focus();
                    if shown.form.seen().focus {
                        missing.retain(|row| *row != focus);
                    }
                    if missing.is_empty() {
                        break;
                    }
                    shown.press(&[Key::Down]);
                }
                prop_assert!(missing.is_empty(), "{missing:?}");
            }
        }
    }
}
