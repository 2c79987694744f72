//! Flap damping: links that go down repeatedly are unused for a while, longer each time.

use std::collections::{BTreeMap, VecDeque};
use std::time::Duration;

use braid_topology::Link;
use braid_types::{SwitchPort, Time};

use crate::context::Context;
use crate::notice::Notice;
use crate::settings::Settings;

/// The links that went down recently, by their ends in order.
#[derive(Debug, Default)]
pub(super) struct Damping(BTreeMap<[SwitchPort; 2], Record>);

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
        let is_held = self.0.get(&cable(link)).is_some_and(|record| cx.now < record.until);
        is_held && cx.paths.shortest(cx.now, link.src.dpid, link.dst.dpid).is_some()
    }

    /// Records that a link went down. Both directions going down at the same time count as one loss.
    pub(super) fn note_loss(&mut self, cx: &mut Context<'_>, link: &Link) {
        let (now, settings) = (cx.now, cx.settings);
        self.prune(now, settings.flap_hold_max.max(settings.flap_window));
        let record = self.0.entry(cable(link)).or_default();
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

    /// Forgets links that have been quiet for a long time.
    fn prune(&mut self, now: Time, quiet: Duration) {
        let last = |record: &Record| record.losses.back().copied().unwrap_or_default().max(record.until);
        self.0.retain(|_, record| now.since(last(record)) < quiet);
    }
}

impl Record {
    /// Starts a hold after too many losses; returns its length.
    fn start_hold(&mut self, settings: &Settings) -> Duration {
        let factor = 1_u32.checked_shl(self.strikes).unwrap_or(u32::MAX);
        self.losses.clear();
        self.strikes = self.strikes.saturating_add(1);
        settings.flap_hold.saturating_mul(factor).min(settings.flap_hold_max)
    }
}

fn cable(link: &Link) -> [SwitchPort; 2] {
    [link.src.min(link.dst), link.src.max(link.dst)]
}
