//! All copied lists, and how a new copy replaces or updates them.

use std::sync::Arc;

use braid_control::view::{EdgeView, HostView, LinkView, TransferRecord};
use braid_control::{Alarm, AssignmentView};
use braid_steering::Policies;
use braid_types::Time;

use super::Table;
use crate::state_copy::{ConnectedSwitch, List, StateCopy, Totals, TransferChanges};

/// All that is shown, each list as it was copied last.
#[derive(Debug, Default)]
pub(in crate::http) struct Tables {
    pub(in crate::http) switches: Table<ConnectedSwitch>,
    pub(in crate::http) links: Table<LinkView>,
    pub(in crate::http) hosts: Table<HostView>,
    pub(in crate::http) edges: Table<EdgeView>,
    pub(in crate::http) transfers: Table<TransferRecord>,
    pub(super) alarms: Table<Alarm>,
    pub(super) assignments: Table<AssignmentView>,
    /// And when it was copied.
    pub(super) policy: (Time, Arc<Policies>),
    pub(in crate::http) totals: Totals,
}

impl Tables {
    /// Takes over what was copied.
    pub(in crate::http) fn take(&mut self, copy: StateCopy) {
        let (now, lists) = (copy.now, copy.lists);
        if lists.has(List::Switches) {
            self.switches.replace(now, copy.switches);
        }
        if lists.has(List::Links) {
            self.links.replace(now, copy.links);
        }
        if lists.has(List::Hosts) {
            self.hosts.replace(now, copy.hosts);
        }
        if lists.has(List::Edges) {
            self.edges.replace(now, copy.edges);
        }
        if lists.has(List::Transfers) {
            let TransferChanges { are_all, mut counts, changed } = copy.transfers;
            // Transfers that follow each other lie together; of counts of one, the last one counts.
            counts.sort_by_key(|count| count.transfer);
            for count in counts {
                self.transfers.change(&count.transfer, |transfer| transfer.count(&count));
            }
            // Newer than what was counted.
            self.transfers.update(now, are_all, changed);
        }
        if lists.has(List::Alarms) {
            self.alarms.replace(now, copy.alarms);
        }
        if lists.has(List::Assignments) {
            self.assignments.replace(now, copy.assignments);
        }
        if lists.has(List::Policy) {
            self.policy = (now, copy.policy);
        }
        if lists.has(List::Totals) {
            self.totals = copy.totals;
        }
    }
}
