//! Spur paths: the shortest from a switch of a path to the egress that avoid the switches before it. Yen (1971).

use braid_topology::{EdgeIndex, Graph, NodeIndex};

use crate::network::{BARRED, Lengths};
use crate::search::{Distances, Queue};

/// The network, and the distances to the egress that guide a search.
#[derive(Debug)]
pub(super) struct Guide<'a> {
    pub(super) graph: &'a Graph,
    pub(super) lengths: &'a Lengths,
    pub(super) distances: &'a Distances,
}

/// Searches for spur paths, with the memory that they reuse.
#[derive(Debug, Default)]
pub(super) struct SpurSearch {
    // By node: the round in which it was part of the prefix.
    prefix: Vec<u32>,
    round: u32,
    // By node: its distance from the spur, BARRED but for those in `reached`.
    from_spur: Vec<i64>,
    reached: Vec<NodeIndex>,
    // By node: whether a shortest spur path passes it; nodes in `reached` only.
    on_spur_path: Vec<bool>,
    stack: Vec<NodeIndex>,
    // The number of links visited.
    looked_at: u64,
}

impl SpurSearch {
    /// Makes room for a network of so many nodes, and resets the count of visited links.
    pub(super) fn prepare(&mut self, nodes: usize) {
        self.prefix.resize(nodes, 0);
        self.from_spur.resize(nodes, BARRED);
        self.on_spur_path.resize(nodes, false);
        self.looked_at = 0;
    }

    pub(super) const fn looked_at(&self) -> u64 {
        self.looked_at
    }

    /// Starts with a path that has no switch yet.
    pub(super) fn clear_prefix(&mut self) {
        if self.round == u32::MAX {
            self.prefix.fill(0);
            self.round = 0;
        }
        self.round += 1;
    }

    /// Adds a switch to the prefix. The last one added is the spur, where spur paths begin.
    pub(super) fn add_to_prefix(&mut self, node: NodeIndex) {
        self.prefix[node.index()] = self.round;
    }

    fn is_free(&self, node: NodeIndex) -> bool {
        self.prefix[node.index()] != self.round
    }

    /// The first link, and the length, of a shortest spur path with switches of the prefix barred at the first link only:
    /// no spur path is shorter.
    pub(super) fn first_step(
        &mut self,
        guide: &Guide<'_>,
        spur: NodeIndex,
        banned: &[EdgeIndex],
    ) -> Option<(i64, EdgeIndex)> {
        self.looked_at += guide.graph.out_edges(spur).len() as u64;
        // Both are in the order of ports.
        let mut banned = banned.iter().peekable();
        let allowed = guide.graph.out_edges(spur).filter(|edge| banned.next_if_eq(&edge).is_none());
        let steps = allowed.filter_map(|edge| {
            let head = guide.graph.head(edge);
            let usable =
                !guide.lengths.is_barred(edge) && guide.distances.reaches(head) && self.is_free(head);
            let bound = usable.then(|| guide.lengths.of(edge) + guide.distances.of(head))?;
            Some((bound, edge))
        });
        steps.min()
    }

    /// Extends the route over this link to the egress, over the lowest ports of all shortest paths onwards. Returns
    /// `false` and leaves the route unchanged if that path meets the prefix, which is rare.
    pub(super) fn follow_tree(
        &mut self,
        guide: &Guide<'_>,
        first: EdgeIndex,
        to: NodeIndex,
        route: &mut Vec<EdgeIndex>,
    ) -> bool {
        let links = route.len();
        route.push(first);
        let mut node = guide.graph.head(first);
        while node != to {
            let tight = |edge: &EdgeIndex| guide.distances.is_tight(guide.graph, guide.lengths, *edge);
            let mut edges = guide.graph.out_edges(node);
            self.looked_at += edges.len() as u64;
            let next = edges.find(tight);
            let Some(edge) = next.filter(|edge| self.is_free(guide.graph.head(*edge))) else {
                route.truncate(links);
                return false;
            };
            node = guide.graph.head(edge);
            route.push(edge);
        }
        true
    }

    /// Extends the route over the shortest spur path; of equal ones, over the lowest ports. Returns `false` if there is
    /// none. A*, guided by the distances.
    pub(super) fn search(
        &mut self,
        guide: &Guide<'_>,
        queue: &mut Queue,
        (spur, to): (NodeIndex, NodeIndex),
        banned: &[EdgeIndex],
        route: &mut Vec<EdgeIndex>,
    ) -> bool {
        self.measure(guide, queue, (spur, to), banned);
        let found = self.from_spur[to.index()] != BARRED;
        if found {
            self.mark_spur_paths(guide, to, banned);
            self.descend(guide, (spur, to), banned, route);
        }
        for node in self.reached.drain(..) {
            self.from_spur[node.index()] = BARRED;
            self.on_spur_path[node.index()] = false;
        }
        found
    }

    /// Sets the distance from the spur of every switch that a shortest spur path may pass.
    fn measure(
        &mut self,
        guide: &Guide<'_>,
        queue: &mut Queue,
        (spur, to): (NodeIndex, NodeIndex),
        banned: &[EdgeIndex],
    ) {
        queue.clear();
        self.reach(guide, queue, spur, 0);
        let mut shortest = BARRED;
        while let Some((through, node)) = queue.pop().filter(|(through, _)| *through <= shortest) {
            if node == to {
                shortest = through;
            }
            let distance = self.from_spur[node.index()];
            // A stale entry: a shorter path was found since.
            if node == to || through > distance + guide.distances.of(node) {
                continue;
            }
            let edges = guide.graph.out_edges(node);
            self.looked_at += edges.len() as u64;
            for edge in edges {
                let head = guide.graph.head(edge);
                let usable =
                    !guide.lengths.is_barred(edge) && guide.distances.reaches(head) && self.is_free(head);
                if usable && !is_banned(banned, edge) {
                    self.reach(guide, queue, head, distance + guide.lengths.of(edge));
                }
            }
        }
    }

    fn reach(&mut self, guide: &Guide<'_>, queue: &mut Queue, node: NodeIndex, distance: i64) {
        let known = &mut self.from_spur[node.index()];
        if distance < *known {
            if *known == BARRED {
                self.reached.push(node);
            }
            *known = distance;
            queue.push(distance + guide.distances.of(node), node);
        }
    }

    /// Marks the switches on shortest spur paths, from the egress back.
    fn mark_spur_paths(&mut self, guide: &Guide<'_>, to: NodeIndex, banned: &[EdgeIndex]) {
        self.stack.push(to);
        self.on_spur_path[to.index()] = true;
        while let Some(node) = self.stack.pop() {
            for (edge, tail) in guide.graph.in_edges(node).iter().copied() {
                if self.is_step(guide, edge, banned) && !self.on_spur_path[tail.index()] {
                    self.on_spur_path[tail.index()] = true;
                    self.stack.push(tail);
                }
            }
        }
    }

    /// Whether this link is on a shortest path from the spur to the link's end.
    fn is_step(&self, guide: &Guide<'_>, edge: EdgeIndex, banned: &[EdgeIndex]) -> bool {
        let tail = self.from_spur[guide.graph.tail(edge).index()];
        let head = self.from_spur[guide.graph.head(edge).index()];
        tail != BARRED && tail.saturating_add(guide.lengths.of(edge)) == head && !is_banned(banned, edge)
    }

    fn descend(
        &self,
        guide: &Guide<'_>,
        (spur, to): (NodeIndex, NodeIndex),
        banned: &[EdgeIndex],
        route: &mut Vec<EdgeIndex>,
    ) {
        let mut node = spur;
        while node != to {
            let onwards = |edge: &EdgeIndex| {
                self.on_spur_path[guide.graph.head(*edge).index()] && self.is_step(guide, *edge, banned)
            };
            let Some(edge) = guide.graph.out_edges(node).find(onwards) else { break };
            route.push(edge);
            node = guide.graph.head(edge);
        }
    }
}

fn is_banned(banned: &[EdgeIndex], edge: EdgeIndex) -> bool {
    banned.binary_search(&edge).is_ok()
}
