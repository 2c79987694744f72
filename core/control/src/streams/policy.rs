//! How each connection is steered: as the policy says, and else as the settings do.

use std::collections::BTreeMap;
use std::sync::Arc;

use braid_paths::{Kind, Path, PathSet};
use braid_steering::{Choice, Placement, Policies, Policy, Question, SteerAs, Stream, TransferId, Transfers};
use braid_types::FiveTuple;
use smallvec::SmallVec;

use super::Streams;
use crate::path_cache::PathCache;
use crate::settings::Settings;
use crate::switch_pair::SwitchPair;

/// How the streams of a connection are placed.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Manner {
    pub(crate) steer_as: SteerAs,
    /// Over how many paths plain connections are distributed, if there are several; fewer than two: over none.
    pub(crate) parallel_paths: usize,
    pub(crate) kind: Kind,
    pub(crate) k: usize,
    pub(crate) placement: Policy,
    /// Subflows in all, if it is not for the network to say.
    pub(crate) subflows: Option<usize>,
}

/// Paths of connections that a policy calls parallel, if it does not say how many.
const PARALLEL_PATHS: usize = 4;

impl Manner {
    /// The paths that a stream so steered may take.
    pub(crate) fn paths(self, cache: &mut PathCache, ends: SwitchPair) -> Arc<PathSet> {
        cache.of_kind(self.kind, self.k, ends)
    }

    /// Whether it takes the default route, whatever it is.
    pub(crate) fn is_single(self) -> bool {
        self.steer_as == SteerAs::Single
    }
}

impl Streams {
    /// What is steered how, from now on. Streams that are open keep their paths.
    ///
    /// The text of a policy file that was checked; of one that was not, nothing is taken over.
    pub(crate) fn set_policy(&mut self, text: &str) {
        if let Ok(policies) = Policies::parse(text) {
            self.policies = Arc::new(policies);
        }
    }

    /// What is steered how.
    pub(crate) fn policies(&self) -> &Arc<Policies> {
        &self.policies
    }

    /// How a connection is steered.
    pub(crate) fn manner(&self, settings: &Settings, tuple: &FiveTuple) -> Manner {
        let steering = self.policies.of(tuple);
        let most = settings.assignments.paths;
        Manner {
            steer_as: steering.steer_as,
            parallel_paths: match steering.steer_as {
                SteerAs::Parallel => steering.k.unwrap_or(PARALLEL_PATHS).min(most),
                SteerAs::Auto | SteerAs::Single | SteerAs::Spray => settings.parallel_paths,
            },
            kind: steering.paths.unwrap_or(Kind::EdgeDisjoint),
            k: steering.k.unwrap_or(settings.paths),
            placement: steering.placement.unwrap_or(settings.placement),
            subflows: steering.subflows,
        }
    }
}

/// Whether one end of a stream sends these packets.
pub(super) fn is_known(streams: &Transfers, tuple: &FiveTuple) -> bool {
    streams.by_tuple(tuple).is_some() || streams.by_tuple(&tuple.reversed()).is_some()
}

/// The policies that are in use, with what they remember.
pub(super) type Placements = BTreeMap<Policy, Box<dyn Placement>>;

/// Where the other streams of a transfer go.
#[derive(Default)]
pub(super) struct Siblings<'a> {
    /// Those that are established.
    pub(crate) established: SmallVec<[&'a Path; 8]>,
    /// Those that may be refused yet.
    pub(crate) opening: SmallVec<[&'a Path; 8]>,
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
