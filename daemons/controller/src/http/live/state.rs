//! The state that watchers see: snapshots of it, and updates with only its changes.

use braid_control::view::{EdgeView, LinkView, TransferView};
use braid_types::Time;
use serde::Serialize;

use super::lost::LostLinks;
use super::table::Told;
use crate::http::replica::Tables;

/// The greatest number of reported transfers; of more, the oldest are reported.
const MAX_TRANSFERS: usize = 1_024;
/// The greatest number of reported edges.
const MAX_EDGES: usize = 1_024;
/// The greatest number of reported links, and of reported hosts.
const MAX_ITEMS: usize = 8_192;

/// The state at one moment, to be recorded.
#[derive(Debug)]
pub(super) struct Sample<'a> {
    pub(super) now: Time,
    pub(super) links: Vec<&'a LinkView>,
    pub(super) edges: Vec<&'a EdgeView>,
    pub(super) transfers: Vec<TransferView>,
}

impl<'a> Sample<'a> {
    pub(super) fn of(tables: &'a Tables) -> Self {
        Self {
            now: now(tables),
            links: tables.links.items().take(MAX_ITEMS).map(|link| &link.value).collect(),
            edges: tables.edges.items().take(MAX_EDGES).map(|edge| &edge.value).collect(),
            transfers: tables.transfers.items().take(MAX_TRANSFERS).map(|it| it.value.view()).collect(),
        }
    }
}

/// The state that was last sent to watchers.
#[derive(Debug)]
pub(super) struct State {
    now: Time,
    told: [Told; 5],
    pub(super) lost: LostLinks,
}

impl Default for State {
    fn default() -> Self {
        let told = ["switches", "links", "hosts", "edges", "transfers"].map(Told::new);
        Self { now: Time::ZERO, told, lost: LostLinks::default() }
    }
}

impl State {
    /// Updates the lists; returns the changes as JSON: new and changed items in `set`, the keys of ended ones in
    /// `removed`.
    pub(super) fn update(&mut self, tables: &Tables) -> String {
        self.now = now(tables);
        let [switches, links, hosts, edges, transfers] = &mut self.told;
        let changes = [
            switches.update(&tables.switches, usize::MAX, &tables.naming),
            links.update(&tables.links, MAX_ITEMS, &tables.naming),
            hosts.update(&tables.hosts, MAX_ITEMS, &tables.naming),
            edges.update(&tables.edges, MAX_EDGES, &tables.naming),
            transfers.update(&tables.transfers, MAX_TRANSFERS, &tables.naming),
        ];
        self.lost.update(self.now, links.gone(), |src| tables.links.has(&src));
        self.object(changes.into_iter().flatten())
    }

    /// All of it as JSON, with the last events.
    pub(super) fn snapshot(&self, events: &impl Serialize) -> String {
        let events = serde_json::to_string(events).unwrap_or_default();
        let [switches, ..] = &self.told;
        let lost = serde_json::to_string(&self.lost.between(|dpid| switches.has(&dpid))).unwrap_or_default();
        let more = [format!(r#""lost_links":{lost}"#), format!(r#""events":{events}"#)];
        self.object(self.told.iter().map(Told::list).chain(more))
    }

    /// The time up to which everything was sent.
    pub(super) const fn now(&self) -> Time {
        self.now
    }

    fn object(&self, members: impl Iterator<Item = String>) -> String {
        let now = self.now.as_nanos();
        let members: String = members.map(|member| format!(",{member}")).collect();
        format!(r#"{{"schema":"braid/v1","now":{now}{members}}}"#)
    }
}

/// What happened until then is in all that watchers see.
fn now(tables: &Tables) -> Time {
    let Tables { switches, links, hosts, edges, transfers, .. } = tables;
    let times = [switches.now, links.now, hosts.now, edges.now, transfers.now];
    times.into_iter().min().unwrap_or_default()
}
