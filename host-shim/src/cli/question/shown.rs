//! What people see of a question: text that came from elsewhere, cleaned.

use serde_json::{Map, Value};

use crate::client::{Outcome, Question, Record, Status};
use crate::contract;
use crate::terminal::text::{Lines, clean};

/// Foreign text on one line.
pub(super) fn one_line(text: &str) -> String {
    clean(text, Lines::One).trim().to_owned()
}

/// What is asked, on one line: the first question, and how many there are.
pub(super) fn summary(record: &Record) -> String {
    let Some(first) = record.questions.first() else { return String::new() };
    let (header, question) = (one_line(&first.header), one_line(&first.question));
    let mut summary = if header.is_empty() { question } else { format!("{header}: {question}") };
    if record.questions.len() > 1 {
        summary.push_str(&format!(" (+{})", record.questions.len() - 1));
    }
    summary
}

/// How long until a moment, as a person reads it: `0:45`, `14:59`, `2h 05m`, `3d 02h`.
pub(super) fn time_left(until: u64, now: u64) -> String {
    let seconds = until.saturating_sub(now) / 1_000;
    let (minutes, hours, days) = (seconds / 60, seconds / 3_600, seconds / 86_400);
    match seconds {
        0..3_600 => format!("{minutes}:{:02}", seconds % 60),
        3_600..86_400 => format!("{hours}h {:02}m", minutes % 60),
        _ => format!("{days}d {:02}h", hours % 24),
    }
}

/// A moment, as a person and a program read it.
pub(super) fn moment(milliseconds: u64) -> String {
    let moment = std::time::UNIX_EPOCH.checked_add(std::time::Duration::from_millis(milliseconds));
    // The year 9999 is as far as this form goes; whatever is beyond is shown as the number that came.
    const LAST: u64 = 253_402_300_799_999;
    match moment {
        Some(moment) if milliseconds <= LAST => humantime::format_rfc3339_seconds(moment).to_string(),
        _ => milliseconds.to_string(),
    }
}

/// How a question ended, on one line.
pub(super) fn outcome(outcome: &Outcome) -> String {
    match (outcome.status, &outcome.answers) {
        (Status::Answered, Some(answers)) => {
            let answers = answers.answers.iter();
            let texts: Vec<String> = answers
                .map(|(question, values)| {
                    let values: Vec<String> = values.iter().map(|value| one_line(value)).collect();
                    format!("{}: {}", one_line(question), values.join(", "))
                })
                .collect();
            texts.join("; ")
        }
        (status, _) => with_reason(status, &outcome.more),
    }
}

/// How far a question is, with our reason where there is one.
pub(super) fn with_reason(status: Status, more: &Map<String, Value>) -> String {
    match reason(more) {
        Some(reason) if reason != status.word() => format!("{} ({reason})", status.word()),
        _ => status.word().to_owned(),
    }
}

/// Why a question ended without an answer, where the gateway says so.
pub(super) fn reason(more: &Map<String, Value>) -> Option<String> {
    more.get("reason").and_then(Value::as_str).map(one_line)
}

/// The prompt of a record as the plugin knows it, pending, with these of its questions.
pub(super) fn prompt<'a>(
    record: &Record,
    questions: impl IntoIterator<Item = &'a Question>,
) -> contract::Prompt {
    let question = |question: &Question| contract::Question {
        id: question.question_id.clone(),
        header: question.header.clone(),
        text: question.question.clone(),
        choices: question
            .options
            .iter()
            .map(|choice| contract::Choice {
                label: choice.label.clone(),
                description: choice.description.clone(),
            })
            .collect(),
        multi_select: question.multi_select,
        is_other: question.is_other,
        is_secret: None,
        url: question.more.get("url").and_then(Value::as_str).map(str::to_owned),
    };
    contract::Prompt {
        id: record.id.clone(),
        questions: questions.into_iter().map(question).collect(),
        origin: contract::Origin {
            agent: record.agent_id.clone(),
            session_key: record.session_key.clone(),
            run: record.run_id.clone(),
            ..contract::Origin::default()
        },
        created_at: record.created_at_ms,
        expires_at: record.expires_at_ms,
        settlement: None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn time_is_told_in_two_parts() {
        for (milliseconds, text) in [
            (0, "0:00"),
            (45_999, "0:45"),
            (899_000, "14:59"),
            (7_500_000, "2h 05m"),
            (270_000_000, "3d 03h"),
        ] {
            assert_eq!(time_left(1_000 + milliseconds, 1_000), text);
        }
        assert_eq!(time_left(5, 1_000), "0:00");
        assert_eq!(moment(1_700_000_000_000), "2023-11-14T22:13:20Z");
        assert_eq!(moment(u64::MAX), u64::MAX.to_string());
    }

    #[test]
    fn foreign_text_commands_no_terminal() {
        let record: Record = serde_json::from_value(json!({
            "id": "a", "createdAtMs": 1, "expiresAtMs": 2, "status": "pending",
            "questions": [
                { "questionId": "q", "header": "H\u{1b}[2J", "question": "one\ntwo\u{202e}", "options": [] },
                { "questionId": "r", "header": "", "question": "?", "options": [] },
            ],
        }))
        .expect("a record");
        assert_eq!(summary(&record), "H[2J: one two (+1)");
        let ended: Outcome = serde_json::from_value(json!({
            "status": "answered", "answers": { "answers": { "q": ["a\u{7}", "b\nc"], "r": ["d"] } },
        }))
        .expect("an outcome");
        assert_eq!(outcome(&ended), "q: a, b c; r: d");
        let ended: Outcome = serde_json::from_value(json!({ "status": "cancelled", "reason": "skipped" }))
            .expect("an outcome");
        assert_eq!(outcome(&ended), "cancelled (skipped)");
    }
}
