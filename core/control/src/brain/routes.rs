//! Default routes: for each address in use at a switch, the shortest path there.

use std::collections::BTreeSet;
use std::net::IpAddr;

use braid_types::{DatapathId, Index, Time};
use smallvec::SmallVec;

use super::Brain;
use super::batches::Replaces;
use crate::command::{Commands, Target};
use crate::label::Label;
use crate::notice::Notice;
use crate::pipeline::{Hop, Rule};

/// The default routes in the switches, or waiting for their path to be confirmed.
#[derive(Debug, Default)]
pub(super) struct Routes {
    ///
    /// Invariant: those to an address are in the order of switches, and there are some.
    to: Index<IpAddr, SmallVec<[(DatapathId, Entry); 1]>>,
    count: usize,
    /// Routes that were removed though their hosts are there.
    lost: BTreeSet<(IpAddr, DatapathId)>,
}

#[derive(Clone, Copy, Debug)]
struct Entry {
    wanted: Way,
    /// What the switch has until the path of `wanted` is confirmed.
    written: Option<Way>,
}

/// What a route's rule says beyond its destination: there may be a million, so that it is kept short.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Way {
    /// The host is at this switch.
    Here,
    /// By a label.
    By(Hop),
}

impl Way {
    /// The way of a route's rule; `None` for other rules.
    pub(super) const fn of(rule: &Rule) -> Option<Self> {
        match *rule {
            Rule::LocalRoute { .. } => Some(Self::Here),
            Rule::Route { hop, .. } => Some(Self::By(hop)),
            _ => None,
        }
    }

    const fn rule(self, dst: IpAddr) -> Rule {
        match self {
            Self::Here => Rule::LocalRoute { dst },
            Self::By(hop) => Rule::Route { dst, hop },
        }
    }

    const fn hop(self) -> Option<Hop> {
        match self {
            Self::Here => None,
            Self::By(hop) => Some(hop),
        }
    }

    fn takes(self, labels: &BTreeSet<Label>) -> bool {
        self.hop().is_some_and(|hop| labels.contains(&hop.label))
    }
}

impl Routes {
    pub(super) fn len(&self) -> usize {
        self.count
    }

    /// The route from a switch to `dst`.
    pub(super) fn get(&self, dst: IpAddr, dpid: DatapathId) -> Option<Way> {
        self.entry(dst, dpid).map(|entry| entry.wanted)
    }

    fn entry(&self, dst: IpAddr, dpid: DatapathId) -> Option<Entry> {
        let entries = self.to.get(&dst)?;
        let at = entries.binary_search_by_key(&dpid, |(at, _)| *at).ok()?;
        entries.get(at).map(|(_, entry)| *entry)
    }

    /// The route as it was before.
    fn insert(&mut self, (dst, dpid): (IpAddr, DatapathId), entry: Entry) -> Option<Entry> {
        let entries = self.to.entry(dst).or_default();
        match entries.binary_search_by_key(&dpid, |(at, _)| *at) {
            Ok(at) => Some(std::mem::replace(&mut entries[at].1, entry)),
            Err(at) => {
                entries.insert(at, (dpid, entry));
                self.count += 1;
                None
            }
        }
    }

    fn take(&mut self, (dst, dpid): (IpAddr, DatapathId)) -> Option<Entry> {
        let entries = self.to.get_mut(&dst)?;
        let at = entries.binary_search_by_key(&dpid, |(at, _)| *at).ok()?;
        let (_, entry) = entries.remove(at);
        self.count -= 1;
        if entries.is_empty() {
            self.to.remove(&dst);
        }
        Some(entry)
    }

    fn all(&self) -> impl Iterator<Item = ((IpAddr, DatapathId), Entry)> {
        self.to
            .iter()
            .flat_map(|(dst, entries)| entries.iter().map(move |(dpid, entry)| ((*dst, *dpid), *entry)))
    }

    /// A route that an earlier controller has written.
    pub(super) fn adopt(&mut self, key: (IpAddr, DatapathId), way: Way) {
        self.insert(key, Entry { wanted: way, written: Some(way) });
    }

    /// The route is on its way to the switch.
    pub(super) fn note_written(&mut self, (dst, dpid): (IpAddr, DatapathId), way: Way) {
        let Some(entries) = self.to.get_mut(&dst) else { return };
        if let Ok(at) = entries.binary_search_by_key(&dpid, |(at, _)| *at) {
            entries[at].1.written = Some(way);
        }
    }

    /// Forgets a route; says whether there was one.
    pub(super) fn remove(&mut self, dst: IpAddr, dpid: DatapathId) -> bool {
        self.take((dst, dpid)).is_some()
    }

    /// The labels that routes lead to, or will, in no order.
    pub(super) fn labels(&self) -> impl Iterator<Item = Label> {
        let ways = self.all().flat_map(|(_, entry)| [Some(entry.wanted), entry.written]);
        ways.flatten().filter_map(Way::hop).map(|hop| hop.label)
    }

    /// The switches with a route to `dst`.
    fn switches_to(&self, dst: IpAddr) -> Vec<DatapathId> {
        self.to.get(&dst).into_iter().flatten().map(|(dpid, _)| *dpid).collect()
    }

    fn through(&self, labels: &BTreeSet<Label>) -> Vec<((IpAddr, DatapathId), Entry)> {
        let uses = |entry: &Entry| {
            entry.wanted.takes(labels) || entry.written.is_some_and(|written| written.takes(labels))
        };
        let mut through: Vec<_> = self.all().filter(|(_, entry)| uses(entry)).collect();
        through.sort_unstable_by_key(|(key, _)| *key);
        through
    }

    /// The switch has lost its rules.
    pub(super) fn forget(&mut self, dpid: DatapathId) {
        self.to.retain(|_, entries| {
            entries.retain(|(at, _)| *at != dpid);
            !entries.is_empty()
        });
        self.count = self.to.values().map(SmallVec::len).sum();
        self.lost.retain(|(_, at)| *at != dpid);
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
        let mut batch = self.blank();
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
        if self.found.get(dpid, &Rule::LocalRoute { dst }).is_some() {
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
        if self.found.is_settling() && self.leads_there(key) {
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
            Some(Way::By(hop)) => self.labels.path(hop.label).is_some_and(|path| path.egress() == at),
            _ => at == dpid,
        }
    }

    /// Whether packets that follow the route get on.
    fn works(&self, way: Way) -> bool {
        let works = |path| self.labels.of(path).is_some() && self.is_whole(path);
        way.hop().is_none_or(|hop| self.labels.path(hop.label).is_some_and(works))
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
        self.first_hop(now, &path, out).map(Way::By)
    }
}
