//! The replay window: each counter of a session is accepted once.

/// The counters that are remembered behind the greatest one. A path at 1 Gbit/s that reorders by 90 ms fits in.
const WINDOW: u64 = 8_192;
const BITS: u64 = u64::BITS as u64;
/// One more than the window fills, as the newest is filled while the oldest still counts.
const WORDS: u64 = WINDOW / BITS + 1;

/// A sliding window over the counters of received datagrams. RFC 6479, with a bit map that rotates by words.
#[derive(Clone, Debug)]
pub(crate) struct ReplayWindow {
    /// The first counter that was never seen.
    next: u64,
    words: Vec<u64>,
}

impl Default for ReplayWindow {
    fn default() -> Self {
        Self { next: 0, words: vec![0; WORDS as usize] }
    }
}

impl ReplayWindow {
    /// Whether a datagram with this counter may still be accepted. Ask before it is decrypted.
    pub(crate) fn is_new(&self, counter: u64) -> bool {
        if counter >= self.next {
            return counter < u64::MAX;
        }
        let is_inside = self.next.saturating_sub(counter) <= WINDOW;
        is_inside && self.words.get(self.place(counter)).is_some_and(|word| word & bit(counter) == 0)
    }

    /// Marks the counter of an authentic datagram; returns whether it is the newest.
    pub(crate) fn mark(&mut self, counter: u64) -> bool {
        let is_newest = counter >= self.next;
        if is_newest {
            self.advance(counter);
        }
        let place = self.place(counter);
        self.words.get_mut(place).into_iter().for_each(|word| *word |= bit(counter));
        is_newest
    }

    fn advance(&mut self, counter: u64) {
        let (newest, oldest) = (counter / BITS, self.next.div_ceil(BITS));
        let end = newest.saturating_add(1);
        let fresh = end.saturating_sub(oldest).min(self.words.len() as u64);
        for word in end.saturating_sub(fresh)..end {
            let place = self.place(word.saturating_mul(BITS));
            self.words.get_mut(place).into_iter().for_each(|word| *word = 0);
        }
        self.next = counter.saturating_add(1);
    }

    const fn place(&self, counter: u64) -> usize {
        (counter / BITS % WORDS) as usize
    }
}

const fn bit(counter: u64) -> u64 {
    1 << (counter % BITS)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_counter_is_accepted_once_in_any_order_within_the_window() {
        let mut window = ReplayWindow::default();
        for counter in [5, 3, 4, 0, 8_000, 6] {
            assert!(window.is_new(counter));
            window.mark(counter);
            assert!(!window.is_new(counter));
        }
        window.mark(WINDOW + 10);
        assert!(!window.is_new(2) && window.is_new(WINDOW), "too old, and still inside");
        assert!(!window.is_new(u64::MAX), "the last counter is not for datagrams");
    }

    proptest! {
        #[test]
        fn it_agrees_with_a_set_of_all_counters(steps in prop::collection::vec((0..3_u8, 0..20_000_u64), 1..400)) {
            let (mut window, mut seen, mut newest) = (ReplayWindow::default(), BTreeSet::new(), 0_u64);
            for (kind, step) in steps {
                let counter = match kind {
                    0 => newest + step % 70,
                    1 => newest.saturating_sub(step % 9_000),
                    _ => newest + step,
                };
                let wanted = !seen.contains(&counter) && (counter + WINDOW > newest || newest == 0);
                prop_assert_eq!(window.is_new(counter), wanted, "{} at {}", counter, newest);
                if wanted {
                    window.mark(counter);
                    seen.insert(counter);
                    newest = newest.max(counter);
                }
            }
        }
    }
}
