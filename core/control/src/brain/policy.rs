//! How each connection is steered: as the policy says, and else as the settings do.

use std::collections::BTreeMap;
use std::sync::Arc;

use braid_paths::{Kind, Path, PathSet};
use braid_steering::{Choice, Placement, Policies, Policy, Question, SteerAs, Stream, TransferId, Transfers};
use braid_types::{DatapathId, FiveTuple};
use smallvec::SmallVec;

use super::Brain;

/// How the streams of a connection are placed.
#[derive(Clone, Copy, Debug)]
pub(super) struct Manner {
    pub(super) steer_as: SteerAs,
    /// Over how many paths plain connections are dealt, if there are several; fewer than two: over none.
    pub(super) parallel_paths: usize,
    pub(super) kind: Kind,
    pub(super) k: usize,
    pub(super) placement: Policy,
    /// Subflows in all, if it is not for the network to say.
    pub(super) subflows: Option<usize>,
}

/// Paths of connections that a policy calls parallel, if it does not say how many.
const PARALLEL_PATHS: usize = 4;

impl Manner {
    /// Whether it takes the default route, whatever it is.
    pub(super) fn is_single(self) -> bool {
        self.steer_as == SteerAs::Single
    }
}

impl Brain {
    /// What is steered how, from now on. Streams that are open keep their paths.
    ///
    /// The text of a policy file that was checked; of one that was not, nothing is taken over.
    pub(super) fn set_policy(&mut self, text: &str) {
        if let Ok(policies) = Policies::parse(text) {
            self.policies = Arc::new(policies);
        }
    }

    /// What is steered how.
    pub fn policies(&self) -> &Arc<Policies> {
        &self.policies
    }

    /// How a connection is steered.
    pub(super) fn manner(&self, tuple: &FiveTuple) -> Manner {
        let steering = self.policies.of(tuple);
        let most = self.settings.assignments.paths;
        Manner {
            steer_as: steering.steer_as,
            parallel_paths: match steering.steer_as {
                SteerAs::Parallel => steering.k.unwrap_or(PARALLEL_PATHS).min(most),
                SteerAs::Auto | SteerAs::Single | SteerAs::Spray => self.settings.parallel_paths,
            },
            kind: steering.paths.unwrap_or(Kind::EdgeDisjoint),
            k: steering.k.unwrap_or(self.settings.paths),
            placement: steering.placement.unwrap_or(self.settings.placement),
            subflows: steering.subflows,
        }
    }

    /// The paths that a stream so steered may take.
    pub(super) fn paths_in(&mut self, manner: Manner, ends: (DatapathId, DatapathId)) -> Arc<PathSet> {
        self.paths.of_kind(manner.kind, manner.k, ends)
    }
}

/// The policies that are in use, with what they remember.
pub(super) type Placements = BTreeMap<Policy, Box<dyn Placement>>;

/// Where the other streams of a transfer go.
#[derive(Default)]
pub(super) struct Siblings<'a> {
    /// Those that are established.
    pub(super) established: SmallVec<[&'a Path; 8]>,
    /// Those that may be refused yet.
    pub(super) opening: SmallVec<[&'a Path; 8]>,
}

/// Where the streams of a transfer go that count for the placement of one more between these addresses.
pub(super) fn siblings<'a>(
    streams: &'a Transfers,
    transfer: TransferId,
    tuple: &FiveTuple,
    policy: Policy,
) -> Siblings<'a> {
    let ids = streams.transfer(transfer).map(|it| it.streams.as_slice()).unwrap_or_default();
    let counts = |it: &&Stream| {
        let pair = (it.tuple.src, it.tuple.dst);
        it.tuple != *tuple && (!policy.is_by_address_pair() || pair == (tuple.src, tuple.dst))
    };
    let mut siblings = Siblings::default();
    for stream in ids.iter().filter_map(|id| streams.stream(*id)).filter(counts) {
        let paths = if stream.established { &mut siblings.established } else { &mut siblings.opening };
        paths.extend(stream.route.as_ref().map(|route| &route.forward));
    }
    siblings
}

/// Which path a stream is to take.
pub(super) fn choose(placements: &mut Placements, policy: Policy, question: &Question<'_>) -> Option<Choice> {
    placements.entry(policy).or_insert_with(|| policy.placement()).place(question)
}
