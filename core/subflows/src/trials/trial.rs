//! A trial in progress.

use std::time::Duration;

use braid_types::Time;

use crate::{Reading, Settings, Suspicion};

/// A resumed subflow has grown after so many round trips.
const ROUND_TRIPS: u32 = 10;
/// The part of a window that any change takes at least.
const SETTLING: u32 = 5;

/// What is happening.
#[derive(Clone, Copy, Debug)]
pub(super) enum Phase<K> {
    /// No trial.
    Watching,
    /// The subflow was suspended or resumed a moment ago.
    Settling(Trial<K>),
    /// The rate is measured that results.
    Measuring(Trial<K>),
    /// The subflow of the last trial was kept, and grows again.
    Growing(Trial<K>),
}

/// A subflow, and the connection's rate before it was suspended or resumed.
#[derive(Clone, Copy, Debug)]
pub(super) struct Trial<K> {
    pub(super) id: K,
    /// Whether the connection is tried without the subflow, not with it.
    pub(super) is_without: bool,
    pub(super) before: f64,
    pub(super) since: Time,
    pub(super) suspicion: Suspicion,
}

impl<K> Phase<K> {
    pub(super) fn trial(self) -> Option<Trial<K>> {
        match self {
            Self::Watching | Self::Growing(_) => None,
            Self::Settling(trial) | Self::Measuring(trial) => Some(trial),
        }
    }
}

impl<K: Copy + Ord> Trial<K> {
    /// Whether the rate can be measured: nothing waits for the suspended subflow, or the resumed one has grown.
    pub(super) fn is_settled(&self, now: Time, reading: &Reading<K>, settings: &Settings) -> bool {
        let (age, subflow) = (now.since(self.since), reading.subflow(self.id));
        let least = settings.window / SETTLING;
        if self.is_without {
            let is_drained = subflow.is_none_or(|it| it.is_drained);
            is_drained && age >= least || age >= settings.max_draining
        } else {
            let round_trip = subflow.map_or(Duration::ZERO, |it| it.rtt);
            age >= round_trip.saturating_mul(ROUND_TRIPS).clamp(least, settings.max_growing.max(least))
        }
    }
}
