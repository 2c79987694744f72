//! Changes of transfers since the last copy, so that readers copy only those.

use braid_types::BitsPerSec;

use crate::ids::{StreamId, TransferId};
use crate::stream::{Stream, Transfer};

/// With more changes than these, a reader gets all transfers instead: nobody has read for long, and a list of
/// everything costs less than a list of all that happened.
const MAX_TRANSFERS: usize = 1 << 17;
const MAX_COUNTS_PER_STREAM: usize = 4;
const MIN_COUNTS: usize = 1 << 12;

/// The changes of transfers since the last copy.
///
/// Counts are listed when they are noted, as the stream is at hand then: a later look-up of each would cost ten times as
/// much. For all other changes, only the transfers that changed or ended are listed, each once.
///
/// Invariant: a marked transfer is listed here, or in the changes that were taken and not visited yet.
#[derive(Debug, Default)]
pub(crate) struct Changes {
    /// `None`: nobody has asked yet, or there were too many.
    listed: Option<Listed>,
}

#[derive(Debug, Default)]
struct Listed {
    transfers: Vec<TransferId>,
    counts: Vec<Count>,
}

/// The changes that bring a copy of all transfers up to date.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Changed {
    /// All existing transfers, to be visited; the copy starts over.
    All(Vec<TransferId>),
    /// The changes since the last time.
    Some {
        /// Counts, to be applied before visits, whose results are newer. Streams that the copy lacks are to be visited.
        counts: Vec<Count>,
        /// Transfers to be visited: those with other changes, and ended ones.
        transfers: Vec<TransferId>,
    },
}

/// The count of one direction of a stream.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Count {
    /// The transfer of the stream.
    pub transfer: TransferId,
    /// The stream.
    pub stream: StreamId,
    /// Whether it is the direction towards the opening host.
    pub reverse: bool,
    /// Bytes of frames.
    pub bytes: u64,
    /// The rate between the last two counts.
    pub rate: BitsPerSec,
}

impl Changes {
    /// Whether a change of a transfer would be noted.
    pub(crate) const fn is_read(&self) -> bool {
        self.listed.is_some()
    }

    pub(crate) fn note(&mut self, transfer: &mut Transfer) {
        if self.is_read() && !std::mem::replace(&mut transfer.is_changed, true) {
            self.list(transfer.id);
        }
    }

    /// Notes the end of a transfer.
    pub(crate) fn note_end(&mut self, transfer: &Transfer) {
        if !transfer.is_changed {
            self.list(transfer.id);
        }
    }

    /// Notes a count of one direction of a stream, one of so many.
    pub(crate) fn note_count(&mut self, stream: &Stream, reverse: bool, streams: usize) {
        let Stream { id, transfer, bytes, rates, .. } = *stream;
        let at = usize::from(reverse);
        let count = Count { transfer, stream: id, reverse, bytes: bytes[at], rate: rates[at] };
        let max = MIN_COUNTS.max(MAX_COUNTS_PER_STREAM * streams);
        self.listed.take_if(|listed| listed.counts.len() >= max);
        self.listed.iter_mut().for_each(|listed| listed.counts.push(count));
    }

    /// The listed changes, or `None` if the list is incomplete; from now on changes are listed.
    pub(crate) fn take(&mut self) -> Option<Changed> {
        let Listed { transfers, counts } = self.listed.replace(Listed::default())?;
        Some(Changed::Some { counts, transfers })
    }

    fn list(&mut self, transfer: TransferId) {
        self.listed.take_if(|listed| listed.transfers.len() >= MAX_TRANSFERS);
        self.listed.iter_mut().for_each(|listed| listed.transfers.push(transfer));
    }
}

#[cfg(test)]
mod tests {
    use smallvec::SmallVec;

    use super::*;
    use crate::stream::TransferKind;

    fn transfer(id: u64) -> Transfer {
        Transfer {
            id: TransferId(id),
            kind: TransferKind::Mptcp,
            token: None,
            opener_token: None,
            group: None,
            opened_at: braid_types::Time::ZERO,
            streams: SmallVec::new(),
            is_changed: false,
            is_told: false,
        }
    }

    #[test]
    fn what_nobody_asks_for_takes_no_memory() {
        let mut changes = Changes::default();
        changes.note(&mut transfer(1));
        changes.note_end(&transfer(2));
        assert_eq!(changes.take(), None, "all is to be copied first");
        changes.take();
        (0..=MAX_TRANSFERS as u64).for_each(|id| changes.note(&mut transfer(id)));
        assert_eq!(changes.take(), None, "as it is if there are too many");
        changes.note(&mut transfer(1));
        let transfers = vec![TransferId(1)];
        assert_eq!(changes.take(), Some(Changed::Some { counts: Vec::new(), transfers }));
    }
}
