//! Sets of paths that applications set aside, and the streams that they announce.

use std::net::IpAddr;
use std::time::Duration;

use axum::extract::{DefaultBodyLimit, State};
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use axum::routing::post;
use axum::{Json, Router};
use braid_assign::{Claim, Distribution, Growth, Owner, OwnerError, StreamModel};
use braid_control::{AssignmentView, Refusal, Reply, Request};
use braid_types::FiveTuple;
use serde::Deserialize;
use serde_json::json;
use utoipa::ToSchema;

use super::body::{Named, Object, Optional};
use super::problem::Problem;
use super::{Question, Questions, ask, unavailable};

/// Nothing that can be asked for is longer.
pub(super) const MAX_BODY: usize = 64 * 1024;
/// For how long an assignment is kept that is not used, unless something else is asked for.
pub(super) const LEASE: Duration = Duration::from_secs(3_600);
/// Whose assignments are for which nobody is named.
pub(super) const NOBODY: &str = "anonymous";

/// What an application wants set aside.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct NewAssignment {
    /// One host's address.
    #[schema(value_type = String, example = "10.0.0.1")]
    src: IpAddr,
    /// The other's, of the same family.
    #[schema(value_type = String, example = "10.0.0.2")]
    dst: IpAddr,
    /// How many paths.
    #[schema(minimum = 1, maximum = 16)]
    paths: usize,
    /// How many streams will come, if that is known.
    streams: Option<usize>,
    owner: Option<Owner>,
    /// For how long after its last use it is kept.
    lease_seconds: Option<u64>,
    /// `weight`, `round-robin`, `shortest`, or `path:` and its place from 0.
    #[serde(default)]
    #[schema(value_type = String)]
    distribution: Distribution,
    /// Streams per Mbit/s and ms, if the application knows better.
    a: Option<f64>,
    lack: Option<f64>,
    /// `parabola` or `line`.
    #[schema(value_type = Option<String>)]
    growth: Option<Growth>,
}

/// A connection that is about to open, or has ended.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Connection {
    /// The opening host's address.
    #[schema(value_type = String, example = "10.0.0.1")]
    src: IpAddr,
    src_port: u16,
    /// The answering host's.
    #[schema(value_type = String, example = "10.0.0.2")]
    dst: IpAddr,
    dst_port: u16,
    owner: Option<Owner>,
}

/// Who asks.
#[derive(Default, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Asker {
    owner: Option<Owner>,
}

pub(super) fn routes(questions: &Questions) -> Router<Questions> {
    Router::new()
        .route("/api/v1/assignments", post(assign))
        .route("/api/v1/assignments/{id}", axum::routing::delete(release).put(renew))
        .route("/api/v1/assignments/{id}/streams", post(place).delete(end))
        .layer(DefaultBodyLimit::max(MAX_BODY))
        .with_state(questions.clone())
}

async fn assign(State(questions): State<Questions>, Object(wanted): Object<NewAssignment>) -> Response {
    answer(&questions, wanted.claim().map(Request::Assign), StatusCode::CREATED).await
}

async fn renew(
    State(questions): State<Questions>,
    Named(assignment): Named,
    Optional(Asker { owner }): Optional<Asker>,
) -> Response {
    answer(&questions, Ok(Request::Renew { assignment, owner }), StatusCode::OK).await
}

async fn release(
    State(questions): State<Questions>,
    Named(assignment): Named,
    Optional(Asker { owner }): Optional<Asker>,
) -> Response {
    answer(&questions, Ok(Request::Release { assignment, owner }), StatusCode::OK).await
}

async fn place(
    State(questions): State<Questions>,
    Named(assignment): Named,
    Object(connection): Object<Connection>,
) -> Response {
    let request = connection.understand().map(|(owner, tuple)| Request::Place { assignment, owner, tuple });
    answer(&questions, request, StatusCode::CREATED).await
}

async fn end(
    State(questions): State<Questions>,
    Named(assignment): Named,
    Object(connection): Object<Connection>,
) -> Response {
    let request = connection.understand().map(|(owner, tuple)| Request::End { assignment, owner, tuple });
    answer(&questions, request, StatusCode::OK).await
}

impl NewAssignment {
    fn claim(self) -> Result<Claim, Problem> {
        let Self { src, dst, paths, streams, owner, lease_seconds, distribution, a, lack, growth } = self;
        let [src, dst] = [src, dst].map(|ip| ip.to_canonical());
        same_family(src, dst).map_err(|error| Problem::invalid("dst", error))?;
        let standard = StreamModel::default();
        let given = StreamModel {
            a: a.unwrap_or(standard.a),
            lack: lack.unwrap_or(standard.lack),
            growth: growth.unwrap_or(standard.growth),
        };
        let known = (a.is_some() || lack.is_some() || growth.is_some()).then(|| given.checked());
        Ok(Claim {
            owner: owner
                .map_or_else(|| NOBODY.parse(), Ok)
                .map_err(|it: OwnerError| Problem::invalid("owner", it.to_string()))?,
            src,
            dst,
            paths,
            streams,
            lease: lease_seconds.map_or(LEASE, Duration::from_secs),
            distribution,
            model: known.transpose().map_err(|error| Problem::invalid("a", error.to_string()))?,
        })
    }
}

pub(super) fn same_family(src: IpAddr, dst: IpAddr) -> Result<(), String> {
    if src.is_ipv4() == dst.is_ipv4() {
        Ok(())
    } else {
        Err(format!("{src} and {dst} are not of the same family"))
    }
}

impl Connection {
    fn understand(self) -> Result<(Option<Owner>, FiveTuple), Problem> {
        let Self { src, src_port, dst, dst_port, owner } = self;
        let [src, dst] = [src, dst].map(|ip| ip.to_canonical());
        same_family(src, dst).map_err(|error| Problem::invalid("dst", error))?;
        Ok((owner, FiveTuple { src, dst, src_port, dst_port }))
    }
}

async fn answer(questions: &Questions, request: Result<Request, Problem>, done: StatusCode) -> Response {
    let request = match request {
        Ok(request) => request,
        Err(problem) => return problem.into_response(),
    };
    match ask(questions, |answer| Question::Request(request, answer)).await {
        Ok(Reply::Assignment(assignment)) => (done, Json(assignment_body(&assignment))).into_response(),
        Ok(Reply::Placed(placed)) => {
            (done, Json(json!({ "schema": "braid/v1", "stream": placed }))).into_response()
        }
        Ok(Reply::Ended) => (done, Json(json!({ "schema": "braid/v1" }))).into_response(),
        Ok(Reply::Refused(refusal)) => {
            Problem::new(status(&refusal), "refused", refusal.to_string()).into_response()
        }
        Ok(Reply::Advice(_)) => unavailable("the answer was to another question"),
        Err(response) => response,
    }
}

/// What there is, and in words if it is less than was asked for.
fn assignment_body(assignment: &AssignmentView) -> serde_json::Value {
    let (wanted, found) = (assignment.wanted, assignment.paths.len());
    let fewer = (found < wanted).then(|| format!("of {wanted} paths, {found} add to what all can carry"));
    json!({ "schema": "braid/v1", "assignment": assignment, "warnings": fewer.into_iter().collect::<Vec<_>>() })
}

fn status(refusal: &Refusal) -> StatusCode {
    match refusal {
        refusal if refusal.is_absence() => StatusCode::NOT_FOUND,
        refusal if refusal.is_foreign() => StatusCode::FORBIDDEN,
        refusal if refusal.is_passing() => StatusCode::SERVICE_UNAVAILABLE,
        _ => StatusCode::BAD_REQUEST,
    }
}
