//! An index of MPTCP connections by their opening end, for subflows that the other host opens.

use std::net::IpAddr;

use braid_types::{FiveTuple, Index};
use smallvec::SmallVec;

use crate::ids::TransferId;

/// The transfers of MPTCP connections by the address and port from which their first subflow was opened.
///
/// No socket listens there, so a SYN to such an end can only be a subflow that the answering host opens.
#[derive(Debug, Default)]
pub(crate) struct Openers(Index<(IpAddr, u16), SmallVec<[Connection; 1]>>);

#[derive(Debug)]
struct Connection {
    transfer: TransferId,
    answers: IpAddr,
}

impl Openers {
    /// Adds the first subflow of a connection.
    pub(crate) fn insert(&mut self, first: &FiveTuple, transfer: TransferId) {
        let known = self.0.entry((first.src, first.src_port)).or_default();
        known.push(Connection { transfer, answers: first.dst });
    }

    /// Removes the first subflow of a connection.
    pub(crate) fn remove(&mut self, first: &FiveTuple) {
        let end = (first.src, first.src_port);
        let Some(known) = self.0.get_mut(&end) else { return };
        known.retain(|connection| connection.answers != first.dst);
        if known.is_empty() {
            self.0.remove(&end);
        }
    }

    /// The transfer whose opening end `subflow` addresses; of several, the one whose answering host is the sender.
    pub(crate) fn called(&self, subflow: &FiveTuple) -> Option<TransferId> {
        let known = self.0.get(&(subflow.dst, subflow.dst_port))?;
        let answered = known.iter().find(|connection| connection.answers == subflow.src);
        answered.or_else(|| known.first().filter(|_| known.len() == 1)).map(|connection| connection.transfer)
    }
}
