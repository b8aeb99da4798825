//! The least that a gateway can do: the same frames over the same WebSocket library, one write a wake-up, and a hash map.
//! It checks nothing, keeps nothing, has no sandbox, no deadlines and no authority. What ours takes more than this is what
//! all that costs.

use std::cell::RefCell;
use std::collections::{HashMap, VecDeque};
use std::future::poll_fn;
use std::io;
use std::pin::Pin;
use std::process::ExitCode;
use std::rc::Rc;
use std::task::{Context, Poll, Waker};

use futures_util::{Sink, Stream};
use serde::Deserialize;
use serde_json::value::RawValue;
use tokio::net::{TcpListener, TcpStream};
use tokio_websockets::{Config, Limits, Message, ServerBuilder, WebSocketStream};

const HELLO: &str = r#"{"type":"hello-ok","protocol":4,"server":{"version":"floor","connId":"c"},"features":{"methods":[],"events":[]},"auth":{"role":"operator","scopes":["operator.questions"]},"policy":{"tickIntervalMs":30000}}"#;

/// Serves until it is killed.
pub(crate) fn serve() -> ExitCode {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    let done = tokio::task::LocalSet::new().block_on(&runtime, accept());
    eprintln!("{done:?}");
    ExitCode::FAILURE
}

async fn accept() -> io::Result<()> {
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    eprintln!("listening on ws://{}", listener.local_addr()?);
    let state: Rc<RefCell<State>> = Rc::default();
    loop {
        let (stream, _) = listener.accept().await?;
        stream.set_nodelay(true)?;
        let state = Rc::clone(&state);
        tokio::task::spawn_local(async move {
            let config = Config::default().flush_threshold(256 << 10).frame_size(usize::MAX);
            let builder = ServerBuilder::new().config(config).limits(Limits::unlimited());
            if let Ok((_, socket)) = builder.accept(stream).await {
                Connection::open(state, socket).run().await;
            }
        });
    }
}

/// What all connections share.
#[derive(Default)]
struct State {
    prompts: HashMap<String, Prompt>,
    outboxes: HashMap<u64, Rc<RefCell<Outbox>>>,
    connections: u64,
}

#[derive(Default)]
struct Prompt {
    outcome: Option<String>,
    waiters: Vec<(u64, String)>,
}

#[derive(Default)]
struct Outbox {
    texts: VecDeque<String>,
    waker: Option<Waker>,
}

impl State {
    /// Puts a text where a connection finds it.
    fn tell(&self, connection: u64, text: String) {
        if let Some(outbox) = self.outboxes.get(&connection) {
            let mut outbox = outbox.borrow_mut();
            outbox.texts.push_back(text);
            if let Some(waker) = outbox.waker.take() {
                waker.wake();
            }
        }
    }

    fn tell_all(&self, text: &str) {
        for connection in self.outboxes.keys() {
            self.tell(*connection, text.to_owned());
        }
    }
}

#[derive(Deserialize)]
struct Request<'a> {
    id: &'a str,
    method: &'a str,
    #[serde(borrow)]
    params: &'a RawValue,
}

#[derive(Deserialize)]
struct Params<'a> {
    id: &'a str,
    #[serde(borrow)]
    questions: Option<&'a RawValue>,
    #[serde(borrow)]
    answers: Option<&'a RawValue>,
}

struct Connection {
    number: u64,
    state: Rc<RefCell<State>>,
    outbox: Rc<RefCell<Outbox>>,
    socket: WebSocketStream<TcpStream>,
}

impl Connection {
    fn open(state: Rc<RefCell<State>>, socket: WebSocketStream<TcpStream>) -> Self {
        let outbox: Rc<RefCell<Outbox>> = Rc::default();
        let challenge = r#"{"type":"event","event":"connect.challenge","payload":{"nonce":"n","ts":0}}"#;
        outbox.borrow_mut().texts.push_back(challenge.into());
        let mut shared = state.borrow_mut();
        shared.connections += 1;
        let number = shared.connections;
        shared.outboxes.insert(number, Rc::clone(&outbox));
        drop(shared);
        Self { number, state, outbox, socket }
    }

    async fn run(mut self) {
        poll_fn(|context| self.poll(context)).await;
        self.state.borrow_mut().outboxes.remove(&self.number);
    }

    fn poll(&mut self, context: &mut Context<'_>) -> Poll<()> {
        for _ in 0..128 {
            match Pin::new(&mut self.socket).poll_next(context) {
                Poll::Ready(Some(Ok(message))) if message.is_text() => self.take(&message),
                Poll::Ready(Some(Ok(_))) => {}
                Poll::Ready(_) => return Poll::Ready(()),
                Poll::Pending => return self.write(context),
            }
        }
        context.waker().wake_by_ref();
        self.write(context)
    }

    fn write(&mut self, context: &mut Context<'_>) -> Poll<()> {
        let mut outbox = self.outbox.borrow_mut();
        outbox.waker = Some(context.waker().clone());
        while let Some(text) = outbox.texts.pop_front() {
            if Pin::new(&mut self.socket).start_send(Message::text(text)).is_err() {
                return Poll::Ready(());
            }
        }
        match Pin::new(&mut self.socket).poll_flush(context) {
            Poll::Ready(Err(_)) => Poll::Ready(()),
            _ => Poll::Pending,
        }
    }

    fn take(&self, message: &Message) {
        let request: Request<'_> =
            serde_json::from_slice(message.as_payload()).expect("the bench's own frames");
        let response = |payload: &str| {
            format!(r#"{{"type":"res","id":"{}","ok":true,"payload":{payload}}}"#, request.id)
        };
        if request.method == "connect" {
            return self.state.borrow().tell(self.number, response(HELLO));
        }
        let params: Params<'_> =
            serde_json::from_str(request.params.get()).expect("the bench's own parameters");
        let (id, mut state) = (params.id, self.state.borrow_mut());
        match request.method {
            "question.request" => {
                let questions = params.questions.map_or("[]", RawValue::get);
                state.prompts.insert(id.to_owned(), Prompt::default());
                state.tell_all(&format!(
                    r#"{{"type":"event","event":"question.requested","payload":{{"id":"{id}","questions":{questions},"createdAtMs":1,"expiresAtMs":2,"status":"pending"}},"seq":1}}"#
                ));
                state.tell(self.number, response(&format!(r#"{{"id":"{id}","expiresAtMs":2}}"#)));
            }
            "question.waitAnswer" => {
                let prompt = state.prompts.entry(id.to_owned()).or_default();
                match prompt.outcome.clone() {
                    Some(outcome) => state.tell(self.number, response(&outcome)),
                    None => prompt.waiters.push((self.number, request.id.to_owned())),
                }
            }
            _ => {
                let answers = params.answers.map_or("{}", RawValue::get);
                let outcome = format!(r#""status":"answered","answers":{answers}}}"#);
                let prompt = state.prompts.remove(id).unwrap_or_default();
                for (connection, waiter) in prompt.waiters {
                    state.tell(
                        connection,
                        format!(r#"{{"type":"res","id":"{waiter}","ok":true,"payload":{{{outcome}}}"#),
                    );
                }
                state.tell_all(&format!(
                    r#"{{"type":"event","event":"question.resolved","payload":{{"id":"{id}",{outcome},"seq":1}}"#
                ));
                state.tell(self.number, response(&format!("{{{outcome}")));
            }
        }
    }
}
