//! Policies as types of the API.

use braid_api::SteerAs;
use braid_steering::{Imbalance, Policies, PolicyRule, Resequence, Steering};

/// The policy in force.
pub(in crate::http) fn policies(policies: &Policies) -> braid_api::Policies {
    braid_api::Policies {
        rules: policies.rules.iter().map(rule).collect(),
        default: steering(policies.default),
    }
}

fn rule(rule: &PolicyRule) -> braid_api::PolicyRule {
    let PolicyRule { name, from, to, ports, steering: how } = rule;
    braid_api::PolicyRule {
        name: name.clone(),
        from: from.iter().map(ToString::to_string).collect(),
        to: to.iter().map(ToString::to_string).collect(),
        ports: ports.iter().map(ToString::to_string).collect(),
        steering: steering(*how),
    }
}

fn steering(steering: Steering) -> braid_api::Steering {
    let Steering { steer_as: kind, paths, k, placement, subflows, resequence, .. } = steering;
    let Steering { max_mdi, max_delay_difference, .. } = steering;
    braid_api::Steering {
        kind: steer_as(kind),
        paths: paths.map(|it| it.to_string()),
        k,
        placement: placement.map(|it| it.to_string()),
        subflows,
        resequence: resequence.map(when),
        max_mdi: max_mdi.map(Imbalance::share),
        max_delay_difference_ms: max_delay_difference
            .map(|it| u64::try_from(it.as_millis()).unwrap_or(u64::MAX)),
    }
}

const fn steer_as(kind: braid_steering::SteerAs) -> SteerAs {
    match kind {
        braid_steering::SteerAs::Auto => SteerAs::Auto,
        braid_steering::SteerAs::Single => SteerAs::Single,
        braid_steering::SteerAs::Spray => SteerAs::Spray,
        braid_steering::SteerAs::Parallel => SteerAs::Parallel,
    }
}

const fn when(resequence: Resequence) -> braid_api::Resequence {
    match resequence {
        Resequence::Always => braid_api::Resequence::Always,
        Resequence::Unequal => braid_api::Resequence::Unequal,
        Resequence::Never => braid_api::Resequence::Never,
    }
}
