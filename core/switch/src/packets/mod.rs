//! Packets in the switch: their keys, what changes them, and what is cut. Their offload state is [`braid_offload`]'s.

pub(crate) mod bfd;
mod context;
pub(crate) mod fragment;
pub(crate) mod key;
pub(crate) mod numbers;
pub(crate) mod probe;
pub(crate) mod rewrite;

pub use braid_offload::{Coalesced, Offload, Packet};
pub(crate) use braid_offload::{GSO_UDP, fold, put_ipv4_checksum, sum, u16_at};
pub(crate) use context::PacketContext;
