//! Which flows carry large datagrams: small ones of others, such as voice and the acknowledgements of QUIC, wait for none before them.

use std::time::Duration;

use braid_types::{Time, secret_hash_of};

use super::{Class, Flow};

/// So long after a large datagram, small ones of its flow keep their place behind it.
const LARGE_FOR: Duration = Duration::from_secs(1);
/// Flows that share a place count as one.
const PLACES: usize = 1_024;

/// When flows carried large datagrams last.
#[derive(Clone, Debug)]
pub(crate) struct Sizes {
    last: Vec<Option<Time>>,
    seed: u64,
}

impl Sizes {
    /// `seed` must be random: it keeps flows from choosing whose place they share.
    pub(crate) fn new(seed: u64) -> Self {
        Self { last: vec![None; PLACES], seed }
    }

    /// Notes a packet; whether it is a small datagram of a flow that has carried no large one lately.
    pub(crate) fn note(&mut self, now: Time, class: &Class) -> bool {
        let Some(is_large) = class.is_large else { return false };
        let place = self.place(&class.flow);
        let Some(last) = self.last.get_mut(place) else { return false };
        if is_large {
            *last = Some(now);
        }
        last.is_none_or(|last| now.since(last) >= LARGE_FOR)
    }

    fn place(&self, flow: &Flow) -> usize {
        secret_hash_of(self.seed, flow) as usize % PLACES
    }
}
