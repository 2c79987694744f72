//! Comparison of both ends of a link at one moment, in steps from one reading to the next.

use std::time::Duration;

use braid_types::Time;

use super::readings::PortReadings;

/// Readings closer together are one step.
const MIN_STEP: Duration = Duration::from_millis(50);

/// What happened on a directed link between two comparisons. There are many, so what need not be exact is short.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub(super) struct Step {
    /// When it ended.
    pub(super) at: Time,
    /// How long it took.
    pub(super) time: Duration,
    /// Frames that were sent into the link.
    pub(super) frames: f64,
    /// Frames that were sent and not received. Less than none where the ends were not read at the same moment.
    pub(super) lost: f64,
    /// Frames that arrived damaged.
    pub(super) damaged: u32,
    /// Whether a full queue may explain what is lost.
    pub(super) is_doubtful: bool,
    /// The likely error of the time of the readings at its end, in seconds.
    pub(super) uncertain: f32,
    /// Frames by which `lost` may be wrong beyond that, as the rate changed.
    pub(super) ramp: f32,
    /// Bytes that were sent.
    pub(super) bytes: f32,
    /// Bytes that were received, none where they are not counted.
    pub(super) bytes_received: f32,
}

impl Step {
    /// Frames that did not arrive unharmed. Some switches count damaged frames among the received ones.
    pub(super) fn lost_or_damaged(&self) -> f64 {
        // A negative number must stay one: errors of readings balance each other.
        if self.damaged > 0 { self.lost.max(self.damaged.into()) } else { self.lost }
    }

    /// Frames of which is known whether the link has lost them.
    pub(super) const fn judged(&self) -> f64 {
        if self.is_doubtful { 0.0 } else { self.frames }
    }

    /// Those that it has lost or damaged. What arrived too much in a doubtful step balances errors of the readings before.
    pub(super) fn judged_lost(&self) -> f64 {
        if self.is_doubtful { self.lost.min(0.0) } else { self.lost_or_damaged() }
    }

    /// Frames a second.
    pub(super) fn rate(&self) -> f64 {
        self.frames / self.time.as_secs_f64()
    }
}

/// The last comparison of both ends of a directed link.
#[derive(Debug, Default)]
pub(super) struct Comparison(Option<Point>);

#[derive(Clone, Copy, Debug)]
struct Point {
    at: Time,
    delay: Duration,
    rate: f64,
    sent: f64,
    bytes: f64,
    received: f64,
    bytes_received: f64,
    dropped: f64,
    damaged: u64,
    restarts: [u32; 2],
}

impl Comparison {
    /// Whether both ends were read so much later than at the last step that there is another one, whatever the delay.
    pub(super) fn may_go_on(&self, src: &PortReadings, dst: &PortReadings) -> bool {
        let Some((sent, received)) = src.last().zip(dst.last()) else { return false };
        self.0.is_none_or(|old| {
            old.restarts != [src.restarts(), dst.restarts()] || sent.at.min(received.at) >= old.at + MIN_STEP
        })
    }

    /// The step to the latest moment at which both ends are known, if there is one since the last call. `delay` is the
    /// link's.
    ///
    /// The receiver is looked at so much later than the sender, and what one of them counted at that moment is
    /// interpolated.
    pub(super) fn step(&mut self, src: &PortReadings, dst: &PortReadings, delay: Duration) -> Option<Step> {
        let (sent, received) = (src.last()?, dst.last()?);
        let at = sent.at.min(received.at - delay);
        let restarts = [src.restarts(), dst.restarts()];
        let old = self.0.filter(|old| old.restarts == restarts);
        if old.is_some_and(|old| at < old.at + MIN_STEP) {
            return None;
        }
        let mut new = Point {
            at,
            delay,
            rate: 0.0,
            sent: src.at(at, |it| it.sent)?,
            bytes: src.at(at, |it| it.bytes_sent)?,
            received: dst.at(at + delay, |it| it.received)?,
            bytes_received: dst.at(at + delay, |it| it.bytes_received)?,
            dropped: dst.at(at + delay, |it| it.dropped)?,
            damaged: received.counted.damaged,
            restarts,
        };
        let step = old.map(|old| {
            let slack = sent.slack().as_secs_f64().hypot(received.slack().as_secs_f64());
            let uncertain = slack + delay.abs_diff(old.delay).as_secs_f64();
            let apart = sent.at.max(received.at - delay).since(at);
            new.since(&old, uncertain, apart)
        });
        new.rate = step.map_or(0.0, |step| step.rate());
        self.0 = Some(new);
        step
    }
}

impl Point {
    /// `uncertain`: the likely error of the time in seconds. `apart`: over which time a counter was interpolated.
    fn since(&self, old: &Self, uncertain: f64, apart: Duration) -> Step {
        let time = self.at.since(old.at);
        let frames = (self.sent - old.sent).max(0.0);
        let rate = frames / time.as_secs_f64();
        let missing = frames - (self.received - old.received);
        // The receiving switch had no room for these: the link has carried them.
        let dropped = (self.dropped - old.dropped).clamp(0.0, missing.max(0.0));
        Step {
            at: self.at,
            time,
            frames,
            lost: missing - dropped,
            damaged: u32::try_from(self.damaged.saturating_sub(old.damaged)).unwrap_or(u32::MAX),
            is_doubtful: false,
            uncertain: uncertain as f32,
            ramp: (apart.as_secs_f64() * (rate - old.rate).abs()) as f32,
            bytes: (self.bytes - old.bytes) as f32,
            bytes_received: (self.bytes_received - old.bytes_received) as f32,
        }
    }
}
