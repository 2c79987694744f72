//! Default paths: the shortest path to each address in use, at each switch where it is used.

use std::collections::BTreeSet;
use std::net::IpAddr;

use braid_types::DatapathId;
use smallvec::SmallVec;

use super::table::{Entry, NextHop, RouteKey, Routes};
use crate::command::{Command, Commands, Target};
use crate::context::Context;
use crate::fabric::{Fabric, Owner, Replaces, Submitted, Transaction};
use crate::label::Label;
use crate::notice::Notice;
use crate::pipeline::{Hop, Rule};

/// The default paths of packets outside streams. Each is a rule at one switch for one address.
#[derive(Debug, Default)]
pub(crate) struct Routing {
    routes: Routes,
    /// Routes that were removed although their hosts still exist.
    lost: BTreeSet<RouteKey>,
}

/// What has changed in the graph.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum GraphChange {
    /// Links were lost, and nothing else.
    Losses,
    /// Links were added or lost, or are measured otherwise.
    Any,
}

impl Routing {
    /// The number of routes.
    pub(crate) const fn len(&self) -> usize {
        self.routes.len()
    }

    /// The labels of installed and pending routes, in no order.
    pub(crate) fn labels(&self) -> impl Iterator<Item = Label> {
        self.routes.labels()
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
        let mut hops = SmallVec::<[Hop; 2]>::new();
        for (number, key) in keys.iter().enumerate() {
            match self.route(cx, fabric, *key, &mut commands) {
                Some(hop) => hops.extend(hop),
                None if number == 0 => return cx.out.discard(commands),
                None => {}
            }
        }
        commands.send(*dpid, Target::Pipeline, frame);
        self.submit(cx, fabric, Transaction::new(Owner::Routing, &hops, commands));
    }

    /// Replaces the routes to `dst`, whose host has moved.
    pub(crate) fn reroute_to(&mut self, cx: &mut Context<'_>, fabric: &mut Fabric, dst: IpAddr) {
        for dpid in self.routes.switches_to(dst) {
            self.renew(cx, fabric, RouteKey { dst, dpid });
        }
    }

    /// Compares the routes that a change of the graph concerns with the shortest paths.
    pub(crate) fn handle_graph(&mut self, cx: &mut Context<'_>, fabric: &mut Fabric, change: GraphChange) {
        let routes = match change {
            GraphChange::Any => self.routes.sorted(|_| true),
            // The others are as short as before.
            GraphChange::Losses => self.routes.through(&fabric.labels().broken(cx.topology)),
        };
        cx.counters.routes_compared += routes.len() as u64;
        routes.iter().for_each(|(key, _)| self.renew(cx, fabric, *key));
    }

    /// A switch has lost its rules.
    pub(crate) fn handle_switch_down(&mut self, dpid: DatapathId) {
        self.routes.forget(dpid);
        self.lost.retain(|key| key.dpid != dpid);
    }

    /// Labels are withdrawn. A pending route to one keeps its installed rule. An installed one is removed,
    /// and its packets go to the controller meanwhile.
    pub(crate) fn withdraw(&mut self, cx: &mut Context<'_>, labels: &BTreeSet<Label>) {
        for (key, entry) in self.routes.through(labels) {
            match entry.written.filter(|written| !written.takes(labels)) {
                Some(way) => self.load(key, way),
                None => {
                    self.delete(cx, key);
                    self.lost.insert(key);
                }
            }
        }
    }

    /// Renews routes that lost their path before a packet needs them.
    pub(crate) fn restore(&mut self, cx: &mut Context<'_>, fabric: &mut Fabric) {
        for key in std::mem::take(&mut self.lost) {
            let mut commands = Commands::default();
            if let Some(hop) = self.route(cx, fabric, key, &mut commands) {
                self.submit(cx, fabric, Transaction::new(Owner::Routing, hop.as_slice(), commands));
            }
        }
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
        commands.retain(|command| match command {
            Command::Add { dpid, rule: rule @ Rule::Route { dst, .. } } => {
                self.routes.get(*dst, *dpid) == NextHop::of(rule)
            }
            _ => true,
        });
        self.write(cx, commands);
    }

    /// Adds a route to `commands` unless it exists; returns its first hop. `None` if there is no path.
    fn route(
        &mut self,
        cx: &mut Context<'_>,
        fabric: &mut Fabric,
        RouteKey { dst, dpid }: RouteKey,
        commands: &mut Commands,
    ) -> Option<Option<Hop>> {
        if let Some(way) = self.routes.get(dst, dpid) {
            return Some(way.hop());
        }
        // A route is installed whose path is not known yet.
        if cx.out.installed.get(dpid, &Rule::LocalRoute { dst }).is_some() {
            return Some(None);
        }
        if self.routes.len() >= cx.settings.max_routes {
            cx.out.notice(Notice::Full { what: "routes" });
            return None;
        }
        let way = best_next_hop(cx, fabric, RouteKey { dst, dpid })?;
        self.routes.insert(RouteKey { dst, dpid }, Entry { wanted: way, written: None });
        commands.add(dpid, way.rule(dst));
        Some(way.hop())
    }

    fn renew(&mut self, cx: &mut Context<'_>, fabric: &mut Fabric, key: RouteKey) {
        if cx.out.installed.is_settling() && self.leads_there(cx, fabric, key) {
            return;
        }
        let RouteKey { dst, dpid } = key;
        let Some(way) = best_next_hop(cx, fabric, key) else { return self.delete(cx, key) };
        let written = self.routes.entry(dst, dpid).and_then(|entry| entry.written);
        let before = self.routes.insert(key, Entry { wanted: way, written }).map(|entry| entry.wanted);
        if before == Some(way) || written == Some(way) {
            return;
        }
        let is_open =
            |way: NextHop| way.hop().is_none_or(|hop| fabric.labels().is_open(cx.topology, hop.label));
        let replaces = if written.is_some_and(is_open) { Replaces::Working } else { Replaces::Nothing };
        let mut commands = Commands::default();
        commands.add(dpid, way.rule(dst));
        let hop = way.hop();
        let transaction = Transaction::new(Owner::Routing, hop.as_slice(), commands);
        self.submit(cx, fabric, transaction.replacing(replaces));
    }

    /// Whether a route leads to the switch of its host, as far as that is known.
    fn leads_there(&self, cx: &Context<'_>, fabric: &Fabric, RouteKey { dst, dpid }: RouteKey) -> bool {
        let Some(at) = cx.topology.host_with_address(dst).map(|host| host.at.dpid) else { return true };
        match self.routes.get(dst, dpid) {
            Some(NextHop::By(hop)) => fabric.labels().path(hop.label).is_some_and(|path| path.egress() == at),
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
            Submitted::Ready(commands) => self.write(cx, commands),
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

fn best_next_hop(
    cx: &mut Context<'_>,
    fabric: &mut Fabric,
    RouteKey { dst, dpid }: RouteKey,
) -> Option<NextHop> {
    let at = cx.topology.host_with_address(dst)?.at;
    if at.dpid == dpid {
        return Some(NextHop::Here);
    }
    let path = cx.paths.shortest(cx.now, dpid, at.dpid)?;
    fabric.open(cx, &path).map(NextHop::By)
}
