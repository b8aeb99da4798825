//! The task that owns a connection.

use std::collections::HashMap;
use std::future::poll_fn;
use std::sync::Arc;
use std::task::{Context, Poll};

use serde_json::value::RawValue;
use tokio::sync::{mpsc, oneshot, watch};

use super::error::{CallError, Closed};
use super::frame::{self, Event, Incoming};
use super::handshake::text;
use super::socket::Socket;
use crate::clock::{Clock, Until, after, alarm};

/// Frames that are taken before others get a turn.
const FRAMES_A_TURN: usize = 256;
/// How long saying goodbye may take, in milliseconds.
const CLOSE_LIMIT: u64 = 5_000;

/// A call that is to be made.
pub(super) struct Command {
    pub(super) id: u64,
    pub(super) text: String,
    pub(super) answer: Answer,
}

type Answer = oneshot::Sender<Result<Box<RawValue>, CallError>>;

pub(super) struct Driver {
    socket: Socket,
    commands: mpsc::UnboundedReceiver<Command>,
    waiting: HashMap<u64, Answer>,
    events: mpsc::UnboundedSender<Event>,
    clock: Arc<dyn Clock>,
    /// How long a gateway may say nothing, in milliseconds.
    silence: u64,
    /// When it last said something.
    heard: u64,
    alarm: Until<'static>,
    /// Whether nobody is left who could call.
    is_left: bool,
}

impl Driver {
    pub(super) fn new(
        socket: Socket,
        commands: mpsc::UnboundedReceiver<Command>,
        events: mpsc::UnboundedSender<Event>,
        clock: Arc<dyn Clock>,
        tick: u64,
    ) -> Self {
        // Two ticks may get lost, and a third may be late.
        let silence = tick.max(1_000).saturating_mul(5) / 2;
        let heard = clock.now();
        let alarm = alarm(&clock, silence);
        Self {
            socket,
            commands,
            waiting: HashMap::new(),
            events,
            clock,
            silence,
            heard,
            alarm,
            is_left: false,
        }
    }

    /// Serves calls until the connection ends.
    pub(super) async fn run(mut self, close: watch::Sender<Option<Closed>>) {
        let closed = poll_fn(|context| self.poll(context)).await;
        self.commands.close();
        close.send_replace(Some(closed));
        // Whoever waits learns from the dropped sender.
        self.waiting.clear();
        while self.commands.try_recv().is_ok() {}
        drop(self.events);
        let (mut socket, clock) = (self.socket, self.clock);
        tokio::select! {
            () = poll_fn(|context| socket.poll_end(context)) => {}
            () = after(&*clock, CLOSE_LIMIT) => {}
        }
    }

    /// Does all that can be done now. Ready when the connection has ended.
    fn poll(&mut self, context: &mut Context<'_>) -> Poll<Closed> {
        let has_more = match self.take_frames(context) {
            Ok(has_more) => has_more,
            Err(closed) => return Poll::Ready(closed),
        };
        if let Err(closed) = self.take_commands(context) {
            return Poll::Ready(closed);
        }
        match self.socket.poll_flush(context) {
            Poll::Ready(Ok(())) if self.is_left => return Poll::Ready(Closed::ByUs),
            Poll::Ready(Err(closed)) => return Poll::Ready(closed),
            _ => {}
        }
        while self.alarm.as_mut().poll(context).is_ready() {
            let silent = self.clock.now().saturating_sub(self.heard);
            if silent >= self.silence {
                return Poll::Ready(Closed::Silent(silent / 1_000));
            }
            self.alarm = alarm(&self.clock, self.silence - silent);
        }
        if has_more {
            context.waker().wake_by_ref();
        }
        Poll::Pending
    }

    /// Takes frames. Whether more may have come.
    fn take_frames(&mut self, context: &mut Context<'_>) -> Result<bool, Closed> {
        for taken in 0..FRAMES_A_TURN {
            let Poll::Ready(payload) = self.socket.poll_receive(context) else { return Ok(false) };
            let payload = payload?;
            if taken == 0 {
                self.heard = self.clock.now();
            }
            match text(&payload).and_then(frame::read).map_err(Closed::Garbage)? {
                Incoming::Response { id, result } => {
                    if let Some(answer) = self.waiting.remove(&id) {
                        // Whoever gave up has dropped the other end.
                        let _ = answer.send(result.map_err(|refusal| CallError::Refused(Box::new(refusal))));
                    }
                }
                // Whoever does not want them has dropped the other end.
                Incoming::Event(event) => drop(self.events.send(event)),
                Incoming::Foreign => {}
            }
        }
        Ok(true)
    }

    fn take_commands(&mut self, context: &mut Context<'_>) -> Result<(), Closed> {
        while !self.is_left && self.socket.poll_ready(context)?.is_ready() {
            match self.commands.poll_recv(context) {
                Poll::Ready(Some(Command { answer, .. })) if answer.is_closed() => {}
                Poll::Ready(Some(Command { id, text, answer })) => {
                    self.waiting.insert(id, answer);
                    self.socket.send(text)?;
                }
                Poll::Ready(None) => self.is_left = true,
                Poll::Pending => break,
            }
        }
        Ok(())
    }
}
