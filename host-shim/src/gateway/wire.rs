//! What carries frames: a WebSocket, or lines of text. A connection does not know which.

use std::borrow::Cow;
use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use futures_util::{Sink, Stream};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio_websockets::{CloseCode, Error, Message, Payload, WebSocketStream};

use super::protocol::connect::FRAME_LIMIT_BEFORE;

/// Bytes that are gathered before they are written though more is to come.
pub(super) const GATHERED: usize = 256 << 10;

/// Why a connection is closed, as WebSocket numbers it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Close {
    pub(super) code: u16,
    pub(super) reason: Cow<'static, str>,
}

impl Close {
    pub(super) fn new(code: u16, reason: impl Into<Cow<'static, str>>) -> Self {
        Self { code, reason: reason.into() }
    }

    /// Nothing is wrong; there is just nothing more to say.
    pub(super) fn normal() -> Self {
        Self::new(1000, "")
    }

    /// The service goes away.
    pub(super) fn restart() -> Self {
        Self::new(1012, "service restart")
    }

    /// The client breaks a rule.
    pub(super) fn policy(reason: impl Into<Cow<'static, str>>) -> Self {
        Self::new(1008, reason)
    }

    /// The client speaks another protocol.
    pub(super) fn protocol(reason: impl Into<Cow<'static, str>>) -> Self {
        Self::new(1002, reason)
    }
}

/// The other end is gone, or spoke so that it was closed.
#[derive(Debug)]
pub(super) struct Gone;

/// A frame that came in.
#[derive(Debug)]
pub(super) enum Frame {
    Message(Payload),
    Line(Vec<u8>),
}

impl AsRef<[u8]> for Frame {
    fn as_ref(&self) -> &[u8] {
        match self {
            Self::Message(payload) => payload,
            Self::Line(line) => line,
        }
    }
}

/// Carries frames. Nothing that was sent is written before it is flushed, unless a lot has been gathered.
pub(super) trait Wire: Send {
    /// The next frame; nothing when the other end is gone.
    fn poll_receive(&mut self, context: &mut Context<'_>) -> Poll<Option<Frame>>;

    /// Takes longer frames from now on.
    fn raise_limit(&mut self, limit: usize);

    /// Ready when it takes one more frame to send.
    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<Result<(), Gone>>;

    /// Takes a frame to send.
    fn send(&mut self, text: String) -> Result<(), Gone>;

    /// Writes what was sent.
    fn poll_flush(&mut self, context: &mut Context<'_>) -> Poll<Result<(), Gone>>;

    /// Says why it ends.
    fn close(&mut self, close: &Close);

    /// Writes what is left, and ends.
    fn poll_end(&mut self, context: &mut Context<'_>) -> Poll<()>;
}

/// A WebSocket.
pub(super) struct Socket<T> {
    stream: WebSocketStream<T>,
}

impl<T: AsyncRead + AsyncWrite + Unpin + Send> Socket<T> {
    /// A WebSocket over a stream whose handshake is done.
    pub(super) fn new(stream: T) -> Self {
        let limits = tokio_websockets::Limits::default().max_payload_len(Some(FRAME_LIMIT_BEFORE));
        let config = tokio_websockets::Config::default().flush_threshold(GATHERED).frame_size(usize::MAX);
        let stream = tokio_websockets::server::Builder::new().config(config).limits(limits).serve(stream);
        Self { stream }
    }
}

impl<T: AsyncRead + AsyncWrite + Unpin + Send> Wire for Socket<T> {
    fn poll_receive(&mut self, context: &mut Context<'_>) -> Poll<Option<Frame>> {
        loop {
            match ready!(Pin::new(&mut self.stream).poll_next(context)) {
                Some(Ok(message)) if message.is_text() || message.is_binary() => {
                    return Poll::Ready(Some(Frame::Message(message.into_payload())));
                }
                // The library answers pings, and closes after a close.
                Some(Ok(_)) => {}
                Some(Err(error)) => {
                    if matches!(error, Error::PayloadTooLong { .. }) {
                        // Of a message in several frames the library does not say so by itself.
                        self.close(&Close::new(1009, ""));
                    }
                    return Poll::Ready(None);
                }
                None => return Poll::Ready(None),
            }
        }
    }

    fn raise_limit(&mut self, limit: usize) {
        self.stream.limits_mut().set_max_payload_len(Some(limit));
    }

    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<Result<(), Gone>> {
        Pin::new(&mut self.stream).poll_ready(context).map_err(|_| Gone)
    }

    fn send(&mut self, text: String) -> Result<(), Gone> {
        Pin::new(&mut self.stream).start_send(Message::text(text)).map_err(|_| Gone)
    }

    fn poll_flush(&mut self, context: &mut Context<'_>) -> Poll<Result<(), Gone>> {
        Pin::new(&mut self.stream).poll_flush(context).map_err(|_| Gone)
    }

    fn close(&mut self, close: &Close) {
        // A reason has at most 123 bytes.
        let reason = &close.reason[..close.reason.floor_char_boundary(123)];
        let code = CloseCode::try_from(close.code).unwrap_or(CloseCode::INTERNAL_SERVER_ERROR);
        // It may be closed already.
        let _ = Pin::new(&mut self.stream).start_send(Message::close(Some(code), reason));
    }

    fn poll_end(&mut self, context: &mut Context<'_>) -> Poll<()> {
        Pin::new(&mut self.stream).poll_close(context).map(|_| ())
    }
}

/// Lines of text, one frame a line: what a parent and its child process speak over a pipe.
pub(super) struct Lines<R, W> {
    reader: R,
    writer: W,
    limit: usize,
    incoming: Vec<u8>,
    /// How much of `incoming` is known to hold no line end.
    looked_at: usize,
    outgoing: Vec<u8>,
    written: usize,
}

impl<R: AsyncRead + Unpin + Send, W: AsyncWrite + Unpin + Send> Lines<R, W> {
    /// Lines from one stream and to another.
    pub(super) fn new(reader: R, writer: W) -> Self {
        Self {
            reader,
            writer,
            limit: FRAME_LIMIT_BEFORE,
            incoming: Vec::new(),
            looked_at: 0,
            outgoing: Vec::new(),
            written: 0,
        }
    }

    fn take_line(&mut self) -> Option<Vec<u8>> {
        let end = self.incoming[self.looked_at..].iter().position(|byte| *byte == b'\n');
        let Some(end) = end.map(|end| self.looked_at + end) else {
            self.looked_at = self.incoming.len();
            return None;
        };
        let rest = self.incoming.split_off(end + 1);
        let mut line = std::mem::replace(&mut self.incoming, rest);
        self.looked_at = 0;
        line.pop();
        if line.last() == Some(&b'\r') {
            line.pop();
        }
        Some(line)
    }

    fn poll_fill(&mut self, context: &mut Context<'_>) -> Poll<io::Result<usize>> {
        let mut chunk = [0; 16 << 10];
        let mut buffer = tokio::io::ReadBuf::new(&mut chunk);
        ready!(Pin::new(&mut self.reader).poll_read(context, &mut buffer))?;
        self.incoming.extend_from_slice(buffer.filled());
        Poll::Ready(Ok(buffer.filled().len()))
    }
}

impl<R: AsyncRead + Unpin + Send, W: AsyncWrite + Unpin + Send> Wire for Lines<R, W> {
    fn poll_receive(&mut self, context: &mut Context<'_>) -> Poll<Option<Frame>> {
        loop {
            match self.take_line() {
                Some(line) if line.len() > self.limit => return Poll::Ready(None),
                // An empty line is nothing: whoever types by hand may leave some.
                Some(line) if line.trim_ascii().is_empty() => {}
                Some(line) => return Poll::Ready(Some(Frame::Line(line))),
                None if self.incoming.len() > self.limit => return Poll::Ready(None),
                None => match ready!(self.poll_fill(context)) {
                    Ok(0) if self.incoming.is_empty() => return Poll::Ready(None),
                    Ok(0) => self.incoming.push(b'\n'),
                    Ok(_) => {}
                    Err(_) => return Poll::Ready(None),
                },
            }
        }
    }

    fn raise_limit(&mut self, limit: usize) {
        self.limit = limit;
    }

    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<Result<(), Gone>> {
        if self.outgoing.len() - self.written >= GATHERED {
            self.poll_flush(context)
        } else {
            Poll::Ready(Ok(()))
        }
    }

    fn send(&mut self, text: String) -> Result<(), Gone> {
        self.outgoing.extend_from_slice(text.as_bytes());
        self.outgoing.push(b'\n');
        Ok(())
    }

    fn poll_flush(&mut self, context: &mut Context<'_>) -> Poll<Result<(), Gone>> {
        while self.written < self.outgoing.len() {
            let rest = &self.outgoing[self.written..];
            match ready!(Pin::new(&mut self.writer).poll_write(context, rest)) {
                Ok(0) | Err(_) => return Poll::Ready(Err(Gone)),
                Ok(count) => self.written += count,
            }
        }
        self.outgoing.clear();
        self.written = 0;
        Pin::new(&mut self.writer).poll_flush(context).map_err(|_| Gone)
    }

    fn close(&mut self, _close: &Close) {
        // The end of the stream says it all.
    }

    fn poll_end(&mut self, context: &mut Context<'_>) -> Poll<()> {
        if ready!(self.poll_flush(context)).is_err() {
            return Poll::Ready(());
        }
        Pin::new(&mut self.writer).poll_shutdown(context).map(|_| ())
    }
}

#[cfg(test)]
mod tests {
    use std::future::poll_fn;

    use super::*;

    async fn lines(text: &str, limit: usize) -> Vec<String> {
        let mut wire = Lines::new(text.as_bytes(), tokio::io::sink());
        wire.raise_limit(limit);
        let mut lines = Vec::new();
        while let Some(frame) = poll_fn(|context| wire.poll_receive(context)).await {
            lines.push(String::from_utf8_lossy(frame.as_ref()).into_owned());
        }
        lines
    }

    #[tokio::test]
    async fn a_line_is_a_frame() {
        assert_eq!(lines("a\r\n\n  \nb\nc", 10).await, ["a", "b", "c"]);
        assert_eq!(lines("a\n0123456789\n01234567890\nb\n", 10).await, ["a", "0123456789"]);
        assert_eq!(lines("0123456789012345", 10).await, [""; 0]);
    }
}
