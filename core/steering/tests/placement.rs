//! The path that a placement policy chooses.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

use braid_paths::{Path, PathFinder};
use braid_steering::{Move, Placement, PlacementPolicy, PlacementRequest, Policy, StreamId, TransferId};
use braid_topology::{Graph, Link, LinkState};
use braid_types::{BitsPerSec, DatapathId, PortNo, SwitchPort, Time};
use proptest::prelude::*;

const CAPACITY: u64 = 1_000_000;
const LINKS: [(u64, u64); 7] = [(1, 9), (1, 2), (2, 9), (1, 3), (3, 9), (1, 4), (4, 9)];

/// The link from one switch to another; port `b` of switch `a` leads to switch `b`.
fn link(a: u64, b: u64) -> Link {
    let end = |from, to: u64| SwitchPort::new(DatapathId(from), PortNo(to as u32));
    Link { src: end(a, b), dst: end(b, a) }
}

/// All links of the ways in both directions, loaded so much.
fn network(loads: &[(u64, u64, u64)]) -> Graph {
    let both = LINKS.into_iter().map(|(a, b)| link(a, b)).flat_map(|link| [link, link.reversed()]);
    let load = |link: &Link| {
        let found = loads.iter().find(|(a, b, _)| (link.src.dpid.0, link.dst.dpid.0) == (*a, *b));
        BitsPerSec(found.map_or(0, |(.., load)| *load))
    };
    let state = |link: &Link| LinkState { load: load(link), ..LinkState::of_capacity(BitsPerSec(CAPACITY)) };
    Graph::new(0, [], both.map(|link| (link, state(&link))))
}

/// From 1 to 9: directly, and over each switch between.
fn ways() -> Vec<Path> {
    let mut ways = PathFinder::by_hops(Arc::new(network(&[]))).edge_disjoint(DatapathId(1), DatapathId(9), 8);
    ways.sort_by_key(|way| (way.hops(), way.clone()));
    ways
}

fn choose(policy: &mut dyn PlacementPolicy, now: u64, siblings: &[&Path], graph: &Graph) -> Placement {
    let (ways, now) = (ways(), Time::from_millis(now));
    let candidates: Vec<_> = ways.iter().collect();
    policy
        .place(&PlacementRequest {
            now,
            stream: None,
            candidates: &candidates,
            siblings,
            opening: &[],
            graph,
        })
        .expect("a placement")
}

#[test]
fn fewest_shared_takes_each_path_once_before_any_twice() {
    let (mut siblings, graph) = (Vec::new(), network(&[(1, 9, CAPACITY)]));
    for expected in [0, 1, 2, 3, 0, 1] {
        let taken: Vec<_> = siblings.iter().collect();
        let placement = choose(Policy::FewestShared.placement().as_mut(), 0, &taken, &graph);
        assert_eq!(placement.index, expected);
        siblings.push(ways().swap_remove(placement.index));
    }
}

#[test]
fn least_loaded_leaves_a_full_link_to_others_in_whichever_direction_it_is_full() {
    for full in [(1, 9, CAPACITY), (9, 1, CAPACITY)] {
        let graph = network(&[full, (2, 9, CAPACITY / 2)]);
        assert_eq!(
            choose(Policy::LeastLoaded.placement().as_mut(), 0, &[], &graph),
            Placement { index: 2, shared: 0, moves: vec![] }
        );
    }
}

#[test]
fn among_paths_with_about_as_much_headroom_the_shortest_is_taken() {
    let graph = network(&[(1, 9, CAPACITY / 20)]);
    assert_eq!(choose(Policy::LeastLoaded.placement().as_mut(), 0, &[], &graph).index, 0);
}

#[test]
fn streams_of_different_transfers_that_open_together_are_spread() {
    let (mut policy, graph) = (Policy::LeastLoaded.placement(), network(&[]));
    let taken: Vec<_> = (0..8).map(|at| choose(policy.as_mut(), at, &[], &graph).index).collect();
    assert_eq!(taken, [0, 1, 2, 3, 0, 1, 2, 3]);
}

#[test]
fn what_was_placed_long_ago_counts_by_its_load_alone() {
    let (mut policy, graph) = (Policy::LeastLoaded.placement(), network(&[]));
    assert_eq!(choose(policy.as_mut(), 0, &[], &graph).index, 0);
    assert_eq!(choose(policy.as_mut(), 60_000, &[], &graph).index, 0);
}

#[test]
fn a_shared_link_is_worse_than_a_full_one() {
    let ways = ways();
    let graph = network(&[(1, 2, CAPACITY), (1, 3, CAPACITY), (1, 4, CAPACITY / 2)]);
    let mut policy = Policy::LeastLoaded.placement();
    assert_eq!(
        choose(policy.as_mut(), 0, &[&ways[0], &ways[3]], &graph),
        Placement { index: 1, shared: 0, moves: vec![] }
    );
}

#[test]
fn without_candidates_there_is_no_placement() {
    for policy in Policy::ALL {
        let graph = network(&[]);
        let request = PlacementRequest {
            now: Time::ZERO,
            stream: None,
            candidates: &[],
            siblings: &[],
            opening: &[],
            graph: &graph,
        };
        assert_eq!(policy.placement().place(&request), None);
        assert_eq!(policy.to_string().parse(), Ok(policy));
    }
}

#[test]
fn every_policy_has_a_row_in_the_documentation() {
    let docs = include_str!("../../../docs/policy.md");
    let choice = docs.lines().find(|line| line.starts_with("| `placement` |")).unwrap_or_default();
    for policy in Policy::ALL {
        assert!(
            choice.contains(&format!("`{policy}`")),
            "docs/policy.md lacks {policy} as a placement of rules"
        );
        let row = format!("| `{policy}` |");
        assert!(docs.lines().any(|line| line.starts_with(&row)), "docs/policy.md lacks a row of {policy}");
    }
}

#[test]
fn text_that_is_no_policy_is_refused_with_those_that_there_are() {
    let refused = "most-shared".parse::<Policy>().map_err(|error| error.to_string());
    let known = Policy::ALL.map(Policy::name).join(", ");
    assert!(known.starts_with("fewest-shared, least-loaded, "), "{known}");
    assert_eq!(refused, Err(format!("\"most-shared\" is not one of {known}")));
}

/// Places the stream with this number, of a transfer of its own, among these ways.
fn open(policy: &mut dyn PlacementPolicy, now: u64, stream: u64, among: &[usize]) -> Placement {
    let (ways, graph) = (ways(), network(&[]));
    let candidates: Vec<_> = among.iter().map(|way| &ways[*way]).collect();
    let stream = Some((TransferId(stream), StreamId(stream)));
    let now = Time::from_millis(now);
    policy
        .place(&PlacementRequest {
            now,
            stream,
            candidates: &candidates,
            siblings: &[],
            opening: &[],
            graph: &graph,
        })
        .expect("a placement")
}

#[test]
fn a_stream_that_can_go_elsewhere_makes_room_for_one_that_cannot() {
    let mut policy = Policy::LeastLoaded.placement();
    assert_eq!(open(policy.as_mut(), 0, 1, &[0, 1]).index, 0);
    let placement = open(policy.as_mut(), 1, 2, &[0]);
    let moves = vec![Move { stream: StreamId(1), path: ways().swap_remove(1) }];
    assert_eq!(placement, Placement { index: 0, shared: 0, moves });
}

#[test]
fn room_is_made_through_chains_of_moves() {
    let mut policy = Policy::LeastLoaded.placement();
    for (stream, among) in [(1, [0, 1]), (2, [1, 2]), (3, [2, 3])] {
        assert_eq!(open(policy.as_mut(), 0, stream, &among).index, 0);
    }
    let moves = open(policy.as_mut(), 0, 4, &[0]).moves;
    let mut moved: Vec<_> = moves.iter().map(|it| it.stream.0).collect();
    moved.sort_unstable();
    assert_eq!(moved, [1, 2, 3]);
}

#[test]
fn nothing_moves_in_vain_nor_once_it_shows_in_loads_nor_after_its_end() {
    let mut policy = Policy::LeastLoaded.placement();
    open(policy.as_mut(), 0, 1, &[0]);
    assert_eq!(open(policy.as_mut(), 1, 2, &[0]).moves, [], "the first has no other path");
    assert_eq!(open(policy.as_mut(), 7_000, 3, &[1, 2]).index, 0);
    policy.ended(StreamId(3));
    assert_eq!(open(policy.as_mut(), 7_001, 4, &[1]).moves, [], "the path is free again");
    open(policy.as_mut(), 20_000, 5, &[1, 2]);
    assert_eq!(open(policy.as_mut(), 25_001, 6, &[1]).moves, [], "the link's load says what there is");
}

proptest! {
    /// Zannettou et al. 2016, algorithm 1: no path twice before all are taken once, and so on, shortest first; whether the
    /// paths of the set have links in common or not.
    #[test]
    fn deterministic_takes_paths_in_turn_whatever_they_share(count in 1..6_usize, streams in 1..20_usize) {
        // Over 1 or 9, or both in either order, and over 4 between them: all but the first two share links.
        let ways = PathFinder::by_hops(Arc::new(network(&[]))).k_shortest(DatapathId(2), DatapathId(3), count);
        let (graph, mut siblings) = (network(&[]), Vec::<&Path>::new());
        let candidates: Vec<_> = ways.iter().collect();
        for stream in 0..streams {
            let request = PlacementRequest { now: Time::ZERO, stream: None, candidates: &candidates, siblings: &siblings, opening: &[], graph: &graph };
            let placement = Policy::Deterministic.placement().place(&request).expect("a placement");
            prop_assert_eq!(placement.index, stream % ways.len());
            siblings.push(&ways[placement.index]);
        }
    }

    #[test]
    fn least_loaded_never_shares_more_than_fewest_shared(
        loads in proptest::collection::vec(0..=CAPACITY, 14),
        opened in proptest::collection::vec((0..4_usize, 0..3_000_u64), 0..40),
    ) {
        let (ways, mut policy, mut now) = (ways(), Policy::LeastLoaded.placement(), Time::ZERO);
        let both = LINKS.into_iter().flat_map(|(a, b)| [(a, b), (b, a)]);
        let graph = network(&both.zip(&loads).map(|((a, b), load)| (a, b, *load)).collect::<Vec<_>>());
        let (candidates, mut siblings): (Vec<_>, Vec<&Path>) = (ways.iter().collect(), Vec::new());
        for (sibling, pause) in opened {
            now = now + Duration::from_millis(pause);
            let request = PlacementRequest { now, stream: None, candidates: &candidates, siblings: &siblings, opening: &[], graph: &graph };
            let (placement, fewest) = (policy.place(&request), Policy::FewestShared.placement().place(&request));
            prop_assert_eq!(placement.map(|it| it.shared), fewest.map(|it| it.shared));
            siblings.push(&ways[sibling]);
        }
    }

    /// Streams of many transfers, some of which end: what the moves add up to is where the streams are, and no path of a
    /// transfer meets more of its others than when it was placed.
    #[test]
    fn moves_lead_to_paths_that_the_streams_may_take(
        steps in proptest::collection::vec((0..6_u64, 0..4_usize, 1..4_usize, any::<bool>()), 1..60),
    ) {
        let (ways, graph, mut policy) = (ways(), network(&[]), Policy::LeastLoaded.placement());
        let (mut taken, mut were_apart) = (BTreeMap::<u64, (u64, Vec<usize>, usize)>::new(), true);
        // These ways have no link in common: streams of one transfer meet if they take the same.
        let meetings = |taken: &BTreeMap<u64, (u64, Vec<usize>, usize)>| {
            let own: BTreeSet<_> = taken.values().map(|it| (it.0, it.2)).collect();
            taken.len() - own.len()
        };
        for (stream, (transfer, from, count, end)) in (0..).zip(steps) {
            let among: Vec<_> = (from..4.min(from + count)).collect();
            let siblings: Vec<_> =
                taken.values().filter(|it| it.0 == transfer).map(|it| &ways[it.2]).collect();
            let candidates: Vec<_> = among.iter().map(|way| &ways[*way]).collect();
            let ids = Some((TransferId(transfer), StreamId(stream)));
            let request =
                PlacementRequest { now: Time::ZERO, stream: ids, candidates: &candidates, siblings: &siblings, opening: &[], graph: &graph };
            let placement = policy.place(&request).expect("a placement");
            taken.insert(stream, (transfer, among.clone(), among[placement.index]));
            for Move { stream, path } in placement.moves {
                let way = ways.iter().position(|way| *way == path).expect("a way");
                let known = taken.get_mut(&stream.0).expect("a stream that goes on");
                prop_assert!(known.1.contains(&way) && known.2 != way);
                known.2 = way;
            }
            let apart = meetings(&taken) == 0;
            prop_assert!(apart || !were_apart || placement.shared > 0);
            were_apart = apart;
            if end {
                let (gone, _) = taken.pop_first().expect("a stream");
                policy.ended(StreamId(gone));
            }
        }
    }
}
