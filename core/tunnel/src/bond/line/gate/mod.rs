//! How much may queue inside a path: little while somebody waits for packets, so that these find it short. The rest waits here.
//!
//! ```text
//!          full for a while                      nothing waits for long
//!   open ───────────────────▶ held at its rate ──────────────────────────▶ open
//!     ▲                            │ the queue stays, though little is sent: it is that of others
//!     └──────── after a pause ─────┘
//! ```

use std::time::Duration;

use braid_types::{Backoff, BitsPerSec, Time};

use super::delay::{RECENT, Recent};

/// What may queue inside the path, in seconds; a slow one has room for a few packets.
const TARGET: f64 = 0.003;
const TARGET_BYTES: f64 = 4_500.0;
/// It is exceeded by a packet.
const PACKET: f64 = 1_500.0;
/// It opens when so much less is queued, so that not each packet needs a timer.
const SLACK: f64 = 0.001;
/// A path is full while the queue is never shorter, beyond jitter, in seconds; it is held after so many answers that say so.
const FULL: f64 = 0.003;
const FULL_ANSWERS: u32 = 5;
/// A queue that the very last probes have seen counts as well from this on, in seconds, beyond so many times the jitter.
const CLEARLY_FULL: f64 = 0.015;
const CLEAR_JITTERS: f64 = 2.0;
/// The part of the jitter by which the least of some probes varies.
const JITTER_VARIES: f64 = 0.7;
/// The part of what the model was wrong by that is corrected at once.
const CORRECTION: f64 = 0.3;
/// The weight of a new measurement of the rate.
const RATE_WEIGHT: f64 = 0.25;
/// While packets have waited here for so many answers and the path is not full, its rate grows with each probe by the first
/// of these, and by the second one after more answers: at once, it would be far too high until an answer says so.
const WAITING_ANSWERS: u32 = 15;
const FIRST_GROWTH: f64 = 1.003;
const FASTER_ANSWERS: u32 = 40;
const GROWTH: f64 = 1.02;
/// It grows up to so many times what arrives.
const MOST_GROWTH: f64 = 1.5;
/// A full path is given so much more than arrives by it: what seems full may carry more.
const HEADROOM: f64 = 1.02;
/// A queue of more seconds, beyond a few packets, is no matter of control: so much of what arrives is sent until it has gone.
const DEEP: f64 = 0.03;
const DEEP_BYTES: f64 = 13_500.0;
const EMPTIES: f64 = 0.7;
/// A queue of so many seconds is waited for at most, and so many times as long as it is.
const LONGEST_QUEUE: f64 = 5.0;
const EMPTIED_WITHIN: f64 = 4.0;
/// The rate falls to this part at least until the queue is short for the first time, then to the second one, and the path is
/// closed for no longer than so many targets: what seems a queue may be none.
const FIRST_HELD: f64 = 0.5;
const LEAST_HELD: f64 = 0.8;
/// What a full path carries has fallen when less arrives than this part of the least.
const HAS_FALLEN: f64 = 0.9;
const MOST_CLOSED: f64 = 2.0;
/// A path is held from so many bytes a second on, and from this part of what it carried lately.
const LEAST_RATE: f64 = 62_500.0;
const LEAST_PART: f64 = 0.5;
/// A path is held for so long after a packet that somebody waits for: nobody else minds its queue.
const INTERACTIVE_FOR: Duration = Duration::from_secs(60);
/// After so long without packets that wait, the rate is forgotten.
const FORGET_AFTER: Duration = Duration::from_secs(30);
/// A queue that is not short for so long, though little is sent, is that of others, or how the path is.
const OTHERS_AFTER: Duration = Duration::from_secs(2);
/// The pause until the path is held again: at first this, and twice as long after each trial.
const PAUSE: Backoff = Backoff::between(Duration::from_secs(20), Duration::from_secs(120));
/// So often a path that is held runs empty for so long, so that its least delay stays known; a slow one for as long as that
/// takes, up to the last of these, and a probe.
const DRAIN_INTERVAL: Duration = Duration::from_secs(8);
const DRAIN: Duration = Duration::from_millis(30);
const MOST_DRAINED: f64 = 0.2;
const PROBE: Duration = Duration::from_millis(25);
/// For so long after that, probes tell of a path that is not full.
const SETTLED_AFTER: Duration = Duration::from_millis(500);
/// Urgent packets pass it until so many times the target are queued.
const URGENT_TARGETS: f64 = 4.0;

/// Keeps a path's own queue short while more is sent than it carries.
#[derive(Clone, Debug)]
pub(super) struct Gate {
    given: Option<f64>,
    /// Bytes a second; `None` while the path is not held.
    rate: Option<f64>,
    /// What it falls to at least.
    least_rate: f64,
    /// Seconds that are queued inside the path, by the model, as of `updated`.
    level: f64,
    updated: Time,
    /// What the model said when the probes were sent that were answered last.
    levels: [f64; RECENT],
    /// Answers in a row of a path that is full, and while packets wait.
    full: u32,
    waiting: u32,
    /// When something waited, and when the queue was short.
    waited: Time,
    short: Time,
    resumes: Time,
    pause: Duration,
    /// Until when somebody waits for packets; `None` if nobody has.
    interactive_until: Option<Time>,
    /// Until when it is closed to run empty.
    drains: Time,
}

/// What an answer shows.
#[derive(Clone, Copy, Debug)]
pub(super) struct Seen {
    /// What the last probes have seen.
    pub(super) recent: Option<Recent>,
    /// Bytes a second that arrived lately.
    pub(super) rate: f64,
    /// The most that arrived in the last seconds.
    pub(super) most: f64,
    /// Whether packets wait here for the path.
    pub(super) has_waiting: bool,
}

impl Gate {
    pub(super) fn new(now: Time, given: Option<BitsPerSec>) -> Self {
        let given = given.map(|rate| (rate.0 as f64 / 8.0).max(LEAST_RATE));
        Self {
            given,
            rate: given,
            least_rate: LEAST_RATE,
            level: 0.0,
            updated: now,
            levels: [0.0; RECENT],
            full: 0,
            waiting: 0,
            waited: now,
            short: now,
            resumes: now,
            pause: Duration::ZERO,
            interactive_until: None,
            drains: now,
        }
    }

    /// Traffic begins after a pause: nothing is queued.
    pub(super) const fn wake(&mut self, now: Time) {
        (self.level, self.updated, self.short) = (0.0, now, now);
    }

    /// A packet is sent that somebody waits for.
    pub(super) fn note_interactive(&mut self, now: Time) {
        self.interactive_until = Some(now + INTERACTIVE_FOR);
    }

    pub(super) fn note_packet(&mut self, now: Time, size: usize) {
        let Some(rate) = self.rate else { return };
        (self.level, self.updated) = (self.level(now) + size as f64 / rate, now);
    }

    /// A probe is answered that was sent when the model said `level`; by how much the model was wrong, as far as corrected.
    pub(super) fn handle_answer(&mut self, now: Time, level: f64, seen: &Seen) -> f64 {
        self.levels.rotate_right(1);
        self.levels[0] = level;
        let Some(recent) = seen.recent else { return 0.0 };
        let queue = (recent.least - recent.jitter).max(0.0);
        self.set_rate(now, queue, &recent, seen);
        if self.rate.is_none() {
            return 0.0;
        }
        if now.since(self.drains) > DRAIN_INTERVAL {
            let empties = Duration::from_secs_f64(self.level(now).min(MOST_DRAINED));
            self.drains = now + DRAIN.max(empties.saturating_add(PROBE));
        }
        let modelled = self.levels.iter().copied().fold(f64::MAX, f64::min);
        let wrong = CORRECTION * (queue - modelled);
        let level = self.level(now);
        let most = self.target().map_or(level, |target| level.max(MOST_CLOSED * target));
        (self.level, self.updated) = ((level + wrong).clamp(0.0, most), now);
        self.levels.iter_mut().for_each(|level| *level = (*level + wrong).max(0.0));
        wrong
    }

    /// What is queued inside the path, in seconds, by the model.
    pub(super) fn level(&self, now: Time) -> f64 {
        (self.level - now.since(self.updated).as_secs_f64()).max(0.0)
    }

    /// Whether a packet may be sent.
    pub(super) fn is_open(&self, now: Time) -> bool {
        self.target().is_none_or(|target| now >= self.drains && self.level(now) < target)
    }

    /// Whether even urgent packets have to wait, as they fill the path themselves.
    pub(super) fn is_overfull(&self, now: Time) -> bool {
        self.target().is_some_and(|target| self.level(now) > URGENT_TARGETS * target)
    }

    /// When it opens.
    pub(super) fn opens_at(&self, now: Time) -> Time {
        let wait = self.target().map_or(0.0, |target| self.level(now) - target + SLACK);
        self.drains.max(now + Duration::from_secs_f64(wait.clamp(0.0, 1.0)))
    }

    /// Whether the path seems to carry more than the rate at which it is held.
    pub(super) const fn is_growing(&self) -> bool {
        self.rate.is_some() && self.waiting > WAITING_ANSWERS
    }

    /// Bytes a second at which the path is held; `None` if it is not.
    pub(super) const fn rate(&self) -> Option<f64> {
        self.rate
    }

    fn target(&self) -> Option<f64> {
        self.rate.map(target)
    }

    fn set_rate(&mut self, now: Time, queue: f64, recent: &Recent, seen: &Seen) {
        if self.rate.is_none_or(|rate| queue <= target(rate) + FULL + PACKET / rate) {
            self.note_short(now, seen);
        }
        if self.rate.is_none_or(|rate| queue <= target(rate)) {
            let carried = |rate: f64| (LEAST_HELD * rate.min(seen.most)).max(LEAST_RATE);
            self.least_rate = self.rate.map_or(LEAST_RATE, carried);
        }
        let is_full = queue > FULL + JITTER_VARIES * recent.jitter
            || recent.latest > CLEARLY_FULL + CLEAR_JITTERS * recent.jitter;
        let is_full = is_full && seen.rate > 0.0;
        self.full = if is_full { self.full.saturating_add(1) } else { 0 };
        self.waiting = if seen.has_waiting && !is_full { self.waiting.saturating_add(1) } else { 0 };
        if seen.has_waiting {
            self.waited = now;
        }
        self.rate = match self.rate {
            _ if recent.is_rough => None,
            _ if self.given.is_none() && self.interactive_until.is_none_or(|until| until < now) => None,
            Some(_) if now.since(self.short) > OTHERS_AFTER => self.give_way(now),
            Some(rate) if is_full && (seen.has_waiting || is_own_queue(seen)) => {
                Some(self.shorten(rate, queue, seen))
            }
            Some(rate) if now.since(self.drains) < SETTLED_AFTER => Some(rate),
            Some(rate) if self.waiting > WAITING_ANSWERS => {
                let growth = if self.waiting > FASTER_ANSWERS { GROWTH } else { FIRST_GROWTH };
                Some((rate * growth).min((seen.rate * MOST_GROWTH).max(rate)))
            }
            Some(_) if now.since(self.waited) > FORGET_AFTER => self.given,
            None if self.full >= FULL_ANSWERS && now >= self.resumes && is_own_queue(seen) => {
                self.least_rate = (FIRST_HELD * seen.rate).max(LEAST_RATE);
                let empties = Duration::from_secs_f64(EMPTIED_WITHIN * queue.min(LONGEST_QUEUE));
                (self.short, self.waited) = (now + empties, now);
                Some(seen.rate)
            }
            same => same,
        };
    }

    /// The rate of a full path from now on: about what arrives, or less while much is queued.
    fn shorten(&mut self, rate: f64, queue: f64, seen: &Seen) -> f64 {
        if seen.has_waiting && seen.rate < HAS_FALLEN * self.least_rate {
            self.least_rate = (FIRST_HELD * seen.rate).max(LEAST_RATE);
        }
        let part = if queue > DEEP.max(DEEP_BYTES / rate) { EMPTIES } else { HEADROOM };
        (rate + RATE_WEIGHT * (part * seen.rate - rate)).max(self.least_rate)
    }

    /// The queue is about as short as it should be.
    fn note_short(&mut self, now: Time, seen: &Seen) {
        self.short = self.short.max(now);
        if seen.has_waiting && self.rate.is_some() {
            self.pause = Duration::ZERO;
        }
    }

    /// Holding back makes the queue no shorter.
    fn give_way(&mut self, now: Time) -> Option<f64> {
        self.pause = PAUSE.after(self.pause);
        self.resumes = now + self.pause;
        None
    }
}

/// What may queue inside a path of this rate, in seconds.
fn target(rate: f64) -> f64 {
    TARGET.max(TARGET_BYTES / rate)
}

fn is_own_queue(seen: &Seen) -> bool {
    seen.rate >= LEAST_RATE && seen.rate >= LEAST_PART * seen.most
}

#[cfg(test)]
mod tests;
