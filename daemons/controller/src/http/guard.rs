//! Access control of HTTP requests, with protection of browsers from cross-site requests.

use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;

use axum::extract::{ConnectInfo, Request, State};
use axum::http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};

use super::credentials;
use super::problem::Problem;
use crate::access::{Access, Right};

const ADVICE: &str = "/api/v1/advice";

/// Sent with every answer: pages load only what is served here, and nobody frames them.
const HEADERS: [(HeaderName, &str); 4] = [
    (
        header::CONTENT_SECURITY_POLICY,
        "default-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data: blob:; frame-ancestors 'none'; \
         base-uri 'none'; form-action 'none'",
    ),
    (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
    (header::REFERRER_POLICY, "no-referrer"),
    (HeaderName::from_static("cross-origin-resource-policy"), "same-origin"),
];

/// The access rules that every request must pass.
#[derive(Clone, Debug)]
pub(super) struct Guard {
    access: Arc<Access>,
}

/// The origin of a request.
struct Visit<'a> {
    from: IpAddr,
    method: &'a Method,
    path: &'a str,
    headers: &'a HeaderMap,
}

pub(super) async fn check(
    State(guard): State<Guard>,
    ConnectInfo(from): ConnectInfo<SocketAddr>,
    request: Request,
    next: Next,
) -> Response {
    let (from, path) = (from.ip().to_canonical(), request.uri().path());
    let refusal = guard.refusal(&Visit { from, method: request.method(), path, headers: request.headers() });
    let mut response = match refusal {
        Some(problem) => problem.into_response(),
        None => next.run(request).await,
    };
    let headers = response.headers_mut();
    HEADERS.into_iter().for_each(|(name, value)| _ = headers.insert(name, HeaderValue::from_static(value)));
    response
}

impl Guard {
    pub(super) const fn new(access: Arc<Access>) -> Self {
        Self { access }
    }

    /// Why a request is not let through.
    fn refusal(&self, visit: &Visit<'_>) -> Option<Problem> {
        let refuse = |code, detail| Some(Problem::new(StatusCode::FORBIDDEN, code, detail));
        let host = visit.headers.get(header::HOST);
        let host = host.map_or(Some(""), |host| host.to_str().ok()).unwrap_or("?");
        if visit.from.is_loopback() && !is_local(host) {
            // A name that somebody else lets point here: DNS rebinding.
            return refuse("host", "served on loopback, by address or as localhost only");
        }
        if !visit.method.is_safe() && is_foreign(host, visit.headers) {
            return refuse("origin", "pages of other origins may not change anything");
        }
        // Agents on hosts have tokens of their own.
        if visit.path == ADVICE { None } else { self.unwelcome(visit) }
    }

    fn unwelcome(&self, visit: &Visit<'_>) -> Option<Problem> {
        let token = credentials::token(visit.headers);
        match self.access.of(visit.from, token.as_deref()) {
            Some(right) if right >= needed(visit) => None,
            Some(right) => {
                let detail =
                    format!("this takes the right to {:?}, the token has that to {right:?}", needed(visit));
                Some(Problem::new(StatusCode::FORBIDDEN, "forbidden", detail.to_lowercase()))
            }
            None => {
                let detail = if token.is_some() { "nobody has this token" } else { "a token is needed" };
                Some(Problem::new(StatusCode::UNAUTHORIZED, "unauthorized", detail))
            }
        }
    }
}

fn needed(visit: &Visit<'_>) -> Right {
    match (visit.method.is_safe(), visit.path) {
        (true, _) => Right::Read,
        (false, "/api/v1/policy" | "/api/v1/testbed/links") => Right::Change,
        (false, _) => Right::Use,
    }
}

/// Whether a browser would send this only to what is on the same machine.
fn is_local(host: &str) -> bool {
    let name = host.rsplit_once(':').map_or(host, |(name, port)| match port.contains(']') {
        true => host,
        false => name,
    });
    let address = name.trim_start_matches('[').trim_end_matches(']');
    name.is_empty() || name.eq_ignore_ascii_case("localhost") || address.parse::<IpAddr>().is_ok()
}

/// Whether a page of another origin has sent this. API clients that are not browsers send neither header.
fn is_foreign(host: &str, headers: &HeaderMap) -> bool {
    let site = headers.get("sec-fetch-site").is_some_and(|site| site != "same-origin" && site != "none");
    let origin = headers.get(header::ORIGIN).is_some_and(|origin| {
        let origin = origin.to_str().ok().and_then(|origin| origin.split_once("://"));
        origin.is_none_or(|(_, origin)| !origin.eq_ignore_ascii_case(host))
    });
    site || origin
}

#[cfg(test)]
mod tests {
    use super::*;

    const HERE: [u8; 4] = [127, 0, 0, 1];
    const AWAY: [u8; 4] = [10, 0, 0, 9];

    fn status(from: [u8; 4], method: &Method, path: &str, headers: &[(&'static str, &'static str)]) -> u16 {
        let pairs = headers
            .iter()
            .map(|(name, value)| (HeaderName::from_static(name), HeaderValue::from_static(value)));
        let guard = Guard::new(Access { trusted: true, ..Access::default() }.into());
        let visit = Visit { from: from.into(), method, path, headers: &pairs.collect() };
        guard.refusal(&visit).map_or(200, |problem| problem.status.as_u16())
    }

    #[test]
    fn a_name_that_points_to_loopback_is_refused() {
        let get = |from, host| status(from, &Method::GET, "/", &[("host", host)]);
        for host in ["127.0.0.1:8653", "[::1]:8653", "[::1]", "localhost", "LocalHost:1", "10.0.0.1"] {
            assert_eq!(get(HERE, host), 200, "{host}");
        }
        for host in ["evil.example", "evil.example:8653", "127.0.0.1.example:80", "[::1].example"] {
            assert_eq!(get(HERE, host), 403, "{host}");
            assert_eq!(get(AWAY, host), 200, "{host}");
        }
    }

    #[test]
    fn pages_of_other_origins_change_nothing() {
        let host = ("host", "127.0.0.1:8653");
        let post = |headers: &[_]| status(HERE, &Method::POST, "/RPC2", headers);
        assert_eq!(post(&[host]), 200, "a program");
        let own = [host, ("origin", "http://127.0.0.1:8653"), ("sec-fetch-site", "same-origin")];
        assert_eq!(post(&own), 200);
        let foreign =
            [("origin", "http://evil.example"), ("origin", "null"), ("origin", "http://127.0.0.1:80")];
        for foreign in foreign {
            assert_eq!(post(&[host, foreign]), 403, "{foreign:?}");
            assert_eq!(status(HERE, &Method::GET, "/", &[host, foreign]), 200, "{foreign:?}");
        }
        assert_eq!(post(&[host, ("sec-fetch-site", "cross-site")]), 403);
        assert_eq!(post(&[host, ("sec-fetch-site", "same-site")]), 403);
    }

    #[test]
    fn others_change_no_policy_without_the_right_to() {
        assert_eq!(status(AWAY, &Method::PUT, "/api/v1/policy", &[]), 403);
        assert_eq!(status(HERE, &Method::PUT, "/api/v1/policy", &[]), 200);
        assert_eq!(status(AWAY, &Method::POST, "/api/v1/assignments", &[]), 200);
    }
}
