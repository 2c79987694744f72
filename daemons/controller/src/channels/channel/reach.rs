//! Signs of life of one switch: whether it answers, and for how long it has not.

use std::time::Duration;

use braid_types::Time;

use super::{Channel, ChannelError};

impl Channel {
    /// The time so far in which the controller did not get to listen: that was no silence of the switch.
    pub(in crate::channels) fn note_stall(&mut self, now: Time, stalled: Duration) {
        let stall = stalled.saturating_sub(std::mem::replace(&mut self.stalled, stalled));
        if !stall.is_zero() {
            self.session.note_stall(now, stall);
            self.asked_at = self.asked_at.map(|at| (at + stall).min(now));
        }
    }

    /// Asks a switch that has joined for a sign of life. Returns whether there is something to send.
    pub(in crate::channels) fn probe(&mut self, now: Time) -> Result<bool, ChannelError> {
        if !self.has_joined() {
            return Ok(false);
        }
        if self.unanswered_since().is_none() {
            self.asked_at = Some(now);
        }
        // One that does not read gets no more to read.
        if self.wants().write {
            return Ok(false);
        }
        self.session.probe(&mut self.pending)?;
        Ok(true)
    }

    /// Whether the switch has joined and leaves nothing without an answer for this long. What it has sent and waits to be read
    /// may be one.
    pub(in crate::channels) fn is_reached(&self, now: Time, limit: Duration) -> bool {
        let has_unread = self.is_behind || self.has_more;
        let is_silent = self.unanswered_since().is_some_and(|at| now.since(at) >= limit);
        self.has_joined() && (!is_silent || has_unread)
    }

    /// When the first question was asked after which no answer has come.
    fn unanswered_since(&self) -> Option<Time> {
        let answered_at = self.session.answered_at();
        self.asked_at.filter(|asked| answered_at.is_none_or(|answered| answered < *asked))
    }
}
