//! Smoothed loss of a path, from the packet counts that probes carry.

use braid_types::Time;

use crate::segment_counts::SegmentCounts;

/// The time over which loss is smoothed, in seconds.
const SMOOTHING: f64 = 2.0;
/// With fewer packets the lost part means nothing.
const MIN_SEGMENTS: f64 = 300.0;

/// The lost part of a path's traffic. Apart from moments, a path keeps its order. So on average, a segment sent before a
/// probe that does not arrive before it is lost.
#[derive(Clone, Debug, Default)]
pub(super) struct Loss {
    last: Option<(Time, SegmentCounts)>,
    sent: f64,
    lost: f64,
    received: u64,
}

impl Loss {
    pub(super) fn note(&mut self, now: Time, counts: SegmentCounts) {
        let Some((before, last)) = self.last.replace((now, counts)) else { return };
        if counts.begins_anew_after(last) {
            return;
        }
        let [sent, received] = [(counts.sent, last.sent), (counts.received, last.received)]
            .map(|(new, old)| new.wrapping_sub(old));
        let keep = (-now.since(before).as_secs_f64() / SMOOTHING).exp();
        self.sent = self.sent * keep + f64::from(sent);
        self.lost = self.lost * keep + f64::from(sent) - f64::from(received);
        self.received = self.received.saturating_add(received.into());
    }

    /// The part lost recently, if enough was sent.
    pub(super) fn share(&self) -> Option<f64> {
        (self.sent >= MIN_SEGMENTS).then(|| (self.lost / self.sent).clamp(0.0, 1.0))
    }

    /// Discards the losses known so far.
    pub(super) const fn forget(&mut self) {
        (self.last, self.sent, self.lost) = (None, 0.0, 0.0);
    }

    /// The segments received since the start.
    pub(super) const fn received(&self) -> u64 {
        self.received
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_did_not_come_is_lost_and_counts_may_wrap_or_begin_anew() {
        let mut loss = Loss::default();
        let (mut sent, mut received) = (u32::MAX - 500, u32::MAX - 900);
        for step in 0..200 {
            loss.note(Time::from_millis(step * 20), SegmentCounts { sent, received });
            (sent, received) = (sent.wrapping_add(100), received.wrapping_add(99));
        }
        assert!((loss.share().unwrap() - 0.01).abs() < 1e-6, "{loss:?}");
        assert_eq!(loss.received(), 199 * 99);
        loss.note(Time::from_millis(4_000), SegmentCounts { sent: 7, received: 1 << 30 });
        assert!((loss.share().unwrap() - 0.01).abs() < 1e-6);
        assert_eq!(Loss::default().share(), None);
    }
}
