//! Which leader of this member's own name is an earlier run of it, and which one is another process with the same name.

use braid_types::Term;

use super::Identity;
use crate::message::RunId;
use crate::store::LeaderRecord;

/// Leaders with this member's name.
#[derive(Debug, Default)]
pub(super) struct Runs {
    has_read: bool,
    /// Another process that has the name and was elected after this one had started.
    twin: Option<RunId>,
}

impl Runs {
    /// The store was read; `newest` is the newest term of all that were seen.
    pub(super) fn note(&mut self, own: &Identity, leader: Option<&LeaderRecord>, newest: Term) {
        let is_first = !std::mem::replace(&mut self.has_read, true);
        // What the first view has was elected before this run, and a restored store shows older terms.
        let is_twin = |it: &&LeaderRecord| {
            it.member == own.id && it.run != own.run && !is_first && !newest.is_newer_than(it.term)
        };
        self.twin = leader.filter(is_twin).map(|it| it.run).or(self.twin);
    }

    /// Whether this leader leads no more: an earlier run of this member, or this one, deposed.
    pub(super) fn is_past(&self, own: &Identity, leader: &LeaderRecord) -> bool {
        leader.member == own.id && self.twin != Some(leader.run)
    }
}
