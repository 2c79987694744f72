//! The spanning tree for broadcast.

use std::collections::BTreeSet;

use braid_topology::{Degradation, Graph, Link, LinkState, spanning_tree};
use braid_types::{DatapathId, SwitchPort};
use proptest::prelude::*;

use crate::network::{end, link, links, state};

/// The switches that a frame from `from` reaches over links of which both ends may forward, and how often each.
fn flood(links: &[Link], tree: &BTreeSet<SwitchPort>, from: DatapathId) -> Vec<DatapathId> {
    let mut received = vec![from];
    let mut queue = vec![(from, None)];
    while let Some((switch, came_in)) = queue.pop() {
        let leaves =
            |link: &&Link| link.src.dpid == switch && Some(link.src) != came_in && tree.contains(&link.src);
        for link in links.iter().filter(leaves).filter(|link| tree.contains(&link.dst)) {
            received.push(link.dst.dpid);
            assert!(received.len() < 100, "the frame never stops");
            queue.push((link.dst.dpid, Some(link.dst)));
        }
    }
    received.sort();
    received
}

fn reachable(links: &[Link], from: DatapathId) -> Vec<DatapathId> {
    let mut reached = BTreeSet::from([from]);
    let next = |reached: &BTreeSet<DatapathId>| {
        let beyond = |link: &&Link| reached.contains(&link.src.dpid) && !reached.contains(&link.dst.dpid);
        links.iter().find(beyond).map(|link| link.dst.dpid)
    };
    while let Some(switch) = next(&reached) {
        reached.insert(switch);
    }
    reached.into_iter().collect()
}

fn networks() -> impl Strategy<Value = Vec<Link>> {
    prop::collection::vec((1..8_u64, 1..8_u64), 0..20).prop_map(|pairs| {
        let ends =
            pairs.into_iter().zip(1..).map(|((a, b), number)| (end(a, 2 * number), end(b, 2 * number + 1)));
        links(&ends.collect::<Vec<_>>())
    })
}

/// A graph in which links are degraded in the direction from the first end.
fn graph_with(links: &[Link], degraded: &BTreeSet<SwitchPort>) -> Graph {
    let degradation = |link: &Link| {
        if degraded.contains(&link.src) { Degradation::of_loss(0.1) } else { Degradation::NONE }
    };
    let states = links.iter().map(|link| (*link, LinkState { degradation: degradation(link), ..state() }));
    Graph::new(0, [], states)
}

/// The number of parts into which switches fall over these links.
fn parts(switches: &BTreeSet<DatapathId>, links: &[Link]) -> usize {
    let firsts = switches.iter().filter(|dpid| reachable(links, **dpid).first() == Some(*dpid));
    firsts.count()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1_000))]

    #[test]
    fn as_few_degraded_links_as_possible_carry_broadcast(links in networks(), odd in 1..4_usize) {
        let degraded: BTreeSet<_> = links.iter().step_by(2 * odd).map(|link| link.src).collect();
        let tree = spanning_tree(&graph_with(&links, &degraded));
        let is_degraded = |link: &Link| degraded.contains(&link.src) || degraded.contains(&link.dst);
        let clean: Vec<_> = links.iter().filter(|link| !is_degraded(link)).copied().collect();
        let switches: BTreeSet<_> = links.iter().map(|link| link.src.dpid).collect();
        let used = links.iter().filter(|link| is_degraded(link) && tree.contains(&link.src)).count() / 2;
        prop_assert_eq!(used, parts(&switches, &clean) - parts(&switches, &links));
        for dpid in &switches {
            prop_assert_eq!(flood(&links, &tree, *dpid), reachable(&links, *dpid));
        }
    }

    #[test]
    fn broadcast_reaches_every_switch_exactly_once(links in networks()) {
        let graph = Graph::from_links(links.clone());
        let tree = spanning_tree(&graph);
        for node in graph.nodes() {
            prop_assert_eq!(flood(&links, &tree, graph.dpid(node)), reachable(&links, graph.dpid(node)));
        }
    }
}

#[test]
fn a_link_known_in_one_direction_only_carries_no_broadcast() {
    let mut links = links(&[(end(1, 1), end(2, 1))]);
    links.push(link(end(2, 2), end(3, 1)));
    assert_eq!(Vec::from_iter(spanning_tree(&Graph::from_links(links))), [end(1, 1), end(2, 1)]);
}

#[test]
fn of_parallel_links_one_carries_broadcast() {
    let links = links(&[(end(1, 5), end(2, 1)), (end(1, 4), end(2, 9))]);
    assert_eq!(Vec::from_iter(spanning_tree(&Graph::from_links(links))), [end(1, 4), end(2, 9)]);
}
