//! The figures of a network in a few lines.

use std::collections::VecDeque;
use std::time::Duration;

use braid_topology::{Blueprint, Graph, NodeIndex};
use serde::Serialize;

/// Steps (switches times links) that take seconds; the diameter of larger networks is not computed.
const MAX_DIAMETER_STEPS: usize = 2_000_000_000;

/// A network in figures.
#[derive(Debug, PartialEq, Serialize)]
pub(crate) struct Summary {
    pub(crate) name: String,
    pub(crate) switches: usize,
    pub(crate) hosts: usize,
    /// Interfaces of all hosts.
    pub(crate) interfaces: usize,
    /// Links between switches.
    pub(crate) links: usize,
    /// Directed links between switches.
    pub(crate) directed_links: usize,
    /// The degree: links of a switch to other switches; `None` without switches.
    pub(crate) degree: Option<Degree>,
    /// Connected components.
    pub(crate) components: usize,
    pub(crate) diameter: Diameter,
    pub(crate) capacity_bps: Option<Range<u64>>,
    /// The number of links with a known delay.
    pub(crate) delays_known: usize,
    pub(crate) delay_ns: Option<Range<u64>>,
}

/// Minimum, maximum and mean.
#[derive(Debug, PartialEq, Serialize)]
pub(crate) struct Degree {
    pub(crate) min: usize,
    pub(crate) max: usize,
    pub(crate) mean: f64,
}

/// Minimum and maximum.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub(crate) struct Range<T> {
    pub(crate) min: T,
    pub(crate) max: T,
}

/// The diameter: the longest shortest path between two switches, in hops.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Diameter {
    Hops(u32),
    /// A switch cannot reach another one.
    Unreachable,
    /// The network is too large.
    NotComputed,
}

impl Summary {
    pub(crate) fn of(network: &Blueprint) -> Self {
        let graph = network.graph();
        let states: Vec<_> = network.directed_links().map(|(_, state)| state).collect();
        let delays: Vec<_> = states.iter().filter_map(|state| state.delay).map(nanos).collect();
        Self {
            name: network.name().to_owned(),
            switches: network.switches().len(),
            hosts: network.hosts().len(),
            interfaces: network.hosts().iter().map(|host| host.interfaces.len()).sum(),
            links: network.links().len(),
            directed_links: states.len(),
            degree: degree(network),
            components: components(network),
            diameter: diameter(&graph),
            capacity_bps: range(states.iter().map(|state| state.capacity.0)),
            delays_known: delays.len(),
            delay_ns: range(delays.into_iter()),
        }
    }
}

fn nanos(delay: Duration) -> u64 {
    u64::try_from(delay.as_nanos()).unwrap_or(u64::MAX)
}

fn range<T: Ord + Copy>(values: impl Iterator<Item = T>) -> Option<Range<T>> {
    values.fold(None, |range: Option<Range<T>>, value| match range {
        None => Some(Range { min: value, max: value }),
        Some(Range { min, max }) => Some(Range { min: min.min(value), max: max.max(value) }),
    })
}

fn degree(network: &Blueprint) -> Option<Degree> {
    let mut degrees = vec![0_usize; network.switches().len()];
    let ends = network.links().iter().flat_map(|link| link.ends);
    ends.for_each(|end| degrees[end.switch] += 1);
    let Range { min, max } = range(degrees.iter().copied())?;
    Some(Degree { min, max, mean: degrees.iter().sum::<usize>() as f64 / degrees.len() as f64 })
}

/// Counts components by union-find with path halving. Tarjan (1975).
fn components(network: &Blueprint) -> usize {
    let mut parents: Vec<_> = (0..network.switches().len()).collect();
    let mut count = parents.len();
    for link in network.links() {
        let [a, b] = link.ends.map(|end| root(&mut parents, end.switch));
        if a != b {
            parents[a] = b;
            count -= 1;
        }
    }
    count
}

fn root(parents: &mut [usize], mut at: usize) -> usize {
    while parents[at] != at {
        parents[at] = parents[parents[at]];
        at = parents[at];
    }
    at
}

fn diameter(graph: &Graph) -> Diameter {
    let steps = graph.nodes().len().saturating_mul(graph.nodes().len() + graph.edges().len());
    if steps > MAX_DIAMETER_STEPS {
        return Diameter::NotComputed;
    }
    let mut search = Search { hops: Vec::new(), queue: VecDeque::new() };
    let mut most = 0;
    for node in graph.nodes() {
        match search.most_hops(graph, node) {
            Some(hops) => most = most.max(hops),
            None => return Diameter::Unreachable,
        }
    }
    Diameter::Hops(most)
}

struct Search {
    hops: Vec<Option<u32>>,
    queue: VecDeque<NodeIndex>,
}

impl Search {
    /// The hops to the farthest switch, in the direction of links; `None` if a switch is not reached.
    fn most_hops(&mut self, graph: &Graph, from: NodeIndex) -> Option<u32> {
        self.hops.clear();
        self.hops.resize(graph.nodes().len(), None);
        self.hops[from.index()] = Some(0);
        self.queue.push_back(from);
        let (mut reached, mut last) = (0, 0);
        while let Some(node) = self.queue.pop_front() {
            reached += 1;
            last = self.hops[node.index()].unwrap_or(last);
            for edge in graph.out_edges(node) {
                let next = graph.head(edge);
                if self.hops[next.index()].is_none() {
                    self.hops[next.index()] = Some(last + 1);
                    self.queue.push_back(next);
                }
            }
        }
        (reached == graph.nodes().len()).then_some(last)
    }
}

#[cfg(test)]
mod tests {
    use braid_topology::LinkState;
    use braid_topology::blueprint::NewSwitch;
    use braid_topology::generate::{Links, Spec};

    use super::*;

    fn summary(spec: &str) -> Summary {
        Summary::of(&spec.parse::<Spec>().unwrap().generate(Links::default()).unwrap())
    }

    #[test]
    fn figures_are_those_of_the_network() {
        let tree = summary("fattree:4");
        assert_eq!(
            (tree.switches, tree.hosts, tree.interfaces, tree.links, tree.directed_links),
            (20, 16, 16, 32, 64)
        );
        assert_eq!(tree.degree, Some(Degree { min: 2, max: 4, mean: 3.2 }));
        assert_eq!((tree.components, tree.diameter), (1, Diameter::Hops(4)));
        assert_eq!((tree.delays_known, tree.delay_ns), (0, None));
        let asia = summary("east-asia");
        assert_eq!(asia.delay_ns, Some(Range { min: 10_000_000, max: 75_000_000 }));
        assert_eq!(asia.capacity_bps, Some(Range { min: 10_000_000, max: 30_000_000 }));
        assert_eq!(summary("ring:101").diameter, Diameter::Hops(50));
    }

    #[test]
    fn one_way_links_join_components_and_leave_switches_unreachable() {
        let mut builder = Blueprint::builder("t");
        for name in ["a", "b", "c"] {
            builder.switch(NewSwitch::named(name)).unwrap();
        }
        let state = LinkState::default();
        builder.directed_link([0.into(), 1.into()], [Some(state), None]).unwrap();
        let summary = Summary::of(&builder.build());
        assert_eq!((summary.components, summary.diameter), (2, Diameter::Unreachable));
        let empty = Summary::of(&Blueprint::builder("").build());
        assert_eq!((empty.components, empty.diameter, empty.degree), (0, Diameter::Hops(0), None));
    }

    #[test]
    fn diameter_of_a_huge_network_is_left_out() {
        assert_eq!(summary("line:40000").diameter, Diameter::NotComputed);
    }
}
