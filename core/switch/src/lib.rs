//! An OpenFlow 1.3 switch without I/O: tables, groups that spray and resequence, messages.
//!
//! [`Switch`] receives frames and messages, with the time, and returns frames and messages. It adds two features that
//! stock switches lack: a select group that decides for each packet ([`braid_spray::Scheduler`]), and a group that
//! resequences TCP ([`braid_spray::Resequencer`]). The messages of [`braid_edge_protocol::extension`] configure both.
//! Frames may be GSO packets whose checksums are left to a network card ([`Offload`]); they stay so through all changes.
//!
//! Out of scope: meters, queues, MPLS, PBB, and table and port modification beyond `docs/edge.md`. Requests for them get
//! the errors of the specification. All tables are bounded.
//!
//! ```
//! use braid_openflow::{Action, Message, PacketOut, Xid};
//! use braid_switch::{ConnectionId, Identity, PortDescription, Switch};
//! use braid_types::{DatapathId, PortNo, Time};
//!
//! let identity = Identity { dpid: DatapathId(7), name: "edge".into(), version: "1".into(), seed: 1 };
//! let (mut switch, controller) = (Switch::new(identity), ConnectionId(1));
//! switch.set_port(Time::ZERO, PortNo(2), PortDescription { up: true, ..PortDescription::default() });
//! switch.connect(controller);
//! let (actions, mut message) = ([Action::output(PortNo(2))], Vec::new());
//! Message::PacketOut(PacketOut::new(&[0xff; 60], &actions)).encode(Xid(1), &mut message).unwrap();
//! switch.handle_message(Time::ZERO, controller, &message);
//! assert_eq!(switch.poll_packets().next().map(|(port, _)| port), Some(PortNo(2)));
//! ```

#![cfg_attr(not(test), warn(clippy::iter_over_hash_type))]

mod action;
mod connections;
mod environment;
mod flows;
mod groups;
mod multipart;
mod packets;
mod pipeline;
mod ports;
mod switch;
mod tunnel;
mod uplink;

pub use connections::ConnectionId;
pub use packets::{Coalesced, Offload, Packet};
pub use ports::{PortCounters, PortDescription};
pub use switch::{Identity, Switch};
pub use uplink::{Arrival, TunnelPort, TunnelSettings, UplinkAddress, UplinkError, UplinkSettings, Uplinks};
