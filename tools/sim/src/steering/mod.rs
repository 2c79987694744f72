//! Paths for the subflows of transfers, chosen by the code that the controller runs.

mod advised;
mod scheme;
mod sets;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use braid_paths::Path;
use braid_steering::{Move, Placement, PlacementPolicy, PlacementRequest, StreamId, TransferId};
use braid_topology::{Graph, Link, LinkState};
use braid_types::{BitsPerSec, SplitMix64, SwitchPort, Time};

use crate::engine::Way;
use crate::network::{Network, Plug};

pub use advised::{Advised, AdvisedPair};
pub use scheme::{Chooser, Scheme, Ties, UnknownScheme};
use sets::PathSets;

/// Places the subflows of one transfer after another.
#[derive(Debug)]
pub struct Steering {
    graph: Arc<Graph>,
    placement: Box<dyn PlacementPolicy>,
    /// Whether only streams between the same two addresses count as siblings.
    by_address_pair: bool,
    sets: PathSets,
    // By the number of the stream; by transfer, its first one.
    streams: Vec<Subflow>,
    transfers: Vec<usize>,
}

/// One that has been placed.
#[derive(Clone, Debug)]
struct Subflow {
    transfer: usize,
    index: usize,
    ends: [Plug; 2],
    path: Path,
}

/// The placement of a transfer's subflows.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Placed {
    /// The route of each: first one for each pair of interfaces, then a second one.
    pub ways: Vec<Way>,
    /// The moves that this requires; a subflow may move twice, last to its final route.
    pub moves: Vec<Moved>,
}

/// A rerouted subflow.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Moved {
    /// Its transfer, in the order in which they were placed.
    pub transfer: usize,
    /// Its index among the routes of that transfer.
    pub subflow: usize,
    /// Its new route.
    pub way: Way,
}

impl Steering {
    /// None is placed yet.
    pub fn new(scheme: Scheme, network: &Network, mut random: SplitMix64) -> Self {
        let graph = network.graph().clone();
        let placement = scheme.choice.placement(&mut random);
        let sets = PathSets::new(scheme, graph.clone(), random);
        let by_address_pair = matches!(scheme.choice, Chooser::Policy(policy) if policy.is_by_address_pair());
        Self { graph, placement, by_address_pair, sets, streams: Vec::new(), transfers: Vec::new() }
    }

    /// Routes for `subflows` subflows of each pair of the two hosts' interfaces; fewer where no path exists.
    pub fn place(
        &mut self,
        now: Time,
        network: &Network,
        (from, to): (usize, usize),
        subflows: usize,
    ) -> Placed {
        let [from, to] = [from, to].map(|host| &network.hosts()[host]);
        let pairs: Vec<_> =
            from.iter().flat_map(|source| to.iter().map(move |sink| [*source, *sink])).collect();
        let all: Vec<_> = (0..subflows).flat_map(|_| pairs.iter().copied()).collect();
        self.place_on(now, network, &all)
    }

    /// Routes for subflows between given interfaces; fewer where no path exists.
    pub fn place_on(&mut self, now: Time, network: &Network, subflows: &[[Plug; 2]]) -> Placed {
        let (mut taken, mut placed, mut sets) = (BTreeMap::new(), Placed::default(), BTreeMap::new());
        self.transfers.push(self.streams.len());
        for ends in subflows {
            let key = ends.map(|plug| plug.switch);
            let set = sets.entry(key).or_insert_with(|| self.sets.between(key[0], key[1])).clone();
            self.place_one(now, network, (*ends, &set), &mut taken, &mut placed);
        }
        placed
    }

    /// Notes the end of a transfer: it no longer counts in placement.
    pub fn ended(&mut self, transfer: usize) {
        let [first, end] = [transfer, transfer + 1].map(|it| self.transfers.get(it).copied());
        let end = end.unwrap_or(self.streams.len());
        (first.unwrap_or(end)..end).for_each(|stream| self.placement.ended(StreamId(stream as u64)));
    }

    /// Reroutes the subflows on failed links, if there is another path.
    pub fn repair(&mut self, now: Time, network: &Network, gone: &BTreeSet<SwitchPort>) -> Vec<Moved> {
        let graph = &self.graph;
        let left = graph.edges().map(|edge| (*graph.link(edge), *graph.state(edge)));
        let left: Vec<_> = left.filter(|(link, _)| !gone.contains(&link.src)).collect();
        let nodes = graph.nodes().map(|node| graph.dpid(node));
        self.graph = Arc::new(Graph::new(graph.version() + 1, nodes, left));
        self.sets.forget(self.graph.clone());
        let broken = |it: &&Subflow| it.path.links().iter().any(|link| gone.contains(&link.src));
        let broken: Vec<_> =
            (0..).zip(&self.streams).filter(|(_, it)| broken(it)).map(|(at, _)| at).collect();
        broken.into_iter().flat_map(|stream| self.place_again(now, network, stream)).collect()
    }

    fn place_again(&mut self, now: Time, network: &Network, stream: usize) -> Vec<Moved> {
        let Some(Subflow { transfer, ends, .. }) = self.streams.get(stream).cloned() else {
            return Vec::new();
        };
        let set = self.sets.between(ends[0].switch, ends[1].switch);
        let first = self.transfers.get(transfer).copied().unwrap_or(stream);
        let family = self.streams.iter().enumerate().skip(first);
        let family = family.take_while(|(_, it)| it.transfer == transfer).filter(|(at, _)| *at != stream);
        let siblings = family.filter(|(_, it)| self.is_sibling(it.ends, ends));
        let siblings: Vec<_> = siblings.map(|(_, it)| &it.path).collect();
        let candidates: Vec<_> = set.iter().collect();
        let ids = Some((TransferId(transfer as u64), StreamId(stream as u64)));
        let (candidates, siblings, opening) = (&candidates, &siblings, &[]);
        let request =
            PlacementRequest { now, stream: ids, candidates, siblings, opening, graph: &self.graph };
        let Some(Placement { index, moves, .. }) = self.placement.place(&request) else { return Vec::new() };
        let own = set.get(index).map(|path| Move { stream: StreamId(stream as u64), path: path.clone() });
        own.into_iter().chain(moves).filter_map(|it| self.lead(network, it)).collect()
    }

    /// Whether a subflow between these interfaces counts for one between those.
    fn is_sibling(&self, other: [Plug; 2], ends: [Plug; 2]) -> bool {
        !self.by_address_pair || other == ends
    }

    /// Notes the reroute of a subflow.
    fn lead(&mut self, network: &Network, Move { stream, path }: Move) -> Option<Moved> {
        let it = self.streams.get_mut(stream.0 as usize)?;
        let way = network.way(&it.ends, &path)?;
        it.path = path;
        Some(Moved { transfer: it.transfer, subflow: it.index, way })
    }

    /// Updates the load of links.
    pub fn observe(&mut self, load: impl Fn(&Link) -> BitsPerSec) {
        let graph = &self.graph;
        let links = graph.edges().map(|edge| {
            let link = graph.link(edge);
            (*link, LinkState { load: load(link), ..*graph.state(edge) })
        });
        let nodes = graph.nodes().map(|node| graph.dpid(node));
        self.graph = Arc::new(Graph::new(graph.version() + 1, nodes, links));
    }

    fn place_one(
        &mut self,
        now: Time,
        network: &Network,
        (ends, set): ([Plug; 2], &[Path]),
        taken: &mut BTreeMap<StreamId, Path>,
        placed: &mut Placed,
    ) {
        let (number, own) = (StreamId(self.streams.len() as u64), self.transfers.len() - 1);
        let candidates: Vec<_> = set.iter().collect();
        let others = taken.iter().filter(|(other, _)| {
            self.streams.get(other.0 as usize).is_some_and(|it| self.is_sibling(it.ends, ends))
        });
        let siblings: Vec<_> = others.map(|(_, path)| path).collect();
        let stream = Some((TransferId(own as u64), number));
        let (candidates, siblings, opening) = (&candidates, &siblings, &[]);
        let request = PlacementRequest { now, stream, candidates, siblings, opening, graph: &self.graph };
        let Some(Placement { index, moves, .. }) = self.placement.place(&request) else { return };
        let Some((path, way)) = set.get(index).and_then(|path| Some((path, network.way(&ends, path)?)))
        else {
            return;
        };
        taken.insert(number, path.clone());
        let path = path.clone();
        self.streams.push(Subflow { transfer: own, index: placed.ways.len(), ends, path });
        placed.ways.push(way);
        for moved in moves {
            let (stream, path) = (moved.stream, moved.path.clone());
            let Some(moved) = self.lead(network, moved) else { continue };
            taken.entry(stream).and_modify(|known| *known = path);
            match placed.ways.get_mut(moved.subflow).filter(|_| moved.transfer == own) {
                Some(known) => *known = moved.way,
                None => placed.moves.push(moved),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use braid_topology::generate::{Links, Spec};

    use super::*;
    use crate::network::LinkDefaults;

    fn network(spec: &str) -> Network {
        let spec: Spec = spec.parse().unwrap();
        let blueprint = spec.generate(Links::default()).unwrap();
        let defaults =
            LinkDefaults { queue: Default::default(), delay: Default::default(), hold_senders: true };
        Network::new(&blueprint, &defaults).unwrap()
    }

    fn ways(spec: &str, scheme: &str, pair: (usize, usize), subflows: usize) -> Vec<Way> {
        let network = network(spec);
        let mut steering = Steering::new(scheme.parse().unwrap(), &network, SplitMix64::new(1));
        steering.place(Time::ZERO, &network, pair, subflows).ways
    }

    #[test]
    fn policy_puts_subflows_on_paths_without_a_common_link() {
        for scheme in ["disjoint:4/fewest-shared", "disjoint:4/least-loaded", "shortest:16/fewest-shared"] {
            let ways = ways("fattree:8", scheme, (0, 127), 4);
            let middle = |way: &Way| way.forward[1..way.forward.len() - 1].to_vec();
            let links: BTreeSet<_> = ways.iter().flat_map(middle).collect();
            assert_eq!((ways.len(), links.len()), (4, 16), "{scheme}");
            assert!(ways.iter().all(|way| way.back.len() == 6 && way.forward.len() == 6));
        }
    }

    #[test]
    fn hashed_flows_spread_evenly_over_the_paths_of_the_controllers_groups() {
        let network = network("fattree:8");
        let mut steering = Steering::new("shortest:8/hash".parse().unwrap(), &network, SplitMix64::new(1));
        let mut users = BTreeMap::new();
        for _ in 0..800 {
            let ways = steering.place(Time::ZERO, &network, (0, 127), 1).ways;
            ways.iter().for_each(|way| *users.entry(way.forward[2]).or_insert(0) += 1);
        }
        let firsts: BTreeSet<_> = ways("fattree:8", "shortest:8/hash", (0, 127), 64)
            .into_iter()
            .map(|way| way.forward[1])
            .collect();
        assert_eq!((users.len(), firsts.len()), (8, 4), "of 16 paths, those that share the fewest links");
        assert!(users.values().all(|count| (60..=140).contains(count)), "{users:?}");
    }

    #[test]
    fn ties_are_broken_for_pairs_of_switches_or_anew_for_each_pair_of_hosts() {
        let network = network("fattree:8");
        let cores = |scheme: &str, to: &[usize]| {
            let mut steering = Steering::new(scheme.parse().unwrap(), &network, SplitMix64::new(1));
            let mut links = BTreeSet::new();
            for to in to.iter().cycle().take(40) {
                let ways = steering.place(Time::ZERO, &network, (0, *to), 4).ways;
                links.extend(ways.into_iter().map(|way| way.forward[2]));
            }
            links.len()
        };
        let far: Vec<_> = (16..128).step_by(3).collect();
        assert_eq!(cores("disjoint:4/fewest-shared", &[127]), 4);
        assert_eq!(cores("disjoint:4/fewest-shared", &far), 16);
        assert_eq!(cores("disjoint:4/fewest-shared/shuffled", &[127]), 16);
        assert_eq!(cores("shortest:16/random", &[127]), 16);
    }

    /// Each of 128 hosts sends to one and receives from one, all with room for themselves, in whichever order they come.
    #[test]
    fn joint_placement_gives_nearly_every_stream_links_of_its_own() {
        let network = network("fattree:8");
        let mut random = SplitMix64::new(1);
        let mut steering =
            Steering::new("shortest:16/least-loaded".parse().unwrap(), &network, random.fork());
        let (mut ways, mut moves) = (Vec::new(), 0);
        for pair in crate::traffic::Pattern::Permutation.pairs(128, &mut random) {
            let placed = steering.place(Time::ZERO, &network, pair, 1);
            moves += placed.moves.len();
            ways.extend(placed.ways);
            placed.moves.into_iter().for_each(|it| ways[it.transfer] = it.way);
        }
        let mut users = BTreeMap::new();
        ways.iter().flat_map(|way| &way.forward).for_each(|link| *users.entry(link).or_insert(0) += 1);
        let alone = ways.iter().filter(|way| way.forward.iter().all(|link| users[link] == 1)).count();
        eprintln!("{alone} alone, {moves} moves");
        assert!(alone >= 112 && users.values().all(|count| *count <= 2), "{alone} of 128");
        assert!((10..=150).contains(&moves), "{moves}");
    }

    #[test]
    fn subflows_leave_links_that_are_gone() {
        let network = network("fattree:4");
        let mut steering =
            Steering::new("disjoint:2/fewest-shared".parse().unwrap(), &network, SplitMix64::new(1));
        let ways = steering.place(Time::ZERO, &network, (0, 15), 2).ways;
        let up = ways[0].forward[1];
        let graph = network.graph();
        let link =
            graph.edges().map(|edge| graph.link(edge)).find(|link| network.link_at(link.src) == Some(up));
        let gone = [link.unwrap().src, link.unwrap().dst].into();
        let moved = steering.repair(Time::ZERO, &network, &gone);
        assert_eq!((moved.len(), moved[0].transfer, moved[0].subflow), (1, 0, 0));
        assert!(!moved[0].way.forward.contains(&up));
        assert!(steering.repair(Time::ZERO, &network, &gone).is_empty());
    }

    #[test]
    fn every_pair_of_interfaces_has_its_subflows() {
        let ways = ways("dh-jellyfish:60,10,120,7", "disjoint:8/fewest-shared", (0, 61), 2);
        let ends = |way: &Way| (way.forward[0], way.forward[way.forward.len() - 1]);
        let pairs: BTreeSet<_> = ways.iter().map(ends).collect();
        assert_eq!((ways.len(), pairs.len()), (8, 4));
        assert!(ways[..4].iter().map(ends).collect::<BTreeSet<_>>() == pairs);
    }

    #[test]
    fn hosts_at_one_switch_need_no_path() {
        let ways = ways("fattree:4", "disjoint:2/random", (0, 1), 3);
        assert!(ways.len() == 3 && ways.iter().all(|way| way.forward.len() == 2));
    }
}
