//! The match key of a packet, as words: a match is a mask and a value of them.

use braid_openflow::VlanVid;
use braid_packet::TcpOptions;
use braid_spray::{Segment, SeqNo};
use braid_types::{FiveTuple, PortNo};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use super::numbers::{ARP, IPV4, IPV6, TCP};
use crate::tunnel::Numbered;

pub(crate) const WORDS: usize = 13;

/// A packet's fields, or a mask of them.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub(crate) struct Key(pub(crate) [u64; WORDS]);

/// The position of a field: its word, its lowest bit and its width.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Field {
    word: usize,
    shift: u32,
    bits: u32,
}

macro_rules! fields {
    ($($name:ident: $word:literal, $shift:literal, $bits:literal;)*) => {
        $(pub(crate) const $name: Field = Field { word: $word, shift: $shift, bits: $bits };)*
    };
}

fields! {
    IN_PORT: 0, 0, 32;
    ETH_TYPE: 0, 32, 16;
    VLAN_VID: 0, 48, 16;
    ETH_DST: 1, 0, 48;
    VLAN_PCP: 1, 48, 8;
    IP_PROTO: 1, 56, 8;
    ETH_SRC: 2, 0, 48;
    IP_DSCP: 2, 48, 8;
    IP_ECN: 2, 56, 8;
    SRC_PORT: 3, 0, 16;
    DST_PORT: 3, 16, 16;
    TCP_FLAGS: 3, 32, 16;
    ICMP_TYPE: 3, 48, 8;
    ICMP_CODE: 3, 56, 8;
    METADATA: 8, 0, 64;
    ARP_OP: 9, 0, 16;
    ARP_SHA: 9, 16, 48;
    ARP_THA: 10, 0, 48;
}

/// The first of the two words of an address; an IPv4 address is in the low half of the second.
pub(crate) const SRC_IP: usize = 4;
pub(crate) const DST_IP: usize = 6;
pub(crate) const ND_TARGET: usize = 11;

impl Field {
    const fn ones(self) -> u64 {
        u64::MAX >> (64 - self.bits)
    }
}

impl Key {
    pub(crate) const fn get(&self, field: Field) -> u64 {
        self.0[field.word] >> field.shift & field.ones()
    }

    pub(crate) const fn set(&mut self, field: Field, value: u64) {
        let place = field.ones() << field.shift;
        self.0[field.word] = self.0[field.word] & !place | value << field.shift & place;
    }

    pub(crate) const fn set_wide(&mut self, word: usize, value: u128) {
        self.0[word] = (value >> 64) as u64;
        self.0[word + 1] = value as u64;
    }

    const fn wide(&self, word: usize) -> u128 {
        (self.0[word] as u128) << 64 | self.0[word + 1] as u128
    }

    pub(crate) fn masked(&self, mask: &Self) -> Self {
        let mut words = self.0;
        words.iter_mut().zip(&mask.0).for_each(|(word, mask)| *word &= mask);
        Self(words)
    }

    /// The union of two masks.
    pub(crate) fn joined(&self, other: &Self) -> Self {
        let mut words = self.0;
        words.iter_mut().zip(&other.0).for_each(|(word, other)| *word |= other);
        Self(words)
    }

    /// Whether some packet matches both this with `mask` and `other` with `other_mask`.
    pub(crate) fn overlaps(&self, mask: &Self, other: &Self, other_mask: &Self) -> bool {
        let both = mask.masked(other_mask);
        self.masked(&both) == other.masked(&both)
    }

    /// Whether `wider` with `wider_mask` matches everything that this matches with `mask`.
    pub(crate) fn is_within(&self, mask: &Self, wider: &Self, wider_mask: &Self) -> bool {
        mask.masked(wider_mask) == *wider_mask && self.masked(wider_mask) == wider.masked(wider_mask)
    }

    pub(crate) fn address(&self, word: usize) -> IpAddr {
        match self.get(ETH_TYPE) {
            IPV6 => Ipv6Addr::from_bits(self.wide(word)).into(),
            _ => Ipv4Addr::from_bits(self.0[word + 1] as u32).into(),
        }
    }
}

/// The positions of a frame's headers, as far as they are complete.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct Layout {
    /// The IP header.
    pub(crate) network: Option<usize>,
    /// The header after it; a first fragment has one too.
    pub(crate) transport: Option<usize>,
    /// The end of the packet according to IP.
    pub(crate) end: usize,
    /// Whether it is a fragment.
    pub(crate) is_fragment: bool,
    /// The segment of a complete TCP header.
    pub(crate) segment: Option<Segment>,
}

const TAGS: [u16; 2] = [0x8100, 0x88a8];
const TIMESTAMP: u8 = 8;
/// Two options that do nothing, then the timestamp's kind and length.
const TIMESTAMP_FIRST: u32 = 0x0101_080a;

/// Parses a frame. Truncated or malformed headers count as absent.
pub(crate) fn read(in_port: PortNo, data: &[u8]) -> (Key, Layout) {
    let mut reader = KeyReader { key: Key::default(), layout: Layout::default(), data };
    reader.key.set(IN_PORT, in_port.0.into());
    reader.ethernet();
    (reader.key, reader.layout)
}

/// The TCP connection and segment, if it is TCP.
pub(crate) fn five_tuple(key: &Key, layout: &Layout) -> Option<(FiveTuple, Segment)> {
    let segment = layout.segment?;
    let (src, dst) = (key.address(SRC_IP), key.address(DST_IP));
    let port = |field| key.get(field) as u16;
    Some((FiveTuple { src, dst, src_port: port(SRC_PORT), dst_port: port(DST_PORT) }, segment))
}

/// The flow of other IP packets: addresses, protocol and ports. `None` for TCP, and for other protocols than IP.
pub(crate) fn datagram_flow(key: &Key, layout: &Layout) -> Option<Key> {
    layout.network.filter(|_| key.get(IP_PROTO) != TCP)?;
    let mut flow = Key::default();
    // Only the first fragment has ports, but all belong to one flow.
    let ports = [SRC_PORT, DST_PORT].into_iter().filter(|_| !layout.is_fragment);
    for field in [ETH_TYPE, IP_PROTO].into_iter().chain(ports) {
        flow.set(field, key.get(field));
    }
    for word in [SRC_IP, SRC_IP + 1, DST_IP, DST_IP + 1] {
        flow.0[word] = key.0[word];
    }
    Some(flow)
}

/// The flow of a decapsulated packet, with its inner addresses.
pub(crate) fn numbered_flow(key: &Key, numbered: Numbered) -> (FiveTuple, Segment) {
    let (src, dst) = (key.address(SRC_IP), key.address(DST_IP));
    let (src_port, dst_port) = ((numbered.key >> 16) as u16, numbered.key as u16);
    let segment = Segment { seq: SeqNo(numbered.number), payload: 1, ..Segment::default() };
    (FiveTuple { src, dst, src_port, dst_port }, segment)
}

struct KeyReader<'a> {
    key: Key,
    layout: Layout,
    data: &'a [u8],
}

impl KeyReader<'_> {
    fn array<const N: usize>(&self, at: usize) -> Option<[u8; N]> {
        self.data.get(at..at.checked_add(N)?)?.try_into().ok()
    }

    fn u8(&self, at: usize) -> Option<u8> {
        self.data.get(at).copied()
    }

    fn u16(&self, at: usize) -> Option<u16> {
        self.array(at).map(u16::from_be_bytes)
    }

    fn u32(&self, at: usize) -> Option<u32> {
        self.array(at).map(u32::from_be_bytes)
    }

    fn mac(&self, at: usize) -> Option<u64> {
        let [a, b, c, d, e, f] = self.array(at)?;
        Some(u64::from_be_bytes([0, 0, a, b, c, d, e, f]))
    }

    fn ethernet(&mut self) -> Option<()> {
        self.key.set(ETH_DST, self.mac(0)?);
        self.key.set(ETH_SRC, self.mac(6)?);
        let (mut at, mut kind) = (14, self.u16(12)?);
        if TAGS.contains(&kind) {
            let control = self.u16(at)?;
            self.key.set(VLAN_VID, (VlanVid::PRESENT.0 | control & 0xfff).into());
            self.key.set(VLAN_PCP, (control >> 13).into());
            kind = self.u16(at + 2)?;
            at += 4;
        }
        self.key.set(ETH_TYPE, kind.into());
        match u64::from(kind) {
            IPV4 => self.ipv4(at),
            IPV6 => self.ipv6(at),
            ARP => self.arp(at),
            _ => None,
        }
    }

    fn arp(&mut self, at: usize) -> Option<()> {
        self.key.set(ARP_OP, self.u16(at + 6)?.into());
        self.key.set(ARP_SHA, self.mac(at + 8)?);
        self.key.set_wide(SRC_IP, self.u32(at + 14)?.into());
        self.key.set(ARP_THA, self.mac(at + 18)?);
        self.key.set_wide(DST_IP, self.u32(at + 24)?.into());
        Some(())
    }

    fn ipv4(&mut self, at: usize) -> Option<()> {
        let (version, length) = (self.u8(at)? >> 4, usize::from(self.u8(at)? & 0xf) * 4);
        let (destination, total) = (self.u32(at + 16)?, usize::from(self.u16(at + 2)?));
        if version != 4 || length < 20 || total < length {
            return None;
        }
        self.layout.network = Some(at);
        self.layout.end = at + total;
        self.class(self.u8(at + 1)?);
        self.key.set_wide(SRC_IP, self.u32(at + 12)?.into());
        self.key.set_wide(DST_IP, destination.into());
        let fragment = self.u16(at + 6)?;
        self.transport(at + length, self.u8(at + 9)?, fragment & 0x3fff != 0, fragment & 0x1fff != 0)
    }

    fn ipv6(&mut self, at: usize) -> Option<()> {
        let destination = u128::from_be_bytes(self.array(at + 24)?);
        if self.u8(at)? >> 4 != 6 {
            return None;
        }
        self.layout.network = Some(at);
        self.layout.end = at + 40 + usize::from(self.u16(at + 4)?);
        self.class((self.u16(at)? >> 4) as u8);
        self.key.set_wide(SRC_IP, u128::from_be_bytes(self.array(at + 8)?));
        self.key.set_wide(DST_IP, destination);
        let (mut next, mut at, mut fragment, mut later) = (self.u8(at + 6)?, at + 40, false, false);
        // More extension headers than any sender uses; RFC 8200 §4.1 has six.
        for _ in 0..8 {
            match next {
                0 | 43 | 60 => {
                    let length = (usize::from(self.u8(at + 1)?) + 1) * 8;
                    (next, at) = (self.u8(at)?, at + length);
                }
                44 => {
                    let offset = self.u16(at + 2)?;
                    fragment |= offset & 0xfff9 != 0;
                    later |= offset & 0xfff8 != 0;
                    (next, at) = (self.u8(at)?, at + 8);
                }
                _ => break,
            }
        }
        self.transport(at, next, fragment, later)
    }

    fn class(&mut self, class: u8) {
        self.key.set(IP_DSCP, (class >> 2).into());
        self.key.set(IP_ECN, (class & 3).into());
    }

    fn transport(&mut self, at: usize, proto: u8, fragment: bool, later: bool) -> Option<()> {
        self.key.set(IP_PROTO, proto.into());
        self.layout.is_fragment = fragment;
        if later {
            return None;
        }
        self.layout.transport = Some(at);
        match proto {
            1 | 58 => {
                self.key.set(ICMP_TYPE, self.u8(at)?.into());
                self.key.set(ICMP_CODE, self.u8(at + 1)?.into());
                if matches!((proto, self.key.get(ICMP_TYPE)), (58, 135 | 136)) {
                    self.key.set_wide(ND_TARGET, u128::from_be_bytes(self.array(at + 8)?));
                }
            }
            6 | 17 | 132 => {
                self.key.set(SRC_PORT, self.u16(at)?.into());
                self.key.set(DST_PORT, self.u16(at + 2)?.into());
                self.segment(at, fragment).filter(|_| u64::from(proto) == TCP)?;
            }
            _ => {}
        }
        Some(())
    }

    /// The timestamp option of a TCP header.
    fn timestamp(&self, at: usize, end: usize) -> Option<u32> {
        // The layout that RFC 7323 §A recommends, and that all senders use.
        if self.u32(at) == Some(TIMESTAMP_FIRST) && end >= at + 12 {
            return self.u32(at + 4);
        }
        let options = TcpOptions::new(self.data.get(at..end)?).map_while(Result::ok);
        let data = options.filter(|option| option.kind == TIMESTAMP).find_map(|it| it.data.first_chunk());
        data.map(|value| u32::from_be_bytes(*value))
    }

    fn segment(&mut self, at: usize, fragment: bool) -> Option<()> {
        if self.key.get(IP_PROTO) != TCP {
            return None;
        }
        let (seq, offset_and_flags) = (self.u32(at + 4)?, self.u16(at + 12)?);
        self.key.set(TCP_FLAGS, (offset_and_flags & 0x1ff).into());
        let header = usize::from(offset_and_flags >> 12) * 4;
        let payload = self.layout.end.checked_sub(at.checked_add(header)?)?;
        let flag = |bit: u16| offset_and_flags & bit != 0;
        let (syn, fin, rst) = (flag(2), flag(1), flag(4));
        let (payload, timestamp) = (u32::try_from(payload).ok()?, self.timestamp(at + 20, at + header));
        let segment = Segment { seq: SeqNo(seq), payload, syn, fin, rst, timestamp };
        self.layout.segment = Some(segment).filter(|_| !fragment && header >= 20);
        Some(())
    }
}
