//! Default routes: for each address in use at a switch, the shortest path there.

mod table;

use std::collections::BTreeSet;
use std::net::IpAddr;

use braid_types::{DatapathId, Time};

use super::{Brain, context};
use crate::command::{Commands, Target};
use crate::fabric::Replaces;
use crate::label::Label;
use crate::notice::Notice;
use crate::pipeline::{Hop, Rule};

use table::Entry;
pub(super) use table::{Routes, Way};

impl Brain {
    /// Sends a packet on, or holds it while its destination is looked for.
    pub(super) fn forward_or_search(
        &mut self,
        now: Time,
        dpid: DatapathId,
        dst: IpAddr,
        frame: &[u8],
        out: &mut Commands,
    ) {
        match self.topology.host_with_address(dst) {
            Some(_) => self.forward(now, dpid, dst, frame, out),
            None => self.look_up(now, dpid, dst, frame, out),
        }
    }

    /// Sends a packet that entered at `dpid` on its way to `dst`, with a route for those that follow it.
    pub(super) fn forward(
        &mut self,
        now: Time,
        dpid: DatapathId,
        dst: IpAddr,
        frame: &[u8],
        out: &mut Commands,
    ) {
        let mut batch = self.fabric.blank();
        let Some(hops) = self.route(now, dpid, dst, &mut batch, out) else { return };
        batch.send(dpid, Target::Pipeline, frame);
        self.when_ready(now, hops.as_slice(), batch, Replaces::Nothing, out);
    }

    /// Adds the route from `dpid` to `dst` to `batch` unless it is there; returns what the batch needs.
    ///
    /// `None` if there is no way.
    pub(super) fn route(
        &mut self,
        now: Time,
        dpid: DatapathId,
        dst: IpAddr,
        batch: &mut Commands,
        out: &mut Commands,
    ) -> Option<Option<Hop>> {
        if let Some(way) = self.routes.get(dst, dpid) {
            return Some(way.hop());
        }
        // There is one whose path is not known yet.
        if self.installed.get(dpid, &Rule::LocalRoute { dst }).is_some() {
            return Some(None);
        }
        if self.routes.len() >= self.settings.max_routes {
            out.notice(Notice::Full { what: "routes" });
            return None;
        }
        let way = self.best_route(now, dpid, dst, out)?;
        self.routes.insert((dst, dpid), Entry { wanted: way, written: None });
        batch.add(dpid, way.rule(dst));
        Some(way.hop())
    }

    /// The rule of a default route as it is wanted now; `None` if there is none.
    pub fn route_rule(&self, dst: IpAddr, dpid: DatapathId) -> Option<Rule> {
        self.routes.get(dst, dpid).map(|way| way.rule(dst))
    }

    /// The host at `dst` is somewhere else: every switch with a route to it gets a new one.
    pub(super) fn reroute_to(&mut self, now: Time, dst: IpAddr, out: &mut Commands) {
        for dpid in self.routes.switches_to(dst) {
            self.renew_route(now, dst, dpid, out);
        }
    }

    /// The graph has changed: every route is compared with the shortest path.
    pub(super) fn renew_routes(&mut self, now: Time, out: &mut Commands) {
        let mut all: Vec<_> = self.routes.all().map(|(key, _)| key).collect();
        all.sort_unstable();
        for (dst, dpid) in all {
            self.renew_route(now, dst, dpid, out);
        }
    }

    /// The labels go. A route that was to take one stays as it is; what takes one asks the controller meanwhile.
    pub(super) fn release_routes(&mut self, labels: &BTreeSet<Label>, out: &mut Commands) {
        for (key, entry) in self.routes.through(labels) {
            match entry.written.filter(|written| !written.takes(labels)) {
                Some(way) => self.routes.adopt(key, way),
                None => {
                    self.remove_route(key, out);
                    self.routes.lost.insert(key);
                }
            }
        }
    }

    /// Routes that lost their path get another one before a packet asks for it.
    pub(super) fn restore_routes(&mut self, now: Time, out: &mut Commands) {
        for (dst, dpid) in std::mem::take(&mut self.routes.lost) {
            let mut batch = Commands::default();
            if let Some(hops) = self.route(now, dpid, dst, &mut batch, out) {
                self.when_ready(now, hops.as_slice(), batch, Replaces::Nothing, out);
            }
        }
    }

    fn renew_route(&mut self, now: Time, dst: IpAddr, dpid: DatapathId, out: &mut Commands) {
        let key = (dst, dpid);
        if self.installed.is_settling() && self.leads_there(key) {
            return;
        }
        let Some(way) = self.best_route(now, dpid, dst, out) else { return self.remove_route(key, out) };
        let written = self.routes.entry(dst, dpid).and_then(|entry| entry.written);
        let before = self.routes.insert(key, Entry { wanted: way, written }).map(|entry| entry.wanted);
        if before != Some(way) && written != Some(way) {
            let works = written.is_some_and(|written| self.works(written));
            let replaces = if works { Replaces::Working } else { Replaces::Nothing };
            let mut batch = Commands::default();
            batch.add(dpid, way.rule(dst));
            self.when_ready(now, way.hop().as_slice(), batch, replaces, out);
        }
    }

    /// Whether a route ends where its host is, as far as that is known.
    fn leads_there(&self, (dst, dpid): (IpAddr, DatapathId)) -> bool {
        let Some(at) = self.topology.host_with_address(dst).map(|host| host.at.dpid) else { return true };
        match self.routes.get(dst, dpid) {
            Some(Way::By(hop)) => self.fabric.path(hop.label).is_some_and(|path| path.egress() == at),
            _ => at == dpid,
        }
    }

    /// Whether packets that follow the route get on.
    fn works(&self, way: Way) -> bool {
        way.hop().is_none_or(|hop| self.fabric.is_open(&self.topology, hop.label))
    }

    fn remove_route(&mut self, key: (IpAddr, DatapathId), out: &mut Commands) {
        if let Some(entry) = self.routes.take(key) {
            self.delete(key.1, entry.wanted.rule(key.0), out);
        }
    }

    fn best_route(&mut self, now: Time, dpid: DatapathId, dst: IpAddr, out: &mut Commands) -> Option<Way> {
        let at = self.topology.host_with_address(dst)?.at;
        if at.dpid == dpid {
            return Some(Way::Here);
        }
        let path = self.paths.shortest(now, dpid, at.dpid)?;
        self.fabric.lease(&mut context!(self, now, out), &path).map(Way::By)
    }
}
