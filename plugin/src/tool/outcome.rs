//! What an ask returns to the agent (ruling 20). The words are for a model and stay English.

use serde::Serialize;

use crate::model::{Answer, NoAnswerReason, Outcome, Prompt};

/// What the agent gets back.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ToolResult {
    /// The result as compact JSON.
    pub json: String,
    /// The same for a model to read.
    pub text: String,
}

#[derive(Serialize)]
#[serde(tag = "status", rename_all = "snake_case")]
enum Document<'a> {
    Answered { answers: Envelope<'a> },
    NoAnswer { reason: &'static str },
}

/// OpenClaw's envelope around answers; the inner map has the order of the questions.
#[derive(Serialize)]
pub(crate) struct Envelope<'a> {
    answers: Answers<'a>,
}

struct Answers<'a>(&'a [Answer]);

impl Serialize for Answers<'_> {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.iter().map(|answer| (&answer.question_id, &answer.values)))
    }
}

/// Answers as the wire has them: `{"answers":{"<id>":["…"]}}`.
pub(crate) fn envelope(answers: &[Answer]) -> Envelope<'_> {
    Envelope { answers: Answers(answers) }
}

/// What the call returns for this prompt; nothing while it is pending.
pub fn outcome(prompt: &Prompt) -> Option<ToolResult> {
    let settlement = prompt.settlement.as_ref()?;
    let (document, summary) = match &settlement.outcome {
        Outcome::Answered(answers) => {
            (Document::Answered { answers: envelope(answers) }, answered_summary(prompt, answers))
        }
        Outcome::NoAnswer(reason) => {
            (Document::NoAnswer { reason: reason.word() }, no_answer_summary(*reason).into())
        }
    };
    // The document holds text under fixed names and ids: there is nothing in it that JSON cannot say.
    let json = serde_json::to_string(&document).ok()?;
    let indented = serde_json::to_string_pretty(&document).ok()?;
    Some(ToolResult { json, text: format!("{summary}\n\n{indented}") })
}

fn answered_summary(prompt: &Prompt, answers: &[Answer]) -> String {
    answers
        .iter()
        .map(|answer| {
            let name = prompt
                .question(&answer.question_id)
                .map(|question| question.header.as_str())
                .filter(|header| !header.is_empty())
                .unwrap_or(&answer.question_id);
            format!("{name}: {}", answer.values.join(", "))
        })
        .collect::<Vec<_>>()
        .join("\n")
}

fn no_answer_summary(reason: NoAnswerReason) -> &'static str {
    match reason {
        NoAnswerReason::Expired => {
            "Nobody answered in time. Nothing was chosen; continue with your best judgment."
        }
        NoAnswerReason::Skipped => {
            "The user skipped the question. Nothing was chosen; continue with your best judgment."
        }
        NoAnswerReason::Cancelled => {
            "The question was cancelled. Nothing was chosen; continue with your best judgment."
        }
        NoAnswerReason::Undeliverable => {
            "The question could not be shown to anybody. Nothing was chosen; continue with your best judgment."
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{Origin, Question, Settlement};

    fn settled(outcome: Outcome) -> Prompt {
        let question = |id: &str, header: &str| Question {
            id: id.into(),
            header: header.into(),
            text: "?".into(),
            choices: Vec::new(),
            multi_select: None,
            is_other: None,
            is_secret: None,
            url: None,
        };
        Prompt {
            id: "p".into(),
            questions: vec![question("zeta", "Z"), question("constructor", "C")],
            origin: Origin::default(),
            created_at: 0,
            expires_at: 1,
            settlement: Some(Settlement { outcome, at: 1, resolved_by: None, resolution_id: None }),
        }
    }

    /// B18: answers are keyed by id, in the order of the questions, whatever the ids are called.
    #[test]
    fn answers_are_keyed_by_id_in_the_order_of_the_questions() {
        let answer = |id: &str, values: &[&str]| Answer {
            question_id: id.into(),
            values: values.iter().map(|value| (*value).into()).collect(),
        };
        let answers = vec![answer("zeta", &["a", "b"]), answer("constructor", &["say \"hi\""])];
        let result = outcome(&settled(Outcome::Answered(answers))).unwrap();
        assert_eq!(
            result.json,
            r#"{"status":"answered","answers":{"answers":{"zeta":["a","b"],"constructor":["say \"hi\""]}}}"#
        );
        assert!(result.text.starts_with("Z: a, b\nC: say \"hi\"\n\n{\n  \"status\": \"answered\","));
    }

    /// B38, B47: no end without an answer carries a choice, and each says why.
    #[test]
    fn no_answer_tells_why_and_chooses_nothing() {
        for (reason, word) in [
            (NoAnswerReason::Expired, "expired"),
            (NoAnswerReason::Skipped, "skipped"),
            (NoAnswerReason::Cancelled, "cancelled"),
            (NoAnswerReason::Undeliverable, "undeliverable"),
        ] {
            let result = outcome(&settled(Outcome::NoAnswer(reason))).unwrap();
            assert_eq!(result.json, format!(r#"{{"status":"no_answer","reason":"{word}"}}"#));
            assert!(result.text.contains("Nothing was chosen"));
        }
    }

    #[test]
    fn a_pending_prompt_has_no_result() {
        let mut prompt = settled(Outcome::NoAnswer(NoAnswerReason::Expired));
        prompt.settlement = None;
        assert_eq!(outcome(&prompt), None);
    }
}
