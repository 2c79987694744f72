//! Groups that put packets into tunnels, or take them out.

use braid_openflow::GroupId;
use braid_types::Time;

use super::Switch;
use super::journey::Journey;
use super::pipeline::DEPTH;
use crate::action::Act;
use crate::fragment::fragments;
use crate::group::Bucket;
use crate::key::{self, Key};
use crate::packet::Packet;
use crate::tunnel::{Ends, Numbered, Tunnel, added, cut_datagrams, decapsulate, encapsulate};

/// How long a VLAN tag is.
const TAG: usize = 4;

impl Switch {
    /// Through a group that sprays and encapsulates: all that is IP and not TCP, which has numbers of its own.
    pub(super) fn through_tunnel(&mut self, now: Time, journey: &mut Journey, id: GroupId) {
        let Some(flow) = key::datagram_flow(&journey.key, &journey.layout) else {
            return self.through_selected(now, journey, id);
        };
        let before = (!journey.last).then(|| journey.packet.clone());
        match self.cut(journey, id) {
            None => self.enter_tunnel(now, journey, id, &flow),
            Some(parts) => {
                for part in parts {
                    (journey.packet, journey.last) = (part, true);
                    journey.reread();
                    self.enter_tunnel(now, journey, id, &flow);
                }
                journey.last = before.is_none();
            }
        }
        if let Some(before) = before {
            (journey.packet, journey.added) = (before, 0);
            journey.reread();
        }
    }

    /// The datagrams of a super-frame, and the fragments of what would be too long for some path; `None` if it enters as it is.
    fn cut(&self, journey: &Journey, id: GroupId) -> Option<Vec<Packet>> {
        let Journey { packet, key, layout, .. } = journey;
        let room = self.room(id, layout.network?).filter(|room| journey.length() > *room);
        let cut = room.and_then(|room| fragments(packet, key, layout, room));
        cut.or_else(|| cut_datagrams(packet, key, layout))
    }

    /// How long a packet may be that is to enter, whichever bucket it goes through; `None` if any may.
    fn room(&self, id: GroupId, network: usize) -> Option<usize> {
        let group = self.groups.get(&id)?;
        let Some(Tunnel::Enters { ends, .. }) = group.tunnel.as_deref() else { return None };
        let room = |(bucket, ends): (&Bucket, &Ends)| {
            Some(self.least_mtu(&bucket.actions, network, 1)?.saturating_sub(added(*ends)))
        };
        group.buckets.iter().zip(ends).filter_map(room).min()
    }

    /// The least that ports take to which these actions lead; `None` if there is no limit.
    fn least_mtu(&self, acts: &[Act], mut network: usize, depth: u8) -> Option<usize> {
        let mut least = None;
        for act in acts {
            let mtu = match act {
                Act::Output { port, .. } => self.ports.get(port).and_then(|port| port.mtu(network)),
                Act::Group(group) if depth < DEPTH => {
                    let buckets = self.groups.get(group).into_iter().flat_map(|group| &group.buckets);
                    buckets.filter_map(|it| self.least_mtu(&it.actions, network, depth + 1)).min()
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

    fn enter_tunnel(&mut self, now: Time, journey: &mut Journey, id: GroupId, flow: &Key) {
        let Some(bucket) = self.select(now, journey, id) else { return };
        let tunnel = self.groups.get_mut(&id).and_then(|group| group.tunnel.as_deref_mut());
        if let Some(Tunnel::Enters { ends, numbers }) = tunnel
            && let Some(ends) = ends.get(bucket)
        {
            let before = journey.packet.data.len();
            if encapsulate(&mut journey.packet, &journey.layout, *ends, || numbers.next(flow)) {
                journey.added = journey.packet.data.len().saturating_sub(before);
                journey.reread();
            }
        }
        self.through_bucket(now, journey, id, bucket);
    }

    /// Takes a packet out of its tunnel, if the group does that and it is in one.
    pub(super) fn leave_tunnel(&self, journey: &mut Journey, id: GroupId) -> Option<Numbered> {
        let leaves = matches!(self.groups.get(&id)?.tunnel.as_deref(), Some(Tunnel::Leaves));
        let numbered = leaves.then(|| decapsulate(&mut journey.packet, &journey.key, &journey.layout))??;
        journey.is_original = false;
        journey.reread();
        Some(numbered)
    }
}
