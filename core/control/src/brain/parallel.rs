//! Plain TCP connections between two hosts to one port carry one transfer, though nobody says so.

use std::collections::BTreeMap;
use std::net::IpAddr;

use braid_assign::{AssignmentId, Claim, DealBy};
use braid_steering::{Group, Opening};
use braid_types::{DatapathId, FiveTuple, Time};

use super::Brain;
use crate::command::Commands;

/// The assignments that are made for what was recognised, by who opens connections, to whom, and to which port.
#[derive(Debug, Default)]
pub(super) struct Recognised {
    assignments: BTreeMap<(IpAddr, IpAddr, u16), AssignmentId>,
}

impl Recognised {
    /// Whether an assignment was made for what was recognised.
    pub(super) fn has(&self, id: AssignmentId) -> bool {
        self.assignments.values().any(|it| *it == id)
    }

    /// Whether nothing is recognised.
    #[cfg(test)]
    pub(super) fn is_empty(&self) -> bool {
        self.assignments.is_empty()
    }
}

impl Brain {
    /// What a plain SYN opens: one of several connections, if these are to be spread over paths.
    pub(super) fn recognise(
        &mut self,
        now: Time,
        tuple: &FiveTuple,
        ends: (DatapathId, DatapathId),
        out: &mut Commands,
    ) -> Option<Opening> {
        let paths = self.manner(tuple).parallel_paths;
        if paths < 2 {
            return None;
        }
        let key = (tuple.src, tuple.dst, tuple.dst_port);
        let known = self.recognised.assignments.get(&key).copied();
        let renewed = known.filter(|id| self.assignments.renew(now, *id, None).is_ok());
        let id = renewed.or_else(|| self.set_aside_unasked(now, (tuple, paths), ends, out))?;
        self.recognised.assignments.insert(key, id);
        Some(Opening::Parallel(Group::Announced(id.0)))
    }

    /// Forgets what has ended; called once a tick.
    pub(super) fn forget_recognised(&mut self) {
        let assignments = &self.assignments;
        self.recognised.assignments.retain(|_, id| assignments.get(*id).is_some());
    }

    /// Paths for as long as there are connections, as if the opening host had asked for them.
    fn set_aside_unasked(
        &mut self,
        now: Time,
        (tuple, paths): (&FiveTuple, usize),
        ends: (DatapathId, DatapathId),
        out: &mut Commands,
    ) -> Option<AssignmentId> {
        let claim = Claim {
            owner: tuple.src.to_string().parse().ok()?,
            src: tuple.src,
            dst: tuple.dst,
            paths,
            streams: None,
            lease: self.settings.stream_idle * 2,
            deal: DealBy::Weight,
            model: None,
        };
        self.assignments.check(&claim).ok()?;
        let paths = self.useful_paths(now, ends, &claim);
        // Nothing to spread over.
        if paths.len() < 2 {
            return None;
        }
        let made = self.assignments.open(now, claim, paths).ok()?;
        let (id, paths) = (made.id, made.paths.clone());
        self.install_ahead(now, &paths, out);
        Some(id)
    }
}
