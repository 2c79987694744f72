//! Distances of all switches to the egress, or from the ingress.

use braid_topology::{EdgeIndex, Graph, NodeIndex};

use super::Queue;
use crate::network::{BARRED, Lengths};

/// By node: its distance to one egress, as far as it was measured; [`BARRED`] where no path is known.
#[derive(Debug)]
pub(crate) struct Distances {
    to_egress: Vec<i64>,
    // By node: links from the ingress, when both ends are searched from.
    from_ingress: Vec<u32>,
    // The nodes that were reached last, from the egress and from the ingress.
    back: Vec<NodeIndex>,
    ahead: Vec<NodeIndex>,
    next: Vec<NodeIndex>,
}

const UNSEEN: u32 = u32::MAX;

/// The direction of a search.
trait Towards {
    fn neighbours(graph: &Graph, node: NodeIndex) -> impl Iterator<Item = (EdgeIndex, NodeIndex)>;
}

/// From the egress back.
struct Back;

/// From the ingress on.
struct Ahead;

impl Towards for Back {
    fn neighbours(graph: &Graph, node: NodeIndex) -> impl Iterator<Item = (EdgeIndex, NodeIndex)> {
        graph.in_edges(node).iter().copied()
    }
}

impl Towards for Ahead {
    fn neighbours(graph: &Graph, node: NodeIndex) -> impl Iterator<Item = (EdgeIndex, NodeIndex)> {
        graph.out_edges(node).map(|edge| (edge, graph.head(edge)))
    }
}

impl Distances {
    pub(crate) fn new(nodes: usize) -> Self {
        Self {
            to_egress: vec![BARRED; nodes],
            from_ingress: vec![UNSEEN; nodes],
            back: Vec::new(),
            ahead: Vec::new(),
            next: Vec::new(),
        }
    }

    pub(crate) fn of(&self, node: NodeIndex) -> i64 {
        self.to_egress[node.index()]
    }

    /// Whether a path from `node` to the egress is known.
    pub(crate) fn reaches(&self, node: NodeIndex) -> bool {
        self.of(node) != BARRED
    }

    pub(crate) fn as_slice(&self) -> &[i64] {
        &self.to_egress
    }

    /// Whether the link is the first of a shortest path to the egress.
    pub(crate) fn is_tight(&self, graph: &Graph, lengths: &Lengths, edge: EdgeIndex) -> bool {
        let (tail, head) = (self.of(graph.tail(edge)), self.of(graph.head(edge)));
        tail != BARRED && tail == head.saturating_add(lengths.of(edge))
    }

    /// Measures every node with a path to `to`. O(V + E) when all links are equal, else O((V + E) log V).
    pub(crate) fn measure_all(&mut self, graph: &Graph, lengths: &Lengths, queue: &mut Queue, to: NodeIndex) {
        match lengths.unit() {
            Some(unit) => self.breadth_first(graph, lengths, unit, to),
            None => self.dijkstra::<Back>(graph, lengths, queue, to, None),
        }
    }

    /// Measures every node's distance *from* `from`; the other methods do not apply afterwards. O((V + E) log V).
    pub(crate) fn measure_from(
        &mut self,
        graph: &Graph,
        lengths: &Lengths,
        queue: &mut Queue,
        from: NodeIndex,
    ) {
        self.dijkstra::<Ahead>(graph, lengths, queue, from, None);
    }

    /// Measures at least the nodes of all shortest paths from `from` to `to`.
    pub(crate) fn measure_between(
        &mut self,
        graph: &Graph,
        lengths: &Lengths,
        queue: &mut Queue,
        (from, to): (NodeIndex, NodeIndex),
    ) {
        match lengths.unit() {
            Some(unit) => self.bidirectional(graph, lengths, unit, (from, to)),
            None => self.dijkstra::<Back>(graph, lengths, queue, to, Some(from)),
        }
    }

    fn dijkstra<T: Towards>(
        &mut self,
        graph: &Graph,
        lengths: &Lengths,
        queue: &mut Queue,
        end: NodeIndex,
        until: Option<NodeIndex>,
    ) {
        self.to_egress.fill(BARRED);
        self.to_egress[end.index()] = 0;
        queue.restart(end);
        while let Some((distance, node)) = queue.pop() {
            if Some(node) == until {
                return;
            }
            if distance > self.of(node) {
                continue;
            }
            for (edge, next) in T::neighbours(graph, node) {
                let through = distance.saturating_add(lengths.of(edge));
                if through < self.of(next) {
                    self.to_egress[next.index()] = through;
                    queue.push(through, next);
                }
            }
        }
    }

    fn breadth_first(&mut self, graph: &Graph, lengths: &Lengths, unit: i64, to: NodeIndex) {
        self.to_egress.fill(BARRED);
        self.to_egress[to.index()] = 0;
        self.back.clear();
        self.back.push(to);
        let mut distance = 0;
        while !self.back.is_empty() {
            distance += unit;
            self.step_back(graph, lengths, distance);
        }
    }

    /// Searches from both ends, a layer of the smaller side at a time, until they meet. Most of a large network is
    /// never visited.
    fn bidirectional(
        &mut self,
        graph: &Graph,
        lengths: &Lengths,
        unit: i64,
        (from, to): (NodeIndex, NodeIndex),
    ) {
        self.to_egress.fill(BARRED);
        self.from_ingress.fill(UNSEEN);
        self.to_egress[to.index()] = 0;
        self.from_ingress[from.index()] = 0;
        for (side, end) in [(&mut self.back, to), (&mut self.ahead, from)] {
            side.clear();
            side.push(end);
        }
        let (mut backward, mut forward, mut met) = (0, 0, from == to);
        while !met && !self.back.is_empty() && !self.ahead.is_empty() {
            if self.back.len() <= self.ahead.len() {
                backward += unit;
                self.step_back(graph, lengths, backward);
                met = self.back.iter().any(|node| self.from_ingress[node.index()] != UNSEEN);
            } else {
                forward += 1;
                self.step_ahead(graph, lengths, forward);
                met = self.ahead.iter().any(|node| self.of(*node) != BARRED);
            }
        }
        if met {
            self.join(graph, lengths, unit, forward);
        }
    }

    /// Sets this distance for the nodes one link before those of `back`, and makes them the new `back`.
    fn step_back(&mut self, graph: &Graph, lengths: &Lengths, distance: i64) {
        self.next.clear();
        for node in &self.back {
            for (edge, tail) in graph.in_edges(*node).iter().copied() {
                if self.to_egress[tail.index()] == BARRED && !lengths.is_barred(edge) {
                    self.to_egress[tail.index()] = distance;
                    self.next.push(tail);
                }
            }
        }
        std::mem::swap(&mut self.back, &mut self.next);
    }

    fn step_ahead(&mut self, graph: &Graph, lengths: &Lengths, hops: u32) {
        self.next.clear();
        for node in &self.ahead {
            for edge in graph.out_edges(*node) {
                let head = graph.head(edge);
                if self.from_ingress[head.index()] == UNSEEN && !lengths.is_barred(edge) {
                    self.from_ingress[head.index()] = hops;
                    self.next.push(head);
                }
            }
        }
        std::mem::swap(&mut self.ahead, &mut self.next);
    }

    /// The sides have met in the newest layer of the ingress' side, `forward` links from it: measures the nodes of
    /// shortest paths on that side.
    fn join(&mut self, graph: &Graph, lengths: &Lengths, unit: i64, forward: u32) {
        let mut layer = std::mem::take(&mut self.ahead);
        layer.retain(|node| self.of(*node) != BARRED);
        for hops in (0..forward).rev() {
            self.next.clear();
            for node in &layer {
                let distance = self.of(*node) + unit;
                for (edge, tail) in graph.in_edges(*node).iter().copied() {
                    let before = self.from_ingress[tail.index()] == hops;
                    if before && self.to_egress[tail.index()] == BARRED && !lengths.is_barred(edge) {
                        self.to_egress[tail.index()] = distance;
                        self.next.push(tail);
                    }
                }
            }
            std::mem::swap(&mut layer, &mut self.next);
        }
        self.ahead = layer;
    }
}
