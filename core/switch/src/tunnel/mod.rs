//! GRE tunnels that give packets sequence numbers: RFC 2784, with the key and sequence number of RFC 2890.

// Whatever arrives, reading it cannot panic.
#![cfg_attr(not(test), warn(clippy::indexing_slicing))]

mod gre;

pub(crate) use braid_edge_protocol::Ends;
use braid_spray::FlowNumbers;
pub(crate) use braid_spray::Numbered;
pub(crate) use gre::{
    added, class as traffic_class, decapsulate, encapsulate, ends_of, header as outer_header,
};

use crate::packets::key::Key;

/// The direction in which a group uses tunnels.
#[derive(Debug)]
pub(crate) enum Tunnel {
    /// It encapsulates, with these ends for its buckets.
    Enters { ends: Vec<Ends>, numbers: FlowNumbers<Key> },
    /// It takes packets out that came between such ends, and resequences them by their numbers.
    Leaves { ends: Vec<Ends> },
}

impl Tunnel {
    /// Whether it goes with so many buckets.
    pub(crate) fn fits(&self, buckets: usize) -> bool {
        match self {
            Self::Enters { ends, .. } => ends.len() == buckets,
            Self::Leaves { .. } => true,
        }
    }

    /// Whether it takes packets out that came between these ends.
    pub(crate) fn takes(&self, outer: Ends) -> bool {
        matches!(self, Self::Leaves { ends } if ends.iter().any(|ends| ends.includes(outer)))
    }
}
