//! The configuration of `ask-user serve`: a TOML file in which every key is known.
//!
//! ```toml
//! compatibility = "openclaw"        # or "better", which is what is meant without it
//! credentials = "refuse"            # or "warn", "accept": own text that looks like a credential
//! own-text-limit = 16384            # bytes; 0 is no limit
//! default-agent = "main"
//! agents = ["main", "ops"]          # whatever is named where they are not listed
//!
//! [listen]
//! address = "127.0.0.1:18790"
//!
//! [store]
//! kind = "sqlite"                   # or "memory"
//! path = "/var/lib/ask-user/questions.db"
//! retention = "24h"                 # of questions that have ended
//!
//! [plugins]
//! folder = "/var/lib/ask-user/plugins"
//!
//! [limits]
//! pending = 10000                   # questions that a tenant may have waiting
//!
//! [tenants.acme]
//! retention = "0s"                  # keeps nothing that has ended
//!
//! [shutdown]
//! grace = "5s"
//!
//! [[token]]
//! file = "/etc/ask-user/agent-host.token"    # or token = "…"
//! tenant = "default"
//! subject = "agent-host"
//! scopes = ["operator.questions"]
//! ```

mod read;
mod time;

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

use serde::Deserialize;

use crate::contract::CredentialPolicy;
use crate::gateway::{Compatibility, DEFAULT_PORT};
pub use read::{ConfigError, Loaded, check_token, read_token};

/// What a file says. What it does not say has the value that is meant without it.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "kebab-case", deny_unknown_fields, default)]
pub struct Config {
    /// Whether the gateway is as OpenClaw's, or better.
    pub compatibility: Profile,
    /// Own text that looks like a credential (ruling 17). As the profile has it unless said.
    pub credentials: Option<Credentials>,
    /// Longest own text in bytes (ruling 18); 0 is no limit. As the profile has it unless said.
    pub own_text_limit: Option<u32>,
    /// The agent that a session key without one belongs to.
    pub default_agent: DefaultAgent,
    /// All agents. Whatever is named where they are not listed.
    pub agents: Option<Vec<String>>,
    /// Where the gateway listens.
    pub listen: Listen,
    /// Where prompts are kept, and how long.
    pub store: StoreConfig,
    /// What is loaded beside the built-in component.
    pub plugins: PluginsConfig,
    /// What one tenant may take.
    pub limits: LimitsConfig,
    /// What is different for a tenant, by its name.
    pub tenants: BTreeMap<String, TenantConfig>,
    /// How it ends.
    pub shutdown: Shutdown,
    /// Who may connect.
    #[serde(rename = "token")]
    pub tokens: Vec<Token>,
}

/// Whether the gateway is as OpenClaw's, or better.
#[derive(Clone, Copy, Debug, Default, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "kebab-case")]
pub enum Profile {
    /// Better in what rulings 17, 18, 24, 25 and 27 say.
    #[default]
    Better,
    /// As OpenClaw 2026.9.6 is.
    Openclaw,
}

impl From<Profile> for Compatibility {
    fn from(profile: Profile) -> Self {
        match profile {
            Profile::Better => Self::Better,
            Profile::Openclaw => Self::Openclaw,
        }
    }
}

/// What to do with own text that looks like a credential.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "kebab-case")]
pub enum Credentials {
    /// Refuse it.
    Refuse,
    /// Take it, and say that it does not belong there.
    Warn,
    /// Take it.
    Accept,
}

impl From<Credentials> for CredentialPolicy {
    fn from(credentials: Credentials) -> Self {
        match credentials {
            Credentials::Refuse => Self::Refuse,
            Credentials::Warn => Self::Warn,
            Credentials::Accept => Self::Accept,
        }
    }
}

/// The agent that a session key without one belongs to.
#[derive(Clone, Debug, Deserialize, PartialEq, Eq)]
#[serde(transparent)]
pub struct DefaultAgent(pub String);

impl Default for DefaultAgent {
    fn default() -> Self {
        Self("main".into())
    }
}

/// Where the gateway listens.
#[derive(Clone, Debug, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "kebab-case", deny_unknown_fields, default)]
pub struct Listen {
    /// Address and port. Port 0 takes a free one.
    pub address: SocketAddr,
}

impl Default for Listen {
    fn default() -> Self {
        Self { address: SocketAddr::from(([127, 0, 0, 1], DEFAULT_PORT)) }
    }
}

/// What is loaded beside the built-in component.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "kebab-case", deny_unknown_fields, default)]
pub struct PluginsConfig {
    /// The folder of plugins; a path that is not absolute starts at the file's folder. The user's own unless given.
    pub folder: Option<PathBuf>,
}

/// Where prompts are kept.
#[derive(Clone, Copy, Debug, Default, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "kebab-case")]
pub enum StoreKind {
    /// In this process. They are gone when it ends.
    #[default]
    Memory,
    /// In a file.
    Sqlite,
}

/// Where prompts are kept, and how long.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "kebab-case", deny_unknown_fields, default)]
pub struct StoreConfig {
    /// What keeps them.
    pub kind: StoreKind,
    /// The file, for `sqlite`. A relative path starts at the folder of the configuration.
    pub path: Option<PathBuf>,
    /// How long prompts that have ended stay readable (ruling 24). As the profile has it unless said.
    #[serde(deserialize_with = "time::read_if_any")]
    pub retention: Option<Duration>,
}

/// What one tenant may take.
#[derive(Clone, Copy, Debug, Default, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "kebab-case", deny_unknown_fields, default)]
pub struct LimitsConfig {
    /// How many prompts it may have pending (ruling 11). As many as it likes unless said.
    pub pending: Option<usize>,
}

/// What is different for a tenant.
#[derive(Clone, Copy, Debug, Default, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "kebab-case", deny_unknown_fields, default)]
pub struct TenantConfig {
    /// How long its prompts that have ended stay readable (ruling 24).
    #[serde(deserialize_with = "time::read_if_any")]
    pub retention: Option<Duration>,
}

/// How the gateway ends.
#[derive(Clone, Debug, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "kebab-case", deny_unknown_fields, default)]
pub struct Shutdown {
    /// How long calls may take to end.
    #[serde(deserialize_with = "time::read")]
    pub grace: Duration,
}

impl Default for Shutdown {
    fn default() -> Self {
        Self { grace: Duration::from_secs(5) }
    }
}

/// A token, and what its holder is.
#[derive(Clone, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Token {
    /// The token itself.
    token: Option<String>,
    /// A file whose first line it is. A relative path starts at the folder of the configuration.
    file: Option<PathBuf>,
    /// Whose questions the holder sees.
    #[serde(default = "default_tenant")]
    pub tenant: String,
    /// The person or program, as it is written down where they answer.
    pub subject: String,
    /// What the holder may do.
    pub scopes: Vec<String>,
}

impl std::fmt::Debug for Token {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter
            .debug_struct("Token")
            .field("tenant", &self.tenant)
            .field("subject", &self.subject)
            .field("scopes", &self.scopes)
            .finish_non_exhaustive()
    }
}

fn default_tenant() -> String {
    "default".into()
}
