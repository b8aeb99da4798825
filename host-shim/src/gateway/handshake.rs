//! Who a client is: its token, its device, and what it may do.

use serde_json::json;

use super::Shared;
use super::protocol::connect::{ConnectParams, Hello};
use super::protocol::error::CallError;
use super::protocol::frame::{Request, to_json};
use super::protocol::scope::Granted;
use super::protocol::{connect, device};
use super::wire::Close;
use super::{Authentication, methods};
use crate::questions::{Principal, Scopes};

/// The role of those who answer.
const OPERATOR: &str = "operator";
/// The role of machines that are driven.
const NODE: &str = "node";
/// Clients that are pages of a browser, which OpenClaw knows by where they come from.
const PAGES: [&str; 2] = ["webchat-ui", "openclaw-control-ui"];
/// An extension of a browser.
const COPILOT: &str = "openclaw-browser-copilot";
/// What it has to be capable of.
const COPILOT_CAPS: [&str; 2] = ["run-tool-bindings", "session-scoped-events"];

/// A client that was let in.
#[derive(Debug)]
pub(super) struct Admitted {
    pub(super) principal: Principal,
    pub(super) granted: Granted,
    pub(super) is_extended: bool,
    /// What the client is told, as JSON text.
    pub(super) hello: String,
}

/// A client that was not.
#[derive(Debug)]
pub(super) struct Refused {
    pub(super) error: CallError,
    pub(super) close: Close,
}

impl From<CallError> for Box<Refused> {
    fn from(error: CallError) -> Self {
        let close = Close::policy(error.message.clone());
        Self::new(Refused { error, close })
    }
}

/// Reads the first request of a connection and lets its client in, or says why not.
pub(super) fn admit(
    gateway: &Shared,
    connection: &str,
    nonce: &str,
    authentication: Authentication,
    request: &Request<'_>,
) -> Result<Admitted, Box<Refused>> {
    if request.method != "connect" {
        return Err(CallError::invalid("invalid handshake: first request must be connect").into());
    }
    let params = ConnectParams::read(&request.params)?;
    params
        .check_protocol()
        .map_err(|error| Box::new(Refused { error, close: Close::protocol("protocol mismatch") }))?;
    if params.role() != OPERATOR && params.role() != NODE {
        return Err(CallError::invalid("invalid role").into());
    }
    device::verify(&params, nonce, gateway.now())?;
    let has_device = params.device.is_some();
    let (holder, keeps_scopes) = match authentication {
        // Whoever started this process may do everything in it.
        Authentication::Parent => (gateway.parent.clone(), true),
        Authentication::Token => {
            check_client(&params, has_device)?;
            let holder = params.secret().and_then(|secret| gateway.authority.holder(secret));
            let holder = holder.cloned().ok_or_else(|| token_error(&params, has_device))?;
            if params.role() == NODE && !has_device {
                return Err(device_required().into());
            }
            (holder, has_device || params.needs_no_device())
        }
    };
    if params.role() == NODE {
        return Err(CallError::invalid("unauthorized role: nodes are not served here").into());
    }
    // A program that runs beside the gateway needs no device. Whoever else has none is let in and may do nothing, as
    // in OpenClaw.
    let asked = if keeps_scopes { params.scopes().to_vec() } else { Vec::new() };
    let granted = Granted::of(asked, &holder.scopes);
    let is_extended = params.wants_extensions();
    let hello = Hello {
        connection,
        role: params.role(),
        granted: &granted,
        methods: methods::shown(gateway, is_extended),
        events: &super::connection::EVENTS,
        uptime: gateway.now().saturating_sub(gateway.started),
    };
    let hello = to_json(&hello.to_value());
    let scopes = Scopes { questions: granted.may_question(), name_answerer: granted.may_name_answerers() };
    let principal = Principal { tenant: holder.tenant, subject: holder.subject, conversation: None, scopes };
    Ok(Admitted { principal, granted, is_extended, hello })
}

/// Refuses clients that OpenClaw lets in only with more than a token.
fn check_client(params: &ConnectParams, has_device: bool) -> Result<(), CallError> {
    let client = &params.client;
    let origin_refused = |reason: &str| {
        let details = json!({ "code": "CONTROL_UI_ORIGIN_NOT_ALLOWED", "reason": reason });
        Err(CallError::invalid("origin not allowed").with(details))
    };
    match client.id.as_str() {
        COPILOT if client.mode != "ui" || COPILOT_CAPS.iter().any(|cap| !params.has_cap(cap)) => {
            let caps = COPILOT_CAPS.join(" and ");
            Err(CallError::invalid(format!("{COPILOT} needs the mode ui and the capabilities {caps}")))
        }
        COPILOT => origin_refused("invalid browser copilot origin"),
        id if client.mode == "webchat" || PAGES.contains(&id) => origin_refused("origin missing or invalid"),
        "openclaw-tui" if !has_device => {
            let details = json!({ "code": "CONTROL_UI_DEVICE_IDENTITY_REQUIRED" });
            Err(CallError::invalid("this client has to prove its device").with(details))
        }
        _ if !has_device && !params.brings_secret() => Err(device_required()),
        _ => Ok(()),
    }
}

fn device_required() -> CallError {
    CallError::not_paired("device identity required").with(json!({ "code": "DEVICE_IDENTITY_REQUIRED" }))
}

fn token_error(params: &ConnectParams, has_device: bool) -> CallError {
    let (code, reason, step) = match params.secret() {
        Some(_) => ("AUTH_TOKEN_MISMATCH", "token_mismatch", "update_auth_credentials"),
        None => ("AUTH_TOKEN_MISSING", "token_missing", "update_auth_configuration"),
    };
    tracing::warn!(client = %params.client.id, has_device, code, "a client was not let in");
    CallError::invalid("unauthorized: this gateway does not know the token").with(json!({
        "code": code,
        "authReason": reason,
        "canRetryWithDeviceToken": false,
        "recommendedNextStep": step,
    }))
}

/// The first event of a connection, as JSON text.
pub(super) fn challenge(gateway: &Shared, nonce: &str) -> String {
    to_json(&connect::challenge(nonce, gateway.now()))
}
