//! The headers by which a packet of TCP crosses a tunnel, and those that it has on both sides of it.

use std::net::IpAddr;

use braid_types::{MacAddr, PortNo};

use super::super::frame::Around;
use crate::action::{Act, SetField};
use crate::packets::key::{self, Key, Layout};
use crate::packets::rewrite;
use crate::packets::{Packet, fold, sum};
use crate::tunnel::Ends;

/// The source and destination ports of a TCP connection.
pub(super) type Ports = (u16, u16);

/// The time to live between edges: the default of RFC 1700.
const TTL: u8 = 64;
/// A packet that others may forward less often is kept from dying on the way by GRE, whose header has its own time to live.
const MIN_TTL: u8 = 32;
const DONT_FRAGMENT: u8 = 0x40;
const SYN: u64 = 2;
const RST: u64 = 4;

/// What is written into each packet of a connection.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Headers {
    /// The Ethernet destination.
    pub(super) dst: MacAddr,
    /// The Ethernet source.
    pub(super) src: MacAddr,
    /// The IP addresses.
    pub(super) ends: Ends,
    /// The time to live, or hop limit.
    pub(super) ttl: u8,
}

/// A packet of TCP whose headers can be rewritten.
#[derive(Clone, Copy, Debug)]
pub(super) struct Segment {
    pub(super) ports: Ports,
    pub(super) headers: Headers,
    key: Key,
    layout: Layout,
}

impl Headers {
    /// Those between the two ends of a tunnel.
    pub(super) const fn across(around: &Around) -> Self {
        Self { dst: around.dst, src: around.src, ends: around.ends, ttl: TTL }
    }
}

impl Segment {
    /// Reads a packet; `None` of what is no whole segment of TCP, or has a VLAN tag.
    pub(super) fn read(packet: &Packet) -> Option<Self> {
        let (key, layout) = key::read(PortNo(0), &packet.data);
        let (tuple, _) = key::five_tuple(&key, &layout)?;
        let network = layout.network.filter(|_| !layout.is_fragment && key.get(key::VLAN_VID) == 0)?;
        let ttl = *packet.data.get(ttl_at(network, tuple.src.is_ipv4()))?;
        let mac = |field| MacAddr::from_u64(key.get(field));
        let (dst, src) = (mac(key::ETH_DST), mac(key::ETH_SRC));
        let headers = Headers { dst, src, ends: Ends { src: tuple.src, dst: tuple.dst }, ttl };
        Some(Self { ports: (tuple.src_port, tuple.dst_port), headers, key, layout })
    }

    /// Whether routers treat it as they would treat GRE around it: its IP header is plain and valid, none fragments it, or drops it for its
    /// time to live. RST stays in GRE, as firewalls judge connections by it.
    pub(super) fn travels_well(&self, packet: &Packet) -> bool {
        let places = self.layout.network.zip(self.layout.transport);
        let header = places.and_then(|(network, transport)| packet.data.get(network..transport));
        let is_plain = header.is_some_and(|header| match self.headers.ends.src {
            IpAddr::V4(_) => {
                header.len() == 20
                    && header.get(6).is_some_and(|flags| flags & DONT_FRAGMENT != 0)
                    && fold(sum(header)) == u16::MAX
            }
            IpAddr::V6(_) => header.len() == 40,
        });
        is_plain
            && self.layout.end <= packet.data.len()
            && self.headers.ttl >= MIN_TTL
            && self.key.get(key::TCP_FLAGS) & RST == 0
    }

    /// Whether it opens its connection: it stays in GRE, as RST does.
    pub(super) const fn is_opening(&self) -> bool {
        self.key.get(key::TCP_FLAGS) & SYN != 0
    }

    /// Whether it resets its connection.
    pub(super) const fn is_reset(&self) -> bool {
        self.key.get(key::TCP_FLAGS) & RST != 0
    }

    /// Writes other headers, of the same family; checksums follow.
    pub(super) fn rewrite(&self, packet: &mut Packet, headers: &Headers) {
        packet.put_addresses(headers.dst, headers.src);
        let Ends { src, dst } = headers.ends;
        let fields = match (src, dst) {
            (IpAddr::V4(src), IpAddr::V4(dst)) => [SetField::Ipv4Src(src), SetField::Ipv4Dst(dst)],
            (IpAddr::V6(src), IpAddr::V6(dst)) => [SetField::Ipv6Src(src), SetField::Ipv6Dst(dst)],
            _ => return,
        };
        for field in fields {
            rewrite::apply(&Act::Set(field), packet, &self.key, &self.layout);
        }
        rewrite::set_ttl(packet, &self.key, &self.layout, headers.ttl);
    }
}

/// The position of the time to live, or hop limit.
const fn ttl_at(network: usize, is_v4: bool) -> usize {
    network + if is_v4 { 8 } else { 7 }
}
