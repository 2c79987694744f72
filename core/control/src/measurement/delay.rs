//! Link delay, measured by the controller with discovery frames.
//!
//! ```text
//!            half a round trip        the link         half a round trip
//! controller ────────────────▶ switch ────────▶ switch ────────────────▶ controller
//! ```
//!
//! The link's delay is the travel time of a discovery frame less half of each switch's round trip: Bouet's
//! method, as in Banfi et al. 2016 §III-A. The round trip is that of a frame that the switch returns, so it
//! includes the handling of packets. Switches that return no frames are measured by echoes.
//!
//! Queues only add to samples. So the least sample less the least round trips is the link without queues. The
//! medians of the latest samples are the link now. If the two directions of an OpenFlow connection differ in
//! delay, half of the difference remains as an undetectable error.

use std::time::Duration;

use braid_types::Time;

use super::window::Window;

/// Samples in the median that counts as current.
const CURRENT_SAMPLES: usize = 5;
/// Samples in the least that counts as the latest.
const LATEST_SAMPLES: usize = 2;
/// The period of the reported quantiles.
const JITTER_WINDOW: Duration = Duration::from_secs(60);
/// The fewest discovery frames for a delay: the first ones meet switches that are being set up.
const MIN_SAMPLES: usize = 3;

/// Round trips between the controller and one switch.
#[derive(Clone, Debug, Default)]
pub(super) struct RoundTrips {
    trips: Window,
    /// Of these. It is looked at twice for each discovery frame, and changes less often.
    half: Option<OneWayDelay>,
}

/// Half of a round trip to a switch: the least in the window, and the current one.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct OneWayDelay {
    least: Duration,
    median: Duration,
}

/// The measured delay of a link.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct DelayReading {
    /// Without queues.
    pub(crate) base: Duration,
    /// Now; never less than `base`.
    pub(crate) current: Duration,
    /// That of the faster one of the last two frames.
    pub(crate) latest: Duration,
    /// The median of the last minute.
    pub(crate) p50: Duration,
    /// The 99th percentile of the last minute.
    pub(crate) p99: Duration,
    /// When the last counted discovery frame arrived.
    pub(crate) at: Time,
}

/// The discovery frames that passed one link.
#[derive(Debug, Default)]
pub(super) struct DelayMeter {
    trips: Window,
    /// The delay of each frame on the link itself.
    link_delays: Window,
    last_sent: Option<Time>,
    reading: Option<DelayReading>,
}

impl OneWayDelay {
    /// The current value.
    pub(super) const fn median(self) -> Duration {
        self.median
    }
}

impl RoundTrips {
    /// Records an echo reply or returned frame whose request was sent at `sent_at`.
    pub(super) fn note(&mut self, now: Time, sent_at: Time, window: Duration) {
        self.trips.push(now, now.since(sent_at), now - window);
        let (least, median) = (self.trips.least(), self.trips.median(CURRENT_SAMPLES));
        let half = |(least, median)| OneWayDelay { least: least / 2, median: median / 2 };
        self.half = least.zip(median).map(half);
    }

    pub(super) const fn half(&self) -> Option<OneWayDelay> {
        self.half
    }
}

impl DelayMeter {
    /// Records a discovery frame sent at `sent_at` between switches with these half round trips.
    ///
    /// A frame no younger than the last one is a copy and is ignored.
    pub(super) fn note(
        &mut self,
        now: Time,
        sent_at: Time,
        ends: Option<[OneWayDelay; 2]>,
        window: Duration,
    ) {
        if self.last_sent.is_some_and(|last| sent_at <= last) {
            return;
        }
        self.last_sent = Some(sent_at);
        let trip = now.since(sent_at);
        self.trips.push(now, trip, now - window);
        if let Some([src, dst]) = ends {
            self.link_delays.push(now, trip.saturating_sub(src.median + dst.median), now - JITTER_WINDOW);
        }
        self.reading = ends.and_then(|ends| self.read(now, ends)).or(self.reading);
    }

    pub(super) const fn reading(&self) -> Option<DelayReading> {
        self.reading
    }

    fn read(&self, at: Time, [src, dst]: [OneWayDelay; 2]) -> Option<DelayReading> {
        if self.trips.len() < MIN_SAMPLES {
            return None;
        }
        let base = self.trips.least()?.saturating_sub(src.least + dst.least);
        let current = self.trips.median(CURRENT_SAMPLES)?.saturating_sub(src.median + dst.median);
        let latest = self.trips.least_of(LATEST_SAMPLES)?.saturating_sub(src.median + dst.median);
        let [p50, p99] = [0.5, 0.99].map(|share| self.link_delays.quantile(share).unwrap_or(current));
        Some(DelayReading { base, current: current.max(base), latest, p50, p99, at })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const WINDOW: Duration = Duration::from_secs(20);

    fn millis(millis: u64) -> Duration {
        Duration::from_millis(millis)
    }

    fn half(millis_there_and_back: u64) -> OneWayDelay {
        let mut trips = RoundTrips::default();
        trips.note(Time::from_millis(millis_there_and_back), Time::ZERO, WINDOW);
        trips.half().expect("a sample")
    }

    /// The reading after frames that are sent each second and take this long, in ms.
    fn after(trips: &[u64], ends: [OneWayDelay; 2]) -> Option<DelayReading> {
        let mut meter = DelayMeter::default();
        for (second, trip) in (1..).zip(trips) {
            let sent_at = Time::from_millis(second * 1_000);
            meter.note(sent_at + millis(*trip), sent_at, Some(ends), WINDOW);
        }
        meter.reading()
    }

    #[test]
    fn half_of_each_round_trip_is_taken_away() {
        let reading = after(&[18; 3], [half(6), half(10)]).expect("a reading");
        assert_eq!((reading.base, reading.current), (millis(10), millis(10)));
        assert_eq!(reading.at, Time::from_millis(3_018));
    }

    #[test]
    fn waiting_shows_in_the_current_delay_and_not_in_the_base() {
        let reading = after(&[18, 18, 38, 38, 38], [half(6), half(10)]).expect("a reading");
        assert_eq!((reading.base, reading.current), (millis(10), millis(30)));
    }

    #[test]
    fn one_late_frame_moves_neither() {
        let reading = after(&[18, 18, 18, 18, 2_000], [half(6), half(10)]).expect("a reading");
        assert_eq!((reading.base, reading.current), (millis(10), millis(10)));
    }

    #[test]
    fn the_slow_end_is_that_of_a_minute() {
        let trips: Vec<_> = (0..70).map(|at| if at == 5 || at == 40 { 500 } else { 10 }).collect();
        let ends = [half(0), half(0)];
        let told = |count: usize| after(&trips[..count], ends).map(|it| (it.p50, it.p99));
        assert_eq!(told(39), Some((millis(10), millis(500))));
        assert_eq!(told(68), Some((millis(10), millis(500))));
        assert_eq!(after(&[10; 70], ends).map(|it| it.p99), Some(millis(10)));
    }

    #[test]
    fn a_delay_is_never_negative() {
        let reading = after(&[1; 5], [half(6), half(10)]).expect("a reading");
        assert_eq!((reading.base, reading.current), (Duration::ZERO, Duration::ZERO));
    }

    #[test]
    fn a_longer_link_is_believed_once_the_window_has_passed() {
        let trips: Vec<_> = [10; 5].into_iter().chain([50; 21]).collect();
        let ends = [half(0), half(0)];
        assert_eq!(after(&trips[..15], ends).map(|it| (it.base, it.current)), Some((millis(10), millis(50))));
        assert_eq!(after(&trips, ends).map(|it| (it.base, it.current)), Some((millis(50), millis(50))));
    }

    #[test]
    fn a_copy_of_an_old_frame_does_not_count() {
        let (mut meter, ends) = (DelayMeter::default(), Some([half(0), half(0)]));
        for second in 1..=5 {
            let sent_at = Time::from_millis(second * 1_000);
            meter.note(sent_at + millis(10), sent_at, ends, WINDOW);
            (1..=10).for_each(|copy| meter.note(sent_at + millis(90 * copy), sent_at, ends, WINDOW));
        }
        assert_eq!(meter.reading().map(|reading| reading.current), Some(millis(10)));
    }

    #[test]
    fn nothing_is_known_before_there_are_round_trips_and_frames_enough() {
        let ends = [half(0), half(0)];
        assert_eq!(after(&[10; 2], ends), None);
        let mut meter = DelayMeter::default();
        (1..9).for_each(|at| meter.note(Time::from_millis(at), Time::from_millis(at), None, WINDOW));
        assert_eq!(meter.reading(), None);
    }
}
