//! TCP segments: ports, sequence numbers, flags and options.

use std::fmt;

use etherparse::TcpSlice;
use serde::{Deserialize, Serialize};

mod options;

pub use options::{TcpOption, TcpOptionError, TcpOptions};

/// A TCP segment whose header is whole.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TcpSegment<'a> {
    /// The sender's port.
    pub src_port: u16,
    /// The receiver's port.
    pub dst_port: u16,
    /// The sequence number of the first byte, or of SYN.
    pub seq: u32,
    /// The next sequence number that the sender expects; meaningless without ACK.
    pub ack: u32,
    /// The control bits.
    pub flags: TcpFlags,
    /// The options as they are on the wire, padding included, at most 40 bytes.
    pub options: &'a [u8],
    /// The number of data bytes sent, even if the frame was truncated.
    pub payload_len: usize,
}

/// The control bits. RFC 9293 §3.1.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub struct TcpFlags(pub u8);

impl TcpFlags {
    /// No more data from the sender.
    pub const FIN: Self = Self(0x01);
    /// Opens a connection.
    pub const SYN: Self = Self(0x02);
    /// Resets the connection.
    pub const RST: Self = Self(0x04);
    /// Asks the receiver to hand data to its application.
    pub const PSH: Self = Self(0x08);
    /// The acknowledgement number counts.
    pub const ACK: Self = Self(0x10);
    /// The answer to a SYN.
    pub const SYN_ACK: Self = Self(0x12);

    const NAMES: [(u8, &'static str); 8] = [
        (0x80, "CWR"),
        (0x40, "ECE"),
        (0x20, "URG"),
        (0x10, "ACK"),
        (0x08, "PSH"),
        (0x04, "RST"),
        (0x02, "SYN"),
        (0x01, "FIN"),
    ];

    /// Whether every bit of `flags` is set.
    pub const fn contains(self, flags: Self) -> bool {
        self.0 & flags.0 == flags.0
    }

    /// The first segment of a connection: SYN without ACK.
    pub const fn is_syn(self) -> bool {
        self.contains(Self::SYN) && !self.contains(Self::ACK)
    }

    /// The second segment of a connection: SYN with ACK.
    pub const fn is_syn_ack(self) -> bool {
        self.contains(Self::SYN_ACK)
    }

    /// SYN is set.
    pub const fn syn(self) -> bool {
        self.contains(Self::SYN)
    }

    /// ACK is set.
    pub const fn ack(self) -> bool {
        self.contains(Self::ACK)
    }

    /// FIN is set.
    pub const fn fin(self) -> bool {
        self.contains(Self::FIN)
    }

    /// RST is set.
    pub const fn rst(self) -> bool {
        self.contains(Self::RST)
    }
}

impl fmt::Display for TcpFlags {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut separator = "";
        for (_, name) in Self::NAMES.iter().filter(|(bit, _)| self.0 & bit != 0) {
            write!(f, "{separator}{name}")?;
            separator = ",";
        }
        Ok(())
    }
}

impl fmt::Debug for TcpFlags {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "[{self}]")
    }
}

impl<'a> TcpSegment<'a> {
    /// `missing` bytes of data were sent beyond the end of `bytes`.
    pub(crate) fn parse(bytes: &'a [u8], missing: usize) -> Option<Self> {
        let segment = TcpSlice::from_slice(bytes).ok()?;
        let header = segment.header_slice();
        Some(Self {
            src_port: segment.source_port(),
            dst_port: segment.destination_port(),
            seq: segment.sequence_number(),
            ack: segment.acknowledgment_number(),
            flags: TcpFlags(header.get(13).copied()?),
            options: header.get(etherparse::TcpHeader::MIN_LEN..)?,
            payload_len: segment.payload().len().saturating_add(missing),
        })
    }

    /// The options one by one.
    pub fn options(&self) -> TcpOptions<'a> {
        TcpOptions::new(self.options)
    }
}
