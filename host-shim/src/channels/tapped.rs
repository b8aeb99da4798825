//! What a tap on a control does.

use super::{ChannelService, ChannelsError, Delivery, Known, answerer};
use crate::contract::{
    About, Action, Answer, Binding, BindingTarget, Call, ChannelError, Feedback, Interaction, NoAnswerReason,
    Outcome, Prompt, Question, Tap, Target,
};
use crate::questions::{Principal, SettleError, Submission};
use crate::sandbox::Plugin;
use crate::store::TenantId;

/// The longest payload of a tap that is looked at, in bytes.
const LONGEST_PAYLOAD: usize = 1 << 20;
/// How deep a payload may be nested. Deeper ones exhaust the stack of some languages' JSON readers.
const DEEPEST_PAYLOAD: usize = 64;

/// What a tap did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tapped {
    /// It is no tap on a control of ours.
    NotOurs,
    /// It decides nothing yet, such as a box that was ticked.
    Nothing,
    /// It asked for a place to type own text.
    Composer,
    /// It answered a part; the prompt waits for the rest.
    Part,
    /// It answered the prompt.
    Answered,
    /// It skipped the prompt.
    Skipped,
    /// Somebody answered before, or it was called off.
    AlreadyEnded,
    /// The prompt has expired.
    Expired,
    /// This person may not answer there.
    NotAllowed,
    /// Nothing was chosen when the answer was submitted.
    NothingChosen,
    /// It was no valid answer; the prompt is pending.
    Refused,
}

/// What to do about a tap.
#[derive(Clone, Debug, PartialEq)]
pub struct Reaction {
    /// What it did.
    pub tapped: Tapped,
    /// The prompt it was about, where that is known.
    pub prompt: Option<String>,
    /// The calls to make now.
    pub calls: Vec<Call>,
}

impl ChannelService {
    /// Takes what a service reports as a tap.
    pub async fn tapped(
        &self,
        tenant: &TenantId,
        channel: &str,
        payload: &str,
    ) -> Result<Reaction, ChannelsError> {
        let (known, rules) = (self.known(channel)?, self.inner.host.plugin());
        readable(payload)?;
        let interaction = match known.plugin.interpret_interaction(channel, payload)? {
            Ok(interaction) => interaction,
            Err(ChannelError::NotOurs) => return Ok(Reaction::of(Tapped::NotOurs)),
            Err(error) => return Err(error.into()),
        };
        let tokens: &[String] = match &interaction.action {
            Action::Choose(tokens) => tokens,
            Action::OwnText(own) => std::slice::from_ref(&own.token),
            Action::Nothing => return Ok(Reaction::of(Tapped::Nothing)),
        };
        let tap = Tap {
            sender: interaction.sender.clone(),
            handle: interaction.handle.clone(),
            acknowledged: false,
        };
        let Some(delivery) = self.delivery_of(tenant, channel, tokens, &interaction).await? else {
            return gone(rules, known, channel, tokens, &interaction, &tap);
        };
        let prompt = match self.prompt(tenant, &delivery.prompt).await {
            Ok(prompt) => prompt,
            Err(ChannelsError::NoPrompt(_)) => {
                return gone(rules, known, channel, tokens, &interaction, &tap);
            }
            Err(error) => return Err(error),
        };
        let at = At { rules, known, delivery: &delivery, prompt: &prompt, tap: &tap };
        let Some(principal) = answerer(tenant, &delivery.place, &prompt, &interaction.sender) else {
            return at.react(Tapped::NotAllowed);
        };
        if let Some(ended) = ended(&prompt) {
            return at.react(ended);
        }
        match &interaction.action {
            Action::OwnText(own) => match at.binding(&own.token) {
                Some(Binding { target: BindingTarget::Other(question), .. }) => {
                    let answer = Answer { question_id: question.clone(), values: vec![own.text.clone()] };
                    self.answer(&at, &principal, vec![answer]).await
                }
                _ => at.react(Tapped::Refused),
            },
            _ => self.choose(&at, &principal, tokens, interaction.message.as_deref()).await,
        }
    }

    /// Which delivery the tapped control belongs to.
    async fn delivery_of(
        &self,
        tenant: &TenantId,
        channel: &str,
        tokens: &[String],
        interaction: &Interaction,
    ) -> Result<Option<Delivery>, ChannelsError> {
        let Some(token) = tokens.first() else { return Ok(None) };
        let mut found = self.inner.store.deliveries_with(tenant, channel, token).await?;
        if let Some(conversation) = &interaction.conversation {
            found.retain(|delivery| delivery.place.target.address == *conversation);
        }
        // One prompt may stand in one conversation twice.
        let in_message = |delivery: &Delivery| {
            interaction.message.as_ref().is_some_and(|message| delivery.messages.contains(message))
        };
        let place = found.iter().position(in_message).unwrap_or_default();
        Ok((place < found.len()).then(|| found.swap_remove(place)))
    }

    async fn choose(
        &self,
        at: &At<'_>,
        principal: &Principal,
        tokens: &[String],
        message: Option<&str>,
    ) -> Result<Reaction, ChannelsError> {
        let bindings: Option<Vec<&Binding>> = tokens.iter().map(|token| at.binding(token)).collect();
        let Some(bindings) = bindings else { return at.react(Tapped::Refused) };
        if let [binding] = bindings.as_slice() {
            match &binding.target {
                BindingTarget::Skip => return self.skip(at, principal).await,
                BindingTarget::Other(_) => return at.compose(binding, message),
                BindingTarget::Submit(_) => return at.react(Tapped::NothingChosen),
                BindingTarget::Choice(_) => {}
            }
        }
        let mut answers: Vec<Answer> = Vec::new();
        for question in &at.prompt.questions {
            let mut values: Vec<(u32, String)> = Vec::new();
            for binding in &bindings {
                let BindingTarget::Choice(choice) = &binding.target else { continue };
                let label = question.choices.get(choice.index as usize).map(|choice| choice.label.clone());
                if let (true, Some(label)) = (choice.question_id == question.id, label) {
                    values.push((choice.index, label));
                }
            }
            // Controls give choices in the order of the question (ruling 14).
            values.sort_by_key(|(index, _)| *index);
            values.dedup();
            if !values.is_empty() {
                let values = values.into_iter().map(|(_, label)| label).collect();
                answers.push(Answer { question_id: question.id.clone(), values });
            }
        }
        if answers.is_empty() {
            return at.react(Tapped::NothingChosen);
        }
        self.answer(at, principal, answers).await
    }

    async fn skip(&self, at: &At<'_>, principal: &Principal) -> Result<Reaction, ChannelsError> {
        match self.inner.host.cancel(principal, &at.prompt.id, NoAnswerReason::Skipped).await {
            Ok(_) => at.react(Tapped::Skipped),
            Err(SettleError::AlreadyTerminal { .. } | SettleError::NotFound { .. }) => {
                self.too_late(at, &principal.tenant).await
            }
            Err(error) => Err(error.into()),
        }
    }

    /// Answers, or keeps the answers until the others are there too.
    async fn answer(
        &self,
        at: &At<'_>,
        principal: &Principal,
        answers: Vec<Answer>,
    ) -> Result<Reaction, ChannelsError> {
        let store = &self.inner.store;
        let (tenant, sender) = (&principal.tenant, principal.subject.as_str());
        let mut all = store.draft(tenant, &at.prompt.id, sender).await?.unwrap_or_default();
        all.retain(|before| answers.iter().all(|answer| answer.question_id != before.question_id));
        all.extend(answers);
        let is_answered = |question: &Question| all.iter().any(|answer| answer.question_id == question.id);
        if !at.prompt.questions.iter().all(is_answered) {
            store.keep_draft(tenant, &at.prompt.id, sender, &all).await?;
            return at.react(Tapped::Part);
        }
        match self.inner.host.resolve(principal, &at.prompt.id, Submission::of(all)).await {
            Ok(_) => at.react(Tapped::Answered),
            Err(SettleError::InvalidAnswers(_)) => at.react(Tapped::Refused),
            Err(SettleError::AlreadyTerminal { .. } | SettleError::NotFound { .. }) => {
                self.too_late(at, &principal.tenant).await
            }
            Err(error) => Err(error.into()),
        }
    }

    /// Somebody was faster: who or what says how it ended.
    async fn too_late(&self, at: &At<'_>, tenant: &TenantId) -> Result<Reaction, ChannelsError> {
        let prompt = match self.prompt(tenant, &at.prompt.id).await {
            Ok(prompt) => ended(&prompt),
            Err(ChannelsError::NoPrompt(_)) => None,
            Err(error) => return Err(error),
        };
        at.react(prompt.unwrap_or(Tapped::AlreadyEnded))
    }
}

/// A tap on a control of a delivery that is known.
struct At<'t> {
    rules: &'t Plugin,
    known: &'t Known,
    delivery: &'t Delivery,
    prompt: &'t Prompt,
    tap: &'t Tap,
}

impl At<'_> {
    fn binding(&self, token: &str) -> Option<&Binding> {
        self.delivery.bindings.iter().find(|binding| binding.token == token)
    }

    /// Tells the person what came of it.
    fn react(&self, tapped: Tapped) -> Result<Reaction, ChannelsError> {
        let place = &self.delivery.place;
        let calls = match feedback(tapped) {
            Some(feedback) => {
                let target = self.known.told(self.rules, &place.target, || About::Feedback(feedback))?;
                self.known.plugin.render_feedback(&place.channel, &target, feedback, Some(self.tap))??
            }
            None => Vec::new(),
        };
        Ok(Reaction { tapped, prompt: Some(self.prompt.id.clone()), calls })
    }

    /// Opens a place to type own text.
    fn compose(&self, binding: &Binding, message: Option<&str>) -> Result<Reaction, ChannelsError> {
        let place = &self.delivery.place;
        let target = self.known.told(self.rules, &place.target, || About::Prompt(self.prompt.clone()))?;
        let calls = self.known.plugin.render_composer(
            self.prompt,
            &place.channel,
            &target,
            binding,
            message,
            self.tap,
        )??;
        Ok(Reaction { tapped: Tapped::Composer, prompt: Some(self.prompt.id.clone()), calls })
    }
}

impl Reaction {
    fn of(tapped: Tapped) -> Self {
        Self { tapped, prompt: None, calls: Vec::new() }
    }
}

/// How a prompt that is pending no more ended, for whoever taps now.
fn ended(prompt: &Prompt) -> Option<Tapped> {
    let settlement = prompt.settlement.as_ref()?;
    Some(match settlement.outcome {
        Outcome::NoAnswer(NoAnswerReason::Expired) => Tapped::Expired,
        Outcome::Answered(_) | Outcome::NoAnswer(_) => Tapped::AlreadyEnded,
    })
}

fn feedback(tapped: Tapped) -> Option<Feedback> {
    match tapped {
        Tapped::NotOurs | Tapped::Nothing | Tapped::Composer => None,
        Tapped::Part => Some(Feedback::Received),
        Tapped::Answered | Tapped::Skipped => Some(Feedback::Accepted),
        Tapped::AlreadyEnded => Some(Feedback::AlreadyAnswered),
        Tapped::Expired => Some(Feedback::Expired),
        Tapped::NotAllowed => Some(Feedback::NotAllowed),
        Tapped::NothingChosen => Some(Feedback::NothingChosen),
        Tapped::Refused => Some(Feedback::TryAgain),
    }
}

/// A tap on a control of a prompt that is kept no more, or a submit with nothing chosen that names no control.
fn gone(
    rules: &Plugin,
    known: &Known,
    channel: &str,
    tokens: &[String],
    interaction: &Interaction,
    tap: &Tap,
) -> Result<Reaction, ChannelsError> {
    let tapped = if tokens.is_empty() { Tapped::NothingChosen } else { Tapped::Expired };
    let Some(address) = interaction.conversation.clone() else { return Ok(Reaction::of(tapped)) };
    // Nothing is known of the place any more: as if others read there.
    let target = Target { address, shared: true, ..Target::private(None) };
    let calls = match feedback(tapped) {
        Some(feedback) => {
            let target = known.told(rules, &target, || About::Feedback(feedback))?;
            known.plugin.render_feedback(channel, &target, feedback, Some(tap))??
        }
        None => Vec::new(),
    };
    Ok(Reaction { calls, ..Reaction::of(tapped) })
}

/// Whether a payload is of a size and depth that every component can read.
fn readable(payload: &str) -> Result<(), ChannelsError> {
    if payload.len() > LONGEST_PAYLOAD {
        let length = payload.len();
        return Err(ChannelsError::Malformed(format!("it has {length} bytes of at most {LONGEST_PAYLOAD}")));
    }
    let (mut depth, mut deepest, mut in_string, mut escaped) = (0_usize, 0, false, false);
    for byte in payload.bytes() {
        match byte {
            _ if escaped => escaped = false,
            b'\\' if in_string => escaped = true,
            b'"' => in_string = !in_string,
            b'[' | b'{' if !in_string => {
                depth += 1;
                deepest = deepest.max(depth);
            }
            b']' | b'}' if !in_string => depth = depth.saturating_sub(1),
            _ => {}
        }
    }
    if deepest > DEEPEST_PAYLOAD {
        return Err(ChannelsError::Malformed(format!(
            "it is nested {deepest} deep of at most {DEEPEST_PAYLOAD}"
        )));
    }
    Ok(())
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn a_payload_is_as_deep_as_its_brackets_outside_of_strings() {
        let nested = |depth: usize| format!("{}1{}", "[".repeat(depth), "]".repeat(depth));
        readable(&nested(DEEPEST_PAYLOAD)).unwrap();
        readable(&format!("{{\"a\": \"\\\"{}\"}}", "[".repeat(1000))).unwrap();
        let error = readable(&nested(DEEPEST_PAYLOAD + 1)).unwrap_err();
        assert_eq!(error.to_string(), "this is no tap: it is nested 65 deep of at most 64");
        let long = readable(&" ".repeat(LONGEST_PAYLOAD + 1)).unwrap_err();
        assert!(long.to_string().contains("1048577 bytes"), "{long}");
    }
}
