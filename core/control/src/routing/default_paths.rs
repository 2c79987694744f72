//! Default paths: the shortest path to each address in use, at each switch where it is used.

use std::collections::BTreeSet;
use std::net::IpAddr;

use braid_types::{DatapathId, SwitchPair};

use super::ecmp::EcmpGroups;
use super::table::{Entry, NextHop, RouteKey, Routes};
use crate::command::{Command, Commands, Target};
use crate::context::Context;
use crate::event::SwitchPorts;
use crate::fabric::{Fabric, Hops, Owner, Replaces, Submitted, Transaction};
use crate::label::Label;
use crate::notice::Notice;
use crate::pipeline::{EcmpGroup, Rule};

/// The default paths of packets outside streams. Each is a rule at one switch for one address, which leads to a label
/// or to a group over the labels of equal-cost paths.
#[derive(Debug, Default)]
pub(crate) struct Routing {
    routes: Routes,
    /// Routes that were removed although their hosts still exist.
    lost: BTreeSet<RouteKey>,
    ecmp: EcmpGroups,
}

/// What happens that default paths follow.
#[derive(Clone, Copy, Debug)]
pub(crate) enum RoutingChange<'a> {
    /// A switch joins, perhaps with groups of an earlier controller.
    SwitchUp(&'a SwitchPorts),
    /// A switch has lost its rules.
    SwitchDown(DatapathId),
    /// Links were added or lost, or are measured otherwise.
    Graph,
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

    /// The labels of installed and pending routes, in no order.
    pub(crate) fn labels(&self) -> impl Iterator<Item = Label> {
        self.routes.labels().chain(self.ecmp.labels())
    }

    /// The wanted rule of a route; `None` if there is none.
    pub(crate) fn rule(&self, RouteKey { dst, dpid }: RouteKey) -> Option<Rule> {
        self.routes.get(dst, dpid).map(|way| way.rule(dst))
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
        let (Some(RouteKey { dpid, .. }), mut commands) = (keys.first(), cx.out.blank()) else { return };
        let mut hops = Hops::new();
        for (number, key) in keys.iter().enumerate() {
            match self.route(cx, fabric, *key, &mut commands) {
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
            RoutingChange::SwitchDown(dpid) => self.handle_switch_down(dpid),
            RoutingChange::Graph => self.handle_graph(cx, fabric),
            RoutingChange::Losses => self.handle_losses(cx, fabric),
            RoutingChange::Refused(key, rule) => self.handle_refused(cx, fabric, key, rule),
            RoutingChange::Reconciled => self.ecmp.end_reconciliation(cx),
            RoutingChange::Reviewed => self.remove_unused_groups(cx),
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
        if !cx.out.installed.is_settling() {
            self.review_groups(cx, fabric, false);
        }
        let all = self.routes.sorted(|_| true);
        self.renew_all(cx, fabric, &all);
    }

    /// Compares the routes and groups over lost links with the shortest paths. The others are as short as before.
    fn handle_losses(&mut self, cx: &mut Context<'_>, fabric: &mut Fabric) {
        let broken = fabric.labels().broken(cx.topology);
        self.ecmp.note_broken(&broken);
        self.review_groups(cx, fabric, true);
        let over = self.routes.through(|_, way| way.takes(&broken));
        self.renew_all(cx, fabric, &over);
    }

    fn renew_all(&mut self, cx: &mut Context<'_>, fabric: &mut Fabric, routes: &[(RouteKey, Entry)]) {
        cx.counters.routes_compared += routes.len() as u64;
        routes.iter().for_each(|(key, _)| self.renew(cx, fabric, *key));
    }

    /// A switch joins, perhaps with groups of an earlier controller.
    fn handle_switch_up(&mut self, cx: &Context<'_>, switch: &SwitchPorts) {
        self.ecmp.handle_switch_up(switch, cx.settings.ecmp_paths > 1);
    }

    /// A switch has refused the rule of a route. If the rule leads to a group, the switch gets no more of them.
    fn handle_refused(&mut self, cx: &mut Context<'_>, fabric: &mut Fabric, key: RouteKey, rule: &Rule) {
        self.forget(key);
        let Some(NextHop::Spread(_)) = NextHop::of(rule) else { return };
        self.ecmp.refuse(key.dpid);
        for (key, _) in self.routes.through(|dpid, way| dpid == key.dpid && way.group().is_some()) {
            self.renew(cx, fabric, key);
        }
    }

    /// A switch has lost its rules.
    fn handle_switch_down(&mut self, dpid: DatapathId) {
        self.ecmp.handle_switch_down(dpid);
        self.routes.forget(dpid);
        self.lost.retain(|key| key.dpid != dpid);
    }

    /// Labels are withdrawn. A pending route to one keeps its installed rule. An installed one is removed,
    /// and its packets go to the controller meanwhile.
    pub(crate) fn withdraw(&mut self, cx: &mut Context<'_>, labels: &BTreeSet<Label>) {
        let retired = self.ecmp.withdraw(cx, labels);
        let is_lost = |dpid, way: NextHop| {
            way.takes(labels) || way.group().is_some_and(|group| retired.contains(&(dpid, group)))
        };
        for (key, entry) in self.routes.through(is_lost) {
            match entry.written.filter(|written| !is_lost(key.dpid, *written)) {
                Some(way) => self.load(key, way),
                None => {
                    self.delete(cx, key);
                    self.lost.insert(key);
                }
            }
        }
    }

    /// Renews routes and groups that lost a path before a packet needs it.
    pub(crate) fn restore(&mut self, cx: &mut Context<'_>, fabric: &mut Fabric) {
        self.review_groups(cx, fabric, true);
        for key in std::mem::take(&mut self.lost) {
            let mut commands = Commands::default();
            if let Some(hops) = self.route(cx, fabric, key, &mut commands) {
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
    fn remove_unused_groups(&mut self, cx: &mut Context<'_>) {
        let Self { routes, ecmp, .. } = self;
        ecmp.remove_unused(cx, |key| routes.use_group(key));
    }

    /// Keeps the groups of an earlier controller whose paths have become known; returns them.
    pub(crate) fn reconcile_groups(&mut self, fabric: &Fabric) -> Vec<(DatapathId, EcmpGroup)> {
        self.ecmp.reconcile(fabric)
    }

    /// Loads a route that an earlier controller has written.
    pub(crate) fn load(&mut self, key: RouteKey, way: NextHop) {
        self.routes.insert(key, Entry { wanted: way, written: Some(way) });
    }

    /// Forgets a route that its switch lacks; returns whether there was one.
    pub(crate) fn forget(&mut self, RouteKey { dst, dpid }: RouteKey) -> bool {
        self.routes.take(RouteKey { dst, dpid }).is_some()
    }

    /// Commits a ready transaction, except routes that are not wanted any more.
    pub(crate) fn commit(&mut self, cx: &mut Context<'_>, mut commands: Commands) {
        self.commit_groups(cx, &mut commands);
        commands.retain(|command| match command {
            Command::Add { dpid, rule: rule @ Rule::Route { dst, .. } } => {
                let way = NextHop::of(rule);
                let group = way.and_then(NextHop::group);
                let is_ready = group.is_none_or(|group| self.ecmp.is_written((*dpid, group)));
                is_ready && self.routes.get(*dst, *dpid) == way
            }
            _ => true,
        });
        self.write(cx, commands);
    }

    /// Takes the groups out of a ready transaction and writes them before its routes.
    fn commit_groups(&mut self, cx: &mut Context<'_>, commands: &mut Commands) {
        for command in &*commands {
            if let Command::SetEcmp { dpid, buckets, .. } = command {
                self.ecmp.commit(cx, *dpid, buckets);
            }
        }
        commands.retain(|command| !matches!(command, Command::SetEcmp { .. }));
    }

    /// Adds a route to `commands` unless it exists; returns the hops that it waits for. `None` if there is no path.
    fn route(
        &mut self,
        cx: &mut Context<'_>,
        fabric: &mut Fabric,
        RouteKey { dst, dpid }: RouteKey,
        commands: &mut Commands,
    ) -> Option<Hops> {
        if let Some(way) = self.routes.get(dst, dpid) {
            return Some(self.hops(dpid, way, commands));
        }
        // A route is installed whose path is not known yet.
        if cx.out.installed.get(dpid, &Rule::LocalRoute { dst }).is_some() {
            return Some(Hops::new());
        }
        if self.routes.len() >= cx.settings.max_routes {
            cx.out.notice(Notice::Full { what: "routes" });
            return None;
        }
        let way = self.best_next_hop(cx, fabric, RouteKey { dst, dpid })?;
        self.routes.insert(RouteKey { dst, dpid }, Entry { wanted: way, written: None });
        let hops = self.hops(dpid, way, commands);
        commands.add(dpid, way.rule(dst));
        Some(hops)
    }

    /// The hops that must be confirmed before a route leads there. Its group is added to `commands` if the switch does
    /// not have it yet.
    fn hops(&self, dpid: DatapathId, way: NextHop, commands: &mut Commands) -> Hops {
        let Some(group) = way.group() else { return way.hop().into_iter().collect() };
        let Some((hops, command)) = self.ecmp.before((dpid, group)) else { return Hops::new() };
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
        let Some(way) = self.best_next_hop(cx, fabric, key) else { return self.delete(cx, key) };
        let written = self.routes.entry(dst, dpid).and_then(|entry| entry.written);
        let before = self.routes.insert(key, Entry { wanted: way, written }).map(|entry| entry.wanted);
        if before == Some(way) || written == Some(way) {
            return;
        }
        let is_open = |way: NextHop| match way {
            NextHop::Here => true,
            NextHop::By(hop) => fabric.labels().is_open(cx.topology, hop.label),
            NextHop::Spread(group) => self.ecmp.is_written((dpid, group)),
        };
        let replaces = if written.is_some_and(is_open) { Replaces::Working } else { Replaces::Nothing };
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
            Some(NextHop::Spread(group)) => self.ecmp.egress((dpid, group)) == Some(at),
            _ => at == dpid,
        }
    }

    fn delete(&mut self, cx: &mut Context<'_>, key: RouteKey) {
        if let Some(entry) = self.routes.take(key) {
            cx.delete(key.dpid, entry.wanted.rule(key.dst));
        }
    }

    fn submit(&mut self, cx: &mut Context<'_>, fabric: &mut Fabric, transaction: Transaction<'_>) {
        match fabric.submit(cx, transaction) {
            // Nothing can have changed since it was made.
            Submitted::Ready(mut commands) => {
                self.commit_groups(cx, &mut commands);
                self.write(cx, commands);
            }
            Submitted::Waits => {}
            Submitted::Full(commands) => self.abandon(cx, &commands),
        }
    }

    fn write(&mut self, cx: &mut Context<'_>, commands: Commands) {
        for (key, way) in routes_of(&commands) {
            self.routes.note_written(key, way);
        }
        cx.out.commit(commands);
    }

    /// Drops the routes of a transaction that does not fit. Its packets are sent directly to their hosts.
    fn abandon(&mut self, cx: &mut Context<'_>, commands: &Commands) {
        for (key, _) in routes_of(commands) {
            self.routes.take(key);
        }
        for command in commands {
            if let Command::SetEcmp { dpid, buckets, .. } = command {
                self.ecmp.abandon((*dpid, buckets.group));
            }
        }
        commands.held().for_each(|(_, frame)| cx.send_to_host(frame));
    }
}

fn routes_of(commands: &Commands) -> impl Iterator<Item = (RouteKey, NextHop)> {
    commands.into_iter().filter_map(|command| match command {
        Command::Add { dpid, rule: rule @ (Rule::Route { dst, .. } | Rule::LocalRoute { dst }) } => {
            Some((RouteKey { dst: *dst, dpid: *dpid }, NextHop::of(rule)?))
        }
        _ => None,
    })
}
