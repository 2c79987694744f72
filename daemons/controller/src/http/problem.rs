//! What is wrong with a request, as a problem document: RFC 9457.

use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};

/// A request that is not answered.
#[derive(Debug)]
pub(super) struct Problem {
    pub(super) status: StatusCode,
    /// A word for programs.
    pub(super) code: &'static str,
    /// A sentence for people.
    pub(super) detail: String,
}

impl Problem {
    pub(super) fn new(status: StatusCode, code: &'static str, detail: impl Into<String>) -> Self {
        Self { status, code, detail: detail.into() }
    }
}

impl IntoResponse for Problem {
    fn into_response(self) -> Response {
        let Self { status, code, detail } = self;
        // Without a type of its own the title is what the status means. RFC 9457 §4.2.1.
        let title = status.canonical_reason().unwrap_or_default();
        let body = serde_json::json!({
            "type": "about:blank", "title": title, "status": status.as_u16(), "detail": detail, "code": code,
        });
        let mut response =
            (status, [(header::CONTENT_TYPE, "application/problem+json")], body.to_string()).into_response();
        let extra = match status {
            StatusCode::UNAUTHORIZED => Some((header::WWW_AUTHENTICATE, "Bearer")),
            StatusCode::TOO_MANY_REQUESTS | StatusCode::SERVICE_UNAVAILABLE => {
                Some((header::RETRY_AFTER, "1"))
            }
            _ => None,
        };
        if let Some((name, value)) = extra {
            response.headers_mut().insert(name, header::HeaderValue::from_static(value));
        }
        response
    }
}
