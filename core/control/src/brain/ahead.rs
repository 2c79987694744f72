//! Looking ahead at packets that have come together.
//!
//! What a packet asks for, its hosts and the route to one of them, is anywhere in memory, and to wait for it is most of what
//! a packet costs where there are many. The questions of packets in a row do not depend on each other, so that memory is
//! fetched for all at once if they are asked before the first one is answered.

use std::hint::black_box;
use std::net::IpAddr;

use braid_openflow::{PacketIn, frames};
use braid_packet::ip_addresses;

use super::Brain;

impl Brain {
    /// Fetches what the packets in some messages of a switch will ask for. Changes nothing.
    pub fn look_ahead(&self, messages: &[u8]) {
        let messages = frames(messages).map_while(Result::ok);
        let packets = messages.filter_map(|message| ip_addresses(PacketIn::frame_of(message.bytes)?));
        black_box(packets.filter(|ends| self.is_ready(*ends)).count());
    }

    /// Whether a packet can be answered without anything that is not known yet.
    fn is_ready(&self, [src, dst]: [IpAddr; 2]) -> bool {
        let host = |ip| self.topology.host_with_address(ip);
        let spoke_last = host(src).is_some_and(|host| host.addresses.last() == Some(&src));
        let at = host(dst).map(|host| host.at.dpid);
        let routed = at.is_some_and(|at| self.routing.rule((dst, at)).is_some());
        spoke_last & routed
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use crate::brain::Brain;
    use crate::settings::Settings;

    proptest! {
        #[test]
        fn whatever_lies_ahead_is_harmless(
            mut bytes in prop::collection::vec(any::<u8>(), 0..300),
            length in 0..80_u8,
        ) {
            // Of packet-ins mostly, the first of them at least.
            for (at, byte) in [(0, 4), (1, 10), (2, 0), (3, length), (26, 0), (27, 12), (52, 0x86), (53, 0xdd)] {
                bytes.get_mut(at).into_iter().for_each(|it| *it = byte);
            }
            Brain::new(Settings::default()).look_ahead(&bytes);
        }
    }
}
