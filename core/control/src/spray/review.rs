//! Review of bundles: broken paths are dropped at once, and paths with more spare capacity are added.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use braid_paths::Path;
use braid_planner::SprayPlan;
use braid_steering::StreamId;
use braid_types::{BitsPerSec, SwitchPair, SwitchPort};

use super::place::members;
use super::{BundleKey, Member, Spray, SprayEvent, StreamBundles, spray_over};
use crate::command::{Command, Commands};
use crate::context::Context;
use crate::fabric::{Fabric, Hops, Owner, Replaces, Submitted, Transaction, is_whole};
use crate::measurement::Measurement;
use crate::pipeline::Resequencer;

/// The spare capacity that other paths must have, relative to the current ones.
const MIN_GAIN: f64 = 1.2;
/// A bundle stays unchanged for this long after a change, except for broken paths.
const MIN_CHANGE_INTERVAL: Duration = Duration::from_secs(5);

impl Spray {
    /// Links were added or removed.
    pub(super) fn handle_links(&mut self, cx: &mut Context<'_>, fabric: &mut Fabric) {
        for key in self.keys() {
            let plan = self.plan(cx, key);
            if self.has_broken(cx, &key) || self.is_better(&key, &plan, 1.05) {
                self.change_bundle(cx, fabric, key, plan);
            }
        }
    }

    /// Compares bundles with the available paths. Called when the counters have been read.
    ///
    /// `rates`: the measured rates of a stream, forward and reverse.
    pub(crate) fn review(
        &mut self,
        cx: &mut Context<'_>,
        fabric: &mut Fabric,
        measurement: &Measurement,
        rates: impl Fn(StreamId) -> Option<[BitsPerSec; 2]>,
    ) {
        if self.edges.is_empty() && self.bundles.is_empty() {
            return;
        }
        let own = self.loads(rates);
        self.note_cross_traffic(cx, measurement, &own);
        self.ask_edges(cx);
        self.close_unused(cx, fabric);
        for key in self.keys() {
            let rests =
                self.bundles.get(&key).is_some_and(|it| cx.now.since(it.changed_at) < MIN_CHANGE_INTERVAL);
            let plan = self.plan(cx, key);
            if !rests && self.is_better(&key, &plan, MIN_GAIN) {
                self.change_bundle(cx, fabric, key, plan);
            }
        }
        self.find_sprayable(cx);
    }

    /// Commits a ready transaction if its group is still wanted.
    pub(crate) fn commit(&self, cx: &mut Context<'_>, mut commands: Commands) {
        commands.retain(|command| match command {
            Command::Spray { dpid, spray } => self.wants(*dpid, spray),
            _ => true,
        });
        cx.out.append(&mut commands);
    }

    fn keys(&self) -> Vec<BundleKey> {
        self.bundles.keys().copied().collect()
    }

    fn has_broken(&self, cx: &Context<'_>, key: &BundleKey) -> bool {
        let members = self.bundles.get(key).map(|bundle| bundle.members.as_slice());
        members.unwrap_or_default().iter().any(|member| !is_whole(cx.topology, &member.path))
    }

    /// Whether the paths of a plan have more spare capacity than the bundle's, by the factor `gain`.
    fn is_better(&self, key: &BundleKey, plan: &SprayPlan, gain: f64) -> bool {
        let Some(bundle) = self.bundles.get(key) else { return false };
        let now: u64 = bundle.members.iter().map(|member| rate_in(plan, &member.path).0).sum();
        plan.total().as_f64() > now as f64 * gain
    }

    /// The sprayed load of each link in bits a second, by the link's sending port.
    fn loads(&self, rates: impl Fn(StreamId) -> Option<[BitsPerSec; 2]>) -> BTreeMap<SwitchPort, u64> {
        let mut loads = BTreeMap::new();
        for (id, stream) in &self.streams {
            let Some(rates) = rates(*id) else { continue };
            for (key, rate) in stream.keys.iter().zip(rates) {
                let Some(bundle) = self.bundles.get(key) else { continue };
                let total: u64 = bundle.members.iter().map(|member| member.rate.0).sum();
                for member in &bundle.members {
                    let part = (rate.as_f64() * member.rate.as_f64() / total.max(1) as f64) as u64;
                    let ports = member.path.links().iter().map(|link| link.src);
                    ports.for_each(|port| *loads.entry(port).or_default() += part);
                }
            }
        }
        loads
    }

    fn note_cross_traffic(
        &mut self,
        cx: &Context<'_>,
        measurement: &Measurement,
        own: &BTreeMap<SwitchPort, u64>,
    ) {
        for (link, _) in cx.topology.links() {
            let reading = measurement.of(&link);
            let Some(load) = reading.load else { continue };
            let own = own.get(&link.src).copied().unwrap_or(0);
            self.cross_traffic.note(link.src, load.at, reading.sent.bytes_out, own);
        }
        self.cross_traffic.retain(|port| cx.topology.link_at(port).is_some());
    }

    /// Gives a bundle the paths of a plan. Broken paths are dropped at once; new ones are used when
    /// confirmed.
    fn change_bundle(&mut self, cx: &mut Context<'_>, fabric: &mut Fabric, key: BundleKey, plan: SprayPlan) {
        let members = members(cx, fabric, &plan);
        let Some(bundle) = self.bundles.get_mut(&key) else { return };
        let (group, before) = (bundle.group, bundle.members.len());
        let is_left = |member: &&Member| is_whole(cx.topology, &member.path);
        let left: Vec<_> = bundle.members.iter().filter(is_left).cloned().collect();
        bundle.set_members(fabric, left.clone());
        if members.is_empty() && left.is_empty() {
            return self.remove_bundle(cx, fabric, &key);
        }
        if !left.is_empty() && left.len() < before {
            cx.out.push(Command::Spray { dpid: key.ends.src, spray: spray_over(group, key.ends.dst, &left) });
        }
        if members.is_empty() {
            self.note_changed(&key);
            return self.update_resequencers(cx, &key);
        }
        bundle.set_members(fabric, members);
        (bundle.plan, bundle.changed_at) = (plan, cx.now);
        let (hops, mut batch) = (bundle.hops(), Commands::default());
        batch.push(Command::Spray { dpid: key.ends.src, spray: bundle.spray(key.ends.dst) });
        let replaces = if left.is_empty() { Replaces::Nothing } else { Replaces::Working };
        self.update_resequencers(cx, &key);
        self.note_routes(&key);
        submit(cx, fabric, &hops, batch, replaces);
    }

    /// Updates the settings of the resequencing groups of a bundle.
    fn update_resequencers(&self, cx: &mut Context<'_>, key: &BundleKey) {
        let Some(bundle) = self.bundles.get(key) else { return };
        for ((mac, port), group) in &bundle.resequencers {
            let settings = bundle.plan.resequencing(key.policy.resequence);
            let resequencer = Resequencer { group: *group, mac: *mac, port: *port, settings };
            cx.out.push(Command::Resequence { dpid: key.ends.dst, resequencer });
        }
    }

    fn note_routes(&mut self, key: &BundleKey) {
        for id in self.streams_of(key) {
            let route = self.stream(id).and_then(StreamBundles::route);
            self.events.extend(route.map(|route| SprayEvent::Routed(id, route)));
        }
    }

    fn note_changed(&mut self, key: &BundleKey) {
        let streams = self.streams.values().filter(|stream| stream.keys.contains(key));
        self.events.extend(streams.map(|stream| SprayEvent::Changed(stream.transfer)));
    }

    /// Moves the streams of a bundle without paths to the default path, until there is one again.
    fn remove_bundle(&mut self, cx: &mut Context<'_>, fabric: &mut Fabric, key: &BundleKey) {
        let streams = self.streams_of(key);
        self.events.extend(streams.into_iter().map(SprayEvent::Lost));
        self.close_bundle(cx, fabric, key);
    }

    fn close_bundle(&mut self, cx: &mut Context<'_>, fabric: &mut Fabric, key: &BundleKey) {
        let Some(mut bundle) = self.bundles.remove(key) else { return };
        bundle.set_members(fabric, Vec::new());
        let there = bundle.resequencers.into_values().map(|group| (key.ends.dst, group));
        for (dpid, group) in std::iter::once((key.ends.src, bundle.group)).chain(there) {
            if cx.topology.switch(dpid).is_some() {
                cx.out.push(Command::RemoveEdgeGroup { dpid, group });
            }
        }
    }

    /// Closes bundles that have been unused for long, and removes the groups of an earlier controller.
    fn close_unused(&mut self, cx: &mut Context<'_>, fabric: &mut Fabric) {
        for key in self.keys() {
            let used = self.streams.values().any(|stream| stream.keys.contains(&key));
            let Some(bundle) = self.bundles.get_mut(&key) else { continue };
            let since = if used { None } else { Some(bundle.unused_since.unwrap_or(cx.now)) };
            bundle.unused_since = since;
            if since.is_some_and(|since| cx.now.since(since) >= cx.settings.label_linger) {
                self.close_bundle(cx, fabric, &key);
            }
        }
        self.keys().into_iter().for_each(|key| self.close_unused_resequencers(cx, &key));
        for (_, dpid, group) in self.found.extract_if(.., |(at, ..)| *at <= cx.now) {
            cx.out.push(Command::RemoveEdgeGroup { dpid, group });
        }
    }

    /// Removes the resequencing groups of hosts to which no stream of the bundle goes.
    fn close_unused_resequencers(&mut self, cx: &mut Context<'_>, key: &BundleKey) {
        let streams = self.streams.values().filter(|stream| stream.keys.contains(key));
        let hosts = streams.filter_map(|stream| {
            let is_back = stream.keys[0] != *key;
            let address = if is_back { stream.tuple.src } else { stream.tuple.dst };
            let host = cx.topology.host_with_address(address)?;
            Some((host.mac, host.at.port))
        });
        let used: BTreeSet<_> = hosts.collect();
        let Some(bundle) = self.bundles.get_mut(key) else { return };
        for (_, group) in bundle.resequencers.extract_if(.., |host, _| !used.contains(host)) {
            cx.out.push(Command::RemoveEdgeGroup { dpid: key.ends.dst, group });
        }
    }

    /// Reports streams on a single path that can now be sprayed.
    fn find_sprayable(&mut self, cx: &Context<'_>) {
        let at = |ip| cx.topology.host_with_address(ip).map(|host| host.at.dpid);
        let sprayable = self.single.values().filter(|request| {
            let ends = at(request.tuple.src).zip(at(request.tuple.dst));
            ends.is_some_and(|(src, dst)| self.is_possible(cx, SwitchPair::new(src, dst), request.policy))
        });
        let events: Vec<_> = sprayable.map(|request| SprayEvent::Sprayable(request.id)).collect();
        self.events.extend(events);
    }
}

fn submit(cx: &mut Context<'_>, fabric: &mut Fabric, hops: &Hops, batch: Commands, replaces: Replaces) {
    let transaction = Transaction::new(Owner::Spray, hops, batch).replacing(replaces);
    if let Submitted::Ready(mut batch) = fabric.submit(cx, transaction) {
        cx.out.append(&mut batch);
    }
}

fn rate_in(plan: &SprayPlan, path: &Path) -> BitsPerSec {
    plan.members.iter().find(|it| it.path == *path).map_or(BitsPerSec(0), |it| it.rate)
}
