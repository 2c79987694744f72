//! API requests at a standby: writes, and reads that a switch answers, go to the leader; other reads say how old they
//! are.

mod agents;

use std::sync::Arc;
use std::time::Duration;

use axum::body::{Body, Bytes, to_bytes};
use axum::extract::{Request, State};
use axum::http::request::Parts;
use axum::http::{HeaderMap, HeaderName, HeaderValue, StatusCode, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use tokio::sync::Semaphore;
use ureq::Agent;
use ureq::http::Request as Sent;

use super::problem::Problem;
use super::{ClusterApi, rules};
use crate::cluster::{LeaderApi, SharedStanding};
use agents::Agents;

/// Names the member that has passed a request on. One that has it goes no further.
const FORWARDED: HeaderName = HeaderName::from_static("braid-forwarded");
/// How old what a standby says of the network is, in seconds; `never` if it has never led.
const STATE_AGE: HeaderName = HeaderName::from_static("braid-state-age");

/// Requests that are passed on at the same time.
pub(super) const MAX_FORWARDED: usize = 8;
const MAX_REQUEST: usize = 1 << 20;
/// The rules of a switch are longer than any other answer.
const MAX_ANSWER: u64 = 1 << 23;

/// Headers of a request that the leader needs.
const PASSED_ON: [HeaderName; 3] = [header::AUTHORIZATION, header::CONTENT_TYPE, header::ACCEPT];
/// Headers of an answer that clients need.
const PASSED_BACK: [HeaderName; 4] =
    [header::CONTENT_TYPE, header::RETRY_AFTER, header::WWW_AUTHENTICATE, header::LOCATION];

/// Passes requests on to the leader.
#[derive(Clone)]
pub(super) struct Forwarder {
    standing: SharedStanding,
    agents: Agents,
    places: Arc<Semaphore>,
}

impl Forwarder {
    pub(super) fn new(ClusterApi { standing, trust, .. }: ClusterApi) -> Self {
        let places = Arc::new(Semaphore::new(MAX_FORWARDED));
        Self { standing, agents: Agents::new(trust), places }
    }

    async fn forward(&self, to: LeaderApi, from: String, request: Request) -> Result<Response, Problem> {
        let LeaderApi { name, url } = to;
        let url = url.ok_or_else(|| Problem::unavailable(unreachable(&name)))?;
        if url.starts_with("https:") && !self.agents.know_certificates() {
            return Err(Problem::unavailable(unknown_authority(&name)));
        }
        let place = self.places.clone().try_acquire_owned();
        let place =
            place.map_err(|_| Problem::unavailable("this standby passes on too many requests now"))?;
        let (parts, body) = request.into_parts();
        let body = to_bytes(body, MAX_REQUEST).await;
        let body =
            body.map_err(|error| Problem::new(StatusCode::PAYLOAD_TOO_LARGE, "refused", error.to_string()))?;
        let agents = self.agents.clone();
        let asked = tokio::task::spawn_blocking(move || {
            let _place = place;
            ask(&agents.current(), sent(&url, &from, (parts, body))?)
        });
        let answer = asked.await.map_err(|error| Problem::unavailable(error.to_string()))?;
        answer.map_err(|error| {
            let why = format!("the leader, {name}, has not answered, and may have done this or not: {error}");
            Problem::unavailable(why)
        })
    }
}

/// Passes writes and reads of switches on while another member leads, and adds their age to other reads.
pub(super) async fn check(State(forwarder): State<Forwarder>, request: Request, next: Next) -> Response {
    let standing = forwarder.standing.read();
    let (path, headers) = (request.uri().path(), request.headers());
    if standing.leads || is_of_member(path) {
        return next.run(request).await;
    }
    if request.method().is_safe() && !rules::is_of_switch(path) {
        let is_state = path.starts_with("/api/v1/") || path == "/metrics";
        let mut response = next.run(request).await;
        if is_state {
            response.headers_mut().insert(STATE_AGE, age(standing.age()));
        }
        return response;
    }
    let Some(leader) = standing.leader else {
        return Problem::unavailable("this member stands by, and knows of no leader").into_response();
    };
    if headers.contains_key(FORWARDED) || !may_be_forwarded(path, headers) {
        return not_leader(&leader).into_response();
    }
    forwarder.forward(leader, standing.member, request).await.unwrap_or_else(IntoResponse::into_response)
}

/// What each member answers for itself.
fn is_of_member(path: &str) -> bool {
    let own = ["/api/v1/cluster", "/api/v1/policy", "/api/v1/testbed/links", "/api/v1/openapi.json"];
    own.contains(&path)
}

/// Agents without a token are known by their address, which a leader would not see.
fn may_be_forwarded(path: &str, headers: &HeaderMap) -> bool {
    path != "/api/v1/advice" || headers.contains_key(header::AUTHORIZATION)
}

fn not_leader(LeaderApi { name, url }: &LeaderApi) -> Problem {
    let at = url.as_ref().map(|url| format!(" at {url}")).unwrap_or_default();
    let detail = format!("this member stands by: ask the leader, {name}{at}");
    Problem::new(StatusCode::SERVICE_UNAVAILABLE, "not_leader", detail)
}

fn unreachable(name: &str) -> String {
    format!(
        "this member stands by, and the API of the leader, {name}, is served on its own machine only: ask it there, \
         or let it listen for others (--http)"
    )
}

fn unknown_authority(name: &str) -> String {
    format!(
        "this member stands by, and cannot check the certificate of the leader, {name}: give it --cluster-api-ca"
    )
}

fn age(age: Option<Duration>) -> HeaderValue {
    let text = age.map_or_else(|| "never".to_owned(), |age| format!("{:.3}", age.as_secs_f64()));
    HeaderValue::try_from(text).unwrap_or(HeaderValue::from_static("never"))
}

/// The request as the leader gets it.
fn sent(url: &str, from: &str, (parts, body): (Parts, Bytes)) -> Result<Sent<Vec<u8>>, ureq::Error> {
    let target = parts.uri.path_and_query().map_or("/", |it| it.as_str());
    let mut request = Sent::builder().method(parts.method).uri(format!("{url}{target}"));
    for name in PASSED_ON {
        for value in parts.headers.get_all(&name) {
            request = request.header(&name, value);
        }
    }
    Ok(request.header(FORWARDED, from).body(body.to_vec())?)
}

fn ask(agent: &Agent, request: Sent<Vec<u8>>) -> Result<Response, ureq::Error> {
    let mut answer =
        if request.body().is_empty() { agent.run(request.map(|_| ()))? } else { agent.run(request)? };
    let body = answer.body_mut().with_config().limit(MAX_ANSWER).read_to_vec()?;
    let mut response = Response::new(Body::from(body));
    *response.status_mut() = answer.status();
    for name in PASSED_BACK {
        for value in answer.headers().get_all(&name) {
            response.headers_mut().append(&name, value.clone());
        }
    }
    Ok(response)
}
