//! The labs of a scenario: each variant with each profile of the lines and each congestion control.

use super::{Profile, Scenario, Variant};

/// One lab of a scenario.
#[derive(Clone, Debug, PartialEq)]
pub struct Case {
    /// The name of its profile, if the scenario has profiles.
    pub profile: Option<String>,
    /// Its congestion control, if the traffic names some.
    pub congestion_control: Option<String>,
    /// The variant; one without changes if the scenario has none.
    pub variant: Variant,
    /// The scenario with all of these.
    pub scenario: Scenario,
}

impl Case {
    fn new(
        scenario: &Scenario,
        profile: Option<&Profile>,
        control: Option<&String>,
        variant: &Variant,
    ) -> Self {
        let with_profile = profile.map_or_else(|| scenario.clone(), |profile| scenario.with_profile(profile));
        let with_control = with_profile.with_congestion_control(control);
        Self {
            profile: profile.map(|it| it.name.clone()),
            congestion_control: control.cloned(),
            variant: variant.clone(),
            scenario: with_control.with_variant(variant),
        }
    }
}

impl Scenario {
    /// Every lab that a run builds, in order: the profiles outermost, then congestion controls, then variants.
    pub fn cases(&self) -> Vec<Case> {
        let variants =
            if self.variants.is_empty() { vec![Variant::default()] } else { self.variants.clone() };
        let controls = self.traffic.iter().flat_map(|traffic| &traffic.congestion_controls);
        let (profiles, controls) = (or_none(self.profiles.iter()), or_none(controls));
        let mut cases = Vec::new();
        for profile in profiles {
            for control in &controls {
                cases.extend(variants.iter().map(|variant| Case::new(self, profile, *control, variant)));
            }
        }
        cases
    }

    fn with_profile(&self, profile: &Profile) -> Self {
        let mut scenario = self.clone();
        let lines = self.topology.sites.iter().flat_map(|sites| &sites.lines);
        for (line, directions) in lines.zip(&profile.lines) {
            if let Some(link) = scenario.topology.links.get_mut(*line) {
                link.directions = *directions;
            }
        }
        scenario
    }

    fn with_congestion_control(&self, name: Option<&String>) -> Self {
        let mut scenario = self.clone();
        let Some(name) = name else { return scenario };
        let senders = scenario.topology.hosts.iter_mut().filter(|host| !host.router);
        senders.for_each(|host| host.congestion_control = Some(name.clone()));
        scenario
    }
}

/// All of these, or once none.
fn or_none<'a, T>(all: impl Iterator<Item = &'a T>) -> Vec<Option<&'a T>> {
    let all: Vec<_> = all.map(Some).collect();
    if all.is_empty() { vec![None] } else { all }
}
