use braid_control::view::{EdgeView, HostView, LinkView, TransferView};
use braid_types::Time;
use serde::Serialize;

use super::table::Table;
use crate::engine::Engine;
use crate::http::answers::{ConnectedSwitch, switches};

/// Transfers of a copy; of more, those that have gone on for longest.
const MAX_TRANSFERS: usize = 1_024;
/// Edges of a copy.
const MAX_EDGES: usize = 1_024;
/// Links and hosts of a copy.
const MAX_ITEMS: usize = 8_192;

/// A copy of what the engine shows at one moment.
#[derive(Debug)]
pub(crate) struct Sample {
    pub(super) now: Time,
    switches: Vec<ConnectedSwitch>,
    pub(super) links: Vec<LinkView>,
    hosts: Vec<HostView>,
    pub(super) edges: Vec<EdgeView>,
    pub(super) transfers: Vec<TransferView>,
}

impl Sample {
    /// What the engine shows now.
    pub(crate) fn take(engine: &Engine) -> Self {
        let brain = engine.brain();
        let (mut links, mut hosts, mut edges) = (brain.links(), brain.hosts(), brain.edges());
        links.truncate(MAX_ITEMS);
        hosts.truncate(MAX_ITEMS);
        edges.truncate(MAX_EDGES);
        let transfers = brain.oldest_transfers(MAX_TRANSFERS);
        Self { now: engine.now(), switches: switches(engine), links, hosts, edges, transfers }
    }
}

/// The state as the last copy told it.
#[derive(Debug)]
pub(super) struct State {
    now: Time,
    tables: [Table; 5],
}

impl Default for State {
    fn default() -> Self {
        Self { now: Time::ZERO, tables: ["switches", "links", "hosts", "edges", "transfers"].map(Table::new) }
    }
}

impl State {
    /// Takes in a copy; what has changed, as JSON: `set` what is new or different, `gone` what is not there any more.
    pub(super) fn update(&mut self, sample: &Sample) -> String {
        self.now = sample.now;
        let [switches, links, hosts, edges, transfers] = &mut self.tables;
        let changes = [
            switches.update(&sample.switches, |switch| switch.switch.dpid),
            links.update(&sample.links, |link| link.src),
            hosts.update(&sample.hosts, |host| host.mac),
            edges.update(&sample.edges, |edge| edge.dpid),
            transfers.update(&sample.transfers, |transfer| transfer.id),
        ];
        self.object(changes.into_iter().flatten())
    }

    /// All of it as JSON, with the last events.
    pub(super) fn snapshot(&self, events: &impl Serialize) -> String {
        let events = serde_json::to_string(events).unwrap_or_default();
        self.object(self.tables.iter().map(Table::list).chain([format!(r#""events":{events}"#)]))
    }

    /// When the last copy was made.
    pub(super) const fn now(&self) -> Time {
        self.now
    }

    fn object(&self, members: impl Iterator<Item = String>) -> String {
        let now = self.now.as_nanos();
        let members: String = members.map(|member| format!(",{member}")).collect();
        format!(r#"{{"schema":"braid/v1","now":{now}{members}}}"#)
    }
}
