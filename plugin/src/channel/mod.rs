//! How a prompt looks on a messaging service, what a tap there means, and how the prompt looks once it has ended.
//!
//! What holds for every channel is here and in [`form`], the text form of a prompt. A built-in channel is one file, named
//! as the channel, that implements `Channel` and stands in `CHANNELS`.

mod controls;
mod discord;
pub mod fit;
pub mod form;
mod line;
mod markdown;
mod mattermost;
mod pages;
mod payload;
mod slack;
mod telegram;
mod text;
pub mod token;
mod whatsapp;

use serde_json::Value;

use crate::catalogue::{FeedbackWords, Language, language};
use crate::model::{Prompt, Question};
use crate::text::{Lines, clean, excerpt};

/// The built-in channels.
static CHANNELS: [&dyn Channel; 7] = [
    &text::Text,
    &telegram::Telegram,
    &discord::Discord,
    &slack::Slack,
    &mattermost::Mattermost,
    &line::Line,
    &whatsapp::WhatsApp,
];

/// One built-in channel. The functions of this module find it by its name, see that the prompt is in a state that can be
/// shown, and choose the language.
trait Channel: Sync {
    /// What it can do.
    fn descriptor(&self) -> Descriptor;

    /// A pending prompt.
    fn render(
        &self,
        prompt: &Prompt,
        target: &Target,
        language: &Language,
    ) -> Result<Rendering, ChannelError>;

    /// What the service's callback payload means.
    fn interpret_interaction(&self, payload: &Value) -> Result<Interaction, ChannelError>;

    /// A place to type own text. Where the service has none, people type into the conversation and are asked to.
    fn render_composer(
        &self,
        composer: &Composer<'_>,
        target: &Target,
        language: &Language,
    ) -> Result<Vec<Call>, ChannelError>;

    /// A prompt that has ended; `status` says how, in words for this target.
    fn render_settled(
        &self,
        prompt: &Prompt,
        status: &str,
        target: &Target,
        messages: &[String],
        language: &Language,
    ) -> Result<Vec<Call>, ChannelError>;

    /// What to tell a person, in `words`.
    fn render_feedback(
        &self,
        feedback: Feedback,
        words: &str,
        target: &Target,
        tap: Option<&Tap>,
    ) -> Result<Vec<Call>, ChannelError>;
}

/// What a composer is opened for.
struct Composer<'c> {
    /// The question that gets own text.
    question: &'c Question,
    /// The token of the control that was tapped.
    token: &'c str,
    /// The message with that control.
    message: Option<&'c str>,
    /// The tap.
    tap: &'c Tap,
}

impl Composer<'_> {
    /// What stands over the place to type: the question's header, or what it is for.
    fn title(&self, language: &Language) -> String {
        let header = clean(&self.question.header, Lines::One);
        if header.is_empty() { language.controls.own_answer.to_owned() } else { header }
    }
}

/// How a service counts text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TextUnit {
    /// UTF-16 code units.
    Utf16,
    /// Unicode code points.
    CodePoints,
    /// Grapheme clusters.
    Graphemes,
    /// Bytes of UTF-8.
    Bytes,
}

/// How long a text may be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limit {
    /// The longest that is accepted.
    pub most: u32,
    /// What is counted.
    pub unit: TextUnit,
}

impl Limit {
    /// In UTF-16 units, which is never fewer than what a service counts in code points.
    const fn utf16(most: u32) -> Self {
        Self { most, unit: TextUnit::Utf16 }
    }
}

/// What the service offers and the channel uses.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Natives {
    /// Controls for one single-select question.
    pub buttons: bool,
    /// A sent message can be changed.
    pub edits: bool,
    /// One person can be told something that the others do not see.
    pub private_feedback: bool,
    /// A control opens a place to type own text.
    pub composer: bool,
    /// Controls for one multi-select question.
    pub multi_select: bool,
    /// People answer by reacting with an emoji.
    pub reactions: bool,
}

/// What a channel can do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Descriptor {
    /// Name.
    pub name: String,
    /// Longest message.
    pub text: Option<Limit>,
    /// Longest label of a control.
    pub label: Option<Limit>,
    /// Longest token.
    pub token_bytes: Option<u32>,
    /// What the service offers and the channel uses.
    pub natives: Natives,
    /// Names of members whose text the service reads as markup.
    pub markup: Vec<String>,
    /// An address such as a conversation of the service has.
    pub example_address: String,
    /// A payload of a tap, with `{token}` and `{sender}`.
    pub example_tap: Option<String>,
}

/// A person, as the service knows them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Person {
    /// The service's own id.
    pub id: String,
    /// The name that is shown.
    pub name: Option<String>,
}

/// Where a prompt is shown.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Target {
    /// The service's own address of the conversation.
    pub address: String,
    /// The thread or topic inside it.
    pub thread: Option<String>,
    /// Language of our own words; the prompt's when absent.
    pub locale: Option<String>,
    /// Whether others than the requester read there.
    pub shared: bool,
    /// Whether native controls beyond one single-select question are wanted.
    pub extras: bool,
    /// The person who is asked.
    pub requester: Option<Person>,
    /// Where the service reports taps.
    pub callback_url: Option<String>,
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

impl Call {
    fn new(method: impl Into<String>, body: &Value, text: impl Into<String>) -> Self {
        Self { method: method.into(), body: body.to_string(), text: text.into() }
    }
}

/// The choice of a question.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChoiceRef {
    /// The question's id.
    pub question_id: String,
    /// Index of the choice.
    pub index: u32,
}

/// What a control does.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum BindingTarget {
    /// Chooses.
    Choice(ChoiceRef),
    /// Asks for own text for this question.
    Other(String),
    /// Submits what is chosen.
    Submit(String),
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
    /// What the control shows.
    pub label: String,
}

/// A prompt, ready to be sent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rendering {
    /// Calls in the order to make them.
    pub calls: Vec<Call>,
    /// One a control.
    pub bindings: Vec<Binding>,
}

/// Own text that was typed into a composer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OwnText {
    /// The token of the control that opened it.
    pub token: String,
    /// What was typed.
    pub text: String,
}

/// What somebody did with a control.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Action {
    /// One control, or all that are chosen in a list, by their tokens.
    Choose(Vec<String>),
    /// Own text.
    OwnText(OwnText),
    /// Something that decides nothing yet.
    Nothing,
}

/// A tap, understood.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Interaction {
    /// What was done.
    pub action: Action,
    /// Who did it.
    pub sender: String,
    /// The conversation it came from.
    pub conversation: Option<String>,
    /// The message it came from.
    pub message: Option<String>,
    /// What is needed to respond to it.
    pub handle: String,
}

/// A tap to respond to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tap {
    /// Who tapped.
    pub sender: String,
    /// The handle of the interaction.
    pub handle: String,
    /// Whether it was already acknowledged.
    pub acknowledged: bool,
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
    /// The target is not one of this service.
    BadTarget(String),
    /// The prompt is not in a state that can be shown like this.
    Unshowable(String),
}

impl ChannelError {
    /// A target that breaks this rule.
    fn bad_target(rule: impl std::fmt::Display, received: &str) -> Self {
        Self::BadTarget(format!("{rule}; received “{}”", excerpt(received, 64)))
    }
}

/// What to tell a person after a tap or a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Feedback {
    /// It came in and is being looked at.
    Received,
    /// The answer counts.
    Accepted,
    /// Somebody answered before.
    AlreadyAnswered,
    /// The prompt has expired.
    Expired,
    /// This person may not answer.
    NotAllowed,
    /// Nothing was chosen.
    NothingChosen,
    /// It can be tried again.
    TryAgain,
}

impl Feedback {
    pub(crate) fn words(self, words: &FeedbackWords) -> &str {
        match self {
            Self::Received => words.received,
            Self::Accepted => words.accepted,
            Self::AlreadyAnswered => words.already_answered,
            Self::Expired => words.expired,
            Self::NotAllowed => words.not_allowed,
            Self::NothingChosen => words.nothing_chosen,
            Self::TryAgain => words.try_again,
        }
    }
}

/// The channels of this plugin.
pub fn channels() -> Vec<Descriptor> {
    CHANNELS.iter().map(|channel| channel.descriptor()).collect()
}

/// A pending prompt for a target. [`ChannelError::Unshowable`] where it has ended: nobody is asked what no longer counts.
pub fn render(prompt: &Prompt, channel: &str, target: &Target) -> Result<Rendering, ChannelError> {
    let channel = find(channel)?;
    pending(prompt)?;
    channel.render(prompt, target, language_for(prompt, target))
}

/// What the service's callback payload means.
pub fn interpret_interaction(channel: &str, payload: &str) -> Result<Interaction, ChannelError> {
    let channel = find(channel)?;
    let payload: Value = serde_json::from_str(payload)
        .map_err(|error| ChannelError::Malformed(format!("the payload is not JSON: {error}")))?;
    channel.interpret_interaction(&payload)
}

/// A place to type own text, after a tap on the control `binding`.
pub fn render_composer(
    prompt: &Prompt,
    channel: &str,
    target: &Target,
    binding: &Binding,
    message: Option<&str>,
    tap: &Tap,
) -> Result<Vec<Call>, ChannelError> {
    let channel = find(channel)?;
    pending(prompt)?;
    let question = match &binding.target {
        BindingTarget::Other(id) => prompt.question(id),
        _ => None,
    };
    let Some(question) = question.filter(|question| question.takes_own_text()) else {
        return Err(ChannelError::Unshowable("that control does not ask for own text".to_owned()));
    };
    let composer = Composer { question, token: &binding.token, message, tap };
    channel.render_composer(&composer, target, language_for(prompt, target))
}

/// How a prompt that has ended looks. [`ChannelError::Unshowable`] while it is pending.
pub fn render_settled(
    prompt: &Prompt,
    channel: &str,
    target: &Target,
    messages: &[String],
) -> Result<Vec<Call>, ChannelError> {
    let channel = find(channel)?;
    let language = language_for(prompt, target);
    match form::status_line(prompt, language, target.shared) {
        Some(status) => channel.render_settled(prompt, &status, target, messages, language),
        None => Err(ChannelError::Unshowable("the prompt is pending; it has no end to show".to_owned())),
    }
}

/// What to tell a person, in the target's language: no prompt is at hand whose language could stand in.
pub fn render_feedback(
    channel: &str,
    target: &Target,
    feedback: Feedback,
    tap: Option<&Tap>,
) -> Result<Vec<Call>, ChannelError> {
    let words = feedback.words(&language(target.locale.as_deref()).feedback);
    find(channel)?.render_feedback(feedback, words, target, tap)
}

fn find(name: &str) -> Result<&'static dyn Channel, ChannelError> {
    CHANNELS
        .into_iter()
        .find(|channel| channel.descriptor().name == name)
        .ok_or_else(|| ChannelError::UnknownChannel(excerpt(name, 64)))
}

fn pending(prompt: &Prompt) -> Result<(), ChannelError> {
    if prompt.settlement.is_some() {
        return Err(ChannelError::Unshowable("the prompt has ended; only its end can be shown".to_owned()));
    }
    if prompt.questions.is_empty() {
        return Err(ChannelError::Unshowable("the prompt has no questions".to_owned()));
    }
    Ok(())
}

fn language_for(prompt: &Prompt, target: &Target) -> &'static Language {
    language(target.locale.as_deref().or(prompt.origin.locale.as_deref()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{Choice, NoAnswerReason, Origin, Outcome, Question, Settlement};

    fn prompt(outcome: Option<Outcome>) -> Prompt {
        let choices = ["Staging \"blue\"", "Production"];
        Prompt {
            id: "ask_1".into(),
            questions: vec![Question {
                id: "deploy_target".into(),
                header: "Target".into(),
                text: "Where?".into(),
                choices: choices.map(|label| Choice { label: label.into(), description: None }).into(),
                multi_select: None,
                is_other: Some(true),
                is_secret: None,
                url: None,
            }],
            origin: Origin { locale: Some("nl-NL".into()), ..Origin::default() },
            created_at: 0,
            expires_at: 900_000,
            settlement: outcome.map(|outcome| Settlement {
                outcome,
                at: 1,
                resolved_by: None,
                resolution_id: None,
            }),
        }
    }

    fn skipped() -> Prompt {
        prompt(Some(Outcome::NoAnswer(NoAnswerReason::Skipped)))
    }

    #[test]
    fn names_of_channels_are_valid_and_unique() {
        let names: Vec<String> = channels().into_iter().map(|channel| channel.name).collect();
        for (index, name) in names.iter().enumerate() {
            assert!(name.starts_with(|c: char| c.is_ascii_lowercase()), "{name}");
            assert!(name.chars().all(|c| matches!(c, 'a'..='z' | '0'..='9' | '-')), "{name}");
            assert!(!names[..index].contains(name), "{name}");
        }
        assert!(names.contains(&"text".to_owned()));
    }

    #[test]
    fn plain_text_is_one_message_without_controls() {
        let rendering = render(&prompt(None), "text", &Target::default()).unwrap();
        assert!(rendering.bindings.is_empty());
        let [call] = rendering.calls.as_slice() else { panic!("{rendering:?}") };
        assert_eq!(call.method, "message");
        let body: serde_json::Value = serde_json::from_str(&call.body).unwrap();
        assert_eq!(body, serde_json::json!({ "text": call.text }));
        assert!(call.text.contains("\n1. Staging \"blue\"\n"), "{}", call.text);
    }

    #[test]
    fn the_target_chooses_the_language_and_the_prompt_where_it_does_not() {
        let first_line = |locale: Option<&str>| {
            let target = Target { locale: locale.map(str::to_owned), ..Target::default() };
            let rendering = render(&prompt(None), "text", &target).unwrap();
            rendering.calls[0].text.lines().next().unwrap().to_owned()
        };
        assert_eq!(first_line(None), "Een vraag voor je · Target");
        assert_eq!(first_line(Some("id")), "Satu pertanyaan untuk Anda · Target");
        assert_eq!(first_line(Some("fr")), "A question for you · Target");
    }

    #[test]
    fn an_ended_prompt_is_announced_and_not_asked_again() {
        let target = Target { locale: Some("en".into()), ..Target::default() };
        let calls = render_settled(&skipped(), "text", &target, &[]).unwrap();
        assert_eq!(calls.len(), 1);
        assert_eq!(calls[0].text, "Target · Skipped");
        assert_eq!(calls[0].body, r#"{"text":"Target · Skipped"}"#);
        assert!(matches!(render(&skipped(), "text", &target), Err(ChannelError::Unshowable(_))));
        assert!(matches!(
            render_settled(&prompt(None), "text", &target, &[]),
            Err(ChannelError::Unshowable(_))
        ));
    }

    #[test]
    fn every_feedback_has_its_own_words() {
        let words = [
            Feedback::Received,
            Feedback::Accepted,
            Feedback::AlreadyAnswered,
            Feedback::Expired,
            Feedback::NotAllowed,
            Feedback::NothingChosen,
            Feedback::TryAgain,
        ]
        .map(|feedback| render_feedback("text", &Target::default(), feedback, None).unwrap()[0].text.clone());
        for (index, text) in words.iter().enumerate() {
            assert!(!words[..index].contains(text), "{text}");
        }
    }

    #[test]
    fn there_is_nothing_to_tap_in_plain_text() {
        assert_eq!(interpret_interaction("text", "{}"), Err(ChannelError::NotOurs));
    }

    #[test]
    fn an_unknown_channel_is_named_and_harmless() {
        let name = format!("fax\u{1b}\n{}", "x".repeat(5000));
        let target = Target::default();
        let errors = [
            render(&prompt(None), &name, &target).unwrap_err(),
            interpret_interaction(&name, "{}").unwrap_err(),
            render_settled(&skipped(), &name, &target, &[]).unwrap_err(),
            render_feedback(&name, &target, Feedback::Accepted, None).unwrap_err(),
        ];
        for error in errors {
            let ChannelError::UnknownChannel(named) = error else { panic!("{error:?}") };
            assert!(named.starts_with("fax x") && named.chars().count() <= 64, "{named:?}");
        }
    }
}
