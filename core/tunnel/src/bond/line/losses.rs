//! What a path loses, and how much of it may be repaired.

use braid_types::Time;

use crate::bond::frame::Answer;
use crate::bond::parity::MAX_PARITY;

/// The time over which losses are smoothed, in seconds: those of the last moments, and those with short queues.
const SMOOTHING: f64 = 2.0;
const CALM_SMOOTHING: f64 = 10.0;
/// With fewer packets the lost part means nothing; that of probes is taken.
const MIN_PACKETS: f64 = 300.0;
/// The weight of a new probe in the lost part of probes; those of so many count as usual.
const PROBE_WEIGHT: f64 = 0.05;
const USUAL_PROBES: f64 = 5_000.0;
/// Counts that differ by more began anew.
const RESET_JUMP: u32 = 1 << 24;
/// Probes overtake others by so many nanoseconds at most; clocks that differ by more began anew.
const MOST_OVERTAKEN: u64 = 1_000_000_000;
/// A path that loses more is not used while another is usable.
const BROKEN: f64 = 0.15;
/// Repairs of each packet sent, at most; while the queue is about as long as ever, no more than twice the usual loss.
const MAX_REPAIRS: f64 = 0.08;
/// From this part on, a path counts as lossy: its losses are usual, and not those of a full queue.
const LOSSY: f64 = 0.003;
/// Parity packets make up for so many standard deviations beyond the usual loss.
const PARITY_DEVIATIONS: f64 = 2.5;
/// Repairs in a row.
const BURST: f64 = 24.0;

/// Losses of a path. Those that are usual for it are repaired; when its queue is full, it loses more, and hosts have to see it.
#[derive(Clone, Debug)]
pub(super) struct Losses {
    last: Option<(Time, Answer)>,
    recent: Share,
    calm: Share,
    probes: f64,
    /// That of the probes of some minutes.
    probed: Share,
    repairs: f64,
}

#[derive(Clone, Copy, Debug, Default)]
struct Share {
    sent: f64,
    lost: f64,
}

impl Default for Losses {
    fn default() -> Self {
        Self {
            last: None,
            recent: Share::default(),
            calm: Share::default(),
            probes: 0.0,
            probed: Share::default(),
            repairs: BURST,
        }
    }
}

impl Losses {
    /// A probe was answered, or was not for long.
    pub(super) fn note_probe(&mut self, is_answered: bool) {
        let lost = f64::from(u8::from(!is_answered));
        self.probes += PROBE_WEIGHT * (lost - self.probes);
        self.probed.add(1.0 / USUAL_PROBES, 1.0, lost);
    }

    /// An answer; `is_calm` while hardly anything queues. Whether the other end has begun to count anew.
    pub(super) fn note_answer(&mut self, now: Time, answer: &Answer, is_calm: bool) -> bool {
        if self.last.is_some_and(|(_, last)| is_overtaken(answer, &last)) {
            return false;
        }
        let Some((before, last)) = self.last.replace((now, *answer)) else { return false };
        let sent = answer.sent.wrapping_sub(last.sent);
        let received = answer.received.wrapping_sub(last.received);
        if sent > RESET_JUMP || received > RESET_JUMP {
            return true;
        }
        let seconds = now.since(before).as_secs_f64();
        let lost = f64::from(sent) - f64::from(received);
        self.recent.add(seconds / SMOOTHING, f64::from(sent), lost);
        if is_calm {
            self.calm.add(seconds / CALM_SMOOTHING, f64::from(sent), lost);
        }
        false
    }

    /// A packet is sent: with it comes a part of a repair. A path that is rough may look crowded when it is not.
    pub(super) fn note_packet(&mut self, is_crowded: bool, is_rough: bool) {
        let (part, most) = if is_crowded {
            // What a path loses that is clean else, its full queue has dropped.
            let usual = self.calm.part().unwrap_or(LOSSY).max(if is_rough { LOSSY } else { 0.0 });
            ((usual * 2.0).min(MAX_REPAIRS), BURST * (usual / LOSSY).min(1.0))
        } else {
            (MAX_REPAIRS, BURST)
        };
        self.repairs = (self.repairs + part).min(most);
    }

    pub(super) fn may_repair(&self) -> bool {
        self.repairs >= 1.0
    }

    pub(super) fn note_repair(&mut self) {
        self.repairs = (self.repairs - 1.0).max(0.0);
    }

    /// The part lost lately.
    pub(super) fn share(&self) -> f64 {
        self.recent.part().unwrap_or(self.probes)
    }

    /// The part lost while the queue is short.
    pub(super) fn usual(&self) -> f64 {
        self.calm.part().unwrap_or(0.0)
    }

    pub(super) fn is_lossy(&self) -> bool {
        self.usual() >= LOSSY
    }

    /// Whether it loses so much that parity helps where repairs are slow.
    pub(super) fn needs_parity(&self) -> bool {
        self.expected() >= LOSSY
    }

    /// The parity packets that make up for what is lost of so many packets, nearly always.
    pub(super) fn parity_for(&self, packets: usize) -> u8 {
        let lost = self.expected() * packets as f64;
        (lost + PARITY_DEVIATIONS * lost.sqrt()).ceil().clamp(1.0, f64::from(MAX_PARITY)) as u8
    }

    /// The part that a path with a short queue loses; one that carries little shows it by its probes.
    fn expected(&self) -> f64 {
        self.calm.part().or_else(|| self.probed.part()).unwrap_or(0.0)
    }

    pub(super) fn is_broken(&self) -> bool {
        self.share() > BROKEN
    }
}

/// Whether the probe of an answer had arrived before that of the last one: its counts are older.
fn is_overtaken(answer: &Answer, last: &Answer) -> bool {
    (1..MOST_OVERTAKEN).contains(&last.arrived.wrapping_sub(answer.arrived))
}

impl Share {
    fn add(&mut self, age: f64, sent: f64, lost: f64) {
        let keep = (-age).exp();
        (self.sent, self.lost) = (self.sent * keep + sent, self.lost * keep + lost);
    }

    fn part(&self) -> Option<f64> {
        (self.sent >= MIN_PACKETS).then(|| (self.lost / self.sent).clamp(0.0, 1.0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_that_was_overtaken_hides_no_losses() {
        let mut losses = Losses::default();
        let answer = |millis: u64, sent, received| {
            let arrived = millis * 1_000_000;
            (Time::from_millis(millis), Answer { arrived, sent, received, ..Answer::default() })
        };
        for (now, answer) in
            [answer(20, 0, 0), answer(40, 1_000, 900), answer(30, 500, 450), answer(60, 2_000, 1_800)]
        {
            losses.note_answer(now, &answer, false);
        }
        assert!((0.09..0.11).contains(&losses.share()), "{}", losses.share());
    }

    #[test]
    fn parity_makes_up_for_more_than_the_usual_loss() {
        let parity = |share: f64, packets| {
            let calm = Share { sent: 10_000.0, lost: share * 10_000.0 };
            Losses { calm, ..Losses::default() }.parity_for(packets)
        };
        assert_eq!([0.003, 0.005, 0.01, 0.02, 0.1].map(|share| parity(share, 32)), [1, 2, 2, 3, 4]);
        assert_eq!([4, 8, 16].map(|packets| parity(0.02, packets)), [1, 2, 2]);
    }
}
