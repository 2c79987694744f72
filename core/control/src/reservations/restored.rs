//! Assignments that another controller of the cluster has promised: kept at once, and their paths found as the network is learned.

use std::collections::{BTreeSet, VecDeque};
use std::time::Duration;

use braid_assign::{AssignmentId, Claim, PromisedAssignment};
use braid_types::{SwitchPair, Time};

use super::{ReservationDeps, Reservations, open_paths};
use crate::context::Context;
use crate::fabric::LeaseChange;

/// How long links may take to be found, before an assignment gets fewer paths than it has asked for.
const DISCOVERY_TIME: Duration = Duration::from_secs(10);
/// Assignments whose paths are looked for in a tick.
const SEARCHES: usize = 16;

/// Assignments without paths so far, and when they were restored.
#[derive(Debug, Default)]
pub(super) struct Restored {
    without_paths: VecDeque<AssignmentId>,
    at: Time,
}

impl Reservations {
    /// The cluster has promised these, and no others.
    pub(crate) fn restore(
        &mut self,
        cx: &Context<'_>,
        ReservationDeps { fabric, .. }: ReservationDeps<'_>,
        promised: &[PromisedAssignment],
    ) {
        let kept: BTreeSet<_> = promised.iter().map(|it| it.id).collect();
        let is_other = |id: &AssignmentId| !kept.contains(id) && !self.is_inferred(*id);
        let others: Vec<_> = self.assignments.iter().map(|it| it.id).filter(is_other).collect();
        for id in others {
            if let Some(ended) = self.assignments.remove(id) {
                fabric.handle_lease(LeaseChange::Paths { before: &ended.paths, after: &[] });
            }
        }
        self.restored.at = cx.now;
        for PromisedAssignment { id, claim } in promised {
            if self.assignments.restore(cx.now, *id, claim.clone()) {
                self.restored.without_paths.push_back(*id);
            }
        }
    }

    /// Looks for the paths of some restored assignments. Called once a tick.
    pub(super) fn find_paths(
        &mut self,
        cx: &mut Context<'_>,
        ReservationDeps { fabric, streams }: ReservationDeps<'_>,
    ) {
        for _ in 0..self.restored.without_paths.len().min(SEARCHES) {
            let Some(id) = self.restored.without_paths.pop_front() else { return };
            let Some(claim) = self.assignments.get(id).map(|it| it.claim.clone()) else { continue };
            let paths = ends(cx, &claim).map(|ends| self.useful_paths(cx, streams, ends, &claim));
            let paths = paths.unwrap_or_default();
            let wanted = if cx.now.since(self.restored.at) < DISCOVERY_TIME { claim.paths } else { 1 };
            if paths.len() < wanted {
                self.restored.without_paths.push_back(id);
                continue;
            }
            open_paths(cx, fabric, &paths);
            self.assignments.set_paths(id, paths);
        }
    }
}

/// The switches of a claim's hosts, once both are known.
fn ends(cx: &Context<'_>, claim: &Claim) -> Option<SwitchPair> {
    let of = |ip| cx.topology.host_with_address(ip).map(|host| host.at.dpid);
    Some(SwitchPair::new(of(claim.src)?, of(claim.dst)?))
}
