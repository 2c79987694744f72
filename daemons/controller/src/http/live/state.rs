//! The state that watchers see: snapshots of it, and updates with only its changes.

use braid_api::NetworkTotals;
use braid_control::Sizes;
use braid_control::view::{EdgeView, LinkView, TransferView};
use braid_types::Time;
use serde::Serialize;

use super::lost::LostLinks;
use super::table::ReportedItems;
use crate::http::replica::{Listed, Tables};
use crate::state_copy::MAX_FIRST_LINKS;

/// The greatest number of reported transfers; of more, the oldest are reported.
const MAX_TRANSFERS: usize = 1_024;
/// The greatest number of reported edges.
const MAX_EDGES: usize = 1_024;
/// The greatest number of reported hosts.
const MAX_HOSTS: usize = 8_192;

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
            now: kept_at(tables),
            links: tables.first_links.items().map(|link| &link.value).collect(),
            edges: tables.edges.items().take(MAX_EDGES).map(|edge| &edge.value).collect(),
            transfers: tables.transfers.items().take(MAX_TRANSFERS).map(|it| it.value.view()).collect(),
        }
    }
}

/// The state that was last sent to watchers.
#[derive(Debug)]
pub(super) struct State {
    now: Time,
    reported: [ReportedItems; 5],
    /// How much there is of what is reported in part.
    totals: Option<NetworkTotals>,
    /// The links when they were noted last, and when that was.
    noted_at: Time,
    links: Vec<LinkView>,
    pub(super) lost: LostLinks,
}

impl Default for State {
    fn default() -> Self {
        let reported = ["switches", "links", "hosts", "edges", "transfers"].map(ReportedItems::new);
        let (now, noted_at, lost) = (Time::ZERO, Time::ZERO, LostLinks::default());
        Self { now, reported, totals: None, noted_at, links: Vec::new(), lost }
    }
}

impl State {
    /// Notes which links were lost since the last call, whether or not anybody watches.
    pub(super) fn note(&mut self, tables: &Tables) {
        self.noted_at = kept_at(tables);
        let links = &tables.first_links;
        let is_cut = links.len() >= MAX_FIRST_LINKS;
        let last = links.items().map(|link| link.value.src).next_back().filter(|_| is_cut);
        let gone =
            self.links.iter().filter(|link| !links.has(&link.src) && last.is_none_or(|last| link.src < last));
        self.lost.update(self.noted_at, gone.map(|link| link.wire(&tables.naming)), |src| links.has(&src));
        self.links = links.items().map(|link| link.value.clone()).collect();
    }

    /// Updates the lists; returns the changes as JSON: new and changed items in `set`, the keys of ended ones in
    /// `removed`.
    pub(super) fn update(&mut self, tables: &Tables) -> String {
        self.now = now(tables);
        let [switches, links, hosts, edges, transfers] = &mut self.reported;
        let changes = [
            switches.update(&tables.switches, usize::MAX, &tables.naming),
            links.update(&tables.first_links, MAX_FIRST_LINKS, &tables.naming),
            hosts.update(&tables.hosts, MAX_HOSTS, &tables.naming),
            edges.update(&tables.edges, MAX_EDGES, &tables.naming),
            transfers.update(&tables.transfers, MAX_TRANSFERS, &tables.naming),
        ];
        let totals = self.totals.replace(totals(tables));
        let totals = (totals != self.totals).then(|| self.totals_text()).flatten();
        self.object(changes.into_iter().chain([totals]).flatten())
    }

    /// All of it as JSON, with the last events.
    pub(super) fn snapshot(&self, events: &impl Serialize) -> String {
        let events = serde_json::to_string(events).unwrap_or_default();
        let [switches, ..] = &self.reported;
        let lost = serde_json::to_string(&self.lost.between(|dpid| switches.has(&dpid))).unwrap_or_default();
        let more = [format!(r#""lost_links":{lost}"#), format!(r#""events":{events}"#)];
        self.object(self.reported.iter().map(ReportedItems::list).chain(more).chain(self.totals_text()))
    }

    fn totals_text(&self) -> Option<String> {
        let totals = serde_json::to_string(&self.totals?).ok()?;
        Some(format!(r#""totals":{totals}"#))
    }

    /// What happened until then is noted.
    pub(super) const fn noted_at(&self) -> Time {
        self.noted_at
    }

    fn object(&self, members: impl Iterator<Item = String>) -> String {
        let now = self.now.as_nanos();
        let members: String = members.map(|member| format!(",{member}")).collect();
        format!(r#"{{"schema":"braid/v1","now":{now}{members}}}"#)
    }
}

fn totals(tables: &Tables) -> NetworkTotals {
    let Sizes { links, hosts, transfers, .. } = tables.totals.sizes;
    NetworkTotals { links, hosts, transfers }
}

/// What happened until then is in all that watchers see.
fn now(tables: &Tables) -> Time {
    kept_at(tables).min(tables.switches.now).min(tables.hosts.now)
}

/// What happened until then is in all that is kept while nobody watches.
fn kept_at(tables: &Tables) -> Time {
    let Tables { first_links, edges, transfers, .. } = tables;
    first_links.now.min(edges.now).min(transfers.now)
}
