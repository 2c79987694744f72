//! Groups with their buckets, and their treatment of packets: spraying, resequencing, probing, encapsulation.

mod change;
mod extension;
mod forwarding;
mod group;
mod probing;
mod resequencing;
mod statistics;
mod telemetry;
mod unanswered;

use std::collections::BTreeMap;

use braid_openflow::{BadActionCode, ErrorCode, GroupId, GroupModFailedCode};
use braid_types::{PortNo, Time};

use crate::action::Act;
use group::Group;

pub(crate) use change::GroupChange;
pub(crate) use forwarding::Distribution;
pub(crate) use resequencing::{ArrivedProbe, HeldPacket};
pub(crate) use unanswered::KeptPacket;

/// The greatest number of groups.
pub(crate) const MAX_GROUPS: usize = 1 << 12;
/// The greatest depth of groups that output to groups.
pub(crate) const MAX_DEPTH: u8 = 4;

/// The groups of a switch.
#[derive(Debug, Default)]
pub(crate) struct Groups {
    all: BTreeMap<GroupId, Group>,
}

const fn failed(code: GroupModFailedCode) -> ErrorCode {
    ErrorCode::GroupModFailed(code)
}

const UNKNOWN: ErrorCode = failed(GroupModFailedCode::UnknownGroup);

impl Groups {
    /// Checks that the groups named in actions exist.
    pub(crate) fn check_acts<'a>(&self, mut acts: impl Iterator<Item = &'a Act>) -> Result<(), ErrorCode> {
        let missing = |act: &Act| matches!(act, Act::Group(group) if !self.all.contains_key(group));
        match acts.any(missing) {
            true => Err(ErrorCode::BadAction(BadActionCode::BadOutGroup)),
            false => Ok(()),
        }
    }

    /// The time at which a held packet or a probe is due.
    pub(crate) fn poll_timeout(&self) -> Option<Time> {
        let held = self.all.values().filter_map(|group| group.resequencer.as_ref()?.poll_timeout());
        held.chain(self.next_probe()).min()
    }

    /// Whether packets for resequencing arrive at a port: then another edge is behind it.
    pub(crate) fn is_sprayed_port(&self, port: PortNo) -> bool {
        let mut paths =
            self.all.values().filter_map(|group| group.resequencer.as_ref()).flat_map(|it| it.paths());
        paths.any(|(in_port, _)| *in_port == port)
    }
}
