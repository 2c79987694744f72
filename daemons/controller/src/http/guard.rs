//! What a browser may be made to do by a page of somebody else's: nothing.

use std::net::IpAddr;

use axum::extract::{Request, State};
use axum::http::{HeaderMap, HeaderName, HeaderValue, StatusCode, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};

use super::problem::Problem;

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

/// Whether the server listens on loopback only.
#[derive(Clone, Copy, Debug)]
pub(super) struct Guard {
    pub(super) loopback: bool,
}

pub(super) async fn check(State(guard): State<Guard>, request: Request, next: Next) -> Response {
    let refusal = guard.refusal(request.method().is_safe(), request.headers());
    let mut response = match refusal {
        Some(problem) => problem.into_response(),
        None => next.run(request).await,
    };
    let headers = response.headers_mut();
    HEADERS.into_iter().for_each(|(name, value)| _ = headers.insert(name, HeaderValue::from_static(value)));
    response
}

impl Guard {
    /// Why a request is not let through.
    fn refusal(self, is_safe: bool, headers: &HeaderMap) -> Option<Problem> {
        let refuse = |code, detail| Some(Problem::new(StatusCode::FORBIDDEN, code, detail));
        let host = headers.get(header::HOST).map_or(Some(""), |host| host.to_str().ok()).unwrap_or("?");
        if self.loopback && !is_local(host) {
            // A name that somebody else lets point here: DNS rebinding.
            return refuse("host", "served on loopback, by address or as localhost only");
        }
        if !is_safe && is_foreign(host, headers) {
            return refuse("origin", "pages of other origins may not change anything");
        }
        None
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

/// Whether a page of another origin has sent this. Programs send neither header.
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

    fn passes(loopback: bool, is_safe: bool, headers: &[(&'static str, &'static str)]) -> bool {
        let pairs = headers
            .iter()
            .map(|(name, value)| (HeaderName::from_static(name), HeaderValue::from_static(value)));
        Guard { loopback }.refusal(is_safe, &pairs.collect()).is_none()
    }

    #[test]
    fn a_name_that_points_to_loopback_is_refused() {
        for host in ["127.0.0.1:8653", "[::1]:8653", "[::1]", "localhost", "LocalHost:1", "10.0.0.1"] {
            assert!(passes(true, true, &[("host", host)]), "{host}");
        }
        for host in ["evil.example", "evil.example:8653", "127.0.0.1.example:80", "[::1].example"] {
            assert!(!passes(true, true, &[("host", host)]), "{host}");
            assert!(passes(false, true, &[("host", host)]), "{host}");
        }
    }

    #[test]
    fn pages_of_other_origins_change_nothing() {
        let host = ("host", "127.0.0.1:8653");
        assert!(passes(true, false, &[host]), "a program");
        assert!(passes(
            true,
            false,
            &[host, ("origin", "http://127.0.0.1:8653"), ("sec-fetch-site", "same-origin")]
        ));
        for foreign in
            [("origin", "http://evil.example"), ("origin", "null"), ("origin", "http://127.0.0.1:80")]
        {
            assert!(!passes(true, false, &[host, foreign]), "{foreign:?}");
            assert!(passes(true, true, &[host, foreign]), "{foreign:?}");
        }
        assert!(!passes(true, false, &[host, ("sec-fetch-site", "cross-site")]));
        assert!(!passes(true, false, &[host, ("sec-fetch-site", "same-site")]));
    }
}
