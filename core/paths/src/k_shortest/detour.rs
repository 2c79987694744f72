//! The shortest way from a switch of a path to the egress that avoids the switches before it.

use braid_topology::{EdgeIndex, Graph, NodeIndex};

use crate::distances::Distances;
use crate::finder::{BARRED, Lengths};
use crate::queue::Queue;

/// The network as one search sees it.
#[derive(Debug)]
pub(super) struct Network<'a> {
    pub(super) graph: &'a Graph,
    pub(super) lengths: &'a Lengths,
    pub(super) distances: &'a Distances,
}

/// What searches for detours need beside the distances to the egress.
#[derive(Debug)]
pub(crate) struct Detours {
    // By node: the round in which it was part of the prefix.
    prefix: Vec<u32>,
    round: u32,
    // By node: its distance from the spur, BARRED but for those in `reached`.
    from_spur: Vec<i64>,
    reached: Vec<NodeIndex>,
    // By node: whether a shortest detour passes it; nodes in `reached` only.
    on_detour: Vec<bool>,
    stack: Vec<NodeIndex>,
    // How many links were looked at.
    looked_at: u64,
}

impl Detours {
    pub(crate) fn new(nodes: usize) -> Self {
        Self {
            prefix: vec![0; nodes],
            round: 0,
            from_spur: vec![BARRED; nodes],
            reached: Vec::new(),
            on_detour: vec![false; nodes],
            stack: Vec::new(),
            looked_at: 0,
        }
    }

    /// Counts from 0 how many links are looked at.
    pub(super) fn start_counting(&mut self) {
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

    /// The path passes this switch; the one added last is the spur, from where detours begin.
    pub(super) fn add_to_prefix(&mut self, node: NodeIndex) {
        self.prefix[node.index()] = self.round;
    }

    fn is_free(&self, node: NodeIndex) -> bool {
        self.prefix[node.index()] != self.round
    }

    /// The first link of a shortest detour if switches of the prefix were only barred there, and the length of it:
    /// no detour is shorter.
    pub(super) fn first_step(
        &mut self,
        net: &Network<'_>,
        spur: NodeIndex,
        banned: &[EdgeIndex],
    ) -> Option<(i64, EdgeIndex)> {
        self.looked_at += net.graph.out_edges(spur).len() as u64;
        // Both are in the order of ports.
        let mut banned = banned.iter().peekable();
        let allowed = net.graph.out_edges(spur).filter(|edge| banned.next_if_eq(&edge).is_none());
        let steps = allowed.filter_map(|edge| {
            let head = net.graph.head(edge);
            let usable = !net.lengths.is_barred(edge) && net.distances.reaches(head) && self.is_free(head);
            let bound = usable.then(|| net.lengths.of(edge) + net.distances.of(head))?;
            Some((bound, edge))
        });
        steps.min()
    }

    /// Goes on with the route over this link to the egress, over the lowest ports of all shortest paths onwards; `false`
    /// if that comes back to the prefix, which it seldom does. Then the route is as it was.
    pub(super) fn follow_tree(
        &mut self,
        net: &Network<'_>,
        first: EdgeIndex,
        to: NodeIndex,
        route: &mut Vec<EdgeIndex>,
    ) -> bool {
        let links = route.len();
        route.push(first);
        let mut node = net.graph.head(first);
        while node != to {
            let tight = |edge: &EdgeIndex| net.distances.is_tight(net.graph, net.lengths, *edge);
            let mut edges = net.graph.out_edges(node);
            self.looked_at += edges.len() as u64;
            let next = edges.find(tight);
            let Some(edge) = next.filter(|edge| self.is_free(net.graph.head(*edge))) else {
                route.truncate(links);
                return false;
            };
            node = net.graph.head(edge);
            route.push(edge);
        }
        true
    }

    /// Goes on with the route over the shortest detour, of equal ones that over the lowest ports; `false` if there is
    /// none. A*, guided by the distances.
    pub(super) fn search(
        &mut self,
        net: &Network<'_>,
        queue: &mut Queue,
        (spur, to): (NodeIndex, NodeIndex),
        banned: &[EdgeIndex],
        route: &mut Vec<EdgeIndex>,
    ) -> bool {
        self.measure(net, queue, (spur, to), banned);
        let found = self.from_spur[to.index()] != BARRED;
        if found {
            self.mark_detours(net, to, banned);
            self.descend(net, (spur, to), banned, route);
        }
        for node in self.reached.drain(..) {
            self.from_spur[node.index()] = BARRED;
            self.on_detour[node.index()] = false;
        }
        found
    }

    /// Sets the distance from the spur of every switch that a shortest detour may pass.
    fn measure(
        &mut self,
        net: &Network<'_>,
        queue: &mut Queue,
        (spur, to): (NodeIndex, NodeIndex),
        banned: &[EdgeIndex],
    ) {
        queue.clear();
        self.reach(net, queue, spur, 0);
        let mut shortest = BARRED;
        while let Some((through, node)) = queue.pop().filter(|(through, _)| *through <= shortest) {
            if node == to {
                shortest = through;
            }
            let distance = self.from_spur[node.index()];
            // An entry of before a shorter way was found.
            if node == to || through > distance + net.distances.of(node) {
                continue;
            }
            let edges = net.graph.out_edges(node);
            self.looked_at += edges.len() as u64;
            for edge in edges {
                let head = net.graph.head(edge);
                let usable =
                    !net.lengths.is_barred(edge) && net.distances.reaches(head) && self.is_free(head);
                if usable && !is_banned(banned, edge) {
                    self.reach(net, queue, head, distance + net.lengths.of(edge));
                }
            }
        }
    }

    fn reach(&mut self, net: &Network<'_>, queue: &mut Queue, node: NodeIndex, distance: i64) {
        let known = &mut self.from_spur[node.index()];
        if distance < *known {
            if *known == BARRED {
                self.reached.push(node);
            }
            *known = distance;
            queue.push(distance + net.distances.of(node), node);
        }
    }

    /// Marks the switches on shortest detours, from the egress back.
    fn mark_detours(&mut self, net: &Network<'_>, to: NodeIndex, banned: &[EdgeIndex]) {
        self.stack.push(to);
        self.on_detour[to.index()] = true;
        while let Some(node) = self.stack.pop() {
            for (edge, tail) in net.graph.in_edges(node).iter().copied() {
                if self.is_step(net, edge, banned) && !self.on_detour[tail.index()] {
                    self.on_detour[tail.index()] = true;
                    self.stack.push(tail);
                }
            }
        }
    }

    /// Whether a shortest way from the spur to the end of this link is over it.
    fn is_step(&self, net: &Network<'_>, edge: EdgeIndex, banned: &[EdgeIndex]) -> bool {
        let tail = self.from_spur[net.graph.tail(edge).index()];
        let head = self.from_spur[net.graph.head(edge).index()];
        tail != BARRED && tail.saturating_add(net.lengths.of(edge)) == head && !is_banned(banned, edge)
    }

    fn descend(
        &self,
        net: &Network<'_>,
        (spur, to): (NodeIndex, NodeIndex),
        banned: &[EdgeIndex],
        route: &mut Vec<EdgeIndex>,
    ) {
        let mut node = spur;
        while node != to {
            let onwards = |edge: &EdgeIndex| {
                self.on_detour[net.graph.head(*edge).index()] && self.is_step(net, *edge, banned)
            };
            let Some(edge) = net.graph.out_edges(node).find(onwards) else { break };
            route.push(edge);
            node = net.graph.head(edge);
        }
    }
}

fn is_banned(banned: &[EdgeIndex], edge: EdgeIndex) -> bool {
    banned.binary_search(&edge).is_ok()
}
