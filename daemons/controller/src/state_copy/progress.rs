//! A copy in progress, made in pieces of a few items between turns of the switch connections.

use std::time::Duration;
use std::vec;

use braid_control::view::{EdgeList, SwitchView};
use braid_steering::{Changed, TransferId};
use braid_types::DatapathId;
use tokio::sync::oneshot;

use super::{ConnectedSwitch, CopyRequest, List, Lists, StateCopy, Totals};
use crate::engine::Engine;

/// Items in a piece, chosen for some microseconds of work: a switch has many ports, and an assignment's capacity is
/// computed anew.
const SWITCHES_PER_PIECE: usize = 4;
const LINKS_PER_PIECE: usize = 16;
const HOSTS_PER_PIECE: usize = 32;
const EDGE_GROUPS_PER_PIECE: usize = 4;
const TRANSFERS_PER_PIECE: usize = 32;
const ALARMS_PER_PIECE: usize = 16;
const ASSIGNMENTS_PER_PIECE: usize = 1;

/// A copy that is not complete yet.
pub(crate) struct CopyInProgress {
    copy: StateCopy,
    remaining: Lists,
    edges: EdgeList,
    transfers: vec::IntoIter<TransferId>,
    answer: oneshot::Sender<StateCopy>,
}

impl CopyInProgress {
    pub(crate) fn begin(engine: &mut Engine, request: CopyRequest) -> Self {
        let CopyRequest { lists, answer } = request;
        let mut copy = StateCopy { now: engine.now(), lists, ..StateCopy::default() };
        let sizes = engine.brain().sizes();
        // Long lists do not reallocate while they grow.
        if lists.has(List::Links) {
            copy.links.reserve(sizes.links as usize);
        }
        if lists.has(List::Hosts) {
            copy.hosts.reserve(sizes.hosts as usize);
        }
        let mut transfers = Vec::new();
        if lists.has(List::Transfers) {
            transfers = match engine.brain_mut().take_transfer_changes() {
                Changed::All(ids) => {
                    copy.transfers.are_all = true;
                    ids
                }
                Changed::Some { counts, transfers } => {
                    copy.transfers.counts = counts;
                    transfers
                }
            };
            copy.transfers.changed.reserve(transfers.len());
        }
        Self { copy, remaining: lists, edges: EdgeList::default(), transfers: transfers.into_iter(), answer }
    }

    /// Copies one more piece. Returns whether it was the last.
    pub(crate) fn step(&mut self, engine: &mut Engine) -> bool {
        let Some(list) = self.remaining.first() else { return true };
        if self.copy_some(list, engine) {
            self.remaining = self.remaining.without(list);
        }
        self.remaining == Lists::NONE
    }

    /// Answers the request with the copy, which took the engine this long.
    pub(crate) fn finish(mut self, took: Duration) {
        self.copy.took = took;
        // The requester may be gone.
        drop(self.answer.send(self.copy));
    }

    /// Copies a piece of a list. Returns whether it was the last.
    fn copy_some(&mut self, list: List, engine: &mut Engine) -> bool {
        let (copy, brain) = (&mut self.copy, engine.brain());
        match list {
            List::Switches => extend(&mut copy.switches, SWITCHES_PER_PIECE, |last| {
                connected(engine, last.map(|switch| switch.switch.dpid))
            }),
            List::Links => {
                extend(&mut copy.links, LINKS_PER_PIECE, |last| brain.links_after(last.map(|link| link.src)))
            }
            List::Hosts => {
                extend(&mut copy.hosts, HOSTS_PER_PIECE, |last| brain.hosts_after(last.map(|host| host.mac)))
            }
            List::Edges => {
                let is_all = brain.list_edges(&mut self.edges, EDGE_GROUPS_PER_PIECE);
                if is_all {
                    copy.edges = std::mem::take(&mut self.edges).into_views();
                }
                is_all
            }
            List::Transfers => self.copy_transfers(engine),
            List::Alarms => extend(&mut copy.alarms, ALARMS_PER_PIECE, |last| {
                brain.alarms_after(last.map(|alarm| (alarm.at, alarm.threat.kind())))
            }),
            List::Assignments => extend(&mut copy.assignments, ASSIGNMENTS_PER_PIECE, |last| {
                brain.assignments_after(last.map(|assignment| assignment.id))
            }),
            List::Policy => {
                copy.policy.clone_from(brain.policies());
                true
            }
            List::Totals => {
                let (sizes, counters) = (brain.sizes(), brain.counters());
                copy.totals = Totals { sizes, counters, refused: engine.refused() };
                true
            }
        }
    }

    fn copy_transfers(&mut self, engine: &mut Engine) -> bool {
        let brain = engine.brain_mut();
        let records =
            self.transfers.by_ref().take(TRANSFERS_PER_PIECE).map(|id| (id, brain.copy_transfer(id)));
        self.copy.transfers.changed.extend(records);
        self.transfers.len() == 0
    }
}

/// Appends at most `count` of the items after the last one. Returns whether the list is complete.
fn extend<T, I: Iterator<Item = T>>(
    items: &mut Vec<T>,
    count: usize,
    following: impl FnOnce(Option<&T>) -> I,
) -> bool {
    let before = items.len();
    let more = following(items.last());
    items.extend(more.take(count));
    items.len() - before < count
}

fn connected(engine: &Engine, after: Option<DatapathId>) -> impl Iterator<Item = ConnectedSwitch> {
    let connected = |switch: SwitchView| ConnectedSwitch {
        address: engine.address(switch.dpid),
        metadata: engine.metadata(switch.dpid),
        switch,
    };
    engine.brain().switches_after(after).map(connected)
}
