//! The description of the API, from the routes and the types that are served.

use axum::http::header;
use axum::response::{IntoResponse, Response};
use braid_api::{Delta, Event, Problem, Snapshot};
use utoipa::openapi::path::PathItem;
use utoipa::openapi::{Content, OpenApi, Ref, Response as Described, ResponseBuilder};

#[derive(utoipa::OpenApi)]
#[openapi(
    info(
        title = "Braid",
        description = "What a controller knows, as it happens.\n\nIn a cluster any member may be asked. A member that stands \
            by passes requests that change something on to the leader. What it answers itself about the network has the header \
            `Braid-State-Age`: how many seconds ago it led last, or `never`."
    ),
    // What streams send.
    components(schemas(Event, Problem, Snapshot, Delta))
)]
struct Description;

/// The description of these routes.
pub(super) fn describe(routes: OpenApi) -> OpenApi {
    let mut description = <Description as utoipa::OpenApi>::openapi();
    description.merge(routes);
    description.paths.paths.values_mut().for_each(add_problem);
    description
}

/// Any request may be refused.
fn add_problem(path: &mut PathItem) {
    let operations = [&mut path.get, &mut path.put, &mut path.post, &mut path.delete];
    for operation in operations.into_iter().flatten() {
        operation.responses.responses.insert("default".to_owned(), problem().into());
    }
}

fn problem() -> Described {
    let schema = Ref::from_schema_name(<Problem as utoipa::ToSchema>::name());
    ResponseBuilder::new()
        .description("the request is refused")
        .content("application/problem+json", Content::new(Some(schema)))
        .build()
}

/// `GET /api/v1/openapi.json`.
pub(super) fn document(description: &OpenApi) -> Response {
    match description.to_json() {
        Ok(text) => ([(header::CONTENT_TYPE, "application/json")], text).into_response(),
        Err(_) => super::unavailable("the description cannot be written"),
    }
}
