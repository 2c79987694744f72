//! The tables of every switch, and the OpenFlow messages that fill them.
//!
//! | table | job | rules |
//! |---|---|---|
//! | 0 admit | discovery, ARP and ND to the controller; SYNs → 6; admission of packets | per port |
//! | 1 stream | packets of a TCP connection → label, first hop; sprayed: → a group | per stream, at its ingress only |
//! | 2 route | destination → label of the shortest path, or a group over labels of several | per destination in use, at edges |
//! | 3 bypass | bypass → next hop; at its end → 4 | per link with labels |
//! | 4 fabric | label → next hop; at the last switch → 5 | per path |
//! | 5 deliver | destination → the host's address and port; sprayed: → a resequencing group | per attached address, per sprayed stream |
//! | 6 syn | SYNs of hosts to the controller | three |

mod actions;
mod bfd;
mod decode;
mod ecmp;
mod encode;
mod flow;
mod group;
mod group_ids;
mod hop;
mod match_key;
pub(crate) mod meter;
mod punt_class;
mod rule;
mod spray;
mod table;

pub(crate) use bfd::encode_bfd;
pub use decode::decode;
pub use ecmp::{EcmpBuckets, decode_ecmp};
pub(crate) use ecmp::{encode_ecmp, encode_ecmp_removal};
pub use encode::read_rules;
pub(crate) use encode::{encode_flood, encode_reset, encode_rule, our_flows, read_streams};
pub use group::decode_protected_port;
pub(crate) use group::encode_protected_port;
pub use group_ids::{EcmpGroup, EdgeGroup, FLOOD_GROUP};
pub(crate) use group_ids::{can_be_protected, is_protected_port};
pub(crate) use hop::Protection;
pub use hop::{BypassEntry, Exit, Hop, ProtectedPort};
pub use match_key::MatchKey;
pub use punt_class::{NeighborTraffic, PuntClass};
pub use rule::{BASE, Rule};
pub use spray::{Resequencer, Spray, SprayPath};
pub(crate) use spray::{encode_question, encode_removal, encode_resequencer, encode_spray};
pub use table::{TABLES, Table};
