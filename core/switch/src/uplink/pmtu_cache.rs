//! What routers say of the longest packet that gets through a tunnel. RFC 1191 §6, RFC 8201 §4.

use std::net::IpAddr;
use std::time::Duration;

use braid_packet::{IpNumber, TooBig};
use braid_types::Time;

use super::Uplinks;
use braid_edge_protocol::Ends;

/// After so long it is tried again, whether more gets through. RFC 1191 §6.3, RFC 8201 §4.
const LASTS: Duration = Duration::from_secs(600);
/// Nobody can make it so short that IPv6 and QUIC would not get through: 1,280 bytes and a tag, in Ethernet, in GRE.
const LEAST_V4: u32 = 1_280 + 4 + 18 + 20;
const LEAST_V6: u32 = 1_280 + 4 + 18 + 40;
const ICMP: [u8; 2] = [1, 58];

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Learned {
    pub(super) mtu: u32,
    pub(super) until: Time,
}

impl Uplinks {
    /// Hears whether something was too long for a link on the way of a tunnel over `uplink`; whether it was about one.
    pub(super) fn learn(&mut self, now: Time, uplink: usize, frame: &[u8]) -> bool {
        let Some(said) = may_be_icmp(frame).then(|| TooBig::parse(frame)).flatten() else { return false };
        let ends = (said.src, said.dst);
        let port = self.by_ends.get(&ends).filter(|_| said.proto == IpNumber::GRE);
        let tunnel = port.and_then(|port| self.tunnels.get_mut(port));
        let Some(tunnel) = tunnel.filter(|tunnel| tunnel.device == uplink) else { return false };
        let mtu = said.mtu.max(least(tunnel.ends));
        // Of two routers the one that takes less counts; and nothing was too long that was not longer.
        let is_news = said.length > said.mtu && tunnel.learned.is_none_or(|known| mtu <= known.mtu);
        if is_news {
            tunnel.learned = Some(Learned { mtu, until: now + LASTS });
            self.room = self.least_room();
        }
        true
    }

    pub(super) fn forget(&mut self, now: Time) {
        let is_over = |learned: &Learned| learned.until <= now;
        let mut any = false;
        for tunnel in self.tunnels.values_mut().filter(|it| it.learned.as_ref().is_some_and(is_over)) {
            (tunnel.learned, any) = (None, true);
        }
        if any {
            self.room = self.least_room();
        }
    }
}

fn may_be_icmp(frame: &[u8]) -> bool {
    let proto = match frame.get(12..14) {
        Some([0x08, 0x00]) => frame.get(23),
        Some([0x86, 0xdd]) => frame.get(20),
        _ => None,
    };
    proto.is_some_and(|proto| ICMP.contains(proto))
}

const fn least(ends: Ends) -> u32 {
    match ends.src {
        IpAddr::V4(_) => LEAST_V4,
        IpAddr::V6(_) => LEAST_V6,
    }
}
