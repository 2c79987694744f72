//! Paths set aside for the streams of a transfer, and the distribution of streams over them.

mod distribution;
mod inference;
mod learning;
mod residual_load;
mod restored;

use braid_assign::{AssignError, Assignment, AssignmentId, Assignments, Claim, Owner};
use braid_paths::Path;
use braid_steering::{Group, Opening, Stream, Transfers};
use braid_topology::Topology;
use braid_types::{SwitchPair, Time};

use crate::context::Context;
use crate::fabric::{Fabric, LeaseChange};
use crate::request::AssignmentView;
use crate::settings::Settings;
use inference::InferredTransfers;
use learning::Learning;

pub(crate) use inference::PlainConnection;
use residual_load::ResidualLoad;
use restored::Restored;

/// Assignments, the models of their paths, and the load of their streams.
///
/// What it shows beside the methods here: `distribute` and `view` in `distribution`, `infer` and `is_inferred` in `inference`,
/// `restore` in `restored`.
#[derive(Debug)]
pub(crate) struct Reservations {
    assignments: Assignments,
    learning: Learning,
    inferred: InferredTransfers,
    residual: ResidualLoad,
    restored: Restored,
    sampled_at: Time,
}

/// The inputs for the rates of paths.
#[derive(Clone, Copy)]
pub(crate) struct Sources<'a> {
    pub(crate) settings: &'a Settings,
    pub(crate) topology: &'a Topology,
    pub(crate) streams: &'a Transfers,
}

impl<'a> Sources<'a> {
    pub(crate) fn new(cx: &'a Context<'_>, streams: &'a Transfers) -> Self {
        Self { settings: cx.settings, topology: cx.topology, streams }
    }
}

/// The state below reservations, beside the context.
pub(crate) struct ReservationDeps<'a> {
    pub(crate) fabric: &'a mut Fabric,
    pub(crate) streams: &'a Transfers,
}

impl Reservations {
    /// No reservations.
    pub(crate) fn new(settings: &Settings) -> Self {
        Self {
            assignments: Assignments::new(settings.assignments, settings.assignment_seed),
            learning: Learning::default(),
            inferred: InferredTransfers::default(),
            residual: ResidualLoad::default(),
            restored: Restored::default(),
            sampled_at: Time::ZERO,
        }
    }

    /// The assignments, of recognised transfers too.
    pub(crate) const fn assignments(&self) -> &Assignments {
        &self.assignments
    }

    /// Sets paths aside between two switches and opens their labels. The claim must have been checked.
    pub(crate) fn open(
        &mut self,
        cx: &mut Context<'_>,
        ReservationDeps { fabric, streams }: ReservationDeps<'_>,
        claim: &Claim,
        ends: SwitchPair,
    ) -> Result<AssignmentId, AssignError> {
        let paths = self.useful_paths(cx, streams, ends, claim);
        let made = self.assignments.open(cx.now, claim.clone(), paths)?;
        open_paths(cx, fabric, &made.paths);
        Ok(made.id)
    }

    /// Extends the lease of an assignment and returns it.
    pub(crate) fn renew(
        &mut self,
        cx: &Context<'_>,
        id: AssignmentId,
        owner: Option<&Owner>,
    ) -> Result<&mut Assignment, AssignError> {
        self.assignments.renew(cx.now, id, owner)
    }

    /// Ends an assignment; returns its last state.
    pub(crate) fn release(
        &mut self,
        cx: &Context<'_>,
        ReservationDeps { fabric, streams }: ReservationDeps<'_>,
        id: AssignmentId,
        owner: Option<&Owner>,
    ) -> Result<AssignmentView, AssignError> {
        self.renew(cx, id, owner)?;
        let assignment = self.assignments.get(id).ok_or(AssignError::Unknown(id))?;
        let last = self.view(Sources::new(cx, streams), assignment);
        let ended = self.assignments.end(cx.now, id, owner)?;
        fabric.handle_lease(LeaseChange::Paths { before: &ended.paths, after: &[] });
        Ok(last)
    }

    /// An announced stream has ended. Measured loads still include it for a while.
    pub(crate) fn handle_ended(&mut self, stream: &Stream) {
        if matches!(stream.opening, Opening::Parallel(Group::Announced(_))) {
            self.residual.add(stream);
        }
    }

    /// Ends expired assignments, and learns stream models periodically. Called once a tick.
    pub(crate) fn handle_timeout(
        &mut self,
        cx: &mut Context<'_>,
        ReservationDeps { fabric, streams }: ReservationDeps<'_>,
    ) {
        for ended in self.assignments.expire(cx.now) {
            fabric.handle_lease(LeaseChange::Paths { before: &ended.paths, after: &[] });
        }
        self.find_paths(cx, ReservationDeps { fabric, streams });
        self.residual.tick(cx.now);
        self.inferred.retain(|id| self.assignments.get(id).is_some());
        if cx.now.since(self.sampled_at) >= cx.settings.counters_interval {
            self.sampled_at = cx.now;
            self.learn(cx, streams);
        }
    }
}

/// The assignment that a stream belongs to, if it has not ended.
pub(crate) fn assignment_of<'a>(assignments: &'a Assignments, stream: &Stream) -> Option<&'a Assignment> {
    match stream.opening {
        Opening::Parallel(Group::Announced(id)) => assignments.get(AssignmentId(id)),
        _ => None,
    }
}

/// Installs the labels of paths early and keeps them, so that streams later need only their own rules.
fn open_paths(cx: &mut Context<'_>, fabric: &mut Fabric, paths: &[Path]) {
    fabric.handle_lease(LeaseChange::Paths { before: &[], after: paths });
    for path in paths {
        fabric.open(cx, path);
        fabric.open(cx, &path.reversed());
    }
}

/// The index of a stream's path, in either direction, in an assignment.
pub(crate) fn path_index(assignment: &Assignment, path: &Path) -> Option<usize> {
    assignment.paths.iter().position(|it| it == path || it.is_reverse_of(path))
}

#[cfg(test)]
impl Reservations {
    /// The paths of all assignments.
    pub(crate) fn reserved(&self) -> impl Iterator<Item = &Path> {
        self.assignments.iter().flat_map(|assignment| &assignment.paths)
    }
}
