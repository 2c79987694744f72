//! How many discovery frames are sent: by the size of the network, and by what the controller can take.

use std::collections::BTreeMap;
use std::time::Duration;

use braid_types::{DatapathId, Time};

use crate::settings::Settings;

/// The allowance is at most so many times [`Settings::probe_burst`],
const MAX_FACTOR: u32 = 4;
/// and at least this part of it.
const MIN_PART: u32 = 25;
/// Frames that one switch gets in a tick.
const MAX_PER_SWITCH: u32 = 128;

/// The allowance of discovery frames.
///
/// It grows while it is used up, and halves when the controller stalls.
#[derive(Debug, Default)]
pub(super) struct Pace {
    /// Frames a tick.
    allowance: u32,
    sent_in_all: u32,
    filled_at: Option<Time>,
    /// The time in all that the controller had stalled by then.
    stalled: Duration,
    sent: BTreeMap<DatapathId, u32>,
}

impl Pace {
    /// A tick has come. `stalled`: the time in all in which the controller could not listen.
    pub(super) fn handle_timeout(&mut self, now: Time, settings: &Settings, stalled: Duration) {
        if self.filled_at.is_some_and(|at| now.since(at) < settings.tick) {
            return;
        }
        let start = settings.probe_burst.max(1);
        let used = self.sent_in_all >= self.allowance;
        let has_stalled = std::mem::replace(&mut self.stalled, stalled) != stalled;
        self.allowance = match (self.filled_at, has_stalled) {
            (None, _) => start,
            (_, true) => (self.allowance / 2).max((start / MIN_PART).max(1)),
            (_, false) if used => (self.allowance + self.allowance / 4).min(start.saturating_mul(MAX_FACTOR)),
            _ => self.allowance,
        };
        (self.filled_at, self.sent_in_all) = (Some(now), 0);
        self.sent.clear();
    }

    /// Whether any frame may be sent before the next tick.
    pub(super) const fn has_room(&self) -> bool {
        self.sent_in_all < self.allowance
    }

    /// Whether one more frame may be sent to this switch before the next tick.
    pub(super) fn take(&mut self, dpid: DatapathId) -> bool {
        let sent = self.sent.entry(dpid).or_default();
        if self.sent_in_all >= self.allowance || *sent >= MAX_PER_SWITCH {
            return false;
        }
        *sent += 1;
        self.sent_in_all += 1;
        true
    }
}

/// The intervals of discovery in a network of some size.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Intervals {
    /// Between the frames of a port whose role is known.
    pub(super) probe: Duration,
    /// A link that is silent for longer has missed a frame: more follow soon.
    pub(super) patience: Duration,
    /// A link that is silent for longer is lost.
    pub(super) timeout: Duration,
}

impl Intervals {
    /// Those of so many ports. Up to [`Settings::probe_rate`] ports, they are those of the settings.
    pub(super) fn of(settings: &Settings, ports: usize) -> Self {
        let ports = u32::try_from(ports).unwrap_or(u32::MAX);
        let all = Duration::from_secs(1) * ports / settings.probe_rate.max(1);
        let probe = settings.probe_interval.max(all);
        let patience = probe * 5 / 4;
        let margin = settings.link_timeout.saturating_sub(settings.probe_interval * 5 / 4);
        Self { probe, patience, timeout: patience + margin }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn drain(pace: &mut Pace) -> u32 {
        (0_u64..).take_while(|number| pace.take(DatapathId(number / 10))).count() as u32
    }

    #[test]
    fn the_allowance_grows_while_it_is_used_up_and_halves_with_a_stall() {
        let (settings, mut sent) = (Settings::default(), Vec::new());
        let (mut pace, mut now) = (Pace::default(), Time::ZERO);
        for stalled in [0, 0, 0, 1, 2] {
            pace.handle_timeout(now, &settings, Duration::from_secs(stalled));
            sent.push(drain(&mut pace));
            now = now + settings.tick;
        }
        assert_eq!(sent, [500, 625, 781, 390, 195]);
    }

    #[test]
    fn one_switch_does_not_take_all() {
        let mut pace = Pace::default();
        pace.handle_timeout(Time::ZERO, &Settings::default(), Duration::ZERO);
        assert_eq!((0..1_000).filter(|_| pace.take(DatapathId(1))).count() as u32, MAX_PER_SWITCH);
        assert!(pace.take(DatapathId(2)));
    }

    #[test]
    fn small_networks_have_the_intervals_of_the_settings_and_large_ones_longer_ones() {
        let settings = Settings::default();
        let small = Intervals::of(&settings, 1_000);
        assert_eq!((small.probe, small.timeout), (settings.probe_interval, settings.link_timeout));
        let large = Intervals::of(&settings, 40_960);
        assert_eq!(large.probe, Duration::from_secs(10));
        assert_eq!(large.timeout, Duration::from_millis(12_500 + 1_250));
    }
}
