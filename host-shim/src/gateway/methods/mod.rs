//! The methods: what they are called, who may call them, and what they do.

mod ask_user;
mod channels;
mod params;
mod question;

pub(super) use question::End;

use std::sync::Arc;

use serde_json::json;

use super::Shared;
use super::protocol::error::CallError;
use super::protocol::params::read;
use super::protocol::scope::{Granted, QUESTIONS};
use crate::questions::{HostError, Principal};
use crate::sandbox::Plugin;

/// All methods: those that OpenClaw knows, then ours, of which those of channels come last.
const ALL: [&str; 15] = [
    "question.request",
    "question.waitAnswer",
    "question.resolve",
    "question.get",
    "question.list",
    "askUser.tool",
    "askUser.ask",
    "askUser.reply",
    "askUser.cancelRun",
    "askUser.channels",
    "askUser.deliver",
    "askUser.delivered",
    "askUser.deliveries",
    "askUser.tap",
    "askUser.say",
];

/// How many of them there are without channels.
const WITHOUT_CHANNELS: usize = 9;

/// How many of them OpenClaw knows.
const OF_OPENCLAW: usize = 5;

/// The methods that there are for a client, which may want our additions.
pub(super) fn shown(gateway: &Shared, is_extended: bool) -> &'static [&'static str] {
    if gateway.is_compatible() && !is_extended {
        &ALL[..OF_OPENCLAW]
    } else if gateway.channels.is_none() {
        &ALL[..WITHOUT_CHANNELS]
    } else {
        &ALL
    }
}

/// Who calls, and all that a call may use.
pub(super) struct Caller {
    pub(super) gateway: Arc<Shared>,
    pub(super) principal: Principal,
    pub(super) granted: Granted,
    /// Whether this client gets our additions in OpenClaw's methods and events.
    pub(super) is_extended: bool,
}

/// A call with its parameters read.
#[derive(Debug)]
pub(super) enum Call {
    Request(params::Request),
    Wait(params::Wait),
    Resolve(params::Resolve),
    Get(params::Get),
    List(params::List),
    Tool(params::Tool),
    Ask(params::Ask),
    Reply(params::Reply),
    CancelRun(params::CancelRun),
    ListChannels(channels::ListChannels),
    Deliver(channels::Deliver),
    Delivered(channels::Delivered),
    Deliveries(channels::Deliveries),
    Tap(channels::Tap),
    Say(channels::Say),
}

/// When a call may begin, given the calls that came before it on its connection.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Order<'a> {
    /// At once.
    Free,
    /// After those that change this question.
    After(&'a str),
    /// The same, and those that come later wait for it. Without an id only a list waits.
    Changes(Option<&'a str>),
    /// After all that change anything.
    AfterAll,
}

impl Caller {
    /// Reads a call: whether there is such a method, whether the caller may, and what it wants.
    pub(super) fn read(&self, method: &str, params: &str) -> Result<Call, CallError> {
        if !shown(&self.gateway, self.is_extended).contains(&method) {
            return Err(CallError::unknown_method(method, self.granted.is_admin()));
        }
        if !self.granted.may_question() {
            return Err(if self.granted.is_session_scoped() {
                CallError::forbidden("Session-scoped access requires a verified user profile.")
            } else {
                CallError::missing_scope(QUESTIONS)
            });
        }
        Ok(match method {
            "question.request" => Call::Request(read(method, params)?),
            "question.waitAnswer" => Call::Wait(read(method, params)?),
            "question.resolve" => Call::Resolve(params::Resolve::read(params)?),
            "question.get" => Call::Get(read(method, params)?),
            "question.list" => Call::List(read(method, params)?),
            "askUser.tool" => Call::Tool(read(method, params)?),
            "askUser.ask" => Call::Ask(read(method, params)?),
            "askUser.reply" => Call::Reply(read(method, params)?),
            "askUser.channels" => Call::ListChannels(read(method, params)?),
            "askUser.deliver" => Call::Deliver(read(method, params)?),
            "askUser.delivered" => Call::Delivered(read(method, params)?),
            "askUser.deliveries" => Call::Deliveries(read(method, params)?),
            "askUser.tap" => Call::Tap(read(method, params)?),
            "askUser.say" => Call::Say(read(method, params)?),
            _ => Call::CancelRun(read(method, params)?),
        })
    }

    /// Carries a call out. The result is JSON text.
    pub(super) async fn carry_out(&self, call: Call) -> Result<String, CallError> {
        match call {
            Call::Request(params) => self.request(params).await,
            Call::Wait(params) => self.wait_answer(params).await,
            Call::Resolve(params) => self.resolve(params).await,
            Call::Get(params) => self.get(params).await,
            Call::List(params) => self.list(params).await,
            Call::Tool(params) => self.tool(params),
            Call::Ask(params) => self.ask(params).await,
            Call::Reply(params) => self.reply(params).await,
            Call::CancelRun(params) => self.cancel_run(params).await,
            Call::ListChannels(_) => self.list_channels(),
            Call::Deliver(params) => self.deliver(params).await,
            Call::Delivered(params) => self.delivered(params).await,
            Call::Deliveries(params) => self.deliveries(params).await,
            Call::Tap(params) => self.tap(params).await,
            Call::Say(params) => self.say(params).await,
        }
    }

    /// The plugin that writes records for this client's tenant.
    pub(super) fn plugin(&self) -> Plugin {
        self.gateway.host.plugin_of(&self.principal.tenant)
    }

    /// Refuses what OpenClaw does not know, where a client has not asked for our additions.
    fn allow_extension(&self, method: &str, is_used: bool) -> Result<(), CallError> {
        if is_used && self.gateway.is_compatible() && !self.is_extended {
            let rule = "it has members that only a client with the capability ask-user-extensions may send";
            return Err(CallError::invalid(format!("invalid {method} params: {rule}")));
        }
        Ok(())
    }
}

impl Call {
    pub(super) fn order(&self) -> Order<'_> {
        match self {
            Self::Request(params) => Order::Changes(params.id.as_deref()),
            Self::Wait(params) => Order::After(&params.id),
            Self::Resolve(params) => Order::Changes(Some(&params.id)),
            Self::Get(params) => Order::After(&params.id),
            Self::Deliver(params) => Order::After(&params.id),
            Self::List(_)
            | Self::Reply(_)
            | Self::CancelRun(_)
            | Self::Delivered(_)
            | Self::Deliveries(_)
            | Self::Tap(_)
            | Self::Say(_) => Order::AfterAll,
            Self::Tool(_) | Self::Ask(_) | Self::ListChannels(_) => Order::Free,
        }
    }
}

/// A failure of ours, told without its inside, which is for the log.
fn host_error(error: &HostError) -> CallError {
    if let HostError::TooManyPending { .. } = error {
        return CallError::unavailable(error.to_string())
            .with(json!({ "reason": "ASK_USER_TOO_MANY_PENDING" }));
    }
    if let HostError::TooLarge { .. } = error {
        return CallError::refused("ASK_USER_TOO_LARGE", error.to_string());
    }
    tracing::error!(%error, "a call could not be carried out");
    match error {
        HostError::ShuttingDown => CallError::unavailable("the gateway is shutting down"),
        HostError::Store(_) => CallError::unavailable("the store is not available"),
        _ => CallError::unavailable("the question could not be decided on"),
    }
}
