//! The methods for adapters of messaging services in other processes: they make the calls that channels render, and
//! report what people tap and type. All of them need the scope to name who answered.

use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Value, json};

use super::Caller;
use super::ask_user::replied;
use crate::channels::{
    Answerers, ChannelService, ChannelsError, Delivery, DeliveryState, Heard, Known, Outcome, Place, Tapped,
    Update,
};
use crate::contract::{Call, Limit, Message, Person, Target, TextUnit};
use crate::gateway::protocol::error::CallError;
use crate::gateway::protocol::frame::to_json;
use crate::gateway::protocol::params::{Object, present, text, text_if_any};
use crate::gateway::protocol::scope;

/// Nothing.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(in crate::gateway) struct ListChannels {}

/// A prompt, and where to show it.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(in crate::gateway) struct Deliver {
    #[serde(deserialize_with = "text")]
    pub(super) id: String,
    #[serde(deserialize_with = "text")]
    channel: String,
    target: Object<WireTarget>,
    #[serde(default)]
    answerers: WireAnswerers,
    #[serde(default)]
    elsewhere: bool,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct WireTarget {
    #[serde(default)]
    address: String,
    #[serde(default, deserialize_with = "text_if_any")]
    thread: Option<String>,
    #[serde(default, deserialize_with = "text_if_any")]
    locale: Option<String>,
    #[serde(default)]
    shared: bool,
    #[serde(default)]
    extras: bool,
    #[serde(default, deserialize_with = "present")]
    requester: Option<Object<WirePerson>>,
    #[serde(default, deserialize_with = "text_if_any")]
    callback_url: Option<String>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct WirePerson {
    #[serde(deserialize_with = "text")]
    id: String,
    #[serde(default, deserialize_with = "text_if_any")]
    name: Option<String>,
}

/// `"requester"`, `"everybody"`, or the service's ids of people.
#[derive(Debug, Default, Deserialize)]
#[serde(untagged, expecting = "must be \"requester\", \"everybody\" or an array of ids")]
enum WireAnswerers {
    #[default]
    #[serde(skip)]
    Requester,
    Named(NamedAnswerers),
    People(Vec<String>),
}

#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum NamedAnswerers {
    Requester,
    Everybody,
}

impl From<WireAnswerers> for Answerers {
    fn from(answerers: WireAnswerers) -> Self {
        match answerers {
            WireAnswerers::Requester | WireAnswerers::Named(NamedAnswerers::Requester) => Self::Requester,
            WireAnswerers::Named(NamedAnswerers::Everybody) => Self::Everybody,
            WireAnswerers::People(people) => Self::People(people),
        }
    }
}

impl From<WireTarget> for Target {
    fn from(target: WireTarget) -> Self {
        let WireTarget { address, thread, locale, shared, extras, requester, callback_url } = target;
        let requester = requester.map(|person| Person { id: person.0.id, name: person.0.name });
        Self { address, thread, locale, shared, extras, requester, callback_url, words: None }
    }
}

/// What became of the calls of a delivery.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(in crate::gateway) struct Delivered {
    #[serde(deserialize_with = "text")]
    delivery_id: String,
    /// The messages that were sent.
    #[serde(default, deserialize_with = "present")]
    messages: Option<Vec<String>>,
    /// Why they could not be.
    #[serde(default, deserialize_with = "text_if_any")]
    error: Option<String>,
    /// Whether the calls of an update were made.
    #[serde(default)]
    updated: bool,
}

/// Whose deliveries are to be updated.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(in crate::gateway) struct Deliveries {
    #[serde(default, deserialize_with = "text_if_any")]
    id: Option<String>,
}

/// What a service reports as a tap.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(in crate::gateway) struct Tap {
    #[serde(deserialize_with = "text")]
    channel: String,
    payload: Box<RawValue>,
}

/// What somebody typed.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(in crate::gateway) struct Say {
    #[serde(deserialize_with = "text")]
    channel: String,
    #[serde(default)]
    address: String,
    #[serde(default, deserialize_with = "text_if_any")]
    thread: Option<String>,
    #[serde(deserialize_with = "text")]
    sender: String,
    message: Object<WireMessage>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct WireMessage {
    #[serde(default)]
    text: String,
    #[serde(default, deserialize_with = "present")]
    transcript: Option<String>,
    #[serde(default)]
    has_media: bool,
    #[serde(default)]
    edited: bool,
    #[serde(default)]
    forwarded: bool,
    #[serde(default)]
    bot_names: Vec<String>,
    #[serde(default, deserialize_with = "text_if_any")]
    locale: Option<String>,
}

impl From<WireMessage> for Message {
    fn from(message: WireMessage) -> Self {
        let WireMessage { text, transcript, has_media, edited, forwarded, bot_names, locale } = message;
        Self { text, transcript, has_media, edited, forwarded, bot_names, locale }
    }
}

impl Caller {
    /// Which channels there are.
    pub(super) fn list_channels(&self) -> Result<String, CallError> {
        let channels: Vec<Value> = self.channels()?.channels().iter().map(described).collect();
        Ok(to_json(&json!({ "channels": channels })))
    }

    /// Gets a prompt ready for a place.
    pub(super) async fn deliver(&self, params: Deliver) -> Result<String, CallError> {
        let place = Place {
            channel: params.channel,
            target: params.target.0.into(),
            answerers: params.answerers.into(),
        };
        let shown = self.channels()?.show(&self.principal.tenant, &params.id, place, params.elsewhere).await;
        let prepared = shown.map_err(|error| failed(&error))?;
        Ok(to_json(&to_make(&prepared.delivery, &prepared.calls)))
    }

    /// Takes what became of a delivery.
    pub(super) async fn delivered(&self, params: Delivered) -> Result<String, CallError> {
        let (channels, tenant, id) = (self.channels()?, &self.principal.tenant, &params.delivery_id);
        let outcome = match (&params.messages, &params.error, params.updated) {
            (Some(messages), None, false) => channels.shown(tenant, id, messages).await,
            (None, Some(error), false) => channels.failed(tenant, id, error).await,
            (None, None, true) => {
                channels.updated(tenant, id).await.map_err(|error| failed(&error))?;
                return Ok(r#"{"status":"done"}"#.into());
            }
            _ => {
                return Err(CallError::invalid(
                    "invalid askUser.delivered params: must have exactly one of messages, error and updated: true",
                ));
            }
        };
        Ok(to_json(&match outcome.map_err(|error| failed(&error))? {
            Outcome::Nothing => json!({ "status": "noted" }),
            Outcome::Undeliverable => json!({ "status": "undeliverable" }),
            Outcome::Ended(update) => {
                json!({ "status": "ended", "update": to_make(&update.delivery, &update.calls) })
            }
        }))
    }

    /// Hands out what is to be done about places whose prompts have ended.
    pub(super) async fn deliveries(&self, params: Deliveries) -> Result<String, CallError> {
        let (channels, tenant) = (self.channels()?, &self.principal.tenant);
        let updates = match &params.id {
            Some(id) => channels.updates(tenant, id).await,
            None => channels.all_updates(tenant).await,
        };
        let updates = updates.map_err(|error| failed(&error))?;
        let updates: Vec<Value> =
            updates.iter().map(|Update { delivery, calls }| to_make(delivery, calls)).collect();
        Ok(to_json(&json!({ "updates": updates })))
    }

    /// Takes a tap.
    pub(super) async fn tap(&self, params: Tap) -> Result<String, CallError> {
        // The payload as it came, or as the text that it came in.
        let payload = serde_json::from_str::<String>(params.payload.get())
            .unwrap_or_else(|_| params.payload.get().to_owned());
        let reaction = self.channels()?.tapped(&self.principal.tenant, &params.channel, &payload).await;
        let reaction = reaction.map_err(|error| failed(&error))?;
        Ok(to_json(&json!({
            "tapped": tapped(reaction.tapped),
            "id": reaction.prompt,
            "calls": calls(&reaction.calls),
        })))
    }

    /// Takes what somebody typed in a conversation.
    pub(super) async fn say(&self, params: Say) -> Result<String, CallError> {
        let Say { channel, address, thread, sender, message } = params;
        let (tenant, message) = (&self.principal.tenant, message.0.into());
        let heard =
            self.channels()?.said(tenant, &channel, &address, thread.as_deref(), &sender, &message).await;
        Ok(to_json(&match heard.map_err(|error| failed(&error))? {
            Heard::Chat => json!({ "outcome": "not-an-answer", "reason": "not-pending" }),
            Heard::NotAllowed => json!({ "outcome": "not-allowed" }),
            Heard::Reply { prompt, reply } => {
                let mut told = replied(reply);
                told["id"] = prompt.into();
                told
            }
        }))
    }

    fn channels(&self) -> Result<&ChannelService, CallError> {
        if !self.granted.may_name_answerers() {
            return Err(CallError::missing_scope(scope::NAME_ANSWERER));
        }
        let none = || CallError::unavailable("this gateway has no channels");
        self.gateway.channels.as_ref().ok_or_else(none)
    }
}

fn described(known: &Known) -> Value {
    let channel = &known.descriptor;
    let limit = |limit: &Option<Limit>| {
        limit.map(|limit| {
            let unit = match limit.unit {
                TextUnit::Utf16 => "utf16",
                TextUnit::CodePoints => "code-points",
                TextUnit::Graphemes => "graphemes",
                TextUnit::Bytes => "bytes",
            };
            json!({ "most": limit.most, "unit": unit })
        })
    };
    let natives = &channel.natives;
    json!({
        "name": channel.name,
        "plugin": known.plugin.name(),
        "text": limit(&channel.text),
        "label": limit(&channel.label),
        "natives": {
            "buttons": natives.buttons,
            "edits": natives.edits,
            "privateFeedback": natives.private_feedback,
            "composer": natives.composer,
            "multiSelect": natives.multi_select,
            "reactions": natives.reactions,
        },
    })
}

fn calls(calls: &[Call]) -> Vec<Value> {
    let call = |call: &Call| {
        // A channel of somebody else may have written anything; then it stays the text that it is.
        let body = serde_json::from_str(&call.body).unwrap_or_else(|_| Value::from(call.body.as_str()));
        json!({ "method": call.method, "body": body, "text": call.text })
    };
    calls.iter().map(call).collect()
}

fn to_make(delivery: &Delivery, to_make: &[Call]) -> Value {
    let target = &delivery.place.target;
    json!({
        "deliveryId": delivery.id,
        "id": delivery.prompt,
        "channel": delivery.place.channel,
        "address": target.address,
        "thread": target.thread,
        "state": state(delivery.state),
        "calls": calls(to_make),
    })
}

fn state(state: DeliveryState) -> &'static str {
    match state {
        DeliveryState::Sending => "sending",
        DeliveryState::Shown => "shown",
        DeliveryState::Updating => "updating",
        DeliveryState::Done => "done",
        DeliveryState::Failed => "failed",
    }
}

fn tapped(tapped: Tapped) -> &'static str {
    match tapped {
        Tapped::NotOurs => "not-ours",
        Tapped::Nothing => "nothing",
        Tapped::Composer => "composer",
        Tapped::Part => "part",
        Tapped::Answered => "answered",
        Tapped::Skipped => "skipped",
        Tapped::AlreadyEnded => "already-ended",
        Tapped::Expired => "expired",
        Tapped::NotAllowed => "not-allowed",
        Tapped::NothingChosen => "nothing-chosen",
        Tapped::Refused => "refused",
    }
}

fn failed(error: &ChannelsError) -> CallError {
    let reason = match error {
        ChannelsError::NoPrompt(_) => "QUESTION_NOT_FOUND",
        ChannelsError::NoChannel(_) => "ASK_USER_NO_CHANNEL",
        ChannelsError::NoDelivery(_) => "ASK_USER_NO_DELIVERY",
        ChannelsError::Failed(_) => "ASK_USER_DELIVERY_FAILED",
        ChannelsError::BadTarget(_) => "ASK_USER_BAD_TARGET",
        ChannelsError::Unshowable(_) => "ASK_USER_UNSHOWABLE",
        ChannelsError::Malformed(_) => "ASK_USER_NOT_A_TAP",
        ChannelsError::Call(_) | ChannelsError::Unavailable(_) => {
            tracing::error!(%error, "a channel did not do its work");
            return CallError::unavailable("the channel or the store is not available");
        }
    };
    CallError::refused(reason, error.to_string())
}
