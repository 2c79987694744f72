//! Broadcast follows a spanning tree of the links and reaches every port where hosts may be.

use std::collections::{BTreeMap, BTreeSet};

use braid_types::{DatapathId, PortNo, SwitchPort};

use super::Brain;
use crate::command::{Command, Commands};
use crate::role::Role;

/// The ports to which each switch was told to flood.
#[derive(Debug, Default)]
pub(super) struct Flood {
    sent: BTreeMap<DatapathId, BTreeSet<PortNo>>,
    tree: BTreeSet<SwitchPort>,
    stale: bool,
    /// Whether the switches flood as this controller wants, and not as an earlier one did.
    begun: bool,
}

impl Flood {
    /// A switch that joins, or left, floods nowhere.
    pub(super) fn forget(&mut self, dpid: DatapathId) {
        self.sent.remove(&dpid);
    }

    /// Whether switches flood as this controller wants.
    pub(super) const fn has_begun(&self) -> bool {
        self.begun
    }

    /// A switch that joins floods to `ports`, of which `links` lead to switches.
    pub(super) fn adopt(&mut self, dpid: DatapathId, ports: &[PortNo], links: Vec<SwitchPort>) {
        self.sent.insert(dpid, ports.iter().copied().collect());
        self.tree.extend(links);
        self.stale = true;
    }

    /// The links or the ports of hosts are not those of the last update.
    pub(super) fn touch(&mut self) {
        self.stale = true;
    }
}

impl Brain {
    /// Brings the switches towards the current tree, called once a tick.
    ///
    /// Between two trees lies a tick with the links that both have: the old tree and the new one
    /// together could hold a loop, their common part cannot. What switches have of an earlier controller is a tree
    /// too, and stays as it is while the links of it are discovered again.
    pub(super) fn update_flood(&mut self, out: &mut Commands) {
        if self.found.is_settling() && !self.flood.begun {
            return;
        }
        if !std::mem::take(&mut self.flood.stale) {
            return;
        }
        self.flood.begun = true;
        let target = braid_topology::spanning_tree(self.paths.graph());
        let common: BTreeSet<_> = self.flood.tree.intersection(&target).copied().collect();
        self.flood.stale = common.len() < self.flood.tree.len();
        let next = if self.flood.stale { common } else { target };
        let switches: Vec<_> = self.topology.switches().map(braid_topology::Switch::dpid).collect();
        for dpid in switches {
            self.update_switch_flood(dpid, &next, out);
        }
        self.flood.tree = next;
    }

    fn update_switch_flood(&mut self, dpid: DatapathId, tree: &BTreeSet<SwitchPort>, out: &mut Commands) {
        let floods =
            |at: SwitchPort, role: Role| role == Role::Host || (role == Role::Link && tree.contains(&at));
        let open = self.ports.of(dpid).filter(|(at, state)| floods(*at, state.role));
        let ports: BTreeSet<_> = open.map(|(at, _)| at.port).collect();
        if self.flood.sent.get(&dpid).map_or(ports.is_empty(), |sent| *sent == ports) {
            return;
        }
        out.push(Command::Flood { dpid, ports: ports.iter().copied().collect() });
        self.flood.sent.insert(dpid, ports);
    }
}
