//! The effective policy of a connection: its rule of the policy file, with defaults for what the rule does not set.

use std::time::Duration;

use braid_paths::Kind;
use braid_steering::{Imbalance, Policy, Resequence, SteerAs, Steering};

/// The number of paths of connections that a policy calls parallel, if it sets none.
const PARALLEL_PATHS: usize = 4;

/// Defaults for what a policy does not set.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct PolicyDefaults {
    /// The paths between two switches on which the streams of a transfer are placed, and over which a flow is sprayed.
    pub paths: usize,
    /// The policy that places a stream on one of them.
    pub placement: Policy,
    /// The number of paths over which plain connections of two hosts are distributed; fewer than two: none.
    pub parallel_paths: usize,
    /// The greatest number of paths in one assignment.
    pub max_assigned_paths: usize,
}

impl Default for PolicyDefaults {
    fn default() -> Self {
        let max_assigned_paths = braid_assign::Limits::default().paths;
        Self { paths: 8, placement: Policy::default(), parallel_paths: 0, max_assigned_paths }
    }
}

/// The steering of one connection.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct EffectivePolicy {
    /// The kind of steering.
    pub steer_as: SteerAs,
    /// The number of paths over which plain connections of its hosts are distributed; fewer than two: none.
    pub parallel_paths: usize,
    /// The kind of path set of its streams.
    pub kind: Kind,
    /// The number of paths in the set.
    pub k: usize,
    /// The policy that places a stream on one of them.
    pub placement: Policy,
    /// The total number of subflows; `None`: one for each path that shares no link.
    pub subflows: Option<usize>,
    /// When a sprayed connection is resequenced.
    pub resequence: Resequence,
    /// The greatest delay imbalance of paths that it is sprayed over, if it differs from the gate's.
    pub max_mdi: Option<Imbalance>,
    /// The greatest difference of their delays, if it differs from the gate's.
    pub max_delay_difference: Option<Duration>,
}

/// The choice of paths for sprayed traffic, and whether it is resequenced.
///
/// All traffic sprayed from one edge to another under the same spray policy shares its paths.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct SprayPolicy {
    /// The greatest number of paths.
    pub k: usize,
    /// When packets are resequenced.
    pub resequence: Resequence,
    /// The greatest delay imbalance of paths used together, if it differs from the gate's.
    pub max_mdi: Option<Imbalance>,
    /// The greatest difference of their delays, if it differs from the gate's.
    pub max_delay_difference: Option<Duration>,
}

impl EffectivePolicy {
    /// The steering of a policy file, completed by defaults.
    pub fn new(steering: Steering, defaults: &PolicyDefaults) -> Self {
        let parallel_paths = match steering.steer_as {
            SteerAs::Parallel => steering.k.unwrap_or(PARALLEL_PATHS).min(defaults.max_assigned_paths),
            SteerAs::Auto | SteerAs::Single | SteerAs::Spray => defaults.parallel_paths,
        };
        Self {
            steer_as: steering.steer_as,
            parallel_paths,
            kind: steering.paths.unwrap_or(Kind::EdgeDisjoint),
            k: steering.k.unwrap_or(defaults.paths),
            placement: steering.placement.unwrap_or(defaults.placement),
            subflows: steering.subflows,
            resequence: steering.resequence.unwrap_or_default(),
            max_mdi: steering.max_mdi,
            max_delay_difference: steering.max_delay_difference,
        }
    }

    /// Whether it always takes the default path.
    pub fn is_single(self) -> bool {
        self.steer_as == SteerAs::Single
    }

    /// The number of paths over which it is distributed with others of its hosts if it is plain; fewer than two: none.
    pub fn distributed_paths(self) -> usize {
        match self.steer_as {
            SteerAs::Auto | SteerAs::Parallel => self.parallel_paths,
            SteerAs::Single | SteerAs::Spray => 0,
        }
    }

    /// Whether it may be sprayed, if it is plain and not distributed with others.
    pub fn may_spray(self) -> bool {
        matches!(self.steer_as, SteerAs::Auto | SteerAs::Spray)
    }

    /// Its spray policy.
    pub const fn spray(self) -> SprayPolicy {
        SprayPolicy {
            k: self.k,
            resequence: self.resequence,
            max_mdi: self.max_mdi,
            max_delay_difference: self.max_delay_difference,
        }
    }

    /// The number of subflows beside its first, where its host opens at most `most`.
    pub fn more_subflows(self, most: usize) -> usize {
        self.subflows.map_or(most, |all| all.saturating_sub(1)).min(most)
    }

    /// Whether its subflows may share links: as many as the policy sets are spread over the paths.
    pub const fn may_share(self) -> bool {
        self.subflows.is_some()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn effective(steering: Steering) -> EffectivePolicy {
        EffectivePolicy::new(steering, &PolicyDefaults { parallel_paths: 3, ..PolicyDefaults::default() })
    }

    #[test]
    fn defaults_hold_where_a_policy_says_nothing() {
        let policy = effective(Steering::default());
        assert_eq!((policy.kind, policy.k, policy.placement), (Kind::EdgeDisjoint, 8, Policy::FewestShared));
        let spray =
            SprayPolicy { k: 8, resequence: Resequence::Always, max_mdi: None, max_delay_difference: None };
        assert_eq!(policy.spray(), spray);
        assert_eq!((policy.parallel_paths, policy.more_subflows(5)), (3, 5));
    }

    #[test]
    fn what_is_sprayed_or_single_is_not_distributed_and_what_is_parallel_is_over_paths_of_its_own_number() {
        let paths =
            |steer_as, k| effective(Steering { steer_as, k, ..Steering::default() }).distributed_paths();
        assert_eq!([SteerAs::Spray, SteerAs::Single, SteerAs::Auto].map(|it| paths(it, None)), [0, 0, 3]);
        assert_eq!([None, Some(2), Some(64)].map(|k| paths(SteerAs::Parallel, k)), [4, 2, 16]);
        let may = |steer_as| effective(Steering { steer_as, ..Steering::default() }).may_spray();
        let all = [SteerAs::Auto, SteerAs::Single, SteerAs::Spray, SteerAs::Parallel];
        assert_eq!(all.map(may), [true, false, true, false]);
    }

    #[test]
    fn a_policy_that_counts_subflows_counts_the_first_one_too() {
        let policy = |subflows| effective(Steering { subflows, ..Steering::default() });
        assert_eq!([Some(4), Some(1), Some(9), None].map(|it| policy(it).more_subflows(5)), [3, 0, 5, 5]);
        assert_eq!([Some(4), None].map(|it| policy(it).may_share()), [true, false]);
    }
}
