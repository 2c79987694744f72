//! The policy of each connection, and the placement of its streams.

use std::collections::BTreeMap;
use std::sync::Arc;

use braid_paths::Path;
use braid_planner::EffectivePolicy;
use braid_steering::{
    Placement, PlacementPolicy, PlacementRequest, Policies, Policy, Stream, TransferId, Transfers,
};
use braid_types::FiveTuple;
use smallvec::SmallVec;

use super::Streams;
use crate::settings::Settings;

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
    pub(crate) fn policy_of(&self, settings: &Settings, tuple: &FiveTuple) -> EffectivePolicy {
        EffectivePolicy::new(self.policies.of(tuple), &settings.policy_defaults())
    }
}

/// Whether one end of a stream sends these packets.
pub(super) fn is_known(streams: &Transfers, tuple: &FiveTuple) -> bool {
    streams.by_tuple(tuple).is_some() || streams.by_tuple(&tuple.reversed()).is_some()
}

/// The policies that are in use, with what they remember.
pub(super) type Placements = BTreeMap<Policy, Box<dyn PlacementPolicy>>;

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
pub(super) fn choose(
    placements: &mut Placements,
    policy: Policy,
    request: &PlacementRequest<'_>,
) -> Option<Placement> {
    placements.entry(policy).or_insert_with(|| policy.placement()).place(request)
}
