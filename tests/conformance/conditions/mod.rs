//! When a declared difference may show: named predicates over what a vector gives to the plugin or the gateway. None of them looks at
//! a vector's name or at the result.

mod arguments;
mod choice;
mod message;
mod part;
mod steps;

use serde_json::Value;

use crate::difference::{Place, Step};
use crate::gateway;
use crate::vectors::{File, Input, Question, Vector};

/// A predicate.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Condition {
    /// Of a whole reply.
    Message(fn(&[Question], &str) -> bool),
    /// Of a question and a piece of text that may be its answer. It holds for a reply if it holds for any such pair, and
    /// for the answer to one question if it holds for a pair with that question.
    Answer(fn(&Question, &str) -> bool),
    /// Of all arguments of a call.
    Arguments(fn(&Value) -> bool),
    /// Of the text in the arguments from which the text at the place was made.
    Text(fn(&str) -> bool),
    /// Of the steps of a scenario, up to the one at the place and with it.
    Steps(fn(&[&gateway::Step]) -> bool),
}

/// Every condition of a file.
pub(crate) fn of(file: File) -> Vec<(&'static str, Condition)> {
    match file {
        File::Replies => [message::CONDITIONS, part::CONDITIONS].concat(),
        File::ToolArguments => arguments::CONDITIONS.to_vec(),
        File::Gateway => steps::CONDITIONS.to_vec(),
    }
}

/// The condition of this name.
pub(crate) fn named(file: File, name: &str) -> Option<Condition> {
    of(file).into_iter().find_map(|(known, condition)| (known == name).then_some(condition))
}

impl Condition {
    /// Whether it holds for what stands at a place of a vector's document.
    pub(crate) fn is_true_at(self, vector: &Vector, place: &Place) -> bool {
        match (self, &vector.input) {
            (Self::Message(holds), Input::Reply { questions, reply }) => holds(questions, reply),
            (Self::Answer(holds), Input::Reply { questions, reply }) => {
                let answered = match place.0.as_slice() {
                    [Step::Member(_), Step::Member(id)] => Some(id),
                    _ => None,
                };
                questions.iter().enumerate().any(|(at, question)| {
                    answered.is_none_or(|id| question.id == *id)
                        && message::answers_to(questions, at, reply).iter().any(|text| holds(question, text))
                })
            }
            (Self::Arguments(holds), Input::Arguments(value)) => holds(value),
            (Self::Text(holds), Input::Arguments(value)) => {
                let mut texts = arguments::texts(value).into_iter();
                texts.any(|(of, text)| place.0.get(1..) == Some(of.0.as_slice()) && holds(&text))
            }
            (Self::Steps(holds), Input::Scenario(scenario)) => {
                matches!(place.0.get(1), Some(Step::Index(step)) if holds(&scenario.steps_until(*step)))
            }
            _ => false,
        }
    }
}

/// Every place of a vector's document for which a condition may be asked.
pub(crate) fn places(vector: &Vector) -> Vec<Place> {
    let root = Place::default();
    match &vector.input {
        Input::Reply { questions, .. } => {
            let answers = root.member("answers");
            let of_answers = questions.iter().map(|question| answers.member(&question.id));
            of_answers.chain([root.member("taken"), root.member("skip")]).collect()
        }
        Input::Arguments(value) => {
            let direct = root.member("direct");
            let of_texts = arguments::texts(value).into_iter().map(|(place, _)| direct.and(&place));
            let coerced = root.member("viaCoercion");
            of_texts.chain([direct.member("ok"), direct.member("category"), coerced.member("ok")]).collect()
        }
        Input::Scenario(_) => {
            let mut places = Vec::new();
            steps::places(&root, &vector.expected, &mut places);
            places
        }
    }
}
