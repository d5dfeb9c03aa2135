//! The tools `recall_knowledge` and `store_knowledge`, as a model calls them.
//!
//! A model writes JSON, and not always well. What it meant is read where that is certain (a
//! number in quotes, an object in quotes, `null` for nothing); anything else is answered with
//! a text that says what to write instead. Such an answer is a result, not an error.

use serde_json::{Map, Value, json};

use super::item::{DEFAULT_CONFIDENCE, Fact};
use super::keep::{Knowledge, KnowledgeError};
use super::recall::{CONVENTIONS, DEFAULT_LIMIT, Recall, Recalled};
use crate::error::Violations;
use crate::route::MAX_LIMIT;
use crate::text::nearest_names;

/// Name of the tool that recalls.
pub const RECALL: &str = "recall_knowledge";
/// Name of the tool that stores.
pub const STORE: &str = "store_knowledge";
/// Bytes of the arguments.
pub const MAX_ARGUMENTS_BYTES: usize = 256 << 10;

/// A tool as it is offered to a model.
#[derive(Debug, Clone, PartialEq)]
pub struct Definition {
    /// Its name.
    pub name: &'static str,
    /// What it does.
    pub description: &'static str,
    /// JSON Schema of its arguments.
    pub input_schema: Value,
}

/// What a call gives the model.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ToolResult {
    /// Text for the model.
    pub text: String,
    /// Whether the call has to be made in another way.
    pub is_error: bool,
}

/// Both tools.
pub fn definitions() -> [Definition; 2] {
    let recall = Definition {
        name: RECALL,
        description: "Recalls what is known: facts and conventions that fit a query, or, with \
                      scope \"conventions\" and a directory, the coding conventions that hold \
                      there, nearest first.",
        input_schema: json!({
            "type": "object",
            "properties": {
                "query": {
                    "type": "string",
                    "description": "What to look for; for conventions the language, such as \"rust\"."
                },
                "limit": {
                    "type": "integer", "minimum": 1, "maximum": MAX_LIMIT, "default": DEFAULT_LIMIT,
                    "description": "Most items to return."
                },
                "directory": {
                    "type": "string",
                    "description": "Directory below the root of the project, such as \"src/api\"."
                },
                "scope": {
                    "type": "string", "enum": [CONVENTIONS],
                    "description": "Leave it out for a search; \"conventions\" needs a directory."
                }
            },
            "required": ["query"],
            "additionalProperties": false
        }),
    };
    let store = Definition {
        name: STORE,
        description: "Stores a fact for later: subject, predicate, object.",
        input_schema: json!({
            "type": "object",
            "properties": {
                "subject": {"type": "string", "description": "What the fact is about."},
                "predicate": {"type": "string", "description": "How subject and object relate."},
                "object": {"type": "string", "description": "What is said of the subject."},
                "confidence": {
                    "type": "number", "minimum": 0, "maximum": 1, "default": DEFAULT_CONFIDENCE,
                    "description": "How sure it is."
                }
            },
            "required": ["subject", "predicate", "object"],
            "additionalProperties": false
        }),
    };
    [recall, store]
}

impl Knowledge {
    /// Carries out a model's call of one of the tools. `agent_id` is who asks.
    ///
    /// # Errors
    ///
    /// Only what is no fault of the call's: the store's failures. No room is told the model.
    pub async fn call_tool(
        &self,
        name: &str,
        arguments: &str,
        agent_id: &str,
    ) -> Result<ToolResult, KnowledgeError> {
        let definitions = definitions();
        let Some(tool) = definitions.iter().find(|tool| tool.name == name) else {
            let shown: String = name.chars().take(100).collect();
            return Ok(refusal(format!(
                "There is no tool {shown:?}: use {RECALL} or {STORE}."
            )));
        };
        let mut arguments = match Arguments::read(tool, arguments) {
            Ok(arguments) => arguments,
            Err(why) => return Ok(refusal(why)),
        };
        match name {
            RECALL => {
                let recall = Recall {
                    query: arguments.text("query").unwrap_or_default(),
                    limit: arguments.count("limit"),
                    directory: arguments.text("directory"),
                    scope: arguments.text("scope"),
                    max_context_tokens: None,
                };
                if let Some(refused) = arguments.refused() {
                    return Ok(refused);
                }
                answer(tool, self.recall(&recall).await, told)
            }
            _ => {
                let mut part = |name| arguments.text(name).unwrap_or_default();
                let parts = [part("subject"), part("predicate"), part("object")];
                let confidence = arguments.number("confidence").unwrap_or(DEFAULT_CONFIDENCE);
                if let Some(refused) = arguments.refused() {
                    return Ok(refused);
                }
                let [subject, predicate, object] = parts;
                let fact = Fact::new(&subject, &predicate, &object, confidence, agent_id);
                answer(tool, self.store_fact(fact).await, |fact| {
                    format!("Stored: {} (confidence {}).", fact.line(), fact.confidence)
                })
            }
        }
    }
}

/// What was recalled, for the model.
fn told(recalled: Recalled) -> String {
    let mut text = match recalled.items.is_empty() {
        true => "Nothing is known about that.".to_owned(),
        false => recalled.context.message,
    };
    if recalled.cut_count > 0 {
        let count = recalled.cut_count;
        text.push_str(&format!(
            "\n\n{count} more that are farther away were left out; ask with a larger limit."
        ));
    }
    text
}

/// What a call gave: a violation is for the model to mend.
fn answer<T>(
    tool: &Definition,
    outcome: Result<T, KnowledgeError>,
    tell: impl FnOnce(T) -> String,
) -> Result<ToolResult, KnowledgeError> {
    match outcome {
        Ok(value) => Ok(ToolResult {
            text: tell(value),
            is_error: false,
        }),
        Err(KnowledgeError::Invalid(violations)) => Ok(refusal(complaint(tool, &violations))),
        Err(error @ KnowledgeError::Full(_)) => Ok(refusal(format!("Not stored: {error}."))),
        Err(error) => Err(error),
    }
}

fn refusal(text: String) -> ToolResult {
    ToolResult {
        text,
        is_error: true,
    }
}

fn complaint(tool: &Definition, violations: &Violations) -> String {
    let all: Vec<String> = violations
        .as_slice()
        .iter()
        .map(|found| format!("{:?} {}", found.field, found.message))
        .collect();
    format!(
        "{} was not carried out: {}. {}",
        tool.name,
        all.join("; "),
        usage(tool)
    )
}

/// How the tool is called.
fn usage(tool: &Definition) -> &'static str {
    match tool.name {
        RECALL => {
            "Call it with JSON such as {\"query\": \"rust\", \"limit\": 5}, or {\"query\": \
             \"rust\", \"directory\": \"src/api\", \"scope\": \"conventions\"}."
        }
        _ => {
            "Call it with JSON such as {\"subject\": \"build\", \"predicate\": \"needs\", \
             \"object\": \"Rust 1.95\", \"confidence\": 0.8}."
        }
    }
}

/// Arguments of one call, and what is wrong with them.
struct Arguments<'a> {
    tool: &'a Definition,
    values: Map<String, Value>,
    violations: Violations,
}

impl<'a> Arguments<'a> {
    /// Reads JSON; the error is for the model.
    fn read(tool: &'a Definition, json: &str) -> Result<Self, String> {
        let wrong = |why: String| format!("{}: {why} {}", tool.name, usage(tool));
        let size = json.len();
        if size > MAX_ARGUMENTS_BYTES {
            return Err(wrong(format!(
                "the arguments have {size} bytes, more than {MAX_ARGUMENTS_BYTES}."
            )));
        }
        let parse = |json: &str| serde_json::from_str::<Value>(unfenced(json));
        let value = match json.trim() {
            "" => Ok(Value::Object(Map::new())),
            json => parse(json),
        };
        let value = match value {
            // An object in quotes: written as JSON twice.
            Ok(Value::String(inner)) => parse(&inner),
            value => value,
        };
        match value {
            Ok(Value::Object(values)) => Self::over(tool, values).map_err(wrong),
            Ok(other) => {
                let kind = kind_of(&other);
                Err(wrong(format!(
                    "the arguments must be a JSON object, not {kind}."
                )))
            }
            Err(error) => Err(wrong(format!("the arguments are no JSON: {error}."))),
        }
    }

    /// Takes values: none that is unknown, all that are required.
    fn over(tool: &'a Definition, values: Map<String, Value>) -> Result<Self, String> {
        let schema = &tool.input_schema;
        let known: Vec<&str> = schema["properties"]
            .as_object()
            .map(|properties| properties.keys().map(String::as_str).collect())
            .unwrap_or_default();
        for name in values.keys() {
            if !known.contains(&name.as_str()) {
                let name: String = name.chars().take(100).collect();
                let near = nearest_names(&name, known.iter().copied(), 1);
                let near = near
                    .first()
                    .map_or(String::new(), |near| format!(" Did you mean {near:?}?"));
                let known = known.join(", ");
                return Err(format!(
                    "there is no argument {name:?}: they are {known}.{near}"
                ));
            }
        }
        let is_there = |name: &str| values.get(name).is_some_and(|value| !value.is_null());
        let required = schema["required"].as_array().into_iter().flatten();
        let missing: Vec<String> = required
            .filter_map(Value::as_str)
            .filter(|name| !is_there(name))
            .map(|name| format!("{name:?}"))
            .collect();
        if !missing.is_empty() {
            return Err(format!("{} is missing.", missing.join(" and ")));
        }
        Ok(Self {
            tool,
            values,
            violations: Violations::default(),
        })
    }

    fn take(&mut self, name: &str) -> Option<Value> {
        self.values.remove(name).filter(|value| !value.is_null())
    }

    fn text(&mut self, name: &str) -> Option<String> {
        match self.take(name)? {
            Value::String(text) => Some(text),
            // A number or a truth value says the same as text.
            value @ (Value::Number(_) | Value::Bool(_)) => Some(value.to_string()),
            other => {
                let kind = kind_of(&other);
                self.violations
                    .add(name, format!("must be text, not {kind}"));
                None
            }
        }
    }

    fn number(&mut self, name: &str) -> Option<f64> {
        let value = self.take(name)?;
        let number = match &value {
            Value::Number(number) => number.as_f64(),
            Value::String(text) => text.trim().parse().ok(),
            _ => None,
        };
        if number.is_none() {
            self.violations
                .add(name, format!("must be a number, not {}", shown(&value)));
        }
        number
    }

    fn count(&mut self, name: &str) -> Option<usize> {
        let number = self.number(name)?;
        if number.fract() == 0.0 && (0.0..=1e9).contains(&number) {
            return Some(number as usize);
        }
        let message = format!("{number} is not within 1 to {MAX_LIMIT}, or no whole number");
        self.violations.add(name, message);
        None
    }

    fn refused(&self) -> Option<ToolResult> {
        let wrong = !self.violations.as_slice().is_empty();
        wrong.then(|| refusal(complaint(self.tool, &self.violations)))
    }
}

/// JSON without the Markdown fence that some models put around it.
fn unfenced(json: &str) -> &str {
    let json = json.trim();
    let inner = json
        .strip_prefix("```")
        .and_then(|rest| rest.strip_suffix("```"));
    match inner {
        Some(inner) => inner.strip_prefix("json").unwrap_or(inner).trim(),
        None => json,
    }
}

fn kind_of(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "a truth value",
        Value::Number(_) => "a number",
        Value::String(_) => "text",
        Value::Array(_) => "a list",
        Value::Object(_) => "an object",
    }
}

fn shown(value: &Value) -> String {
    match value {
        Value::Array(_) | Value::Object(_) => kind_of(value).to_owned(),
        value => value.to_string().chars().take(100).collect(),
    }
}
