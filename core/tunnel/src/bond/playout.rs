//! Datagrams that come early are held, as far as delays jitter: senders that take the least round trip for the usual one, such as those
//! with BBR, would fill half of a path.

use std::time::Duration;

use braid_types::Time;

use super::frame::{Delay, Stamp};

/// The least delay is taken over this time, up to twice as long.
const LEAST_WINDOW: Duration = Duration::from_secs(10);
/// Of the datagrams, one in this time is compared with its neighbours; after a pause, none with those before it.
const SAMPLE_INTERVAL: Duration = Duration::from_millis(10);
const MAX_SAMPLE_GAP: Duration = Duration::from_millis(100);
/// The jitter is the mean over about so many of them.
const MAX_SAMPLES: u32 = 200;
/// Datagrams are held up to so many times the jitter beyond the least delay, where there is so much, in seconds: less is noise of the
/// two machines, and of queues.
const JITTER_FACTOR: f64 = 1.5;
const LEAST_JITTER: f64 = 0.004;
/// And no shorter or longer than this.
const LEAST_HOLD: Duration = Duration::from_millis(1);
const MOST_HOLD: Duration = Duration::from_millis(200);

/// What datagrams are delayed between the sites, until they could be passed on.
#[derive(Debug, Default)]
pub(super) struct Playout {
    least: [Option<Delay>; 2],
    least_since: Time,
    /// How far the last ones that are compared were beyond it, in seconds, the newest first, and when that was.
    last: [Option<f64>; 3],
    last_at: Time,
    /// How far one usually is from the line between its neighbours, twice, in seconds: not a queue that grows or shrinks.
    jitter: f64,
    samples: u32,
}

impl Playout {
    /// A datagram that was sent at `sent` has arrived.
    pub(super) fn note_arrival(&mut self, now: Time, sent: Stamp) {
        let past = now.since(self.least_since);
        if past >= LEAST_WINDOW {
            let before = self.least[0].filter(|_| past < LEAST_WINDOW.saturating_mul(2));
            (self.least, self.least_since) = ([None, before], now);
        }
        let delay = sent.delay(now);
        let least = self.least[0].filter(|least| least.beyond(delay).is_zero());
        self.least[0] = least.or(Some(delay));
    }

    /// It could be passed on now, as none before it is missing; how long it is held.
    pub(super) fn hold(&mut self, now: Time, sent: Stamp) -> Duration {
        let delay = sent.delay(now);
        let beyond = self.least.iter().flatten().map(|least| delay.beyond(*least)).max();
        let beyond = beyond.unwrap_or_default().as_secs_f64();
        self.sample(now, beyond);
        let target = if self.jitter > LEAST_JITTER { JITTER_FACTOR * self.jitter } else { 0.0 };
        let hold = Duration::from_secs_f64((target - beyond).clamp(0.0, MOST_HOLD.as_secs_f64()));
        if hold < LEAST_HOLD { Duration::ZERO } else { hold }
    }

    fn sample(&mut self, now: Time, beyond: f64) {
        let past = now.since(self.last_at);
        if past < SAMPLE_INTERVAL {
            return;
        }
        let [last, before, _] = if past < MAX_SAMPLE_GAP { self.last } else { [None; 3] };
        (self.last, self.last_at) = ([Some(beyond), last, before], now);
        if let [Some(after), Some(it), Some(before)] = self.last {
            self.samples = self.samples.saturating_add(1).min(MAX_SAMPLES);
            let bend = (before + after - 2.0 * it).abs();
            self.jitter += (bend - self.jitter) / f64::from(self.samples);
        }
    }
}

#[cfg(test)]
mod tests {
    use braid_types::SplitMix64;

    use super::*;

    const SENT: Time = Time::from_millis(7_000_000);

    /// How long datagrams are delayed, and held then, in milliseconds; one is sent each millisecond and delayed so long.
    fn holds(count: u64, delay: impl Fn(u64) -> u64) -> Vec<(u64, u64)> {
        let mut playout = Playout::default();
        let mut arrivals: Vec<_> = (0..count).map(|turn| (turn + delay(turn), turn)).collect();
        arrivals.sort_unstable();
        let hold = |(arrival, turn)| {
            let now = Time::from_millis(arrival);
            let sent = Stamp::at(SENT + Duration::from_millis(turn));
            playout.note_arrival(now, sent);
            (arrival - turn, playout.hold(now, sent).as_millis() as u64)
        };
        arrivals.into_iter().map(hold).collect()
    }

    #[test]
    fn early_ones_are_held_where_delays_jitter() {
        let random = |turn: u64| 20 + SplitMix64::new(turn).next_u64() % 61;
        let held = holds(2_000, random).split_off(1_000);
        for (delay, held) in held {
            let passed = delay + held;
            assert!(passed >= 50 && (held == 0 || passed <= 80), "{held} ms after {delay}");
        }
    }

    #[test]
    fn none_is_held_for_a_queue_that_grows_or_shrinks_slowly() {
        let queue = |turn: u64| 20 + (turn / 20).min(150_u64.saturating_sub(turn / 20));
        let longest = holds(3_000, queue).into_iter().map(|(_, held)| held).max();
        assert_eq!(longest, Some(0));
    }

    #[test]
    fn a_queue_that_is_gone_is_soon_forgotten() {
        let held = holds(3_000, |turn| if (200..500).contains(&turn) { 120 } else { 20 });
        assert!(held[500..800].iter().any(|(_, held)| *held > 0));
        assert!(held[1_000..].iter().all(|(_, held)| *held < 4));
        assert!(held[2_500..].iter().all(|(_, held)| *held == 0));
    }

    #[test]
    fn none_is_held_for_more_than_a_moment_as_clocks_were_set() {
        let mut playout = Playout::default();
        let jumps = [0, 3_000, 9_000, 9_500, 2_000, 60_000];
        for (turn, jump) in (0..1_800).map(|turn| (turn, jumps[turn as usize / 300])) {
            let (now, sent) = (Time::from_millis(100_000 + turn), Stamp::at(Time::from_millis(turn + jump)));
            playout.note_arrival(now, sent);
            let held = playout.hold(now, sent);
            assert!(
                held.is_zero() || turn % 300 < 200 && held <= MOST_HOLD,
                "{held:?} after a jump to {jump}"
            );
        }
    }
}
