//! How a prompt looks on a messaging service, what a tap there means, and how the prompt looks once it has ended.

use crate::model::Prompt;

/// How a service counts text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TextUnit {
    /// UTF-16 code units.
    Utf16,
    /// Unicode code points.
    CodePoints,
    /// Bytes of UTF-8.
    Bytes,
}

/// What a channel can do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Descriptor {
    /// Name.
    pub name: String,
    /// Longest message.
    pub text_limit: Option<u32>,
    /// How the service counts text.
    pub unit: TextUnit,
    /// Whether one single-select question gets controls to tap.
    pub buttons: bool,
    /// Whether a sent message can be changed.
    pub edits: bool,
    /// Whether one person can be told something that the others do not see.
    pub private_feedback: bool,
}

/// Where a prompt is shown.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Target {
    /// The service's own address of the conversation.
    pub address: String,
    /// Language of our own words; the prompt's when absent.
    pub locale: Option<String>,
    /// Whether others than the requester read there.
    pub shared: bool,
}

/// One call of the service's API.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Call {
    /// The API method.
    pub method: String,
    /// Its parameters as a JSON object.
    pub body: String,
    /// The same as readable text.
    pub text: String,
}

/// What a control does.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum BindingTarget {
    /// Chooses: question id and index of the choice.
    Choice(String, u32),
    /// Asks for own text for this question.
    Other(String),
    /// Skips the prompt.
    Skip,
}

/// What the token of one control stands for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Binding {
    /// Opaque token.
    pub token: String,
    /// What it does.
    pub target: BindingTarget,
}

/// A prompt, ready to be sent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rendering {
    /// Calls in the order to make them.
    pub calls: Vec<Call>,
    /// One a control.
    pub bindings: Vec<Binding>,
}

/// A tap, understood.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Interaction {
    /// The token of the control.
    pub token: String,
    /// Who tapped.
    pub sender: String,
}

/// Why there is nothing to show or to understand.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ChannelError {
    /// No channel of this name here.
    UnknownChannel(String),
    /// The payload is not a tap on a control of ours.
    NotOurs,
    /// The payload claims to be ours and is malformed.
    Malformed(String),
    /// The prompt is not in a state that can be shown like this.
    Unshowable(String),
}

/// What to tell a person after a tap or a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Feedback {
    /// The answer counts.
    Accepted,
    /// Somebody answered before.
    AlreadyAnswered,
    /// The prompt has expired.
    Expired,
    /// This person may not answer.
    NotAllowed,
    /// It can be tried again.
    TryAgain,
}

/// The channels of this plugin.
pub fn channels() -> Vec<Descriptor> {
    Vec::new()
}

/// A pending prompt for a target.
pub fn render(prompt: &Prompt, channel: &str, target: &Target) -> Result<Rendering, ChannelError> {
    let _ = (prompt, target);
    Err(ChannelError::UnknownChannel(channel.to_owned()))
}

/// What the service's callback payload means.
pub fn interpret_interaction(channel: &str, payload: &str) -> Result<Interaction, ChannelError> {
    let _ = payload;
    Err(ChannelError::UnknownChannel(channel.to_owned()))
}

/// How a prompt that has ended looks.
pub fn render_settled(prompt: &Prompt, channel: &str, target: &Target) -> Result<Vec<Call>, ChannelError> {
    let _ = (prompt, target);
    Err(ChannelError::UnknownChannel(channel.to_owned()))
}

/// What to tell a person.
pub fn render_feedback(channel: &str, target: &Target, feedback: Feedback) -> Result<Vec<Call>, ChannelError> {
    let _ = (target, feedback);
    Err(ChannelError::UnknownChannel(channel.to_owned()))
}
