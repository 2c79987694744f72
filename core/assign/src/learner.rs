//! Models of paths, learned online from the goodput of running transfers.

use std::collections::BTreeMap;

use braid_types::{DatapathId, Time};

use crate::fit::{Sample, fit};
use crate::model::StreamModel;

/// The greatest number of paths that are learned.
const MAX_PATHS: usize = 1_024;
/// The greatest number of stream counts that are kept of a path.
const MAX_COUNTS: usize = 64;
/// The least number of stream counts for a model.
const ENOUGH: usize = 5;
/// The greatest goodput decays with every later sample of as many streams, since paths change.
const FADING: f64 = 0.98;

/// Learns from running transfers how many streams paths can use.
///
/// Streams may carry less than the path allows, since their application is slow. So for each number of streams, the
/// greatest goodput counts.
#[derive(Debug, Default)]
pub struct Learner {
    paths: BTreeMap<Vec<DatapathId>, Seen>,
}

#[derive(Debug, Default)]
struct Seen {
    by_streams: BTreeMap<usize, Sample>,
    is_new: bool,
    fitted_at: Option<Time>,
    model: Option<StreamModel>,
}

impl Learner {
    /// Records the goodput of some streams over a path, which its switches identify.
    pub fn observe(&mut self, switches: &[DatapathId], sample: Sample) {
        if !self.paths.contains_key(switches) && self.paths.len() >= MAX_PATHS {
            return;
        }
        let seen = self.paths.entry(switches.to_vec()).or_default();
        if !seen.by_streams.contains_key(&sample.streams) && seen.by_streams.len() >= MAX_COUNTS {
            return;
        }
        let before = seen.by_streams.get(&sample.streams).map_or(0.0, |it| it.goodput.as_f64() * FADING);
        if sample.goodput.as_f64() >= before {
            seen.by_streams.insert(sample.streams, sample);
            seen.is_new = true;
        } else if let Some(known) = seen.by_streams.get_mut(&sample.streams) {
            known.goodput.0 = before as u64;
        }
    }

    /// Fits the model of the path that waits longest for it, if there is one; returns that path. Takes some milliseconds.
    pub fn fit_one(&mut self, now: Time) -> Option<(&[DatapathId], StreamModel)> {
        let waiting =
            self.paths.iter_mut().filter(|(_, seen)| seen.is_new && seen.by_streams.len() >= ENOUGH);
        let (switches, seen) = waiting.min_by_key(|(_, seen)| seen.fitted_at)?;
        (seen.is_new, seen.fitted_at) = (false, Some(now));
        let fitted =
            fit(&seen.samples()).ok().filter(|fit| fit.a_between[1] < f64::MAX && fit.a_between[0] > 0.0)?;
        seen.model = Some(fitted.model);
        Some((switches, fitted.model))
    }

    /// The learned model of a path.
    pub fn model(&self, switches: &[DatapathId]) -> Option<StreamModel> {
        self.paths.get(switches)?.model
    }
}

impl Seen {
    /// Samples of one path, though its available bandwidth may have changed between them.
    fn samples(&self) -> Vec<Sample> {
        let Some(last) = self.by_streams.values().last() else { return Vec::new() };
        let (available, round_trip) = (last.available, last.round_trip);
        self.by_streams.values().map(|sample| Sample { available, round_trip, ..*sample }).collect()
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use braid_types::BitsPerSec;

    use super::*;
    use crate::model::Growth;

    const MODEL: StreamModel = StreamModel { a: 0.001, saturation_loss: 0.8, growth: Growth::Parabola };

    fn sample(streams: usize, share: f64) -> Sample {
        let (available, round_trip) = (BitsPerSec(100_000_000), Duration::from_millis(80));
        let best = MODEL.streams(available, round_trip);
        let goodput = available.as_f64() * share * MODEL.efficiency(streams, best);
        Sample { available, round_trip, streams, goodput: BitsPerSec(goodput as u64) }
    }

    fn path(number: u64) -> Vec<DatapathId> {
        vec![DatapathId(1), DatapathId(number)]
    }

    #[test]
    fn what_streams_carry_tells_how_many_are_best_and_slow_applications_do_not_deceive() {
        let mut learner = Learner::default();
        for streams in 1..=12 {
            for share in [0.3, 0.95, 0.5] {
                learner.observe(&path(2), sample(streams, share));
            }
        }
        assert_eq!(learner.model(&path(2)), None, "nothing is fitted while packets wait");
        let (switches, model) = learner.fit_one(Time::from_millis(1)).expect("enough was seen");
        assert_eq!(switches, path(2));
        assert!((model.a / MODEL.a - 1.0).abs() < 0.1, "{model:?}");
        assert_eq!(learner.model(&path(2)), Some(model));
        assert!(learner.fit_one(Time::from_millis(2)).is_none(), "nothing is new");
        assert_eq!(learner.model(&path(3)), None);
    }

    #[test]
    fn what_says_nothing_teaches_nothing() {
        let mut learner = Learner::default();
        (1..=4).for_each(|streams| learner.observe(&path(2), sample(streams, 1.0)));
        assert!(learner.fit_one(Time::from_millis(1)).is_none(), "too few numbers of streams");
        for streams in 1..=9 {
            let goodput = BitsPerSec(50_000_000);
            learner.observe(&path(3), Sample { goodput, ..sample(streams, 1.0) });
        }
        assert!(learner.fit_one(Time::from_millis(1)).is_none(), "more streams carry no more");
    }

    #[test]
    fn its_memory_is_bounded() {
        let mut learner = Learner::default();
        for number in 0..2 * MAX_PATHS as u64 {
            learner.observe(&path(number), sample(1, 1.0));
        }
        (1..=2 * MAX_COUNTS).for_each(|streams| learner.observe(&path(7), sample(streams, 1.0)));
        assert_eq!(learner.paths.len(), MAX_PATHS);
        assert_eq!(learner.paths[&path(7)].by_streams.len(), MAX_COUNTS);
    }
}
