use std::cmp::Reverse;
use std::collections::BinaryHeap;

use braid_topology::NodeIndex;

/// Nodes by distance, for searches in which no distance is less than that of the node before. Ties are settled the
/// same way every time.
#[derive(Debug, Default)]
pub(crate) struct Queue {
    // Those as far as the last one that was taken. Where many are equally far, this spares the heap, and goes straight
    // ahead instead of side by side.
    here: Vec<NodeIndex>,
    distance: i64,
    further: BinaryHeap<Reverse<(i64, NodeIndex)>>,
}

impl Queue {
    pub(crate) fn restart(&mut self, node: NodeIndex) {
        self.clear();
        self.push(0, node);
    }

    pub(crate) fn clear(&mut self) {
        self.here.clear();
        self.further.clear();
        self.distance = 0;
    }

    pub(crate) fn push(&mut self, distance: i64, node: NodeIndex) {
        if distance == self.distance {
            self.here.push(node);
        } else {
            self.further.push(Reverse((distance, node)));
        }
    }

    pub(crate) fn pop(&mut self) -> Option<(i64, NodeIndex)> {
        if let Some(node) = self.here.pop() {
            return Some((self.distance, node));
        }
        let Reverse((distance, node)) = self.further.pop()?;
        self.distance = distance;
        Some((distance, node))
    }
}
