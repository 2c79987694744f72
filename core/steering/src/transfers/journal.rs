//! Transfers that have changed since another controller was told of them.

use std::collections::BTreeSet;

use super::Transfers;
use crate::facts::{ConnectionsFact, KnownTransfer, StreamFact, TransferFact};
use crate::ids::TransferId;
use crate::stream::{Stream, Transfer, TransferKind};

/// The transfers that have changed; `None` while nobody is told. Each is there once, so it has no other limit than the table
/// of transfers.
#[derive(Debug, Default)]
pub(super) struct Journal(Option<BTreeSet<TransferId>>);

impl Journal {
    pub(super) fn note(&mut self, transfer: &Transfer) {
        if let Some(changed) = &mut self.0 {
            changed.insert(transfer.id);
        }
    }

    /// A transfer has ended. One that nobody was told of is no change, however many begin and end.
    pub(super) fn note_end(&mut self, transfer: &Transfer) {
        let Some(changed) = &mut self.0 else { return };
        if transfer.is_told {
            changed.insert(transfer.id);
        } else {
            changed.remove(&transfer.id);
        }
    }
}

impl Transfers {
    /// Begins to note which transfers change, for other controllers, and notes all that there are; or ends it.
    pub fn publish(&mut self, is_published: bool) {
        self.journal.0 = is_published.then(|| self.transfers.iter().map(|it| it.id).collect());
        for id in self.journal.0.iter().flatten() {
            self.transfers.get_mut(*id).into_iter().for_each(|it| it.is_told = false);
        }
    }

    /// Up to `count` transfers that have changed since they were taken last, as they are now; `None` for those that ended.
    pub fn take_facts(&mut self, count: usize) -> Vec<(TransferId, Option<KnownTransfer>)> {
        let mut ids = Vec::new();
        while ids.len() < count
            && let Some(id) = self.journal.0.as_mut().and_then(BTreeSet::pop_first)
        {
            ids.push(id);
        }
        for id in &ids {
            self.transfers.get_mut(*id).into_iter().for_each(|it| it.is_told = true);
        }
        ids.into_iter().map(|id| (id, self.transfers.get(id).map(|it| self.fact(it)))).collect()
    }

    fn fact(&self, transfer: &Transfer) -> KnownTransfer {
        let Transfer { id, kind, token, opener_token, ref streams, .. } = *transfer;
        let streams = || streams.iter().filter_map(|id| self.streams.get(*id));
        let first = streams().next().filter(|_| kind != TransferKind::Mptcp);
        if let Some(opening) = first.map(|stream| stream.opening) {
            let tuples = streams().map(|stream| stream.tuple).collect();
            return KnownTransfer::Plain(ConnectionsFact { id, opening, tuples });
        }
        let fact =
            |&Stream { tuple, opening, established, .. }: &Stream| StreamFact { tuple, opening, established };
        KnownTransfer::Mptcp(TransferFact { id, token, opener_token, streams: streams().map(fact).collect() })
    }
}
