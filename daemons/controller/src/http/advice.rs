//! `POST /api/v1/advice`: agents on hosts ask which subflows a connection shall have.

use std::net::SocketAddr;
use std::sync::{Arc, Mutex, PoisonError};

use axum::Json;
use axum::body::Bytes;
use axum::extract::rejection::BytesRejection;
use axum::extract::{ConnectInfo, DefaultBodyLimit, State};
use axum::http::{HeaderMap, StatusCode, header};
use braid_api::{Advice, AdviceRequest, SubflowEnds};
use braid_control::{Asker, Reply, Request};
use braid_steering::AdviceRefusal;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::body;
use super::credentials::bearer;
use super::problem::Problem;
use super::questions::Questions;
use super::replica::Replica;
use crate::agents::Agents;
use crate::clock::Clock;
use crate::rate::Rates;

/// More than the longest question that is answered.
const MAX_BODY: usize = 64 << 10;
/// Questions a second of one address.
const RATE: u32 = 200;

#[derive(Clone)]
struct AdviceState {
    questions: Questions,
    replica: Replica,
    agents: Arc<Agents>,
    clock: Clock,
    rates: Arc<Mutex<Rates>>,
}

pub(super) fn routes(questions: Questions, agents: Agents, replica: Replica) -> OpenApiRouter {
    let rates = Arc::new(Mutex::new(Rates::new(RATE)));
    let state = AdviceState { questions, replica, agents: Arc::new(agents), clock: Clock::start(), rates };
    OpenApiRouter::new().routes(routes!(advise)).layer(DefaultBodyLimit::max(MAX_BODY)).with_state(state)
}

/// Advises an agent which subflows a connection shall have; their rules are in place.
#[utoipa::path(
    post, path = "/api/v1/advice", request_body = AdviceRequest, responses((status = 200, body = Advice))
)]
async fn advise(
    State(state): State<AdviceState>,
    ConnectInfo(from): ConnectInfo<SocketAddr>,
    headers: HeaderMap,
    body: Result<Bytes, BytesRejection>,
) -> Result<Json<Advice>, Problem> {
    state.advise(from, &headers, body).await.map(|advice| Json(wire_advice(advice)))
}

impl AdviceState {
    async fn advise(
        &self,
        from: SocketAddr,
        headers: &HeaderMap,
        body: Result<Bytes, BytesRejection>,
    ) -> Result<braid_steering::Advice, Problem> {
        self.admit(from)?;
        let asker = self.identify(from, headers)?;
        let request = core_request(body::read(&body?)?);
        let own = request.local_addresses.clone();
        let advice = self.ask(request, asker).await?.map_err(|refusal| problem(&refusal))?;
        self.replica.report_host(&own);
        Ok(advice)
    }

    fn admit(&self, from: SocketAddr) -> Result<(), Problem> {
        let mut rates = self.rates.lock().unwrap_or_else(PoisonError::into_inner);
        let is_within = rates.take(self.clock.now(), from.ip());
        let detail = || format!("more than {RATE} questions a second from {}", from.ip());
        is_within
            .then_some(())
            .ok_or_else(|| Problem::new(StatusCode::TOO_MANY_REQUESTS, "rate_limited", detail()))
    }

    fn identify(&self, from: SocketAddr, headers: &HeaderMap) -> Result<Asker, Problem> {
        let refuse = |detail| Problem::new(StatusCode::UNAUTHORIZED, "unauthorized", detail);
        let token = headers.get(header::AUTHORIZATION).map(|value| value.to_str().ok().and_then(bearer));
        let known = match token {
            Some(None) => return Err(refuse("the authorization is no bearer token")),
            Some(Some(token)) => self.agents.identify(from.ip(), Some(token)),
            None => self.agents.identify(from.ip(), None),
        };
        known.ok_or_else(|| match token {
            Some(_) => refuse("nobody has this token"),
            None => refuse("a token is needed"),
        })
    }

    async fn ask(
        &self,
        request: braid_steering::AdviceRequest,
        asker: Asker,
    ) -> Result<Result<braid_steering::Advice, AdviceRefusal>, Problem> {
        match self.questions.request(Request::Advise { request: Box::new(request), asker }).await? {
            Reply::Advice(advice) => Ok(advice),
            _ => Err(Problem::unavailable("the answer was to another question")),
        }
    }
}

fn problem(refusal: &AdviceRefusal) -> Problem {
    let (status, code) = match refusal {
        AdviceRefusal::TooMany { .. } => (StatusCode::UNPROCESSABLE_ENTITY, "too_many"),
        AdviceRefusal::NoSubflow { .. } => (StatusCode::UNPROCESSABLE_ENTITY, "no_subflow"),
        AdviceRefusal::NotOwn(_) => (StatusCode::FORBIDDEN, "not_own"),
        AdviceRefusal::UnknownHost(_) => (StatusCode::NOT_FOUND, "unknown_host"),
        AdviceRefusal::AwaitsSwitch(_) => (StatusCode::SERVICE_UNAVAILABLE, "unavailable"),
        AdviceRefusal::Busy(_) => (StatusCode::SERVICE_UNAVAILABLE, "busy"),
        AdviceRefusal::Full(_) => (StatusCode::TOO_MANY_REQUESTS, "full"),
        AdviceRefusal::Superseded => (StatusCode::CONFLICT, "superseded"),
    };
    Problem::new(status, code, refusal.to_string())
}

fn core_request(request: AdviceRequest) -> braid_steering::AdviceRequest {
    let AdviceRequest { connection, local_addresses, remote_addresses, subflows, failed, max_subflows } =
        request;
    braid_steering::AdviceRequest {
        connection: core_ends(connection),
        local_addresses,
        remote_addresses,
        subflows: subflows.into_iter().map(core_ends).collect(),
        failed: failed.into_iter().map(core_ends).collect(),
        most: max_subflows,
    }
}

const fn core_ends(SubflowEnds { local, remote }: SubflowEnds) -> braid_steering::SubflowEnds {
    braid_steering::SubflowEnds { local, remote }
}

fn wire_advice(advice: braid_steering::Advice) -> Advice {
    let ends = |it: braid_steering::SubflowEnds| SubflowEnds { local: it.local, remote: it.remote };
    let subflows = advice.subflows.into_iter().map(ends).collect();
    Advice { subflows, ask_again_after: advice.ask_again_after }
}
