//! The path MTU cache of tunnels, filled by ICMP of routers. RFC 1191 §6, RFC 8201 §4.

use std::net::IpAddr;
use std::time::Duration;

use braid_packet::{IpNumber, TooBig};
use braid_types::Time;

use super::{Tunnel, Uplinks};
use braid_edge_protocol::Ends;

/// After this time a longer packet is tried again. RFC 1191 §6.3, RFC 8201 §4.
const CACHE_TIMEOUT: Duration = Duration::from_secs(600);
/// No ICMP lowers it further, so that IPv6 and QUIC get through: 1,280 bytes and a tag, in Ethernet, in GRE.
const MIN_MTU_V4: u32 = 1_280 + 4 + 18 + 20;
const MIN_MTU_V6: u32 = 1_280 + 4 + 18 + 40;
const ICMP: [u8; 2] = [1, 58];

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct PathMtu {
    pub(super) mtu: u32,
    pub(super) until: Time,
}

impl Uplinks {
    /// Reads a "packet too big" of a router about a tunnel over `uplink`; whether it was one.
    pub(super) fn learn_path_mtu(&mut self, now: Time, uplink: usize, frame: &[u8]) -> bool {
        let Some(said) = may_be_icmp(frame).then(|| TooBig::parse(frame)).flatten() else { return false };
        let ends = (said.src, said.dst);
        let tunnel = self.by_ends.get(&ends).and_then(|port| self.tunnels.get_mut(port));
        let is_ours = |tunnel: &&mut Tunnel| match said.proto {
            IpNumber::GRE => true,
            IpNumber::TCP => tunnel.rewriting.as_ref().zip(said.ports).is_some_and(|(it, of)| it.sends(of)),
            _ => false,
        };
        let Some(tunnel) = tunnel.filter(|tunnel| tunnel.device == uplink).filter(is_ours) else {
            return false;
        };
        let mtu = said.mtu.max(least(tunnel.ends));
        // Of two routers the one that takes less counts; and nothing was too long that was not longer.
        let is_news = said.length > said.mtu && tunnel.path_mtu.is_none_or(|known| mtu <= known.mtu);
        if is_news {
            tunnel.path_mtu = Some(PathMtu { mtu, until: now + CACHE_TIMEOUT });
            self.update_lengths();
        }
        true
    }

    pub(super) fn expire_path_mtus(&mut self, now: Time) {
        let is_over = |known: &PathMtu| known.until <= now;
        let mut any = false;
        for tunnel in self.tunnels.values_mut().filter(|it| it.path_mtu.as_ref().is_some_and(is_over)) {
            (tunnel.path_mtu, any) = (None, true);
        }
        if any {
            self.update_lengths();
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
        IpAddr::V4(_) => MIN_MTU_V4,
        IpAddr::V6(_) => MIN_MTU_V6,
    }
}
