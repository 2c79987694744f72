//! The event queue: a calendar queue with O(1) operations. Brown (1988).

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::Picos;

/// 16 days of 64 hours of 64 slots: a bit each says whether there is anything, and three words find what is next.
const SLOTS: usize = 1 << 16;
const DAYS: usize = SLOTS / 64 / 64;
const NONE: u32 = u32::MAX;

/// A calendar queue (Brown, 1988) of items that are each due at most once.
///
/// Items are numbered, so that the list of a slot needs no memory of its own: each item names the next one. Items due
/// after the last slot wait in a heap. Items due at the same time come in the order in which they were entered, or
/// left the heap: the same in every run. `push` and `pop` are O(1) for slots about as wide as the mean time between
/// events.
#[derive(Clone, Debug)]
pub struct EventQueue {
    heads: Vec<u32>,
    levels: [Vec<u64>; 3],
    things: Vec<Thing>,
    far: BinaryHeap<Reverse<(Picos, u64, u32)>>,
    far_slot: u64,
    entered: u64,
    /// The slot of the last event, counted from the start of time.
    slot: u64,
    shift: u32,
}

#[derive(Clone, Copy, Debug)]
struct Thing {
    due: Picos,
    next: u32,
}

impl EventQueue {
    /// An empty queue, for events about `spacing` apart.
    pub fn new(spacing: Picos) -> Self {
        let levels = [SLOTS / 64, DAYS, 1].map(|words| vec![0; words]);
        Self {
            heads: vec![NONE; SLOTS],
            levels,
            things: Vec::new(),
            far: BinaryHeap::new(),
            far_slot: u64::MAX,
            entered: 0,
            slot: 0,
            shift: spacing.0.max(1).ilog2().min(40),
        }
    }

    /// Makes room for items with numbers below `count`.
    pub fn reserve(&mut self, count: usize) {
        let nothing = Thing { due: Picos::NEVER, next: NONE };
        self.things.resize(count.max(self.things.len()), nothing);
    }

    /// Enters an item that is not in the queue, due now or later.
    pub fn push(&mut self, thing: u32, due: Picos) {
        self.things[thing as usize].due = due;
        let slot = (due.0 >> self.shift).max(self.slot);
        if slot - self.slot < SLOTS as u64 {
            self.insert(thing, due, slot as usize % SLOTS);
        } else {
            self.entered += 1;
            self.far.push(Reverse((due, self.entered, thing)));
            self.far_slot = self.far_slot.min(slot);
        }
    }

    /// Takes out the next item, if it is due by `until`.
    pub fn pop(&mut self, until: Picos) -> Option<(u32, Picos)> {
        if self.far_slot.wrapping_sub(self.slot) < SLOTS as u64 {
            self.fetch();
        }
        let place = match self.next_place() {
            Some(place) => place,
            None if self.far.is_empty() || self.far_slot > until.0 >> self.shift => return None,
            None => {
                self.slot = self.far_slot;
                self.fetch();
                self.slot as usize % SLOTS
            }
        };
        let head = self.heads[place];
        let Thing { due, next } = self.things[head as usize];
        if due > until {
            return None;
        }
        self.heads[place] = next;
        if next == NONE {
            self.clear(place);
        }
        self.slot += (place.wrapping_sub(self.slot as usize) % SLOTS) as u64;
        Some((head, due))
    }

    fn insert(&mut self, thing: u32, due: Picos, place: usize) {
        let head = self.heads[place];
        if head == NONE {
            self.mark(place);
        }
        if head == NONE || self.things[head as usize].due > due {
            self.things[thing as usize].next = head;
            self.heads[place] = thing;
            return;
        }
        let mut before = head as usize;
        loop {
            let next = self.things[before].next;
            if next == NONE || self.things[next as usize].due > due {
                break;
            }
            before = next as usize;
        }
        self.things[thing as usize].next = self.things[before].next;
        self.things[before].next = thing;
    }

    /// Moves items due within the slots from the heap to them.
    #[cold]
    fn fetch(&mut self) {
        while let Some(Reverse((due, _, thing))) = self.far.peek().copied() {
            let slot = due.0 >> self.shift;
            if slot - self.slot >= SLOTS as u64 {
                self.far_slot = slot;
                return;
            }
            self.far.pop();
            self.insert(thing, due, slot as usize % SLOTS);
        }
        self.far_slot = u64::MAX;
    }

    /// The first slot in use from the current one on, round the end.
    fn next_place(&self) -> Option<usize> {
        let from = self.slot as usize % SLOTS;
        self.first_from(from).or_else(|| self.first_from(0))
    }

    fn first_from(&self, from: usize) -> Option<usize> {
        let [hours, days, all] = &self.levels;
        let after = |word: u64, bit: usize| word & (u64::MAX << bit);
        let first = after(hours[from / 64], from % 64);
        if first != 0 {
            return Some(from / 64 * 64 + first.trailing_zeros() as usize);
        }
        let (hour, day) = (from / 64 + 1, from / 64 / 64);
        let second = if hour % 64 == 0 { 0 } else { after(days[day], hour % 64) };
        let day_found = match second {
            0 if day + 1 >= DAYS => return None,
            0 => after(all[0], day + 1),
            _ => 1 << day,
        };
        let day = (day_found != 0).then(|| day_found.trailing_zeros() as usize)?;
        let word = if second == 0 { days[day] } else { second };
        let hour = day * 64 + word.trailing_zeros() as usize;
        Some(hour * 64 + hours[hour].trailing_zeros() as usize)
    }

    fn mark(&mut self, place: usize) {
        self.levels[0][place / 64] |= 1 << (place % 64);
        self.levels[1][place / 64 / 64] |= 1 << (place / 64 % 64);
        self.levels[2][0] |= 1 << (place / 64 / 64);
    }

    fn clear(&mut self, place: usize) {
        let [hours, days, all] = &mut self.levels;
        hours[place / 64] &= !(1 << (place % 64));
        if hours[place / 64] == 0 {
            days[place / 64 / 64] &= !(1 << (place / 64 % 64));
            if days[place / 64 / 64] == 0 {
                all[0] &= !(1 << (place / 64 / 64));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        /// Against a sorted list; ends of slots, rounds and the heap are all within reach of the times.
        #[test]
        fn things_come_in_the_order_of_their_times(
            spacing in 1..5_000_u64,
            steps in prop::collection::vec((any::<bool>(), 0..28_u32, any::<u32>()), 1..400),
        ) {
            let mut queue = EventQueue::new(Picos(spacing));
            queue.reserve(steps.len());
            let (mut model, mut now) = (Vec::new(), Picos::ZERO);
            for (thing, (push, scale, after)) in (0..).zip(steps) {
                if push {
                    let due = now + Picos(u64::from(after) >> (28 - scale));
                    queue.push(thing, due);
                    model.push(due);
                    model.sort_unstable();
                } else {
                    let until = now + Picos(u64::from(after));
                    let popped = queue.pop(until).map(|(_, due)| due);
                    let expected = model.first().copied().filter(|due| *due <= until);
                    prop_assert_eq!(popped, expected);
                    if let Some(due) = popped {
                        model.remove(0);
                        now = due;
                    }
                }
            }
            for due in model {
                prop_assert_eq!(queue.pop(Picos::NEVER).map(|(_, at)| at), Some(due));
            }
            prop_assert_eq!(queue.pop(Picos::NEVER), None);
        }
    }

    #[test]
    fn things_that_are_due_together_come_in_the_order_in_which_they_were_entered() {
        let mut queue = EventQueue::new(Picos(100));
        queue.reserve(4);
        [2, 0, 3, 1].into_iter().for_each(|thing| queue.push(thing, Picos(70)));
        let order: Vec<_> = std::iter::from_fn(|| queue.pop(Picos::NEVER)).map(|(thing, _)| thing).collect();
        assert_eq!(order, [2, 0, 3, 1]);
    }
}
