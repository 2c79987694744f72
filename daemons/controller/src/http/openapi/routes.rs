//! What is asked for. The functions stand for the routes.

use braid_assign::AssignmentId;
use braid_steering::{Advice, AdviceRequest, TransferId};
use braid_types::{DatapathId, PortNo, Time};

use super::schemas::{
    Alarms, Assigned, Assignments, Done, Edges, Ended, Events, Hosts, Links, Placed, PolicyInUse,
    ProblemDocument, Switches, Transfers,
};
use crate::http::assignments::{Asker, Connection, NewAssignment};
use crate::http::live::{EdgeHistory, LinkHistory, TransferHistory};
use crate::http::paths::Answer as Paths;
use crate::testbed::{LinkChange, TestbedChanged, TestbedLinks};

/// Describes a route, with a body or without.
macro_rules! route {
    (
        $(#[doc = $doc:literal])* $name:ident, $method:ident $path:tt, $status:tt $answer:ident, [$($parameter:tt)*]
        $(, $($body:tt)+)?
    ) => {
        $(#[doc = $doc])*
        #[utoipa::path(
            $method, path = $path, params($($parameter)*), $(request_body($($body)+),)?
            responses(
                (status = $status, body = $answer),
                (status = "default", description = "not answered", body = ProblemDocument,
                 content_type = "application/problem+json")
            )
        )]
        #[expect(dead_code, reason = "a description")]
        pub(super) const fn $name() {}
    };
}

/// Describes a list that is read page after page.
macro_rules! list_route {
    ($(#[doc = $doc:literal])* $name:ident, $path:tt, $answer:ident) => {
        route!($(#[doc = $doc])* $name, get $path, 200 $answer, [
            ("limit" = Option<u32>, Query, description = "items of a page at most; 1000 unless it is said", minimum = 1, maximum = 10000),
            ("cursor" = Option<String>, Query, description = "`next_cursor` of the page before; without: the first page")
        ]);
    };
}

list_route!(/// Switches that are connected.
    switches, "/api/v1/switches", Switches);
list_route!(/// Links between switches, each direction by itself.
    links, "/api/v1/links", Links);
list_route!(/// Interfaces of hosts.
    hosts, "/api/v1/hosts", Hosts);
list_route!(/// Edges: what they spray over which paths, and put in order for whom.
    edges, "/api/v1/edges", Edges);
list_route!(/// Transfers in progress.
    transfers, "/api/v1/transfers", Transfers);
list_route!(/// What was done at ports that must not be.
    alarms, "/api/v1/alarms", Alarms);
route!(/// Has the capacity of the link that leaves a port measured.
measure, post "/api/v1/links/measure", 202 Done, [
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
route!(/// What an edge told of its paths and buffers.
edge_history, get "/api/v1/edges/history", 200 EdgeHistory, [
    ("dpid" = DatapathId, Query),
    ("step_s" = Option<u64>, Query, description = "1 or 60"),
    ("since" = Option<Time>, Query, description = "nothing older")
]);

list_route!(/// Sets of paths that applications have set aside.
    assignments, "/api/v1/assignments", Assignments);
route!(/// Sets paths aside.
    assign, post "/api/v1/assignments", 201 Assigned, [], content = NewAssignment);
route!(/// Begins an assignment's lease anew.
    renew, put "/api/v1/assignments/{id}", 200 Assigned, [("id" = AssignmentId, Path)], content = Option<Asker>);
route!(/// Gives an assignment back.
    release, delete "/api/v1/assignments/{id}", 200 Assigned, [("id" = AssignmentId, Path)], content = Option<Asker>);
route!(/// A connection is about to open: it gets a path, and its rules are in place when this is answered.
    place, post "/api/v1/assignments/{id}/streams", 201 Placed, [("id" = AssignmentId, Path)], content = Connection);
route!(/// A connection has ended.
    end, delete "/api/v1/assignments/{id}/streams", 200 Ended, [("id" = AssignmentId, Path)], content = Connection);
route!(/// What is steered how.
    policy, get "/api/v1/policy", 200 PolicyInUse, []);
route!(/// Changes what is steered how; from the controller's own machine only.
    set_policy, put "/api/v1/policy", 200 Done, [], content = String, content_type = "text/plain");
route!(/// Which subflows a connection shall have, with their rules in place.
    advise, post "/api/v1/advice", 200 Advice, [], content = AdviceRequest);

route!(/// The links of the testbed that the network is; where it is none, no links.
    testbed_links, get "/api/v1/testbed/links", 200 TestbedLinks, []);
route!(/// Cuts, restores or changes a link of the testbed, both ways.
    change_link, put "/api/v1/testbed/links", 200 TestbedChanged, [
        ("from" = String, Query, description = "one end: a switch, with or without a colon and the number of its port, or a host, with or without its interface"),
        ("to" = String, Query, description = "the other")
    ], content = LinkChange);

/// Describes a route whose answer is text.
macro_rules! text_route {
    ($(#[doc = $doc:literal])* $name:ident, $path:tt, $type:tt, [$($parameter:tt)*]) => {
        $(#[doc = $doc])*
        #[utoipa::path(
            get, path = $path, params($($parameter)*),
            responses((status = 200, body = String, content_type = $type))
        )]
        #[expect(dead_code, reason = "a description")]
        pub(super) const fn $name() {}
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

/// `AssignMultipath`, `MakePath` and `EndPath` as XML-RPC.
#[utoipa::path(
    post, path = "/RPC2",
    request_body(content = String, content_type = "text/xml"),
    responses(
        (status = 200, body = String, content_type = "text/xml"),
        (status = "default", description = "not answered", body = ProblemDocument,
         content_type = "application/problem+json")
    )
)]
#[expect(dead_code, reason = "a description")]
pub(super) const fn rpc() {}
