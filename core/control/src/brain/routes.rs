//! Default routes: for each address in use at a switch, the shortest path there.

use std::collections::BTreeMap;
use std::net::IpAddr;

use braid_types::{DatapathId, Time};

use super::Brain;
use crate::command::{Commands, Target};
use crate::label::Label;
use crate::notice::Notice;
use crate::pipeline::{Hop, Rule};

/// The default routes in the switches, or waiting for their path to be confirmed.
#[derive(Debug, Default)]
pub(super) struct Routes(BTreeMap<(IpAddr, DatapathId), Rule>);

impl Routes {
    pub(super) fn len(&self) -> usize {
        self.0.len()
    }

    /// The route from a switch to `dst`.
    pub(super) fn get(&self, dst: IpAddr, dpid: DatapathId) -> Option<&Rule> {
        self.0.get(&(dst, dpid))
    }

    /// A route that an earlier controller has written.
    pub(super) fn adopt(&mut self, key: (IpAddr, DatapathId), rule: Rule) {
        self.0.insert(key, rule);
    }

    /// Forgets a route; says whether there was one.
    pub(super) fn remove(&mut self, dst: IpAddr, dpid: DatapathId) -> bool {
        self.0.remove(&(dst, dpid)).is_some()
    }

    /// The switches with a route to `dst`.
    fn switches_to(&self, dst: IpAddr) -> Vec<DatapathId> {
        let range = (dst, DatapathId(0))..=(dst, DatapathId(u64::MAX));
        self.0.range(range).map(|((_, dpid), _)| *dpid).collect()
    }

    fn through(&self, label: Label) -> Vec<(IpAddr, DatapathId)> {
        let uses = |rule: &Rule| matches!(rule, Rule::Route { hop, .. } if hop.label == label);
        self.0.iter().filter(|(_, rule)| uses(rule)).map(|(key, _)| *key).collect()
    }

    /// The switch has lost its rules.
    pub(super) fn forget(&mut self, dpid: DatapathId) {
        self.0.retain(|(_, at), _| *at != dpid);
    }
}

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
            None => self.search(now, dpid, dst, frame, out),
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
        let mut batch = Commands::default();
        let Some(hops) = self.route(now, dpid, dst, &mut batch, out) else { return };
        batch.send(dpid, Target::Pipeline, frame);
        self.when_ready(hops.as_slice(), batch, out);
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
        if let Some(rule) = self.routes.0.get(&(dst, dpid)) {
            return Some(hop(rule));
        }
        // There is one whose path is not known yet.
        if self.found.get(dpid, &Rule::LocalRoute { dst }).is_some() {
            return Some(None);
        }
        if self.routes.len() >= self.settings.max_routes {
            out.notice(Notice::Full { what: "routes" });
            return None;
        }
        let rule = self.best_route(now, dpid, dst, out)?;
        self.routes.0.insert((dst, dpid), rule);
        batch.add(dpid, rule);
        Some(hop(&rule))
    }

    /// The host at `dst` is somewhere else: every switch with a route to it gets a new one.
    pub(super) fn reroute_to(&mut self, now: Time, dst: IpAddr, out: &mut Commands) {
        for dpid in self.routes.switches_to(dst) {
            self.renew_route(now, dst, dpid, out);
        }
    }

    /// The graph has changed: every route is compared with the shortest path.
    pub(super) fn renew_routes(&mut self, now: Time, out: &mut Commands) {
        let all: Vec<_> = self.routes.0.keys().copied().collect();
        for (dst, dpid) in all {
            self.renew_route(now, dst, dpid, out);
        }
    }

    /// The label is gone: routes over it ask the controller again until they are renewed.
    pub(super) fn release_routes(&mut self, label: Label, out: &mut Commands) {
        for key in self.routes.through(label) {
            self.remove_route(key, out);
        }
    }

    fn renew_route(&mut self, now: Time, dst: IpAddr, dpid: DatapathId, out: &mut Commands) {
        let key = (dst, dpid);
        if self.found.is_settling() && self.leads_there(key) {
            return;
        }
        let Some(rule) = self.best_route(now, dpid, dst, out) else { return self.remove_route(key, out) };
        if self.routes.0.insert(key, rule) != Some(rule) {
            let mut batch = Commands::default();
            batch.add(dpid, rule);
            self.when_ready(hop(&rule).as_slice(), batch, out);
        }
    }

    /// Whether a route ends where its host is, as far as that is known.
    fn leads_there(&self, (dst, dpid): (IpAddr, DatapathId)) -> bool {
        let Some(at) = self.topology.host_with_address(dst).map(|host| host.at.dpid) else { return true };
        match self.routes.get(dst, dpid) {
            Some(Rule::Route { hop, .. }) => {
                self.labels.path(hop.label).is_some_and(|path| path.egress() == at)
            }
            _ => at == dpid,
        }
    }

    fn remove_route(&mut self, key: (IpAddr, DatapathId), out: &mut Commands) {
        if let Some(rule) = self.routes.0.remove(&key) {
            self.delete(key.1, rule, out);
        }
    }

    fn best_route(&mut self, now: Time, dpid: DatapathId, dst: IpAddr, out: &mut Commands) -> Option<Rule> {
        let at = self.topology.host_with_address(dst)?.at;
        if at.dpid == dpid {
            return Some(Rule::LocalRoute { dst });
        }
        let path = self.paths.shortest(now, dpid, at.dpid)?;
        let hop = self.first_hop(now, &path, out)?;
        Some(Rule::Route { dst, hop })
    }
}

fn hop(rule: &Rule) -> Option<Hop> {
    match rule {
        Rule::Route { hop, .. } => Some(*hop),
        _ => None,
    }
}
