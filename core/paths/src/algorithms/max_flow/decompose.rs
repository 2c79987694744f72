//! Decomposition of a flow into paths, widest first, with its cycles cancelled.

use braid_topology::{EdgeIndex, Graph, NodeIndex};

use crate::search::refill;

/// The memory of a decomposition, kept for the next one.
#[derive(Debug, Default)]
pub(super) struct Decomposition {
    // By node: the progress of the search for cycles.
    marks: Vec<Mark>,
    // By node: how many of its out-edges have been searched.
    cursors: Vec<u32>,
    // The edges from the ingress to the current node of the search for cycles.
    route: Vec<EdgeIndex>,
    // The edges with flow. Edges that can follow an edge on a path stand before it.
    carriers: Vec<EdgeIndex>,
    // By node: the greatest rate of a path from there.
    widths: Vec<u64>,
    // By node: the fewest hops of a path from there, and its first edge.
    ways: Vec<(u32, Option<EdgeIndex>)>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Mark {
    New,
    OnRoute,
    Done,
}

impl Decomposition {
    /// Takes paths out of `flow` one after another: each is the widest; of those, one of the fewest hops; of those,
    /// the one of the lowest edges. Rates therefore never rise. Together the paths are the flow without its cycles.
    ///
    /// No flow may enter `from` or leave `to`.
    pub(super) fn paths<'a>(
        &'a mut self,
        graph: &'a Graph,
        flow: &'a mut [u64],
        from: NodeIndex,
        to: NodeIndex,
    ) -> impl Iterator<Item = (Vec<EdgeIndex>, u64)> + 'a {
        self.cancel_cycles(graph, flow, from);
        refill(&mut self.widths, graph.nodes().len(), 0);
        refill(&mut self.ways, graph.nodes().len(), (u32::MAX, None));
        std::iter::from_fn(move || self.take_widest(graph, flow, from, to))
    }

    /// Cancels all cycles that a path could enter, and lists the edges that still carry something.
    fn cancel_cycles(&mut self, graph: &Graph, flow: &mut [u64], from: NodeIndex) {
        refill(&mut self.marks, graph.nodes().len(), Mark::New);
        refill(&mut self.cursors, graph.nodes().len(), 0);
        self.carriers.clear();
        self.route.clear();
        let mut node = from;
        loop {
            self.marks[node.index()] = Mark::OnRoute;
            if let Some(edge) = self.next_edge(graph, flow, node) {
                self.route.push(edge);
                node = graph.head(edge);
                if self.marks[node.index()] == Mark::OnRoute {
                    node = self.cancel_cycle(graph, flow, node);
                }
                continue;
            }
            self.marks[node.index()] = Mark::Done;
            self.carriers.extend(graph.out_edges(node).filter(|edge| flow[edge.index()] > 0));
            let Some(edge) = self.route.pop() else { return };
            node = graph.tail(edge);
        }
    }

    fn next_edge(&mut self, graph: &Graph, flow: &[u64], node: NodeIndex) -> Option<EdgeIndex> {
        let cursor = &mut self.cursors[node.index()];
        let mut edges = (*cursor..).zip(graph.out_edges(node).skip(*cursor as usize));
        let open =
            |edge: EdgeIndex| flow[edge.index()] > 0 && self.marks[graph.head(edge).index()] != Mark::Done;
        let (at, edge) = edges.find(|(_, edge)| open(*edge))?;
        *cursor = at;
        Some(edge)
    }

    /// Cancels the cycle at the end of the route, from `node` to `node`. Returns where the route continues: before
    /// the first edge without remaining flow.
    fn cancel_cycle(&mut self, graph: &Graph, flow: &mut [u64], node: NodeIndex) -> NodeIndex {
        let begin = self.route.iter().rposition(|edge| graph.tail(*edge) == node).unwrap_or(0);
        let cycle = &self.route[begin..];
        let amount = cycle.iter().map(|edge| flow[edge.index()]).min().unwrap_or(0);
        for edge in cycle {
            flow[edge.index()] -= amount;
            self.marks[graph.tail(*edge).index()] = Mark::New;
        }
        let kept = cycle.iter().take_while(|edge| flow[edge.index()] > 0).count();
        for edge in &cycle[..kept] {
            self.marks[graph.tail(*edge).index()] = Mark::OnRoute;
        }
        let stop = graph.tail(cycle[kept]);
        self.route.truncate(begin + kept);
        stop
    }

    fn take_widest(
        &mut self,
        graph: &Graph,
        flow: &mut [u64],
        from: NodeIndex,
        to: NodeIndex,
    ) -> Option<(Vec<EdgeIndex>, u64)> {
        self.measure_widths(graph, flow, to);
        let width = Some(self.widths[from.index()]).filter(|width| *width > 0)?;
        self.measure_ways(graph, flow, to, width);
        let mut edges = Vec::with_capacity(self.ways[from.index()].0 as usize);
        let mut node = from;
        while let (_, Some(edge)) = self.ways[node.index()] {
            flow[edge.index()] -= width;
            edges.push(edge);
            node = graph.head(edge);
        }
        Some((edges, width))
    }

    fn measure_widths(&mut self, graph: &Graph, flow: &[u64], to: NodeIndex) {
        for edge in &self.carriers {
            self.widths[graph.tail(*edge).index()] = 0;
        }
        self.widths[to.index()] = u64::MAX;
        for edge in &self.carriers {
            let width = flow[edge.index()].min(self.widths[graph.head(*edge).index()]);
            let widest = &mut self.widths[graph.tail(*edge).index()];
            *widest = width.max(*widest);
        }
    }

    /// Sets `ways` over the edges that carry `width` or more.
    fn measure_ways(&mut self, graph: &Graph, flow: &[u64], to: NodeIndex, width: u64) {
        for edge in &self.carriers {
            self.ways[graph.tail(*edge).index()] = (u32::MAX, None);
        }
        self.ways[to.index()] = (0, None);
        for edge in self.carriers.iter().filter(|edge| flow[edge.index()] >= width) {
            let hops = self.ways[graph.head(*edge).index()].0.saturating_add(1);
            let best = &mut self.ways[graph.tail(*edge).index()];
            if hops < best.0 {
                *best = (hops, Some(*edge));
            }
        }
    }
}
