//! Default paths: the shortest path to each address in use, at each switch where it is used.

use std::collections::BTreeSet;
use std::net::IpAddr;

use braid_topology::Topology;
use braid_types::{DatapathId, SwitchPair};
use smallvec::SmallVec;

use super::ecmp::{EcmpGroups, GroupKey};
use super::next_hop::{Entry, NextHop, RouteKey};
use super::table::Routes;
use crate::command::{Commands, Target};
use crate::context::Context;
use crate::event::SwitchPorts;
use crate::fabric::{Fabric, Hops, Owner, Replaces, Transaction, is_whole};
use crate::label::Label;
use crate::notice::Notice;
use crate::pipeline::Rule;

/// The default paths of packets outside streams. Each is a rule at one switch for one address, which leads to a label
/// or to a group over the labels of equal-cost paths.
#[derive(Debug, Default)]
pub(crate) struct Routing {
    pub(super) routes: Routes,
    /// Routes that were removed although their hosts still exist.
    lost: BTreeSet<RouteKey>,
    pub(super) ecmp: EcmpGroups,
    /// The labels over lost links that routes may still take, since the last comparison with the graph.
    bypassed: BTreeSet<Label>,
}

/// What happens that default paths follow.
#[derive(Clone, Debug)]
pub(crate) enum RoutingChange<'a> {
    /// A switch joins, perhaps with groups of an earlier controller.
    SwitchUp(&'a SwitchPorts),
    /// A switch has lost its rules.
    SwitchDown(DatapathId),
    /// Links were added or lost, or are measured otherwise.
    Graph,
    /// Links of these labels are lost, and bypassed.
    Bypassed(BTreeSet<Label>),
    /// Links were lost, and nothing else.
    Losses,
    /// A switch has refused the rule of a route.
    Refused(RouteKey, &'a Rule),
    /// The installed rules that remain unknown are removed.
    Reconciled,
    /// Some time has passed: groups that no route uses are removed.
    Reviewed,
}

impl Routing {
    /// The number of routes.
    pub(crate) const fn len(&self) -> usize {
        self.routes.len()
    }

    /// The wanted rule of a route; `None` if there is none.
    pub(crate) fn rule(&self, RouteKey { dst, dpid }: RouteKey) -> Option<Rule> {
        self.routes.get(dst, dpid).map(|way| way.rule(dst))
    }

    /// How many of these routes are installed as desired. Many at once cost less than one after the
    /// other: memory serves their lookups in parallel.
    pub(crate) fn count_installed(&self, keys: &[RouteKey]) -> usize {
        self.routes.entries(keys).filter(|entry| entry.is_some_and(Entry::is_written)).count()
    }

    /// Sends a packet that entered at a switch by the first of some routes. All of them are installed for
    /// later packets, so that the route of the reply is ready when it comes.
    pub(crate) fn forward(
        &mut self,
        cx: &mut Context<'_>,
        fabric: &mut Fabric,
        keys: &[RouteKey],
        frame: &[u8],
    ) {
        let Some(RouteKey { dpid, .. }) = keys.first() else { return };
        let known = keys.iter().map(|key| (*key, self.routes.entry(key.dst, key.dpid)));
        let known: SmallVec<[_; 2]> = known.collect();
        if known.iter().all(|(_, entry)| entry.as_ref().is_some_and(Entry::is_written)) {
            return cx.out.send(*dpid, Target::Pipeline, frame);
        }
        let mut commands = cx.out.blank();
        let mut hops = Hops::new();
        for (number, (key, entry)) in known.into_iter().enumerate() {
            let more = match entry {
                Some(entry) => Some(self.hops(key.dpid, entry.wanted, &mut commands)),
                None => self.add(cx, fabric, key, &mut commands),
            };
            match more {
                Some(more) => hops.extend(more),
                None if number == 0 => return cx.out.discard(commands),
                None => {}
            }
        }
        commands.send(*dpid, Target::Pipeline, frame);
        self.submit(cx, fabric, Transaction::new(Owner::Routing, &hops, commands));
    }

    /// Something has happened that default paths follow.
    pub(crate) fn handle_change(
        &mut self,
        cx: &mut Context<'_>,
        fabric: &mut Fabric,
        change: RoutingChange<'_>,
    ) {
        match change {
            RoutingChange::SwitchUp(switch) => self.handle_switch_up(cx, switch),
            RoutingChange::SwitchDown(dpid) => self.handle_switch_down(fabric, dpid),
            RoutingChange::Graph => self.handle_graph(cx, fabric),
            RoutingChange::Bypassed(labels) => self.bypassed = labels,
            RoutingChange::Losses => self.handle_losses(cx, fabric),
            RoutingChange::Refused(key, rule) => self.handle_refused(cx, fabric, key, rule),
            RoutingChange::Reconciled => self.ecmp.end_reconciliation(cx),
            RoutingChange::Reviewed => self.remove_unused_groups(cx, fabric),
        }
    }

    /// Replaces the routes to `dst`, whose host has moved.
    pub(crate) fn reroute_to(&mut self, cx: &mut Context<'_>, fabric: &mut Fabric, dst: IpAddr) {
        for dpid in self.routes.switches_to(dst) {
            self.renew(cx, fabric, RouteKey { dst, dpid });
        }
    }

    /// Compares every route and group with the shortest paths after a change of the graph.
    fn handle_graph(&mut self, cx: &mut Context<'_>, fabric: &mut Fabric) {
        self.bypassed.clear();
        if !cx.out.installed.is_settling() {
            self.review_groups(cx, fabric, false);
        }
        let all = self.routes.sorted(|_| true);
        self.renew_all(cx, fabric, all.into_iter().map(|(key, _)| key));
    }

    /// Compares the routes and groups over lost links with the shortest paths. The others are as short as before.
    fn handle_losses(&mut self, cx: &mut Context<'_>, fabric: &mut Fabric) {
        let broken = std::mem::take(&mut self.bypassed);
        self.ecmp.note_broken(&broken);
        self.review_groups(cx, fabric, true);
        let over = self.routes.through(|_, way| way.takes(&broken));
        self.renew_all(cx, fabric, over.into_iter().map(|(key, _)| key));
    }

    fn renew_all(&mut self, cx: &mut Context<'_>, fabric: &mut Fabric, keys: impl Iterator<Item = RouteKey>) {
        for key in keys {
            cx.counters.routes_compared += 1;
            self.renew(cx, fabric, key);
        }
    }

    /// A switch joins, perhaps with groups of an earlier controller.
    fn handle_switch_up(&mut self, cx: &Context<'_>, switch: &SwitchPorts) {
        self.ecmp.handle_switch_up(switch, cx.settings.ecmp_paths > 1);
    }

    /// A switch has refused the rule of a route. If the rule leads to a group, the switch gets no more of them.
    fn handle_refused(&mut self, cx: &mut Context<'_>, fabric: &mut Fabric, key: RouteKey, rule: &Rule) {
        self.forget(fabric, key);
        let Some(NextHop::Spread(_)) = NextHop::of(rule) else { return };
        self.ecmp.refuse(key.dpid);
        for (key, _) in self.routes.through(|dpid, way| dpid == key.dpid && way.group().is_some()) {
            self.renew(cx, fabric, key);
        }
    }

    /// A switch has lost its rules.
    fn handle_switch_down(&mut self, fabric: &mut Fabric, dpid: DatapathId) {
        self.ecmp.handle_switch_down(fabric, dpid);
        self.routes.forget(fabric, dpid);
        self.lost.retain(|key| key.dpid != dpid);
    }

    /// Labels are withdrawn. A pending route to one keeps its installed rule. An installed one is removed,
    /// and its packets go to the controller meanwhile.
    pub(crate) fn withdraw(&mut self, cx: &mut Context<'_>, fabric: &mut Fabric, labels: &BTreeSet<Label>) {
        let retired = self.ecmp.withdraw(cx, fabric, labels);
        let is_lost = |dpid, way: NextHop| {
            way.takes(labels) || way.group().is_some_and(|group| retired.contains(&GroupKey { dpid, group }))
        };
        for (key, entry) in self.routes.through(is_lost) {
            match entry.written.filter(|written| !is_lost(key.dpid, *written)) {
                Some(way) => self.load(fabric, key, way),
                None => {
                    self.delete(cx, fabric, key);
                    self.lost.insert(key);
                }
            }
        }
    }

    /// Renews routes and groups that lost a path before a packet needs it.
    pub(crate) fn restore(&mut self, cx: &mut Context<'_>, fabric: &mut Fabric) {
        // After every event there is mostly nothing to renew.
        if self.ecmp.has_stale() {
            self.review_groups(cx, fabric, true);
        }
        if self.lost.is_empty() {
            return;
        }
        for key in std::mem::take(&mut self.lost) {
            if self.routes.get(key.dst, key.dpid).is_some() {
                continue;
            }
            let mut commands = Commands::default();
            if let Some(hops) = self.add(cx, fabric, key, &mut commands) {
                self.submit(cx, fabric, Transaction::new(Owner::Routing, &hops, commands));
            }
        }
    }

    /// Compares groups with the graph: all, or those that lost a path.
    fn review_groups(&mut self, cx: &mut Context<'_>, fabric: &mut Fabric, only_stale: bool) {
        for key in self.ecmp.keys(only_stale) {
            let Some((hops, command)) = self.ecmp.review(cx, fabric, key) else { continue };
            let mut commands = Commands::default();
            commands.push(command);
            let replaces = if self.ecmp.is_written(key) { Replaces::Working } else { Replaces::Nothing };
            self.submit(cx, fabric, Transaction::new(Owner::Routing, &hops, commands).replacing(replaces));
        }
    }

    /// Removes groups that no route uses. Called periodically.
    fn remove_unused_groups(&mut self, cx: &mut Context<'_>, fabric: &mut Fabric) {
        let Self { routes, ecmp, .. } = self;
        ecmp.remove_unused(cx, fabric, |key| routes.use_group(key));
    }

    /// Keeps the groups of an earlier controller whose paths have become known; returns them.
    pub(crate) fn reconcile_groups(&mut self, fabric: &mut Fabric) -> Vec<GroupKey> {
        self.ecmp.reconcile(fabric)
    }

    /// Loads a route that an earlier controller has written.
    pub(crate) fn load(&mut self, fabric: &mut Fabric, key: RouteKey, way: NextHop) {
        self.routes.insert(fabric, key, Entry { wanted: way, written: Some(way) });
    }

    /// Forgets a route that its switch lacks; returns whether there was one.
    pub(crate) fn forget(&mut self, fabric: &mut Fabric, key: RouteKey) -> bool {
        self.routes.take(fabric, key).is_some()
    }

    /// Adds a new route to `commands`; returns the hops that it waits for. `None` if there is no path.
    fn add(
        &mut self,
        cx: &mut Context<'_>,
        fabric: &mut Fabric,
        RouteKey { dst, dpid }: RouteKey,
        commands: &mut Commands,
    ) -> Option<Hops> {
        // A route is installed whose path is not known yet.
        if cx.out.installed.rules().get(dpid, &Rule::LocalRoute { dst }).is_some() {
            return Some(Hops::new());
        }
        if self.routes.len() >= cx.settings.max_routes {
            cx.out.notice(Notice::Full { what: "routes" });
            return None;
        }
        let way = self.best_next_hop(cx, fabric, RouteKey { dst, dpid })?;
        self.routes.insert(fabric, RouteKey { dst, dpid }, Entry { wanted: way, written: None });
        let hops = self.hops(dpid, way, commands);
        commands.add(dpid, way.rule(dst));
        Some(hops)
    }

    /// The hops that must be confirmed before a route leads there. Its group is added to `commands` if the switch does
    /// not have it yet.
    fn hops(&self, dpid: DatapathId, way: NextHop, commands: &mut Commands) -> Hops {
        let Some(group) = way.group() else { return way.hop().into_iter().collect() };
        let Some((hops, command)) = self.ecmp.before(GroupKey { dpid, group }) else { return Hops::new() };
        commands.push(command);
        hops
    }

    fn best_next_hop(
        &mut self,
        cx: &mut Context<'_>,
        fabric: &mut Fabric,
        RouteKey { dst, dpid }: RouteKey,
    ) -> Option<NextHop> {
        let at = cx.topology.host_with_address(dst)?.at.dpid;
        if at == dpid {
            return Some(NextHop::Here);
        }
        if let Some(group) = self.ecmp.group(cx, fabric, SwitchPair::new(dpid, at)) {
            return Some(NextHop::Spread(group));
        }
        let path = cx.paths.shortest(cx.now, dpid, at)?;
        fabric.open(cx, &path).map(NextHop::By)
    }

    fn renew(&mut self, cx: &mut Context<'_>, fabric: &mut Fabric, key: RouteKey) {
        if cx.out.installed.is_settling() && self.leads_there(cx, fabric, key) {
            return;
        }
        let RouteKey { dst, dpid } = key;
        let Some(way) = self.best_next_hop(cx, fabric, key) else { return self.delete(cx, fabric, key) };
        let written = self.routes.entry(dst, dpid).and_then(|entry| entry.written);
        let before =
            self.routes.insert(fabric, key, Entry { wanted: way, written }).map(|entry| entry.wanted);
        if before == Some(way) || written == Some(way) {
            return;
        }
        let carries = |way: NextHop| match way {
            NextHop::Here => true,
            NextHop::By(hop) => is_open(fabric, cx.topology, hop.label),
            NextHop::Spread(group) => self.ecmp.is_written(GroupKey { dpid, group }),
        };
        let replaces = if written.is_some_and(carries) { Replaces::Working } else { Replaces::Nothing };
        let mut commands = Commands::default();
        let hops = self.hops(dpid, way, &mut commands);
        commands.add(dpid, way.rule(dst));
        let transaction = Transaction::new(Owner::Routing, &hops, commands);
        self.submit(cx, fabric, transaction.replacing(replaces));
    }

    /// Whether a route leads to the switch of its host, as far as that is known.
    fn leads_there(&self, cx: &Context<'_>, fabric: &Fabric, RouteKey { dst, dpid }: RouteKey) -> bool {
        let Some(at) = cx.topology.host_with_address(dst).map(|host| host.at.dpid) else { return true };
        match self.routes.get(dst, dpid) {
            Some(NextHop::By(hop)) => fabric.labels().path(hop.label).is_some_and(|path| path.egress() == at),
            Some(NextHop::Spread(group)) => self.ecmp.egress(GroupKey { dpid, group }) == Some(at),
            _ => at == dpid,
        }
    }

    fn delete(&mut self, cx: &mut Context<'_>, fabric: &mut Fabric, key: RouteKey) {
        if let Some(entry) = self.routes.take(fabric, key) {
            cx.delete(key.dpid, entry.wanted.rule(key.dst));
        }
    }
}

/// Whether packets may enter a label: it is in use for its path, and all links of the path are up.
fn is_open(fabric: &Fabric, topology: &Topology, label: Label) -> bool {
    fabric.labels().path(label).is_some_and(|path| fabric.hop(path).is_some() && is_whole(topology, path))
}

#[cfg(test)]
impl Routing {
    /// The labels that routes lease.
    pub(crate) fn labels_of_routes(&self) -> Vec<Label> {
        self.routes.labels()
    }

    /// The labels that groups lease.
    pub(crate) fn labels_of_groups(&self) -> Vec<Label> {
        self.ecmp.labels()
    }
}
