//! Packet parsers: LLDP, ARP, ND, TCP flags, MPTCP options.
//!
//! [`Frame::parse`] is a cheap view over the bytes of one Ethernet frame: no allocation, no copy, no panic
//! whatever the bytes are. [`mptcp`] reads the options that tie subflows to a connection; [`lldp`], [`arp`] and
//! [`nd`] also write frames, which the controller sends.
//!
//! It does not reassemble fragments, does not check TCP checksums (a sender may leave them to its network
//! card) and keeps no state.
//!
//! ```
//! use braid_packet::{Frame, TcpFlags, build, mptcp};
//! use braid_types::FiveTuple;
//!
//! let tuple = FiveTuple {
//!     src: "10.0.0.1".parse()?, dst: "10.0.0.2".parse()?, src_port: 40000, dst_port: 5201,
//! };
//! let bytes = build::tcp(tuple).flags(TcpFlags::SYN).options(&[30, 4, 0x01, 0x81]).frame();
//! let frame = Frame::parse(&bytes)?;
//! assert_eq!(frame.five_tuple(), Some(tuple));
//! let tcp = frame.tcp().ok_or("not TCP")?;
//! assert!(tcp.flags.is_syn());
//! assert!(matches!(mptcp::handshake(tcp.options)?, Some(mptcp::Handshake::Capable(_))));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

#![cfg_attr(not(test), warn(clippy::iter_over_hash_type))]
// Whatever arrives, reading it cannot panic.
#![cfg_attr(not(test), warn(clippy::indexing_slicing, clippy::arithmetic_side_effects))]

mod bytes;
mod error;
mod frame;
mod ip;
mod tcp;
mod too_big;

pub mod arp;
pub mod build;
pub mod lldp;
pub mod mptcp;
pub mod nd;

pub use error::PacketError;
pub use etherparse::{EtherType, IpNumber};
pub use frame::{Frame, Payload, VlanTag};
pub use ip::{Ip, Transport, Udp, ip_addresses};
pub use tcp::{TcpFlags, TcpOption, TcpOptionError, TcpOptions, TcpSegment};
pub use too_big::TooBig;

/// The EtherType of LLDP. IEEE 802.1AB-2016 §7.3.
pub const ETHERTYPE_LLDP: EtherType = EtherType(0x88cc);
