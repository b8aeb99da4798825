//! What a caller may do, as OpenClaw names it.

/// Read what the gateway knows.
pub(crate) const READ: &str = "operator.read";
/// Act in sessions.
pub(crate) const WRITE: &str = "operator.write";
/// Act in sessions that the caller owns; `operator.write` implies it.
pub(crate) const SESSIONS_WRITE: &str = "operator.sessions.write";
/// See and answer every question of the tenant.
pub(crate) const QUESTIONS: &str = "operator.questions";
/// Everything.
pub(crate) const ADMIN: &str = "operator.admin";
/// Ours: name somebody else as the one who answers, as the adapter of a messaging service does.
pub(crate) const NAME_ANSWERER: &str = "ask-user.name-answerer";

/// The scopes that a token can be given.
pub(crate) const ALL: [&str; 6] = [READ, WRITE, SESSIONS_WRITE, QUESTIONS, ADMIN, NAME_ANSWERER];

/// What one connection was granted.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Granted(Vec<String>);

impl Granted {
    /// What a client asked for, as far as its token goes, in the order asked and each once. A token with
    /// [`ADMIN`] goes as far as anybody asks.
    pub(crate) fn of(asked: Vec<String>, token: &[String]) -> Self {
        let has_all = token.iter().any(|scope| scope == ADMIN);
        let mut granted = Vec::new();
        for scope in asked {
            if (has_all || token.contains(&scope)) && !granted.contains(&scope) {
                granted.push(scope);
            }
        }
        Self(granted)
    }

    pub(crate) fn names(&self) -> &[String] {
        &self.0
    }

    pub(crate) fn has(&self, scope: &str) -> bool {
        self.0.iter().any(|granted| granted == scope)
    }

    pub(crate) fn is_admin(&self) -> bool {
        self.has(ADMIN)
    }

    /// Whether they may use the methods of questions.
    pub(crate) fn may_question(&self) -> bool {
        self.has(QUESTIONS) || self.is_admin()
    }

    /// Whether they may act in sessions of their own only.
    pub(crate) fn is_session_scoped(&self) -> bool {
        self.has(WRITE) || self.has(SESSIONS_WRITE)
    }

    /// Whether they may name somebody else as the one who answers.
    pub(crate) fn may_name_answerers(&self) -> bool {
        self.has(NAME_ANSWERER)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scopes(names: &[&str]) -> Vec<String> {
        names.iter().map(|name| (*name).into()).collect()
    }

    #[test]
    fn a_client_gets_what_it_asks_for_as_far_as_its_token_goes() {
        let asked = || scopes(&[QUESTIONS, "x", ADMIN, QUESTIONS]);
        assert_eq!(Granted::of(asked(), &scopes(&[QUESTIONS, READ])).names(), [QUESTIONS]);
        assert_eq!(Granted::of(asked(), &scopes(&[ADMIN])).names(), [QUESTIONS, "x", ADMIN]);
        assert_eq!(Granted::of(Vec::new(), &scopes(&[ADMIN])).names(), [] as [&str; 0]);
    }
}
