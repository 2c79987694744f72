//! Objects in requests, and ids in addresses: errors name the place of invalid input.

use axum::body::Bytes;
use axum::extract::rejection::BytesRejection;
use axum::extract::{FromRequest, FromRequestParts, Path, Request};
use axum::http::StatusCode;
use axum::http::request::Parts;
use braid_assign::AssignmentId;
use serde::de::DeserializeOwned;
use serde_json::Deserializer;
use serde_path_to_error::Error;

use super::problem::Problem;

/// The object in a request's body.
pub(super) struct Object<T>(pub(super) T);

/// An optional object in a request's body.
pub(super) struct Optional<T>(pub(super) T);

/// The assignment that the address names.
pub(super) struct Named(pub(super) AssignmentId);

impl<S: Send + Sync, T: DeserializeOwned> FromRequest<S> for Object<T> {
    type Rejection = Problem;

    async fn from_request(request: Request, state: &S) -> Result<Self, Problem> {
        Ok(Self(read(&whole(request, state).await?)?))
    }
}

impl<S: Send + Sync, T: DeserializeOwned + Default> FromRequest<S> for Optional<T> {
    type Rejection = Problem;

    async fn from_request(request: Request, state: &S) -> Result<Self, Problem> {
        let body = whole(request, state).await?;
        Ok(Self(if body.is_empty() { T::default() } else { read(&body)? }))
    }
}

impl<S: Send + Sync> FromRequestParts<S> for Named {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Problem> {
        let id = Path::<String>::from_request_parts(parts, state).await;
        let id = id.map_err(|it| Problem::new(it.status(), "invalid", it.body_text()).of("id"))?;
        id.parse().map(Self).map_err(|error: String| Problem::invalid("id", error))
    }
}

async fn whole<S: Send + Sync>(request: Request, state: &S) -> Result<Bytes, Problem> {
    Bytes::from_request(request, state).await.map_err(Problem::from)
}

impl From<BytesRejection> for Problem {
    fn from(rejection: BytesRejection) -> Self {
        Self::new(rejection.status(), "body", rejection.body_text())
    }
}

/// What the JSON says. It is nested 128 deep at most, which is `serde_json`'s limit.
pub(super) fn read<T: DeserializeOwned>(body: &[u8]) -> Result<T, Problem> {
    let mut text = Deserializer::from_slice(body);
    let value = serde_path_to_error::deserialize(&mut text).map_err(|error| unreadable(&error))?;
    text.end().map_err(|error| Problem::new(StatusCode::BAD_REQUEST, "unreadable", error.to_string()))?;
    Ok(value)
}

fn unreadable(error: &Error<serde_json::Error>) -> Problem {
    let (place, reason) = (error.path().to_string(), error.inner().to_string());
    let problem = Problem::new(StatusCode::BAD_REQUEST, "unreadable", reason);
    if error.path().iter().next().is_some() { problem.of(place) } else { problem }
}

#[cfg(test)]
mod tests {
    use std::net::IpAddr;

    use super::*;

    #[derive(Debug, serde::Deserialize)]
    #[serde(deny_unknown_fields)]
    #[expect(dead_code, reason = "only read")]
    struct Question {
        ends: Vec<IpAddr>,
    }

    #[test]
    fn what_is_wrong_has_a_place() {
        let place = |text: &str| read::<Question>(text.as_bytes()).expect_err(text).parameter;
        assert_eq!(place(r#"{"ends":["10.0.0.1","x"]}"#).as_deref(), Some("ends[1]"));
        assert_eq!(place(r#"{"ends":[],"more":1}"#).as_deref(), Some("more"));
        assert_eq!(place("{}"), None);
        assert_eq!(place(r#"{"ends":[]} x"#), None);
        assert!(read::<Question>(br#"{"ends":["::1"]}"#).is_ok());
    }

    #[test]
    fn what_is_too_deep_is_refused() {
        let deep = format!("{}{}", "[".repeat(100_000), "]".repeat(100_000));
        let problem = read::<serde_json::Value>(deep.as_bytes()).expect_err("too deep");
        assert!(problem.detail.contains("recursion limit"), "{}", problem.detail);
    }
}
