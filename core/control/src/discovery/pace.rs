//! How many discovery frames are sent: by the size of the network, and by what the controller can take.

use std::collections::BTreeMap;
use std::time::Duration;

use braid_types::{DatapathId, SwitchPort, Time};

use super::ports::first_of_block;
use crate::jitter::jittered;
use crate::settings::Settings;

/// The allowance is at most so many times [`Settings::probe_burst`].
const MAX_FACTOR: u32 = 4;
/// It is at least the burst divided by this.
const MIN_PART: u32 = 25;
/// It is also at least the number of ports divided by this, up to a part of the burst.
const MIN_PART_OF_PORTS: u32 = 400;
/// That part is the burst divided by this.
const MAX_MIN_PART: u32 = 4;
/// Frames that one switch gets in a tick.
const MAX_PER_SWITCH: u32 = 128;
/// The part of all discovery frames that one switch has at most.
const MAX_SWITCH_PART: u32 = 4;
/// The ports of a block are due within this time, in an order that changes, so that no frame always waits for the same
/// others.
const ORDER_TIME: Duration = Duration::from_micros(10);

/// The allowance of discovery frames.
///
/// It grows while it is used up, fast until it is what it was at the start. It halves when the controller was too
/// busy to listen for most of a tick: a controller that had no processor sends less anyway, as it has fewer
/// ticks.
#[derive(Debug, Default)]
pub(super) struct Pace {
    /// Frames a tick.
    allowance: u32,
    sent_in_all: u32,
    filled_at: Option<Time>,
    /// For how long in all the controller had been too busy by then.
    busy: Duration,
    sent: BTreeMap<DatapathId, u32>,
}

impl Pace {
    /// A tick has come. `busy`: for how long in all the controller was too busy to listen.
    pub(super) fn handle_timeout(&mut self, now: Time, settings: &Settings, busy: Duration, ports: usize) {
        let elapsed = self.filled_at.map(|at| now.since(at));
        if elapsed.is_some_and(|elapsed| elapsed < settings.tick) {
            return;
        }
        let start = settings.probe_burst.max(1);
        let used = self.sent_in_all >= self.allowance;
        let busy = busy.saturating_sub(std::mem::replace(&mut self.busy, busy));
        self.allowance = match elapsed {
            None => start,
            Some(elapsed) if busy > elapsed / 2 => (self.allowance / 2).max(least(start, ports)),
            Some(_) if used && self.allowance < start => (self.allowance * 2).min(start),
            Some(_) if used => (self.allowance + self.allowance / 4).min(start.saturating_mul(MAX_FACTOR)),
            Some(_) => self.allowance,
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

/// The least allowance: in a large network, discovery takes too long with fewer.
fn least(start: u32, ports: usize) -> u32 {
    let of_ports = u32::try_from(ports).unwrap_or(u32::MAX) / MIN_PART_OF_PORTS;
    of_ports.min(start / MAX_MIN_PART).max(start / MIN_PART).max(1)
}

/// How many ticks a frame waits that is the n-th too many of its switch.
pub(super) fn postponement(settings: &Settings, number: u32) -> Duration {
    settings.tick * (1 + number / MAX_PER_SWITCH)
}

/// The ports of a switch that count among all, so that the ports of one do not slow discovery of others.
pub(super) fn counted(settings: &Settings, ports: usize) -> usize {
    ports.min((settings.probe_rate / MAX_SWITCH_PART).max(1) as usize)
}

/// The intervals of discovery at a switch, in a network of some size.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Intervals {
    /// Between the frames of a port whose role is known.
    pub(super) probe: Duration,
    /// A link that is silent for longer has missed a frame: more follow soon.
    pub(super) patience: Duration,
    /// A link that is silent for longer is lost.
    pub(super) timeout: Duration,
    /// A frame may leave so much early, with another one of its block. Zero in a small network, where frames leave one
    /// by one, so that none waits for others on its way.
    pub(super) early: Duration,
}

impl Intervals {
    /// Those of a switch with `own` ports among so many that [count](counted). Up to [`Settings::probe_rate`]
    /// ports in all, and a quarter of that at the switch, they are those of the settings.
    pub(super) fn of(settings: &Settings, ports: usize, own: usize) -> Self {
        let time = |ports: usize, rate: u32| {
            Duration::from_secs(1) * u32::try_from(ports).unwrap_or(u32::MAX) / rate.max(1)
        };
        let all = time(ports, settings.probe_rate).max(time(own, settings.probe_rate / MAX_SWITCH_PART));
        let probe = settings.probe_interval.max(all);
        let patience = probe * 5 / 4;
        let margin = settings.link_timeout.saturating_sub(settings.probe_interval * 5 / 4);
        let early = probe.saturating_sub(settings.probe_interval) / 2;
        Self { probe, patience, timeout: patience + margin, early }
    }

    /// Whether the frames of a block stay together.
    pub(super) fn keep_blocks(&self) -> bool {
        self.early > ORDER_TIME
    }

    /// How long a port whose role is known waits for its next frame.
    pub(super) fn until_next(&self, at: SwitchPort, now: Time) -> Duration {
        match self.keep_blocks() {
            true => jittered(self.probe, first_of_block(at), now) + jittered(ORDER_TIME, at, now),
            false => jittered(self.probe, at, now),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn drain(pace: &mut Pace) -> u32 {
        (0_u64..).take_while(|number| pace.take(DatapathId(number / 10))).count() as u32
    }

    /// What is sent in each tick, by for how long the controller was busy in the tick before.
    fn sent(busy: &[u64]) -> Vec<u32> {
        let (settings, mut sent, mut total) = (Settings::default(), Vec::new(), 0);
        let (mut pace, mut now) = (Pace::default(), Time::ZERO);
        for busy in busy {
            total += busy;
            pace.handle_timeout(now, &settings, Duration::from_millis(total), 1_000);
            sent.push(drain(&mut pace));
            now = now + settings.tick;
        }
        sent
    }

    #[test]
    fn the_allowance_grows_while_it_is_used_up_and_halves_when_the_controller_is_busy() {
        assert_eq!(sent(&[0, 0, 0, 60, 100]), [500, 625, 781, 390, 195]);
        assert_eq!(sent(&[0, 40, 40]), [500, 625, 781], "it had time left");
    }

    #[test]
    fn a_low_allowance_recovers_fast() {
        assert_eq!(
            sent(&[0, 100, 100, 100, 100, 100, 0, 0, 0, 0, 0, 0]),
            [500, 250, 125, 62, 31, 20, 40, 80, 160, 320, 500, 625]
        );
    }

    #[test]
    fn the_least_allowance_finds_a_large_network_in_time() {
        assert_eq!([1_000, 40_960, 327_680].map(|ports| least(500, ports)), [20, 102, 125]);
    }

    #[test]
    fn one_switch_does_not_take_all() {
        let mut pace = Pace::default();
        pace.handle_timeout(Time::ZERO, &Settings::default(), Duration::ZERO, 2_000);
        assert_eq!((0..1_000).filter(|_| pace.take(DatapathId(1))).count() as u32, MAX_PER_SWITCH);
        assert!(pace.take(DatapathId(2)));
    }

    #[test]
    fn the_ports_of_one_switch_slow_its_own_discovery_and_hardly_that_of_others() {
        let settings = Settings::default();
        let all = 2_000 + counted(&settings, 20_000);
        assert_eq!(Intervals::of(&settings, all, 32).probe, settings.probe_interval);
        assert_eq!(Intervals::of(&settings, all, 20_000).probe.as_millis(), 19_531);
    }

    #[test]
    fn small_networks_have_the_intervals_of_the_settings_and_large_ones_longer_ones() {
        let settings = Settings::default();
        let small = Intervals::of(&settings, 1_000, 32);
        assert_eq!((small.probe, small.timeout), (settings.probe_interval, settings.link_timeout));
        assert_eq!((small.early, small.keep_blocks()), (Duration::ZERO, false));
        let large = Intervals::of(&settings, 40_960, 32);
        assert_eq!(large.probe, Duration::from_secs(10));
        assert_eq!(large.timeout, Duration::from_millis(12_500 + 1_250));
        assert_eq!((large.early, large.keep_blocks()), (Duration::from_millis(4_500), true));
    }
}
