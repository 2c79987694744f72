//! Connections whose packets are to leave rewritten, and whether those arrive.

use std::time::Duration;

use braid_types::{Backoff, Time};

use super::REUSE_TIMEOUT;
use super::headers::{Headers, Ports};
use super::notice::Offered;
use super::table::{Table, Used};

/// Offers are repeated in this interval, so that both ends know what arrives; in the shorter one until that is known.
const OFFER_INTERVAL: Duration = Duration::from_secs(2);
const FIRST_OFFER_INTERVAL: Duration = Duration::from_millis(500);
/// The other end answers so soon, if it still rewrites.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(3);
/// An acceptance holds for so long.
const ACCEPTANCE_TIMEOUT: Duration = Duration::from_secs(30);
/// So many packets in a row do not get lost by chance, nor one more after them.
const MIN_LOST: u32 = 2;
/// A connection of which nothing arrives is in GRE for so long, then for twice as long, and so on.
const SUSPENSION: Backoff = Backoff::between(Duration::from_secs(60), Duration::from_secs(3_600));

/// The connections that this end has offered.
#[derive(Debug, Default)]
pub(super) struct Offers {
    all: Table<Offer>,
    last_number: u32,
}

/// Whether packets arrive, by an acceptance.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Progress {
    /// It says nothing of it.
    Unknown,
    /// Some have arrived.
    Some,
    /// None has.
    None,
}

#[derive(Debug)]
struct Offer {
    number: u32,
    headers: Headers,
    used: Time,
    /// When it was made last, and when for the first time without an answer since.
    offered: Option<Time>,
    unanswered: Option<Time>,
    accepted_until: Time,
    sent: u32,
    /// What had been sent and had arrived by the last acceptance that showed progress.
    progress: (u32, u32),
    /// What had been sent by the first acceptance after it that should have shown some.
    suspected: Option<u32>,
    /// Until when it is in GRE, and how long that is.
    suspension: Option<(Time, Duration)>,
}

impl Offers {
    /// Whether a packet of a connection is rewritten, if it may be, and the offer that is to be made of it.
    pub(super) fn passes(
        &mut self,
        now: Time,
        (ports, headers): (Ports, Headers),
        may_pass: bool,
    ) -> (bool, Option<Offered>) {
        let number = self.last_number.wrapping_add(1);
        let new = || Offer::new(number, headers, now);
        let Some(offer) = self.all.get_or_insert(now, ports, new) else { return (false, None) };
        if offer.headers != headers {
            if now.since(offer.used) < REUSE_TIMEOUT {
                return (false, None);
            }
            *offer = new();
        }
        if offer.number == number {
            self.last_number = number;
        }
        offer.used = now;
        let offered = offer.offer(now).map(|sent| Offered { ports, number: offer.number, sent, headers });
        let passes = may_pass && offer.passes(now);
        offer.sent = offer.sent.wrapping_add(u32::from(passes));
        (passes, offered)
    }

    /// The other end knows the headers of a connection, by the number of the offer, and so many of its packets have arrived of those sent.
    pub(super) fn accepted(
        &mut self,
        now: Time,
        (ports, number): (Ports, u32),
        (sent, arrived): (u32, u32),
    ) -> Progress {
        let offer = self.all.get_mut(ports).filter(|offer| offer.number == number);
        offer.map_or(Progress::Unknown, |offer| offer.accepted(now, sent, arrived))
    }

    /// Whether packets of a connection have left rewritten.
    pub(super) fn has_sent(&self, ports: Ports) -> bool {
        self.all.get(ports).is_some_and(|offer| offer.sent > 0)
    }

    /// The other end does not know a connection.
    pub(super) fn remove(&mut self, ports: Ports) {
        self.all.remove(ports);
    }
}

impl Used for Offer {
    fn used(&self) -> Time {
        self.used
    }
}

impl Offer {
    const fn new(number: u32, headers: Headers, now: Time) -> Self {
        Self {
            number,
            headers,
            used: now,
            offered: None,
            unanswered: None,
            accepted_until: Time::ZERO,
            sent: 0,
            progress: (0, 0),
            suspected: None,
            suspension: None,
        }
    }

    /// Makes the offer if it is due; the number of packets that were sent before.
    fn offer(&mut self, now: Time) -> Option<u32> {
        let arrives = self.progress.1 > 0 && self.suspected.is_none() && self.unanswered.is_none();
        let interval = if arrives { OFFER_INTERVAL } else { FIRST_OFFER_INTERVAL };
        let is_due = self.offered.is_none_or(|offered| now.since(offered) >= interval);
        if !is_due || self.is_suspended(now) {
            return None;
        }
        self.offered = Some(now);
        self.unanswered.get_or_insert(now);
        Some(self.sent)
    }

    fn passes(&self, now: Time) -> bool {
        let is_answered = self.unanswered.is_none_or(|since| now.since(since) < ANSWER_TIMEOUT);
        now < self.accepted_until && is_answered && !self.is_suspended(now)
    }

    fn is_suspended(&self, now: Time) -> bool {
        self.suspension.is_some_and(|(until, _)| now < until)
    }

    /// While the whole tunnel is interrupted, packets are lost, too. So it counts only once more were lost while offers arrived.
    fn accepted(&mut self, now: Time, sent: u32, arrived: u32) -> Progress {
        (self.unanswered, self.accepted_until) = (None, now + ACCEPTANCE_TIMEOUT);
        let (sent_before, arrived_before) = self.progress;
        if arrived != arrived_before {
            (self.progress, self.suspected, self.suspension) = ((sent, arrived), None, None);
            return Progress::Some;
        }
        if self.suspected.is_some_and(|suspected| suspected != sent) {
            self.suspend(now, sent);
            return Progress::None;
        }
        if sent.wrapping_sub(sent_before) >= MIN_LOST {
            self.suspected = Some(sent);
        }
        Progress::Unknown
    }

    fn suspend(&mut self, now: Time, sent: u32) {
        let length = SUSPENSION.after(self.suspension.map(|(_, last)| last));
        self.suspension = Some((now + length, length));
        self.suspected = None;
        self.progress.0 = sent;
    }
}
