//! Reconciliation: installed rules that are still right are kept, others replaced or removed.

use std::collections::BTreeMap;

use braid_paths::Path;
use braid_steering::{Opening, Route, Stream, StreamId};
use braid_topology::Topology;
use braid_types::{DatapathId, FiveTuple, SwitchPort};

use crate::command::Command;
use crate::discovery::Discovery;
use crate::event::{InstalledRules, UnknownRule};
use crate::fabric::FabricChange;
use crate::hosts::{Binding, HostDeps, Hosts};
use crate::installed::{InstalledState, Phase, first_hop, highest, port_of};
use crate::label::Label;
use crate::notice::Notice;
use crate::pipeline::{Hop, Rule};
use crate::requests::RequestDeps;
use crate::role::Role;
use crate::routing::{BroadcastTree, GroupKey, NextHop, RouteKey, RoutingChange};
use crate::spray::SprayRequest;
use crate::streams::{NetworkChange, switches_of};

/// Stream numbers left free above the installed ones, since switches that join later may use them.
const STREAM_NUMBER_GAP: u64 = 1 << 16;

/// The machines that reconciliation compares installed state with and restores.
pub(crate) struct Reconciliation<'a> {
    pub(crate) on: RequestDeps<'a>,
    pub(crate) discovery: &'a mut Discovery,
    pub(crate) hosts: &'a mut Hosts,
    pub(crate) broadcast: &'a mut BroadcastTree,
}

impl Reconciliation<'_> {
    /// Records what a switch has before anything is written to it.
    pub(crate) fn load(&mut self, dpid: DatapathId, found: &InstalledRules) {
        if found.flood.is_none() {
            self.on.deps.cx.out.push(Command::AddFlood { dpid });
        }
        let until = self.on.deps.cx.now + self.on.deps.cx.settings.reconcile_timeout;
        self.installed_mut().add(dpid, found, until);
        let (_, stream) = highest(&found.rules);
        if stream > self.on.deps.transfers.last_stream() {
            self.on.deps.transfers.skip_streams(StreamId(stream.0.saturating_add(STREAM_NUMBER_GAP)));
        }
        if self.installed().is_settling() {
            let (rules, unknown_rules) = (found.rules.len(), found.unknown_rules.len());
            self.on.deps.cx.out.notice(Notice::InstalledStateRead { dpid, rules, unknown_rules });
        }
    }

    /// Reconciles the state that one switch alone determines, once its ports are known.
    pub(crate) fn handle_switch(&mut self, dpid: DatapathId, found: &InstalledRules) {
        self.restore_roles(dpid);
        self.restore_broadcast(dpid, found);
        for rule in self.installed().rules().of(dpid, |rule| matches!(rule, Rule::Deliver { .. })) {
            if let Rule::Deliver { dst, mac, port } = rule {
                let host = Binding { mac, ip: dst, at: SwitchPort::new(dpid, port) };
                let cx = self.on.deps.cx.reborrow();
                let mut below = HostDeps { cx, discovery: self.discovery, admission: self.on.deps.admission };
                self.hosts.restore(&mut below, host);
            }
        }
        for rule in self.installed().rules().of(dpid, |rule| matches!(rule, Rule::LocalRoute { .. })) {
            self.reconcile_route(dpid, rule);
        }
    }

    /// Restores the roles of ports. A link is assumed until its other end had time to be heard.
    fn restore_roles(&mut self, dpid: DatapathId) {
        for rule in self.installed().rules().of(dpid, |rule| port_of(rule).is_some()) {
            let role = if matches!(rule, Rule::FromLink { .. }) { Role::Link } else { Role::Host };
            let at = port_of(&rule).map(|port| SwitchPort::new(dpid, port));
            // Where a port has both, the link comes first in the order of slots and stays.
            if let Some(at) = at {
                self.discovery.restore_role(&mut self.on.deps.cx, at, role);
            }
        }
    }

    fn restore_broadcast(&mut self, dpid: DatapathId, found: &InstalledRules) {
        let Some(ports) = &found.flood else { return };
        let at = |port| SwitchPort::new(dpid, port);
        let links =
            ports.iter().map(|port| at(*port)).filter(|at| self.discovery.role(*at) == Some(Role::Link));
        let links: Vec<_> = links.collect();
        self.broadcast.restore(dpid, ports, links);
    }

    /// Reconciles the labels whose paths have become known, and the rules that use them.
    pub(crate) fn handle_graph(&mut self) {
        for (label, at) in self.on.deps.fabric.reconcile(&mut self.on.deps.cx) {
            self.reconcile_users(label, at);
        }
        for GroupKey { dpid, group } in self.on.deps.routing.reconcile_groups(self.on.deps.fabric) {
            let leads_to = |rule: &Rule| first_hop(rule) == Some(Hop::balanced(group));
            for rule in self.installed().rules().of(dpid, leads_to) {
                self.reconcile_route(dpid, rule);
            }
        }
    }

    fn reconcile_users(&mut self, label: Label, at: DatapathId) {
        let leads_to = |rule: &Rule| first_hop(rule).is_some_and(|hop| hop.label == label);
        for rule in self.installed().rules().of(at, leads_to) {
            match rule {
                Rule::Stream { id, .. } => self.reconcile_stream(id),
                rule => self.reconcile_route(at, rule),
            }
        }
    }

    fn reconcile_route(&mut self, dpid: DatapathId, rule: Rule) {
        if let Rule::Route { dst, .. } | Rule::LocalRoute { dst } = rule
            && let Some(way) =
                NextHop::of(&rule).filter(|_| self.on.deps.routing.rule(RouteKey { dst, dpid }).is_none())
        {
            self.on.deps.routing.load(self.on.deps.fabric, RouteKey { dst, dpid }, way);
            self.on.deps.cx.out.add(dpid, rule);
        }
    }

    /// Reconciles a stream if both its paths are reconciled.
    fn reconcile_stream(&mut self, id: StreamId) {
        let [Some(forward), Some(back)] = self.installed().unresolved().stream(id) else { return };
        let (Some(there), Some(here)) = (self.path_of(forward.0, forward.1), self.path_of(back.0, back.1))
        else {
            return;
        };
        let Some(tuple) = tuple_of(&forward.1) else { return };
        if tuple_of(&back.1) == Some(tuple) && self.remember_stream(id, tuple, false) {
            self.on.streams.set_route(&mut self.on.deps, id, Some(Route { forward: there, reverse: here }));
            self.await_spray(id);
            for (dpid, rule) in [forward, back] {
                self.on.deps.cx.out.add(dpid, rule);
            }
        }
    }

    /// A stream on a single path that the controller before would have sprayed is sprayed once that is possible.
    fn await_spray(&mut self, id: StreamId) {
        let deps = &mut self.on.deps;
        let Some(&Stream { tuple, transfer, opening, .. }) = deps.transfers.stream(id) else { return };
        if let Some(ends) = switches_of(deps.cx.topology, &tuple).filter(|_| opening == Opening::Sprayed) {
            let policy = deps.cx.policy_of(&tuple);
            let (policy, is_allowed) = (policy.spray(), policy.may_spray());
            deps.spray.await_paths(SprayRequest { id, transfer, tuple, ends, policy, is_allowed });
        }
    }

    /// The reconciled path that a rule at an edge uses.
    fn path_of(&self, dpid: DatapathId, rule: Rule) -> Option<Path> {
        let Hop { label, port, .. } = first_hop(&rule)?;
        let path = self.on.deps.fabric.labels().path(label)?;
        let begins = path.links().first().is_some_and(|link| link.src == SwitchPort::new(dpid, port));
        let is_open = self.on.deps.fabric.hop(path).is_some_and(|hop| hop.label == label);
        (begins && is_open).then(|| path.clone())
    }

    /// Restores a stream that is not known, or that lost its path when its switches left. Returns whether it has no path.
    fn remember_stream(&mut self, id: StreamId, tuple: FiveTuple, is_sprayed: bool) -> bool {
        // Another controller has seen the end of an older stream of these ends.
        let known = self.on.deps.transfers.by_tuple(&tuple);
        if let Some(older) = known.filter(|known| known.id < id && known.route.is_none()).map(|it| it.id) {
            self.on.streams.end(&mut self.on.deps, older);
        }
        let (now, transfers) = (self.on.deps.cx.now, &mut *self.on.deps.transfers);
        let restored = match transfers.stream(id) {
            Some(known) => known.tuple == tuple && known.route.is_none(),
            None if transfers.by_tuple(&tuple).is_some() => false,
            None if is_sprayed => transfers.restore_sprayed(now, id, tuple).is_ok(),
            None => transfers.restore(now, id, tuple).is_ok(),
        };
        if restored {
            self.installed_mut().unresolved_mut().close_stream(id);
        }
        restored
    }

    /// Continues once every link and host has been heard, or when it is too late. Called once a tick.
    pub(crate) fn handle_timeout(&mut self) {
        let all_heard = || self.all_links_are_heard() && self.all_hosts_are_known();
        let now = self.on.deps.cx.now;
        if matches!(self.installed().phase(), Phase::Settling { until } if until <= now || all_heard()) {
            self.settle();
        }
        if matches!(self.installed().phase(), Phase::Sweeping { at } if at <= now) {
            self.on.deps.fabric.handle_change(&mut self.on.deps.cx, FabricChange::Reconciled);
            for (dpid, rule) in self.installed_mut().finish() {
                self.delete_unless_placed(dpid, rule);
            }
            self.follow_routes(RoutingChange::Reconciled);
        }
    }

    fn all_links_are_heard(&self) -> bool {
        self.discovery.ports_with(Role::Link).all(|at| {
            let back = self.topology().link_at(at).and_then(|link| self.topology().link_at(link.dst));
            back.is_some_and(|back| back.dst == at)
        })
    }

    /// Whether the hosts in the remaining rules are known.
    fn all_hosts_are_known(&self) -> bool {
        let is_known = |ip| self.topology().host_with_address(ip).is_some();
        !self.installed().rules().any(|rule| match rule {
            Rule::Stream { tuple, .. } => !is_known(tuple.src) || !is_known(tuple.dst),
            Rule::Route { dst, .. } => !is_known(*dst),
            _ => false,
        })
    }

    /// Gives new paths to state that could not be kept, and removes unwanted rules.
    fn settle(&mut self) {
        self.on.streams.handle_change(&mut self.on.deps, NetworkChange::Reconciled);
        self.take_routes();
        self.take_streams();
        // Packets in flight may carry labels that will be removed. Their rules stay until replacements are
        // confirmed.
        let sweep_at = self.on.deps.cx.now + self.on.deps.cx.settings.install_timeout;
        let undecoded = self.installed_mut().sweep_at(sweep_at);
        self.broadcast.handle_change();
        // A starting controller sees all links as new although they existed: that is no reason to move
        // traffic.
        if !self.broadcast.has_begun() {
            self.on.streams.handle_change(&mut self.on.deps, NetworkChange::Restored);
        }
        self.follow_routes(RoutingChange::Graph);
        self.on.streams.handle_change(&mut self.on.deps, NetworkChange::Settled);
        self.on.deps.fabric.handle_change(&mut self.on.deps.cx, FabricChange::Settled);
        self.remove_unwanted(undecoded);
        self.on.deps.cx.out.notice(Notice::Reconciled {
            labels: self.on.deps.fabric.labels().len(),
            streams: self.on.deps.transfers.len(),
        });
    }

    /// Loads default paths whose paths no longer exist, so that they are rerouted.
    fn take_routes(&mut self) {
        for (dpid, rule) in self.installed().rules().all(|rule| matches!(rule, Rule::Route { .. })) {
            let (Rule::Route { dst, .. }, Some(way)) = (rule, NextHop::of(&rule)) else { continue };
            if self.topology().host_with_address(dst).is_some()
                && self.on.deps.routing.rule(RouteKey { dst, dpid }).is_none()
            {
                self.on.deps.routing.load(self.on.deps.fabric, RouteKey { dst, dpid }, way);
                self.installed_mut().claim(dpid, &rule);
                rule.twin().and_then(|twin| self.installed_mut().claim(dpid, &twin));
            }
        }
    }

    /// Loads streams whose paths no longer exist, so that they are placed again.
    fn take_streams(&mut self) {
        for id in self.installed().unresolved().streams() {
            let rules = self.installed().unresolved().stream(id);
            let tuple = rules.iter().flatten().find_map(|(_, rule)| tuple_of(rule));
            let there = tuple.filter(|tuple| switches_of(self.topology(), tuple).is_some());
            // The state of its groups is unknown. It is sprayed anew if the policy still says so.
            let is_sprayed =
                rules.iter().flatten().any(|(_, rule)| first_hop(rule).is_some_and(|hop| hop.is_sprayed()));
            if let Some(tuple) = there {
                self.remember_stream(id, tuple, is_sprayed);
            }
        }
    }

    fn remove_unwanted(&mut self, undecoded: BTreeMap<DatapathId, Vec<UnknownRule>>) {
        for (dpid, rule) in self.installed().rules().all(|rule| !rule.is_of_path()) {
            self.delete_unless_placed(dpid, rule);
        }
        for (dpid, unknown_rules) in undecoded {
            for unknown in unknown_rules {
                self.on.deps.cx.out.push(Command::Remove { dpid, unknown });
            }
        }
    }

    /// Deletes a rule, unless it is of a stream that got another path: the rule stays until that path is confirmed. In the
    /// other direction the path may be the same, and the rule is right.
    fn delete_unless_placed(&mut self, dpid: DatapathId, rule: Rule) {
        let stream = match rule {
            Rule::Stream { id, .. } => self.on.deps.transfers.stream(id),
            _ => None,
        };
        let begins_here = |route: &Route| [&route.forward, &route.reverse].map(Path::ingress).contains(&dpid);
        let is_placed = stream.is_some_and(|stream| {
            tuple_of(&rule) == Some(stream.tuple) && stream.route.as_ref().is_some_and(begins_here)
        });
        if !is_placed {
            self.on.deps.cx.delete(dpid, rule);
        }
    }

    fn follow_routes(&mut self, change: RoutingChange<'_>) {
        self.on.deps.routing.handle_change(&mut self.on.deps.cx, self.on.deps.fabric, change);
    }

    fn installed(&self) -> &InstalledState {
        self.on.deps.cx.out.installed
    }

    fn installed_mut(&mut self) -> &mut InstalledState {
        self.on.deps.cx.out.installed
    }

    fn topology(&self) -> &Topology {
        self.on.deps.cx.topology
    }
}

/// The connection of a stream rule, from the opening host.
fn tuple_of(rule: &Rule) -> Option<FiveTuple> {
    match rule {
        Rule::Stream { tuple, reverse: false, .. } => Some(*tuple),
        Rule::Stream { tuple, reverse: true, .. } => Some(tuple.reversed()),
        _ => None,
    }
}
