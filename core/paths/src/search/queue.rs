//! The priority queue of searches by distance, with reproducible tie breaks.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use braid_topology::NodeIndex;

/// Nodes by distance, for searches whose distances never decrease. Ties are broken in the same way every time.
#[derive(Debug)]
pub(crate) struct Queue {
    // The nodes as far as the last one taken. Where many are equally far, this spares the heap, and searches depth first
    // instead of breadth first.
    here: Vec<NodeIndex>,
    distance: i64,
    further: BinaryHeap<Reverse<(i64, u32, NodeIndex)>>,
    // Of equally distant nodes, the one with the least product of its number and this comes first.
    factor: u32,
}

impl Default for Queue {
    fn default() -> Self {
        Self { here: Vec::new(), distance: 0, further: BinaryHeap::new(), factor: 1 }
    }
}

impl Queue {
    /// Begins at a node; of several at the same distance, the one with the least number comes first.
    pub(crate) fn restart(&mut self, node: NodeIndex) {
        self.restart_by(1, node);
    }

    /// The same, with numbers multiplied by an odd `factor`.
    pub(crate) fn restart_by(&mut self, factor: u32, node: NodeIndex) {
        self.clear();
        self.factor = factor;
        self.push(0, node);
    }

    pub(crate) fn clear(&mut self) {
        self.here.clear();
        self.further.clear();
        self.distance = 0;
        self.factor = 1;
    }

    pub(crate) fn push(&mut self, distance: i64, node: NodeIndex) {
        if distance == self.distance {
            self.here.push(node);
        } else {
            let rank = (node.index() as u32).wrapping_mul(self.factor);
            self.further.push(Reverse((distance, rank, node)));
        }
    }

    pub(crate) fn pop(&mut self) -> Option<(i64, NodeIndex)> {
        if let Some(node) = self.here.pop() {
            return Some((self.distance, node));
        }
        let Reverse((distance, _, node)) = self.further.pop()?;
        self.distance = distance;
        Some((distance, node))
    }

    /// The number of nodes as far as the last one taken.
    pub(crate) fn near(&self) -> usize {
        self.here.len()
    }

    /// Rotates the order of the equally distant nodes beyond `from`, by `draw` of their number.
    pub(crate) fn rotate(&mut self, from: usize, draw: impl FnOnce(usize) -> usize) {
        let Some(new @ [_, _, ..]) = self.here.get_mut(from..) else { return };
        let by = draw(new.len());
        new.rotate_left(by);
    }
}
