//! Reads a configuration, and says where and why it is wrong.

use std::fmt;
use std::fs;
use std::path::{Path, PathBuf};

use super::{Config, StoreKind, Token};
use crate::gateway::{Authority, Holder, SHORTEST_TOKEN};
use crate::store::TenantId;
use crate::text::trim;

/// What is wrong with a configuration, and where.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConfigError {
    /// The file.
    pub file: PathBuf,
    /// Line and column, both from 1, where they are known.
    pub place: Option<(usize, usize)>,
    /// What is wrong.
    pub problem: String,
    /// What was perhaps meant.
    pub suggestion: Option<String>,
}

impl fmt::Display for ConfigError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}", self.file.display())?;
        if let Some((line, column)) = self.place {
            write!(formatter, ":{line}:{column}")?;
        }
        write!(formatter, ": {}", self.problem)?;
        match &self.suggestion {
            Some(suggestion) => write!(formatter, "; did you mean {suggestion:?}?"),
            None => Ok(()),
        }
    }
}

impl std::error::Error for ConfigError {}

/// A configuration that was read and makes sense.
#[derive(Clone, Debug)]
pub struct Loaded {
    /// What it says, with paths that start at its folder.
    pub config: Config,
    /// Who may connect.
    pub authority: Authority,
}

impl Loaded {
    /// Reads a file, and the files of tokens that it names.
    pub fn read(file: &Path) -> Result<Self, ConfigError> {
        let wrong =
            |problem: String| ConfigError { file: file.into(), place: None, problem, suggestion: None };
        let text = fs::read_to_string(file).map_err(|error| wrong(format!("cannot be read: {error}")))?;
        let mut config: Config = toml::from_str(&text).map_err(|error| in_text(file, &text, &error))?;
        let folder = file.parent().unwrap_or(Path::new(""));
        match (config.store.kind, &config.store.path) {
            (StoreKind::Sqlite, None) => {
                return Err(wrong("[store] needs a path, since its kind is \"sqlite\"".into()));
            }
            (StoreKind::Memory, Some(_)) => {
                return Err(wrong("[store] has a path, and its kind is \"memory\"".into()));
            }
            _ => {}
        }
        config.store.path = config.store.path.map(|path| folder.join(path));
        config.plugins.folder = config.plugins.folder.map(|path| folder.join(path));
        if config.default_agent.0.trim().is_empty() {
            return Err(wrong("default-agent is blank".into()));
        }
        for name in config.tenants.keys() {
            TenantId::new(name.as_str()).map_err(|error| wrong(format!("[tenants.{name:?}]: {error}")))?;
        }
        let mut authority = Authority::default();
        for (index, token) in config.tokens.iter().enumerate() {
            let wrong = |problem: String| wrong(format!("[[token]] {}: {problem}", index + 1));
            let (secret, holder) = admit(token, folder)
                .map_err(|problem| ConfigError { suggestion: problem.suggestion, ..wrong(problem.text) })?;
            if !authority.admit(&secret, holder) {
                return Err(wrong("the same token is there twice".into()));
            }
        }
        Ok(Self { config, authority })
    }
}

struct Problem {
    text: String,
    suggestion: Option<String>,
}

impl From<String> for Problem {
    fn from(text: String) -> Self {
        Self { text, suggestion: None }
    }
}

/// A token and its holder.
fn admit(token: &Token, folder: &Path) -> Result<(String, Holder), Problem> {
    let secret = match (&token.token, &token.file) {
        (Some(secret), None) => secret.clone(),
        (None, Some(file)) => read_token(&folder.join(file))?,
        _ => return Err("it needs either token or file".to_owned().into()),
    };
    check_token(&secret)?;
    if token.subject.trim().is_empty() {
        return Err("its subject is blank".to_owned().into());
    }
    for scope in &token.scopes {
        if !Authority::scopes().contains(&scope.as_str()) {
            let known = Authority::scopes();
            return Err(Problem {
                text: format!("there is no scope {scope:?}; there are {}", known.join(", ")),
                suggestion: nearest(scope, known),
            });
        }
    }
    let tenant = TenantId::new(token.tenant.as_str()).map_err(|error| error.to_string())?;
    Ok((secret, Holder { tenant, subject: token.subject.clone(), scopes: token.scopes.clone() }))
}

/// The first line of a file, which is a token.
pub fn read_token(file: &Path) -> Result<String, String> {
    let text = fs::read_to_string(file);
    let text = text.map_err(|error| format!("the token file {} cannot be read: {error}", file.display()))?;
    Ok(trim(text.lines().next().unwrap_or_default()).to_owned())
}

/// Refuses a token that can be guessed.
pub fn check_token(token: &str) -> Result<(), String> {
    let length = trim(token).chars().count();
    if length < SHORTEST_TOKEN {
        return Err(format!("a token has at least {SHORTEST_TOKEN} characters, and this one has {length}"));
    }
    Ok(())
}

fn in_text(file: &Path, text: &str, error: &toml::de::Error) -> ConfigError {
    let place = error.span().map(|span| {
        let before = &text[..text.floor_char_boundary(span.start)];
        let line = before.matches('\n').count() + 1;
        let column = before.chars().rev().take_while(|c| *c != '\n').count() + 1;
        (line, column)
    });
    let problem = error.message().to_owned();
    // unknown field `retenton`, expected one of `kind`, `path`, `retention`
    let mut named = problem.split('`').skip(1).step_by(2);
    let unknown = named.next().filter(|_| problem.starts_with("unknown field"));
    let suggestion = unknown.and_then(|key| nearest(key, &named.collect::<Vec<_>>()));
    ConfigError { file: file.into(), place, problem, suggestion }
}

/// The word that is nearest to one that nobody knows, if one is near.
fn nearest(word: &str, known: &[&str]) -> Option<String> {
    let near = known.iter().map(|known| (strsim::damerau_levenshtein(word, known), known)).min()?;
    let (distance, known) = near;
    (distance > 0 && distance <= 2.max(word.len() / 3)).then(|| (*known).to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<Loaded, String> {
        let folder = tempfile::tempdir().expect("a folder");
        let file = folder.path().join("ask-user.toml");
        fs::write(&file, text).expect("it is written");
        fs::write(folder.path().join("t"), "0123456789abcdef\nmore\n").expect("it is written");
        Loaded::read(&file)
            .map_err(|error| error.to_string().replace(&format!("{}/", folder.path().display()), ""))
    }

    fn refusal(text: &str) -> String {
        read(text).expect_err("it is refused")
    }

    #[test]
    fn an_empty_file_means_the_defaults() {
        let loaded = read("").expect("it is read");
        assert_eq!(loaded.config, Config::default());
        assert!(loaded.authority.is_empty());
        assert_eq!(loaded.config.listen.address.to_string(), "127.0.0.1:18790");
    }

    #[test]
    fn tokens_come_from_the_file_or_from_one_of_their_own() {
        let loaded = read(
            "[[token]]\nfile = \"t\"\nsubject = \"host\"\nscopes = [\"operator.questions\"]\n\
             [[token]]\ntoken = \"fedcba9876543210\"\ntenant = \"acme\"\nsubject = \"ada\"\nscopes = []\n",
        );
        let authority = loaded.expect("it is read").authority;
        let subject =
            |token| authority.holder(token).map(|holder| (holder.subject.clone(), holder.tenant.to_string()));
        assert_eq!(subject("0123456789abcdef"), Some(("host".into(), "default".into())));
        assert_eq!(subject("fedcba9876543210"), Some(("ada".into(), "acme".into())));
        assert_eq!(subject("fedcba987654321"), None);
    }

    #[test]
    fn a_mistake_is_told_with_its_place_and_what_was_meant() {
        assert_eq!(
            refusal("[store]\nretenton = \"1h\"\n"),
            "ask-user.toml:2:1: unknown field `retenton`, expected one of `kind`, `path`, `retention`; did you mean \
             \"retention\"?"
        );
        assert!(
            refusal("compatibility = \"opnclaw\"")
                .starts_with("ask-user.toml:1:17: unknown variant `opnclaw`")
        );
        assert!(refusal("[store]\nretention = \"soon\"\n").contains("such as \"15s\""));
        assert!(refusal("[store]\nkind = \"sqlite\"\n").contains("needs a path"));
        assert!(refusal("nonsense").starts_with("ask-user.toml:1:"));
    }

    #[test]
    fn a_tenant_has_a_retention_of_its_own() {
        let loaded = read("[limits]\npending = 5\n[tenants.acme]\nretention = \"0s\"\n[tenants.\"a b\"]\n");
        let config = loaded.expect("it is read").config;
        assert_eq!(config.limits.pending, Some(5));
        assert_eq!(config.tenants["acme"].retention, Some(std::time::Duration::ZERO));
        assert_eq!(config.tenants["a b"].retention, None);
        assert!(refusal("[tenants.\"\"]\n").contains("1 to 128 characters"));
        assert!(refusal("[tenants.acme]\nretentio = \"1h\"\n").ends_with("did you mean \"retention\"?"));
    }

    #[test]
    fn a_token_that_is_of_no_use_is_refused() {
        let token = |rest: &str| refusal(&format!("[[token]]\nsubject = \"a\"\nscopes = []\n{rest}\n"));
        assert!(token("").contains("either token or file"));
        assert!(token("token = \"short\"").contains("at least 16 characters"));
        assert!(token("file = \"none\"").contains("cannot be read"));
        let scope = refusal(
            "[[token]]\ntoken = \"0123456789abcdef\"\nsubject = \"a\"\nscopes = [\"operator.question\"]\n",
        );
        assert!(scope.ends_with("did you mean \"operator.questions\"?"), "{scope}");
        let twice = "[[token]]\ntoken = \"0123456789abcdef\"\nsubject = \"a\"\nscopes = []\n";
        assert!(refusal(&twice.repeat(2)).ends_with("[[token]] 2: the same token is there twice"));
    }
}
