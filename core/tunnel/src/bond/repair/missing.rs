//! The packets of one path that have not come though later ones have.

use std::collections::VecDeque;
use std::time::Duration;

use braid_types::Time;

/// What is missing at once, at most; of a longer gap, the last.
const MAX_MISSING: usize = 1_024;
/// Numbers further away are those of another start.
const MAX_JUMP: u32 = 1 << 14;
/// Times that a packet is asked for.
const MAX_ASKED: u8 = 4;
/// A repair that comes later is of no use to anyone.
const FORGET_AFTER: Duration = Duration::from_secs(1);
/// Packets that came once more are known for so many.
const MAX_TAKEN: usize = 256;
/// While parity packets come, those for a lost one may come so much later.
const PARITY_MEMORY: Duration = Duration::from_secs(1);
const PARITY_WAIT: Duration = Duration::from_millis(30);
/// The longest time in which packets of one path overtake each other.
const MAX_PATIENCE: Duration = Duration::from_millis(60);

/// A path keeps its order, so what it has skipped is lost. If packets come late, it is given more time from then on.
#[derive(Clone, Debug, Default)]
pub(in crate::bond) struct Missing {
    next: Option<u32>,
    /// In the order in which they were skipped.
    packets: VecDeque<Packet>,
    /// Nothing is to be asked for before that.
    next_ask: Option<Time>,
    patience: Duration,
    /// The last ones that came once more.
    taken: VecDeque<u32>,
    /// When a parity packet came last.
    parity: Option<Time>,
}

#[derive(Clone, Copy, Debug)]
struct Packet {
    seq: u32,
    since: Time,
    /// When to ask for it; `None` if it stays lost.
    ask: Option<Time>,
    asked: u8,
}

impl Missing {
    /// A packet has come; whether for the first time. Those that were skipped are asked for, unless losses are shown.
    pub(in crate::bond) fn note(&mut self, now: Time, seq: u32, shows_losses: bool) -> bool {
        let next = *self.next.get_or_insert(seq);
        let ahead = seq.wrapping_sub(next);
        if ahead <= MAX_JUMP {
            self.skip(now, next..seq, shows_losses);
            self.next = Some(seq.wrapping_add(1));
        } else if next.wrapping_sub(seq) <= MAX_JUMP {
            self.note_late(now, seq);
            return !self.taken.contains(&seq);
        } else {
            *self = Self { next: Some(seq.wrapping_add(1)), ..Self::default() };
        }
        true
    }

    /// About the number of the next packet.
    pub(in crate::bond) fn next(&self) -> u32 {
        self.next.unwrap_or(0)
    }

    /// All packets before `sent` were sent before what has just come.
    pub(in crate::bond) fn note_sent(&mut self, now: Time, sent: u32, shows_losses: bool) {
        let next = *self.next.get_or_insert(sent);
        if sent.wrapping_sub(next) <= MAX_JUMP {
            self.skip(now, next..sent, shows_losses);
            self.next = Some(sent);
        }
    }

    /// A packet has come once more; whether it was missing.
    pub(in crate::bond) fn take(&mut self, seq: u32) -> bool {
        let place = self.packets.iter().position(|packet| packet.seq == seq);
        let is_missing = place.and_then(|place| self.packets.remove(place)).is_some();
        if is_missing {
            if self.taken.len() >= MAX_TAKEN {
                self.taken.pop_front();
            }
            self.taken.push_back(seq);
        }
        is_missing
    }

    /// These packets stay lost.
    pub(in crate::bond) fn abandon(&mut self, seqs: &[u32]) {
        let abandoned = self.packets.iter_mut().filter(|packet| seqs.contains(&packet.seq));
        abandoned.for_each(|packet| packet.ask = None);
    }

    /// A parity packet has come: what it makes up for is not to be asked for.
    pub(in crate::bond) const fn note_parity(&mut self, now: Time) {
        self.parity = Some(now);
    }

    /// Whether none has been skipped lately.
    pub(in crate::bond) fn is_empty(&self) -> bool {
        self.packets.is_empty()
    }

    /// The packets to ask for now, `again` after that once more.
    pub(in crate::bond) fn poll(&mut self, now: Time, again: Duration, most: usize) -> Vec<u32> {
        while self.packets.front().is_some_and(|packet| now.since(packet.since) >= FORGET_AFTER) {
            self.packets.pop_front();
        }
        if self.next_ask.is_none_or(|at| at > now) {
            return Vec::new();
        }
        let due = self.packets.iter_mut().filter(|packet| packet.ask.is_some_and(|at| at <= now)).take(most);
        let due = due.map(|packet| {
            packet.asked = packet.asked.saturating_add(1);
            packet.ask = (packet.asked < MAX_ASKED).then(|| now + again);
            packet.seq
        });
        let due = due.collect();
        self.next_ask = self.packets.iter().filter_map(|packet| packet.ask).min();
        due
    }

    /// When to poll again.
    pub(in crate::bond) fn poll_timeout(&self) -> Option<Time> {
        self.next_ask.filter(|_| !self.packets.is_empty())
    }

    /// Whether a repair may come that is worth to be waited for, or a packet that was only overtaken.
    pub(in crate::bond) fn is_awaited(&self, now: Time, wait: Duration) -> bool {
        let lately = self.packets.iter().rev().take_while(|it| now.since(it.since) < wait);
        lately.into_iter().any(|it| it.ask.is_some() || now.since(it.since) < self.patience)
    }

    fn skip(&mut self, now: Time, skipped: std::ops::Range<u32>, shows_losses: bool) {
        let count = skipped.end.wrapping_sub(skipped.start).min(MAX_MISSING as u32);
        let has_parity = self.parity.is_some_and(|last| now.since(last) < PARITY_MEMORY);
        let patience = self.patience.saturating_add(if has_parity { PARITY_WAIT } else { Duration::ZERO });
        let ask = (!shows_losses && count > 0).then(|| now + patience);
        self.next_ask = self.next_ask.into_iter().chain(ask).min();
        for back in (1..=count).rev() {
            if self.packets.len() >= MAX_MISSING {
                self.packets.pop_front();
            }
            let seq = skipped.end.wrapping_sub(back);
            self.packets.push_back(Packet { seq, since: now, ask, asked: 0 });
        }
    }

    fn note_late(&mut self, now: Time, seq: u32) {
        let Some(place) = self.packets.iter().position(|packet| packet.seq == seq) else { return };
        let Some(packet) = self.packets.remove(place) else { return };
        let late = now.since(packet.since);
        self.patience =
            self.patience.max(late.saturating_mul(5).checked_div(4).unwrap_or(late)).min(MAX_PATIENCE);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_is_due_once_all_has_come() {
        for late in [false, true] {
            let (mut missing, mut now) = (Missing::default(), Time::ZERO);
            [0, 2].into_iter().for_each(|seq| _ = missing.note(now, seq, false));
            assert_eq!(missing.poll(now, Duration::from_millis(50), 9), [1]);
            assert!(missing.poll_timeout().is_some_and(|due| due > now));
            now = Time::from_millis(40);
            if late {
                missing.note(now, 1, false);
            } else {
                assert!(missing.take(1));
            }
            assert_eq!(missing.poll_timeout(), None);
        }
    }

    const AGAIN: Duration = Duration::from_millis(50);

    fn at(millis: u64) -> Time {
        Time::from_millis(millis)
    }

    #[test]
    fn skipped_packets_are_asked_for_until_they_come_and_no_more_than_four_times() {
        let mut missing = Missing::default();
        [u32::MAX - 1, 1, 2].into_iter().for_each(|seq| _ = missing.note(at(0), seq, false));
        assert_eq!(missing.poll(at(0), AGAIN, 9), [u32::MAX, 0]);
        assert!(missing.poll(at(49), AGAIN, 9).is_empty());
        assert!(missing.take(0) && !missing.take(0), "once");
        let asked: Vec<_> = (1..9).flat_map(|turn| missing.poll(at(50 * turn), AGAIN, 9)).collect();
        assert_eq!(asked, [u32::MAX; 3]);
        assert!(!missing.is_awaited(at(400), AGAIN));
        missing.note_sent(at(500), 5, false);
        assert_eq!(missing.poll(at(500), AGAIN, 9), [3, 4], "of the end a probe tells");
    }

    #[test]
    fn what_a_full_path_loses_and_what_is_given_up_is_not_waited_for() {
        let mut missing = Missing::default();
        [0, 3].into_iter().for_each(|seq| _ = missing.note(at(0), seq, true));
        assert!(!missing.is_awaited(at(0), AGAIN) && missing.poll(at(9), AGAIN, 9).is_empty());
        missing.note(at(10), 5, false);
        assert!(missing.is_awaited(at(10), AGAIN));
        missing.abandon(&[4]);
        assert!(!missing.is_awaited(at(10), AGAIN));
        assert!(missing.take(4) && missing.take(1), "it is welcome all the same");
        assert!(!missing.note(at(20), 4, false) && missing.note(at(20), 2, false), "none counts twice");
    }

    #[test]
    fn a_path_that_reorders_is_given_time_and_another_start_begins_anew() {
        let mut missing = Missing::default();
        [0, 2].into_iter().for_each(|seq| _ = missing.note(at(0), seq, false));
        missing.note(at(8), 1, false);
        missing.note(at(20), 4, false);
        assert!(missing.poll(at(29), AGAIN, 9).is_empty());
        assert_eq!(missing.poll(at(30), AGAIN, 9), [3]);
        missing.abandon(&[3]);
        assert!(
            missing.is_awaited(at(29), AGAIN) && !missing.is_awaited(at(30), AGAIN),
            "it may be only late"
        );
        missing.note(at(40), 1 << 30, false);
        assert!(missing.poll(at(99), AGAIN, 9).is_empty());
        missing.note_sent(at(99), 5, false);
        (0..100_000).for_each(|number| _ = missing.note(at(100), (1 << 30) + number * 2, false));
        assert_eq!(missing.packets.len(), MAX_MISSING);
    }
}
