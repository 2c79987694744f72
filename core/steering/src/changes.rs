use crate::ids::TransferId;
use crate::stream::Transfer;

/// More changes than these are not listed: whoever asks for them gets all transfers instead.
const MAX_CHANGES: usize = 1 << 20;

/// Which transfers have changed since they were last copied, those that ended too. Each is listed once.
///
/// Invariant: a transfer that is marked is listed here, or in what was taken from here and not visited yet.
#[derive(Debug, Default)]
pub(crate) struct Changes {
    /// `None`: nobody has asked yet, or there were too many.
    listed: Option<Vec<TransferId>>,
}

/// Transfers to visit so that a copy of all of them is up to date.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Changed {
    /// Every transfer that there is; the copy begins anew.
    All(Vec<TransferId>),
    /// Those that have changed, or ended, since the last time.
    Some(Vec<TransferId>),
}

impl Changes {
    pub(crate) fn note(&mut self, transfer: &mut Transfer) {
        if self.listed.is_some() && !std::mem::replace(&mut transfer.is_changed, true) {
            self.list(transfer.id);
        }
    }

    /// A transfer is not there any more.
    pub(crate) fn note_end(&mut self, transfer: &Transfer) {
        if !transfer.is_changed {
            self.list(transfer.id);
        }
    }

    /// What was listed, unless that is not everything; from now on changes are listed.
    pub(crate) fn take(&mut self) -> Option<Vec<TransferId>> {
        self.listed.replace(Vec::new())
    }

    fn list(&mut self, id: TransferId) {
        match &mut self.listed {
            Some(listed) if listed.len() < MAX_CHANGES => listed.push(id),
            listed => *listed = None,
        }
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
        }
    }

    #[test]
    fn what_nobody_asks_for_takes_no_memory() {
        let mut changes = Changes::default();
        changes.note(&mut transfer(1));
        changes.note_end(&transfer(2));
        assert_eq!(changes.take(), None, "all is to be copied first");
        changes.take();
        (0..=MAX_CHANGES as u64).for_each(|id| changes.note(&mut transfer(id)));
        assert_eq!(changes.take(), None, "as it is if there are too many");
        changes.note(&mut transfer(1));
        assert_eq!(changes.take(), Some(vec![TransferId(1)]));
    }
}
