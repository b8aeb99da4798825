//! Laws about a prompt that has ended, and about what cannot be shown.

use super::inputs::{Input, Kind};
use super::{Broken, Law, Subject, broken, check_calls};
use crate::contract::{Answer, ChannelError, NoAnswerReason, Outcome, Prompt, Rendering, Settlement, Target};

/// Own text that is found wherever it is repeated.
const OWN_TEXT: &str = "⚿own";

pub(super) const SETTLED: Law = Law {
    name: "shows how a prompt ended, without controls",
    on: Kind::AnyPrompt,
    holds: |subject, input| {
        let rendering = subject.rendered(input)?;
        let sent: Vec<String> = (70_001..).take(rendering.calls.len()).map(|id| id.to_string()).collect();
        for ended in endings(&input.prompt) {
            for messages in [sent.as_slice(), &[]] {
                settled(subject, &input.target, &ended, &rendering, messages)?;
            }
        }
        Ok(())
    },
};

fn settled(
    subject: &Subject<'_>,
    target: &Target,
    ended: &Prompt,
    rendering: &Rendering,
    messages: &[String],
) -> Result<(), Broken> {
    let outcome = ended.settlement.as_ref().map(|settlement| &settlement.outcome);
    let target = &subject.asked(target, ended)?;
    let calls = match subject.plugin.render_settled(ended, &subject.channel.name, target, messages)? {
        Ok(calls) if calls.is_empty() => broken!("nothing shows that it ended with {outcome:?}"),
        Ok(calls) => calls,
        Err(error) => broken!("it cannot be shown that it ended with {outcome:?}: {error:?}"),
    };
    check_calls(subject.channel, &calls)?;
    if calls.iter().all(|call| call.text.trim().is_empty()) {
        broken!("no text says that it ended with {outcome:?}");
    }
    for call in &calls {
        if let Some(left) = rendering.bindings.iter().find(|binding| call.body.contains(&binding.token)) {
            broken!("the control {:?} is left in {}", left.token, call.body);
        }
        if target.shared && (call.body.contains(OWN_TEXT) || call.text.contains(OWN_TEXT)) {
            broken!("others read along, and own text is repeated in {}", call.body);
        }
    }
    let edits = |id: &String| calls.iter().any(|call| call.method.contains(id) || call.body.contains(id));
    match messages.last() {
        Some(last) if subject.channel.natives.edits && !rendering.bindings.is_empty() && !edits(last) => {
            broken!("the message {last} had the controls, and no call changes it")
        }
        _ => Ok(()),
    }
}

/// How a prompt may end.
fn endings(prompt: &Prompt) -> Vec<Prompt> {
    let answers = prompt.questions.iter().map(|question| Answer {
        question_id: question.id.clone(),
        values: question
            .choices
            .iter()
            .take(1)
            .map(|choice| choice.label.clone())
            .chain([OWN_TEXT.into()])
            .collect(),
    });
    let reasons = [
        NoAnswerReason::Expired,
        NoAnswerReason::Skipped,
        NoAnswerReason::Cancelled,
        NoAnswerReason::Undeliverable,
    ];
    let outcomes =
        std::iter::once(Outcome::Answered(answers.collect())).chain(reasons.map(Outcome::NoAnswer));
    outcomes
        .map(|outcome| {
            let settlement = Settlement { outcome, at: 1, resolved_by: None, resolution_id: None };
            Prompt { settlement: Some(settlement), ..prompt.clone() }
        })
        .collect()
}

pub(super) const WRONG_STATE: Law = Law {
    name: "refuses unknown names, addresses and states by their kind",
    on: Kind::PlainPrompt,
    holds: |subject, input| {
        let Input { prompt, target, .. } = input;
        let target = &subject.asked(target, prompt)?;
        let (plugin, name) = (subject.plugin, subject.channel.name.as_str());
        let nobody = "no-channel-of-this-name";
        let unknown =
            [plugin.render(prompt, nobody, target)?.err(), plugin.interpret_interaction(nobody, "{}")?.err()];
        if unknown.iter().any(|error| !matches!(error, Some(ChannelError::UnknownChannel(_)))) {
            broken!("the channel {nobody:?} is not refused as unknown: {unknown:?}");
        }
        for ended in endings(prompt) {
            let shown = plugin.render(&ended, name, target)?;
            if !matches!(shown, Err(ChannelError::Unshowable(_))) {
                broken!("a prompt that has ended is shown as if it were pending");
            }
        }
        if !matches!(plugin.render_settled(prompt, name, target, &[])?, Err(ChannelError::Unshowable(_))) {
            broken!("a pending prompt is shown as if it had ended");
        }
        if subject.channel.example_address.is_empty() {
            return Ok(());
        }
        for address in ["", "\0 no address", "../../admin?x=1#y"] {
            let elsewhere = Target { address: address.into(), ..target.clone() };
            if !matches!(plugin.render(prompt, name, &elsewhere)?, Err(ChannelError::BadTarget(_))) {
                broken!("the address {address:?} is taken");
            }
        }
        Ok(())
    },
};
