//! Access control of HTTP requests, with protection of browsers from cross-site requests.

use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;

use axum::extract::{ConnectInfo, Request, State};
use axum::http::uri::Authority;
use axum::http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};

use super::credentials;
use super::places::Places;
use super::problem::Problem;
use super::wrong_tokens::WrongTokens;
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
#[derive(Clone)]
pub(super) struct Guard {
    access: Arc<Access>,
    places: Places,
    wrong_tokens: WrongTokens,
    /// Whether requests come over TLS: then a browser has checked the name.
    has_tls: bool,
}

/// What of a request decides whether it is let in.
struct RequestInfo<'a> {
    from: IpAddr,
    method: &'a Method,
    path: &'a str,
    /// The host in the request's target, which few clients send.
    authority: Option<&'a str>,
    headers: &'a HeaderMap,
}

pub(super) async fn check(
    State(guard): State<Guard>,
    ConnectInfo(from): ConnectInfo<SocketAddr>,
    request: Request,
    next: Next,
) -> Response {
    let (peer, uri) = (from, request.uri());
    let (from, authority) = (peer.ip().to_canonical(), uri.authority().map(Authority::as_str));
    let (method, headers) = (request.method(), request.headers());
    let has_token = headers.contains_key(header::AUTHORIZATION);
    let refusal = guard.refusal(&RequestInfo { from, method, path: uri.path(), authority, headers });
    let mut response = match refusal {
        Some(problem) => problem.into_response(),
        None => next.run(request).await,
    };
    guard.judge(peer, has_token, &mut response).await;
    let headers = response.headers_mut();
    HEADERS.into_iter().for_each(|(name, value)| _ = headers.insert(name, HeaderValue::from_static(value)));
    response
}

impl Guard {
    pub(super) const fn new(
        access: Arc<Access>,
        places: Places,
        wrong_tokens: WrongTokens,
        has_tls: bool,
    ) -> Self {
        Self { access, places, wrong_tokens, has_tls }
    }

    /// Keeps the connection of a client that was let in, and closes that of one that was not.
    async fn judge(&self, peer: SocketAddr, has_token: bool, response: &mut Response) {
        match response.status() {
            StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN | StatusCode::BAD_REQUEST => {
                if has_token && response.status() == StatusCode::UNAUTHORIZED {
                    self.wrong_tokens.note(peer.ip().to_canonical()).await;
                }
                response.headers_mut().insert(header::CONNECTION, HeaderValue::from_static("close"));
            }
            status if status.is_success() => self.places.prove(peer),
            // It has asked for what is not there or too often: that earns no place.
            _ => {}
        }
    }

    /// Why a request is not let through.
    fn refusal(&self, info: &RequestInfo<'_>) -> Option<Problem> {
        let refuse = |code, detail| Some(Problem::new(StatusCode::FORBIDDEN, code, detail));
        let Some(host) = host(info) else {
            let detail = "a request names its host once, in the field Host";
            return Some(Problem::new(StatusCode::BAD_REQUEST, "host", detail));
        };
        let tls = self.access.tls.as_ref().filter(|_| self.has_tls);
        if !self.access.hosts.include(host, tls) {
            // A name that somebody else lets point here: DNS rebinding.
            return refuse(
                "host",
                "served by address, as localhost, and by names of --http-host and the certificate only",
            );
        }
        if !info.method.is_safe() && is_foreign(host, info.headers) {
            return refuse("origin", "pages of other origins may not change anything");
        }
        // Agents on hosts have tokens of their own.
        if info.path == ADVICE { None } else { self.unwelcome(info) }
    }

    fn unwelcome(&self, info: &RequestInfo<'_>) -> Option<Problem> {
        let token = credentials::token(info.headers);
        match self.access.of(info.from, token.as_deref()) {
            Some(right) if right >= needed(info) => None,
            Some(right) => {
                let detail =
                    format!("this takes the right to {:?}, the token has that to {right:?}", needed(info));
                Some(Problem::new(StatusCode::FORBIDDEN, "forbidden", detail.to_lowercase()))
            }
            None => {
                let detail = if token.is_some() { "nobody has this token" } else { "a token is needed" };
                Some(Problem::new(StatusCode::UNAUTHORIZED, "unauthorized", detail))
            }
        }
    }
}

fn needed(info: &RequestInfo<'_>) -> Right {
    match (info.method.is_safe(), info.path) {
        (true, _) => Right::Read,
        (
            false,
            "/api/v1/policy"
            | "/api/v1/testbed/links"
            | "/api/v1/switches/take-over"
            | "/api/v1/cluster/hand-over",
        ) => Right::Change,
        (false, _) => Right::Use,
    }
}

/// The host that a request names; `None` if it names none or several. RFC 9112 §3.2.
fn host<'a>(info: &RequestInfo<'a>) -> Option<&'a str> {
    let mut fields = info.headers.get_all(header::HOST).iter();
    let field = fields.next()?.to_str().ok().filter(|host| !host.is_empty())?;
    let is_only = fields.next().is_none();
    let agrees = info.authority.is_none_or(|target| target.eq_ignore_ascii_case(field));
    (is_only && agrees).then_some(field)
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
    use crate::access::HostNames;
    use crate::http::questions::Questions;

    const HERE: [u8; 4] = [127, 0, 0, 1];
    const AWAY: [u8; 4] = [10, 0, 0, 9];
    const HOST: (&str, &str) = ("host", "10.0.0.1:8653");

    fn status(from: [u8; 4], method: &Method, path: &str, headers: &[(&'static str, &'static str)]) -> u16 {
        status_of(from, method, path, None, headers)
    }

    fn status_of(
        from: [u8; 4],
        method: &Method,
        path: &str,
        authority: Option<&str>,
        headers: &[(&'static str, &'static str)],
    ) -> u16 {
        let mut fields = HeaderMap::new();
        for (name, value) in headers {
            fields.append(HeaderName::from_static(name), HeaderValue::from_static(value));
        }
        let hosts = HostNames::new(["braid.example".to_owned()]);
        let access = Access { trusted: true, hosts, ..Access::default() };
        let wrong_tokens = WrongTokens::new(Questions::new().0);
        let guard = Guard::new(access.into(), Places::new(), wrong_tokens, false);
        let info = RequestInfo { from: from.into(), method, path, authority, headers: &fields };
        guard.refusal(&info).map_or(200, |problem| problem.status.as_u16())
    }

    #[test]
    fn a_name_that_is_not_the_controller_s_is_refused_wherever_it_comes_from() {
        for from in [HERE, AWAY] {
            let get = |host| status(from, &Method::GET, "/", &[("host", host)]);
            for host in ["127.0.0.1:8653", "[::1]:8653", "localhost", "10.0.0.1", "braid.example:8653"] {
                assert_eq!(get(host), 200, "{host}");
            }
            for host in ["evil.example", "evil.example:8653", "127.0.0.1.example:80", "[::1].example"] {
                assert_eq!(get(host), 403, "{host}");
                let own = [("host", host), ("origin", "http://evil.example")];
                assert_eq!(status(from, &Method::POST, "/RPC2", &own), 403, "{host}");
            }
        }
    }

    #[test]
    fn a_request_names_one_host() {
        let get = |authority, headers: &[_]| status_of(AWAY, &Method::GET, "/", authority, headers);
        let host = ("host", "10.0.0.1:8653");
        assert_eq!(get(None, &[]), 400);
        assert_eq!(get(None, &[("host", "")]), 400);
        assert_eq!(get(None, &[host, host]), 400);
        assert_eq!(get(None, &[host, ("host", "evil.example")]), 400);
        assert_eq!(get(Some("10.0.0.1:8653"), &[host]), 200);
        assert_eq!(get(Some("evil.example"), &[host]), 400);
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
    fn others_change_no_policy_and_take_no_switch_without_the_right_to() {
        assert_eq!(status(AWAY, &Method::PUT, "/api/v1/policy", &[HOST]), 403);
        assert_eq!(status(AWAY, &Method::POST, "/api/v1/switches/take-over", &[HOST]), 403);
        assert_eq!(status(HERE, &Method::PUT, "/api/v1/policy", &[HOST]), 200);
        assert_eq!(status(AWAY, &Method::POST, "/api/v1/assignments", &[HOST]), 200);
    }
}
