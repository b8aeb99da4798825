//! Laws about what people do with controls, and what they are told.

use super::inputs::{Input, Kind};
use super::{Broken, Law, Subject, broken, check_calls};
use crate::contract::{
    About, Action, Binding, BindingTarget, ChannelError, Feedback, Interaction, Tap, Target,
};

/// Who taps.
const SENDER: &str = "42";
/// A message of a service, as it names it.
const MESSAGE: &str = "70001";

pub(super) const TAKEN_BACK: Law = Law {
    name: "takes every tap back as its choice",
    on: Kind::AnyPrompt,
    holds: |subject, input| {
        let bindings = subject.rendered(input)?.bindings;
        let submits = bindings.iter().any(|binding| matches!(binding.target, BindingTarget::Submit(_)));
        for binding in &bindings {
            let interaction = subject.tapped(&binding.token)?;
            if interaction.sender != SENDER {
                broken!("{SENDER} tapped, and the sender is {:?}", interaction.sender);
            }
            let from = interaction.conversation.as_deref();
            if !from.is_none_or(|from| from == SENDER || from == subject.channel.example_address) {
                broken!("the example of a tap comes from {from:?}, which is not the example of an address");
            }
            match &interaction.action {
                Action::Choose(tokens) if *tokens == [binding.token.clone()] => {}
                // A box that was ticked decides nothing before it is submitted.
                Action::Nothing if submits && matches!(binding.target, BindingTarget::Choice(_)) => {}
                // What a submit chooses stands elsewhere in the payload.
                Action::Choose(_) if matches!(binding.target, BindingTarget::Submit(_)) => {}
                other => broken!("{:?} was tapped, and that is taken for {other:?}", binding.token),
            }
        }
        Ok(())
    },
};

pub(super) const OTHERS_REFUSED: Law = Law {
    name: "refuses what is no tap on a control of its own",
    on: Kind::Payload,
    holds: |subject, input| {
        // With the token of a control that is there, so that what is wrong is something else.
        let payload = match subject.rendered(input)?.bindings.first() {
            Some(binding) => input.payload.replace("{token}", &inside_json(&binding.token)),
            None => input.payload.clone(),
        };
        let understood = subject.plugin.interpret_interaction(&subject.channel.name, &payload)?;
        let is_json = serde_json::from_str::<serde_json::Value>(&payload).is_ok();
        match understood {
            Ok(interaction) if !is_json => broken!("a payload that is not JSON is taken for {interaction:?}"),
            Ok(interaction) if interaction.sender.is_empty() => {
                broken!("a tap of nobody is taken for {interaction:?}")
            }
            Ok(_) | Err(ChannelError::NotOurs | ChannelError::Malformed(_)) => Ok(()),
            Err(other) => broken!("the refusal is {other:?}, and not that it is malformed or not ours"),
        }
    },
};

pub(super) const OWN_TEXT: Law = Law {
    name: "opens a place for own text",
    on: Kind::AnyPrompt,
    holds: |subject, input| {
        for binding in &subject.rendered(input)?.bindings {
            if !matches!(binding.target, BindingTarget::Other(_)) {
                continue;
            }
            let Interaction { handle, .. } = subject.tapped(&binding.token)?;
            for acknowledged in [false, true] {
                let tap = Tap { sender: SENDER.into(), handle: handle.clone(), acknowledged };
                opens(subject, input, binding, &tap)?;
            }
        }
        Ok(())
    },
};

fn opens(subject: &Subject<'_>, input: &Input, binding: &Binding, tap: &Tap) -> Result<(), Broken> {
    let Input { prompt, target, .. } = input;
    let name = &subject.channel.name;
    let target = &subject.asked(target, prompt)?;
    match subject.plugin.render_composer(prompt, name, target, binding, Some(MESSAGE), tap)? {
        Ok(calls) if calls.is_empty() => broken!("nothing opens after a tap on {:?}", binding.token),
        Ok(calls) => check_calls(subject.channel, &calls).map(drop),
        // A service may take a place to type only as its first response.
        Err(ChannelError::Unshowable(_)) if tap.acknowledged => Ok(()),
        Err(error) => broken!("a tap on {:?} opens nothing: {error:?}", binding.token),
    }
}

const FEEDBACK_KINDS: [Feedback; 7] = [
    Feedback::Received,
    Feedback::Accepted,
    Feedback::AlreadyAnswered,
    Feedback::Expired,
    Feedback::NotAllowed,
    Feedback::NothingChosen,
    Feedback::TryAgain,
];

pub(super) const FEEDBACK: Law = Law {
    name: "tells people what came of it",
    on: Kind::PlainPrompt,
    holds: |subject, input| {
        let handle = match subject.rendered(input)?.bindings.first() {
            Some(binding) => Some(subject.tapped(&binding.token)?.handle),
            None => None,
        };
        let tap = |acknowledged| {
            let handle = handle.clone()?;
            Some(Tap { sender: SENDER.into(), handle, acknowledged })
        };
        for feedback in FEEDBACK_KINDS {
            for tap in [None, tap(false), tap(true)] {
                tells(subject, &input.target, feedback, tap.as_ref())?;
            }
        }
        Ok(())
    },
};

fn tells(
    subject: &Subject<'_>,
    target: &Target,
    feedback: Feedback,
    tap: Option<&Tap>,
) -> Result<(), Broken> {
    let target = &subject.told(target, || About::Feedback(feedback))?;
    match subject.plugin.render_feedback(&subject.channel.name, target, feedback, tap)? {
        Ok(calls) => check_calls(subject.channel, &calls).map(drop),
        Err(error) => broken!("{feedback:?} cannot be told: {error:?}"),
    }
}

impl Subject<'_> {
    /// What the channel makes of its own example of a tap.
    fn tapped(&self, token: &str) -> Result<Interaction, Broken> {
        let Some(example) = &self.channel.example_tap else {
            broken!("there are controls, and no example of a tap");
        };
        let payload = example.replace("{token}", &inside_json(token)).replace("{sender}", SENDER);
        match self.plugin.interpret_interaction(&self.channel.name, &payload)? {
            Ok(interaction) => Ok(interaction),
            Err(error) => broken!("a tap on {token:?} is refused: {error:?}; the payload is {payload}"),
        }
    }
}

/// A text as it stands inside a string of JSON.
fn inside_json(text: &str) -> String {
    let quoted = serde_json::Value::from(text).to_string();
    quoted[1..quoted.len() - 1].to_owned()
}
