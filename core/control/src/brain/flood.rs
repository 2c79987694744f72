//! Broadcast follows a spanning tree of the links and reaches every port where hosts may be.

use std::collections::{BTreeMap, BTreeSet};

use braid_types::{DatapathId, PortNo, SwitchPort};

use super::Brain;
use super::ports::Role;
use crate::command::{Command, Commands};

/// The ports to which each switch was told to flood.
#[derive(Debug, Default)]
pub(super) struct Flood {
    sent: BTreeMap<DatapathId, BTreeSet<PortNo>>,
    tree: BTreeSet<SwitchPort>,
    stale: bool,
}

impl Flood {
    /// A switch that joins, or left, floods nowhere.
    pub(super) fn forget(&mut self, dpid: DatapathId) {
        self.sent.remove(&dpid);
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
    /// together could hold a loop, their common part cannot.
    pub(super) fn update_flood(&mut self, out: &mut Commands) {
        if !std::mem::take(&mut self.flood.stale) {
            return;
        }
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
