//! Stream models of paths, learned from ongoing transfers if enabled.

use std::collections::BTreeMap;
use std::time::Duration;

use braid_assign::{Assignment, AssignmentId, Learner, Sample, StreamModel};
use braid_paths::Path;
use braid_planner::round_trip;
use braid_steering::{Group, StreamId, Transfers};
use braid_types::{BitsPerSec, DatapathId, Time};

use super::{Reservations, Sources, path_index};
use crate::context::Context;
use crate::notice::Notice;

/// Time after the last stream of a path has opened, for slow start to end.
const MIN_STEADY_TIME: Duration = Duration::from_secs(10);
/// The time between fits: one takes some milliseconds, in which packets wait.
const FIT_INTERVAL: Duration = Duration::from_secs(10);
/// Streams that use less of a path are limited by their application.
const MIN_UTILIZATION: f64 = 0.1;

/// The learned models and the observed streams.
#[derive(Debug, Default)]
pub(super) struct Learning {
    learner: Learner,
    /// The streams on each path of an assignment, and since when they are unchanged.
    steady: BTreeMap<(AssignmentId, usize), (Vec<StreamId>, Time)>,
    fitted_at: Time,
}

impl Reservations {
    /// Samples the rates of streams. Called periodically.
    pub(super) fn learn(&mut self, cx: &mut Context<'_>, streams: &Transfers) {
        if !cx.settings.learn_streams {
            return;
        }
        let assignments = &self.assignments;
        self.learning.steady.retain(|(id, _), _| assignments.get(*id).is_some());
        for (switches, sample) in self.steady_samples(cx, streams) {
            self.learning.learner.observe(&switches, sample);
        }
        if cx.now.since(self.learning.fitted_at) >= FIT_INTERVAL {
            self.learning.fitted_at = cx.now;
            if let Some((switches, model)) = self.learning.learner.fit_one(cx.now) {
                let streams_per_gigabit = (model.a * 1e6).round() as u64;
                cx.out.notice(Notice::StreamsLearned { path: switches.to_vec(), streams_per_gigabit });
            }
        }
    }

    /// The learned model of a path.
    pub(super) fn learned(&self, path: &Path) -> Option<StreamModel> {
        let switches = name(path);
        self.learning.learner.model(&switches)
    }

    fn steady_samples(&mut self, cx: &Context<'_>, streams: &Transfers) -> Vec<(Vec<DatapathId>, Sample)> {
        let all: Vec<_> = self.assignments.iter().flat_map(|it| users(it, streams)).collect();
        let mut samples = Vec::new();
        for (id, index, members) in all {
            let steady = self.learning.steady.entry((id, index)).or_insert_with(|| (Vec::new(), cx.now));
            if steady.0 != members {
                *steady = (members, cx.now);
            } else if cx.now.since(steady.1) >= MIN_STEADY_TIME {
                samples.extend(self.sample(cx, streams, id, index));
            }
        }
        samples
    }

    /// The total rate of the streams, in the direction that carries more.
    fn sample(
        &self,
        cx: &Context<'_>,
        streams: &Transfers,
        id: AssignmentId,
        index: usize,
    ) -> Option<(Vec<DatapathId>, Sample)> {
        let assignment = self.assignments.get(id)?;
        let path = assignment.paths.get(index)?;
        let (members, _) = self.learning.steady.get(&(id, index))?;
        let rates = members.iter().filter_map(|id| Some(streams.stream(*id)?.rates));
        let carried = rates.fold([0, 0], |sum, rate| [sum[0] + rate[0].0, sum[1] + rate[1].0]);
        let goodput = BitsPerSec(carried[0].max(carried[1]));
        let on = Sources::new(cx, streams);
        let available = BitsPerSec(self.available(on, assignment, index) as u64);
        let busy = goodput.as_f64() >= available.as_f64() * MIN_UTILIZATION;
        let round_trip = round_trip(&self.conditions(on, &assignment.claim), path);
        let sample = Sample { available, round_trip, streams: members.len(), goodput };
        busy.then(|| (name(path), sample))
    }
}

/// The same key for both directions.
fn name(path: &Path) -> Vec<DatapathId> {
    let there: Vec<_> = path.switches().collect();
    let back: Vec<_> = there.iter().rev().copied().collect();
    there.min(back)
}

/// The streams on each path of an assignment.
fn users(assignment: &Assignment, streams: &Transfers) -> Vec<(AssignmentId, usize, Vec<StreamId>)> {
    let group = streams.of_group(Group::Announced(assignment.id.0));
    let mut users: BTreeMap<usize, Vec<StreamId>> = BTreeMap::new();
    for id in group.into_iter().flat_map(|transfer| &transfer.streams) {
        let route = streams.stream(*id).and_then(|stream| stream.route.as_ref());
        if let Some(index) = route.and_then(|route| path_index(assignment, &route.forward)) {
            users.entry(index).or_default().push(*id);
        }
    }
    users.into_iter().map(|(index, streams)| (assignment.id, index, streams)).collect()
}
