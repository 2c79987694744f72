//! Requests for assignments, and the streams that applications announce.

use std::net::IpAddr;
use std::time::Duration;

use axum::Json;
use axum::extract::{DefaultBodyLimit, State};
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use braid_api::{
    Assigned, AssignmentName, Connection, Ended, Growth, NewAssignment, Placed, Requester, Schema,
};
use braid_assign::{Claim, DistributionError, Owner, OwnerError, StreamModel};
use braid_control::{AssignmentView, Refusal, Reply, Request};
use braid_types::FiveTuple;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::body::{Named, Object, Optional};
use super::problem::Problem;
use super::questions::Questions;
use super::replica::{Listed, Naming};
use super::{lists, unavailable};

/// Nothing that can be asked for is longer.
pub(super) const MAX_BODY: usize = 64 * 1024;
/// For how long an assignment is kept that is not used, unless something else is asked for.
pub(super) const LEASE: Duration = Duration::from_secs(3_600);
/// Whose assignments are for which nobody is named.
pub(super) const NOBODY: &str = "anonymous";

pub(super) fn routes(questions: &Questions) -> OpenApiRouter {
    OpenApiRouter::new()
        .routes(routes!(assign))
        .routes(routes!(renew, release))
        .routes(routes!(place, end))
        .layer(DefaultBodyLimit::max(MAX_BODY))
        .with_state(questions.clone())
}

/// Sets paths aside.
#[utoipa::path(
    post, path = "/api/v1/assignments", request_body = NewAssignment, responses((status = 201, body = Assigned))
)]
async fn assign(State(questions): State<Questions>, Object(wanted): Object<NewAssignment>) -> Response {
    answer(&questions, claim(wanted).map(Request::Assign), StatusCode::CREATED).await
}

/// Renews an assignment's lease.
#[utoipa::path(
    put, path = "/api/v1/assignments/{id}", params(AssignmentName), request_body = Option<Requester>,
    responses((status = 200, body = Assigned))
)]
async fn renew(
    State(questions): State<Questions>,
    Named(assignment): Named,
    Optional(requester): Optional<Requester>,
) -> Response {
    let request = owner(requester.owner).map(|owner| Request::Renew { assignment, owner });
    answer(&questions, request, StatusCode::OK).await
}

/// Releases an assignment.
#[utoipa::path(
    delete, path = "/api/v1/assignments/{id}", params(AssignmentName), request_body = Option<Requester>,
    responses((status = 200, body = Assigned))
)]
async fn release(
    State(questions): State<Questions>,
    Named(assignment): Named,
    Optional(requester): Optional<Requester>,
) -> Response {
    let request = owner(requester.owner).map(|owner| Request::Release { assignment, owner });
    answer(&questions, request, StatusCode::OK).await
}

/// Places a connection that is about to open on a path; its rules are in place when this is answered.
#[utoipa::path(
    post, path = "/api/v1/assignments/{id}/streams", params(AssignmentName), request_body = Connection,
    responses((status = 201, body = Placed))
)]
async fn place(
    State(questions): State<Questions>,
    Named(assignment): Named,
    Object(connection): Object<Connection>,
) -> Response {
    let request = understand(connection).map(|(owner, tuple)| Request::Place { assignment, owner, tuple });
    answer(&questions, request, StatusCode::CREATED).await
}

/// Ends a connection.
#[utoipa::path(
    delete, path = "/api/v1/assignments/{id}/streams", params(AssignmentName), request_body = Connection,
    responses((status = 200, body = Ended))
)]
async fn end(
    State(questions): State<Questions>,
    Named(assignment): Named,
    Object(connection): Object<Connection>,
) -> Response {
    let request = understand(connection).map(|(owner, tuple)| Request::End { assignment, owner, tuple });
    answer(&questions, request, StatusCode::OK).await
}

/// What the core is asked for, if it makes sense.
fn claim(wanted: NewAssignment) -> Result<Claim, Problem> {
    let [src, dst] = [wanted.src, wanted.dst].map(|ip| ip.to_canonical());
    same_family(src, dst).map_err(|error| Problem::invalid("dst", error))?;
    let distribution = wanted.distribution.as_deref().map(str::parse);
    let distribution = distribution
        .transpose()
        .map_err(|error: DistributionError| Problem::invalid("distribution", error.to_string()))?;
    Ok(Claim {
        owner: named(wanted.owner.as_deref().unwrap_or(NOBODY))?,
        src,
        dst,
        paths: wanted.paths,
        streams: wanted.streams,
        lease: wanted.lease_seconds.map_or(LEASE, Duration::from_secs),
        distribution: distribution.unwrap_or_default(),
        model: model(&wanted)?,
    })
}

/// What the application knows of how many streams paths can use.
fn model(wanted: &NewAssignment) -> Result<Option<StreamModel>, Problem> {
    let NewAssignment { a, saturation_loss, growth, .. } = *wanted;
    if a.is_none() && saturation_loss.is_none() && growth.is_none() {
        return Ok(None);
    }
    let standard = StreamModel::default();
    let growth = growth.map(|growth| match growth {
        Growth::Parabola => braid_assign::Growth::Parabola,
        Growth::Line => braid_assign::Growth::Line,
    });
    let given = StreamModel {
        a: a.unwrap_or(standard.a),
        saturation_loss: saturation_loss.unwrap_or(standard.saturation_loss),
        growth: growth.unwrap_or(standard.growth),
    };
    given.checked().map(Some).map_err(|error| Problem::invalid("a", error.to_string()))
}

fn owner(name: Option<String>) -> Result<Option<Owner>, Problem> {
    name.as_deref().map(named).transpose()
}

fn named(owner: &str) -> Result<Owner, Problem> {
    owner.parse().map_err(|error: OwnerError| Problem::invalid("owner", error.to_string()))
}

pub(super) fn same_family(src: IpAddr, dst: IpAddr) -> Result<(), String> {
    if src.is_ipv4() == dst.is_ipv4() {
        Ok(())
    } else {
        Err(format!("{src} and {dst} are not of the same family"))
    }
}

fn understand(connection: Connection) -> Result<(Option<Owner>, FiveTuple), Problem> {
    let Connection { src, src_port, dst, dst_port, owner: name } = connection;
    let [src, dst] = [src, dst].map(|ip| ip.to_canonical());
    same_family(src, dst).map_err(|error| Problem::invalid("dst", error))?;
    Ok((owner(name)?, FiveTuple { src, dst, src_port, dst_port }))
}

async fn answer(questions: &Questions, request: Result<Request, Problem>, done: StatusCode) -> Response {
    let request = match request {
        Ok(request) => request,
        Err(problem) => return problem.into_response(),
    };
    match questions.request(request).await {
        Ok(Reply::Assignment(assignment)) => (done, Json(assigned(&assignment))).into_response(),
        Ok(Reply::Placed(placed)) => {
            (done, Json(Placed { schema: Schema, stream: lists::placed(placed) })).into_response()
        }
        Ok(Reply::Ended) => (done, Json(Ended { schema: Schema })).into_response(),
        Ok(Reply::Refused(refusal)) => {
            Problem::new(status(&refusal), "refused", refusal.to_string()).into_response()
        }
        Ok(Reply::Advice(_)) => unavailable("the answer was to another question"),
        Err(problem) => problem.into_response(),
    }
}

/// An assignment, and in words if it is less than what was asked for.
fn assigned(assignment: &AssignmentView) -> Assigned {
    let (wanted, found) = (assignment.wanted, assignment.paths.len());
    let fewer = (found < wanted).then(|| format!("of {wanted} paths, {found} add to what all can carry"));
    Assigned {
        schema: Schema,
        assignment: assignment.wire(&Naming::default()),
        warnings: fewer.into_iter().collect(),
    }
}

fn status(refusal: &Refusal) -> StatusCode {
    match refusal {
        refusal if refusal.is_absence() => StatusCode::NOT_FOUND,
        refusal if refusal.is_foreign() => StatusCode::FORBIDDEN,
        refusal if refusal.is_passing() => StatusCode::SERVICE_UNAVAILABLE,
        _ => StatusCode::BAD_REQUEST,
    }
}
