//! Streams join bundles.

use braid_types::SwitchPair;
use std::net::IpAddr;

use braid_planner::{SprayMember, SprayPlan};
use braid_steering::{Resequence, StreamId};

use super::{
    Bundle, BundleKey, Direction, Member, Spray, SprayPolicy, SprayRequest, SprayedStream, StreamBundles,
};
use crate::command::{Command, Commands};
use crate::context::Context;
use crate::fabric::{Fabric, Hops};
use crate::notice::Notice;
use crate::pipeline::{EdgeGroup, Resequencer, Rule};

impl Spray {
    /// Whether two switches are edges with a set of paths that packets can be sprayed over.
    pub(crate) fn is_possible(&self, cx: &Context<'_>, ends: SwitchPair, policy: SprayPolicy) -> bool {
        if !self.edges.contains(&ends.src) || !self.edges.contains(&ends.dst) {
            return false;
        }
        BundleKey::both(ends, policy).into_iter().any(|key| match self.bundles.get(&key) {
            Some(bundle) => bundle.members.len() > 1,
            None => self.plan(cx, key).is_multipath(),
        })
    }

    /// Places both directions of a stream on bundles and adds its rules to `batch`; returns the first hops that they need.
    ///
    /// `None` if no set of paths is suitable or allowed; then the stream should take a single path for now.
    pub(crate) fn place(
        &mut self,
        cx: &mut Context<'_>,
        fabric: &mut Fabric,
        request: SprayRequest,
        batch: &mut Commands,
    ) -> Option<Hops> {
        let SprayRequest { id, transfer, tuple, ends, policy, is_allowed } = request;
        let keys = BundleKey::both(ends, policy);
        self.forget(id);
        let is_possible = is_allowed && self.is_possible(cx, ends, policy);
        if !is_possible || !keys.iter().all(|key| self.open_bundle(cx, fabric, *key)) {
            self.single.insert(id, request);
            return None;
        }
        let stream = SprayedStream { keys, transfer, tuple };
        self.streams.insert(id, stream);
        stream.directions(id).into_iter().for_each(|direction| self.add_rules(cx, direction, batch));
        self.note_placed(id, batch);
        self.stream(id).map(StreamBundles::hops)
    }

    /// A stream that another controller left on a single path is to be sprayed once paths are suitable.
    pub(crate) fn await_paths(&mut self, request: SprayRequest) {
        self.single.insert(request.id, request);
    }

    /// A stream is not sprayed any more: its resequencing rules are removed.
    pub(crate) fn leave(&mut self, cx: &mut Context<'_>, id: StreamId) {
        let Some(stream) = self.forget(id) else { return };
        for Direction { id, key, tuple, reverse } in stream.directions(id) {
            // The group does not count in a deletion.
            let group = EdgeGroup::after(None);
            cx.delete(key.ends.dst, Rule::Resequence { id, reverse, tuple, group });
        }
    }

    fn forget(&mut self, id: StreamId) -> Option<SprayedStream> {
        self.single.remove(&id);
        self.streams.remove(&id)
    }

    /// Adds the rules of one direction: the resequencing rule before the spraying rule.
    fn add_rules(&mut self, cx: &mut Context<'_>, direction: Direction, batch: &mut Commands) {
        let Direction { id, key, tuple, reverse } = direction;
        if let Some(group) = self.resequencer_for(cx, key, tuple.dst) {
            batch.add(key.ends.dst, Rule::Resequence { id, reverse, tuple, group });
        }
        if let Some((dpid, hop)) = self.stream(id).map(|bundles| bundles.hop(reverse)) {
            batch.add(dpid, Rule::Stream { id, reverse, tuple, hop });
        }
    }

    fn note_placed(&self, id: StreamId, batch: &mut Commands) {
        let Some(SprayedStream { keys: [forward, _], transfer, tuple }) = self.streams.get(&id) else {
            return;
        };
        let members = self.bundles.get(forward).map(|bundle| bundle.members.as_slice()).unwrap_or_default();
        let paths = members.iter().map(|member| (member.path.switches().collect(), member.rate)).collect();
        batch.notice(Notice::StreamSprayed { id, transfer: *transfer, tuple: *tuple, paths });
    }

    /// Creates a bundle with its group if there is none; returns whether it has a path.
    fn open_bundle(&mut self, cx: &mut Context<'_>, fabric: &mut Fabric, key: BundleKey) -> bool {
        if let Some(bundle) = self.bundles.get_mut(&key) {
            bundle.unused_since = None;
            return !bundle.members.is_empty();
        }
        let plan = self.plan(cx, key);
        let members = members(cx, fabric, &plan);
        if members.is_empty() {
            return false;
        }
        let group = self.next_group();
        let (resequencers, changed_at, unused_since) = (Default::default(), cx.now, None);
        let mut bundle = Bundle { group, members: Vec::new(), plan, resequencers, changed_at, unused_since };
        bundle.set_members(fabric, members);
        cx.out.push(Command::Spray { dpid: key.ends.src, spray: bundle.spray(key.ends.dst) });
        self.bundles.insert(key, bundle);
        true
    }

    /// The group at the end of a bundle that resequences the traffic of this host, if the policy asks for it.
    fn resequencer_for(&mut self, cx: &mut Context<'_>, key: BundleKey, host: IpAddr) -> Option<EdgeGroup> {
        let host = cx.topology.host_with_address(host).filter(|host| host.at.dpid == key.ends.dst)?;
        let (mac, port) = (host.mac, host.at.port);
        let bundle = self.bundles.get(&key)?;
        if let Some(group) = bundle.resequencers.get(&(mac, port)) {
            return Some(*group);
        }
        // A bundle of one path may get others later, but needs no resequencing yet.
        let settings = bundle.plan.resequencing(key.policy.resequence);
        if key.policy.resequence == Resequence::Never {
            return None;
        }
        let group = self.next_group();
        self.bundles.get_mut(&key)?.resequencers.insert((mac, port), group);
        cx.out.push(Command::Resequence {
            dpid: key.ends.dst,
            resequencer: Resequencer { group, mac, port, settings },
        });
        Some(group)
    }
}

/// The paths of a plan with their labels, which are installed if they are new.
pub(super) fn members(cx: &mut Context<'_>, fabric: &mut Fabric, plan: &SprayPlan) -> Vec<Member> {
    let member = |it: &SprayMember| {
        let hop = fabric.open(cx, &it.path)?;
        let back = fabric.open(cx, &it.path.reversed())?.label;
        let (path, rate, delay) = (it.path.clone(), it.rate, it.delay);
        Some(Member { path, label: hop.label, hop, back, rate, delay })
    };
    plan.members.iter().filter_map(member).collect()
}
