//! The numbers of packets by flow, in a bounded table.

use std::hash::BuildHasher;

use braid_types::Index;

use super::flow::Flow;

/// Both are powers of two.
const FLOWS: usize = 4_096;
const WAYS: usize = 8;

/// A packet's flow by its short name, and its number there.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) struct Numbered {
    pub(super) key: u32,
    pub(super) number: u32,
}

/// The next number of each flow. In a full set, the flow that was silent longest loses its place; it begins anew later, with
/// another key.
#[derive(Debug)]
pub(super) struct Numbers {
    flows: Vec<Option<Known>>,
    last_key: u32,
    packets: u64,
}

#[derive(Clone, Copy, Debug)]
struct Known {
    flow: Flow,
    last: Numbered,
    used: u64,
}

impl Numbers {
    /// `seed` keeps apart the keys of two runs of one site.
    pub(super) fn new(seed: u32) -> Self {
        Self { flows: vec![None; FLOWS], last_key: seed, packets: 0 }
    }

    pub(super) fn next(&mut self, flow: &Flow) -> Numbered {
        self.packets += 1;
        let used = self.packets;
        let first = Index::<Flow, ()>::default().hasher().hash_one(flow) as usize % (FLOWS / WAYS) * WAYS;
        let set = self.flows.get_mut(first..first + WAYS).unwrap_or_default();
        if let Some(known) = set.iter_mut().flatten().find(|known| known.flow == *flow) {
            known.last.number = known.last.number.wrapping_add(1);
            known.used = used;
            return known.last;
        }
        self.last_key = self.last_key.wrapping_add(1);
        let last = Numbered { key: self.last_key, number: 0 };
        let place = set.iter_mut().min_by_key(|known| known.map_or(0, |known| known.used));
        place.into_iter().for_each(|place| *place = Some(Known { flow: *flow, last, used }));
        last
    }
}
