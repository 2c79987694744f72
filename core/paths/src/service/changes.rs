//! The difference between two graphs, and which cached path sets it can affect.

use std::time::Duration;

use braid_topology::{EdgeIndex, Graph, Link, NodeIndex};
use braid_types::{BitsPerSec, SwitchPort};
use rustc_hash::FxHashSet;

use super::sets::Key;
use crate::algorithm::FoundSet;
use crate::network::{BARRED, Lengths, Network};
use crate::{Flow, Path, PathSet, Terms, unknown_delay};

/// With more improved links than this, searching for the sets that they improve is not worth the time.
const MAX_BETTER: usize = 16;

/// How the links of one graph differ from those of the one before.
#[derive(Debug, Default)]
pub(super) struct Changes {
    // By the port that they leave: links that are gone, barred, or cost more; and those with less available capacity.
    costlier: FxHashSet<SwitchPort>,
    narrower: FxHashSet<SwitchPort>,
    // Links that are new or cost less; and whether some have more available capacity.
    cheaper: Vec<Shortcut>,
    wider: bool,
    // Whether switches may have gone.
    fewer_switches: bool,
}

/// A link that may be part of better paths; by node, the distance to its beginning and from its end.
#[derive(Debug)]
struct Shortcut {
    length: i64,
    to_tail: Vec<i64>,
    from_head: Vec<i64>,
}

impl Changes {
    /// The differences of `new`; `None` if there are so many that no set is certain to be unchanged.
    pub(super) fn between(old: &Network, new: &mut Network, terms: &Terms) -> Option<Self> {
        let (before, after) = (Known::new(old, terms), Known::new(new, terms));
        let mut changes = Self { fewer_switches: before.has_switch_beyond(&after), ..Self::default() };
        changes.note_worse(&before, &after);
        let better = changes.note_better(&before, &after);
        // A path that is in no set may have been late, or be late now.
        let different = changes.wider || changes.is_any_worse() || !better.is_empty();
        let limited = terms.constraints.max_latency.is_some() && different;
        if limited || better.len() > MAX_BETTER {
            return None;
        }
        changes.cheaper = better.into_iter().map(|edge| Shortcut::new(new, edge)).collect();
        Some(changes)
    }

    fn note_worse(&mut self, before: &Known<'_>, after: &Known<'_>) {
        for edge in before.graph.edges() {
            let (then, now) = (before.traits(edge), after.traits_of(before.graph.link(edge)));
            let port = before.graph.link(edge).src;
            if then.is_cheaper_than(&now) {
                self.costlier.insert(port);
            }
            if now.rate < then.rate {
                self.narrower.insert(port);
            }
        }
    }

    fn note_better(&mut self, before: &Known<'_>, after: &Known<'_>) -> Vec<EdgeIndex> {
        let mut cheaper = Vec::new();
        for edge in after.graph.edges() {
            let (then, now) = (before.traits_of(after.graph.link(edge)), after.traits(edge));
            self.wider |= now.cost.is_some() && now.rate > then.rate;
            if now.is_cheaper_than(&then) {
                cheaper.push(edge);
            }
        }
        cheaper
    }

    /// Whether a set may be different now.
    pub(super) fn affect(&self, key: &Key, set: &PathSet, new: &Network) -> bool {
        let by_rate = key.kind.properties().by_capacity;
        let worse = |port| self.costlier.contains(port) || by_rate && self.narrower.contains(port);
        let mut ports = set.paths.iter().flat_map(Path::links).map(|link| &link.src);
        let gone = || [key.ingress, key.egress].iter().any(|end| new.graph.node(*end).is_none());
        // Paths beyond the budget may be found now.
        (set.cut_short && self.is_any())
            || (self.fewer_switches && gone())
            || (by_rate && self.wider)
            || (self.is_any_worse() && is_part_of_flow(set))
            || ports.any(worse)
            || self.bring_better(key, set, new)
    }

    fn is_any(&self) -> bool {
        self.is_any_worse() || self.wider || !self.cheaper.is_empty()
    }

    fn is_any_worse(&self) -> bool {
        !self.costlier.is_empty() || !self.narrower.is_empty()
    }

    /// Whether a path over an improved link may belong to the set.
    fn bring_better(&self, key: &Key, set: &PathSet, new: &Network) -> bool {
        let Some(ends) = new.ends(key.ingress, key.egress) else { return false };
        let Some(shortest) = self.cheaper.iter().filter_map(|link| link.length_between(ends)).min() else {
            return false;
        };
        let lengths = set.paths.iter().map(|path| new.length(path)).collect::<Option<Vec<_>>>();
        let Some(lengths) = lengths.filter(|lengths| !lengths.is_empty()) else { return true };
        let found = FoundSet { network: new, ends, k: key.k, lengths };
        key.kind.max_length_of_interest(&found).is_none_or(|longest| shortest <= longest)
    }
}

/// Whether the maximum flow uses links beyond those of the set.
fn is_part_of_flow(set: &PathSet) -> bool {
    let rest = |flow: &Flow| flow.rates.iter().map(|rate| rate.0).sum::<u64>() < flow.greatest.0;
    set.flow.as_ref().is_some_and(rest)
}

impl Shortcut {
    fn new(network: &mut Network, edge: EdgeIndex) -> Self {
        let (tail, head) = (network.graph.tail(edge), network.graph.head(edge));
        Self {
            length: network.lengths.of(edge),
            to_tail: network.lengths_to(tail).to_vec(),
            from_head: network.lengths_from(head).to_vec(),
        }
    }

    fn length_between(&self, (from, to): (NodeIndex, NodeIndex)) -> Option<i64> {
        self.to_tail[from.index()].checked_add(self.length)?.checked_add(self.from_head[to.index()])
    }
}

/// The traits of a link that decide which paths are chosen. Without a cost it is absent or barred.
#[derive(Debug, Clone, Copy, Default)]
struct Traits {
    cost: Option<u64>,
    delay: Option<Duration>,
    rate: BitsPerSec,
}

impl Traits {
    fn is_cheaper_than(&self, other: &Self) -> bool {
        match (self.cost, other.cost) {
            (Some(cost), Some(more)) => cost < more || self.delay < other.delay,
            (cost, none) => cost.is_some() && none.is_none(),
        }
    }
}

/// A graph and the terms that apply to its links.
struct Known<'a> {
    graph: &'a Graph,
    lengths: &'a Lengths,
    // Matters beside the cost only where latency is limited.
    unknown_delay: Option<Duration>,
}

impl<'a> Known<'a> {
    fn new(network: &'a Network, terms: &Terms) -> Self {
        let limited = terms.constraints.max_latency.is_some();
        let unknown_delay = limited.then(|| unknown_delay(&network.graph));
        Self { graph: &network.graph, lengths: &network.lengths, unknown_delay }
    }

    fn traits(&self, edge: EdgeIndex) -> Traits {
        let (length, state) = (self.lengths.of(edge), self.graph.state(edge));
        Traits {
            cost: (length != BARRED).then(|| self.lengths.cost(length)),
            delay: self.unknown_delay.map(|unknown| state.delay.unwrap_or(unknown)),
            rate: state.available(),
        }
    }

    /// The traits of a link in this graph, wherever it stands there.
    fn traits_of(&self, link: &Link) -> Traits {
        let edge = self.graph.edge(link.src).filter(|edge| self.graph.link(*edge) == link);
        edge.map_or_else(Traits::default, |edge| self.traits(edge))
    }

    fn has_switch_beyond(&self, other: &Self) -> bool {
        self.graph.nodes().any(|node| other.graph.node(self.graph.dpid(node)).is_none())
    }
}
