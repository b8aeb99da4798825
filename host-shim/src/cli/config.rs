//! `ask-user config check`.

use std::path::Path;

use serde_json::json;

use super::exit::Exit;
use super::failure::Failure;
use super::output;
use crate::config::{Loaded, Profile, StoreKind};

/// Tells whether a configuration can be used, and what it means.
pub(super) fn check(file: &Path, json: bool) -> Result<Exit, Failure> {
    let loaded = Loaded::read(file).map_err(|error| Failure::other("config", error))?;
    let config = &loaded.config;
    let store = match (config.store.kind, &config.store.path) {
        (StoreKind::Sqlite, Some(path)) => format!("sqlite:{}", path.display()),
        _ => "memory".into(),
    };
    let profile = match config.compatibility {
        Profile::Better => "better",
        Profile::Openclaw => "openclaw",
    };
    let address = config.listen.address;
    if json {
        let tokens: Vec<_> = config
            .tokens
            .iter()
            .map(|token| json!({ "subject": token.subject, "tenant": token.tenant, "scopes": token.scopes }))
            .collect();
        let outcome = json!({
            "ok": true, "listen": address.to_string(), "store": store, "compatibility": profile, "tokens": tokens,
        });
        output::result(&outcome.to_string())?;
        return Ok(Exit::Done);
    }
    let mut text = format!("listen         {address}\nstore          {store}\ncompatibility  {profile}\n");
    if config.tokens.is_empty() {
        text.push_str("tokens         none; one is made up and printed when the gateway starts\n");
    }
    for token in &config.tokens {
        let (subject, tenant, scopes) = (&token.subject, &token.tenant, token.scopes.join(", "));
        text.push_str(&format!("token          {subject} of {tenant}: {scopes}\n"));
    }
    output::result(text.trim_end())?;
    Ok(Exit::Done)
}
