//! Sequence numbers of the flows in a tunnel, in a bounded table.

use std::hash::Hash;

use braid_types::{mix, secret_hash_of};

/// Flows that are numbered at once, at most; both are powers of two.
const FLOWS: usize = 4_096;
/// Flows that fall on one set and have places of their own there.
const PLACES: usize = 8;

/// Which packet of which flow: the flow's key, and a number that grows by one from packet to packet, and wraps.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Numbered {
    /// The key.
    pub key: u32,
    /// The number.
    pub number: u32,
}

/// The next number of each flow, for at most 4,096 flows `F`. A flow that loses its place, as the one of its set that was silent
/// longest, begins anew with another key, so that whoever puts the packets in order mistakes none for another.
#[derive(Debug)]
pub struct FlowNumbers<F> {
    // Invariant: empty, or `FLOWS` of them.
    flows: Vec<Option<Known<F>>>,
    last_key: u32,
    /// Secret, so that nobody can choose flows that share a set with another's.
    seed: u64,
    /// Packets that were numbered; what counts the time here.
    packets: u64,
}

#[derive(Clone, Copy, Debug)]
struct Known<F> {
    flow: F,
    last: Numbered,
    used: u64,
}

impl<F: Copy + Eq + Hash> FlowNumbers<F> {
    /// `seed` keeps the keys apart from those of an earlier start, and flows from choosing their places; it should be secret.
    pub const fn new(seed: u64) -> Self {
        Self { flows: Vec::new(), last_key: mix(seed) as u32, seed, packets: 0 }
    }

    /// The number of the next packet of `flow`.
    pub fn next(&mut self, flow: &F) -> Numbered {
        if self.flows.is_empty() {
            self.flows.resize(FLOWS, None);
        }
        self.packets = self.packets.saturating_add(1);
        let used = self.packets;
        let Some(set) = self.flows.chunks_exact_mut(PLACES).nth(set_of(self.seed, flow)) else {
            return Numbered::default();
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

fn set_of(seed: u64, flow: &impl Hash) -> usize {
    secret_hash_of(seed, flow) as usize & (FLOWS / PLACES - 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_flow_counts_for_itself_and_begins_anew_under_another_key() {
        let mut numbers = FlowNumbers::new(7);
        let [a, b] = [numbers.next(&1_u64), numbers.next(&2)];
        assert_eq!((a.number, b.number), (0, 0));
        assert_ne!(a.key, b.key);
        assert_eq!(numbers.next(&1_u64), Numbered { number: 1, ..a });
        (3..50_000).for_each(|number| assert_eq!(numbers.next(&number).number, 0));
        assert_eq!(numbers.flows.len(), FLOWS);
        let again = numbers.next(&1_u64);
        assert!(again.number == 0 && again.key != a.key);
    }

    #[test]
    fn flows_that_share_a_set_under_one_seed_do_not_under_another() {
        let together = |seed| move |flow: &u64| set_of(seed, flow) == set_of(seed, &0_u64);
        let found: Vec<_> = (1..).filter(together(7)).take(100).collect();
        assert!(found.into_iter().filter(together(8)).count() < 5);
    }

    #[test]
    fn flows_that_fall_on_one_set_keep_their_numbers_while_others_come_and_go() {
        let mut numbers = FlowNumbers::new(7);
        let mut together = (0_u64..).filter(|it| set_of(7, it) == set_of(7, &0_u64));
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
