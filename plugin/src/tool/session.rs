//! Which sessions may ask (ruling 10).

use crate::model::{Origin, SessionKind};
use crate::text::trim;

/// Why a run may not ask: it does not belong to a session that a person talks to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Standing {
    /// The run has no session.
    NoSession,
    /// It is a subagent's.
    Subagent,
    /// It is driven over the Agent Client Protocol.
    Acp,
    /// A schedule started it.
    Scheduled,
    /// A heartbeat started it.
    Heartbeat,
}

/// What keeps a run from asking, if anything does: the stricter of what the caller declares and what the session
/// key's form says.
pub fn objection(origin: &Origin) -> Option<Standing> {
    let Some(key) = origin.session_key.as_deref().map(trim).filter(|key| !key.is_empty()) else {
        return Some(Standing::NoSession);
    };
    match origin.session_kind {
        None | Some(SessionKind::Main) => objection_to_key(&key.to_lowercase()),
        Some(SessionKind::Subagent) => Some(Standing::Subagent),
        Some(SessionKind::Acp) => Some(Standing::Acp),
        Some(SessionKind::Scheduled) => Some(Standing::Scheduled),
        Some(SessionKind::Heartbeat) => Some(Standing::Heartbeat),
    }
}

/// Keys look like `agent:<agent>:<rest>` or bare `<rest>`. What kind of session it is stands at the start of the rest;
/// a subagent may hang below any session, and a heartbeat's own session ends in its name.
fn objection_to_key(key: &str) -> Option<Standing> {
    let mut segments: Vec<&str> = key.split(':').map(trim).collect();
    if segments.first() == Some(&"agent") && segments.len() > 2 {
        segments.drain(..2);
    }
    match segments.first().copied() {
        Some("acp") => return Some(Standing::Acp),
        Some("cron" | "schedule" | "scheduled") => return Some(Standing::Scheduled),
        Some("heartbeat") => return Some(Standing::Heartbeat),
        _ => {}
    }
    // A subagent's own segment is followed by its id; the word at the very end is a peer's name.
    let (last, before) = segments.split_last().map_or(("", [].as_slice()), |(last, before)| (*last, before));
    if before.contains(&"subagent") || (last == "subagent" && before.is_empty()) {
        return Some(Standing::Subagent);
    }
    if last == "heartbeat" {
        return Some(Standing::Heartbeat);
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn origin(key: Option<&str>, kind: Option<SessionKind>) -> Origin {
        Origin { session_key: key.map(str::to_owned), session_kind: kind, ..Origin::default() }
    }

    #[test]
    fn the_form_of_the_key_tells_the_kind() {
        for (key, expected) in [
            ("main", None),
            ("agent:main:main", None),
            ("agent:dev:telegram:direct:42", None),
            ("agent:dev:discord:channel:heartbeat-fans", None),
            ("agent:main:subagent:1f0c", Some(Standing::Subagent)),
            ("subagent:1f0c", Some(Standing::Subagent)),
            ("AGENT:Main:SubAgent:1f0c", Some(Standing::Subagent)),
            ("agent:main:telegram:direct:42:subagent:9", Some(Standing::Subagent)),
            ("agent:main:acp:5e", Some(Standing::Acp)),
            ("agent:main:cron:nightly", Some(Standing::Scheduled)),
            ("cron:nightly:run:4", Some(Standing::Scheduled)),
            ("agent:main:main:heartbeat", Some(Standing::Heartbeat)),
            ("  ", Some(Standing::NoSession)),
        ] {
            assert_eq!(objection(&origin(Some(key), None)), expected, "{key}");
        }
        assert_eq!(objection(&origin(None, Some(SessionKind::Main))), Some(Standing::NoSession));
    }

    /// B68: nothing a caller declares can lift what the key says.
    #[test]
    fn a_declared_kind_can_only_be_stricter() {
        let key = Some("agent:main:subagent:1f0c");
        assert_eq!(objection(&origin(key, Some(SessionKind::Main))), Some(Standing::Subagent));
        let main = Some("agent:main:main");
        assert_eq!(objection(&origin(main, Some(SessionKind::Main))), None);
        assert_eq!(objection(&origin(main, Some(SessionKind::Heartbeat))), Some(Standing::Heartbeat));
        assert_eq!(objection(&origin(main, Some(SessionKind::Scheduled))), Some(Standing::Scheduled));
        assert_eq!(objection(&origin(main, Some(SessionKind::Acp))), Some(Standing::Acp));
        assert_eq!(objection(&origin(main, Some(SessionKind::Subagent))), Some(Standing::Subagent));
    }
}
