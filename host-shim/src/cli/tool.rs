//! `ask-user tool`: the definition of the tool.

use clap::ValueEnum;
use serde_json::{Value, json};

use super::exit::Exit;
use super::failure::Failure;
use super::{ToolArgs, output, setup};
use crate::contract::{Origin, ToolDefinition};
use crate::questions::Run;

/// The form in which an API takes a tool.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub(super) enum Format {
    /// OpenAI's chat completions
    Openai,
    /// Anthropic's messages
    Anthropic,
    /// A tool of the Model Context Protocol
    Mcp,
}

pub(super) fn run(args: &ToolArgs) -> Result<Exit, Failure> {
    let plugin = setup::bundled_plugin()?;
    let origin: Origin = Run::new("agent:main:main", "cli").origin().clone();
    let definition = plugin
        .definition(&origin)
        .map_err(|error| Failure::other("plugin", error))?
        .ok_or_else(|| Failure::other("plugin", "the plugin offers no tool to a main session"))?;
    let schema = |text: &str| -> Result<Value, Failure> {
        serde_json::from_str(text)
            .map_err(|error| Failure::other("plugin", format!("its schema is not JSON: {error}")))
    };
    let (parameters, result) = (schema(&definition.parameters)?, schema(&definition.output_schema)?);
    let document = match args.format {
        None if !args.json => {
            output::result(&for_people(&definition, &parameters))?;
            return Ok(Exit::Done);
        }
        None => json!({
            "name": definition.name,
            "title": definition.title,
            "description": definition.description,
            "parameters": parameters,
            "outputSchema": result,
        }),
        Some(Format::Openai) => json!({
            "type": "function",
            "function": {
                "name": definition.name,
                "description": definition.description,
                "parameters": parameters,
            },
        }),
        Some(Format::Anthropic) => json!({
            "name": definition.name,
            "description": definition.description,
            "input_schema": parameters,
        }),
        Some(Format::Mcp) => json!({
            "name": definition.name,
            "title": definition.title,
            "description": definition.description,
            "inputSchema": parameters,
            "outputSchema": result,
            "annotations": { "title": definition.title, "readOnlyHint": true, "openWorldHint": false },
        }),
    };
    output::result(&format!("{document:#}"))?;
    Ok(Exit::Done)
}

fn for_people(definition: &ToolDefinition, parameters: &Value) -> String {
    let mut text =
        format!("{} - {}\n\n{}\n\nArguments:\n", definition.name, definition.title, definition.description);
    members(parameters, 1, &mut text);
    text.trim_end().to_owned()
}

/// The members of an object's schema, one a line, indented.
fn members(schema: &Value, depth: usize, text: &mut String) {
    let Some(properties) = schema["properties"].as_object() else { return };
    let required: Vec<&str> =
        schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
    for (name, member) in properties {
        let kind = member["type"].as_str().unwrap_or("value");
        let count = match (member["minItems"].as_u64(), member["maxItems"].as_u64()) {
            (Some(least), Some(most)) => format!(" of {least} to {most}"),
            _ => String::new(),
        };
        let optional = if required.contains(&name.as_str()) { "" } else { ", optional" };
        let description = member["description"].as_str().unwrap_or_default();
        let indent = "  ".repeat(depth);
        text.push_str(&format!("{indent}{name} ({kind}{count}{optional}): {description}\n"));
        members(&member["items"], depth + 1, text);
        members(member, depth + 1, text);
    }
}
