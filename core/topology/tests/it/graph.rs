//! The frozen copy of a network.

use std::sync::Arc;

use braid_topology::{EdgeIndex, Graph, Link};
use braid_types::DatapathId;
use proptest::prelude::*;

use crate::network::{end, link, links, state, unconnected};

fn random_links() -> impl Strategy<Value = Vec<Link>> {
    let place = || (1..6_u64, 1..5_u32).prop_map(|(switch, port)| end(switch, port));
    prop::collection::vec((place(), place()).prop_map(|(src, dst)| link(src, dst)), 0..20)
}

proptest! {
    #[test]
    fn rows_and_ends_agree_with_the_links(links in random_links()) {
        let graph = Graph::from_links(links.clone());
        for edge in graph.edges() {
            let link = graph.link(edge);
            prop_assert!(links.contains(link));
            prop_assert_eq!(graph.edge(link.src), Some(edge));
            prop_assert_eq!((graph.dpid(graph.tail(edge)), graph.dpid(graph.head(edge))), (link.src.dpid, link.dst.dpid));
            let reverse = graph.edges().find(|other| graph.link(*other).is_reverse_of(link));
            prop_assert_eq!(graph.reverse(edge), reverse);
        }
        for node in graph.nodes() {
            prop_assert_eq!(graph.node(graph.dpid(node)), Some(node));
            let leaving: Vec<_> = graph.edges().filter(|edge| graph.tail(*edge) == node).collect();
            let arriving: Vec<_> = graph.edges().filter(|edge| graph.head(*edge) == node).collect();
            prop_assert_eq!(graph.out_edges(node).collect::<Vec<_>>(), leaving);
            let expected: Vec<_> = arriving.into_iter().map(|edge| (edge, graph.tail(edge))).collect();
            prop_assert_eq!(graph.in_edges(node), expected);
        }
    }

    #[test]
    fn every_port_with_a_link_to_another_switch_has_one_edge(links in random_links()) {
        let graph = Graph::from_links(links.clone());
        for place in links.iter().map(|link| link.src) {
            let last = links.iter().rfind(|link| link.src == place).filter(|link| link.dst.dpid != place.dpid);
            prop_assert_eq!(graph.edge(place).map(|edge| graph.link(edge)), last);
        }
    }
}

#[test]
fn switches_without_links_and_unnamed_ends_are_nodes() {
    let graph = Graph::new(7, [DatapathId(9), DatapathId(1)], [(link(end(1, 1), end(2, 1)), state())]);
    let dpids: Vec<_> = graph.nodes().map(|node| graph.dpid(node)).collect();
    assert_eq!((graph.version(), dpids), (7, [1, 2, 9].map(DatapathId).to_vec()));
    assert_eq!(graph.node(DatapathId(3)), None);
}

#[test]
fn indices_follow_the_order_of_ports() {
    let graph = Graph::from_links(links(&[(end(2, 2), end(1, 9)), (end(2, 1), end(1, 3))]));
    let sources: Vec<_> = graph.edges().map(|edge| graph.link(edge).src).collect();
    assert_eq!(sources, [end(1, 3), end(1, 9), end(2, 1), end(2, 2)]);
    assert_eq!(graph.edges().map(EdgeIndex::index).collect::<Vec<_>>(), [0, 1, 2, 3]);
}

#[test]
fn one_copy_is_shared_until_the_network_changes() {
    let mut topology = unconnected(2, 1);
    let before = topology.graph();
    assert!(Arc::ptr_eq(&before, &topology.graph()));
    topology.add_link(link(end(1, 1), end(2, 1)), state()).unwrap();
    assert_eq!((before.edges().len(), topology.graph().edges().len()), (0, 1));
    assert_eq!(topology.graph().version(), topology.version());
}
