//! A switch that joins with rules goes on with them: what is still true is adopted, the rest is mended.

use braid_paths::Path;
use braid_steering::{Route, StreamId};
use braid_types::{DatapathId, FiveTuple, SwitchPort, Time};

use super::{Brain, below, context};
use crate::command::{Command, Commands};
use crate::event::FoundRules;
use crate::fabric::Replaces;
use crate::hosts::Binding;
use crate::label::Label;
use crate::notice::Notice;
use crate::pipeline::{Hop, Rule};
use crate::restore::{BothWays, first_hop, highest, port_of};
use crate::role::Role;
use crate::routing::Way;
use crate::streams::{network, switches_of};

/// Numbers of streams left free above those that were found, for what switches may know that join later.
const GAP: u64 = 1 << 16;

impl Brain {
    /// Takes note of what a switch has before anything is written to it.
    pub(super) fn take_up(&mut self, now: Time, dpid: DatapathId, found: &FoundRules, out: &mut Commands) {
        if found.flood.is_none() {
            out.push(Command::AddFlood { dpid });
        }
        self.installed.add(dpid, found, now + self.settings.adopt_timeout);
        let (_, stream) = highest(&found.rules);
        if stream > self.streams.table().last_stream() {
            self.streams.table_mut().skip_streams(StreamId(stream.0.saturating_add(GAP)));
        }
        if self.installed.is_settling() {
            let (rules, strays) = (found.rules.len(), found.strays.len());
            out.notice(Notice::RulesFound { dpid, rules, strays });
        }
    }

    /// Adopts what a switch alone bears witness to, once its ports are known.
    pub(super) fn adopt_switch(
        &mut self,
        now: Time,
        dpid: DatapathId,
        found: &FoundRules,
        out: &mut Commands,
    ) {
        self.adopt_roles(now, dpid, out);
        self.adopt_flood(dpid, found);
        for rule in self.installed.of(dpid, |rule| matches!(rule, Rule::Deliver { .. })) {
            if let Rule::Deliver { dst, mac, port } = rule {
                let host = Binding { mac, ip: dst, at: SwitchPort::new(dpid, port) };
                self.hosts.restore(&mut context!(self, now, out), &below!(self), host);
                self.drain_hosts(now, out);
            }
        }
        for rule in self.installed.of(dpid, |rule| matches!(rule, Rule::LocalRoute { .. })) {
            self.adopt_route(dpid, rule, out);
        }
    }

    /// Ports go on as what they were; a link is believed in until its other end had time to be heard.
    fn adopt_roles(&mut self, now: Time, dpid: DatapathId, out: &mut Commands) {
        for rule in self.installed.of(dpid, |rule| port_of(rule).is_some()) {
            let role = if matches!(rule, Rule::FromLink { .. }) { Role::Link } else { Role::Host };
            let at = port_of(&rule).map(|port| SwitchPort::new(dpid, port));
            // Where a port has both, the link comes first in a slot's order, and stays.
            if let Some(at) = at {
                self.discovery.restore_role(&mut context!(self, now, out), at, role);
                self.drain_discovery(now, out);
            }
        }
    }

    fn adopt_flood(&mut self, dpid: DatapathId, found: &FoundRules) {
        let Some(ports) = &found.flood else { return };
        let at = |port| SwitchPort::new(dpid, port);
        let links =
            ports.iter().map(|port| at(*port)).filter(|at| self.discovery.role(*at) == Some(Role::Link));
        let links: Vec<_> = links.collect();
        self.broadcast.restore(dpid, ports, links);
    }

    /// Adopts the labels whose path has become known, and what leads there.
    pub(super) fn adopt_labels(&mut self, now: Time, out: &mut Commands) {
        for (label, at) in self.fabric.reconcile(&mut context!(self, now, out)) {
            self.adopt_users(now, label, at, out);
        }
    }

    fn adopt_users(&mut self, now: Time, label: Label, at: DatapathId, out: &mut Commands) {
        let leads_to = |rule: &Rule| first_hop(rule).is_some_and(|hop| hop.label == label);
        for rule in self.installed.of(at, leads_to) {
            match rule {
                Rule::Stream { id, .. } => self.adopt_stream(now, id, out),
                rule => self.adopt_route(at, rule, out),
            }
        }
    }

    fn adopt_route(&mut self, dpid: DatapathId, rule: Rule, out: &mut Commands) {
        if let Rule::Route { dst, .. } | Rule::LocalRoute { dst } = rule
            && let Some(way) = Way::of(&rule).filter(|_| self.routing.rule((dst, dpid)).is_none())
        {
            self.routing.load((dst, dpid), way);
            out.add(dpid, rule);
        }
    }

    /// Adopts a stream if the paths of both its directions are.
    fn adopt_stream(&mut self, now: Time, id: StreamId, out: &mut Commands) {
        let [Some(forward), Some(back)] = self.installed.stream(id) else { return };
        let (Some(there), Some(here)) = (self.way_of(forward), self.way_of(back)) else { return };
        let Some(tuple) = tuple_of(&forward.1) else { return };
        if tuple_of(&back.1) == Some(tuple) && self.remember_stream(now, id, tuple, false) {
            self.streams.set_route(
                &mut network!(self, now, out),
                id,
                Some(Route { forward: there, reverse: here }),
            );
            for (dpid, rule) in [forward, back] {
                out.add(dpid, rule);
            }
        }
    }

    /// The adopted path that a rule at an edge leads to.
    fn way_of(&self, (dpid, rule): (DatapathId, Rule)) -> Option<Path> {
        let Hop { label, port, .. } = first_hop(&rule)?;
        let path = self.fabric.path(label)?;
        let begins = path.links().first().is_some_and(|link| link.src == SwitchPort::new(dpid, port));
        (begins && self.fabric.label_of(path) == Some(label)).then(|| path.clone())
    }

    fn remember_stream(&mut self, now: Time, id: StreamId, tuple: FiveTuple, is_sprayed: bool) -> bool {
        let known =
            self.streams.table().stream(id).is_some() || self.streams.table().by_tuple(&tuple).is_some();
        let adopted = match is_sprayed {
            _ if known => false,
            true => self.streams.table_mut().adopt_sprayed(now, id, tuple).is_ok(),
            false => self.streams.table_mut().adopt(now, id, tuple).is_ok(),
        };
        if adopted {
            self.installed.close_stream(id);
        }
        adopted
    }

    /// Goes on once every link and every host was heard that there was, or when it is too late; called once a tick.
    pub(super) fn tick_adoption(&mut self, now: Time, out: &mut Commands) {
        let all_heard = || self.all_links_are_heard() && self.all_hosts_are_known();
        if self.installed.is_settling() && (self.installed.is_late(now) || all_heard()) {
            self.settle(now, out);
        }
        if self.installed.is_sweeping(now) {
            self.fabric.end_reconciliation();
            for (dpid, rule) in self.installed.finish() {
                self.delete(dpid, rule, out);
            }
        }
    }

    fn all_links_are_heard(&self) -> bool {
        self.discovery.ports_with(Role::Link).all(|at| {
            let back = self.topology.link_at(at).and_then(|link| self.topology.link_at(link.dst));
            back.is_some_and(|back| back.dst == at)
        })
    }

    /// Whether it is known where the hosts are that the rules left speak of.
    fn all_hosts_are_known(&self) -> bool {
        let is_known = |ip| self.topology.host_with_address(ip).is_some();
        !self.installed.any(|rule| match rule {
            Rule::Stream { tuple, .. } => !is_known(tuple.src) || !is_known(tuple.dst),
            Rule::Route { dst, .. } => !is_known(*dst),
            _ => false,
        })
    }

    /// What could not be adopted as it is gets new paths; what nobody wants is removed.
    fn settle(&mut self, now: Time, out: &mut Commands) {
        self.take_routes();
        let mended = self.take_streams(now);
        // Packets may be under way with labels that go: their rules stay until what replaces them is confirmed.
        self.installed.sweep_at(now + self.settings.install_timeout);
        self.broadcast.handle_change();
        // To a controller that starts all links are new, but they were there: no reason to move what flows.
        self.streams.stay(!self.broadcast.has_begun());
        self.routing.handle_graph(&mut context!(self, now, out), &mut self.fabric);
        self.streams.place_again(&mut network!(self, now, out), Replaces::Nothing);
        for (id, rules) in mended {
            if self.streams.table().stream(id).is_some_and(|stream| stream.route.is_some()) {
                for (dpid, rule) in rules.iter().flatten() {
                    self.installed.claim(*dpid, rule);
                }
            }
        }
        self.fabric.reconcile_bypasses(&mut context!(self, now, out));
        self.remove_unwanted(out);
        out.notice(Notice::Adopted {
            labels: self.fabric.label_count(),
            streams: self.streams.table().len(),
        });
    }

    /// Routes over paths that are not there any more are known from now on, and so renewed.
    fn take_routes(&mut self) {
        for (dpid, rule) in self.installed.all(|rule| matches!(rule, Rule::Route { .. })) {
            let Rule::Route { dst, hop } = rule else { continue };
            if self.topology.host_with_address(dst).is_some() && self.routing.rule((dst, dpid)).is_none() {
                self.routing.load((dst, dpid), Way::By(hop));
                self.installed.claim(dpid, &rule);
                rule.twin().and_then(|twin| self.installed.claim(dpid, &twin));
            }
        }
    }

    /// Streams whose path is not there any more are known from now on, and so placed.
    fn take_streams(&mut self, now: Time) -> Vec<(StreamId, BothWays)> {
        let mut taken = Vec::new();
        for id in self.installed.streams() {
            let rules = self.installed.stream(id);
            let tuple = rules.iter().flatten().find_map(|(_, rule)| tuple_of(rule));
            let there = tuple.filter(|tuple| switches_of(&self.topology, tuple).is_some());
            // What its groups did is not known: it is sprayed anew, if it still is to be.
            let is_sprayed =
                rules.iter().flatten().any(|(_, rule)| first_hop(rule).is_some_and(|hop| hop.is_sprayed()));
            if there.is_some_and(|tuple| self.remember_stream(now, id, tuple, is_sprayed)) {
                taken.push((id, rules));
            }
        }
        taken
    }

    fn remove_unwanted(&mut self, out: &mut Commands) {
        for (dpid, rule) in self.installed.all(|rule| !rule.is_of_path()) {
            self.delete(dpid, rule, out);
        }
        for (dpid, strays) in self.installed.take_strays() {
            for stray in strays {
                out.push(Command::Remove { dpid, stray });
            }
        }
    }
}

/// The connection of a stream's rule, from the opening host.
fn tuple_of(rule: &Rule) -> Option<FiveTuple> {
    match rule {
        Rule::Stream { tuple, reverse: false, .. } => Some(*tuple),
        Rule::Stream { tuple, reverse: true, .. } => Some(tuple.reversed()),
        _ => None,
    }
}
