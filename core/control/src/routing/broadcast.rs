//! Broadcast along a spanning tree of the links, to every port that may have hosts.

use std::collections::{BTreeMap, BTreeSet};

use braid_topology::{Switch, spanning_tree};
use braid_types::{DatapathId, PortNo, SwitchPort};

use crate::coalesce::Coalesced;
use crate::command::{Command, Target};
use crate::context::Context;
use crate::discovery::Discovery;
use crate::role::Role;

/// Switches up to which a packet for all hosts is sent to each port.
const MAX_SWITCHES_SENT_TO: usize = 64;

/// The flood ports of each switch.
#[derive(Debug, Default)]
pub(crate) struct BroadcastTree {
    sent: BTreeMap<DatapathId, BTreeSet<PortNo>>,
    tree: BTreeSet<SwitchPort>,
    stale: bool,
    rest: Coalesced,
    /// Whether switches use this controller's flood ports, rather than an earlier one's.
    begun: bool,
}

impl BroadcastTree {
    /// A switch has left or restarted: it floods nowhere. Once all have left, they may return with another controller's
    /// flood ports.
    pub(crate) fn handle_switch_down(&mut self, dpid: DatapathId) {
        self.sent.remove(&dpid);
        if self.sent.is_empty() {
            self.begun = false;
            self.tree.clear();
        }
    }

    /// Links or host ports have changed, or links are degraded or work again.
    pub(crate) fn handle_change(&mut self) {
        self.stale = true;
    }

    /// A switch joins that floods to `ports`, of which `links` lead to switches.
    pub(crate) fn restore(&mut self, dpid: DatapathId, ports: &[PortNo], links: Vec<SwitchPort>) {
        self.sent.insert(dpid, ports.iter().copied().collect());
        self.tree.extend(links);
        self.stale = true;
    }

    /// Whether switches use this controller's flood ports.
    pub(crate) const fn has_begun(&self) -> bool {
        self.begun
    }

    /// Moves the switches towards the current tree. Called once a tick; in large networks, changes are collected
    /// for a while.
    ///
    /// Between two trees, the links common to both are used for one tick. The old and the new tree together
    /// could contain a loop; their common part cannot. The installed flood ports of an earlier controller
    /// also form a tree. They stay during reconciliation, while its links are discovered again.
    pub(crate) fn handle_timeout(&mut self, cx: &mut Context<'_>, discovery: &Discovery) {
        let waits = (cx.out.installed.is_settling() && !self.begun) || !self.rest.is_due(cx.now);
        if waits || cx.topology.switches().len() == 0 || !std::mem::take(&mut self.stale) {
            return;
        }
        self.rest.note_done(cx.now, cx.topology.links().len());
        self.begun = true;
        let target = spanning_tree(cx.paths.graph());
        let common: BTreeSet<_> = self.tree.intersection(&target).copied().collect();
        self.stale = common.len() < self.tree.len();
        self.tree = if self.stale { common } else { target };
        for dpid in cx.topology.switches().map(Switch::dpid).collect::<Vec<_>>() {
            self.update_switch(cx, discovery, dpid);
        }
    }

    /// Sends a packet to all hosts but those at the port where it entered.
    ///
    /// In a small network, each port gets it by itself, whatever the state of the tree. In a large one that would
    /// cost as many messages as there are hosts, so the switches spread it along the tree.
    pub(crate) fn flood(&self, cx: &mut Context<'_>, discovery: &Discovery, from: SwitchPort, frame: &[u8]) {
        if self.begun && cx.topology.switches().len() > MAX_SWITCHES_SENT_TO {
            return cx.out.send(from.dpid, Target::Flood(from.port), frame);
        }
        for at in discovery.ports_with(Role::Host).filter(|at| *at != from) {
            cx.out.send(at.dpid, Target::Port(at.port), frame);
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
