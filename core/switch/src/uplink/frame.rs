//! Ethernet in GRE in IP: headers added to a frame, and removed.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use braid_types::MacAddr;

use crate::packets::Packet;
use crate::tunnel::{Ends, outer_header, traffic_class};

pub(super) const ETHERNET: usize = 14;
/// Flags and protocol; no checksum, key or number.
pub(super) const GRE: usize = 4;
/// Transparent Ethernet Bridging.
const FRAME: [u8; GRE] = [0, 0, 0x65, 0x58];
/// The EtherTypes for experiments of IEEE 802: what the ends of a tunnel tell each other, and parts of frames.
const NOTICE: [u8; GRE] = [0, 0, 0x88, 0xb5];
const PART: [u8; GRE] = [0, 0, 0x88, 0xb6];
const PROTOCOL: u8 = 47;
const IPV4: [u8; 2] = [0x08, 0x00];
const IPV6: [u8; 2] = [0x86, 0xdd];

/// What is put around frames of a tunnel.
#[derive(Clone, Copy, Debug)]
pub(super) struct Around {
    pub(super) ends: Ends,
    pub(super) src: MacAddr,
    pub(super) dst: MacAddr,
}

impl Around {
    /// The outer frame; `None` if what is inside is too long for one. The class of traffic is copied without the marks of congestion, which
    /// would be lost at the other end: routers drop instead. RFC 6040 §4.3.
    pub(super) fn put(&self, inner: &Packet) -> Option<Vec<u8>> {
        let class = match inner.data.get(12..ETHERNET)? {
            kind if kind == IPV4 || kind == IPV6 => traffic_class(inner.data.get(ETHERNET..)?)? & !3,
            _ => 0,
        };
        self.outer(class, FRAME, &inner.data)
    }

    /// The outer frame of a part of a frame.
    pub(super) fn put_part(&self, part: &[u8]) -> Option<Vec<u8>> {
        self.outer(0, PART, part)
    }

    /// The outer frame of a notice.
    pub(super) fn put_notice(&self, notice: &[u8]) -> Option<Vec<u8>> {
        self.outer(0, NOTICE, notice)
    }

    fn outer(&self, class: u8, header: [u8; GRE], content: &[u8]) -> Option<Vec<u8>> {
        let length = u16::try_from(GRE + content.len()).ok()?;
        let (kind, outer) = outer_header(self.ends, class, length)?;
        Some([&self.dst.octets()[..], &self.src.octets(), &kind, &outer, &header, content].concat())
    }
}

/// What came through a tunnel.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Content {
    Frame(Vec<u8>),
    Notice(Vec<u8>),
    Part(Vec<u8>),
}

/// What is in a frame that came through a tunnel, and the ends that it came between. Nothing of fragments, or of GRE of other kinds.
pub(super) fn content(packet: &Packet) -> Option<(Ends, Content)> {
    let data = packet.data.get(ETHERNET..)?;
    let (start, end) = match packet.data.get(12..ETHERNET)? {
        kind if kind == IPV4 => {
            let header = usize::from(data.first()? & 0xf) * 4;
            let fragment = u16::from_be_bytes(*data.get(6..)?.first_chunk()?) & 0x3fff;
            let is_gre =
                data.first()? >> 4 == 4 && *data.get(9)? == PROTOCOL && fragment == 0 && header >= 20;
            is_gre.then_some((header, usize::from(u16::from_be_bytes(*data.get(2..)?.first_chunk()?))))?
        }
        kind if kind == IPV6 => {
            let is_gre = data.first()? >> 4 == 6 && *data.get(6)? == PROTOCOL;
            is_gre.then_some((40, 40 + usize::from(u16::from_be_bytes(*data.get(4..)?.first_chunk()?))))?
        }
        _ => return None,
    };
    let (header, inner) = data.get(start..end)?.split_first_chunk()?;
    let (src, dst) = addresses(&packet.data)?;
    let content = match *header {
        FRAME if inner.len() >= ETHERNET => Content::Frame(inner.to_vec()),
        NOTICE => Content::Notice(inner.to_vec()),
        PART => Content::Part(inner.to_vec()),
        _ => return None,
    };
    Some((Ends { src, dst }, content))
}

/// Between whom an untagged frame's IP packet is.
pub(super) fn addresses(frame: &[u8]) -> Option<(IpAddr, IpAddr)> {
    let data = frame.get(ETHERNET..)?;
    match frame.get(12..ETHERNET)? {
        kind if kind == IPV4 => {
            let at = |place: usize| Some(Ipv4Addr::from(*data.get(place..)?.first_chunk::<4>()?));
            Some((at(12)?.into(), at(16)?.into()))
        }
        kind if kind == IPV6 => {
            let at = |place: usize| Some(Ipv6Addr::from(*data.get(place..)?.first_chunk::<16>()?));
            Some((at(8)?.into(), at(24)?.into()))
        }
        _ => None,
    }
}
