//! Telemetry of edges: reports of groups, read once a second and compared with the previous ones.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use braid_edge_protocol::telemetry::{PathReport, Report, ResequenceReport};
use braid_paths::Path;
use braid_spray::HoldHistogram;
use braid_types::{Backoff, BitsPerSec, DatapathId, MacAddr, Time};

use super::silence::silent_paths;
use super::{Bundle, Spray};
use crate::admission::Admission;
use crate::command::Command;
use crate::context::Context;
use crate::event::GroupReport;
use crate::pipeline::EdgeGroup;

/// The time after which an edge without an answer is asked again. It doubles each time, between these bounds.
const TELEMETRY_RETRY: Backoff = Backoff::between(Duration::from_secs(5), Duration::from_secs(600));
/// The queueing delay from which on a path counts as saturated.
const MIN_QUEUE_DELAY: Duration = Duration::from_millis(4);
/// The weight of a new reading in the moving average.
const SMOOTHING_WEIGHT: f64 = 0.25;

/// The latest reports of the groups in use.
#[derive(Debug, Default)]
pub(super) struct Telemetry {
    asked: BTreeMap<DatapathId, PollState>,
    pub(super) paths: BTreeMap<MemberKey, PathReading>,
    pub(super) resequencers: BTreeMap<GroupKey, ResequencerReading>,
}

/// A group of an edge.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) struct GroupKey {
    pub(super) dpid: DatapathId,
    pub(super) group: EdgeGroup,
}

/// A path of a group, by its label.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) struct MemberKey {
    pub(super) of: GroupKey,
    pub(super) label: MacAddr,
}

#[derive(Clone, Copy, Debug, Default)]
struct PollState {
    /// When the unanswered request was sent.
    at: Option<Time>,
    retry_after: Duration,
    answered_at: Option<Time>,
}

/// A report on a path by its first edge.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) struct PathReading {
    pub(super) at: Time,
    pub(super) report: PathReport,
    /// Its share of the weights in its group.
    pub(super) share: f64,
    /// The rate sent by it since the previous reading.
    pub(super) carried: Option<BitsPerSec>,
    /// Its rate when it last had a queue.
    pub(super) estimated_capacity: Option<BitsPerSec>,
}

/// A report on a resequencing group.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct ResequencerReading {
    pub(super) at: Time,
    pub(super) report: ResequenceReport,
    /// The hold times of the packets released since the previous reading.
    pub(super) recent: HoldHistogram,
}

/// A path of a bundle, and what its edge reports of it.
#[derive(Clone, Copy, Debug)]
pub(super) struct MemberReport<'a> {
    pub(super) path: &'a Path,
    pub(super) report: &'a PathReport,
}

impl Telemetry {
    /// When an edge last answered.
    pub(super) fn answered_at(&self, dpid: DatapathId) -> Option<Time> {
        self.asked.get(&dpid)?.answered_at
    }

    /// The edges to ask now.
    fn due(&mut self, now: Time, edges: &BTreeSet<DatapathId>) -> Vec<DatapathId> {
        let Self { asked, paths, resequencers } = self;
        asked.retain(|dpid, _| edges.contains(dpid));
        paths.retain(|key, _| edges.contains(&key.of.dpid));
        resequencers.retain(|key, _| edges.contains(&key.dpid));
        edges.iter().copied().filter(|dpid| asked.entry(*dpid).or_default().ask(now)).collect()
    }

    fn note_path(&mut self, at: Time, key: MemberKey, report: PathReport, total: f64) {
        let share = f64::from(report.weight) / total.max(1.0);
        let before = self.paths.get(&key);
        let carried = before.and_then(|before| before.carried_until(at, &report));
        let estimated_capacity = before
            .and_then(|before| before.estimate_capacity(at, &report, carried?))
            .or(before.and_then(|it| it.estimated_capacity));
        self.paths.insert(key, PathReading { at, report, share, carried, estimated_capacity });
    }

    fn note_resequencer(&mut self, at: Time, key: GroupKey, report: &ResequenceReport) {
        let before = self.resequencers.get(&key).map(|before| &before.report.waits);
        let recent = before.map(|before| report.waits.since(before)).unwrap_or_default();
        self.resequencers.insert(key, ResequencerReading { at, report: report.clone(), recent });
    }
}

impl PollState {
    /// Whether the edge must be asked now; records the request if so.
    fn ask(&mut self, now: Time) -> bool {
        if self.at.is_some_and(|at| now.since(at) < self.retry_after) {
            return false;
        }
        self.retry_after = TELEMETRY_RETRY.after(self.at.map(|_| self.retry_after));
        self.at = Some(now);
        true
    }
}

impl PathReading {
    fn carried_until(&self, at: Time, report: &PathReport) -> Option<BitsPerSec> {
        let seconds = at.since(self.at).as_secs_f64();
        let bytes = report.bytes.checked_sub(self.report.bytes).filter(|_| seconds > 0.0)?;
        Some(BitsPerSec((bytes as f64 * 8.0 / seconds) as u64))
    }

    /// The capacity of a saturated path: traffic beyond it is queued or lost.
    fn estimate_capacity(&self, at: Time, report: &PathReport, carried: BitsPerSec) -> Option<BitsPerSec> {
        let seconds = at.since(self.at).as_secs_f64();
        if self.report.queue.min(report.queue) < MIN_QUEUE_DELAY || seconds <= 0.0 {
            return None;
        }
        let grown = (report.queue.as_secs_f64() - self.report.queue.as_secs_f64()) / seconds;
        let rate = carried.as_f64() * (1.0 - report.loss) / (1.0 + grown).max(0.1);
        let known = self.estimated_capacity.map_or(rate, BitsPerSec::as_f64);
        Some(BitsPerSec((known + SMOOTHING_WEIGHT * (rate - known)) as u64))
    }
}

impl Spray {
    /// Requests the reports of all edges.
    pub(super) fn ask_edges(&mut self, cx: &mut Context<'_>) {
        for dpid in self.telemetry.due(cx.now, &self.edges) {
            cx.out.push(Command::ReadEdge { dpid });
        }
        self.forget_groups();
    }

    /// Handles the reports of an edge's groups, or a part of them.
    pub(crate) fn handle_reports(
        &mut self,
        cx: &mut Context<'_>,
        admission: &mut Admission,
        dpid: DatapathId,
        reports: &[GroupReport],
    ) {
        let Self { telemetry, bundles, .. } = self;
        let Some(asked) = telemetry.asked.get_mut(&dpid) else { return };
        (asked.at, asked.answered_at) = (None, Some(cx.now));
        let ours: BTreeMap<_, _> = bundles
            .iter()
            .filter(|(key, _)| key.ends.src == dpid)
            .map(|(key, it)| (it.group, (key.ends.dst, it)))
            .collect();
        let there = bundles.iter().filter(|(key, _)| key.ends.dst == dpid);
        let resequencers: BTreeSet<_> = there.flat_map(|(_, it)| it.resequencers.values().copied()).collect();
        for GroupReport { group, report } in reports {
            let of = GroupKey { dpid, group: *group };
            match report {
                Report::Spray(spray) => {
                    let Some((to, bundle)) = ours.get(group) else { continue };
                    let members = members(bundle, &spray.paths);
                    for (at, threat) in silent_paths(telemetry, of, *to, &members) {
                        admission.raise(cx, at, threat);
                    }
                    let total = spray.paths.iter().map(|path| f64::from(path.weight)).sum();
                    for MemberReport { report, .. } in members {
                        telemetry.note_path(cx.now, MemberKey { of, label: report.label }, *report, total);
                    }
                }
                Report::Resequence(order) if resequencers.contains(group) => {
                    telemetry.note_resequencer(cx.now, of, order);
                }
                Report::Resequence(_) => {}
            }
        }
    }

    /// Forgets the reports of groups and paths that are not in use any more.
    fn forget_groups(&mut self) {
        let bundles = &self.bundles;
        let paths: BTreeSet<_> = bundles
            .iter()
            .flat_map(|(key, it)| {
                let of = GroupKey { dpid: key.ends.src, group: it.group };
                it.members.iter().map(move |member| MemberKey { of, label: member.label.mac() })
            })
            .collect();
        let resequencers: BTreeSet<_> = bundles
            .iter()
            .flat_map(|(key, it)| {
                it.resequencers.values().map(move |group| GroupKey { dpid: key.ends.dst, group: *group })
            })
            .collect();
        self.telemetry.paths.retain(|key, _| paths.contains(key));
        self.telemetry.resequencers.retain(|key, _| resequencers.contains(key));
    }
}

/// The paths of a bundle, with what is reported of them.
fn members<'a>(bundle: &'a Bundle, reports: &'a [PathReport]) -> Vec<MemberReport<'a>> {
    let path = |report: &PathReport| bundle.members.iter().find(|it| it.label.mac() == report.label);
    reports.iter().filter_map(|report| Some(MemberReport { path: &path(report)?.path, report })).collect()
}

#[cfg(test)]
mod tests {
    use braid_edge_protocol::telemetry::PathState;

    use super::*;

    fn report(bytes: u64, queue_ms: u64) -> PathReport {
        PathReport {
            label: MacAddr::ZERO,
            state: PathState::Active,
            weight: 1,
            packets: 0,
            bytes,
            round_trip: None,
            queue: Duration::from_millis(queue_ms),
            loss: 0.0,
            silences: 0,
        }
    }

    fn found(reports: &[PathReport]) -> Option<u64> {
        let of = GroupKey { dpid: DatapathId(1), group: EdgeGroup::after(None) };
        let key = MemberKey { of, label: MacAddr::ZERO };
        let mut telemetry = Telemetry::default();
        for (second, report) in (0..).zip(reports) {
            telemetry.note_path(Time::from_millis(second * 1_000), key, *report, 2.0);
        }
        telemetry.paths[&key].estimated_capacity.map(|it| it.0)
    }

    #[test]
    fn a_path_carries_what_is_sent_by_it_less_what_its_queue_grows_by() {
        // At 10 Mbit/s, the queue grows by a tenth of a second each second: 10 / 1.1.
        assert_eq!(found(&[report(0, 10), report(1_250_000, 110)]), Some(9_090_909));
        assert_eq!(found(&[report(0, 110), report(1_250_000, 10)]), Some(11_111_111));
        assert_eq!(found(&[report(0, 0), report(1_250_000, 0)]), None, "it may carry more");
        assert_eq!(found(&[report(0, 10), report(1_250_000, 10), report(1_250_000, 0)]), Some(10_000_000));
        assert_eq!(found(&[report(5_000, 10), report(0, 10)]), None, "the group was changed");
    }

    #[test]
    fn an_edge_that_does_not_answer_is_asked_less_and_less() {
        let (edges, mut telemetry) = (BTreeSet::from([DatapathId(1)]), Telemetry::default());
        let mut asked = Vec::new();
        for second in 0..100 {
            let due = telemetry.due(Time::from_millis(second * 1_000), &edges);
            asked.extend(due.iter().map(|_| second));
        }
        assert_eq!(asked, [0, 5, 15, 35, 75]);
    }
}
