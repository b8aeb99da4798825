//! `ask-user question resolve` and `cancel`.

use serde_json::json;

use super::{CancelArgs, ResolveArgs, shown};
use crate::cli::exit::Exit;
use crate::cli::failure::Failure;
use crate::cli::gateway::call_failure;
use crate::cli::{output, setup};
use crate::client::{Answers, Client, EXTENSIONS, Outcome, Question, Record};
use crate::contract::{CredentialPolicy, Interpretation, Message, Policy, RepeatPolicy};
use crate::sandbox::Plugin;

pub(super) async fn run(client: &Client, args: &ResolveArgs, json: bool) -> Result<Exit, Failure> {
    let failed = |error| call_failure(error).about(&args.id);
    let answers = if args.verbatim && args.values.is_empty() {
        let mut answers = Answers::default();
        for (question, value) in &args.answer {
            answers.answers.entry(question.clone()).or_default().push(value.clone());
        }
        answers
    } else {
        let record = client.get(&args.id).await.map_err(failed)?;
        read(&record, args)?
    };
    let done = client.resolve(&args.id, &answers, args.resolution_id.as_deref()).await.map_err(failed)?;
    print(&done, json)
}

pub(super) async fn cancel(client: &Client, args: &CancelArgs, json: bool) -> Result<Exit, Failure> {
    if args.reason.is_some() && !client.hello().is_capable_of(EXTENSIONS) {
        let problem = "this gateway knows no reasons: --reason is known to ask-user's alone";
        return Err(Failure::other("unsupported", problem));
    }
    let done = client.cancel(&args.id, args.reason).await;
    print(&done.map_err(|error| call_failure(error).about(&args.id))?, json)
}

fn print(done: &Outcome, json: bool) -> Result<Exit, Failure> {
    output::result(&if json { json!(done).to_string() } else { shown::outcome(done) })?;
    if let Some(warning) = done.more.get("warning").and_then(|warning| warning.as_str())
        && !json
    {
        output::note(&shown::one_line(warning));
    }
    Ok(Exit::Done)
}

/// The answers, with choices in place of their numbers.
fn read(record: &Record, args: &ResolveArgs) -> Result<Answers, Failure> {
    let given: Vec<(&Question, &str)> = if args.answer.is_empty() {
        let [question] = record.questions.as_slice() else {
            return Err(Failure::usage(format!(
                "it has several questions: use --answer QUESTION=VALUE for each of {}",
                ids(record)
            )));
        };
        args.values.iter().map(|value| (question, value.as_str())).collect()
    } else {
        let found = args.answer.iter().map(|(id, value)| {
            let question = record.questions.iter().find(|question| question.question_id == *id);
            question
                .map(|question| (question, value.as_str()))
                .ok_or_else(|| Failure::usage(format!("it has no question {id:?}; there is {}", ids(record))))
        });
        found.collect::<Result<_, _>>()?
    };
    // Read the same way when it has ended: whoever repeats an answer has to send the same.
    let plugin = if args.verbatim { None } else { Some(setup::bundled_plugin()?) };
    let mut answers = Answers::default();
    for (question, value) in given {
        let values = match &plugin {
            Some(plugin) => interpreted(plugin, record, question, value)?,
            None => vec![value.to_owned()],
        };
        let all = answers.answers.entry(question.question_id.clone()).or_default();
        for value in values {
            // A choice may be typed twice, once as its number.
            if !all.contains(&value) {
                all.push(value);
            }
        }
    }
    Ok(answers)
}

fn ids(record: &Record) -> String {
    let ids = record.questions.iter().map(|question| shown::one_line(&question.question_id));
    ids.collect::<Vec<_>>().join(", ")
}

/// What a value means as a typed reply to this question.
fn interpreted(
    plugin: &Plugin,
    record: &Record,
    question: &Question,
    value: &str,
) -> Result<Vec<String>, Failure> {
    let prompt = shown::prompt(record, [question]);
    // What else is allowed, the gateway says.
    let policy = Policy {
        credentials: CredentialPolicy::Accept,
        own_text_limit: None,
        repeats: RepeatPolicy::FirstResult,
    };
    let read = plugin.interpret(&prompt, &Message::typed(value), None, policy);
    match read.map_err(|error| Failure::other("plugin", error))? {
        Interpretation::Answers(complete) => {
            Ok(complete.answers.into_iter().flat_map(|answer| answer.values).collect())
        }
        Interpretation::Correction(correction) => {
            Err(Failure::other("correction", correction).about(&record.id))
        }
        Interpretation::Skip => Err(Failure::usage(format!(
            "to skip it: ask-user question cancel {}",
            shown::one_line(&record.id)
        ))),
        Interpretation::Incomplete(_) | Interpretation::NotAnAnswer(_) => Ok(vec![value.to_owned()]),
    }
}
