//! Packets that are too long for a port: their senders are told, as by a router.

use std::time::Duration;

use braid_packet::TooBig;
use braid_types::Time;

use super::Switch;
use super::pipeline::Journey;
use crate::packet::Packet;

/// So many are told in so long, so that nobody can have the switch say more than it forwards.
const MOST: u32 = 100;
const EACH: Duration = Duration::from_secs(1);

/// Who may still be told.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Allowance {
    since: Time,
    told: u32,
}

impl Allowance {
    fn take(&mut self, now: Time) -> bool {
        if now.since(self.since) >= EACH {
            *self = Self { since: now, told: 0 };
        }
        self.told += 1;
        self.told <= MOST
    }
}

impl Switch {
    /// Tells who has sent a packet that nothing longer than `mtu` gets through, by the port by which it came.
    ///
    /// Hosts know no address of this switch: the message comes as if from whom the packet was for, as Linux has it from bridges
    /// over tunnels.
    pub(super) fn tell_too_long(&mut self, now: Time, journey: &Journey, mtu: usize) {
        let Some((in_port, packet)) = journey.original() else { return };
        let is_host_side = |port: &crate::port::SwitchPort| !port.description.is_tunnel && port.is_live();
        let Some(port) = self.ports.get_mut(&in_port).filter(|port| is_host_side(port)) else { return };
        let mtu = u32::try_from(mtu.saturating_sub(journey.added)).unwrap_or(u32::MAX);
        let Some(frame) = TooBig::answer(&packet.data, mtu).filter(|_| self.allowance.take(now)) else {
            return;
        };
        port.counters.tx_packets += 1;
        port.counters.tx_bytes += frame.len() as u64;
        self.sent.push((in_port, Packet::complete(frame)));
    }
}
