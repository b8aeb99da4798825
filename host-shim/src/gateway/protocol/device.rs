//! The proof that a device holds its key: an Ed25519 signature over what it connects with.

use base64::Engine as _;
use base64::engine::general_purpose::{URL_SAFE, URL_SAFE_NO_PAD};
use ed25519_dalek::{Signature, VerifyingKey};
use serde::Deserialize;
use sha2::{Digest, Sha256};

use super::connect::ConnectParams;
use super::error::CallError;
use crate::contract::Timestamp;

/// How far the time that a device signed may be from ours, in milliseconds.
const SKEW: u64 = 10 * 60 * 1000;

/// What a device sends to prove itself.
#[derive(Clone, Debug, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct DeviceProof {
    /// SHA-256 of the public key, in hexadecimal digits.
    pub(crate) id: String,
    /// 32 bytes in the URL form of base64.
    pub(crate) public_key: String,
    /// 64 bytes in the URL form of base64.
    pub(crate) signature: String,
    /// When it signed, in milliseconds.
    pub(crate) signed_at: u64,
    /// The challenge it answers.
    pub(crate) nonce: String,
}

/// Checks the proof. What it was refused for is told with the code that OpenClaw's clients know.
pub(crate) fn verify(params: &ConnectParams, nonce: &str, now: Timestamp) -> Result<(), CallError> {
    let Some(device) = &params.device else { return Ok(()) };
    let refuse = |code: &str, reason: &str, text: &str| {
        let details = serde_json::json!({ "code": code, "reason": reason });
        Err(CallError::invalid(text).with(details))
    };
    if device.nonce != nonce {
        return refuse("DEVICE_AUTH_NONCE_MISMATCH", "device-nonce-mismatch", "device nonce mismatch");
    }
    if device.signed_at.abs_diff(now) > SKEW {
        return refuse("DEVICE_AUTH_SIGNATURE_EXPIRED", "device-signature-stale", "device signature expired");
    }
    let Some(key) = decoded::<32>(&device.public_key).and_then(|key| VerifyingKey::from_bytes(&key).ok())
    else {
        return refuse("DEVICE_AUTH_PUBLIC_KEY_INVALID", "device-public-key", "device public key invalid");
    };
    if device.id != device_id(key.as_bytes()) {
        return refuse("DEVICE_AUTH_DEVICE_ID_MISMATCH", "device-id-mismatch", "device identity mismatch");
    }
    let signature = decoded::<64>(&device.signature).map(|bytes| Signature::from_bytes(&bytes));
    let is_signed = signature.is_some_and(|signature| {
        signed_texts(params, device).iter().any(|text| key.verify_strict(text.as_bytes(), &signature).is_ok())
    });
    if !is_signed {
        return refuse("DEVICE_AUTH_SIGNATURE_INVALID", "device-signature", "device signature invalid");
    }
    Ok(())
}

/// What a device may have signed: the third form, and the second, which leaves the last two parts out.
fn signed_texts(params: &ConnectParams, device: &DeviceProof) -> [String; 2] {
    let auth = params.auth.as_ref();
    let token =
        auth.and_then(|auth| auth.token.as_deref().or(auth.device_token.as_deref())).unwrap_or_default();
    let (scopes, signed_at) = (params.scopes().join(","), device.signed_at.to_string());
    let client = &params.client;
    let common = [
        device.id.as_str(),
        client.id.as_str(),
        client.mode.as_str(),
        params.role(),
        &scopes,
        &signed_at,
        token,
        &device.nonce,
    ]
    .join("|");
    let lowered = |text: Option<&str>| text.unwrap_or_default().trim().to_ascii_lowercase();
    let (platform, family) = (lowered(Some(&client.platform)), lowered(client.device_family.as_deref()));
    [format!("v3|{common}|{platform}|{family}"), format!("v2|{common}")]
}

fn device_id(key: &[u8; 32]) -> String {
    Sha256::digest(key).iter().map(|byte| format!("{byte:02x}")).collect()
}

fn decoded<const N: usize>(text: &str) -> Option<[u8; N]> {
    let bytes = URL_SAFE_NO_PAD.decode(text).or_else(|_| URL_SAFE.decode(text)).ok()?;
    bytes.try_into().ok()
}

#[cfg(test)]
mod tests {
    use ed25519_dalek::{Signer, SigningKey};
    use serde_json::json;

    use super::*;

    const NOW: Timestamp = 1_800_000_000_000;

    /// A device's connect, signed over this text; `change` spoils it.
    fn connect(form: &str, change: impl FnOnce(&mut serde_json::Value)) -> ConnectParams {
        let key = SigningKey::from_bytes(&[7; 32]);
        let public = key.verifying_key().to_bytes();
        let id = device_id(&public);
        let end = if form == "v3" { "|linux|box" } else { "" };
        let text = format!("{form}|{id}|cli|cli|operator|operator.questions|{NOW}|tok|n1{end}");
        let mut params = json!({
            "minProtocol": 4, "maxProtocol": 4,
            "client": { "id": "cli", "version": "1", "platform": " Linux ", "deviceFamily": "BOX", "mode": "cli" },
            "role": "operator", "scopes": ["operator.questions"], "auth": { "token": "tok" },
            "device": {
                "id": id, "publicKey": URL_SAFE_NO_PAD.encode(public), "signedAt": NOW, "nonce": "n1",
                "signature": URL_SAFE_NO_PAD.encode(key.sign(text.as_bytes()).to_bytes()),
            },
        });
        change(&mut params);
        ConnectParams::read(&params.to_string()).expect("the parameters are valid")
    }

    fn code(params: &ConnectParams, nonce: &str) -> String {
        let error = verify(params, nonce, NOW).expect_err("it is refused");
        error.details.expect("there are details")["code"].as_str().expect("a code").to_owned()
    }

    #[test]
    fn both_forms_of_the_proof_are_taken() {
        for form in ["v3", "v2"] {
            assert_eq!(verify(&connect(form, |_| ()), "n1", NOW), Ok(()), "{form}");
        }
    }

    #[test]
    fn a_proof_for_anything_else_is_refused() {
        assert_eq!(code(&connect("v3", |_| ()), "n2"), "DEVICE_AUTH_NONCE_MISMATCH");
        let late = connect("v3", |params| params["device"]["signedAt"] = json!(NOW - SKEW - 1));
        assert_eq!(code(&late, "n1"), "DEVICE_AUTH_SIGNATURE_EXPIRED");
        let no_key = connect("v3", |params| params["device"]["publicKey"] = json!("AA"));
        assert_eq!(code(&no_key, "n1"), "DEVICE_AUTH_PUBLIC_KEY_INVALID");
        let other = connect("v3", |params| params["device"]["id"] = json!("00"));
        assert_eq!(code(&other, "n1"), "DEVICE_AUTH_DEVICE_ID_MISMATCH");
        let more = connect("v3", |params| params["scopes"] = json!(["operator.questions", "operator.admin"]));
        assert_eq!(code(&more, "n1"), "DEVICE_AUTH_SIGNATURE_INVALID");
        let token = connect("v2", |params| params["auth"]["token"] = json!("other"));
        assert_eq!(code(&token, "n1"), "DEVICE_AUTH_SIGNATURE_INVALID");
    }
}
