//! Packets that are too long for a port: they are cut if their senders let them be, or these are told, as by a router.

use std::time::Duration;

use braid_openflow::PortConfig;
use braid_packet::TooBig;
use braid_types::{PortNo, Time};

use super::Switch;
use super::journey::Journey;
use crate::fragment::fragments;
use crate::packet::Packet;

/// So many of those behind a port are told a second, and as many at once after a quiet one, lest strangers have the switch say
/// more than it forwards.
const ICMP_PER_SECOND: u32 = 100;

impl Switch {
    /// Sends by a port what is longer than the `mtu` bytes that it takes: in fragments, or not at all.
    pub(super) fn send_too_long(&mut self, now: Time, number: PortNo, journey: &mut Journey, mtu: usize) {
        let Some(port) = self.ports.get_mut(&number) else { return };
        let Some(parts) = fragments(&journey.packet, &journey.key, &journey.layout, mtu) else {
            port.counters.tx_dropped += 1;
            return self.tell_too_long(now, journey, mtu);
        };
        for part in parts {
            port.counters.tx_packets += 1;
            port.counters.tx_bytes += part.data.len() as u64;
            self.left.count(number, &part);
            self.sent.push((number, part));
        }
    }

    /// Tells who has sent a packet that nothing longer than `mtu` gets through, by the port by which it came; once for each packet.
    ///
    /// Hosts know no address of this switch: the message comes as if from whom the packet was for, as Linux has it from bridges
    /// over tunnels.
    fn tell_too_long(&mut self, now: Time, journey: &mut Journey, mtu: usize) {
        if !journey.is_original || !self.may_tell(now, journey.in_port) {
            return;
        }
        let mtu = u32::try_from(mtu.saturating_sub(journey.added)).unwrap_or(u32::MAX);
        let answer = journey.original().and_then(|packet| TooBig::answer(&packet.data, mtu));
        journey.is_original = false;
        let Some((frame, port)) = answer.zip(self.ports.get_mut(&journey.in_port)) else { return };
        port.counters.tx_packets += 1;
        port.counters.tx_bytes += frame.len() as u64;
        self.sent.push((journey.in_port, Packet::complete(frame)));
    }

    /// Whether hosts may be behind a port, and no other edge is, which would know nothing of an answer.
    fn may_tell(&mut self, now: Time, in_port: PortNo) -> bool {
        let mut ways = self.groups.values().filter_map(|group| group.order.as_ref()).flat_map(|it| it.ways());
        let is_path = ways.any(|(port, _)| *port == in_port);
        let Some(port) = self.ports.get_mut(&in_port).filter(|_| !is_path) else { return false };
        let is_open = port.is_live() && !port.config.contains(PortConfig::NO_FWD);
        !port.description.is_tunnel
            && is_open
            && port.icmp_limit.take(now, ICMP_PER_SECOND, Duration::from_secs(1))
    }
}
