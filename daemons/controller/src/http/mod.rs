//! The HTTP API and metrics, on a thread of their own.

mod advice;
mod answers;
mod assignments;
mod body;
mod capacity;
mod certificate_metrics;
mod cluster;
mod cluster_metrics;
mod connections;
mod credentials;
mod edge_metrics;
mod forward;
mod guard;
mod link_metrics;
mod lists;
mod live;
mod metric_families;
mod metrics;
mod openapi;
mod page;
mod paths;
mod places;
mod playback;
mod policy;
mod problem;
mod process_metrics;
mod questions;
mod replica;
mod rpc;
mod rules;
mod stream;
mod switch_metrics;
mod take_over;
mod testbed;
mod wire;
mod wrong_tokens;

use std::io;
use std::net::{SocketAddr, TcpListener};
use std::sync::Arc;

use axum::Router;
use axum::extract::DefaultBodyLimit;
use axum::http::StatusCode;
use axum::middleware::from_fn_with_state;
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use axum::serve::ListenerExt;
use rustix::process::nice;
use tokio::runtime::Builder;
use tokio::sync::mpsc;
use tokio::task::JoinSet;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::access::Access;
use crate::agents::Agents;
use crate::clock;
use crate::cluster::{ApiTrust, MemberTls, SharedStanding};
use crate::notices::NoticeReceiver;
use crate::openflow_tls::OpenFlowTls;
use crate::tasks::Tasks;
use crate::testbed::Testbed;
pub(crate) use answers::{Asked, answer};
use connections::Limited;
use forward::Forwarder;
use guard::Guard;
pub(crate) use lists::item_lists;
use live::Live;
pub use metric_families::{MetricFamily, MetricKind};
use places::Places;
pub use playback::{Playback, SavedRun};
use problem::Problem;
use questions::Questions;
use replica::{Renewal, Replica};
pub use wire::path_set;
use wrong_tokens::WrongTokens;

/// How much sooner another thread has a core that both want: by a quarter more of it each.
const NICE: i32 = 10;
/// Bytes of a request's body.
const MAX_BODY: usize = 64 << 10;

/// What the routes answer from.
struct ApiState {
    questions: Questions,
    replica: Replica,
    live: Live,
    agents: Agents,
    testbed: Option<Arc<dyn Testbed>>,
    certificates: metrics::CertificateHolders,
}

/// What clients are served with.
pub(crate) struct Service {
    pub(crate) listeners: Vec<TcpListener>,
    pub(crate) agents: Agents,
    pub(crate) access: Access,
    pub(crate) testbed: Option<Arc<dyn Testbed>>,
    pub(crate) notices: NoticeReceiver,
    pub(crate) openflow_tls: Option<OpenFlowTls>,
    /// The cluster that the controller is a member of, as its API sees it.
    pub(crate) cluster: Option<ClusterApi>,
}

/// What the API of a member has to know of the cluster.
pub(crate) struct ClusterApi {
    pub(crate) standing: SharedStanding,
    /// By whose certificates the leader's API is known.
    pub(crate) trust: Option<ApiTrust>,
    /// By which certificates members know each other.
    pub(crate) tls: Option<MemberTls>,
}

impl Service {
    /// Serves clients on a thread of its own; returns what they ask.
    pub(crate) fn start(self, tasks: &mut Tasks) -> io::Result<Asked> {
        let Self { listeners, agents, access, testbed, notices, openflow_tls, cluster } = self;
        let (questions, asked) = Questions::new();
        let (copies, copies_asked) = mpsc::channel(1);
        let (parts, parts_asked) = mpsc::channel(1);
        let mut runtime = Builder::new_current_thread();
        let threads = paths::MAX_RUNNING + forward::MAX_FORWARDED;
        let runtime = runtime.enable_all().max_blocking_threads(threads).build()?;
        let (replica, renewal) = Replica::new(copies, parts);
        let live = Live::new(clock::generation());
        let cluster_tls = cluster.as_ref().and_then(|cluster| cluster.tls.clone());
        let certificates = metrics::CertificateHolders { openflow: openflow_tls, cluster: cluster_tls };
        let state = ApiState { questions, replica, live, agents, testbed, certificates };
        let forwarder = cluster.map(Forwarder::new);
        tasks.spawn_thread("http", move || {
            give_way();
            runtime.block_on(run(Sockets { listeners, access, forwarder }, state, (renewal, notices))).err()
        })?;
        Ok(Asked { questions: asked, copies: copies_asked, parts: parts_asked })
    }
}

/// The network has the core first where it has to share one with this thread, and with those that search for paths.
fn give_way() {
    // Where it is not allowed, they are equals.
    let _ = nice(NICE);
}

/// Where clients connect, and what their requests pass first.
struct Sockets {
    listeners: Vec<TcpListener>,
    access: Access,
    forwarder: Option<Forwarder>,
}

async fn run(
    Sockets { listeners, access, forwarder }: Sockets,
    state: ApiState,
    (renewal, notices): (Renewal, NoticeReceiver),
) -> io::Result<()> {
    // Whichever ends first ends all.
    let mut serving = JoinSet::new();
    serving.spawn(end_of(renewal.run()));
    serving.spawn(end_of(state.live.clone().follow(notices)));
    serving.spawn(end_of(state.live.clone().sample(state.replica.clone())));
    let tls = access.tls.clone();
    let (places, wrong_tokens) = (Places::new(), WrongTokens::new(state.questions.clone()));
    let (access, router) = (Arc::new(access), router(state));
    let router = match forwarder {
        Some(forwarder) => router.layer(from_fn_with_state(forwarder, forward::check)),
        None => router,
    };
    for (index, listener) in listeners.into_iter().enumerate() {
        // An inherited listener is that of a testbed on this machine, which does not know of certificates.
        let is_local = index > 0 && listener.local_addr().is_ok_and(|it| it.ip().is_loopback());
        let tls = tls.clone().filter(|_| !is_local);
        let guard = Guard::new(access.clone(), places.clone(), wrong_tokens.clone(), tls.is_some());
        let router = router.clone().layer(from_fn_with_state(guard, guard::check));
        let service = router.into_make_service_with_connect_info::<SocketAddr>();
        // An empty tap, with which axum reports the addresses of this listener's connections, too.
        let listener =
            Limited::new(tokio::net::TcpListener::from_std(listener)?, tls, places.clone()).tap_io(|_| {});
        serving.spawn(async move { axum::serve(listener, service).await });
    }
    serving.join_next().await.map_or(Ok(()), |ended| ended.map_err(io::Error::other)?)
}

/// The end of a task that goes on as long as the engine does.
async fn end_of(task: impl Future<Output = ()>) -> io::Result<()> {
    task.await;
    Ok(())
}

/// Every route of the API, each described where it is handled.
fn api(state: ApiState) -> OpenApiRouter {
    let ApiState { questions, replica, live, agents, testbed, certificates } = state;
    OpenApiRouter::new()
        .merge(lists::routes(&replica))
        .merge(policy::routes(&questions, &replica))
        .merge(OpenApiRouter::new().routes(routes!(metrics::metrics)).with_state((
            replica.clone(),
            certificates,
            questions.clone(),
        )))
        .merge(OpenApiRouter::new().routes(routes!(capacity::measure)).with_state(questions.clone()))
        .merge(OpenApiRouter::new().routes(routes!(take_over::take_over)).with_state(questions.clone()))
        .merge(cluster::routes(&questions))
        .merge(paths::routes(questions.clone()))
        .merge(rules::routes(&questions))
        .merge(assignments::routes(&questions))
        .merge(rpc::routes(&questions))
        .merge(live::routes(live, &replica))
        .merge(advice::routes(questions, agents, replica))
        .merge(testbed::routes(testbed))
}

fn router(state: ApiState) -> Router {
    let (router, routes) = api(state).split_for_parts();
    let description = Arc::new(openapi::describe(routes));
    router
        .route("/api/v1/openapi.json", get(async move || openapi::document(&description)))
        .merge(page::routes())
        .fallback(unknown)
        .method_not_allowed_fallback(not_that_way)
        .layer(DefaultBodyLimit::max(MAX_BODY))
}

fn unavailable(reason: &'static str) -> Response {
    Problem::unavailable(reason).into_response()
}

async fn unknown() -> Problem {
    Problem::not_found("nothing is served here; /api/v1/openapi.json lists what is")
}

async fn not_that_way() -> Problem {
    Problem::new(StatusCode::METHOD_NOT_ALLOWED, "method", "this is not served for that method")
}
