//! Runs shortened for a selection: fewer variants, streams, bytes or seeds.

use std::time::Duration;

use braid_lab::Scenario;
use braid_lab::scenario::{Expectation, Reference, Traffic, Variant};
use braid_sim::StudyKind;
use braid_sim::study::{Changes, Subject};
use serde::{Deserialize, Serialize};

/// A run of a selection, with what is left out. Expectations about what is left out are left out too; no limit changes.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Shortening {
    /// The run's name.
    pub run: String,
    /// The variants that are run.
    pub variants: Option<Vec<String>>,
    /// The numbers of streams that are run.
    pub streams: Option<Vec<u16>>,
    /// The senders of the directions that are run.
    pub from: Option<Vec<String>>,
    /// The length of files in bytes, in the place of all others.
    pub bytes: Option<u64>,
    /// The measured seconds of a transfer.
    pub seconds: Option<u32>,
    /// The seconds before the measurement.
    pub warm_up_seconds: Option<u32>,
    /// The number of a study's seeds.
    pub seeds: Option<u64>,
    /// The numbers of subflows of a study that are run.
    pub subflows: Option<Vec<usize>>,
}

impl Shortening {
    /// Whether the run is a whole one.
    pub(crate) fn changes_nothing(&self) -> bool {
        *self == Self { run: self.run.clone(), ..Self::default() }
    }

    /// The scenario without what is left out.
    pub(crate) fn scenario(&self, mut scenario: Scenario) -> Scenario {
        let names = self.variants.as_ref();
        let is_kept = |name: &String| names.is_none_or(|names| names.contains(name));
        scenario.variants.retain(|variant| is_kept(&variant.name));
        for variant in &mut scenario.variants {
            self.shorten_variant(variant);
        }
        let hosts: Vec<_> = scenario.topology.hosts.iter().map(|host| host.name.clone()).collect();
        if let Some(traffic) = &mut scenario.traffic {
            self.shorten_traffic(traffic, &hosts);
        }
        let is_compared = |reference: &Reference| match reference {
            Reference::Variant(name) => is_kept(name),
            Reference::BestOf(names) | Reference::SumOf(names) => names.iter().all(is_kept),
            Reference::BestKnown(known) => known.measured.iter().chain(&known.published_of).all(is_kept),
            Reference::Sender(host) => self.sends(host),
            Reference::Mode(_) => true,
        };
        let kept = |it: &Expectation| {
            it.variant.as_ref().is_none_or(is_kept)
                && it.relative_to.as_ref().is_none_or(is_compared)
                && it.bytes.is_none_or(|bytes| self.bytes.is_none_or(|given| given == bytes))
                && it.from.as_ref().is_none_or(|from| self.sends(from))
        };
        scenario.expect.retain(kept);
        scenario
    }

    fn sends(&self, host: &String) -> bool {
        self.from.as_ref().is_none_or(|from| from.contains(host))
    }

    fn shorten_variant(&self, variant: &mut Variant) {
        if let (Some(kept), Some(streams)) = (&self.streams, &mut variant.streams) {
            streams.retain(|it| kept.contains(it));
        }
    }

    fn shorten_traffic(&self, traffic: &mut Traffic, hosts: &[String]) {
        if let Some(streams) = &self.streams {
            traffic.streams.retain(|it| streams.contains(it));
        }
        traffic.directions.retain(|it| hosts.get(it.from).is_none_or(|name| self.sends(name)));
        if let Some(bytes) = self.bytes {
            traffic.works.iter_mut().filter(|work| work.bytes > 0).for_each(|work| work.bytes = bytes);
            traffic.works.dedup();
        }
        let seconds = |given: Option<u32>| given.map(|it| Duration::from_secs(it.into()));
        traffic.duration = seconds(self.seconds).unwrap_or(traffic.duration);
        traffic.warm_up = seconds(self.warm_up_seconds).unwrap_or(traffic.warm_up);
    }

    /// The study without what is left out.
    pub(crate) fn study(&self, study: StudyKind) -> StudyKind {
        let changed = study.with(Changes { seeds: self.seeds, ..Changes::default() });
        match (changed, &self.subflows) {
            (StudyKind::Transfers(mut study), Some(kept)) => {
                study.cells.retain(|cell| kept.contains(&cell.experiment.subflows));
                study.expect.retain(|expect| match &expect.subject {
                    Subject::Value { of, relative_to, .. } => {
                        let all = std::iter::once(of).chain(relative_to);
                        all.into_iter().all(|it| kept.contains(&it.subflows))
                    }
                    _ => true,
                });
                StudyKind::Transfers(study)
            }
            (study, _) => study,
        }
    }
}

/// Whether all that is kept exists.
pub(crate) fn missing(shortening: &Shortening, scenario: &Scenario) -> Option<String> {
    let variant = |name: &&String| scenario.variants.iter().any(|it| it.name == **name);
    let names = shortening.variants.iter().flatten();
    names.into_iter().find(|name| !variant(name)).map(|name| format!("there is no variant {name:?}"))
}
