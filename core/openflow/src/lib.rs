//! OpenFlow 1.3 messages to bytes and back, for both ends of the wire.
//!
//! A controller and a switch use the same types: every [`Message`] decodes and encodes. A decoded message
//! borrows from the bytes it came from, and one to be sent borrows what its sender has at hand, so that neither
//! way allocates. What OpenFlow 1.3 does not name (message types, fields, actions, instructions, properties)
//! is kept as it is and sent again byte for byte.
//!
//! The crate checks lengths and structure, not meaning: whether a table exists, a field may be set or a match
//! has its prerequisites is for the switch to say. It performs no I/O and keeps no state; it speaks no other
//! version than 1.3 (wire version 4) but for reading the HELLO of any.
//!
//! ```
//! use braid_openflow::{
//!     Action, EthType, FlowMod, Instruction, List, Match, Message, OxmField, TableId, Xid, frame_length,
//! };
//! use braid_types::{MacAddr, PortNo};
//! use std::net::Ipv4Addr;
//!
//! let label = MacAddr::new([2, 0, 0, 0, 0, 7]);
//! let fields = [OxmField::EthType(EthType::IPV4), OxmField::Ipv4Dst(Ipv4Addr::new(10, 0, 0, 2).into())];
//! let actions = [Action::SetField(OxmField::EthDst(label.into())), Action::output(PortNo(3))];
//! let instructions = [Instruction::ApplyActions(List::from(&actions))];
//! let flow = Message::FlowMod(FlowMod {
//!     table_id: TableId(1),
//!     matching: Match::new(&fields),
//!     instructions: List::from(&instructions),
//!     ..FlowMod::default()
//! });
//!
//! let mut stream = Vec::new();
//! flow.encode(Xid(7), &mut stream)?;
//! assert_eq!(frame_length(&stream)?, Some(stream.len()));
//! assert_eq!(Message::decode(&stream)?, (Xid(7), flow));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

#![cfg_attr(not(test), warn(clippy::iter_over_hash_type))]
// Whatever arrives, reading it cannot panic.
#![cfg_attr(not(test), warn(clippy::indexing_slicing, clippy::arithmetic_side_effects))]

mod action;
mod bucket;
mod error;
mod header;
mod id;
mod instruction;
mod message;
mod multipart;
mod oxm;
mod port;
mod text;
mod wire;

pub use action::{Action, ActionType};
pub use bucket::Bucket;
pub use error::{DecodeError, EncodeError, Part};
pub use header::{Frame, Frames, HEADER_LEN, Header, MessageType, VERSION, frame_length, frames};
pub use id::{
    BufferId, Cookie, ExperimenterId, GroupId, Kbps, MaxLen, Metadata, MeterId, QueueId, Seconds, TableId,
    Xid,
};
pub use instruction::{Instruction, InstructionType};
pub use message::*;
pub use multipart::*;
pub use oxm::{
    EthType, Ipv6ExtHeaders, Isid, Masked, Match, OxmClass, OxmField, OxmHeader, RawOxm, TcpFlags, VlanVid,
};
pub use port::{Port, PortConfig, PortFeatures, PortState};
pub use wire::{Bytes, Iter, List, Reader, Text, TextTooLong, Wire};
