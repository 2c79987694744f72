//! Ethernet frames: addresses, up to two VLAN tags, and a payload of ARP, IP or something else.

use std::net::IpAddr;

use braid_types::{FiveTuple, MacAddr};
use etherparse::{EtherType, Ethernet2HeaderSlice, SingleVlanHeaderSlice};
use serde::{Deserialize, Serialize};

use crate::arp::Arp;
use crate::ip::{Ip, Transport};
use crate::tcp::TcpSegment;
use crate::{ETHERTYPE_LLDP, PacketError};

/// The destination and the source address, which come first.
const ADDRESSES_LEN: usize = 12;

/// One Ethernet frame, read down to its transport header.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Frame<'a> {
    /// The sender's Ethernet address.
    pub src: MacAddr,
    /// The receiver's Ethernet address.
    pub dst: MacAddr,
    /// The outermost VLAN tag.
    pub vlan: Option<VlanTag>,
    /// The tag inside the outermost one, where frames are tagged twice.
    pub inner_vlan: Option<VlanTag>,
    /// The EtherType of the payload, after at most two tags.
    pub ethertype: EtherType,
    /// The content.
    pub payload: Payload<'a>,
}

/// The content of a frame.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Payload<'a> {
    /// ARP for IPv4 over Ethernet.
    Arp(Arp),
    /// IPv4 or IPv6.
    Ip(Ip<'a>),
    /// An LLDPDU, perhaps followed by padding: read it with [`crate::lldp`].
    Lldp(&'a [u8]),
    /// Anything else, ARP for other networks among it.
    Other(&'a [u8]),
}

/// A VLAN tag. IEEE 802.1Q §9.6.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct VlanTag {
    /// The VLAN identifier, below 4096; 0 marks a tag that only carries a priority.
    pub id: u16,
    /// The priority code point, below 8.
    pub pcp: u8,
    /// Drop eligible.
    pub dei: bool,
}

impl VlanTag {
    /// Puts the tag into a frame, outside of those that it has: what answers a tagged frame is tagged alike.
    pub fn push(self, frame: &mut Vec<u8>) {
        let [id_high, id_low] = (self.id & 0xfff).to_be_bytes();
        let control = [self.pcp << 5 | u8::from(self.dei) << 4 | id_high, id_low];
        let after_addresses = frame.len().min(ADDRESSES_LEN);
        let tag = EtherType::VLAN_TAGGED_FRAME.0.to_be_bytes().into_iter().chain(control);
        frame.splice(after_addresses..after_addresses, tag);
    }
}

impl<'a> Frame<'a> {
    /// Reads `bytes`, from the destination address on and without the frame check sequence.
    ///
    /// The frame may be cut short, as packet-ins are. A transport header that is cut off or malformed leaves
    /// [`Transport::Other`].
    ///
    /// # Errors
    ///
    /// The Ethernet, VLAN, ARP or IP header is cut off or contradicts itself.
    pub fn parse(bytes: &'a [u8]) -> Result<Self, PacketError> {
        let header = Ethernet2HeaderSlice::from_slice(bytes)
            .map_err(|error| PacketError::truncated("Ethernet header", &error))?;
        let mut rest = Rest {
            ethertype: header.ether_type(),
            bytes: bytes.get(header.slice().len()..).unwrap_or_default(),
        };
        let vlan = rest.take_tag()?;
        let inner_vlan = if vlan.is_some() { rest.take_tag()? } else { None };
        Ok(Self {
            src: MacAddr::new(header.source()),
            dst: MacAddr::new(header.destination()),
            vlan,
            inner_vlan,
            ethertype: rest.ethertype,
            payload: rest.payload()?,
        })
    }

    /// The IP packet, if the frame carries one.
    pub fn ip(&self) -> Option<&Ip<'a>> {
        match &self.payload {
            Payload::Ip(ip) => Some(ip),
            _ => None,
        }
    }

    /// The TCP segment, if the frame carries a whole header of one.
    pub fn tcp(&self) -> Option<&TcpSegment<'a>> {
        match &self.ip()?.transport {
            Transport::Tcp(segment) => Some(segment),
            _ => None,
        }
    }

    /// The five-tuple of a TCP segment; `None` for anything else.
    pub fn five_tuple(&self) -> Option<FiveTuple> {
        self.ip()?.five_tuple()
    }

    /// The sender's address in the IP or ARP header: what ties a host to the port that this came in on.
    /// Unspecified where the sender has none yet.
    pub fn sender_ip(&self) -> Option<IpAddr> {
        match &self.payload {
            Payload::Arp(arp) => Some(IpAddr::V4(arp.sender_ip)),
            Payload::Ip(ip) => Some(ip.src),
            _ => None,
        }
    }
}

/// The remaining bytes and their type.
struct Rest<'a> {
    ethertype: EtherType,
    bytes: &'a [u8],
}

impl<'a> Rest<'a> {
    fn take_tag(&mut self) -> Result<Option<VlanTag>, PacketError> {
        let tagged = [EtherType::VLAN_TAGGED_FRAME, EtherType::PROVIDER_BRIDGING].contains(&self.ethertype)
            || self.ethertype == EtherType::VLAN_DOUBLE_TAGGED_FRAME;
        if !tagged {
            return Ok(None);
        }
        let tag = SingleVlanHeaderSlice::from_slice(self.bytes)
            .map_err(|error| PacketError::truncated("VLAN tag", &error))?;
        self.ethertype = tag.ether_type();
        self.bytes = self.bytes.get(tag.slice().len()..).unwrap_or_default();
        Ok(Some(VlanTag {
            id: tag.vlan_identifier().value(),
            pcp: tag.priority_code_point().value(),
            dei: tag.drop_eligible_indicator(),
        }))
    }

    fn payload(self) -> Result<Payload<'a>, PacketError> {
        Ok(match self.ethertype {
            EtherType::IPV4 => Payload::Ip(Ip::parse_v4(self.bytes)?),
            EtherType::IPV6 => Payload::Ip(Ip::parse_v6(self.bytes)?),
            EtherType::ARP => Arp::parse(self.bytes)?.map_or(Payload::Other(self.bytes), Payload::Arp),
            ETHERTYPE_LLDP => Payload::Lldp(self.bytes),
            _ => Payload::Other(self.bytes),
        })
    }
}
