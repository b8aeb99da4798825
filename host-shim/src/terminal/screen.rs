//! The person's screen, borrowed: taken over on standard error, given back as it was.
//!
//! Everything goes to standard error, since standard output may be a pipe that somebody reads answers from. So nothing
//! here may ask the terminal a question: crossterm asks such questions on standard output.

use std::io::{self, BufWriter, Stderr, Write};
use std::panic;
use std::sync::Once;
use std::sync::atomic::{AtomicBool, Ordering};

use crossterm::cursor::Show;
use crossterm::event::{DisableBracketedPaste, EnableBracketedPaste};
use crossterm::execute;
use crossterm::terminal::{EnterAlternateScreen, LeaveAlternateScreen, disable_raw_mode, enable_raw_mode};
use ratatui::backend::CrosstermBackend;
use ratatui::{Frame, Terminal};

/// Whether somebody has the screen. There is only one.
static BORROWED: AtomicBool = AtomicBool::new(false);

/// Whether the screen is taken over at this moment. A panic anywhere gives it back, so that its message can be read.
static TAKEN_OVER: AtomicBool = AtomicBool::new(false);

type Output = BufWriter<Stderr>;

/// Draws on the whole screen until it is dropped.
pub(super) struct Screen {
    /// Only absent while it is dropped.
    terminal: Option<Terminal<CrosstermBackend<Output>>>,
}

impl Screen {
    /// Takes the screen over.
    pub(super) fn borrow() -> io::Result<Self> {
        if BORROWED.swap(true, Ordering::SeqCst) {
            return Err(io::Error::new(io::ErrorKind::ResourceBusy, "another prompt has the terminal"));
        }
        give_back_on_panic();
        // From here on dropping it gives everything back, however far it got.
        let mut screen = Self { terminal: None };
        take_over()?;
        screen.terminal = Some(new_terminal()?);
        Ok(screen)
    }

    /// Draws everything anew; only what has changed is written.
    pub(super) fn draw(&mut self, render: impl FnOnce(&mut Frame<'_>)) -> io::Result<()> {
        if !TAKEN_OVER.load(Ordering::SeqCst) {
            // A panic elsewhere has given it back, and this prompt is still to be answered.
            take_over()?;
            self.terminal = Some(new_terminal()?);
        }
        if let Some(terminal) = &mut self.terminal {
            terminal.draw(render)?;
        }
        Ok(())
    }

    /// Forgets what was drawn, since what the terminal shows now is not known; the next drawing writes everything.
    pub(super) fn start_over(&mut self) -> io::Result<()> {
        if TAKEN_OVER.load(Ordering::SeqCst) {
            self.terminal = Some(new_terminal()?);
        }
        Ok(())
    }

    /// Gives the screen back and says whether that went well, which dropping it cannot.
    pub(super) fn close(mut self) -> io::Result<()> {
        self.terminal = None;
        give_back()
    }
}

impl Drop for Screen {
    fn drop(&mut self) {
        // What it still holds belongs to the screen that ends now.
        self.terminal = None;
        // There is nobody left to tell.
        let _ = give_back();
        BORROWED.store(false, Ordering::SeqCst);
    }
}

/// What is on the new screen is not known, so it is cleared before the first drawing, which then writes everything.
fn new_terminal() -> io::Result<Terminal<CrosstermBackend<Output>>> {
    let mut output = BufWriter::new(io::stderr());
    execute!(output, crossterm::terminal::Clear(crossterm::terminal::ClearType::All))?;
    Terminal::new(CrosstermBackend::new(output))
}

fn take_over() -> io::Result<()> {
    TAKEN_OVER.store(true, Ordering::SeqCst);
    enable_raw_mode()?;
    execute!(io::stderr(), EnterAlternateScreen, EnableBracketedPaste)
}

/// Does nothing where it was given back already.
fn give_back() -> io::Result<()> {
    if !TAKEN_OVER.swap(false, Ordering::SeqCst) {
        return Ok(());
    }
    let mut output = io::stderr();
    let shown =
        execute!(output, DisableBracketedPaste, LeaveAlternateScreen, Show).and_then(|()| output.flush());
    // The terminal's mode matters most: without it the person's shell does not echo.
    disable_raw_mode().and(shown)
}

/// The hook stays for the life of the program, since a hook that somebody set after it could not be kept otherwise.
fn give_back_on_panic() {
    static HOOK: Once = Once::new();
    HOOK.call_once(|| {
        let previous = panic::take_hook();
        panic::set_hook(Box::new(move |panic| {
            // The message matters more.
            let _ = give_back();
            previous(panic);
        }));
    });
}
