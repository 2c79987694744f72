//! ARP for IPv4 over Ethernet. RFC 826; probes and announcements: RFC 5227.

use std::net::Ipv4Addr;

use braid_types::MacAddr;
use etherparse::{EtherType, Ethernet2Header};
use serde::{Deserialize, Serialize};

use crate::PacketError;
use crate::bytes::{Reader, pad_frame};

const LEN: usize = 28;
/// Ethernet, IPv4, and the lengths of their addresses.
const FIXED: [u8; 6] = [0, 1, 8, 0, 6, 4];

/// An ARP packet.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Arp {
    /// Question or answer.
    pub op: ArpOp,
    /// The sender's Ethernet address, which need not be the frame's.
    pub sender_mac: MacAddr,
    /// The sender's IPv4 address; 0.0.0.0 in a probe.
    pub sender_ip: Ipv4Addr,
    /// The target's Ethernet address; of no meaning in a request.
    pub target_mac: MacAddr,
    /// The address that is asked for, or the asker's.
    pub target_ip: Ipv4Addr,
}

/// The operation of an ARP packet.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ArpOp {
    /// Asks who has `target_ip`.
    Request,
    /// Says that `sender_mac` has `sender_ip`.
    Reply,
}

impl ArpOp {
    const fn number(self) -> u16 {
        match self {
            Self::Request => 1,
            Self::Reply => 2,
        }
    }
}

impl Arp {
    /// Asks who has `target_ip`.
    pub const fn request(sender_mac: MacAddr, sender_ip: Ipv4Addr, target_ip: Ipv4Addr) -> Self {
        Self { op: ArpOp::Request, sender_mac, sender_ip, target_mac: MacAddr::ZERO, target_ip }
    }

    /// Asks whether anyone has `ip`, claiming nothing. RFC 5227 §2.1.1.
    pub const fn probe(sender_mac: MacAddr, ip: Ipv4Addr) -> Self {
        Self::request(sender_mac, Ipv4Addr::UNSPECIFIED, ip)
    }

    /// Answers this request: `mac` has the address that was asked for.
    pub const fn reply(&self, mac: MacAddr) -> Self {
        Self {
            op: ArpOp::Reply,
            sender_mac: mac,
            sender_ip: self.target_ip,
            target_mac: self.sender_mac,
            target_ip: self.sender_ip,
        }
    }

    /// Whether the sender asks without having an address yet.
    pub fn is_probe(&self) -> bool {
        self.op == ArpOp::Request && self.sender_ip.is_unspecified()
    }

    /// Whether the sender announces its own address to everyone. RFC 5227 §2.3.
    pub fn is_announcement(&self) -> bool {
        self.sender_ip == self.target_ip && !self.sender_ip.is_unspecified()
    }

    /// The packet in a frame of 60 bytes: a request to everyone, a reply to its target.
    pub fn frame(&self) -> Vec<u8> {
        self.frame_to(match self.op {
            ArpOp::Request => MacAddr::BROADCAST,
            ArpOp::Reply => self.target_mac,
        })
    }

    /// The packet in a frame of 60 bytes to `dst`: asks a known host whether it is still there.
    pub fn frame_to(&self, dst: MacAddr) -> Vec<u8> {
        let ethernet = Ethernet2Header {
            source: self.sender_mac.octets(),
            destination: dst.octets(),
            ether_type: EtherType::ARP,
        };
        let mut frame = ethernet.to_bytes().to_vec();
        frame.extend(FIXED);
        frame.extend(self.op.number().to_be_bytes());
        frame.extend(self.sender_mac.octets());
        frame.extend(self.sender_ip.octets());
        frame.extend(self.target_mac.octets());
        frame.extend(self.target_ip.octets());
        pad_frame(&mut frame);
        frame
    }

    /// `None` if it is ARP of another network, or another operation.
    pub(crate) fn parse(bytes: &[u8]) -> Result<Option<Self>, PacketError> {
        let error = PacketError::Truncated { what: "ARP packet", need: LEN, have: bytes.len() };
        let mut reader = Reader(bytes);
        let fixed = reader.array().ok_or(error)?;
        let op = match reader.u16().ok_or(error)? {
            1 => ArpOp::Request,
            2 => ArpOp::Reply,
            _ => return Ok(None),
        };
        if fixed != FIXED {
            return Ok(None);
        }
        Self::parse_addresses(op, reader).map(Some).ok_or(error)
    }

    fn parse_addresses(op: ArpOp, mut reader: Reader<'_>) -> Option<Self> {
        Some(Self {
            op,
            sender_mac: MacAddr::new(reader.array()?),
            sender_ip: Ipv4Addr::from(reader.array::<4>()?),
            target_mac: MacAddr::new(reader.array()?),
            target_ip: Ipv4Addr::from(reader.array::<4>()?),
        })
    }
}
