//! Reads keys on a thread of its own, since waiting for a terminal blocks.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{Builder, JoinHandle, sleep};
use std::time::{Duration, Instant};

use crossterm::event::{Event, poll, read};
use tokio::sync::mpsc;

/// How soon the thread notices that nobody wants keys any more.
const LOOK: Duration = Duration::from_millis(50);

/// How long to wait for the thread. It can hang in a read when a terminal has gone or sent half a key.
const PATIENCE: Duration = Duration::from_millis(500);

/// The events of the terminal, in order. The thread ends when this is dropped, so that what is typed afterwards goes to
/// whoever reads the terminal next.
pub(super) struct Input {
    events: mpsc::UnboundedReceiver<io::Result<Event>>,
    closed: Arc<AtomicBool>,
    reader: Option<JoinHandle<()>>,
}

impl Input {
    /// Starts reading. What was typed before is thrown away: it was meant for something else (nobody answers a question
    /// before seeing it).
    pub(super) fn open() -> io::Result<Self> {
        #[cfg(unix)]
        rustix::termios::tcflush(io::stdin(), rustix::termios::QueueSelector::IFlush)?;
        // What was read already is not in the terminal any more. Without any patience nothing is looked at.
        while poll(Duration::from_millis(1))? {
            read()?;
        }
        let (sender, events) = mpsc::unbounded_channel();
        let closed = Arc::new(AtomicBool::new(false));
        let thread_closed = Arc::clone(&closed);
        let reader =
            Builder::new().name("ask-user-keys".into()).spawn(move || pass_on(&thread_closed, &sender))?;
        Ok(Self { events, closed, reader: Some(reader) })
    }

    /// Whether there is an event that was not taken yet.
    pub(super) fn is_waiting(&self) -> bool {
        !self.events.is_empty()
    }

    /// The next event. Nothing is lost when the future is dropped.
    pub(super) async fn next(&mut self) -> io::Result<Event> {
        let gone =
            || Err(io::Error::new(io::ErrorKind::UnexpectedEof, "the terminal cannot be read any more"));
        self.events.recv().await.unwrap_or_else(gone)
    }
}

impl Drop for Input {
    fn drop(&mut self) {
        self.closed.store(true, Ordering::Relaxed);
        let Some(reader) = self.reader.take() else { return };
        let start = Instant::now();
        while !reader.is_finished() && start.elapsed() < PATIENCE {
            sleep(Duration::from_millis(2));
        }
        if reader.is_finished() {
            // It has nothing to say, and a panic of it was reported.
            let _ = reader.join();
        }
    }
}

fn pass_on(closed: &AtomicBool, sender: &mpsc::UnboundedSender<io::Result<Event>>) {
    while !closed.load(Ordering::Relaxed) {
        let event = match poll(LOOK) {
            Ok(false) => continue,
            Ok(true) => read(),
            Err(error) => Err(error),
        };
        match event {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            event => {
                let failed = event.is_err();
                if sender.send(event).is_err() || failed {
                    return;
                }
            }
        }
    }
}
