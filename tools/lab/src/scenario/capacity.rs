//! The capacity between hosts of a scenario, by maximum flow. Edmonds and Karp (1972).

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use braid_types::BitsPerSec;

use super::{End, Topology};

/// A node of the flow network: a switch, a router, or a host as sender or receiver, as hosts do not forward.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Node {
    Sender(usize),
    Receiver(usize),
    Switch(usize),
    Router(usize),
}

type Residual = BTreeMap<Node, BTreeMap<Node, u64>>;

impl Topology {
    /// The maximum flow from one host to another over the links' rates.
    ///
    /// `from` and `to` are indices in [`Topology::hosts`]. Edmonds and Karp (1972): O(V·E²).
    pub fn capacity(&self, from: usize, to: usize) -> BitsPerSec {
        self.capacity_of_all(&[from], &[to])
    }

    /// The maximum flow from all senders to all receivers.
    pub fn capacity_of_all(&self, from: &[usize], to: &[usize]) -> BitsPerSec {
        let nodes = |hosts: &[usize], part: fn(usize) -> Node| hosts.iter().copied().map(part).collect();
        let (sources, sinks): (BTreeSet<_>, BTreeSet<_>) =
            (nodes(from, Node::Sender), nodes(to, Node::Receiver));
        let mut residual = self.residual();
        let mut flow: u64 = 0;
        while let Some(path) = shortest_augmenting_path(&residual, &sources, &sinks) {
            flow = flow.saturating_add(augment(&mut residual, &path));
        }
        BitsPerSec(flow)
    }

    fn residual(&self) -> Residual {
        let mut residual = Residual::new();
        let is_used = |link: &usize| !self.sites.as_ref().is_some_and(|sites| sites.leaves_out(*link));
        for link in (0..self.links.len()).filter(is_used).map(|link| &self.links[link]) {
            let [a, b] = link.ends;
            let [there, back] = link.rates();
            add(&mut residual, self.node(a, Node::Sender), self.node(b, Node::Receiver), there.0);
            add(&mut residual, self.node(b, Node::Sender), self.node(a, Node::Receiver), back.0);
        }
        residual
    }

    fn node(&self, end: End, part: fn(usize) -> Node) -> Node {
        match end {
            End::Host { host, .. } if self.hosts.get(host).is_some_and(|host| host.router) => {
                Node::Router(host)
            }
            End::Host { host, .. } => part(host),
            End::Switch(switch) => Node::Switch(switch),
        }
    }
}

fn add(residual: &mut Residual, from: Node, to: Node, rate: u64) {
    let left = residual.entry(from).or_default().entry(to).or_default();
    *left = left.saturating_add(rate);
}

fn shortest_augmenting_path(
    residual: &Residual,
    sources: &BTreeSet<Node>,
    sinks: &BTreeSet<Node>,
) -> Option<Vec<Node>> {
    let mut previous: BTreeMap<_, _> = sources.iter().map(|source| (*source, *source)).collect();
    let mut queue: VecDeque<_> = sources.iter().copied().collect();
    while let Some(node) = queue.pop_front() {
        if sinks.contains(&node) {
            return walk_back(&previous, node);
        }
        for (&next, &left) in residual.get(&node).into_iter().flatten() {
            let passable = sinks.contains(&next) || matches!(next, Node::Switch(_) | Node::Router(_));
            if left > 0 && passable && !previous.contains_key(&next) {
                previous.insert(next, node);
                queue.push_back(next);
            }
        }
    }
    None
}

/// A source is its own predecessor.
fn walk_back(previous: &BTreeMap<Node, Node>, sink: Node) -> Option<Vec<Node>> {
    let mut path = vec![sink];
    let mut node = sink;
    while *previous.get(&node)? != node {
        node = previous[&node];
        path.push(node);
    }
    path.reverse();
    Some(path)
}

fn augment(residual: &mut Residual, path: &[Node]) -> u64 {
    let hops = || path.iter().copied().zip(path.iter().copied().skip(1));
    let left = |(a, b): (Node, Node)| residual.get(&a).and_then(|out| out.get(&b)).copied().unwrap_or(0);
    let flow = hops().map(left).min().unwrap_or(0);
    for (a, b) in hops() {
        let forward = residual.entry(a).or_default().entry(b).or_default();
        *forward = forward.saturating_sub(flow);
        add(residual, b, a, flow);
    }
    flow
}

#[cfg(test)]
mod tests {
    use braid_types::BitsPerSec;

    use crate::scenario::Scenario;

    fn capacity(links: &str) -> BitsPerSec {
        let text = format!(
            "scenario: t\ntopology:\n  hosts:\n  - {{name: a, interfaces: [{{name: e0}}, {{name: e1}}]}}\n  \
             - {{name: b, interfaces: [{{name: e0}}, {{name: e1}}]}}\n  switches: [s, t, u]\n  links:\n{links}"
        );
        let scenario = Scenario::parse(&text, "t.yaml").unwrap_or_else(|error| panic!("{error}"));
        scenario.topology.capacity(0, 1)
    }

    const HOSTS: &str = "  - {between: [a.e0, s], rate: 100Mbit}\n  - {between: [a.e1, s], rate: 100Mbit}\n  \
        - {between: [b.e0, t], rate: 100Mbit}\n  - {between: [b.e1, t], rate: 100Mbit}\n";

    #[test]
    fn hosts_may_send_and_receive_at_the_same_time() {
        let text = "{scenario: t, topology: {generate: {network: \"fattree:4\", link: {rate: 10Mbit}}}}";
        let topology = Scenario::parse(text, "t.yaml").unwrap().topology;
        let all: Vec<_> = (0..topology.hosts.len()).collect();
        assert_eq!(topology.capacity_of_all(&all, &all), BitsPerSec(160_000_000));
    }

    #[test]
    fn parallel_links_add_up_and_the_narrowest_cut_decides() {
        let middle = "  - {between: [s, t], rate: 30Mbit}\n  - {between: [t, s], rate: 40Mbit}\n  \
            - {between: [s, u], rate: 50Mbit}\n  - {between: [u, t], rate: 20Mbit}\n";
        assert_eq!(capacity(&format!("{HOSTS}{middle}")), BitsPerSec(90_000_000));
    }

    #[test]
    fn each_direction_has_its_own_rate() {
        let middle = "  - {between: [t, s], rate: 10Mbit, reverse_rate: 70Mbit}\n";
        assert_eq!(capacity(&format!("{HOSTS}{middle}")), BitsPerSec(70_000_000));
    }

    #[test]
    fn hosts_together_share_what_is_between_them() {
        let host = |name: &str| format!("  - {{name: {name}, interfaces: [{{name: e0}}]}}\n");
        let link = |a: &str, b: &str, rate: u32| format!("  - {{between: [{a}, {b}], rate: {rate}Mbit}}\n");
        let text = format!(
            "scenario: t\ntopology:\n  hosts:\n{}  switches: [s, t]\n  links:\n{}",
            ["a", "b", "c", "d"].map(host).concat(),
            [("a.e0", "s", 20), ("b.e0", "s", 100), ("c.e0", "t", 90), ("d.e0", "t", 90), ("s", "t", 100)]
                .map(|(a, b, rate)| link(a, b, rate))
                .concat()
        );
        let topology = Scenario::parse(&text, "t.yaml").unwrap_or_else(|error| panic!("{error}")).topology;
        assert_eq!(topology.capacity_of_all(&[0, 1], &[2, 3]), BitsPerSec(100_000_000));
        assert_eq!(topology.capacity_of_all(&[0], &[2, 3]), BitsPerSec(20_000_000));
        assert_eq!(topology.capacity_of_all(&[1], &[2]), BitsPerSec(90_000_000));
    }

    #[test]
    fn hosts_without_a_path_have_no_capacity() {
        assert_eq!(capacity(HOSTS), BitsPerSec(0));
    }
}
