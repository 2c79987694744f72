//! What other controllers are to be told: changes of facts, each fact once however often it changes.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::net::IpAddr;
use std::time::Duration;

use braid_steering::Transfers;
use braid_topology::{Change, Link, LinkState, Topology};
use braid_types::Time;

use super::{Fact, FactChange, FactKey, HostFact, LinkFact, LossyFact};
use crate::health::Health;
use crate::measurement::Measurement;

/// Links are compared with what was told of them in this interval.
const LINKS_INTERVAL: Duration = Duration::from_secs(1);

/// The hosts that have changed since they were told, and what was told of links. Transfers note their own changes.
///
/// It holds no more than the network has: each address and each link once.
#[derive(Debug, Default)]
pub(crate) struct Publisher {
    /// `None` while nobody is told.
    published: Option<Published>,
}

#[derive(Debug, Default)]
struct Published {
    /// Addresses that have changed.
    hosts: BTreeSet<IpAddr>,
    links: BTreeMap<Link, LinkFact>,
    /// Changes of links that are still to be told.
    waiting: VecDeque<FactChange>,
    links_at: Option<Time>,
}

/// Where facts come from.
pub(crate) struct FactSources<'a> {
    pub(crate) now: Time,
    pub(crate) topology: &'a Topology,
    pub(crate) measurement: &'a Measurement,
    pub(crate) health: &'a Health,
    pub(crate) transfers: &'a mut Transfers,
}

impl Publisher {
    /// Begins to note changes, and counts everything that is known as one; or ends it.
    pub(crate) fn publish(&mut self, topology: &Topology, is_published: bool) {
        let hosts = || topology.hosts().flat_map(|host| &host.addresses).copied().collect();
        self.published = is_published.then(|| Published { hosts: hosts(), ..Published::default() });
    }

    /// The topology has changed.
    pub(crate) fn handle_change(&mut self, topology: &Topology, change: &Change) {
        let Some(published) = &mut self.published else { return };
        match change {
            Change::HostRemoved { host } => published.hosts.extend(&host.addresses),
            Change::HostMoved { mac, .. } => {
                published.hosts.extend(topology.host(*mac).into_iter().flat_map(|host| &host.addresses));
            }
            Change::AddressAdded { address, .. }
            | Change::AddressMoved { address, .. }
            | Change::AddressRemoved { address, .. } => _ = published.hosts.insert(*address),
            _ => {}
        }
    }

    /// Up to `count` changes since they were taken last.
    pub(crate) fn take(&mut self, from: FactSources<'_>, count: usize) -> Vec<FactChange> {
        let Some(published) = &mut self.published else { return Vec::new() };
        let mut changes = Vec::new();
        while changes.len() < count
            && let Some(ip) = published.hosts.pop_first()
        {
            changes.push(host(from.topology, ip));
        }
        let transfers = from.transfers.take_facts(count.saturating_sub(changes.len()));
        changes.extend(transfers.into_iter().map(|(id, fact)| match fact {
            Some(known) => FactChange::Known(known.into()),
            None => FactChange::Gone(FactKey::Transfer(id)),
        }));
        published.compare_links(&from);
        let room = count.saturating_sub(changes.len()).min(published.waiting.len());
        changes.extend(published.waiting.drain(..room));
        changes
    }
}

impl Published {
    /// Notes which links have changed since they were told.
    fn compare_links(&mut self, from: &FactSources<'_>) {
        let (now, topology) = (from.now, from.topology);
        if !self.waiting.is_empty() || self.links_at.is_some_and(|at| now.since(at) < LINKS_INTERVAL) {
            return;
        }
        self.links_at = Some(now);
        for (link, state) in topology.links() {
            let fact = of_link(from, link, &state);
            if self.links.insert(link, fact) != Some(fact) {
                self.waiting.push_back(FactChange::Known(Fact::Link(fact)));
            }
        }
        let gone = self.links.extract_if(.., |link, _| topology.link_at(link.src) != Some(*link));
        self.waiting.extend(gone.map(|(link, _)| FactChange::Gone(FactKey::Link(link))));
    }
}

fn host(topology: &Topology, ip: IpAddr) -> FactChange {
    let fact = topology.host_with_address(ip).map(|host| HostFact { ip, mac: host.mac, at: host.at });
    fact.map_or(FactChange::Gone(FactKey::Host(ip)), |fact| FactChange::Known(Fact::Host(fact)))
}

fn of_link(
    FactSources { measurement, health, .. }: &FactSources<'_>,
    link: Link,
    state: &LinkState,
) -> LinkFact {
    let capacity = measurement.of(&link).capacity.map(|reading| reading.capacity);
    let lossy = health.degraded(&link).map(|it| LossyFact { evidence: it.evidence, hold: it.hold });
    LinkFact { link, delay: state.delay, capacity, lossy }
}
