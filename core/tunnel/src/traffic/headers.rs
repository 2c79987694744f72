//! What is read of a packet: its flow, its mark, and whether it is urgent by itself.

use std::net::{IpAddr, Ipv4Addr};

use etherparse::{Ipv6ExtensionSlice, LaxIpSlice};

use super::Fragment;

const TCP: u8 = 6;
const UDP: u8 = 17;
const ICMPV6: u8 = 58;
const FIN_SYN_RST: u8 = 0x07;
const SYN: u8 = 0x02;
const DNS: u16 = 53;
const SSH: u16 = 22;
/// Router and neighbour messages, as ARP for IPv6. RFC 4861.
const NEIGHBOUR_DISCOVERY: std::ops::RangeInclusive<u8> = 133..=137;
/// Longer segments of SSH and of DNS over TCP belong to copies and zones, not to somebody who waits for a key. Longer datagrams are
/// of flows that carry much.
const SMALL: usize = 512;
/// Signalling, admitted and plain voice, and network control: CS5, VOICE-ADMIT, EF, CS6, CS7. RFC 4594, RFC 5865.
const URGENT_MARKS: [u8; 5] = [40, 44, 46, 48, 56];
/// What its sender calls less than best effort: LE and CS1. RFC 8622.
const SCAVENGER_MARKS: [u8; 2] = [1, 8];

/// Addresses, protocol and ports of one direction.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) struct Flow {
    pub(super) src: IpAddr,
    pub(super) dst: IpAddr,
    /// Zeros where there are none.
    pub(super) ports: [u16; 2],
    pub(super) protocol: u8,
}

/// An IP packet, as far as it decides on paths.
pub(super) struct Headers<'a> {
    pub(super) flow: Flow,
    pub(super) dscp: u8,
    length: usize,
    /// Empty for a fragment: all of a packet's take the same paths, and only the first one has ports.
    transport: &'a [u8],
    pub(super) fragment: Option<Fragment>,
}

impl Flow {
    /// The one of all that cannot be read.
    pub(crate) const UNKNOWN: Self = {
        let address = IpAddr::V4(Ipv4Addr::UNSPECIFIED);
        Self { src: address, dst: address, ports: [0; 2], protocol: 0 }
    };
}

impl<'a> Headers<'a> {
    /// Reads what begins with an IP header; `None` if it does not.
    pub(super) fn read(packet: &'a [u8]) -> Option<Self> {
        // Where an extension header is broken, the protocol stays at that header and nothing is read beyond it.
        let (ip, _broken) = LaxIpSlice::from_slice(packet).ok()?;
        let dscp = match &ip {
            LaxIpSlice::Ipv4(it) => it.header().dcp().value(),
            LaxIpSlice::Ipv6(it) => it.header().dscp().value(),
        };
        let payload = ip.payload();
        let transport: &'a [u8] = if payload.fragmented { &[] } else { payload.payload };
        let fragment = fragment(&ip).map(|(identification, is_first)| Fragment {
            identification,
            ports: Some(payload.payload).filter(|_| is_first).and_then(|it| ports(payload.ip_number.0, it)),
        });
        let (src, dst, protocol) = (ip.source_addr(), ip.destination_addr(), payload.ip_number.0);
        let flow = Flow { src, dst, ports: [0; 2], protocol };
        let mut headers = Self { flow, dscp, length: packet.len(), transport, fragment };
        headers.flow.ports = headers.ports().unwrap_or_default();
        Some(headers)
    }

    /// The sender's and the receiver's port of TCP and UDP.
    pub(super) fn ports(&self) -> Option<[u16; 2]> {
        ports(self.flow.protocol, self.transport)
    }

    /// Whether it is short and of use at once: what somebody waits for, openings and acknowledgements, neighbours' questions.
    pub(super) fn is_urgent(&self) -> bool {
        !SCAVENGER_MARKS.contains(&self.dscp)
            && (self.is_interactive()
                || match self.flow.protocol {
                    TCP => is_control(self.transport),
                    ICMPV6 => self.transport.first().is_some_and(|kind| NEIGHBOUR_DISCOVERY.contains(kind)),
                    _ => false,
                })
    }

    /// Whether it is a long datagram, or a short one; `None` for all that is none, and for less than best effort.
    pub(super) fn is_large(&self) -> Option<bool> {
        let is_datagram = self.flow.protocol == UDP && !SCAVENGER_MARKS.contains(&self.dscp);
        is_datagram.then(|| self.length > SMALL || self.fragment.is_some())
    }

    /// Whether somebody waits for it: DNS, keys of SSH, voice.
    pub(super) fn is_interactive(&self) -> bool {
        let has = |port: u16| self.flow.ports.contains(&port);
        URGENT_MARKS.contains(&self.dscp)
            || match self.flow.protocol {
                TCP => self.length <= SMALL && self.carries_data() && (has(SSH) || has(DNS)),
                UDP => has(DNS) && !SCAVENGER_MARKS.contains(&self.dscp),
                _ => false,
            }
    }

    fn carries_data(&self) -> bool {
        self.transport.get(12).is_some_and(|offset| self.transport.len() > usize::from(offset >> 4) * 4)
    }
}

/// The ports at the beginning of TCP and UDP.
fn ports(protocol: u8, transport: &[u8]) -> Option<[u16; 2]> {
    let [a, b, c, d] = transport.first_chunk::<4>().filter(|_| [TCP, UDP].contains(&protocol))?;
    Some([u16::from_be_bytes([*a, *b]), u16::from_be_bytes([*c, *d])])
}

/// The number of the packet of which this is a fragment, and whether it is the first one.
fn fragment(ip: &LaxIpSlice<'_>) -> Option<(u32, bool)> {
    match ip {
        LaxIpSlice::Ipv4(it) => {
            let header = it.header();
            let offset = header.fragments_offset().value();
            let is_fragment = header.more_fragments() || offset > 0;
            is_fragment.then(|| (header.identification().into(), offset == 0))
        }
        LaxIpSlice::Ipv6(it) => it.extensions().clone().into_iter().find_map(|extension| match extension {
            Ipv6ExtensionSlice::Fragment(it) if it.is_fragmenting_payload() => {
                Some((it.identification(), it.fragment_offset().value() == 0))
            }
            _ => None,
        }),
    }
}

/// Whether a TCP segment opens a connection or only acknowledges.
fn is_control(segment: &[u8]) -> bool {
    let (Some(offset), Some(flags)) = (segment.get(12), segment.get(13)) else { return false };
    let is_empty = segment.len() <= usize::from(offset >> 4) * 4;
    flags & FIN_SYN_RST == SYN || is_empty && flags & FIN_SYN_RST == 0
}
