//! XML-RPC: the two calls of Huang et al. (2017), for API clients made for them.

mod methods;
mod xml;

use axum::body::Bytes;
use axum::extract::rejection::BytesRejection;
use axum::extract::{DefaultBodyLimit, State};
use axum::http::header;
use axum::response::{IntoResponse, Response};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::assignments::MAX_BODY;
use super::problem::Problem;
use super::questions::Questions;
use methods::Called;

pub(super) fn routes(questions: &Questions) -> OpenApiRouter {
    OpenApiRouter::new()
        .routes(routes!(rpc))
        .layer(DefaultBodyLimit::max(MAX_BODY))
        .with_state(questions.clone())
}

/// `AssignMultipath`, `MakePath` and `EndPath` as XML-RPC.
///
/// Every answer is 200, faults too, as the specification demands.
#[utoipa::path(
    post, path = "/RPC2", request_body(content = String, content_type = "text/xml"),
    responses((status = 200, body = String, content_type = "text/xml"))
)]
async fn rpc(State(questions): State<Questions>, body: Result<Bytes, BytesRejection>) -> Response {
    let body = match body {
        Ok(body) => body,
        Err(rejection) => return Problem::from(rejection).into_response(),
    };
    let text = match xml::parse_call(&body).and_then(|call| methods::understand(&call)) {
        Ok(Called::Request(request)) => match questions.request(request).await {
            Ok(answer) => {
                methods::result_of(&answer).map_or_else(|fault| fault.to_xml(), |it| it.to_response())
            }
            Err(problem) => return problem.into_response(),
        },
        Ok(Called::Known(value)) => value.to_response(),
        Err(fault) => fault.to_xml(),
    };
    ([(header::CONTENT_TYPE, "text/xml; charset=utf-8")], text).into_response()
}
