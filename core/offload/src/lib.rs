//! What network cards do for packets, without a card: checksums, segmentation of GSO packets, and coalescing to them.
//!
//! [`Packet`] is a packet with the work that remains ([`Offload`], the kernel's `struct virtio_net_hdr`). [`Segments`]
//! cuts one into complete packets; [`Coalesced`] makes a GSO packet of successive segments of one flow.
//!
//! It knows TCP and UDP over IPv4 and IPv6. Whatever else passes as it is.

// Whatever arrives, reading it cannot panic.
#![cfg_attr(not(test), warn(clippy::indexing_slicing))]
#![cfg_attr(not(test), warn(clippy::iter_over_hash_type))]

mod checksum;
mod coalesce;
mod packet;
mod segments;
mod start;

pub use checksum::{fold, put_ipv4_checksum, sum, u16_at};
pub use coalesce::Coalesced;
pub use packet::{GSO_ECN, GSO_TCPV4, GSO_TCPV6, GSO_UDP, Offload, Packet};
pub use segments::Segments;
pub use start::Start;
