//! A WebSocket to a gateway. Nothing that was sent is written before it is flushed, unless a lot has been gathered.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use futures_util::{Sink, Stream};
use tokio::net::TcpStream;
use tokio_websockets::{ClientBuilder, Config, Error, Limits, Message, Payload, WebSocketStream};

use super::error::{Closed, ConnectError};

/// Bytes that are gathered before they are written though more is to come.
const GATHERED: usize = 256 << 10;
/// The longest frame that is taken: what OpenClaw may send, and a good deal more.
const LONGEST_FRAME: usize = 64 << 20;
/// Where a gateway listens whose address names no port, as WebSocket has it.
const DEFAULT_PORT: u16 = 80;

/// A WebSocket.
pub(crate) struct Socket {
    stream: WebSocketStream<TcpStream>,
}

impl Socket {
    /// Connects to `ws://host:port/path`.
    pub(super) async fn open(url: &str) -> Result<Self, ConnectError> {
        let (host, port) = place(url)?;
        let unreachable = |source| ConnectError::Unreachable { url: url.to_owned(), source };
        let stream = TcpStream::connect((host, port)).await.map_err(unreachable)?;
        // What is small and alone goes out at once: we gather by ourselves.
        stream.set_nodelay(true).map_err(unreachable)?;
        let builder = ClientBuilder::new()
            .uri(url)
            .map_err(|error| ConnectError::BadUrl { url: url.to_owned(), problem: error.to_string() })?
            .config(Config::default().flush_threshold(GATHERED).frame_size(usize::MAX))
            .limits(Limits::default().max_payload_len(Some(LONGEST_FRAME)));
        match builder.connect_on(stream).await {
            Ok((stream, _)) => Ok(Self { stream }),
            Err(Error::Io(source)) if source.kind() != io::ErrorKind::UnexpectedEof => {
                Err(unreachable(source))
            }
            Err(error) => {
                let problem = match error {
                    Error::Io(_) => "it hung up on the request for a WebSocket".to_owned(),
                    Error::Upgrade(error) => error.to_string(),
                    error => error.to_string(),
                };
                Err(ConnectError::NotAGateway { url: url.to_owned(), problem })
            }
        }
    }

    /// The next frame.
    pub(crate) fn poll_receive(&mut self, context: &mut Context<'_>) -> Poll<Result<Payload, Closed>> {
        loop {
            match ready!(Pin::new(&mut self.stream).poll_next(context)) {
                Some(Ok(message)) => {
                    if let Some((code, reason)) = message.as_close() {
                        let closed = Closed::ByGateway { code: code.into(), reason: reason.to_owned() };
                        return Poll::Ready(Err(closed));
                    }
                    // The library answers pings.
                    if message.is_text() || message.is_binary() {
                        return Poll::Ready(Ok(message.into_payload()));
                    }
                }
                Some(Err(error)) => return Poll::Ready(Err(Closed::Lost(error.to_string()))),
                None => return Poll::Ready(Err(Closed::Lost("it ended without a word".into()))),
            }
        }
    }

    /// Ready when it takes one more frame to send.
    pub(crate) fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<Result<(), Closed>> {
        Pin::new(&mut self.stream).poll_ready(context).map_err(lost)
    }

    /// Takes a frame to send.
    pub(crate) fn send(&mut self, text: String) -> Result<(), Closed> {
        Pin::new(&mut self.stream).start_send(Message::text(text)).map_err(lost)
    }

    /// Writes what was sent.
    pub(crate) fn poll_flush(&mut self, context: &mut Context<'_>) -> Poll<Result<(), Closed>> {
        Pin::new(&mut self.stream).poll_flush(context).map_err(lost)
    }

    /// Says goodbye, or answers the gateway's, and ends.
    pub(crate) fn poll_end(&mut self, context: &mut Context<'_>) -> Poll<()> {
        Pin::new(&mut self.stream).poll_close(context).map(|_| ())
    }
}

#[allow(clippy::needless_pass_by_value)]
fn lost(error: Error) -> Closed {
    Closed::Lost(error.to_string())
}

/// Host and port of an address.
fn place(url: &str) -> Result<(&str, u16), ConnectError> {
    let bad = |problem: &str| ConnectError::BadUrl { url: url.to_owned(), problem: problem.to_owned() };
    let rest = match url.split_once("://") {
        Some(("ws", rest)) => rest,
        Some(("wss", _)) => {
            return Err(bad("TLS is not spoken here; go through a tunnel or a proxy on this machine"));
        }
        _ => return Err(bad("it has to begin with ws://")),
    };
    let authority = rest.split(['/', '?', '#']).next().unwrap_or_default();
    if authority.contains('@') {
        return Err(bad("it must not hold a name or a password"));
    }
    let (host, port) = match authority.rsplit_once(':') {
        // The colons of an address of version 6 are within brackets.
        Some((host, port)) if !port.contains(']') => {
            (host, port.parse().map_err(|_| bad("its port is no number from 0 to 65535"))?)
        }
        _ => (authority, DEFAULT_PORT),
    };
    let host = host.strip_prefix('[').and_then(|host| host.strip_suffix(']')).unwrap_or(host);
    if host.is_empty() { Err(bad("it names no host")) } else { Ok((host, port)) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_names_host_and_port() {
        for (url, expected) in [
            ("ws://127.0.0.1:18790", ("127.0.0.1", 18790)),
            ("ws://localhost/path?x=:1", ("localhost", 80)),
            ("ws://[::1]:5/", ("::1", 5)),
            ("ws://[::1]", ("::1", 80)),
        ] {
            assert_eq!(place(url).expect(url), expected);
        }
        for url in [
            "",
            "127.0.0.1:1",
            "http://x",
            "wss://x",
            "ws://",
            "ws://:5",
            "ws://x:y",
            "ws://x:70000",
            "ws://a:b@x",
        ] {
            assert!(matches!(place(url), Err(ConnectError::BadUrl { .. })), "{url}");
        }
    }
}
