//! Flap damping: links that go down repeatedly are unused for a while, longer each time.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::time::Duration;

use braid_topology::Link;
use braid_types::{SwitchPort, Time};

use crate::context::Context;
use crate::notice::Notice;
use crate::settings::Settings;

/// The ends of a link, the lesser first: both directions are one link here.
type LinkEnds = [SwitchPort; 2];

/// The links that went down recently.
///
/// Invariant: each record has one entry in `reviews`, at the time from which it may be forgotten or before.
#[derive(Debug, Default)]
pub(super) struct Damping {
    records: BTreeMap<LinkEnds, Record>,
    /// When to see whether a record can be forgotten, so that a loss costs no look at all others.
    reviews: BTreeSet<(Time, LinkEnds)>,
}

#[derive(Debug, Default)]
struct Record {
    /// When it went down, as far as that still counts.
    losses: VecDeque<Time>,
    /// Number of holds without a long quiet time between them.
    strikes: u32,
    /// The end of the current hold.
    until: Time,
}

impl Damping {
    /// Whether the link is held. A held link is used where no other path exists.
    pub(super) fn suppresses(&self, cx: &mut Context<'_>, link: &Link) -> bool {
        let is_held = self.records.get(&ends(link)).is_some_and(|record| cx.now < record.until);
        is_held && cx.paths.shortest(cx.now, link.src.dpid, link.dst.dpid).is_some()
    }

    /// Records that a link went down. Both directions going down at the same time count as one loss.
    pub(super) fn note_loss(&mut self, cx: &mut Context<'_>, link: &Link) {
        let (now, settings) = (cx.now, cx.settings);
        let quiet = settings.flap_hold_max.max(settings.flap_window);
        self.prune(now, quiet);
        let record = self.record(ends(link), now + quiet);
        if record.losses.back() == Some(&now) || now < record.until {
            return;
        }
        record.losses.push_back(now);
        record.losses.retain(|at| now.since(*at) <= settings.flap_window);
        if record.losses.len() >= settings.flap_limit {
            let hold = record.start_hold(settings);
            record.until = now + hold;
            let losses = settings.flap_limit;
            cx.out.notice(Notice::LinkDamped { src: link.src, dst: link.dst, losses, hold });
        }
    }

    /// The record of a link, of which a new one may be forgotten at `review`.
    fn record(&mut self, link: LinkEnds, review: Time) -> &mut Record {
        self.records.entry(link).or_insert_with(|| {
            self.reviews.insert((review, link));
            Record::default()
        })
    }

    /// Forgets links that have been quiet for a long time. Returns how many it looked at.
    fn prune(&mut self, now: Time, quiet: Duration) -> usize {
        let mut reviewed = 0;
        while let Some((_, link)) = self.reviews.first().copied().filter(|(due, _)| *due <= now) {
            self.reviews.pop_first();
            reviewed += 1;
            let Some(forget_at) = self.records.get(&link).map(|record| record.last() + quiet) else {
                continue;
            };
            if forget_at <= now {
                self.records.remove(&link);
            } else {
                self.reviews.insert((forget_at, link));
            }
        }
        reviewed
    }
}

impl Record {
    /// When it last went down or was held.
    fn last(&self) -> Time {
        self.losses.back().copied().unwrap_or_default().max(self.until)
    }

    /// Starts a hold after too many losses; returns its length.
    fn start_hold(&mut self, settings: &Settings) -> Duration {
        let factor = 1_u32.checked_shl(self.strikes).unwrap_or(u32::MAX);
        self.losses.clear();
        self.strikes = self.strikes.saturating_add(1);
        settings.flap_hold.saturating_mul(factor).min(settings.flap_hold_max)
    }
}

fn ends(link: &Link) -> LinkEnds {
    [link.src.min(link.dst), link.src.max(link.dst)]
}

#[cfg(test)]
mod tests {
    use braid_types::{DatapathId, PortNo};

    use super::*;

    const QUIET: Duration = Duration::from_secs(60);

    fn ends_of(number: u64) -> LinkEnds {
        [1, 2].map(|end| SwitchPort::new(DatapathId(number), PortNo(end)))
    }

    /// `count` links that went down at a time.
    fn losses(damping: &mut Damping, count: u64, at: Time) {
        for number in 0..count {
            damping.record(ends_of(number), at + QUIET).losses.push_back(at);
        }
    }

    #[test]
    fn a_loss_looks_at_no_other_link_until_that_may_be_forgotten() {
        let mut damping = Damping::default();
        losses(&mut damping, 10_000, Time::ZERO);
        losses(&mut damping, 10, Time::ZERO + QUIET / 2);
        assert_eq!(damping.prune(Time::ZERO + QUIET / 2, QUIET), 0);
        assert_eq!(damping.prune(Time::ZERO + QUIET, QUIET), 10_000);
        assert_eq!((damping.records.len(), damping.reviews.len()), (10, 10), "these were lost again");
        assert_eq!(damping.prune(Time::ZERO + QUIET, QUIET), 0);
        damping.prune(Time::ZERO + QUIET * 2, QUIET);
        assert!(damping.records.is_empty() && damping.reviews.is_empty());
    }
}
