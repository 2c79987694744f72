//! Paths that have fallen silent, though their links are up and other paths of their group answer.

use braid_edge_protocol::telemetry::{PathReport, PathState};
use braid_types::{DatapathId, SwitchPort};

use super::telemetry::{GroupKey, MemberKey, MemberReport, Telemetry};
use crate::threat::Threat;

/// The alarms about paths to `to` that have fallen silent since the readings before, and the ports where they begin.
///
/// Where no path answers, the edge at their end or a busy machine is silent, and no path is to blame.
pub(super) fn silent_paths(
    telemetry: &Telemetry,
    of: GroupKey,
    to: DatapathId,
    members: &[MemberReport<'_>],
) -> Vec<(SwitchPort, Threat)> {
    let fell_silent = |member: &MemberReport<'_>| {
        let before = telemetry.paths.get(&MemberKey { of, label: member.report.label });
        before.is_some_and(|before| has_fallen_silent(&before.report, member.report))
    };
    let (silent, others): (Vec<_>, Vec<_>) = members.iter().partition(|member| fell_silent(member));
    let answers =
        |it: &&MemberReport<'_>| matches!(it.report.state, PathState::Active | PathState::Suspended);
    if !others.iter().any(answers) {
        return Vec::new();
    }
    silent.into_iter().filter_map(|member| alarm(to, member)).collect()
}

fn alarm(to: DatapathId, member: &MemberReport<'_>) -> Option<(SwitchPort, Threat)> {
    let MemberReport { path, report } = member;
    let at = path.links().first()?.src;
    Some((at, Threat::SilentPath { to, path: path.switches().collect(), silences: report.silences }))
}

/// Whether a path has stopped answering between two reports. Counts begin anew when the group changes.
const fn has_fallen_silent(before: &PathReport, report: &PathReport) -> bool {
    let known = if before.silences <= report.silences { before.silences } else { 0 };
    report.silences > known
}
