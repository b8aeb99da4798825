//! The listener: WebSocket upgrades, and the pages that operators' tools look at.

use std::io;
use std::sync::Arc;

use axum::extract::{Request, State};
use axum::http::header::{
    CONNECTION, CONTENT_TYPE, SEC_WEBSOCKET_ACCEPT, SEC_WEBSOCKET_KEY, SEC_WEBSOCKET_VERSION, UPGRADE,
};
use axum::http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode};
use axum::response::{IntoResponse, Response};
use axum::routing::{any, get};
use axum::serve::ListenerExt;
use axum::{Json, Router};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use hyper::upgrade::OnUpgrade;
use hyper_util::rt::TokioIo;
use serde_json::json;
use sha1::{Digest, Sha1};
use tokio::net::TcpListener;
use tokio_util::task::TaskTracker;

use super::wire::Socket;
use super::{Authentication, Shared, connection};
use crate::store::Query;
use crate::{Principal, TenantId};

/// What WebSocket's handshake adds to a key (RFC 6455, section 1.3).
const HANDSHAKE: &str = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11";

#[derive(Clone)]
struct Pages {
    shared: Arc<Shared>,
    connections: TaskTracker,
}

/// Serves until the gateway ends.
pub(super) async fn serve(
    listener: TcpListener,
    shared: Arc<Shared>,
    connections: TaskTracker,
) -> io::Result<()> {
    let ending = shared.ending.clone();
    let pages = Pages { shared, connections };
    let router = Router::new()
        .route("/healthz", get(health))
        .route("/readyz", get(readiness))
        .route("/metrics", get(metrics))
        .fallback(any(upgrade))
        .with_state(pages);
    // A frame is written when it is ready, not when the network has gathered enough.
    let listener = listener.tap_io(|stream| {
        if let Err(error) = stream.set_nodelay(true) {
            tracing::debug!(%error, "a connection gathers what it writes");
        }
    });
    axum::serve(listener, router).with_graceful_shutdown(ending.cancelled_owned()).await
}

/// Whether the process is alive, and what it is.
async fn health() -> impl IntoResponse {
    Json(json!({ "status": "ok", "version": env!("CARGO_PKG_VERSION") }))
}

/// Whether questions can be asked: the store answers, and the gateway does not end.
async fn readiness(State(pages): State<Pages>) -> Response {
    let unready =
        |why: &str| (StatusCode::SERVICE_UNAVAILABLE, Json(json!({ "status": why }))).into_response();
    if pages.shared.ending.is_cancelled() {
        return unready("ending");
    }
    let nobody = Principal::operator(TenantId::default(), "readiness");
    match pages.shared.host.list(&nobody, &Query { limit: 1, ..Query::default() }).await {
        Ok(_) => Json(json!({ "status": "ready" })).into_response(),
        Err(error) => {
            tracing::error!(%error, "the gateway is not ready");
            unready("store-unavailable")
        }
    }
}

async fn metrics(State(pages): State<Pages>) -> Response {
    let pending = match pages.shared.host.count_pending(None).await {
        Ok(pending) => pending,
        Err(error) => {
            tracing::error!(%error, "what is pending could not be counted");
            return StatusCode::SERVICE_UNAVAILABLE.into_response();
        }
    };
    let kind = "application/openmetrics-text; version=1.0.0; charset=utf-8";
    ([(CONTENT_TYPE, kind)], pages.shared.metrics.text(pending)).into_response()
}

/// Any other path: a WebSocket, or nothing.
async fn upgrade(State(pages): State<Pages>, mut request: Request) -> Response {
    let plain = |status: StatusCode, text: &'static str| (status, text).into_response();
    let headers = request.headers();
    if !has_token(headers, &UPGRADE, "websocket") {
        return if request.uri().path() == "/" {
            plain(StatusCode::UPGRADE_REQUIRED, "This is an ask-user gateway; it speaks WebSocket.\n")
        } else {
            plain(StatusCode::NOT_FOUND, "There is nothing here.\n")
        };
    }
    if request.method() != Method::GET || !has_token(headers, &CONNECTION, "upgrade") {
        return plain(StatusCode::BAD_REQUEST, "This is no WebSocket handshake.\n");
    }
    if headers.get(SEC_WEBSOCKET_VERSION).is_none_or(|version| version != "13") {
        let version = [(SEC_WEBSOCKET_VERSION, "13")];
        return (StatusCode::UPGRADE_REQUIRED, version, "The version of WebSocket is 13.\n").into_response();
    }
    let key = headers.get(SEC_WEBSOCKET_KEY).map(HeaderValue::as_bytes);
    let is_key = |key: &&[u8]| STANDARD.decode(key).is_ok_and(|bytes| bytes.len() == 16);
    let Some(key) = key.filter(is_key) else {
        return plain(StatusCode::BAD_REQUEST, "The WebSocket handshake has no key of 16 bytes.\n");
    };
    let accept = STANDARD.encode(Sha1::new().chain_update(key).chain_update(HANDSHAKE).finalize());
    let Some(upgrading) = request.extensions_mut().remove::<OnUpgrade>() else {
        return plain(StatusCode::BAD_REQUEST, "This connection cannot be upgraded.\n");
    };
    let shared = Arc::clone(&pages.shared);
    pages.connections.spawn(async move {
        match upgrading.await {
            Ok(upgraded) => {
                let socket = Socket::new(TokioIo::new(upgraded));
                connection::serve(socket, shared, Authentication::Token).await;
            }
            Err(error) => tracing::debug!(%error, "a client did not upgrade its connection"),
        }
    });
    let headers = [
        (UPGRADE, HeaderValue::from_static("websocket")),
        (CONNECTION, HeaderValue::from_static("Upgrade")),
        (
            SEC_WEBSOCKET_ACCEPT,
            HeaderValue::try_from(accept).unwrap_or_else(|_| HeaderValue::from_static("")),
        ),
    ];
    (StatusCode::SWITCHING_PROTOCOLS, headers).into_response()
}

/// Whether a header, which holds words between commas, holds this one.
fn has_token(headers: &HeaderMap, name: &HeaderName, token: &str) -> bool {
    let values = headers.get_all(name).iter().filter_map(|value| value.to_str().ok());
    values.flat_map(|value| value.split(',')).any(|word| word.trim().eq_ignore_ascii_case(token))
}
