//! What a model is told about the tool. The numbers are those that the arguments are checked with.

use serde_json::{Value, json};

use super::arguments::{DEFAULT_TIMEOUT, MAX_HEADER, MAX_LABEL, OPTIONS, QUESTIONS, TIMEOUT};
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
        parameters: parameters().to_string(),
        output_schema: output_schema().to_string(),
    })
}

const DESCRIPTION: &str = "\
Ask the human one to three structured questions and wait for the answers.

Use it only when you are blocked on a decision that genuinely belongs to the user and that the request, the code or a \
sensible default cannot settle. Do not use it to ask whether you may proceed or to confirm your own plan, and never \
for passwords, API keys or other credentials.

- Ask exactly one question per call unless several answers must be submitted together: one question can use the \
native controls of a messaging app.
- Put every selectable choice in `options`, never only in the question's prose.
- Put the option you recommend first and end its label with ` (Recommended)`.
- Set `multiSelect` only when several options can be chosen at once.
- Do not add an `Other` option: free text is always possible and is added automatically.

The call waits until the user answers, skips or the time runs out; `timeoutSeconds` is the longest wait. Answers are \
arrays of chosen labels and own words, keyed by question id. After `no_answer` continue with your best judgment; \
nothing was chosen for the user.";

fn parameters() -> Value {
    json!({
        "type": "object",
        "additionalProperties": false,
        "required": ["questions"],
        "properties": {
            "questions": {
                "type": "array",
                "minItems": QUESTIONS.start(),
                "maxItems": QUESTIONS.end(),
                "description": "The questions to ask together; usually one.",
                "items": {
                    "type": "object",
                    "additionalProperties": false,
                    "required": ["id", "header", "question", "options"],
                    "properties": {
                        "id": {
                            "type": "string",
                            "pattern": "^[a-z][a-z0-9_]*$",
                            "description": "Unique snake_case key of the answer, such as deploy_target.",
                        },
                        "header": {
                            "type": "string",
                            "minLength": 1,
                            "description": format!("Very short label; cut to {MAX_HEADER} characters."),
                        },
                        "question": {
                            "type": "string",
                            "minLength": 1,
                            "description": "The question, in one sentence.",
                        },
                        "options": {
                            "type": "array",
                            "minItems": OPTIONS.start(),
                            "maxItems": OPTIONS.end(),
                            "description": "The choices. Other is added automatically and does not count.",
                            "items": {
                                "type": "object",
                                "additionalProperties": false,
                                "required": ["label"],
                                "properties": {
                                    "label": {
                                        "type": "string",
                                        "minLength": 1,
                                        "maxLength": MAX_LABEL,
                                        "description": "One to five words, different for every option.",
                                    },
                                    "description": {
                                        "type": "string",
                                        "description": "What choosing it means, where the label does not say.",
                                    },
                                },
                            },
                        },
                        "multiSelect": {
                            "type": "boolean",
                            "description": "Whether several options can be chosen. Default false.",
                        },
                    },
                },
            },
            "timeoutSeconds": {
                "type": "integer",
                "description": format!(
                    "Longest wait in seconds; default {DEFAULT_TIMEOUT}, clamped to {} to {}.",
                    TIMEOUT.start(),
                    TIMEOUT.end()
                ),
            },
        },
    })
}

fn output_schema() -> Value {
    json!({
        "type": "object",
        "required": ["status"],
        "oneOf": [
            {
                "additionalProperties": false,
                "required": ["status", "answers"],
                "properties": {
                    "status": { "const": "answered" },
                    "answers": {
                        "type": "object",
                        "additionalProperties": false,
                        "required": ["answers"],
                        "properties": {
                            "answers": {
                                "type": "object",
                                "description": "One entry per question id: the labels chosen and own words.",
                                "additionalProperties": {
                                    "type": "array",
                                    "minItems": 1,
                                    "items": { "type": "string" },
                                },
                            },
                        },
                    },
                },
            },
            {
                "additionalProperties": false,
                "required": ["status", "reason"],
                "properties": {
                    "status": { "const": "no_answer" },
                    "reason": { "enum": ["expired", "skipped", "cancelled", "undeliverable"] },
                },
            },
        ],
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::SessionKind;

    /// B60, B68: main sessions get the tool, others do not even see it.
    #[test]
    fn only_a_main_session_is_offered_the_tool() {
        let main = Origin { session_key: Some("agent:main:main".into()), ..Origin::default() };
        assert_eq!(definition(&main).unwrap().name, "ask_user");
        for kind in [SessionKind::Subagent, SessionKind::Acp, SessionKind::Scheduled, SessionKind::Heartbeat] {
            assert_eq!(definition(&Origin { session_kind: Some(kind), ..main.clone() }), None);
        }
        assert_eq!(definition(&Origin::default()), None);
    }

    #[test]
    fn the_schemas_are_json_objects() {
        let main = Origin { session_key: Some("main".into()), ..Origin::default() };
        let definition = definition(&main).unwrap();
        for schema in [&definition.parameters, &definition.output_schema] {
            assert!(serde_json::from_str::<Value>(schema).unwrap().is_object());
        }
    }
}
