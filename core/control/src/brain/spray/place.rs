//! Streams join bundles.

use std::net::IpAddr;

use braid_steering::{Resequence, Route, SteerAs, StreamId};
use braid_types::{DatapathId, FiveTuple, Time};

use super::{Bundle, Key, Member, SprayManner};
use crate::brain::placing::Hops;
use crate::brain::{Brain, context, spray::plan::Plan};
use crate::command::{Command, Commands};
use crate::notice::Notice;
use crate::pipeline::{EdgeGroup, Order, Rule};

impl Brain {
    /// Whether a plain connection is to be sprayed: between edges, as the policy says, over paths that go together.
    pub(in crate::brain) fn may_spray(
        &self,
        now: Time,
        tuple: &FiveTuple,
        (src, dst): (DatapathId, DatapathId),
    ) -> bool {
        let edges = &self.sprays.edges;
        if !edges.contains(&src) || !edges.contains(&dst) || self.manner(tuple).steer_as == SteerAs::Single {
            return false;
        }
        let manner = self.spray_manner(tuple);
        [(src, dst, manner), (dst, src, manner)].into_iter().any(|key| match self.sprays.bundles.get(&key) {
            Some(bundle) => bundle.members.len() > 1,
            None => self.plan_spray(now, key).paths.len() > 1,
        })
    }

    fn spray_manner(&self, tuple: &FiveTuple) -> SprayManner {
        let steering = self.policies.of(tuple);
        SprayManner {
            k: steering.k.unwrap_or(self.settings.paths),
            resequence: steering.resequence.unwrap_or_default(),
            max_mdi: steering.max_mdi,
        }
    }

    /// Lets both directions of a stream go through bundles; returns the labels that its rules need.
    ///
    /// `None` if there are no paths that go together; then the stream is to take one.
    pub(in crate::brain) fn place_sprayed(
        &mut self,
        now: Time,
        id: StreamId,
        (src, dst): (DatapathId, DatapathId),
        batch: &mut Commands,
        out: &mut Commands,
    ) -> Option<Hops> {
        let tuple = self.streams.stream(id)?.tuple;
        let manner = self.spray_manner(&tuple);
        let keys = [(src, dst, manner), (dst, src, manner)];
        self.sprays.leave(id);
        if !self.may_spray(now, &tuple, (src, dst))
            || !keys.iter().all(|key| self.open_bundle(now, *key, out))
        {
            self.sprays.single.insert(id);
            return None;
        }
        self.sprays.of_stream.insert(id, keys);
        for (key, tuple, reverse) in [(keys[0], tuple, false), (keys[1], tuple.reversed(), true)] {
            self.add_sprayed(id, key, (tuple, reverse), batch, out);
        }
        self.note_sprayed(id, batch);
        Some(self.sprays.hops(id))
    }

    /// The rules of one direction, where it is put in order before where it is sprayed.
    fn add_sprayed(
        &mut self,
        id: StreamId,
        key: Key,
        (tuple, reverse): (FiveTuple, bool),
        batch: &mut Commands,
        out: &mut Commands,
    ) {
        if let Some(group) = self.order_for(key, tuple.dst, out) {
            batch.add(key.1, Rule::Ordered { id, reverse, tuple, group });
        }
        if let Some((dpid, hop)) = self.sprays.hop(id, reverse) {
            batch.add(dpid, Rule::Stream { id, reverse, tuple, hop });
        }
    }

    /// What is known of a stream's way is its first path.
    fn note_sprayed(&mut self, id: StreamId, batch: &mut Commands) {
        let paths = |key: &Key| self.sprays.bundles.get(key).map(|bundle| bundle.members.as_slice());
        let Some([forward, back]) = self.sprays.of_stream.get(&id) else { return };
        let (Some(there), Some(here)) = (paths(forward), paths(back)) else { return };
        let route = there.first().zip(here.first());
        let route = route.map(|(one, two)| Route { forward: one.path.clone(), reverse: two.path.clone() });
        let paths = there.iter().map(|member| (member.path.switches().collect(), member.rate)).collect();
        self.set_route(id, route);
        if let Some(stream) = self.streams.stream(id) {
            let (transfer, tuple) = (stream.transfer, stream.tuple);
            batch.notice(Notice::StreamSprayed { id, transfer, tuple, paths });
        }
    }

    /// Has a bundle with its group; says whether it has a path.
    fn open_bundle(&mut self, now: Time, key: Key, out: &mut Commands) -> bool {
        if let Some(bundle) = self.sprays.bundles.get_mut(&key) {
            bundle.unused_since = None;
            return !bundle.members.is_empty();
        }
        let plan = self.plan_spray(now, key);
        let members = self.members(now, &plan, out);
        if members.is_empty() {
            return false;
        }
        let group = self.sprays.next_group();
        let (orders, changed_at, unused_since) = (Default::default(), now, None);
        let bundle = Bundle { group, members, plan, orders, changed_at, unused_since };
        out.push(Command::Spray { dpid: key.0, spray: bundle.spray(key.1) });
        self.sprays.bundles.insert(key, bundle);
        true
    }

    /// The paths of a plan with their labels, which are installed if they are new.
    pub(super) fn members(&mut self, now: Time, plan: &Plan, out: &mut Commands) -> Vec<Member> {
        let member = |it: &super::plan::Planned| {
            let hop = self.fabric.lease(&mut context!(self, now, out), &it.path)?;
            let back = self.fabric.lease(&mut context!(self, now, out), &it.path.reversed())?.label;
            let (path, rate, delay) = (it.path.clone(), it.rate, it.delay);
            Some(Member { path, label: hop.label, hop, back, rate, delay })
        };
        plan.paths.iter().filter_map(member).collect()
    }

    /// The group at the end of a bundle that puts in order what is for this host, if that is to be.
    fn order_for(&mut self, key: Key, host: IpAddr, out: &mut Commands) -> Option<EdgeGroup> {
        let host = self.topology.host_with_address(host).filter(|host| host.at.dpid == key.1)?;
        let (mac, port) = (host.mac, host.at.port);
        let bundle = self.sprays.bundles.get(&key)?;
        if let Some(group) = bundle.orders.get(&(mac, port)) {
            return Some(*group);
        }
        // A bundle of one path that may get others: there is nothing to put in order yet.
        let settings = bundle.plan.order(key.2.resequence);
        if key.2.resequence == Resequence::Never {
            return None;
        }
        let group = self.sprays.next_group();
        self.sprays.bundles.get_mut(&key)?.orders.insert((mac, port), group);
        out.push(Command::Order { dpid: key.1, order: Order { group, mac, port, settings } });
        Some(group)
    }

    /// Removes what puts a stream's packets in order.
    pub(in crate::brain) fn remove_ordered(&self, id: StreamId, out: &mut Commands) {
        let Some(stream) = self.streams.stream(id) else { return };
        let Some(keys) = self.sprays.of_stream.get(&id) else { return };
        for (key, reverse) in [(keys[0], false), (keys[1], true)] {
            let tuple = if reverse { stream.tuple.reversed() } else { stream.tuple };
            // The group does not count in a deletion.
            let group = EdgeGroup::after(None);
            self.delete(key.1, Rule::Ordered { id, reverse, tuple, group }, out);
        }
    }
}
