//! Sequence numbers of tunnelled flows, in a bounded table.

use std::hash::BuildHasher;

use braid_types::Index;

use super::Numbered;
use crate::packets::key::Key;

/// Flows that are numbered at once, at most; both are powers of two.
const FLOWS: usize = 4_096;
/// Flows that fall on one set and have places of their own there.
const PLACES: usize = 8;

/// The next number of each flow. Where more than [`PLACES`] flows fall on one set, the one that was silent longest loses its place: it
/// begins anew later, with another key, so that whoever puts them in order mistakes none for the other.
#[derive(Debug, Default)]
pub(crate) struct Numbers {
    // Invariant: empty, or `FLOWS` of them.
    flows: Vec<Option<Known>>,
    last_key: u32,
    /// Packets that were numbered; what counts the time here.
    packets: u64,
}

#[derive(Clone, Copy, Debug)]
struct Known {
    flow: Key,
    last: Numbered,
    used: u64,
}

impl Numbers {
    /// Begins with keys that no earlier one had lately.
    pub(crate) const fn new(seed: u64) -> Self {
        Self { flows: Vec::new(), last_key: seed as u32, packets: 0 }
    }

    /// The number of the next packet of `flow`: addresses, protocol and ports.
    pub(crate) fn next(&mut self, flow: &Key) -> Numbered {
        if self.flows.is_empty() {
            self.flows.resize(FLOWS, None);
        }
        self.packets += 1;
        let used = self.packets;
        let first = set_of(flow) * PLACES;
        let Some(set) = self.flows.get_mut(first..first + PLACES) else {
            return Numbered { key: 0, number: 0 };
        };
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

fn set_of(flow: &Key) -> usize {
    Index::<Key, ()>::default().hasher().hash_one(flow) as usize & (FLOWS / PLACES - 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn flow(number: u64) -> Key {
        Key([number; crate::packets::key::WORDS])
    }

    #[test]
    fn each_flow_counts_for_itself_and_begins_anew_under_another_key() {
        let mut numbers = Numbers::new(7);
        let [a, b] = [numbers.next(&flow(1)), numbers.next(&flow(2))];
        assert_eq!((a.number, b.number), (0, 0));
        assert_ne!(a.key, b.key);
        assert_eq!(numbers.next(&flow(1)), Numbered { number: 1, ..a });
        (3..50_000).for_each(|number| assert_eq!(numbers.next(&flow(number)).number, 0));
        assert_eq!(numbers.flows.len(), FLOWS);
        let again = numbers.next(&flow(1));
        assert!(again.number == 0 && again.key != a.key);
    }

    #[test]
    fn flows_that_fall_on_one_set_keep_their_numbers_while_others_come_and_go() {
        let mut numbers = Numbers::new(7);
        let mut together = (0..).map(flow).filter(|it| set_of(it) == set_of(&flow(0)));
        let live: Vec<_> = together.by_ref().take(PLACES - 1).collect();
        let keys: Vec<_> = live.iter().map(|flow| numbers.next(flow).key).collect();
        for (round, short) in (1..200).zip(together) {
            numbers.next(&short);
            let next: Vec<_> = live.iter().map(|flow| numbers.next(flow)).collect();
            let wanted: Vec<_> = keys.iter().map(|key| Numbered { key: *key, number: round }).collect();
            assert_eq!(next, wanted);
        }
    }
}
