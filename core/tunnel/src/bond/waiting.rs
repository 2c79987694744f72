//! Packets that wait here for a path, each flow in a line of its own, so that none waits for another's burst. After RFC 8290.

use std::collections::VecDeque;

/// Lines; flows that fall on one share it.
const LINES: usize = 256;
/// What a line may send before it is the turn of the next one, in bytes.
const QUANTUM: i64 = 1_514;

/// Lines of items with sizes. Those that have sent nothing lately come first, the others take turns.
#[derive(Debug)]
pub(super) struct Waiting<T> {
    // Invariant: empty, or `LINES` of them.
    lines: Vec<FlowLine<T>>,
    sparse: VecDeque<usize>,
    busy: VecDeque<usize>,
    bytes: usize,
}

#[derive(Debug)]
struct FlowLine<T> {
    items: VecDeque<(usize, T)>,
    bytes: usize,
    credit: i64,
    /// Whether it is in one of the lists.
    is_listed: bool,
}

impl<T> Default for Waiting<T> {
    fn default() -> Self {
        Self { lines: Vec::new(), sparse: VecDeque::new(), busy: VecDeque::new(), bytes: 0 }
    }
}

impl<T> Default for FlowLine<T> {
    fn default() -> Self {
        Self { items: VecDeque::new(), bytes: 0, credit: 0, is_listed: false }
    }
}

impl<T> Waiting<T> {
    pub(super) const fn bytes(&self) -> usize {
        self.bytes
    }

    /// Whether nothing has waited since all lines had their turns.
    pub(super) fn is_idle(&self) -> bool {
        self.sparse.is_empty() && self.busy.is_empty()
    }

    /// Whether one more item of a flow may wait: within the limit, or within the flow's part of it.
    pub(super) fn admits(&self, flow: u64, size: usize, limit: usize) -> bool {
        let part = limit.checked_div(self.active().saturating_add(1)).unwrap_or(limit);
        self.bytes.saturating_add(size) <= limit || self.own(flow).saturating_add(size) <= part
    }

    /// The bytes that leave before the next item of a flow, about.
    pub(super) fn ahead_of(&self, flow: u64) -> usize {
        self.own(flow).saturating_mul(self.active()).min(self.bytes)
    }

    pub(super) fn push(&mut self, flow: u64, size: usize, item: T) {
        if self.lines.is_empty() {
            self.lines.resize_with(LINES, FlowLine::default);
        }
        // What has no size would not count as waiting.
        let (place, size) = (place_of(flow), size.max(1));
        let Some(line) = self.lines.get_mut(place) else { return };
        line.items.push_back((size, item));
        line.bytes = line.bytes.saturating_add(size);
        self.bytes = self.bytes.saturating_add(size);
        if !std::mem::replace(&mut line.is_listed, true) {
            line.credit = QUANTUM;
            self.sparse.push_back(place);
        }
    }

    pub(super) fn pop(&mut self) -> Option<T> {
        loop {
            let is_sparse = !self.sparse.is_empty();
            let list = if is_sparse { &mut self.sparse } else { &mut self.busy };
            let place = *list.front()?;
            let line = self.lines.get_mut(place)?;
            if line.credit <= 0 {
                line.credit = line.credit.saturating_add(QUANTUM);
                list.pop_front();
                self.busy.push_back(place);
            } else if let Some((size, item)) = line.items.pop_front() {
                line.credit = line.credit.saturating_sub(i64::try_from(size).unwrap_or(i64::MAX));
                line.bytes = line.bytes.saturating_sub(size);
                self.bytes = self.bytes.saturating_sub(size);
                return Some(item);
            } else {
                list.pop_front();
                // One that has run empty is not sparse again before the others had their turn.
                let stays = is_sparse && !self.busy.is_empty();
                line.is_listed = stays;
                self.busy.extend(stays.then_some(place));
            }
        }
    }

    fn own(&self, flow: u64) -> usize {
        self.lines.get(place_of(flow)).map_or(0, |line| line.bytes)
    }

    fn active(&self) -> usize {
        self.sparse.len().saturating_add(self.busy.len())
    }
}

const fn place_of(flow: u64) -> usize {
    flow as usize % LINES
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_flow_that_sends_little_does_not_wait_for_one_that_sends_much() {
        let mut waiting = Waiting::default();
        (0..100).for_each(|number| waiting.push(1, 1_500, (1, number)));
        assert_eq!(waiting.pop(), Some((1, 0)));
        waiting.push(2, 100, (2, 0));
        assert!(waiting.ahead_of(3) == 0 && waiting.ahead_of(1) > 100_000);
        let next: Vec<_> = (0..3).filter_map(|_| waiting.pop()).collect();
        assert!(next.contains(&(2, 0)), "{next:?}");
    }

    #[test]
    fn flows_that_send_much_get_equal_parts_whatever_the_sizes() {
        let mut waiting = Waiting::default();
        (0..300).for_each(|_| waiting.push(1, 1_500, 1_500));
        (0..3_000).for_each(|_| waiting.push(2, 150, 150));
        let mut bytes = BTreeMap::new();
        for size in (0..600).filter_map(|_| waiting.pop()) {
            *bytes.entry(size).or_insert(0) += size;
        }
        let [small, large] = [bytes[&150], bytes[&1_500]].map(f64::from);
        assert!((0.9..1.1).contains(&(small / large)), "{bytes:?}");
    }

    #[test]
    fn what_is_full_takes_packets_only_of_flows_that_send_little() {
        let mut waiting = Waiting::default();
        (0..10).for_each(|_| waiting.push(1, 1_000, ()));
        assert!(waiting.admits(1, 1_000, 11_000) && !waiting.admits(1, 1_000, 10_000));
        assert!(waiting.admits(2, 1_000, 10_000));
    }

    proptest! {
        #[test]
        fn each_item_leaves_once_and_those_of_a_flow_in_order(
            steps in prop::collection::vec((any::<bool>(), 0..5_u64, 0..3_000_usize), 1..300)
        ) {
            let (mut waiting, mut counts, mut left) = (Waiting::default(), [0; 5], [0; 5]);
            for (is_push, flow, size) in steps {
                if is_push {
                    waiting.push(flow, size, (flow, counts[flow as usize]));
                    counts[flow as usize] += 1;
                } else if let Some((flow, number)) = waiting.pop() {
                    prop_assert_eq!(number, left[flow as usize]);
                    left[flow as usize] += 1;
                }
            }
            while let Some((flow, number)) = waiting.pop() {
                prop_assert_eq!(number, left[flow as usize]);
                left[flow as usize] += 1;
            }
            prop_assert_eq!(left, counts);
            prop_assert!(waiting.bytes() == 0 && waiting.active() == 0);
        }
    }
}
