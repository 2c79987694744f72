//! Settings of a variant's controller, as far as the simulator can follow them.

use std::fmt::Display;
use std::str::FromStr;

use braid_assign::{Growth, StreamModel};
use braid_lab::scenario::Variant;
use braid_planner::{EffectivePolicy, PolicyDefaults};
use braid_steering::Policies;
use braid_types::FiveTuple;

use crate::Refused;

/// The steering of a variant's controller.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct ControllerSettings {
    /// Defaults for what the policy file does not set.
    pub defaults: PolicyDefaults,
    /// The policy file.
    pub policies: Policies,
    /// The model of the parallel streams that paths can use.
    pub model: StreamModel,
}

impl ControllerSettings {
    /// The settings of a variant.
    ///
    /// # Errors
    ///
    /// [`Refused`] for the first key that the simulator cannot follow.
    pub fn of(variant: &Variant) -> Result<Self, Refused> {
        if !variant.rules.is_empty() {
            return Err(Refused::new("rules", "the simulator has no switches that take fixed rules"));
        }
        let mut settings = Self::default();
        for (option, value) in &variant.controller {
            settings.option(option, value)?;
        }
        settings.model = settings
            .model
            .checked()
            .map_err(|error| Refused::new("controller.streams-a", error.to_string()))?;
        settings.policies = variant.policy.as_deref().map(policies).transpose()?.unwrap_or_default();
        Ok(settings)
    }

    /// The effective policy of a connection; `tuple` is the direction of the opening host. Its ports do not count.
    pub fn policy(&self, tuple: &FiveTuple) -> EffectivePolicy {
        EffectivePolicy::new(self.policies.of(tuple), &self.defaults)
    }

    /// Applies an option of `braid controller run`.
    fn option(&mut self, option: &str, value: &str) -> Result<(), Refused> {
        match option {
            "placement" => self.defaults.placement = read(option, value)?,
            "parallel" => self.defaults.parallel_paths = read(option, value)?,
            "streams-a" => self.model.a = read(option, value)?,
            "streams-growth" => {
                let growth: Growth = read(option, value)?;
                self.model.growth = growth;
                // As in `braid controller run`.
                self.model.saturation_loss =
                    if growth == Growth::Line { 1.0 } else { StreamModel::default().saturation_loss };
            }
            "rebalance-limit" if value == "0" => {}
            // Plain flows of the simulator take one shortest path.
            "ecmp" if value == "off" => {}
            // Its controller leaves no lossy links either.
            "loss-limit" if value == "off" => {}
            "rebalance-limit" => {
                return Err(refused(option, "the simulator moves no streams off full links; give 0"));
            }
            _ => return Err(refused(option, "the simulator does not know this option of the controller")),
        }
        Ok(())
    }
}

fn read<T: FromStr<Err: Display>>(option: &str, value: &str) -> Result<T, Refused> {
    value.parse().map_err(|error: T::Err| refused(option, &error.to_string()))
}

fn refused(option: &str, why: &str) -> Refused {
    Refused::new(format!("controller.{option}"), why)
}

fn policies(text: &str) -> Result<Policies, Refused> {
    let policies = Policies::parse(text).map_err(|problems| {
        let all: Vec<_> = problems.iter().map(ToString::to_string).collect();
        Refused::new("policy", all.join("; "))
    })?;
    match policies.rules.iter().position(|rule| !rule.ports.is_empty()) {
        Some(index) => Err(Refused::new(
            format!("policy: rule[{index}].ports"),
            "the simulator's connections have no ports; give from or to",
        )),
        None => Ok(policies),
    }
}

#[cfg(test)]
mod tests {
    use braid_paths::Kind;
    use braid_steering::{Policy, Resequence, SteerAs};

    use super::*;

    fn variant(options: &[(&str, &str)], policy: Option<&str>) -> Variant {
        let controller = options.iter().map(|(option, value)| ((*option).to_owned(), (*value).to_owned()));
        Variant { controller: controller.collect(), policy: policy.map(str::to_owned), ..Variant::default() }
    }

    fn policy(settings: &ControllerSettings, src: &str) -> EffectivePolicy {
        let [src, dst] = [src, "10.0.0.9"].map(|it| it.parse().unwrap());
        settings.policy(&FiveTuple { src, dst, src_port: 1, dst_port: 1 })
    }

    #[test]
    fn every_key_of_a_policy_is_followed() {
        let text = "[default]\npaths = \"shortest\"\nk = 16\nsubflows = 4\nplacement = \"least-loaded\"\n\
                    resequence = \"unequal\"\nmax_mdi = 0.2\n[[rule]]\nname = \"some\"\nfrom = [\"10.0.0.1\"]\nkind = \"single\"";
        let settings = ControllerSettings::of(&variant(
            &[("rebalance-limit", "0"), ("ecmp", "off"), ("loss-limit", "off"), ("parallel", "3")],
            Some(text),
        ))
        .unwrap();
        let all = policy(&settings, "10.0.0.2");
        assert_eq!(
            (all.kind, all.k, all.subflows, all.placement),
            (Kind::Shortest, 16, Some(4), Policy::LeastLoaded)
        );
        assert_eq!((all.resequence, all.max_mdi.unwrap().share()), (Resequence::Unequal, 0.2));
        assert_eq!((all.parallel_paths, all.steer_as), (3, SteerAs::Auto));
        assert_eq!(policy(&settings, "10.0.0.1").steer_as, SteerAs::Single);
        assert_eq!(ControllerSettings::of(&variant(&[], None)), Ok(ControllerSettings::default()));
    }

    #[test]
    fn streams_grow_as_the_controller_is_told() {
        let model = ControllerSettings::of(&variant(&[("streams-growth", "line")], None)).unwrap().model;
        assert_eq!((model.growth, model.saturation_loss), (Growth::Line, 1.0));
    }

    #[test]
    fn what_the_simulator_cannot_follow_is_refused_by_its_key() {
        let rule = "[[rule]]\nname = \"some\"\nports = [80]\nplacement = \"random\"";
        for (options, policy, key) in [
            (&[("rebalance-limit", "9")][..], None, "controller.rebalance-limit"),
            (&[("weight", "latency")], None, "controller.weight"),
            (&[("streams-growth", "cube")], None, "controller.streams-growth"),
            (&[("streams-a", "-1")], None, "controller.streams-a"),
            (&[], Some(rule), "policy: rule[0].ports"),
            (&[], Some("[default]\nk = 0"), "policy"),
        ] {
            assert_eq!(ControllerSettings::of(&variant(options, policy)).unwrap_err().key, key);
        }
        let rules = [("s".to_owned(), vec![])].into_iter().collect();
        let fixed = Variant { rules, ..Variant::default() };
        assert_eq!(ControllerSettings::of(&fixed).unwrap_err().key, "rules");
    }
}
