//! Problem documents: why a request is refused. RFC 9457.

use axum::extract::Query as Parameters;
use axum::extract::rejection::QueryRejection;
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use braid_api::Schema;

/// A browser asks its user for a password, which is the token. A header each: browsers read the first scheme of one only.
const CHALLENGES: [&str; 2] =
    [r#"Basic realm="Braid: the token is the password", charset="UTF-8""#, "Bearer"];

/// The parameters of a request, or why they cannot be read.
pub(super) type Asked<T> = Result<Parameters<T>, QueryRejection>;

/// A request that is not answered.
#[derive(Debug)]
pub(super) struct Problem {
    pub(super) status: StatusCode,
    /// A code for API clients.
    pub(super) code: &'static str,
    /// A sentence for people.
    pub(super) detail: String,
    /// The parameter or the path of the field that is wrong.
    pub(super) parameter: Option<String>,
}

impl Problem {
    pub(super) fn new(status: StatusCode, code: &'static str, detail: impl Into<String>) -> Self {
        Self { status, code, detail: detail.into(), parameter: None }
    }

    /// A parameter that cannot be read.
    pub(super) fn invalid(parameter: &str, detail: impl Into<String>) -> Self {
        Self::new(StatusCode::BAD_REQUEST, "invalid", detail).of(parameter)
    }

    pub(super) fn not_found(detail: impl Into<String>) -> Self {
        Self::new(StatusCode::NOT_FOUND, "not_found", detail)
    }

    pub(super) fn unavailable(detail: impl Into<String>) -> Self {
        Self::new(StatusCode::SERVICE_UNAVAILABLE, "unavailable", detail)
    }

    pub(super) fn of(self, parameter: impl Into<String>) -> Self {
        Self { parameter: Some(parameter.into()), ..self }
    }
}

impl From<QueryRejection> for Problem {
    fn from(rejection: QueryRejection) -> Self {
        let text = rejection.body_text();
        let reason = text.strip_prefix("Failed to deserialize query string: ").unwrap_or(&text);
        // "port: invalid digit found in string", or "missing field `port`".
        let name = reason.split(['`', ':']).find(|part| !part.starts_with("missing field"));
        let name = name.filter(|name| !name.is_empty() && !name.contains(' ')).map(str::to_owned);
        Self { parameter: name, ..Self::new(rejection.status(), "invalid", reason) }
    }
}

impl From<Problem> for Response {
    fn from(problem: Problem) -> Self {
        problem.into_response()
    }
}

impl IntoResponse for Problem {
    fn into_response(self) -> Response {
        let Self { status, code, detail, parameter } = self;
        // Without a type of its own the title is what the status means. RFC 9457 §4.2.1.
        let title = status.canonical_reason().unwrap_or_default();
        let document = braid_api::Problem {
            schema: Schema,
            r#type: "about:blank".to_owned(),
            title: title.to_owned(),
            status: status.as_u16(),
            detail,
            code: code.to_owned(),
            parameter,
        };
        // Text and numbers are always written.
        let body = serde_json::to_string(&document).unwrap_or_default();
        let mut response =
            (status, [(header::CONTENT_TYPE, "application/problem+json")], body).into_response();
        let headers = response.headers_mut();
        let mut add = |name, value| _ = headers.append(name, header::HeaderValue::from_static(value));
        match status {
            StatusCode::UNAUTHORIZED => {
                CHALLENGES.into_iter().for_each(|it| add(header::WWW_AUTHENTICATE, it));
            }
            StatusCode::TOO_MANY_REQUESTS | StatusCode::SERVICE_UNAVAILABLE => add(header::RETRY_AFTER, "1"),
            _ => {}
        }
        response
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_is_not_known_is_challenged_scheme_by_scheme() {
        let response = Problem::new(StatusCode::UNAUTHORIZED, "unauthorized", "").into_response();
        let challenges: Vec<_> = response.headers().get_all(header::WWW_AUTHENTICATE).into_iter().collect();
        assert_eq!(challenges, CHALLENGES);
    }
}
