//! Groups that put packets into tunnels, or take them out.

use braid_openflow::GroupId;
use braid_types::Time;

use super::Switch;
use super::journey::Journey;
use crate::key;
use crate::tunnel::{Numbered, Tunnel, cut_datagrams, decapsulate, encapsulate};

impl Switch {
    /// Through a group that sprays and encapsulates: all that is IP and not TCP, which has numbers of its own.
    pub(super) fn through_tunnel(&mut self, now: Time, journey: &mut Journey, id: GroupId) {
        if key::datagram_flow(&journey.key, &journey.layout).is_none() {
            return self.through_selected(now, journey, id);
        }
        let before = (!journey.last).then(|| journey.packet.clone());
        match cut_datagrams(&journey.packet, &journey.key, &journey.layout) {
            None => self.enter_tunnel(now, journey, id),
            Some(parts) => {
                for part in parts {
                    (journey.packet, journey.last) = (part, true);
                    journey.reread();
                    self.enter_tunnel(now, journey, id);
                }
                journey.last = before.is_none();
            }
        }
        if let Some(before) = before {
            (journey.packet, journey.added) = (before, 0);
            journey.reread();
        }
    }

    fn enter_tunnel(&mut self, now: Time, journey: &mut Journey, id: GroupId) {
        let Some(bucket) = self.select(now, journey, id) else { return };
        let flow = key::datagram_flow(&journey.key, &journey.layout);
        let tunnel = self.groups.get_mut(&id).and_then(|group| group.tunnel.as_deref_mut());
        if let (Some(flow), Some(Tunnel::Enters { ends, numbers })) = (flow, tunnel)
            && let Some(ends) = ends.get(bucket)
        {
            let before = journey.packet.data.len();
            if encapsulate(&mut journey.packet, &journey.layout, *ends, || numbers.next(&flow)) {
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
