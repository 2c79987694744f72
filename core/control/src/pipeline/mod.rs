//! The tables of every switch, and the OpenFlow messages that fill them.
//!
//! | table | job | rules |
//! |---|---|---|
//! | 0 admit | discovery, ARP, ND and SYNs to the controller; admission of packets | per port |
//! | 1 stream | packets of a TCP connection → label, first hop; sprayed: → a group | per stream, at its ingress only |
//! | 2 route | destination → label of the shortest path, or a group over labels of several | per destination in use, at edges |
//! | 3 bypass | bypass → next hop; at its end → 4 | per link with labels |
//! | 4 fabric | label → next hop; at the last switch → 5 | per path |
//! | 5 deliver | destination → the host's address and port; sprayed: → a resequencing group | per attached address, per sprayed stream |

mod decode;
mod ecmp;
mod encode;
mod flow;
mod group;
mod hop;
pub(crate) mod meter;
mod punt_class;
mod rule;
mod spray;

pub use decode::decode;
pub use ecmp::{EcmpBuckets, EcmpGroup, decode_ecmp};
pub(crate) use encode::our_flows;
pub use encode::{Encoder, FLOOD_GROUP, read_rules};
pub use group::decode_protected_port;
pub(crate) use group::{can_be_protected, is_protected_port};
pub(crate) use hop::Protection;
pub use hop::{BypassEntry, Exit, Hop, ProtectedPort};
pub use punt_class::{NeighborTraffic, PuntClass};
pub use rule::{BASE, MatchKey, Rule, TABLES, Table};
pub use spray::{EdgeGroup, Resequencer, Spray, SprayPath};
