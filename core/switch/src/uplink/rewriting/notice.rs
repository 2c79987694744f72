//! What the two ends of a tunnel tell each other about rewriting, in GRE with an EtherType for experiments (0x88b5).
//!
//! | notice | bytes after the version and the kind |
//! |---|---|
//! | hello | none |
//! | welcome | 1 if its sender rewrites nothing for now, else 0 |
//! | offer | ports, number, sent, Ethernet destination and source, time to live, 4 or 6, IP addresses |
//! | acceptance | ports, number, sent, arrived |
//! | refusal | ports |

use std::net::IpAddr;

use braid_types::MacAddr;

use super::headers::{Headers, Ports};
use crate::tunnel::Ends;

const VERSION: u8 = 1;
/// The families of addresses.
const V4: u8 = 4;
const V6: u8 = 6;

/// A notice from one end of a tunnel to the other.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Notice {
    /// The sender rewrites; does the other end?
    Hello,
    /// It does.
    Welcome {
        /// Whether nothing that it rewrites arrives, so that it rewrites nothing for now.
        is_paused: bool,
    },
    /// A connection whose packets the sender would like to rewrite.
    Offer(Offered),
    /// The sender of this knows the headers of an offer.
    Acceptance {
        ports: Ports,
        /// The offer's.
        number: u32,
        /// The packets that were sent before the offer.
        sent: u32,
        /// The packets of the connection that have arrived.
        arrived: u32,
    },
    /// A packet of an unknown connection has arrived.
    Refusal(Ports),
}

/// An offer.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Offered {
    pub(super) ports: Ports,
    /// Tells the offers of successive connections with the same ports apart.
    pub(super) number: u32,
    /// The packets that were rewritten so far.
    pub(super) sent: u32,
    /// What the packets have outside the tunnel.
    pub(super) headers: Headers,
}

impl Notice {
    /// Its bytes.
    pub(super) fn encode(&self) -> Vec<u8> {
        let mut out = vec![VERSION, self.kind()];
        match self {
            Self::Hello => {}
            Self::Welcome { is_paused } => out.push(u8::from(*is_paused)),
            Self::Offer(Offered { ports, number, sent, headers }) => {
                put_ports(&mut out, *ports);
                out.extend([*number, *sent].map(u32::to_be_bytes).as_flattened());
                out.extend([headers.dst.octets(), headers.src.octets()].as_flattened());
                out.extend([headers.ttl, if headers.ends.src.is_ipv4() { V4 } else { V6 }]);
                [headers.ends.src, headers.ends.dst].iter().for_each(|it| put_address(&mut out, it));
            }
            Self::Acceptance { ports, number, sent, arrived } => {
                put_ports(&mut out, *ports);
                out.extend([*number, *sent, *arrived].map(u32::to_be_bytes).as_flattened());
            }
            Self::Refusal(ports) => put_ports(&mut out, *ports),
        }
        out
    }

    const fn kind(&self) -> u8 {
        match self {
            Self::Hello => 0,
            Self::Welcome { .. } => 1,
            Self::Offer(_) => 2,
            Self::Acceptance { .. } => 3,
            Self::Refusal(_) => 4,
        }
    }

    /// Reads a notice; `None` of anything else. What follows it is padding.
    pub(super) fn decode(bytes: &[u8]) -> Option<Self> {
        let mut reader = Reader(bytes);
        let [version, kind] = reader.take()?;
        match (version, kind) {
            (VERSION, 0) => Some(Self::Hello),
            (VERSION, 1) => reader.take().map(|[paused]| Self::Welcome { is_paused: paused != 0 }),
            (VERSION, 2) => Some(Self::Offer(reader.offered()?)),
            (VERSION, 3) => Some(Self::Acceptance {
                ports: reader.ports()?,
                number: reader.u32()?,
                sent: reader.u32()?,
                arrived: reader.u32()?,
            }),
            (VERSION, 4) => Some(Self::Refusal(reader.ports()?)),
            _ => None,
        }
    }
}

fn put_ports(out: &mut Vec<u8>, (src, dst): Ports) {
    out.extend([src, dst].map(u16::to_be_bytes).as_flattened());
}

fn put_address(out: &mut Vec<u8>, address: &IpAddr) {
    match address {
        IpAddr::V4(address) => out.extend(address.octets()),
        IpAddr::V6(address) => out.extend(address.octets()),
    }
}

struct Reader<'a>(&'a [u8]);

impl Reader<'_> {
    fn take<const N: usize>(&mut self) -> Option<[u8; N]> {
        let (taken, rest) = self.0.split_first_chunk()?;
        self.0 = rest;
        Some(*taken)
    }

    fn u32(&mut self) -> Option<u32> {
        self.take().map(u32::from_be_bytes)
    }

    fn ports(&mut self) -> Option<Ports> {
        Some((u16::from_be_bytes(self.take()?), u16::from_be_bytes(self.take()?)))
    }

    fn offered(&mut self) -> Option<Offered> {
        let (ports, number, sent) = (self.ports()?, self.u32()?, self.u32()?);
        let (dst, src) = (MacAddr::new(self.take()?), MacAddr::new(self.take()?));
        let [ttl, family] = self.take()?;
        let headers = Headers { dst, src, ends: self.ends(family)?, ttl };
        Some(Offered { ports, number, sent, headers })
    }

    fn ends(&mut self, family: u8) -> Option<Ends> {
        let mut address = || match family {
            V4 => Some(IpAddr::from(self.take::<4>()?)),
            V6 => Some(IpAddr::from(self.take::<16>()?)),
            _ => None,
        };
        Some(Ends { src: address()?, dst: address()? })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all() -> Vec<Notice> {
        let (ports, number, sent, arrived) = ((0x1234, 443), 0x0102_0304, 77, u32::MAX);
        let offer = |src: &str, dst: &str| {
            let ends = Ends { src: src.parse().unwrap(), dst: dst.parse().unwrap() };
            let (dst, src) = (MacAddr::new([2, 1, 2, 3, 4, 5]), MacAddr::new([2, 9, 8, 7, 6, 5]));
            Notice::Offer(Offered { ports, number, sent, headers: Headers { dst, src, ends, ttl: 63 } })
        };
        vec![
            Notice::Hello,
            Notice::Welcome { is_paused: false },
            Notice::Welcome { is_paused: true },
            offer("10.9.0.1", "10.9.0.2"),
            offer("fd00::1", "fd00::2"),
            Notice::Acceptance { ports, number, sent, arrived },
            Notice::Refusal(ports),
        ]
    }

    #[test]
    fn a_notice_is_read_as_it_was_written_and_no_part_of_it_is_one() {
        for notice in all() {
            let bytes = notice.encode();
            assert_eq!(Notice::decode(&bytes), Some(notice));
            assert!((0..bytes.len()).all(|length| Notice::decode(&bytes[..length]).is_none()), "{notice:?}");
        }
    }

    #[test]
    fn other_versions_and_kinds_are_not_read() {
        let bytes = Notice::Hello.encode();
        assert_eq!([[2, 0], [1, 5]].map(|other| Notice::decode(&other)), [None; 2]);
        assert_eq!(Notice::decode(&[&bytes[..], &[0; 44]].concat()), Some(Notice::Hello), "padding");
    }
}
