use std::cmp::Reverse;
use std::collections::BinaryHeap;

use braid_topology::NodeIndex;

/// Nodes by distance, then by index, so that ties are settled the same way every time.
#[derive(Debug, Default)]
pub(crate) struct Queue(BinaryHeap<Reverse<(i64, NodeIndex)>>);

impl Queue {
    pub(crate) fn restart(&mut self, node: NodeIndex) {
        self.clear();
        self.push(0, node);
    }

    pub(crate) fn clear(&mut self) {
        self.0.clear();
    }

    pub(crate) fn push(&mut self, distance: i64, node: NodeIndex) {
        self.0.push(Reverse((distance, node)));
    }

    pub(crate) fn pop(&mut self) -> Option<(i64, NodeIndex)> {
        self.0.pop().map(|Reverse(nearest)| nearest)
    }
}
