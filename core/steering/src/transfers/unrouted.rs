//! Streams without a route.

use std::collections::BTreeSet;

use crate::ids::StreamId;

/// A set of streams. The last one that was added lies beside the others: most streams get a route at once, and then cost
/// no change of a tree.
///
/// Invariant: `last` is not among `others`.
#[derive(Debug, Default)]
pub(super) struct Unrouted {
    last: Option<StreamId>,
    others: BTreeSet<StreamId>,
}

impl Unrouted {
    pub(super) fn insert(&mut self, id: StreamId) {
        if self.last != Some(id) && !self.others.contains(&id) {
            self.others.extend(self.last.replace(id));
        }
    }

    pub(super) fn remove(&mut self, id: StreamId) {
        if self.last == Some(id) {
            self.last = None;
        } else {
            self.others.remove(&id);
        }
    }

    /// In the order of numbers.
    pub(super) fn iter(&self) -> impl Iterator<Item = StreamId> {
        let between = self.last.unwrap_or(StreamId(0));
        self.others.range(..between).chain(&self.last).chain(self.others.range(between..)).copied()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn it_holds_what_a_set_does(changes in prop::collection::vec((0_u64..8, any::<bool>()), 0..60)) {
            let (mut unrouted, mut set) = (Unrouted::default(), BTreeSet::new());
            for (id, is_added) in changes {
                if is_added {
                    unrouted.insert(StreamId(id));
                    set.insert(StreamId(id));
                } else {
                    unrouted.remove(StreamId(id));
                    set.remove(&StreamId(id));
                }
                prop_assert!(unrouted.iter().eq(set.iter().copied()));
            }
        }
    }
}
