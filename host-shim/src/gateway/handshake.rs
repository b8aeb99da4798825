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
            (
                holder.cloned().ok_or_else(|| token_error(&params, has_device))?,
                has_device || params.needs_no_device(),
            )
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

/// Clients that OpenClaw lets in with more than a token only.
fn check_client(params: &ConnectParams, has_device: bool) -> Result<(), CallError> {
    match params.client.id.as_str() {
        "webchat" | "webchat-ui" | "openclaw-control-ui" => {
            let reason = "origin missing or invalid";
            let details = json!({ "code": "CONTROL_UI_ORIGIN_NOT_ALLOWED", "reason": reason });
            Err(CallError::invalid("origin not allowed").with(details))
        }
        "openclaw-tui" if !has_device => {
            let details = json!({ "code": "CONTROL_UI_DEVICE_IDENTITY_REQUIRED" });
            Err(CallError::invalid("this client has to prove its device").with(details))
        }
        _ if !has_device && (params.secret().is_none() || params.role() == NODE) => {
            let details = json!({ "code": "DEVICE_IDENTITY_REQUIRED" });
            Err(CallError::not_paired("device identity required").with(details))
        }
        _ => Ok(()),
    }
}

fn token_error(params: &ConnectParams, has_device: bool) -> CallError {
    let (code, reason) = match &params.auth {
        Some(auth) if auth.token.is_some() => ("AUTH_TOKEN_MISMATCH", "token_mismatch"),
        Some(auth) if auth.password.is_some() => ("AUTH_PASSWORD_MISMATCH", "password_mismatch"),
        _ => ("AUTH_TOKEN_MISSING", "token_missing"),
    };
    tracing::warn!(client = %params.client.id, has_device, code, "a client was not let in");
    CallError::invalid("unauthorized: this gateway does not know the token").with(json!({
        "code": code,
        "authReason": reason,
        "canRetryWithDeviceToken": false,
        "recommendedNextStep": "update_auth_credentials",
    }))
}

/// The first event of a connection, as JSON text.
pub(super) fn challenge(gateway: &Shared, nonce: &str) -> String {
    to_json(&connect::challenge(nonce, gateway.now()))
}
