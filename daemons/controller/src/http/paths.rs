//! Sets of paths: the engine's thread says what names mean and hands out a snapshot, other threads search it.

use std::net::IpAddr;
use std::sync::Arc;

use axum::extract::{Query as Parameters, State};
use axum::http::header;
use axum::response::{IntoResponse, Response};
use braid_api::{Paths, PathsParameters, Schema};
use braid_control::Brain;
use braid_paths::Snapshot;
use braid_paths::query::{Names, PathsView, Query, QueryError, Resolved};
use braid_types::{DatapathId, MacAddr, Time};
use tokio::sync::Semaphore;
use tokio::task::spawn_blocking;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::problem::Problem;
use super::wire::path_set;
use super::{Question, Questions, ask, unavailable};
use crate::engine::Engine;

/// Searches that run at the same time; others wait.
pub(super) const MAX_RUNNING: usize = 2;
/// Searches that run or wait; more are turned away.
const MAX_ADMITTED: usize = 32;

pub(super) fn routes(questions: Questions) -> OpenApiRouter {
    OpenApiRouter::new().routes(routes!(paths)).with_state(Route::new(questions))
}

/// What the route needs.
#[derive(Clone)]
struct Route {
    questions: Questions,
    admitted: Arc<Semaphore>,
}

impl Route {
    fn new(questions: Questions) -> Self {
        Self { questions, admitted: Arc::new(Semaphore::new(MAX_ADMITTED)) }
    }
}

/// A set of paths.
#[utoipa::path(get, path = "/api/v1/paths", params(PathsParameters), responses((status = 200, body = Paths)))]
async fn paths(
    State(route): State<Route>,
    Parameters(parameters): Parameters<Vec<(String, String)>>,
) -> Response {
    // Given back at the end of the search, which goes on when the client has gone.
    let Ok(permit) = route.admitted.try_acquire_owned() else {
        return unavailable("too many searches for paths are under way");
    };
    let search = match prepare(&route.questions, parameters).await {
        Ok(search) => search,
        Err(response) => return response,
    };
    let found = spawn_blocking(move || {
        let body = search.run();
        drop(permit);
        body
    });
    match found.await {
        Ok(body) => ([(header::CONTENT_TYPE, "application/json")], body).into_response(),
        Err(_) => unavailable("the controller is stopping"),
    }
}

async fn prepare(questions: &Questions, parameters: Vec<(String, String)>) -> Result<Search, Response> {
    let query = Query::from_parameters(parameters).map_err(|error| refuse(&error))?;
    let search = ask(questions, |answer| Question::Paths(Box::new(query), answer)).await?;
    search.map_err(|error| refuse(&error))
}

fn refuse(error: &QueryError) -> Response {
    let problem = match error {
        QueryError::Invalid { .. } => Problem::invalid(error.parameter(), error.to_string()),
        QueryError::NotFound { .. } => Problem::not_found(error.to_string()).of(error.parameter()),
    };
    problem.into_response()
}

/// A search for paths that any thread can make.
pub(crate) struct Search {
    snapshot: Snapshot,
    resolved: Resolved,
    now: Time,
}

impl Search {
    /// Finds out what the names mean; quick.
    pub(super) fn prepare(engine: &Engine, query: &Query) -> Result<Self, QueryError> {
        let snapshot = engine.brain().path_sets();
        let mut resolved =
            query.resolve(snapshot.graph(), &Known { brain: engine.brain(), snapshot: &snapshot })?;
        // As for the controller itself: replies return on the same links.
        resolved.request.terms.constraints.both_ways = true;
        Ok(Self { snapshot, resolved, now: engine.now() })
    }

    /// The answer as JSON.
    fn run(&self) -> String {
        let Self { snapshot, resolved, now } = self;
        let [src, dst] = resolved.switches();
        let set = snapshot.paths(src, dst, &resolved.request);
        let view = PathsView::new(snapshot.graph(), resolved, &set, |_| None);
        // Text and numbers are always written.
        serde_json::to_string(&Paths { schema: Schema, now: *now, set: path_set(view) }).unwrap_or_default()
    }
}

/// What the controller knows by name.
struct Known<'a> {
    brain: &'a Brain,
    snapshot: &'a Snapshot,
}

impl Names for Known<'_> {
    fn locate(&self, text: &str) -> Result<Vec<DatapathId>, String> {
        let host = || match (text.parse(), text.parse()) {
            (Ok(address), _) => self.brain.place_of_address(IpAddr::to_canonical(&address)),
            (_, Ok(mac)) => self.brain.place_of(mac),
            _ => None,
        };
        let switch = self.switch(text).or_else(|| host().map(|at| at.dpid));
        switch.map(|switch| vec![switch]).ok_or_else(|| unknown(text))
    }

    fn switch(&self, text: &str) -> Option<DatapathId> {
        text.parse().ok().filter(|dpid| self.snapshot.graph().node(*dpid).is_some())
    }
}

fn unknown(text: &str) -> String {
    let is_address = text.parse::<IpAddr>().is_ok() || text.parse::<MacAddr>().is_ok();
    match (is_address, text.parse::<DatapathId>()) {
        (true, _) => format!("no host {text} has been seen"),
        (false, Ok(_)) => format!("no switch {text} is connected"),
        (false, Err(_)) => format!("{text:?} is no datapath id, and no IP or MAC address of a host"),
    }
}
