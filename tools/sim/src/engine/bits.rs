//! Arrived segment numbers as a ring of bits.

/// The received numbers from `next` on, where numbers arrive roughly in order: a bit each, in a ring of words.
///
/// Invariant: `next` itself was not received, and bits outside `next..end` are zero.
#[derive(Clone, Debug, Default)]
pub(crate) struct Arrivals {
    words: Vec<u64>,
    next: u32,
    end: u32,
    beyond: u32,
}

impl Arrivals {
    pub(crate) const fn new() -> Self {
        Self { words: Vec::new(), next: 0, end: 0, beyond: 0 }
    }

    /// The lowest number not received.
    pub(crate) const fn next(&self) -> u32 {
        self.next
    }

    /// Whether a number beyond `next` was received.
    pub(crate) const fn has_gap(&self) -> bool {
        self.end > self.next
    }

    /// The count of numbers received beyond `next`.
    pub(crate) const fn beyond(&self) -> u32 {
        self.beyond
    }

    pub(crate) fn contains(&self, number: u32) -> bool {
        number < self.next || (number < self.end && self.bit(number))
    }

    /// Notes a received number; returns whether it is the first time.
    pub(crate) fn insert(&mut self, number: u32) -> bool {
        if number == self.next {
            self.next += 1;
            self.skip_those_that_came();
            return true;
        }
        if self.contains(number) {
            return false;
        }
        self.make_room(number);
        let (word, mask) = self.place(number);
        self.words[word] |= mask;
        self.beyond += 1;
        self.end = self.end.max(number + 1);
        true
    }

    /// The counts of numbers received without a gap just below and just above `number`, up to `most`.
    pub(crate) fn run_around(&self, number: u32, most: u8) -> (u8, u8) {
        let came = |it: Option<u32>| it.is_some_and(|it| it >= self.next && self.contains(it));
        let below = (1..=u32::from(most)).take_while(|step| came(number.checked_sub(*step))).count();
        let above = (1..=u32::from(most)).take_while(|step| came(number.checked_add(*step))).count();
        (below as u8, above as u8)
    }

    fn skip_those_that_came(&mut self) {
        while self.next < self.end && self.bit(self.next) {
            let (word, mask) = self.place(self.next);
            self.words[word] &= !mask;
            self.beyond -= 1;
            self.next += 1;
        }
        self.end = self.end.max(self.next);
    }

    fn bit(&self, number: u32) -> bool {
        let (word, mask) = self.place(number);
        self.words[word] & mask != 0
    }

    const fn place(&self, number: u32) -> (usize, u64) {
        ((number as usize / 64) & self.words.len().wrapping_sub(1), 1 << (number % 64))
    }

    /// Room for all from `next` to `number`; a word may hold the start of one round or the end of the next, never both.
    fn make_room(&mut self, number: u32) {
        let words = (number / 64 - self.next / 64 + 1) as usize;
        if words > self.words.len() {
            self.grow(words.next_power_of_two());
        }
    }

    #[cold]
    fn grow(&mut self, words: usize) {
        let mut larger = Self { words: vec![0; words], ..*self };
        for number in (self.next..self.end).filter(|number| self.bit(*number)) {
            let (word, mask) = larger.place(number);
            larger.words[word] |= mask;
        }
        *self = larger;
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn knows_what_a_set_knows(steps in prop::collection::vec(0..300_u32, 0..300)) {
            let (mut arrivals, mut model) = (Arrivals::new(), BTreeSet::new());
            for (ahead, step) in steps.into_iter().enumerate() {
                let number = step + ahead as u32 / 2;
                prop_assert_eq!(arrivals.insert(number), model.insert(number));
                let next = (0..).find(|it| !model.contains(it)).unwrap();
                prop_assert_eq!(arrivals.next(), next);
                prop_assert_eq!(arrivals.has_gap(), model.range(next..).next().is_some());
                prop_assert_eq!(arrivals.beyond() as usize, model.range(next..).count());
                prop_assert!((0..600).all(|it| arrivals.contains(it) == model.contains(&it)));
                let (below, above) = arrivals.run_around(number, 9);
                let came = |it: u32| it >= next && model.contains(&it);
                prop_assert_eq!(usize::from(below), (1..10).take_while(|it| number >= *it && came(number - it)).count());
                prop_assert_eq!(usize::from(above), (1..10).take_while(|it| came(number + it)).count());
            }
        }
    }
}
