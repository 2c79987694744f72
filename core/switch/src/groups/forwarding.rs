//! The decisions of groups about packets: buckets and tunnels.

use std::sync::Arc;

use braid_openflow::{GroupId, GroupType};
use braid_types::{MacAddr, PortNo, Time};

use super::group::{Bucket, Group};
use super::resequencing::{ArrivedProbe, GroupResequencer, HeldPacket};
use super::{Groups, MAX_DEPTH};
use crate::action::Act;
use crate::packets::PacketContext;
use crate::packets::key::Key;
use crate::ports::Ports;
use crate::tunnel::{Ends, Tunnel, added, encapsulate, ends_of};

/// The length of a VLAN tag.
const TAG: usize = 4;

/// The distribution of a packet to a group's buckets.
pub(crate) enum Distribution {
    /// In order, to the one bucket.
    Resequenced,
    /// A copy to each.
    All,
    /// To the only bucket.
    Indirect,
    /// To the first live one.
    FastFailover,
    /// Through a tunnel, to a selected one.
    Tunnelled,
    /// To a selected one.
    Selected,
}

impl Groups {
    /// Counts a packet for a group; returns its distribution.
    pub(crate) fn enter(&mut self, id: GroupId, bytes: u64) -> Option<Distribution> {
        let group = self.all.get_mut(&id)?;
        group.packets += 1;
        group.bytes += bytes;
        Some(match group.kind {
            _ if group.resequencer.is_some() => Distribution::Resequenced,
            GroupType::All => Distribution::All,
            GroupType::Indirect => Distribution::Indirect,
            GroupType::Ff => Distribution::FastFailover,
            _ if group.tunnel.is_some() => Distribution::Tunnelled,
            _ => Distribution::Selected,
        })
    }

    pub(crate) fn bucket_count(&self, id: GroupId) -> usize {
        self.all.get(&id).map_or(0, |group| group.buckets.len())
    }

    /// Counts a packet for a bucket; returns the bucket's actions.
    pub(crate) fn enter_bucket(&mut self, id: GroupId, bucket: usize, bytes: u64) -> Option<Arc<[Act]>> {
        let bucket = self.all.get_mut(&id)?.buckets.get_mut(bucket)?;
        bucket.packets += 1;
        bucket.bytes += bytes;
        Some(Arc::clone(&bucket.actions))
    }

    /// The first live bucket.
    pub(crate) fn first_live(&self, id: GroupId, ports: &Ports) -> Option<usize> {
        (0..self.bucket_count(id)).find(|bucket| self.is_live(id, *bucket, ports))
    }

    /// The bucket of a packet: by the scheduler, or by the hash of its flow.
    pub(crate) fn select(
        &mut self,
        now: Time,
        id: GroupId,
        context: &PacketContext,
        ports: &Ports,
    ) -> Option<usize> {
        let count = self.bucket_count(id);
        // A group has at most 64 buckets.
        let live =
            (0..count).filter(|bucket| self.is_live(id, *bucket, ports)).fold(0_u64, |all, it| all | 1 << it);
        let is_live = |bucket: &usize| live >> bucket & 1 != 0;
        let groups = self.all.len();
        let group = self.all.get_mut(&id)?;
        let bytes = u32::try_from(context.packet.data.len()).unwrap_or(u32::MAX);
        if let Some(scheduler) = &mut group.spray {
            let pick = |_| scheduler.pick(now, bytes).filter(is_live);
            let bucket = (0..count).find_map(pick).or_else(|| (0..count).find(is_live))?;
            group.probing.iter_mut().for_each(|probing| probing.note_packet(now, bucket, context, groups));
            return Some(bucket);
        }
        let weight = |bucket: usize| u64::from(group.buckets.get(bucket).map_or(0, |it| it.weight));
        let total: u64 = (0..count).filter(is_live).map(weight).sum();
        let mut place = flow_hash(&context.key).checked_rem(total)?;
        (0..count).filter(is_live).find(|bucket| match place.checked_sub(weight(*bucket)) {
            Some(left) => {
                place = left;
                false
            }
            None => true,
        })
    }

    /// Whether a bucket is live: its watched port or group is.
    pub(crate) fn is_live(&self, id: GroupId, bucket: usize, ports: &Ports) -> bool {
        self.all
            .get(&id)
            .and_then(|group| group.buckets.get(bucket))
            .is_some_and(|it| self.watches_live(it, ports, 0))
    }

    fn watches_live(&self, bucket: &Bucket, ports: &Ports, depth: u8) -> bool {
        let port = bucket.watch_port == PortNo::ANY || ports.is_live(bucket.watch_port);
        let watched = || self.all.get(&bucket.watch_group).into_iter().flat_map(|group| &group.buckets);
        let group = bucket.watch_group == GroupId::ANY
            || depth < MAX_DEPTH && watched().any(|it| self.watches_live(it, ports, depth + 1));
        port && group
    }
}

/// Resequencing and tunnels.
impl Groups {
    pub(crate) fn resequencer(&mut self, id: GroupId) -> Option<&mut GroupResequencer> {
        self.all.get_mut(&id)?.resequencer.as_deref_mut()
    }

    /// The next packet that a group releases.
    pub(crate) fn poll_released(&mut self, id: GroupId) -> Option<HeldPacket> {
        self.resequencer(id)?.poll_packet()
    }

    /// Releases packets whose hold time is over; returns the groups that held some.
    pub(crate) fn expire_held(&mut self, now: Time) -> Vec<GroupId> {
        let mut due = Vec::new();
        for (id, group) in &mut self.all {
            let resequencer = group.resequencer.as_mut();
            let is_due = |it: &&mut Box<GroupResequencer>| it.poll_timeout().is_some_and(|at| at <= now);
            if let Some(resequencer) = resequencer.filter(is_due) {
                resequencer.handle_timeout(now);
                due.push(*id);
            }
        }
        due
    }

    /// Notes a probe that arrived by a path of data; returns the groups that release packets.
    pub(crate) fn note_probe(
        &mut self,
        now: Time,
        path: (PortNo, MacAddr),
        probe: &ArrivedProbe,
    ) -> Vec<GroupId> {
        let resequencers =
            self.all.iter_mut().filter_map(|(id, group)| Some((*id, group.resequencer.as_mut()?)));
        resequencers.filter_map(|(id, it)| it.note_probe(now, path, probe).then_some(id)).collect()
    }

    pub(crate) fn has_tunnel(&self, id: GroupId) -> bool {
        self.all.get(&id).is_some_and(|group| group.tunnel.is_some())
    }

    /// Whether a group takes this packet out of a tunnel.
    pub(crate) fn decapsulates(&self, id: GroupId, context: &PacketContext) -> bool {
        let tunnel = self.all.get(&id).and_then(|group| group.tunnel.as_deref());
        tunnel.is_some_and(|tunnel| {
            ends_of(&context.packet, &context.layout).is_some_and(|outer| tunnel.takes(outer))
        })
    }

    /// Encapsulates a packet of `flow` for a bucket, if the group does so.
    pub(crate) fn encapsulate(
        &mut self,
        id: GroupId,
        bucket: usize,
        flow: &Key,
        context: &mut PacketContext,
    ) {
        let tunnel = self.all.get_mut(&id).and_then(|group| group.tunnel.as_deref_mut());
        if let Some(Tunnel::Enters { ends, numbers }) = tunnel
            && let Some(ends) = ends.get(bucket)
        {
            let before = context.packet.data.len();
            if encapsulate(&mut context.packet, &context.layout, *ends, || numbers.next(flow)) {
                context.added = context.packet.data.len().saturating_sub(before);
                context.reread();
            }
        }
    }

    /// The greatest length of a packet that enters a group's tunnel, for any bucket; `None` without a limit.
    pub(crate) fn tunnel_mtu(&self, id: GroupId, network: usize, ports: &Ports) -> Option<usize> {
        let group = self.all.get(&id)?;
        let Some(Tunnel::Enters { ends, .. }) = group.tunnel.as_deref() else { return None };
        let mtu = |(bucket, ends): (&Bucket, &Ends)| {
            Some(self.least_mtu(&bucket.actions, network, ports, 1)?.saturating_sub(added(*ends)))
        };
        group.buckets.iter().zip(ends).filter_map(mtu).min()
    }

    /// The least MTU of the ports that actions lead to; `None` without a limit.
    fn least_mtu(&self, acts: &[Act], mut network: usize, ports: &Ports, depth: u8) -> Option<usize> {
        let mut least = None;
        for act in acts {
            let mtu = match act {
                Act::Output { port, .. } => ports.mtu(*port, network),
                Act::Group(group) if depth < MAX_DEPTH => {
                    let buckets = self.all.get(group).into_iter().flat_map(|group: &Group| &group.buckets);
                    buckets.filter_map(|it| self.least_mtu(&it.actions, network, ports, depth + 1)).min()
                }
                Act::PushVlan(_) => {
                    network += TAG;
                    None
                }
                _ => None,
            };
            least = least.into_iter().chain(mtu).min();
        }
        least
    }
}

/// A hash that is the same for all packets of a flow.
fn flow_hash(key: &Key) -> u64 {
    let words = [key.0[1], key.0[2], key.0[3] & 0xffff_ffff, key.0[4], key.0[5], key.0[6], key.0[7]];
    words.iter().fold(0x9e37_79b9_7f4a_7c15, |hash: u64, word| {
        let product = u128::from(hash ^ word).wrapping_mul(0xa076_1d64_78bd_642f_u128);
        (product as u64) ^ (product >> 64) as u64
    })
}
