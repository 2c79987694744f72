//! Packets that have no sequence numbers of their own are given some, in GRE: RFC 2784, with the key and sequence number of RFC 2890.

mod cut;
mod gre;
mod numbers;

pub(crate) use braid_edge_protocol::Ends;
pub(crate) use cut::{cut_datagrams, cut_segments};
pub(crate) use gre::{added, class as traffic_class, decapsulate, encapsulate, header as outer_header};
pub(crate) use numbers::Numbers;

/// What a group has to do with tunnels.
#[derive(Debug)]
pub(crate) enum Tunnel {
    /// It encapsulates, with these ends for its buckets.
    Enters { ends: Vec<Ends>, numbers: Numbers },
    /// It takes packets out, and puts them in order by their numbers.
    Leaves,
}

impl Tunnel {
    /// Whether it goes with so many buckets.
    pub(crate) fn fits(&self, buckets: usize) -> bool {
        match self {
            Self::Enters { ends, .. } => ends.len() == buckets,
            Self::Leaves => true,
        }
    }
}

/// Which packet of which flow: the flow's key, and a number that grows by one from packet to packet, and wraps.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Numbered {
    pub(crate) key: u32,
    pub(crate) number: u32,
}
