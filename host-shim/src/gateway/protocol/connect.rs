//! The handshake: what a client says of itself, and what it is told.

use serde::Deserialize;
use serde_json::{Value, json};

use super::device::DeviceProof;
use super::error::CallError;
use super::params::{self, Object, present};
use super::scope::Granted;
use crate::contract::Timestamp;
use crate::text::trim;

/// The version of OpenClaw's Gateway protocol that is spoken here.
pub(crate) const PROTOCOL: u64 = 4;
/// The lowest version that OpenClaw names to a client that only looks whether anybody is there.
const PROBE_PROTOCOL: u64 = 3;
/// A client that names this among its `caps` gets our additions in OpenClaw's own methods and events.
pub(crate) const EXTENSIONS: &str = "ask-user-extensions";

/// The longest frame before a client has said who it is.
pub(crate) const FRAME_LIMIT_BEFORE: usize = 64 << 10;
/// The longest frame afterwards.
pub(crate) const FRAME_LIMIT: usize = 25 << 20;
/// What may wait for a client that does not read.
pub(crate) const BUFFER_LIMIT: usize = 50 << 20;
/// How often each client is told the time, in milliseconds.
pub(crate) const TICK_EVERY: u64 = 30_000;

const CLIENT_IDS: [&str; 17] = [
    "webchat-ui",
    "openclaw-control-ui",
    "openclaw-browser-copilot",
    "openclaw-tui",
    "webchat",
    "cli",
    "gateway-client",
    "openclaw-macos",
    "openclaw-linux",
    "openclaw-ios",
    "openclaw-watchos",
    "openclaw-android",
    "node-host",
    "openclaw-worker",
    "test",
    "fingerprint",
    "openclaw-probe",
];
const CLIENT_MODES: [&str; 8] = ["webchat", "cli", "ui", "backend", "node", "worker", "probe", "test"];

/// What a client says of itself.
#[derive(Clone, Debug, Deserialize, PartialEq)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct ConnectParams {
    #[serde(deserialize_with = "params::positive")]
    min_protocol: u64,
    #[serde(deserialize_with = "params::positive")]
    max_protocol: u64,
    pub(crate) client: Object<Client>,
    #[serde(default, deserialize_with = "present")]
    pub(crate) caps: Option<Vec<String>>,
    #[serde(default, deserialize_with = "present")]
    role: Option<String>,
    #[serde(default, deserialize_with = "present")]
    scopes: Option<Vec<String>>,
    #[serde(default, deserialize_with = "present")]
    pub(crate) device: Option<Object<DeviceProof>>,
    #[serde(default, deserialize_with = "present")]
    pub(crate) auth: Option<Object<Auth>>,
    #[serde(default, deserialize_with = "present")]
    pub(crate) locale: Option<String>,
    #[serde(default, deserialize_with = "present")]
    user_agent: Option<String>,
    // Read for their form, and of no concern to questions.
    #[serde(default, deserialize_with = "present")]
    commands: Option<Vec<String>>,
    #[serde(default)]
    computer_use: Value,
    #[serde(default)]
    worker_runs: Value,
    #[serde(default, deserialize_with = "present")]
    permissions: Option<std::collections::BTreeMap<String, bool>>,
    #[serde(default, deserialize_with = "present")]
    path_env: Option<String>,
}

/// The program that connects.
#[derive(Clone, Debug, Deserialize, PartialEq)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct Client {
    pub(crate) id: String,
    pub(crate) version: String,
    pub(crate) platform: String,
    pub(crate) mode: String,
    #[serde(default, deserialize_with = "present")]
    pub(crate) device_family: Option<String>,
    #[serde(default, deserialize_with = "present")]
    display_name: Option<String>,
    #[serde(default, deserialize_with = "present")]
    build_id: Option<String>,
    #[serde(default, deserialize_with = "present")]
    model_identifier: Option<String>,
    #[serde(default, deserialize_with = "present")]
    time_zone: Option<String>,
    #[serde(default, deserialize_with = "present")]
    instance_id: Option<String>,
}

/// What a client proves itself with.
#[derive(Clone, Deserialize, PartialEq)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct Auth {
    #[serde(default, deserialize_with = "present")]
    pub(crate) token: Option<String>,
    #[serde(default, deserialize_with = "present")]
    pub(crate) password: Option<String>,
    #[serde(default, deserialize_with = "present")]
    pub(crate) device_token: Option<String>,
    #[serde(default, deserialize_with = "present")]
    bootstrap_token: Option<String>,
    #[serde(default, deserialize_with = "present")]
    approval_runtime_token: Option<String>,
    #[serde(default, deserialize_with = "present")]
    agent_runtime_identity_token: Option<String>,
}

impl std::fmt::Debug for Auth {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        // Secrets are in no log.
        formatter.write_str("Auth")
    }
}

impl ConnectParams {
    /// Reads parameters, or tells what is wrong with them.
    pub(crate) fn read(text: &str) -> Result<Self, CallError> {
        let read: Self = params::read("connect", text)?;
        let invalid = |place: &str, rule: String| Err(params::invalid("connect", place, &rule));
        let empty = |place: &str| invalid(place, "must not be empty".into());
        let client = &read.client;
        if !CLIENT_IDS.contains(&client.id.as_str()) {
            return invalid("client/id", format!("must be one of {}", CLIENT_IDS.join(", ")));
        }
        if !CLIENT_MODES.contains(&client.mode.as_str()) {
            return invalid("client/mode", format!("must be one of {}", CLIENT_MODES.join(", ")));
        }
        for (place, text) in [
            ("client/version", Some(&client.version)),
            ("client/platform", Some(&client.platform)),
            ("client/deviceFamily", client.device_family.as_ref()),
            ("client/displayName", client.display_name.as_ref()),
            ("client/buildId", client.build_id.as_ref()),
            ("client/modelIdentifier", client.model_identifier.as_ref()),
            ("client/timeZone", client.time_zone.as_ref()),
            ("client/instanceId", client.instance_id.as_ref()),
            ("role", read.role.as_ref()),
        ] {
            if text.is_some_and(String::is_empty) {
                return empty(place);
            }
        }
        for (place, texts) in [("caps", &read.caps), ("scopes", &read.scopes), ("commands", &read.commands)] {
            if texts.iter().flatten().any(String::is_empty) {
                return empty(place);
            }
        }
        if let Some(device) = &read.device {
            let texts = [&device.id, &device.public_key, &device.signature, &device.nonce];
            if texts.into_iter().any(String::is_empty) {
                return empty("device");
            }
        }
        Ok(read)
    }

    /// Refuses a client that does not speak our version.
    pub(crate) fn check_protocol(&self) -> Result<(), CallError> {
        if (self.min_protocol..=self.max_protocol).contains(&PROTOCOL) {
            return Ok(());
        }
        Err(CallError::invalid("protocol mismatch").with(json!({
            "code": "PROTOCOL_MISMATCH",
            "clientMinProtocol": self.min_protocol,
            "clientMaxProtocol": self.max_protocol,
            "expectedProtocol": PROTOCOL,
            "minimumProbeProtocol": PROBE_PROTOCOL,
        })))
    }

    pub(crate) fn role(&self) -> &str {
        self.role.as_deref().unwrap_or("operator")
    }

    pub(crate) fn scopes(&self) -> &[String] {
        self.scopes.as_deref().unwrap_or_default()
    }

    /// Whether the client wants our additions in OpenClaw's methods and events.
    pub(crate) fn wants_extensions(&self) -> bool {
        self.has_cap(EXTENSIONS)
    }

    pub(crate) fn has_cap(&self, wanted: &str) -> bool {
        self.caps.iter().flatten().any(|cap| cap == wanted)
    }

    /// What it proves itself with: the token, else the password. A blank one is none.
    pub(crate) fn secret(&self) -> Option<&str> {
        self.secrets().find(|secret| !trim(secret).is_empty())
    }

    /// Whether it brings a secret, be it blank.
    pub(crate) fn brings_secret(&self) -> bool {
        self.secrets().any(|secret| !secret.is_empty())
    }

    fn secrets(&self) -> impl Iterator<Item = &str> {
        let auth = self.auth.as_ref();
        [auth.and_then(|auth| auth.token.as_deref()), auth.and_then(|auth| auth.password.as_deref())]
            .into_iter()
            .flatten()
    }

    /// Whether it is a program that needs no device to keep its scopes: one behind the scenes, or OpenClaw's command
    /// line, which has none when it is given a token.
    pub(crate) fn needs_no_device(&self) -> bool {
        let client = (self.client.id.as_str(), self.client.mode.as_str());
        matches!(client, ("gateway-client", "backend") | ("cli", "cli"))
    }
}

/// The challenge, which comes first.
pub(crate) fn challenge(nonce: &str, now: Timestamp) -> Value {
    json!({ "nonce": nonce, "ts": now, "capabilities": [] })
}

/// What a client learns that is welcome.
#[derive(Debug)]
pub(crate) struct Hello<'a> {
    pub(crate) connection: &'a str,
    pub(crate) role: &'a str,
    pub(crate) granted: &'a Granted,
    pub(crate) methods: &'a [&'a str],
    pub(crate) events: &'a [&'a str],
    pub(crate) uptime: u64,
}

impl Hello<'_> {
    pub(crate) fn to_value(&self) -> Value {
        json!({
            "type": "hello-ok",
            "protocol": PROTOCOL,
            "server": { "version": env!("CARGO_PKG_VERSION"), "connId": self.connection },
            "features": { "methods": self.methods, "events": self.events, "capabilities": [EXTENSIONS] },
            "snapshot": {
                "presence": [],
                "health": { "ok": true },
                "stateVersion": { "presence": 0, "health": 0 },
                "uptimeMs": self.uptime,
                "authMode": "token",
            },
            "auth": { "role": self.role, "scopes": self.granted.names() },
            "policy": {
                "maxPayload": FRAME_LIMIT,
                "maxBufferedBytes": BUFFER_LIMIT,
                "tickIntervalMs": TICK_EVERY,
            },
        })
    }
}
