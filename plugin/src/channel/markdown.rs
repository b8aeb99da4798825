//! What the services have in common that read every message as markdown.

use super::form::{Line, LineKind};

/// What a line costs beyond its text: the marks of a title.
pub(super) fn extra(kind: LineKind) -> usize {
    if kind == LineKind::Title { "****".len() } else { 0 }
}

/// Lines as markdown in which nothing but our own titles means anything. `plain` are the punctuation marks of an address
/// that the service does not read, so that an address without others stays what it is.
pub(super) fn text(lines: &[Line], escaped: fn(&str) -> String, plain: &[u8]) -> String {
    let is_plain = |url: &str| url.bytes().all(|byte| byte.is_ascii_alphanumeric() || plain.contains(&byte));
    let line = |line: &Line| match line.kind {
        LineKind::Title => format!("**{}**", escaped(&line.text)),
        LineKind::Text | LineKind::Choice => escaped(&line.text),
        LineKind::Address(start) => match line.text.split_at_checked(start) {
            Some((ours, url)) if is_plain(url) => format!("{}{url}", escaped(ours)),
            _ => escaped(&line.text),
        },
    };
    lines.iter().map(line).collect::<Vec<_>>().join("\n")
}
