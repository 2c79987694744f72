//! The tables of every switch, and the OpenFlow messages that fill them.
//!
//! | table | job | rules |
//! |---|---|---|
//! | 0 admit | discovery, ARP and ND to the controller; SYNs too; who may enter | per port |
//! | 1 stream | a TCP connection's packets → label, first hop | per stream, at its ingress only |
//! | 2 route | destination → label of the shortest path | per destination in use, at edges |
//! | 3 fabric | label → next hop; at the last switch → 4 | per path |
//! | 4 deliver | destination → the host's address and port | per attached address |

mod decode;
mod encode;
mod flow;
pub(crate) mod meter;
mod rule;

pub use decode::decode;
pub(crate) use encode::read_all;
pub use encode::{Encoder, FLOOD_GROUP};
pub use rule::{Asking, BASE, Hop, Rule, Slot, TABLES, Table, Talk};
