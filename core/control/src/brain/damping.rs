//! Links that go down again and again are left alone for a while, each time for longer.

use std::collections::{BTreeMap, VecDeque};
use std::time::Duration;

use braid_topology::Link;
use braid_types::{SwitchPort, Time};

use super::Brain;
use crate::command::Commands;
use crate::notice::Notice;

/// The cables that went down lately, by their ends in order.
#[derive(Debug, Default)]
pub(super) struct Damping(BTreeMap<[SwitchPort; 2], Record>);

#[derive(Debug, Default)]
struct Record {
    /// When it went down, as far as that counts.
    losses: VecDeque<Time>,
    /// How often it was left alone without a long quiet time in between.
    strikes: u32,
    /// Until when it is left alone.
    until: Time,
}

impl Damping {
    fn holds(&self, now: Time, link: &Link) -> bool {
        self.0.get(&cable(link)).is_some_and(|record| now < record.until)
    }

    /// Forgets the cables that have been quiet for long.
    fn prune(&mut self, now: Time, quiet: Duration) {
        let last = |record: &Record| record.losses.back().copied().unwrap_or_default().max(record.until);
        self.0.retain(|_, record| now.since(last(record)) < quiet);
    }
}

impl Brain {
    /// Whether the link is not to be used yet. Where no other way leads across, it is better than none.
    pub(super) fn is_left_alone(&mut self, now: Time, link: &Link) -> bool {
        self.damping.holds(now, link) && self.paths.shortest(now, link.src.dpid, link.dst.dpid).is_some()
    }

    /// Takes note that a link went down. Both directions of a cable that goes down at one time are one loss.
    pub(super) fn note_loss(&mut self, now: Time, link: &Link, out: &mut Commands) {
        let (window, limit) = (self.settings.flap_window, self.settings.flap_limit);
        let (hold, max) = (self.settings.flap_hold, self.settings.flap_hold_max);
        self.damping.prune(now, max.max(window));
        let record = self.damping.0.entry(cable(link)).or_default();
        if record.losses.back() == Some(&now) || now < record.until {
            return;
        }
        record.losses.push_back(now);
        record.losses.retain(|at| now.since(*at) <= window);
        if record.losses.len() >= limit {
            let hold = hold.saturating_mul(1_u32.checked_shl(record.strikes).unwrap_or(u32::MAX)).min(max);
            record.losses.clear();
            record.strikes = record.strikes.saturating_add(1);
            record.until = now + hold;
            out.notice(Notice::LinkDamped { src: link.src, dst: link.dst, losses: limit, hold });
        }
    }
}

fn cable(link: &Link) -> [SwitchPort; 2] {
    [link.src.min(link.dst), link.src.max(link.dst)]
}
