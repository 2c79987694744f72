//! Paths for the subflows of transfers, chosen by the code that the controller runs.

use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

use braid_paths::{Kind, Path, PathFinder, Request, solve};
use braid_steering::{Choice, Placement, Policy, Question};
use braid_topology::Graph;
use braid_types::{DatapathId, Time};

use crate::engine::{Random, Way};
use crate::network::Network;

/// Which paths a subflow may take, and which of them it does.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Scheme {
    /// The paths between two switches.
    pub kind: Kind,
    /// How many of them at most.
    pub k: usize,
    /// Which of them.
    pub choice: Chooser,
    /// Which of several path sets that are equally good.
    pub ties: Ties,
}

/// How a path of the set is chosen.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Chooser {
    /// Each is as likely, as where routers hash: the paper's R.
    Random,
    /// A policy of the controller's; the paper's M is [`Policy::FewestShared`].
    Policy(Policy),
}

/// Which of several sets a pair of hosts gets that have as many links.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Ties {
    /// One drawn for the pair.
    #[default]
    Random,
    /// The first, by the numbers of switches and ports: what the controller does today.
    First,
}

/// Text that is not a scheme.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error(
    "{0:?} is no scheme such as disjoint:4/fewest-shared, shortest:16/random, ksp:8/least-loaded; \
     /first after it takes the first of several sets that are as good"
)]
pub struct UnknownScheme(String);

/// Chooses paths for the subflows of one transfer after another.
#[derive(Debug)]
pub struct Steering {
    scheme: Scheme,
    graph: Arc<Graph>,
    placement: Box<dyn Placement>,
    random: Random,
    first: PathFinder,
    known: BTreeMap<(DatapathId, DatapathId), Arc<[Path]>>,
}

/// Any of the candidates, each as likely.
#[derive(Debug)]
struct AnyPath(Random);

impl Placement for AnyPath {
    fn place(&mut self, question: &Question<'_>) -> Option<Choice> {
        let count = question.candidates.len();
        (count > 0).then(|| Choice { index: self.0.below(count), shared: 0, moves: Vec::new() })
    }
}

impl Steering {
    /// None is placed yet.
    pub fn new(scheme: Scheme, network: &Network, mut random: Random) -> Self {
        let graph = network.graph().clone();
        let placement = match scheme.choice {
            Chooser::Random => Box::new(AnyPath(random.fork())),
            Chooser::Policy(policy) => policy.placement(),
        };
        let first = PathFinder::by_hops(graph.clone());
        Self { scheme, graph, placement, random, first, known: BTreeMap::new() }
    }

    /// Ways for `subflows` subflows of each pair of the two hosts' interfaces: first one of each pair, then a second one.
    /// Fewer where no path leads.
    pub fn ways(
        &mut self,
        now: Time,
        network: &Network,
        (from, to): (usize, usize),
        subflows: usize,
    ) -> Vec<Way> {
        let [from, to] = [from, to].map(|host| &network.hosts()[host]);
        let pairs: Vec<_> =
            from.iter().flat_map(|source| to.iter().map(move |sink| (source, sink))).collect();
        let sets: Vec<_> =
            pairs.iter().map(|(source, sink)| self.paths(source.switch, sink.switch)).collect();
        let mut taken: Vec<Path> = Vec::new();
        let mut ways = Vec::new();
        for ((source, sink), set) in (0..subflows).flat_map(|_| pairs.iter().zip(&sets)) {
            let Some(path) = self.place(now, set, &taken) else { continue };
            ways.extend(network.way(source, &path, sink));
            taken.push(path);
        }
        ways
    }

    fn place(&mut self, now: Time, set: &[Path], taken: &[Path]) -> Option<Path> {
        let (candidates, siblings): (Vec<_>, Vec<_>) = (set.iter().collect(), taken.iter().collect());
        let question =
            Question { now, stream: None, candidates: &candidates, siblings: &siblings, graph: &self.graph };
        let choice = self.placement.place(&question)?;
        set.get(choice.index).cloned()
    }

    fn paths(&mut self, ingress: DatapathId, egress: DatapathId) -> Arc<[Path]> {
        let Scheme { kind, k, ties, .. } = self.scheme;
        match (ties, kind) {
            _ if ingress == egress => [Path::within(ingress)].into(),
            (Ties::First, _) => self.first_set(ingress, egress, k),
            (Ties::Random, Kind::Shortest) => {
                let mut paths = self.first_set(ingress, egress, Request::MAX_PATHS).to_vec();
                self.random.shuffle(&mut paths);
                paths.truncate(k);
                paths.into()
            }
            (Ties::Random, _) => {
                let request = Request::new(kind, k);
                solve(&mut self.shuffled(), ingress, egress, &request).paths.into()
            }
        }
    }

    fn first_set(&mut self, ingress: DatapathId, egress: DatapathId, k: usize) -> Arc<[Path]> {
        let request = Request::new(self.scheme.kind, k);
        let find = || solve(&mut self.first, ingress, egress, &request).paths.into();
        self.known.entry((ingress, egress)).or_insert_with(find).clone()
    }

    /// Links cost the same but for a little, so that all sets of as many links differ, and no more links are worth it.
    fn shuffled(&mut self) -> PathFinder {
        let costs: Vec<_> =
            self.graph.edges().map(|_| (1 << 20) + self.random.below(1 << 12) as u32).collect();
        PathFinder::new(self.graph.clone(), |edge| costs.get(edge.index()).copied())
    }
}

impl fmt::Display for Scheme {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let choice = match self.choice {
            Chooser::Random => "random",
            Chooser::Policy(policy) => policy.name(),
        };
        let first = if self.ties == Ties::First { "/first" } else { "" };
        write!(f, "{}:{}/{choice}{first}", self.kind, self.k)
    }
}

impl FromStr for Scheme {
    type Err = UnknownScheme;

    fn from_str(text: &str) -> Result<Self, UnknownScheme> {
        parse(text).ok_or_else(|| UnknownScheme(text.to_owned()))
    }
}

fn parse(text: &str) -> Option<Scheme> {
    let (paths, rest) = text.split_once('/')?;
    let (kind, k) = paths.rsplit_once(':')?;
    let (choice, ties) = match rest.split_once('/') {
        None => (rest, Ties::Random),
        Some((choice, "first")) => (choice, Ties::First),
        Some(_) => return None,
    };
    let choice = match choice {
        "random" => Chooser::Random,
        policy => Chooser::Policy(policy.parse().ok()?),
    };
    let scheme = Scheme { kind: kind.parse().ok()?, k: k.parse().ok()?, choice, ties };
    Request::new(scheme.kind, scheme.k).check().is_ok().then_some(scheme)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use braid_topology::generate::{Links, Spec};

    use super::*;
    use crate::network::LinkDefaults;

    fn network(spec: &str) -> Network {
        let spec: Spec = spec.parse().unwrap();
        let blueprint = spec.generate(Links::default()).unwrap();
        let defaults = LinkDefaults { queue: Default::default(), delay: Default::default() };
        Network::new(&blueprint, &defaults).unwrap()
    }

    fn ways(spec: &str, scheme: &str, pair: (usize, usize), subflows: usize) -> Vec<Way> {
        let network = network(spec);
        let mut steering = Steering::new(scheme.parse().unwrap(), &network, Random::new(1));
        steering.ways(Time::ZERO, &network, pair, subflows)
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
    fn ties_are_broken_for_each_pair_or_always_alike() {
        let network = network("fattree:8");
        let cores = |scheme: &str| {
            let mut steering = Steering::new(scheme.parse().unwrap(), &network, Random::new(1));
            let mut links = BTreeSet::new();
            for _ in 0..40 {
                links.extend(
                    steering.ways(Time::ZERO, &network, (0, 127), 4).into_iter().map(|way| way.forward[2]),
                );
            }
            links.len()
        };
        assert_eq!(cores("disjoint:4/fewest-shared/first"), 4);
        assert_eq!(cores("disjoint:4/fewest-shared"), 16);
        assert_eq!(cores("shortest:16/random/first"), 16);
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

    #[test]
    fn schemes_are_written_as_they_are_read() {
        for text in ["disjoint:4/fewest-shared", "shortest:16/random", "ksp:8/least-loaded/first"] {
            assert_eq!(text.parse::<Scheme>().unwrap().to_string(), text);
        }
        for text in [
            "",
            "disjoint",
            "disjoint:4",
            "disjoint:0/random",
            "disjoint:4/ecmp",
            "x:4/random",
            "ksp:1/random/last",
        ] {
            assert!(text.parse::<Scheme>().is_err(), "{text}");
        }
    }
}
