//! Broadcast follows a spanning tree of the links and reaches every port where hosts may be.

use std::collections::{BTreeMap, BTreeSet};

use braid_topology::{Switch, spanning_tree};
use braid_types::{DatapathId, PortNo, SwitchPort};

use crate::command::Command;
use crate::context::Context;
use crate::discovery::Discovery;
use crate::role::Role;

/// The ports to which each switch was told to flood.
#[derive(Debug, Default)]
pub(crate) struct BroadcastTree {
    sent: BTreeMap<DatapathId, BTreeSet<PortNo>>,
    tree: BTreeSet<SwitchPort>,
    stale: bool,
    /// Whether the switches flood as this controller wants, and not as an earlier one did.
    begun: bool,
}

impl BroadcastTree {
    /// A switch left, or starts anew: it floods nowhere.
    pub(crate) fn handle_switch_down(&mut self, dpid: DatapathId) {
        self.sent.remove(&dpid);
    }

    /// The links or the ports of hosts are not those of the last update.
    pub(crate) fn handle_change(&mut self) {
        self.stale = true;
    }

    /// A switch that joins floods to `ports`, of which `links` lead to switches.
    pub(crate) fn restore(&mut self, dpid: DatapathId, ports: &[PortNo], links: Vec<SwitchPort>) {
        self.sent.insert(dpid, ports.iter().copied().collect());
        self.tree.extend(links);
        self.stale = true;
    }

    /// Whether switches flood as this controller wants.
    pub(crate) const fn has_begun(&self) -> bool {
        self.begun
    }

    /// Brings the switches towards the current tree; called once a tick.
    ///
    /// Between two trees lies a tick with the links that both have: the old tree and the new one
    /// together could hold a loop, their common part cannot. What switches have of an earlier controller is a tree
    /// too, and stays as it is while that is settled: the links of it are discovered again.
    pub(crate) fn handle_timeout(&mut self, cx: &mut Context<'_>, discovery: &Discovery) {
        if (cx.out.installed.is_settling() && !self.begun) || !std::mem::take(&mut self.stale) {
            return;
        }
        self.begun = true;
        let target = spanning_tree(cx.paths.graph());
        let common: BTreeSet<_> = self.tree.intersection(&target).copied().collect();
        self.stale = common.len() < self.tree.len();
        self.tree = if self.stale { common } else { target };
        for dpid in cx.topology.switches().map(Switch::dpid).collect::<Vec<_>>() {
            self.update_switch(cx, discovery, dpid);
        }
    }

    fn update_switch(&mut self, cx: &mut Context<'_>, discovery: &Discovery, dpid: DatapathId) {
        let floods = |at: SwitchPort, role: Role| {
            role == Role::Host || (role == Role::Link && self.tree.contains(&at))
        };
        let open = discovery.roles_of(dpid).filter(|(at, role)| floods(*at, *role));
        let ports: BTreeSet<_> = open.map(|(at, _)| at.port).collect();
        if self.sent.get(&dpid).map_or(ports.is_empty(), |sent| *sent == ports) {
            return;
        }
        cx.out.push(Command::Flood { dpid, ports: ports.iter().copied().collect() });
        self.sent.insert(dpid, ports);
    }
}
