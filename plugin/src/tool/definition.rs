//! What a model is told about the tool. The schemas are files, so that they can be read as what they are; a test holds
//! their numbers against those that the arguments are checked with.

use super::session::objection;
use crate::model::Origin;

/// What a model is told about the tool.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Definition {
    /// `ask_user`.
    pub name: String,
    /// Name for people.
    pub title: String,
    /// When and how to use it.
    pub description: String,
    /// JSON Schema of the arguments.
    pub parameters: String,
    /// JSON Schema of the result.
    pub output_schema: String,
}

/// The tool as this origin may use it, or nothing where it may not ask (ruling 10).
pub fn definition(origin: &Origin) -> Option<Definition> {
    objection(origin).is_none().then(|| Definition {
        name: "ask_user".into(),
        title: "Ask the user".into(),
        description: DESCRIPTION.into(),
        parameters: PARAMETERS.trim_ascii_end().into(),
        output_schema: OUTPUT_SCHEMA.trim_ascii_end().into(),
    })
}

const PARAMETERS: &str = include_str!("parameters.schema.json");
const OUTPUT_SCHEMA: &str = include_str!("result.schema.json");

/// At most 1024 characters, which is where OpenAI draws the line.
const DESCRIPTION: &str = "\
Ask the human one to three structured questions and wait for the answers.

Use it only when blocked on a decision that genuinely belongs to the user and that the request, the code or a sensible \
default cannot settle. Never ask whether you may proceed, to confirm your own plan, or for credentials.

- Ask exactly one question per call unless several answers must be submitted together: one question can use native \
messaging controls.
- Put every selectable choice in `options`, never only in the question's prose.
- Put the recommended option first and end its label with ` (Recommended)`.
- Set `multiSelect` only when several options can be chosen at once.
- Do not add an `Other` option: free text is added automatically.

The call waits until the user answers, skips or `timeoutSeconds` run out. Answers are arrays of chosen labels and own \
words, keyed by question id. After `no_answer` continue with your best judgment; nothing was chosen for the user.";

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::*;
    use crate::model::{NoAnswerReason, SessionKind};
    use crate::tool::arguments::{DEFAULT_TIMEOUT, MAX_HEADER, MAX_LABEL, OPTIONS, QUESTIONS, TIMEOUT};

    /// B60, B68: main sessions get the tool, others do not even see it.
    #[test]
    fn only_a_main_session_is_offered_the_tool() {
        let main = Origin { session_key: Some("agent:main:main".into()), ..Origin::default() };
        assert_eq!(definition(&main).unwrap().name, "ask_user");
        for kind in [SessionKind::Subagent, SessionKind::Acp, SessionKind::Scheduled, SessionKind::Heartbeat]
        {
            assert_eq!(definition(&Origin { session_kind: Some(kind), ..main.clone() }), None);
        }
        assert_eq!(definition(&Origin::default()), None);
    }

    #[test]
    fn the_description_is_short_enough_for_every_api() {
        let length = DESCRIPTION.chars().count();
        assert!(length <= 1024, "{length} characters");
    }

    #[test]
    fn the_schema_has_the_numbers_that_are_checked() {
        let schema: Value = serde_json::from_str(PARAMETERS).unwrap();
        let questions = &schema["properties"]["questions"];
        assert_eq!(questions["minItems"], *QUESTIONS.start());
        assert_eq!(questions["maxItems"], *QUESTIONS.end());
        let question = &questions["items"]["properties"];
        assert_eq!(question["options"]["minItems"], *OPTIONS.start());
        assert_eq!(question["options"]["maxItems"], *OPTIONS.end());
        assert_eq!(question["options"]["items"]["properties"]["label"]["maxLength"], MAX_LABEL);
        let says = |value: &Value, number: String| value["description"].as_str().unwrap().contains(&number);
        assert!(says(&question["header"], MAX_HEADER.to_string()));
        let timeout = &schema["properties"]["timeoutSeconds"];
        for number in [DEFAULT_TIMEOUT, *TIMEOUT.start(), *TIMEOUT.end()] {
            assert!(says(timeout, number.to_string()));
        }
    }

    #[test]
    fn the_output_schema_names_every_reason() {
        let schema: Value = serde_json::from_str(OUTPUT_SCHEMA).unwrap();
        let reasons = [
            NoAnswerReason::Expired,
            NoAnswerReason::Skipped,
            NoAnswerReason::Cancelled,
            NoAnswerReason::Undeliverable,
        ]
        .map(NoAnswerReason::word);
        assert_eq!(schema["oneOf"][1]["properties"]["reason"]["enum"], serde_json::json!(reasons));
    }
}
