//! A copy in progress, made in pieces of a few items between turns of the switch connections.

use std::time::Duration;
use std::vec;

use braid_control::view::{EdgeList, LinkView};
use braid_steering::{Changed, TransferId};
use tokio::sync::oneshot;

use super::part::extend;
use super::{
    Copied, CopyRequest, List, Lists, MAX_FIRST_LINKS, Piecewise, StateCopy, Totals, TransferChanges,
};
use crate::engine::Engine;

/// Groups and transfers in a piece, chosen for some microseconds of work.
const EDGE_GROUPS_PER_PIECE: usize = 4;
const TRANSFERS_PER_PIECE: usize = 32;

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
        let (now, names) = (engine.now(), engine.names().clone());
        let mut copy = StateCopy { now, lists, names, ..StateCopy::default() };
        let sizes = engine.brain().sizes();
        // Nothing is moved because a long list grows.
        copy.hosts.reserve(if lists.has(List::Hosts) { sizes.hosts as usize } else { 0 });
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
            copy.transfers.changed.reserve(transfers.len().min(sizes.transfers as usize));
        }
        Self { copy, remaining: lists, edges: EdgeList::default(), transfers: transfers.into_iter(), answer }
    }

    /// Copies a piece of a list. Returns whether it was the last.
    fn copy_some(&mut self, list: List, engine: &mut Engine) -> bool {
        let (copy, brain) = (&mut self.copy, engine.brain());
        match list {
            List::Switches => extend_whole(&mut copy.switches, engine),
            List::Hosts => extend_whole(&mut copy.hosts, engine),
            List::FirstLinks => copy_first_links(&mut copy.first_links, engine),
            List::Edges => {
                let is_all = brain.list_edges(&mut self.edges, EDGE_GROUPS_PER_PIECE);
                if is_all {
                    copy.edges = std::mem::take(&mut self.edges).into_views();
                }
                is_all
            }
            List::Transfers => self.copy_transfers(engine),
            List::Policy => {
                copy.policy.clone_from(brain.policies());
                true
            }
            List::Totals => {
                let (sizes, counters) = (brain.sizes(), brain.counters());
                let (refused, reloads) = (engine.refused(), engine.reloads());
                copy.totals = Totals { sizes, counters, refused, shed: engine.shed(), reloads };
                true
            }
        }
    }

    fn copy_transfers(&mut self, engine: &mut Engine) -> bool {
        let brain = engine.brain_mut();
        let TransferChanges { ended, changed, .. } = &mut self.copy.transfers;
        for id in self.transfers.by_ref().take(TRANSFERS_PER_PIECE) {
            match brain.copy_transfer(id) {
                Some(record) => changed.push(record),
                None => ended.push(id),
            }
        }
        self.transfers.len() == 0
    }
}

impl Piecewise for CopyInProgress {
    fn step(&mut self, engine: &mut Engine) -> bool {
        let Some(list) = self.remaining.first() else { return true };
        if self.copy_some(list, engine) {
            self.remaining = self.remaining.without(list);
        }
        self.remaining == Lists::NONE
    }

    fn finish(mut self: Box<Self>, took: Duration) {
        self.copy.took = took;
        // The requester may be gone.
        drop(self.answer.send(self.copy));
    }
}

/// Appends one piece; whether it is the last.
fn extend_whole<T: Copied>(items: &mut Vec<T>, engine: &Engine) -> bool {
    extend(items, None, engine, T::PIECE)
}

/// Appends one piece; whether it is the last.
fn copy_first_links(links: &mut Vec<LinkView>, engine: &Engine) -> bool {
    let piece = LinkView::PIECE.min(MAX_FIRST_LINKS - links.len());
    extend(links, None, engine, piece) || links.len() >= MAX_FIRST_LINKS
}
