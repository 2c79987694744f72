//! The sender's deadline: retransmission timeout, tail loss probe, or reordering timer. RFC 8985.

use super::sender::{Heard, Phase, Sender, State};
use crate::engine::Picos;

/// Two ticks of the kernel's clock, of 4 ms as Debian has it; and what a lone segment is given besides, since its acknowledgement
/// may wait. `tcp_schedule_loss_probe`.
const TICKS: Picos = Picos::from_millis(8);
const DELAYED: Picos = Picos::from_millis(200);

/// What is to be done at the deadline.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Alarm {
    /// Everything is lost.
    TimeOut,
    /// A segment leaves, so that its acknowledgement shows losses at the tail. RFC 8985 §7.
    Probe,
    /// What was waited for is lost.
    Reordering,
}

impl Sender {
    /// What the deadline is for.
    pub(crate) const fn alarm(&self) -> Alarm {
        self.alarm
    }

    /// Sets the deadline anew, unless what was overtaken is waited for.
    pub(crate) fn arm(&mut self, now: Picos) {
        if self.is_idle() {
            self.deadline = None;
            return;
        }
        if self.deadline.is_some_and(|it| it > now) && self.alarm == Alarm::Reordering {
            return;
        }
        let timeout = self.rtt.timeout();
        (self.alarm, self.deadline) = match self.probe_in() {
            Some(wait) if wait < timeout => (Alarm::Probe, Some(now + wait)),
            _ => (Alarm::TimeOut, Some(now + timeout)),
        };
    }

    /// After something was sent: a time-out that is due stays due, a probe does not.
    pub(crate) fn arm_after_sending(&mut self, now: Picos) {
        if self.deadline.is_none() || self.alarm == Alarm::Probe {
            self.arm(now);
        }
    }

    /// Until then what was overtaken may come.
    pub(super) fn wait_for(&mut self, until: Picos) {
        (self.alarm, self.deadline) = (Alarm::Reordering, Some(until + TICKS));
    }

    /// What was waited for has not come; whether the window must shrink.
    pub(crate) fn stop_waiting(&mut self, now: Picos) -> bool {
        self.deadline = None;
        let found = self.find_losses(now);
        self.arm(now);
        found && self.phase == Phase::Open
    }

    /// How long to wait with a probe, if one may be sent.
    fn probe_in(&self) -> Option<Picos> {
        let srtt = self.rtt.smoothed();
        if self.phase != Phase::Open || self.probe.is_some() || srtt == Picos::ZERO {
            return None;
        }
        let lone = if self.held() == 1 { DELAYED } else { TICKS };
        Some(srtt + srtt + lone)
    }

    /// Sends a probe: new data if `take` has any, else the last segment once more; the segment and its data.
    pub(crate) fn send_probe(
        &mut self,
        now: Picos,
        take: impl FnOnce() -> Option<u32>,
    ) -> Option<(u32, u32)> {
        let sent = match take() {
            Some(dsn) => Some((self.send_new(now, dsn), dsn)),
            None => self.send_last(now),
        };
        let is_old = sent.is_some_and(|(seq, _)| self.segment(seq).is_some_and(|it| it.resent));
        self.probe = Some((self.highest(), is_old));
        (self.alarm, self.deadline) = (Alarm::TimeOut, Some(now + self.rtt.timeout()));
        sent
    }

    fn send_last(&mut self, now: Picos) -> Option<(u32, u32)> {
        let last = self.highest().checked_sub(1)?;
        let is_missing = self.segment(last).is_some_and(|it| it.state != State::Arrived);
        let dsn = is_missing.then(|| self.send_segment_again(now, last)).flatten()?;
        Some((last, dsn))
    }

    /// Whether a probe that was an old segment is answered, and has filled a gap. `tcp_process_tlp_ack`.
    pub(super) fn answer_probe(&mut self, heard: Heard, is_news: bool) -> bool {
        let Some((end, is_old)) = self.probe.filter(|(end, _)| heard.next >= *end) else { return false };
        let filled = is_old && !heard.is_duplicate() && is_news;
        // The next acknowledgement shows whether the probe arrived twice.
        if filled && heard.next == end {
            return false;
        }
        self.probe = None;
        filled && self.phase == Phase::Open
    }
}
