use braid_control::view::SwitchView;
use serde::Serialize;
use tokio::sync::mpsc;
use tracing::info;
use utoipa::ToSchema;

use super::live::Sample;
use super::paths::Search;
use super::{Question, Resource, capacity, metrics};
use crate::drawing::Drawn;
use crate::engine::{Engine, Shared};
use crate::policy;

/// Answers the questions of clients, on the engine's thread.
pub(crate) async fn answer(engine: Shared, mut questions: mpsc::Receiver<Question>) {
    while let Some(question) = questions.recv().await {
        // The client may have gone; then nobody is interested.
        match question {
            Question::Show(resource, answer) => drop(answer.send(body(&engine.borrow(), resource))),
            Question::Sample(answer) => drop(answer.send(Sample::take(&engine.borrow()))),
            Question::Measure(src, answer) => _ = answer.send(capacity::begin(&mut engine.borrow_mut(), src)),
            Question::SetPolicy(text, answer) => {
                policy::set(&engine, text);
                info!("a policy was loaded over the API");
                _ = answer.send(engine.borrow().now());
            }
            Question::Request(request, answer) => engine.borrow_mut().ask(request, answer),
            Question::Paths(query, answer) => drop(answer.send(Search::prepare(&engine.borrow(), &query))),
        }
    }
}

fn body(engine: &Engine, resource: Resource) -> String {
    let brain = engine.brain();
    let now = engine.now();
    match resource {
        Resource::Switches => json("switches", &switches(engine), now),
        Resource::Links => json("links", &brain.links(), now),
        Resource::Hosts => json("hosts", &brain.hosts(), now),
        Resource::Edges => json("edges", &brain.edges(), now),
        Resource::Transfers => json("transfers", &brain.transfers(), now),
        Resource::Policy => json("policy", brain.policies(), now),
        Resource::Alarms => json("alarms", &brain.alarms(), now),
        Resource::Assignments => json("assignments", &brain.assignments(), now),
        Resource::Metrics => metrics::encode(engine),
    }
}

/// A switch with what only the daemon knows of it.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Switch)]
pub(super) struct ConnectedSwitch {
    #[serde(flatten)]
    pub(super) switch: SwitchView,
    /// Where it connects from.
    #[schema(value_type = Option<String>)]
    address: Option<std::net::SocketAddr>,
    #[serde(flatten)]
    drawn: Drawn,
}

pub(super) fn switches(engine: &Engine) -> Vec<ConnectedSwitch> {
    let switches = engine.brain().switches().into_iter();
    let connected = |switch: SwitchView| ConnectedSwitch {
        address: engine.address(switch.dpid),
        drawn: engine.drawn(switch.dpid),
        switch,
    };
    switches.map(connected).collect()
}

fn json(name: &str, items: &impl Serialize, now: braid_types::Time) -> String {
    // Views have text for keys, and are always written. Nothing is made of them before: the brain waits meanwhile.
    let items = serde_json::to_string(items).unwrap_or_default();
    format!(r#"{{"schema":"braid/v1","now":{},"{name}":{items}}}"#, now.as_nanos())
}
