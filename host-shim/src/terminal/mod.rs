//! A prompt on a terminal: the person picks with arrow keys and digits, types own text, goes on and back.
//!
//! `form` holds what was done and what a key does; `draw` shows it; `screen` and `input` are the terminal itself.

mod draw;
mod field;
mod form;
mod input;
mod keys;
#[cfg(test)]
mod sample;
mod screen;
pub(crate) mod text;

use std::env;
use std::io::{self, IsTerminal};
use std::sync::Arc;

use crossterm::event::Event;

use crate::clock::Clock;
use crate::contract::{PhraseBook, Prompt, Timestamp};

use draw::Palette;
pub use form::Action;
use form::{Form, Notice};
use input::Input;
use screen::Screen;

/// A prompt that has the whole screen until it is closed or dropped. Drawn on standard error; standard output is never
/// touched. While it is open nothing else may write to the terminal.
pub struct Panel {
    // Dropped first: as long as keys are read the terminal must not be somebody else's.
    input: Input,
    screen: Screen,
    form: Form,
    phrases: PhraseBook,
    palette: Palette,
    clock: Arc<dyn Clock>,
    expires_at: Timestamp,
}

impl Panel {
    /// Whether a person is there to see a panel and to type: standard input and standard error are a terminal that can
    /// do more than print lines.
    pub fn is_possible() -> bool {
        io::stdin().is_terminal()
            && io::stderr().is_terminal()
            && env::var_os("TERM").is_none_or(|terminal| terminal != "dumb")
    }

    /// Takes the screen over and shows `prompt`. What was typed before is thrown away, since it was not an answer.
    ///
    /// # Errors
    ///
    /// The terminal cannot be read, drawn on or switched; another panel is open; the prompt has no questions.
    pub fn open(prompt: &Prompt, phrases: PhraseBook, clock: Arc<dyn Clock>) -> io::Result<Self> {
        let form = Form::new(prompt)
            .ok_or_else(|| io::Error::new(io::ErrorKind::InvalidInput, "a prompt without questions"))?;
        let screen = Screen::borrow()?;
        let input = Input::open()?;
        let palette = Palette { colors: env::var_os("NO_COLOR").is_none_or(|value| value.is_empty()) };
        Ok(Self { input, screen, form, phrases, palette, clock, expires_at: prompt.expires_at })
    }

    /// Shows the prompt and does what the person's keys say, until they end it. The time left is kept up to date; that it
    /// has run out is for the caller to notice, who waits for the prompt's outcome at the same time. Dropping the future
    /// loses nothing; call this again to go on, also after an answer that was refused.
    ///
    /// # Errors
    ///
    /// The terminal cannot be read or drawn on any more.
    pub async fn next(&mut self) -> io::Result<Action> {
        loop {
            let left = self.seconds_left();
            // Text that comes faster than it can be drawn, such as a paste that the terminal does not mark as one, is
            // drawn when there is no more of it. Other keys go by what is seen, so that is drawn first.
            if !(self.form.is_typing_in_sight() && self.input.is_waiting()) {
                self.draw(left)?;
            }
            let tick = self.expires_at.saturating_sub(left.saturating_sub(1).saturating_mul(1000));
            let event = tokio::select! {
                event = self.input.next() => event?,
                () = self.clock.until(tick), if left > 0 => continue,
            };
            if let Event::Resize(..) = event {
                // Also where the size is the same again: the terminal has cut its lines in between.
                self.screen.start_over()?;
                self.form.resized();
            }
            if let Some(action) = keys::key(event).and_then(|key| self.form.press(key)) {
                return Ok(action);
            }
        }
    }

    /// Shows `message` until the next key, such as why an answer was refused. What was chosen and typed stays.
    pub fn show_notice(&mut self, message: &str) {
        self.form.show_notice(Notice::Message(message.to_owned()));
    }

    /// Own text typed so far, question by question. When the prompt ends by itself, such as by its deadline, what the
    /// person was typing goes with the screen unless the caller keeps it.
    pub fn own_texts(&self) -> Vec<String> {
        self.form.own_texts()
    }

    /// Gives the screen back. Dropping the panel does the same and keeps quiet about errors.
    ///
    /// # Errors
    ///
    /// The terminal could not be switched back.
    pub fn close(self) -> io::Result<()> {
        let Self { input, screen, .. } = self;
        drop(input);
        screen.close()
    }

    /// Rounded up, so that it says zero when it is over.
    fn seconds_left(&self) -> u64 {
        self.expires_at.saturating_sub(self.clock.now()).div_ceil(1000)
    }

    fn draw(&mut self, left: u64) -> io::Result<()> {
        let Self { screen, form, phrases, palette, .. } = self;
        screen.draw(|frame| draw::draw(frame, form, phrases, left, *palette))
    }
}
