//! What network cards do for packets, without a card: checksums, segmentation of GSO packets, and coalescing to them.
//!
//! [`Packet`] is a packet with the work that remains ([`Offload`], the kernel's `struct virtio_net_hdr`). [`Segments`]
//! cuts one into complete packets; [`Coalesced`] makes a GSO packet of successive segments of one flow.
//!
//! It knows TCP and UDP over IPv4 and IPv6. Whatever else passes as it is.
//!
//! ```
//! use braid_offload::{GSO_TCPV4, Offload, Segments, Start};
//!
//! // Headers of IPv4 and TCP, and 3,000 bytes that leave in packets of 1,460 at most.
//! let mut packet = vec![0; 40 + 3_000];
//! (packet[0], packet[9], packet[32]) = (0x45, 6, 0x50);
//! let offload = Offload {
//!     needs_checksum: true,
//!     gso_type: GSO_TCPV4,
//!     header_len: 40,
//!     gso_size: 1_460,
//!     csum_start: 20,
//!     csum_offset: 16,
//!     ..Offload::default()
//! };
//! let mut segments = Segments::new(&packet, offload, Start::Ip).unwrap();
//! let (mut segment, mut lengths) = (Vec::new(), Vec::new());
//! while segments.write_next(&mut segment) {
//!     lengths.push(segment.len());
//! }
//! assert_eq!(lengths, [1_500, 1_500, 120]);
//! ```

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
