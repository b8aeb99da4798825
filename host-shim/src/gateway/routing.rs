//! Which session and agent a client means: session keys as OpenClaw writes them.

use super::protocol::error::{CallError, shortened};

/// Sessions that belong to no agent, and are written as they are.
const WITHOUT_AGENT: [&str; 2] = ["global", "unknown"];

/// Session and agent, in their stored form.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Route {
    pub(super) session: Option<String>,
    pub(super) agent: Option<String>,
}

/// The agents of this gateway.
#[derive(Clone, Debug)]
pub(super) struct Agents {
    /// The agent that a bare session key belongs to.
    pub(super) default: String,
    /// All of them; whatever is named where nobody has listed them.
    pub(super) known: Option<Vec<String>>,
}

impl Agents {
    /// The route of a call. A bare key belongs to the default agent; keys are in lower case.
    pub(super) fn route(&self, session: Option<&str>, agent: Option<&str>) -> Result<Route, CallError> {
        let Some(session) = session else {
            return Ok(Route { session: None, agent: agent.map(str::to_owned) });
        };
        let agent = match agent {
            Some(agent) => Some(self.known_agent(agent)?),
            None => None,
        };
        let key = session.trim().to_lowercase();
        if key.is_empty() || WITHOUT_AGENT.contains(&key.as_str()) {
            let session = (!key.is_empty()).then_some(key);
            return Ok(Route { session, agent: Some(agent.unwrap_or_else(|| self.default.clone())) });
        }
        let Some(rest) = key.strip_prefix("agent:") else {
            let agent = agent.unwrap_or_else(|| self.default.clone());
            return Ok(Route {
                session: Some(format!("agent:{}:{key}", agent.to_lowercase())),
                agent: Some(agent),
            });
        };
        let of_key = match rest.split_once(':') {
            Some((of_key, name)) if !of_key.is_empty() && !name.is_empty() => of_key,
            _ => return Err(CallError::invalid(format!("malformed session key {:?}", shortened(session)))),
        };
        match &agent {
            Some(agent) if agent.to_lowercase() != of_key => Err(CallError::invalid(format!(
                "agent {:?} does not match session key {:?}",
                shortened(agent),
                shortened(session)
            ))),
            _ => Ok(Route { agent: Some(of_key.to_owned()), session: Some(key) }),
        }
    }

    fn known_agent(&self, agent: &str) -> Result<String, CallError> {
        let lowered = agent.trim().to_lowercase();
        match &self.known {
            Some(known) => match known.iter().find(|known| known.to_lowercase() == lowered) {
                Some(known) => Ok(known.clone()),
                None => Err(CallError::invalid(format!("Unknown agent id {:?}", shortened(agent)))),
            },
            None if lowered.is_empty() => Err(CallError::invalid("at /agentId: must not be blank")),
            None => Ok(lowered),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn route(session: Option<&str>, agent: Option<&str>) -> Result<(String, String), String> {
        let agents = Agents { default: "dev".into(), known: Some(vec!["dev".into()]) };
        let route = agents.route(session, agent).map_err(|error| error.message)?;
        Ok((route.session.unwrap_or_else(|| "-".into()), route.agent.unwrap_or_else(|| "-".into())))
    }

    #[test]
    fn keys_are_written_as_openclaw_writes_them() {
        for (session, agent, expected) in [
            (None, None, ("-", "-")),
            (None, Some(" Nobody "), ("-", " Nobody ")),
            (Some("main"), None, ("agent:dev:main", "dev")),
            (Some(" Main "), Some("DEV"), ("agent:dev:main", "dev")),
            (Some(" "), None, ("-", "dev")),
            (Some("global"), None, ("global", "dev")),
            (Some(" Unknown "), Some("dev"), ("unknown", "dev")),
            (Some("AGENT:DEV:MAIN"), None, ("agent:dev:main", "dev")),
            (Some("agent:nope:main"), None, ("agent:nope:main", "nope")),
            (Some(":"), None, ("agent:dev::", "dev")),
        ] {
            let expected = (expected.0.to_owned(), expected.1.to_owned());
            assert_eq!(route(session, agent), Ok(expected), "{session:?} {agent:?}");
        }
    }

    #[test]
    fn what_cannot_be_is_refused() {
        for (session, agent) in [
            ("agent::main", None),
            ("agent:dev:", None),
            ("agent:dev", None),
            ("agent:dev:main", Some("nope")),
            ("agent:main:main", Some("dev")),
        ] {
            route(Some(session), agent).expect_err(session);
        }
    }

    #[test]
    fn without_a_list_any_agent_is_taken() {
        let agents = Agents { default: "main".into(), known: None };
        let route = agents.route(Some("x"), Some("Ops")).expect("it is taken");
        assert_eq!(route, Route { session: Some("agent:ops:x".into()), agent: Some("ops".into()) });
    }
}
