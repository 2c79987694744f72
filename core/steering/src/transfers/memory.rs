//! What another controller knew of its transfers, remembered until their streams are found in switches.

use std::collections::BTreeMap;
use std::net::IpAddr;

use braid_types::{FiveTuple, Time, Token};
use smallvec::SmallVec;

use super::{Full, Transfers};
use crate::facts::{ConnectionsFact, KnownTransfer, StreamFact, TransferFact};
use crate::ids::{StreamId, TransferId};
use crate::stream::{Opening, TransferKind};

/// Transfers under the numbers of the other controller.
#[derive(Debug, Default)]
pub(super) struct Memory {
    transfers: BTreeMap<TransferId, Remembered>,
    streams: BTreeMap<FiveTuple, (TransferId, StreamFact)>,
    by_token: BTreeMap<Token, SmallVec<[TransferId; 1]>>,
    /// What plain connections of transfers have in common.
    plain: BTreeMap<FiveTuple, Opening>,
}

#[derive(Debug)]
struct Remembered {
    token: Option<Token>,
    opener_token: Option<Token>,
    tuples: Vec<FiveTuple>,
    /// Its number here, once one of its streams is known.
    own: Option<TransferId>,
}

impl Memory {
    fn add(&mut self, known: KnownTransfer) {
        let fact = match known {
            KnownTransfer::Mptcp(fact) => fact,
            KnownTransfer::Plain(ConnectionsFact { opening, tuples, .. }) => {
                return self.plain.extend(tuples.into_iter().map(|tuple| (tuple, opening)));
            }
        };
        let TransferFact { id, token, opener_token, streams } = fact;
        for token in token.iter().chain(&opener_token) {
            self.by_token.entry(*token).or_default().push(id);
        }
        let tuples = streams.iter().map(|stream| stream.tuple).collect();
        self.streams.extend(streams.into_iter().map(|stream| (stream.tuple, (id, stream))));
        self.transfers.insert(id, Remembered { token, opener_token, tuples, own: None });
    }

    /// The token of a connection that was not known yet.
    pub(super) fn learn_token(&mut self, tuple: &FiveTuple, token: Token) {
        let Some((id, _)) = self.streams.get(tuple) else { return };
        let known = self.transfers.get_mut(id).filter(|transfer| transfer.token.is_none());
        if let Some(transfer) = known {
            transfer.token = Some(token);
            self.by_token.entry(token).or_default().push(*id);
        }
    }

    /// The transfer that a subflow joins, by the same rules as for transfers that are known.
    fn joined(&self, token: Token, tuple: &FiveTuple) -> Option<TransferId> {
        let candidates = self.by_token.get(&token)?;
        let shares = |ours: fn(&FiveTuple) -> IpAddr| {
            let uses = |id: &TransferId| {
                let tuples = self.transfers.get(id).into_iter().flat_map(|it| &it.tuples);
                tuples.into_iter().any(|known| ours(known) == ours(tuple))
            };
            candidates.iter().copied().find(uses)
        };
        let lone = || candidates.first().copied().filter(|_| candidates.len() == 1);
        shares(|tuple| tuple.dst).or_else(|| shares(|tuple| tuple.src)).or_else(lone)
    }
}

impl Transfers {
    /// Remembers what another controller knew of its transfers, in the place of what was remembered before.
    ///
    /// It opens no stream: those that switches have are [restored](Self::restore) in the transfers that they had, and
    /// subflows that join find these.
    pub fn remember(&mut self, facts: impl IntoIterator<Item = KnownTransfer>) {
        self.memory = Memory::default();
        facts.into_iter().for_each(|fact| self.memory.add(fact));
    }

    /// Restores a stream that is remembered; `None` if it is not.
    pub(super) fn recall(&mut self, now: Time, id: StreamId, tuple: FiveTuple) -> Option<Result<(), Full>> {
        if let Some(opening) = self.memory.plain.remove(&tuple) {
            let transfer = self.of_plain(now, opening);
            let opened = self.open_stream(now, id, tuple, opening, transfer);
            return Some(opened.map(|_| self.skip_streams(id)));
        }
        let (other, StreamFact { opening, established, .. }) = self.memory.streams.remove(&tuple)?;
        let transfer = self.recalled(now, other)?;
        let opened = self.open_stream(now, id, tuple, opening, transfer);
        if opened.is_ok() && established {
            self.establish(id);
        }
        Some(opened.map(|_| self.skip_streams(id)))
    }

    /// The transfer of a plain connection, which may be a new one.
    fn of_plain(&mut self, now: Time, opening: Opening) -> TransferId {
        let known = match opening {
            Opening::Parallel(group) => self.by_group.get(&group).copied(),
            _ => None,
        };
        known.unwrap_or_else(|| self.open_transfer(now, opening))
    }

    /// The remembered transfer that a subflow joins, under its number here.
    pub(super) fn recall_join(&mut self, now: Time, token: Token, tuple: &FiveTuple) -> Option<TransferId> {
        let other = self.memory.joined(token, tuple)?;
        self.recalled(now, other)
    }

    /// The number here of a remembered transfer that has room for one more stream.
    fn recalled(&mut self, now: Time, other: TransferId) -> Option<TransferId> {
        let Remembered { token, opener_token, own, ref tuples } = *self.memory.transfers.get(&other)?;
        let has_room = |id: &TransferId| {
            let known = self.transfers.get(*id).filter(|it| it.kind == TransferKind::Mptcp);
            known.is_some_and(|transfer| transfer.streams.len() < self.limits.streams_per_transfer)
        };
        // A controller that leads again knows some of its streams.
        let sibling = || tuples.iter().find_map(|tuple| self.by_tuple(tuple)).map(|stream| stream.transfer);
        let known = own.filter(has_room).or_else(|| sibling().filter(has_room));
        let id = known.unwrap_or_else(|| self.open_transfer(now, Opening::Unseen));
        self.set_tokens(id, token, opener_token);
        if let Some(remembered) = self.memory.transfers.get_mut(&other) {
            remembered.own = Some(id);
        }
        Some(id)
    }

    /// Sets the tokens of a transfer that are not known.
    fn set_tokens(&mut self, id: TransferId, token: Option<Token>, opener_token: Option<Token>) {
        let Some(transfer) = self.transfers.get_mut(id) else { return };
        let new = token.filter(|_| transfer.token.is_none());
        let new_opener = opener_token.filter(|_| transfer.opener_token.is_none());
        transfer.token = transfer.token.or(new);
        transfer.opener_token = transfer.opener_token.or(new_opener);
        for token in new.into_iter().chain(new_opener) {
            self.by_token.entry(token).or_default().push(id);
        }
    }
}
