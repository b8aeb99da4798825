//! What a gateway client may ask: OpenClaw's rules, which are looser than the tool's. Text is kept raw; whoever shows
//! or matches it cleans it (ruling 7).

use std::collections::{BTreeMap, BTreeSet};

use unicode_segmentation::UnicodeSegmentation;

use crate::model::{Context, Prompt, Question, Rule, Violation};
use crate::text::trim;
use crate::tool::is_id;
use crate::violations::{Violations, describe_text};

const DEFAULT_TIMEOUT_MS: u64 = 900_000;
/// Longest lifetime; a longer one is cut to it, as OpenClaw does.
const MAX_TIMEOUT_MS: u64 = 2_147_000_000;
const MAX_HEADER: usize = 12;
const MAX_URL: usize = 2048;

/// A question record that a client wants to make.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RequestParams {
    /// 1 to 3.
    pub questions: Vec<Question>,
    /// Lifetime in milliseconds.
    pub timeout_ms: Option<u64>,
}

/// Decides about a request of a gateway client; every rule it breaks is listed.
pub fn request(params: RequestParams, context: Context) -> Result<Prompt, Vec<Violation>> {
    let mut violations = Violations::default();
    if !(1..=3).contains(&params.questions.len()) {
        violations.add("questions", Rule::Count, "1 to 3 questions", params.questions.len().to_string());
    }
    let mut first_use = BTreeMap::new();
    for (index, question) in params.questions.iter().enumerate() {
        let path = format!("questions[{index}]");
        check_question(question, &path, &mut violations);
        if let Some(first) = first_use.get(question.id.as_str()) {
            violations.add(
                format!("{path}.questionId"),
                Rule::Duplicate,
                "an id of its own for every question",
                format!("{}, as in questions[{first}].questionId", describe_text(&question.id)),
            );
        } else {
            first_use.insert(question.id.as_str(), index);
        }
    }
    if params.timeout_ms == Some(0) {
        violations.add("timeoutMs", Rule::Integer, "at least 1", "0");
    }
    if context.id.is_empty() {
        violations.add("id", Rule::Blank, "a text of at least one character", "an empty text");
    }
    let timeout = params.timeout_ms.unwrap_or(DEFAULT_TIMEOUT_MS).min(MAX_TIMEOUT_MS);
    violations.into_result(|| {
        Some(Prompt {
            id: context.id,
            questions: params.questions,
            origin: context.origin,
            created_at: context.now,
            expires_at: context.now.saturating_add(timeout),
            settlement: None,
        })
    })
}

fn check_question(question: &Question, path: &str, violations: &mut Violations) {
    if !is_id(&question.id) {
        violations.add(
            format!("{path}.questionId"),
            Rule::Pattern,
            "a text that matches ^[a-z][a-z0-9_]*$",
            describe_text(&question.id),
        );
    }
    if question.header.graphemes(true).nth(MAX_HEADER).is_some() {
        violations.add(
            format!("{path}.header"),
            Rule::TooLong,
            format!("at most {MAX_HEADER} characters"),
            describe_text(&question.header),
        );
    }
    if question.text.is_empty() {
        violations.add(
            format!("{path}.question"),
            Rule::Blank,
            "a text of at least one character",
            "an empty text",
        );
    }
    if !matches!(question.choices.len(), 0 | 2..=4) {
        violations.add(
            format!("{path}.options"),
            Rule::Count,
            "no options, or 2 to 4",
            question.choices.len().to_string(),
        );
    }
    let mut seen = BTreeSet::new();
    for (index, choice) in question.choices.iter().enumerate() {
        let path = format!("{path}.options[{index}].label");
        if choice.label.is_empty() {
            violations.add(path, Rule::Blank, "a text of at least one character", "an empty text");
        } else if !seen.insert(trim(&choice.label).to_lowercase()) {
            violations.add(
                path,
                Rule::Duplicate,
                "labels that differ in more than case and surrounding white space",
                describe_text(&choice.label),
            );
        }
    }
    if question.is_secret == Some(true) {
        violations.add(
            format!("{path}.isSecret"),
            Rule::Unsupported,
            "false: credentials are never asked for with ask_user",
            "true",
        );
    }
    if let Some(url) = question.url.as_deref()
        && !is_web_address(url)
    {
        violations.add(
            format!("{path}.url"),
            Rule::Pattern,
            format!("an absolute http or https address without user name or password, at most {MAX_URL} characters"),
            describe_text(url),
        );
    }
}

/// Whether `url` is an absolute http or https address without credentials. Only what could mislead a reader or a
/// renderer is looked at; whether anybody answers there is not our business.
fn is_web_address(url: &str) -> bool {
    if url.chars().count() > MAX_URL {
        return false;
    }
    let Some((scheme, rest)) = url.split_once("://") else { return false };
    if !scheme.eq_ignore_ascii_case("http") && !scheme.eq_ignore_ascii_case("https") {
        return false;
    }
    let authority = rest.split(['/', '?', '#', '\\']).next().unwrap_or_default().trim_end_matches(' ');
    if authority.contains('@') {
        return false;
    }
    let (host, port) = match authority.rsplit_once(':') {
        Some((host, port)) if !port.contains(']') => (host, port),
        _ => (authority, ""),
    };
    let port_fits =
        port.is_empty() || (port.bytes().all(|b| b.is_ascii_digit()) && port.parse::<u16>().is_ok());
    let bare = host.strip_prefix('[').and_then(|host| host.strip_suffix(']'));
    let host_fits = match bare {
        Some(address) => {
            address.contains(':')
                && address.bytes().all(|b| b.is_ascii_hexdigit() || matches!(b, b':' | b'.'))
        }
        None => {
            !host.is_empty()
                && !host.chars().any(|c| {
                    c.is_whitespace()
                        || c.is_control()
                        || matches!(c, '<' | '>' | '[' | ']' | '^' | '|' | '%' | ':' | '"')
                })
        }
    };
    port_fits && host_fits
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn web_addresses_are_absolute_and_without_credentials() {
        for url in [
            "https://example.com",
            "http://example.com",
            "hTTp://Example.com/P",
            "https://example.com/a b",
            "https://münchen.de",
            "https://[::1]/",
            "https://example.com:65535",
            "https://example.com?a=b@c",
        ] {
            assert!(is_web_address(url), "{url}");
        }
        for url in [
            "javascript:alert(1)",
            "mailto:a@b.c",
            "https://user@example.com",
            "https://user:pw@example.com",
            "https://",
            "https:example.com",
            "\nhttps://example.com",
            "https://exa mple.com",
            "https://example.com:65536",
            "/path",
            "",
        ] {
            assert!(!is_web_address(url), "{url}");
        }
    }
}
