//! The description of the API, from the types that are served. The functions here stand for the routes.

use axum::http::header;
use axum::response::{IntoResponse, Response};
use braid_control::Alarm;
use braid_control::view::{HostView, LinkView, TransferView};
use braid_steering::TransferId;
use braid_types::{DatapathId, PortNo, Time};
use utoipa::{OpenApi, ToSchema};

use super::answers::ConnectedSwitch;
use super::live::{Event, LinkHistory, TransferHistory};
use super::paths::Answer as Paths;

#[derive(OpenApi)]
#[openapi(
    info(title = "Braid", description = "What a controller knows, as it happens."),
    paths(
        switches,
        links,
        hosts,
        transfers,
        alarms,
        paths,
        measure,
        events,
        stream,
        event_stream,
        link_history,
        transfer_history,
        metrics
    ),
    components(schemas(Event, ProblemDocument, Snapshot, Delta))
)]
struct Description;

/// Answers `GET /api/v1/openapi.json`.
pub(super) async fn document() -> Response {
    match Description::openapi().to_json() {
        Ok(text) => ([(header::CONTENT_TYPE, "application/json")], text).into_response(),
        Err(_) => super::unavailable("the description cannot be written"),
    }
}

/// Describes an answer with one list.
macro_rules! list {
    ($answer:ident, $name:ident: $item:ty) => {
        #[derive(ToSchema)]
        #[allow(dead_code, reason = "a description")]
        struct $answer {
            /// `braid/v1`
            schema: String,
            now: Time,
            $name: Vec<$item>,
        }
    };
}

list!(Switches, switches: ConnectedSwitch);
list!(Links, links: LinkView);
list!(Hosts, hosts: HostView);
list!(Transfers, transfers: TransferView);
list!(Alarms, alarms: Alarm);

/// What is wrong with a request: RFC 9457.
#[derive(ToSchema)]
#[allow(dead_code, reason = "a description")]
struct ProblemDocument {
    schema: String,
    r#type: String,
    title: String,
    status: u16,
    /// In words.
    detail: String,
    /// For programs.
    code: String,
    /// Which one is wrong.
    parameter: Option<String>,
}

#[derive(ToSchema)]
#[allow(dead_code, reason = "a description")]
struct Events {
    schema: String,
    now: Time,
    /// Where the stream of events goes on.
    last_event_id: String,
    events: Vec<Event>,
}

/// A measurement has begun.
#[derive(ToSchema)]
#[allow(dead_code, reason = "a description")]
struct Begun {
    schema: String,
    now: Time,
}

/// The data of the first message of a stream, named `snapshot`.
#[derive(ToSchema)]
#[allow(dead_code, reason = "a description")]
struct Snapshot {
    schema: String,
    now: Time,
    switches: Vec<ConnectedSwitch>,
    links: Vec<LinkView>,
    hosts: Vec<HostView>,
    transfers: Vec<TransferView>,
    events: Vec<Event>,
}

/// What has changed of a list.
#[derive(ToSchema)]
#[allow(dead_code, reason = "a description")]
struct Changes<T> {
    /// New or different.
    set: Vec<T>,
    /// The keys of what is not there any more.
    gone: Vec<String>,
}

/// The data of the messages named `delta`; a list that has not changed is not there.
#[derive(ToSchema)]
#[allow(dead_code, reason = "a description")]
struct Delta {
    schema: String,
    now: Time,
    #[schema(nullable = false)]
    switches: Option<Changes<ConnectedSwitch>>,
    #[schema(nullable = false)]
    links: Option<Changes<LinkView>>,
    #[schema(nullable = false)]
    hosts: Option<Changes<HostView>>,
    #[schema(nullable = false)]
    transfers: Option<Changes<TransferView>>,
}

/// Describes a route without a body.
macro_rules! route {
    ($(#[doc = $doc:literal])* $name:ident, $method:ident $path:tt, $status:tt $answer:ident, [$($parameter:tt)*]) => {
        $(#[doc = $doc])*
        #[utoipa::path(
            $method, path = $path, params($($parameter)*),
            responses(
                (status = $status, body = $answer),
                (status = "default", description = "not answered", body = ProblemDocument,
                 content_type = "application/problem+json")
            )
        )]
        #[allow(dead_code, reason = "a description")]
        const fn $name() {}
    };
}

route!(/// Switches that are connected.
    switches, get "/api/v1/switches", 200 Switches, []);
route!(/// Links between switches, each direction by itself.
    links, get "/api/v1/links", 200 Links, []);
route!(/// Interfaces of hosts.
    hosts, get "/api/v1/hosts", 200 Hosts, []);
route!(/// Transfers in progress.
    transfers, get "/api/v1/transfers", 200 Transfers, []);
route!(/// What was done at ports that must not be.
    alarms, get "/api/v1/alarms", 200 Alarms, []);
route!(/// Has the capacity of the link that leaves a port measured.
measure, post "/api/v1/links/measure", 202 Begun, [
    ("dpid" = DatapathId, Query), ("port" = PortNo, Query)
]);
route!(/// A set of paths.
paths, get "/api/v1/paths", 200 Paths, [
    ("src" = String, Query, description = "a datapath id, or a host's IP or MAC address"),
    ("dst" = String, Query, description = "the same"),
    ("mode" = Option<String>, Query, description = "shortest, ksp, disjoint, node-disjoint, maxflow, widest, within:HOPS"),
    ("k" = Option<u32>, Query, description = "how many at most", minimum = 1, maximum = 4096),
    ("weight" = Option<String>, Query, description = "hops, latency, load, or a sum such as 10*hops+latency"),
    ("without" = Option<Vec<String>>, Query, description = "DPID, DPID:PORT or DPID--DPID"),
    ("min_capacity" = Option<String>, Query, description = "of every link, such as 100Mbit"),
    ("max_latency" = Option<String>, Query, description = "of every path, such as 10ms")
]);
route!(/// What happened, the latest last.
events, get "/api/v1/events", 200 Events, [
    ("after" = Option<u64>, Query, description = "only events with higher numbers"),
    ("limit" = Option<u64>, Query, description = "how many at most")
]);
route!(/// What was measured of the link that leaves a port.
link_history, get "/api/v1/links/history", 200 LinkHistory, [
    ("dpid" = DatapathId, Query), ("port" = PortNo, Query),
    ("step_s" = Option<u64>, Query, description = "1 or 60"),
    ("since" = Option<Time>, Query, description = "nothing older")
]);
route!(/// What was measured of a transfer.
transfer_history, get "/api/v1/transfers/history", 200 TransferHistory, [
    ("id" = TransferId, Query),
    ("step_s" = Option<u64>, Query, description = "1 or 60"),
    ("since" = Option<Time>, Query, description = "nothing older")
]);

/// Describes a route whose answer is text.
macro_rules! text_route {
    ($(#[doc = $doc:literal])* $name:ident, $path:tt, $type:tt, [$($parameter:tt)*]) => {
        $(#[doc = $doc])*
        #[utoipa::path(
            get, path = $path, params($($parameter)*),
            responses((status = 200, body = String, content_type = $type))
        )]
        #[allow(dead_code, reason = "a description")]
        const fn $name() {}
    };
}

text_route!(/// Server-sent events: a snapshot, then deltas and events, for as long as the client reads.
    stream, "/api/v1/stream", "text/event-stream",
    [("Last-Event-ID" = Option<String>, Header, description = "where it goes on")]);
text_route!(/// Server-sent events: the events alone.
    event_stream, "/api/v1/events/stream", "text/event-stream",
    [("Last-Event-ID" = Option<String>, Header, description = "where it goes on")]);
text_route!(/// Metrics in the OpenMetrics format.
    metrics, "/metrics", "application/openmetrics-text", []);
