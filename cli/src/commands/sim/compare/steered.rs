//! Steering settings of a scenario's variant, as far as the simulator knows them.

use braid_assign::{Growth, StreamModel};
use braid_lab::scenario::{Mode, Variant};
use braid_paths::Kind;
use braid_sim::steering::{Chooser, Scheme, Ties};
use braid_steering::{Policies, Policy};

/// Sets that are placed on where no policy says which, as in `core/control`.
const PATHS: usize = 8;

/// How the controller of a variant steers.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) struct Steered {
    paths: Kind,
    k: usize,
    placement: Policy,
    /// How many subflows hosts are told to open.
    pub(super) subflows: Option<usize>,
    /// What parallel streams can use.
    pub(super) model: StreamModel,
}

impl Default for Steered {
    fn default() -> Self {
        Self {
            paths: Kind::EdgeDisjoint,
            k: PATHS,
            placement: Policy::FewestShared,
            subflows: None,
            model: StreamModel::default(),
        }
    }
}

impl Steered {
    /// As a variant says; nothing if it has rules or options that the simulator does not know.
    pub(super) fn of(variant: &Variant) -> Option<Self> {
        let mut steered = Self::default();
        let known = variant.controller.iter().all(|(option, value)| steered.option(option, value));
        let read = variant.policy.as_deref().is_none_or(|text| steered.policy(text));
        (variant.rules.is_empty() && known && read).then_some(steered)
    }

    /// The scheme of the streams of a mode; plain TCP takes the default route.
    pub(super) fn scheme(&self, mode: Mode) -> Scheme {
        let choice = |policy| Chooser::Policy(policy);
        match mode {
            Mode::Tcp => Scheme {
                kind: Kind::Shortest,
                k: 1,
                choice: choice(Policy::FewestShared),
                ties: Ties::Shipped,
            },
            Mode::Mptcp => {
                Scheme { kind: self.paths, k: self.k, choice: choice(self.placement), ties: Ties::Shipped }
            }
        }
    }

    /// Takes over an option of the controller; whether it is known.
    fn option(&mut self, option: &str, value: &str) -> bool {
        match option {
            "placement" => value.parse().map(|it| self.placement = it).is_ok(),
            "streams-a" => value.parse().map(|it| self.model.a = it).is_ok(),
            "streams-growth" => value.parse().map(|it| self.growth(it)).is_ok(),
            // Streams are not moved for load here.
            "rebalance-limit" => value == "0",
            _ => false,
        }
    }

    /// As `braid controller run` has it.
    fn growth(&mut self, growth: Growth) {
        self.model.growth = growth;
        self.model.lack = if growth == Growth::Line { 1.0 } else { StreamModel::default().lack };
    }

    /// Takes over what holds for all connections; whether that is all that the policy has.
    fn policy(&mut self, text: &str) -> bool {
        let Ok(policies) = Policies::parse(text) else { return false };
        let braid_steering::Steering { paths, k, placement, subflows, .. } = policies.default;
        self.paths = paths.unwrap_or(self.paths);
        self.k = k.unwrap_or(self.k);
        self.placement = placement.unwrap_or(self.placement);
        self.subflows = subflows;
        policies.rules.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn variant(options: &[(&str, &str)], policy: Option<&str>) -> Variant {
        let controller = options.iter().map(|(option, value)| ((*option).to_owned(), (*value).to_owned()));
        Variant { controller: controller.collect(), policy: policy.map(str::to_owned), ..Variant::default() }
    }

    #[test]
    fn policy_for_all_is_steered_by() {
        let policy = "[default]\npaths = \"shortest\"\nk = 16\nsubflows = 4\nplacement = \"least-loaded\"";
        let steered = Steered::of(&variant(&[("rebalance-limit", "0")], Some(policy))).unwrap();
        assert_eq!(steered.scheme(Mode::Mptcp).to_string(), "shortest:16/least-loaded");
        assert_eq!((steered.scheme(Mode::Tcp).k, steered.subflows), (1, Some(4)));
        assert_eq!(Steered::of(&variant(&[], None)), Some(Steered::default()));
    }

    #[test]
    fn streams_grow_as_the_controller_is_told() {
        let model = Steered::of(&variant(&[("streams-growth", "line")], None)).unwrap().model;
        assert_eq!((model.growth, model.lack), (Growth::Line, 1.0));
    }

    #[test]
    fn what_the_simulator_does_not_know_is_left_out() {
        let rule = "[[rule]]\nname = \"some\"\nports = [80]\nplacement = \"random\"";
        for (options, policy) in [
            (&[("rebalance-limit", "9")][..], None),
            (&[("probe", "1s")], None),
            (&[("streams-growth", "cube")], None),
            (&[], Some(rule)),
            (&[], Some("[default]\nk = 0")),
        ] {
            assert_eq!(Steered::of(&variant(options, policy)), None, "{options:?} {policy:?}");
        }
    }
}
