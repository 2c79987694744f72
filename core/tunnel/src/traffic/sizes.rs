//! Which flows carry large datagrams: small ones of others, such as voice and the acknowledgements of QUIC, wait for none before them.

use std::time::Duration;

use braid_types::{Time, hash_of};

use super::{Class, Flow};

/// So long after a large datagram, small ones of its flow keep their place behind it.
const LARGE_FOR: Duration = Duration::from_secs(1);
/// Flows that share a place count as one.
const PLACES: usize = 1_024;

/// When flows carried large datagrams last.
#[derive(Clone, Debug)]
pub(crate) struct Sizes(Vec<Option<Time>>);

impl Default for Sizes {
    fn default() -> Self {
        Self(vec![None; PLACES])
    }
}

impl Sizes {
    /// Notes a packet; whether it is a small datagram of a flow that has carried no large one lately.
    pub(crate) fn note(&mut self, now: Time, class: &Class) -> bool {
        let Some(is_large) = class.is_large else { return false };
        let Some(last) = self.0.get_mut(place(&class.flow)) else { return false };
        if is_large {
            *last = Some(now);
        }
        last.is_none_or(|last| now.since(last) >= LARGE_FOR)
    }
}

fn place(flow: &Flow) -> usize {
    hash_of(flow) as usize % PLACES
}
