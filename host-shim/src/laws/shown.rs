//! Laws about a pending prompt.

use serde_json::Value;

use super::inputs::{INJECTED, Input, Kind, MARKUP};
use super::{Broken, Law, Subject, broken, check_calls, within};
use crate::contract::{Binding, BindingTarget, Interpretation, Message, Policy, Question, Rendering};

pub(super) const EVERY_PROMPT: Law = Law {
    name: "shows every prompt, within its limits",
    on: Kind::AnyPrompt,
    holds: |subject, input| {
        let rendering = subject.rendered(input)?;
        if rendering.calls.is_empty() {
            broken!("there are no calls");
        }
        check_calls(subject.channel, &rendering.calls)?;
        if rendering.calls.iter().any(|call| call.text.trim().is_empty()) {
            broken!("the text of a call is blank");
        }
        Ok(())
    },
};

pub(super) const SAME_AGAIN: Law = Law {
    name: "makes the same of the same",
    on: Kind::AnyPrompt,
    holds: |subject, input| {
        if subject.rendered(input)? != subject.rendered(input)? {
            broken!("the same prompt and target gave two renderings");
        }
        Ok(())
    },
};

pub(super) const EVERY_CHOICE: Law = Law {
    name: "shows every choice in full, with numbers that work",
    on: Kind::PlainPrompt,
    holds: |subject, input| {
        let rendering = subject.rendered(input)?;
        let said: Vec<&str> = rendering.calls.iter().map(|call| call.text.as_str()).collect();
        let said = said.join("\n").replace(['\u{2068}', '\u{2069}'], "");
        for question in &input.prompt.questions {
            for choice in &question.choices {
                if !said.contains(&choice.label) {
                    broken!("the choice {:?} is not in the text {said:?}", choice.label);
                }
            }
        }
        match input.prompt.questions.as_slice() {
            [question] => marks_work(subject, input, question, &said),
            _ => Ok(()),
        }
    },
};

/// Whether typing what stands before a choice gives that choice.
fn marks_work(subject: &Subject<'_>, input: &Input, question: &Question, said: &str) -> Result<(), Broken> {
    for line in said.lines() {
        let Some((mark, rest)) = line.trim().split_once(char::is_whitespace) else { continue };
        let is_mark = mark.strip_suffix(['.', ')', ':']).is_some_and(|bare| {
            bare.parse::<u32>().is_ok() || (bare.len() == 1 && bare.chars().all(char::is_alphabetic))
        });
        let chosen = question
            .choices
            .iter()
            .map(|choice| choice.label.as_str())
            .filter(|label| rest.trim_start().starts_with(label))
            .max_by_key(|label| label.len());
        let (true, Some(label)) = (is_mark, chosen) else { continue };
        let typed = Message::typed(mark.trim_end_matches(':'));
        let meant = subject.rules.interpret(&input.prompt, &typed, None, Policy::default())?;
        let gives = match &meant {
            Interpretation::Answers(complete) => {
                complete.answers.first().map(|answer| answer.values.as_slice()).unwrap_or_default()
            }
            _ => &[],
        };
        if gives != [label] {
            broken!("{line:?} is shown, and whoever types {mark:?} does not get {label:?}: {meant:?}");
        }
    }
    Ok(())
}

pub(super) const NOTHING_ALIVE: Law = Law {
    name: "lets no text of a prompt come alive",
    on: Kind::AnyPrompt,
    holds: |subject, input| {
        let mut prompt = input.prompt.clone();
        for question in &mut prompt.questions {
            question.text.insert_str(0, MARKUP);
            for choice in &mut question.choices {
                choice.label.insert_str(0, MARKUP);
            }
        }
        let rendering = subject.rendered(&Input { prompt, ..input.clone() })?;
        for body in check_calls(subject.channel, &rendering.calls)? {
            for (member, text) in strings(&body) {
                if member == INJECTED {
                    broken!("text of the prompt became a member of the body: {body}");
                }
                if subject.channel.markup.contains(&member) && text.contains(MARKUP) {
                    broken!("{member} is read as markup, and holds text of the prompt as it came: {text:?}");
                }
            }
        }
        Ok(())
    },
};

impl Subject<'_> {
    /// The prompt as the channel shows it.
    pub(super) fn rendered(&self, input: &Input) -> Result<Rendering, Broken> {
        let target = self.asked(&input.target, &input.prompt)?;
        match self.plugin.render(&input.prompt, &self.channel.name, &target)? {
            Ok(rendering) => Ok(rendering),
            Err(error) => broken!("it cannot be shown: {error:?}"),
        }
    }
}

/// All strings of a document, with the name of the member that holds each.
fn strings(value: &Value) -> Vec<(String, &str)> {
    fn collect<'v>(member: &str, value: &'v Value, found: &mut Vec<(String, &'v str)>) {
        match value {
            Value::String(text) => found.push((member.to_owned(), text)),
            Value::Array(items) => items.iter().for_each(|item| collect(member, item, found)),
            Value::Object(members) => members.iter().for_each(|(name, value)| collect(name, value, found)),
            _ => {}
        }
    }
    let mut found = Vec::new();
    collect("", value, &mut found);
    found
}

pub(super) const CONTROLS: Law = Law {
    name: "has the right controls, each with a token of its own",
    on: Kind::AnyPrompt,
    holds: |subject, input| {
        let rendering = subject.rendered(input)?;
        let bindings = &rendering.bindings;
        if bindings.is_empty() {
            return Ok(());
        }
        tokens_and_labels(subject, &rendering)?;
        let questions = &input.prompt.questions;
        let is_single = matches!(questions.as_slice(), [question]
            if question.multi_select != Some(true) && !question.choices.is_empty());
        if !is_single && !input.target.extras {
            broken!(
                "there are controls for more than one single-select question, and target.extras is not set"
            );
        }
        for question in questions {
            controls_of(subject, question, bindings)?;
        }
        let known = |id: &String| questions.iter().any(|question| question.id == *id);
        for binding in bindings {
            let question = match &binding.target {
                BindingTarget::Choice(choice) => &choice.question_id,
                BindingTarget::Other(question) | BindingTarget::Submit(question) => question,
                BindingTarget::Skip => continue,
            };
            if !known(question) {
                broken!("a control is bound to the question {question:?}, which the prompt does not have");
            }
        }
        if !bindings.iter().any(|binding| binding.target == BindingTarget::Skip) {
            broken!("there are controls, and none of them skips");
        }
        Ok(())
    },
};

fn tokens_and_labels(subject: &Subject<'_>, rendering: &Rendering) -> Result<(), Broken> {
    let (Some(label), Some(bytes)) = (&subject.channel.label, subject.channel.token_bytes) else {
        broken!("there are controls, and the channel says that it has none");
    };
    let last = rendering.calls.last().map(|call| call.body.as_str()).unwrap_or_default();
    for (index, binding) in rendering.bindings.iter().enumerate() {
        let Binding { token, label: shown, .. } = binding;
        within("label of a control", shown, label)?;
        if shown.trim().is_empty() {
            broken!("the label of a control is blank");
        }
        if !(1..=bytes as usize).contains(&token.len()) {
            broken!("the token {token:?} has {} bytes, and 1 to {bytes} were promised", token.len());
        }
        for other in &rendering.bindings[..index] {
            if other.token == *token {
                broken!("two controls have the token {token:?}");
            }
            if other.label == *shown {
                broken!("two controls show {shown:?}");
            }
        }
        if !last.contains(token.as_str()) {
            broken!("the token {token:?} is not in the last call: {last}");
        }
    }
    Ok(())
}

/// Whether one question's controls offer all that its answer may be.
fn controls_of(subject: &Subject<'_>, question: &Question, bindings: &[Binding]) -> Result<(), Broken> {
    let indexes: Vec<u32> = bindings
        .iter()
        .filter_map(|binding| match &binding.target {
            BindingTarget::Choice(choice) if choice.question_id == question.id => Some(choice.index),
            _ => None,
        })
        .collect();
    if indexes.is_empty() {
        return Ok(());
    }
    if indexes.iter().enumerate().any(|(place, index)| place != *index as usize)
        || indexes.len() != question.choices.len()
    {
        broken!("the controls of {:?} choose {indexes:?} of {} choices", question.id, question.choices.len());
    }
    let has_other =
        bindings.iter().any(|binding| binding.target == BindingTarget::Other(question.id.clone()));
    if has_other && question.is_other != Some(true) {
        broken!("a control asks for own text for {:?}, which takes none", question.id);
    }
    if !has_other && question.is_other == Some(true) && subject.channel.natives.composer {
        broken!("no control asks for own text for {:?}, and natives.composer says that one can", question.id);
    }
    Ok(())
}
