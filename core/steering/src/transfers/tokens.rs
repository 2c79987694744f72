//! Tokens: the transfer that a subflow joins, whichever end opens it.

use std::net::IpAddr;

use braid_types::{FiveTuple, Token};

use super::Transfers;
use crate::ids::{StreamId, TransferId};
use crate::stream::{Opening, Transfer};

impl Transfers {
    /// Learns the token by which joining subflows will name the connection, from the answering host of `tuple`.
    ///
    /// Returns the streams that joined before the token was known, and belong to its transfer from now on.
    pub fn learn_token(&mut self, tuple: &FiveTuple, token: Token) -> Vec<StreamId> {
        let Some(id) = self.by_tuple(tuple).map(|stream| stream.transfer) else {
            self.memory.learn_token(tuple, token);
            return Vec::new();
        };
        // The first answer counts: a forged second one must not take over the connection's joins.
        let has_none = |transfer: &&mut Transfer| transfer.token.is_none() && transfer.group.is_none();
        let Some(transfer) = self.transfers.get_mut(id).filter(has_none) else {
            return Vec::new();
        };
        transfer.token = Some(token);
        self.journal.note(transfer);
        let early = self.joined(token, tuple).filter(|early| self.has_only_joins(*early));
        self.by_token.entry(token).or_default().push(id);
        early.map(|early| self.absorb(id, early)).unwrap_or_default()
    }

    /// The transfer that `tuple` joins as a subflow opened by the answering host, where `addresses` are the opening
    /// host's. `None` if it is another kind of subflow.
    pub fn call_back(&self, token: Token, tuple: &FiveTuple, addresses: &[IpAddr]) -> Option<TransferId> {
        let names_opener =
            |id: &TransferId| self.transfers.get(*id).is_some_and(|it| it.opener_token == Some(token));
        let named = || self.by_token.get(&token)?.iter().copied().find(names_opener);
        let at = |dst: &IpAddr| self.by_opener.called(&self.streams, &FiveTuple { dst: *dst, ..*tuple });
        self.by_opener.called(&self.streams, tuple).or_else(named).or_else(|| addresses.iter().find_map(at))
    }

    /// Learns the token with which the opening host of a transfer accepted a subflow: its own key made the token.
    pub fn learn_opener_token(&mut self, id: TransferId, token: Token) {
        let Some(transfer) = self.transfers.get_mut(id) else { return };
        if transfer.opener_token.is_none() {
            transfer.opener_token = Some(token);
            self.journal.note(transfer);
            self.by_token.entry(token).or_default().push(id);
        }
    }

    /// The transfer that a subflow with this token joins.
    ///
    /// The host that chose the token may have several addresses: the candidate that shares one with the subflow comes
    /// first, and a lone candidate needs none.
    pub fn joined(&self, token: Token, tuple: &FiveTuple) -> Option<TransferId> {
        let candidates = self.by_token.get(&token)?;
        let shares = |ours: fn(&FiveTuple) -> IpAddr| {
            candidates.iter().copied().find(|id| self.uses(*id, |known| ours(known) == ours(tuple)))
        };
        let lone = || (candidates.len() == 1).then(|| candidates[0]);
        shares(|tuple| tuple.dst).or_else(|| shares(|tuple| tuple.src)).or_else(lone)
    }

    /// The transfer that `tuple` joins from the answering host, and that `token` names from now on. The opening
    /// host's key made that token, and the answering host is the first to send it.
    pub(super) fn called(&mut self, token: Token, tuple: &FiveTuple) -> Option<TransferId> {
        let id = self.by_opener.called(&self.streams, tuple)?;
        self.learn_opener_token(id, token);
        Some(id)
    }

    fn has_only_joins(&self, id: TransferId) -> bool {
        let streams = self.transfers.get(id).into_iter().flat_map(|transfer| &transfer.streams);
        streams.filter_map(|id| self.streams.get(*id)).all(|stream| stream.opening != Opening::Capable)
    }

    /// Moves the streams of `from` to the transfer `id`, as far as they fit, and removes `from`.
    fn absorb(&mut self, id: TransferId, from: TransferId) -> Vec<StreamId> {
        let limit = self.limits.streams_per_transfer;
        let (Some(early), Some(transfer)) = (self.transfers.get(from), self.transfers.get(id)) else {
            return Vec::new();
        };
        if early.streams.len().saturating_add(transfer.streams.len()) > limit {
            return Vec::new();
        }
        let moved = early.streams.to_vec();
        if let Some(early) = self.transfers.remove(from) {
            self.changes.note_end(&early);
            self.journal.note_end(&early);
            early.token.into_iter().for_each(|token| self.forget_token(token, from));
        }
        for stream in &moved {
            if let Some(stream) = self.streams.get_mut(*stream) {
                stream.transfer = id;
            }
        }
        if let Some(transfer) = self.transfers.get_mut(id) {
            transfer.streams.extend_from_slice(&moved);
            self.changes.note(transfer);
            self.journal.note(transfer);
        }
        moved
    }

    fn uses(&self, id: TransferId, test: impl Fn(&FiveTuple) -> bool) -> bool {
        let streams = self.transfers.get(id).into_iter().flat_map(|transfer| &transfer.streams);
        streams.filter_map(|id| self.streams.get(*id)).any(|stream| test(&stream.tuple))
    }

    pub(super) fn forget_token(&mut self, token: Token, id: TransferId) {
        let Some(candidates) = self.by_token.get_mut(&token) else { return };
        candidates.retain(|candidate| *candidate != id);
        if candidates.is_empty() {
            self.by_token.remove(&token);
        }
    }
}
