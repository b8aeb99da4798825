//! What a channel is asked to do with a prompt: where it is shown, how long it is, how it ends, what people are told.

use ask_user_plugin::catalogue::LANGUAGES;
use ask_user_plugin::channel::{Descriptor, Feedback, Person, Target};
use ask_user_plugin::model::{Answer, NoAnswerReason, Outcome, Prompt, Settlement};
use proptest::prelude::*;
use proptest::sample::select;

use crate::prompts::text;

/// Everything that people are told.
pub(crate) const FEEDBACK: [Feedback; 7] = [
    Feedback::Received,
    Feedback::Accepted,
    Feedback::AlreadyAnswered,
    Feedback::Expired,
    Feedback::NotAllowed,
    Feedback::NothingChosen,
    Feedback::TryAgain,
];

/// A target of this channel.
pub(crate) fn target(channel: &Descriptor) -> impl Strategy<Value = Target> + use<> {
    let address = channel.example_address.clone();
    let locale = select(LANGUAGES.map(|language| language.tag).to_vec());
    // A channel or an anonymous administrator speaks in a group of Telegram under a negative number.
    let requester = proptest::option::of((select(vec!["7", "U7", "-1001"]), proptest::option::of(text())));
    let flags = (any::<bool>(), any::<bool>(), any::<bool>(), any::<bool>());
    (locale, requester, flags).prop_map(move |(locale, requester, (thread, shared, extras, callback))| {
        Target {
            address: address.clone(),
            thread: thread.then(|| "7".to_owned()),
            locale: Some(locale.to_owned()),
            shared,
            extras,
            requester: requester.map(|(id, name)| Person { id: id.to_owned(), name }),
            callback_url: callback.then(|| "https://host.example/taps".to_owned()),
        }
    })
}

/// The same prompt with longer texts, up to more than any message holds.
pub(crate) fn long(mut prompt: Prompt, times: usize) -> Prompt {
    for question in &mut prompt.questions {
        question.text = question.text.repeat(times);
        for choice in &mut question.choices {
            choice.label = choice.label.repeat(times.div_ceil(4));
        }
    }
    prompt
}

/// How a prompt may end.
pub(crate) fn ended(prompt: &Prompt) -> [Prompt; 3] {
    let answers = prompt.questions.iter().map(|question| Answer {
        question_id: question.id.clone(),
        values: question
            .choices
            .iter()
            .take(1)
            .map(|choice| choice.label.clone())
            .chain(["⚿own".into()])
            .collect(),
    });
    let outcomes = [
        Outcome::Answered(answers.collect()),
        Outcome::NoAnswer(NoAnswerReason::Expired),
        Outcome::NoAnswer(NoAnswerReason::Skipped),
    ];
    outcomes.map(|outcome| Prompt {
        settlement: Some(Settlement { outcome, at: 1, resolved_by: None, resolution_id: None }),
        ..prompt.clone()
    })
}
