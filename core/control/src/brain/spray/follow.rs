//! Bundles follow the network: paths that break are left at once, and others are taken that have more to spare.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use braid_paths::Path;
use braid_steering::Route;
use braid_types::{BitsPerSec, SwitchPort, Time};

use super::plan::Plan;
use super::{Key, spray_over};
use crate::brain::Brain;
use crate::command::{Command, Commands};
use crate::fabric::Replaces;
use crate::fabric::is_whole;
use crate::pipeline::Order;

/// Other paths must have so much more to spare, in parts of what these have.
const GAIN: f64 = 1.2;
/// So long after a bundle has changed it is left as it is, but for paths that break.
const REST: Duration = Duration::from_secs(5);

impl Brain {
    /// After links have come or gone: bundles leave paths that are broken, and take others.
    pub(in crate::brain) fn mend_sprays(&mut self, now: Time, out: &mut Commands) {
        for key in self.bundles() {
            let plan = self.plan_spray(now, key);
            if self.has_broken(&key) || self.is_better(&key, &plan, 1.05) {
                self.change_bundle(now, key, plan, out);
            }
        }
    }

    /// Called whenever the counters have been read.
    pub(in crate::brain) fn review_sprays(&mut self, now: Time, out: &mut Commands) {
        if self.sprays.edges.is_empty() && self.sprays.bundles.is_empty() {
            return;
        }
        self.note_others();
        self.ask_edges(now, out);
        self.close_unused(now, out);
        for key in self.bundles() {
            let rests = self.sprays.bundles.get(&key).is_some_and(|it| now.since(it.changed_at) < REST);
            let plan = self.plan_spray(now, key);
            if !rests && self.is_better(&key, &plan, GAIN) {
                self.change_bundle(now, key, plan, out);
            }
        }
        self.spray_singles(now, out);
    }

    fn bundles(&self) -> Vec<Key> {
        self.sprays.bundles.keys().copied().collect()
    }

    fn has_broken(&self, key: &Key) -> bool {
        let members = self.sprays.bundles.get(key).map(|bundle| bundle.members.as_slice());
        members.unwrap_or_default().iter().any(|member| !is_whole(&self.topology, &member.path))
    }

    /// Whether the paths of a plan have so much more to spare than those that a bundle has.
    fn is_better(&self, key: &Key, plan: &Plan, gain: f64) -> bool {
        let Some(bundle) = self.sprays.bundles.get(key) else { return false };
        let now: u64 = bundle.members.iter().map(|member| rate_in(plan, &member.path).0).sum();
        plan.total().as_f64() > now as f64 * gain
    }

    /// What is sprayed over each link, by the port that the link leaves.
    fn sprayed_loads(&self) -> BTreeMap<SwitchPort, u64> {
        let mut loads = BTreeMap::new();
        for (id, keys) in &self.sprays.of_stream {
            let Some(stream) = self.streams.stream(*id) else { continue };
            for (key, rate) in keys.iter().zip(stream.rates) {
                let Some(bundle) = self.sprays.bundles.get(key) else { continue };
                let total: u64 = bundle.members.iter().map(|member| member.rate.0).sum();
                for member in &bundle.members {
                    let part = rate.as_f64() * member.rate.as_f64() / total.max(1) as f64;
                    member
                        .path
                        .links()
                        .iter()
                        .for_each(|it| *loads.entry(it.src).or_default() += part as u64);
                }
            }
        }
        loads
    }

    fn note_others(&mut self) {
        let own = self.sprayed_loads();
        for (link, _) in self.topology.links() {
            let reading = self.measurement.of(&link);
            let Some(load) = reading.load else { continue };
            let own = own.get(&link.src).copied().unwrap_or(0);
            self.sprays.others.note(link.src, load.at, reading.sent.bytes_out, own);
        }
        let topology = &self.topology;
        self.sprays.others.retain(|port| topology.link_at(port).is_some());
    }

    /// A bundle takes the paths of a plan: without those that are broken at once, with the new ones when they are ready.
    fn change_bundle(&mut self, now: Time, key: Key, plan: Plan, out: &mut Commands) {
        let members = self.members(now, &plan, out);
        let topology = &self.topology;
        let is_whole = |path: &Path| path.links().iter().all(|it| topology.link_at(it.src) == Some(*it));
        let Some(bundle) = self.sprays.bundles.get_mut(&key) else { return };
        let (group, before) = (bundle.group, bundle.members.len());
        bundle.members.retain(|member| is_whole(&member.path));
        let left = bundle.members.clone();
        if members.is_empty() && left.is_empty() {
            return self.dissolve(key, out);
        }
        if !left.is_empty() && left.len() < before {
            out.push(Command::Spray { dpid: key.0, spray: spray_over(group, key.1, &left) });
        }
        if members.is_empty() {
            self.note_shown(&key);
            return self.tell_orders(&key, out);
        }
        (bundle.members, bundle.plan, bundle.changed_at) = (members, plan, now);
        let (hops, mut batch) = (bundle.hops(), Commands::default());
        batch.push(Command::Spray { dpid: key.0, spray: bundle.spray(key.1) });
        let replaces = if left.is_empty() { Replaces::Nothing } else { Replaces::Working };
        self.tell_orders(&key, out);
        self.note_routes(&key);
        self.when_ready(now, &hops, batch, replaces, out);
    }

    /// What puts in order is told over how many paths packets come, and how much it may hold.
    fn tell_orders(&self, key: &Key, out: &mut Commands) {
        let Some(bundle) = self.sprays.bundles.get(key) else { return };
        for ((mac, port), group) in &bundle.orders {
            let settings = bundle.plan.order(key.2.resequence);
            let order = Order { group: *group, mac: *mac, port: *port, settings };
            out.push(Command::Order { dpid: key.1, order });
        }
    }

    /// What is known of a stream's way is the first path of its bundle.
    fn note_routes(&mut self, key: &Key) {
        for id in self.sprays.streams_of(key) {
            let Some(keys) = self.sprays.of_stream.get(&id) else { continue };
            let first = |key| self.sprays.bundles.get(key).and_then(|it| it.members.first());
            if let (Some(there), Some(here)) = (first(&keys[0]), first(&keys[1])) {
                let route = Route { forward: there.path.clone(), reverse: here.path.clone() };
                self.set_route(id, Some(route));
            }
        }
    }

    /// The paths that are shown of a bundle's streams have changed.
    fn note_shown(&mut self, key: &Key) {
        for id in self.sprays.streams_of(key) {
            let transfer = self.streams.stream(id).map(|stream| stream.transfer);
            transfer.into_iter().for_each(|id| self.streams.note_change(id));
        }
    }

    /// The streams of a bundle without paths take the default route, until there is a path again.
    fn dissolve(&mut self, key: Key, out: &mut Commands) {
        for id in self.sprays.streams_of(&key) {
            self.remove_rules(id, out);
            self.set_route(id, None);
        }
        self.close_bundle(&key, out);
    }

    fn close_bundle(&mut self, key: &Key, out: &mut Commands) {
        let Some(bundle) = self.sprays.bundles.remove(key) else { return };
        let there = bundle.orders.into_values().map(|group| (key.1, group));
        for (dpid, group) in std::iter::once((key.0, bundle.group)).chain(there) {
            if self.topology.switch(dpid).is_some() {
                out.push(Command::RemoveEdgeGroup { dpid, group });
            }
        }
    }

    /// Closes the bundles that nothing went through for long, and removes the groups of an earlier controller.
    fn close_unused(&mut self, now: Time, out: &mut Commands) {
        for key in self.bundles() {
            let used = self.sprays.of_stream.values().any(|keys| keys.contains(&key));
            let Some(bundle) = self.sprays.bundles.get_mut(&key) else { continue };
            let since = if used { None } else { Some(bundle.unused_since.unwrap_or(now)) };
            bundle.unused_since = since;
            if since.is_some_and(|since| now.since(since) >= self.settings.label_linger) {
                self.close_bundle(&key, out);
            }
        }
        self.bundles().into_iter().for_each(|key| self.close_unused_orders(&key, out));
        let due = self.sprays.found.extract_if(.., |(at, ..)| *at <= now).collect::<Vec<_>>();
        due.into_iter().for_each(|(_, dpid, group)| out.push(Command::RemoveEdgeGroup { dpid, group }));
    }

    /// Removes what puts in order for hosts that no stream of a bundle goes to.
    fn close_unused_orders(&mut self, key: &Key, out: &mut Commands) {
        let streams = self.sprays.streams_of(key).into_iter();
        let hosts = streams.filter_map(|id| {
            let is_back = self.sprays.of_stream.get(&id)?[0] != *key;
            let tuple = self.streams.stream(id)?.tuple;
            let host = self.topology.host_with_address(if is_back { tuple.src } else { tuple.dst })?;
            Some((host.mac, host.at.port))
        });
        let used: BTreeSet<_> = hosts.collect();
        let Some(bundle) = self.sprays.bundles.get_mut(key) else { return };
        for (_, group) in bundle.orders.extract_if(.., |host, _| !used.contains(host)) {
            out.push(Command::RemoveEdgeGroup { dpid: key.1, group });
        }
    }

    /// Streams that took one path are sprayed if there are paths now that go together.
    fn spray_singles(&mut self, now: Time, out: &mut Commands) {
        let singles: Vec<_> = self.sprays.single.iter().copied().collect();
        for id in singles {
            let Some(tuple) = self.streams.stream(id).map(|stream| stream.tuple) else {
                self.sprays.leave(id);
                continue;
            };
            let ends = self.switches_of(&tuple).filter(|ends| self.may_spray(now, &tuple, *ends));
            let mut batch = Commands::default();
            if let Some(hops) = ends.and_then(|ends| self.place_sprayed(now, id, ends, &mut batch, out)) {
                self.when_ready(now, &hops, batch, Replaces::Working, out);
            }
        }
    }
}

fn rate_in(plan: &Plan, path: &Path) -> BitsPerSec {
    plan.paths.iter().find(|it| it.path == *path).map_or(BitsPerSec(0), |it| it.rate)
}
