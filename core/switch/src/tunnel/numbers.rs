use std::hash::BuildHasher;

use braid_types::Index;

use super::Numbered;
use crate::key::Key;

/// Flows that are numbered at once, at most; a power of two.
const FLOWS: usize = 4_096;

/// The next number of each flow. A flow that falls on the place of another takes it: either then begins anew, with another key, so
/// that whoever puts them in order mistakes none for the other.
#[derive(Debug, Default)]
pub(crate) struct Numbers {
    // Invariant: empty, or `FLOWS` of them.
    flows: Vec<Option<(Key, Numbered)>>,
    last_key: u32,
}

impl Numbers {
    /// Begins with keys that no earlier one had lately.
    pub(crate) const fn new(seed: u64) -> Self {
        Self { flows: Vec::new(), last_key: seed as u32 }
    }

    /// The number of the next packet of `flow`: addresses, protocol and ports.
    pub(crate) fn next(&mut self, flow: &Key) -> Numbered {
        if self.flows.is_empty() {
            self.flows.resize(FLOWS, None);
        }
        let place = Index::<Key, ()>::default().hasher().hash_one(flow) as usize & (FLOWS - 1);
        let Some(entry) = self.flows.get_mut(place) else { return Numbered { key: 0, number: 0 } };
        match entry {
            Some((known, last)) if known == flow => {
                last.number = last.number.wrapping_add(1);
                *last
            }
            _ => {
                self.last_key = self.last_key.wrapping_add(1);
                let first = Numbered { key: self.last_key, number: 0 };
                *entry = Some((*flow, first));
                first
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_flow_counts_for_itself_and_begins_anew_under_another_key() {
        let mut numbers = Numbers::new(7);
        let flow = |number: u64| Key([number; crate::key::WORDS]);
        let [a, b] = [numbers.next(&flow(1)), numbers.next(&flow(2))];
        assert_eq!((a.number, b.number), (0, 0));
        assert_ne!(a.key, b.key);
        assert_eq!(numbers.next(&flow(1)), Numbered { number: 1, ..a });
        (3..50_000).for_each(|number| assert_eq!(numbers.next(&flow(number)).number, 0));
        assert_eq!(numbers.flows.len(), FLOWS);
        let again = numbers.next(&flow(1));
        assert!(again.number == 0 && again.key != a.key);
    }
}
