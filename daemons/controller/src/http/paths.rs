//! Sets of paths: the engine's thread says what names mean and hands out a snapshot, other threads search it.

use std::net::IpAddr;
use std::sync::Arc;

use axum::extract::{Query as Parameters, State};
use axum::http::header;
use axum::response::{IntoResponse, Response};
use braid_api::{Paths, PathsParameters, Schema};
use braid_control::{Brain, NetworkNames};
use braid_paths::Snapshot;
use braid_paths::query::{self, PathsView, Query, QueryError, Resolved};
use braid_types::{DatapathId, MacAddr, SwitchPort, Time};
use tokio::sync::Semaphore;
use tokio::task::spawn_blocking;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::problem::Problem;
use super::questions::Questions;
use super::unavailable;
use super::wire::path_set;
use crate::engine::Engine;
use crate::names::Names;

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
    let search = questions.ask(move |it| Search::prepare(&it.engine.borrow(), &query)).await?;
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
struct Search {
    snapshot: Snapshot,
    resolved: Resolved,
    names: Names,
    now: Time,
}

impl Search {
    /// Finds out what the names mean; quick.
    fn prepare(engine: &Engine, query: &Query) -> Result<Self, QueryError> {
        let (brain, snapshot, names) = (engine.brain(), engine.brain().path_sets(), engine.names().clone());
        let known = Known { brain, snapshot: &snapshot, names: &names };
        let mut resolved = query.resolve(snapshot.graph(), &known)?;
        // As for the controller itself: replies return on the same links.
        resolved.request.terms.constraints.both_ways = true;
        Ok(Self { snapshot, resolved, names, now: engine.now() })
    }

    /// The answer as JSON.
    fn run(&self) -> String {
        let Self { snapshot, resolved, names, now } = self;
        let [src, dst] = resolved.switches();
        let set = snapshot.paths(src, dst, &resolved.request);
        let view = PathsView::new(snapshot.graph(), resolved, &set, |dpid| names.switch(dpid));
        // Text and numbers are always written.
        serde_json::to_string(&Paths { schema: Schema, now: *now, set: path_set(view) }).unwrap_or_default()
    }
}

/// What the controller knows by name.
struct Known<'a> {
    brain: &'a Brain,
    snapshot: &'a Snapshot,
    names: &'a Names,
}

impl query::Names for Known<'_> {
    fn locate(&self, text: &str) -> Result<Vec<DatapathId>, String> {
        if let Some(switch) = self.switch(text) {
            return Ok(vec![switch]);
        }
        let mut switches = self.switches_of_host(text);
        if let Some(at) = self.place_of(text) {
            switches.push(at.dpid);
        }
        if switches.is_empty() { Err(self.unknown(text)) } else { Ok(switches) }
    }

    fn switch(&self, text: &str) -> Option<DatapathId> {
        self.names.switch_called(text).filter(|dpid| self.is_connected(*dpid))
    }

    fn port(&self, text: &str) -> Option<SwitchPort> {
        self.names.port_called(text).filter(|at| self.is_connected(at.dpid))
    }
}

impl Known<'_> {
    fn is_connected(&self, dpid: DatapathId) -> bool {
        self.snapshot.graph().node(dpid).is_some()
    }

    /// The switches of a host by its name, each once.
    fn switches_of_host(&self, name: &str) -> Vec<DatapathId> {
        let (ports, addresses) = self.names.host_called(name);
        let seen = addresses.filter_map(|address| self.brain.place_of_address(address));
        let mut switches = Vec::new();
        for at in ports.chain(seen) {
            if self.is_connected(at.dpid) && !switches.contains(&at.dpid) {
                switches.push(at.dpid);
            }
        }
        switches
    }

    /// The port of a host by its IP or MAC address.
    fn place_of(&self, text: &str) -> Option<SwitchPort> {
        match (text.parse(), text.parse()) {
            (Ok(address), _) => self.brain.place_of_address(IpAddr::to_canonical(&address)),
            (_, Ok(mac)) => self.brain.place_of(mac),
            _ => None,
        }
    }

    fn unknown(&self, text: &str) -> String {
        let is_address = text.parse::<IpAddr>().is_ok() || text.parse::<MacAddr>().is_ok();
        match (is_address, self.names.switch_called(text)) {
            (true, _) => format!("no host {text} has been seen"),
            (false, Some(_)) => format!("no switch {text} is connected"),
            (false, None) => {
                format!(
                    "{text:?} is no name or datapath id of a switch, and no name, IP or MAC address of a host"
                )
            }
        }
    }
}
