//! How a command gets to a gateway.

use std::env;
use std::path::{Path, PathBuf};

use clap::Args;

use super::failure::Failure;
use crate::client::{CallError, Client, ConnectError, EXTENSIONS, Events, Refusal, Settings};
use crate::config::read_token;
use crate::terminal::text::{Lines, clean};

const URL: &str = "ASK_USER_GATEWAY_URL";
const TOKEN: &str = "ASK_USER_GATEWAY_TOKEN";
const DEFAULT_URL: &str = "ws://127.0.0.1:18790";

/// Which gateway.
#[derive(Clone, Debug, Args)]
pub(super) struct GatewayArgs {
    /// Where the gateway is [default: ASK_USER_GATEWAY_URL, or ws://127.0.0.1:18790]
    #[arg(long, value_name = "URL", global = true)]
    url: Option<String>,
    /// A file with the token in its first line [default: the token in ASK_USER_GATEWAY_TOKEN]
    #[arg(long, value_name = "FILE", global = true)]
    token_file: Option<PathBuf>,
}

impl GatewayArgs {
    /// What to connect with.
    pub(super) fn settings(&self) -> Result<Settings, Failure> {
        let url = match (&self.url, env::var(URL)) {
            (Some(url), _) => url.clone(),
            (None, Ok(url)) if !url.is_empty() => url,
            _ => DEFAULT_URL.to_owned(),
        };
        let token = token(self.token_file.as_deref())?;
        Ok(Settings { token, ..Settings::new(url) })
    }

    /// Connects, and makes sure that questions may be seen.
    pub(super) async fn connect(&self) -> Result<(Client, Events), Failure> {
        let mut settings = self.settings()?;
        settings.caps = vec![EXTENSIONS.into()];
        let has_token = settings.token.is_some();
        let (client, events) =
            Client::connect(settings).await.map_err(|error| connect_failure(&error, has_token))?;
        let may = |scope: &str| client.hello().scopes.iter().any(|granted| granted == scope);
        if may("operator.questions") || may("operator.admin") {
            return Ok((client, events));
        }
        let problem = "the gateway lets us in, but not see questions: the token lacks operator.questions";
        Err(Failure::other("forbidden", problem))
    }
}

/// The token in a file, or else the one in the environment.
pub(super) fn token(file: Option<&Path>) -> Result<Option<String>, Failure> {
    match file {
        Some(file) => read_token(file).map(Some).map_err(|error| Failure::other("token", error)),
        None => Ok(env::var(TOKEN).ok().filter(|token| !token.is_empty())),
    }
}

/// Why there is no connection.
pub(super) fn connect_failure(error: &ConnectError, has_token: bool) -> Failure {
    let text = clean(&error.to_string(), Lines::One);
    match error {
        ConnectError::BadUrl { .. } => Failure::usage(text),
        ConnectError::Refused(refusal) if !has_token => {
            let hint = format!("{text}; there is no token: give one with --token-file or {TOKEN}");
            told(Failure::other("refused", hint), refusal)
        }
        ConnectError::Refused(refusal) => told(Failure::other("refused", text), refusal),
        _ => Failure::other("connect", text),
    }
}

/// Why a call has no result.
#[allow(clippy::needless_pass_by_value)]
pub(super) fn call_failure(error: CallError) -> Failure {
    let text = clean(&error.to_string(), Lines::One);
    match &error {
        CallError::Refused(refusal) => told(Failure::other("refused", text), refusal),
        CallError::Closed(_) => Failure::other("closed", text),
        CallError::TimedOut { .. } => Failure::other("timed-out", text),
        CallError::Unreadable { .. } => Failure::other("unreadable", text),
    }
}

/// What a script branches on.
fn told(failure: Failure, refusal: &Refusal) -> Failure {
    let failure = failure.with("code", refusal.code.as_str());
    match refusal.reason() {
        Some(reason) => failure.with("reason", reason),
        None => failure,
    }
}
