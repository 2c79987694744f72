//! The table of all transfers and their streams, with limits and rates.

mod journal;
mod lookup;
mod memory;
mod tokens;
mod unrouted;

use std::collections::BTreeMap;
use std::net::IpAddr;
use std::time::Duration;

use braid_types::{BitsPerSec, FiveTuple, Index, Numbered, Time, Token};
use smallvec::SmallVec;

use crate::changes::{Changed, Changes};
use crate::ids::{StreamId, TransferId};
use crate::stream::{Group, Opening, Route, Stream, Transfer, TransferKind};
use journal::Journal;
use lookup::{ByOpener, ByTuple};
use memory::Memory;
use unrouted::Unrouted;

/// Limits of the table.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Limits {
    /// The total number of streams.
    pub streams: usize,
    /// Streams of one transfer.
    pub streams_per_transfer: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self { streams: 100_000, streams_per_transfer: 64 }
    }
}

/// Rates over a shorter interval are noise.
const LEAST_INTERVAL: Duration = Duration::from_millis(100);

/// A stream was not added because a limit is reached.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
#[error("{limit} {what} are known, which is the limit")]
pub struct Full {
    /// The limited quantity.
    pub what: &'static str,
    /// The limit.
    pub limit: usize,
}

/// The result of a stream's end.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Ended {
    /// The stream as it was.
    pub stream: Stream,
    /// Whether it was the last of its transfer.
    pub transfer_ended: bool,
}

/// The transfers in progress and their streams.
///
/// Invariant: every stream's transfer exists and lists it, no transfer is without streams, and `unrouted` holds the
/// streams whose route is `None`.
#[derive(Debug, Default)]
pub struct Transfers {
    limits: Limits,
    transfers: Numbered<TransferId, Transfer>,
    streams: Numbered<StreamId, Stream>,
    /// The streams that have no route.
    unrouted: Unrouted,
    by_tuple: ByTuple,
    // Two hosts may choose the same token, so a token only names candidates.
    by_token: Index<Token, SmallVec<[TransferId; 1]>>,
    by_opener: ByOpener,
    by_group: BTreeMap<Group, TransferId>,
    /// The transfers of reconciled streams, by the addresses of both hosts.
    restored: BTreeMap<(IpAddr, IpAddr), TransferId>,
    last_transfer: u64,
    last_stream: u64,
    changes: Changes,
    /// What other controllers are to be told.
    journal: Journal,
    /// What another controller has told this one.
    memory: Memory,
}

impl Transfers {
    /// An empty table.
    pub fn new(limits: Limits) -> Self {
        Self { limits, ..Self::default() }
    }

    /// The transfers, oldest first. O(n log n).
    pub fn transfers(&self) -> impl Iterator<Item = &Transfer> {
        self.transfers.iter()
    }

    /// The changes that bring a copy of all transfers up to date; O(1) except for the first time.
    pub fn take_changes(&mut self) -> Changed {
        let all = || Changed::All(self.transfers.iter().map(|transfer| transfer.id).collect());
        self.changes.take().unwrap_or_else(all)
    }

    /// A transfer by its number, for a copy. A later change makes it one of the changes again.
    pub fn visit(&mut self, id: TransferId) -> Option<&Transfer> {
        let transfer = self.transfers.get_mut(id)?;
        transfer.is_changed = false;
        Some(transfer)
    }

    /// Notes a change of a transfer's data that is shown but kept elsewhere.
    pub fn note_change(&mut self, id: TransferId) {
        if self.changes.is_read()
            && let Some(transfer) = self.transfers.get_mut(id)
        {
            self.changes.note(transfer);
        }
    }

    /// The number of transfers.
    pub fn transfer_count(&self) -> usize {
        self.transfers.len()
    }

    /// The streams, oldest first. O(n log n).
    pub fn streams(&self) -> impl Iterator<Item = &Stream> {
        self.streams.iter()
    }

    /// The streams without a route, oldest first.
    pub fn unrouted(&self) -> impl Iterator<Item = &Stream> {
        self.unrouted.iter().filter_map(|id| self.streams.get(id))
    }

    /// The number of streams.
    pub fn len(&self) -> usize {
        self.streams.len()
    }

    /// Whether there is no stream.
    pub fn is_empty(&self) -> bool {
        self.streams.len() == 0
    }

    /// A transfer by its number.
    pub fn transfer(&self, id: TransferId) -> Option<&Transfer> {
        self.transfers.get(id)
    }

    /// A stream by its number.
    pub fn stream(&self, id: StreamId) -> Option<&Stream> {
        self.streams.get(id)
    }

    /// The stream of a connection, as seen from the opening host.
    pub fn by_tuple(&self, tuple: &FiveTuple) -> Option<&Stream> {
        self.by_tuple.get(&self.streams, tuple)
    }

    /// The streams of the transfer of `stream`, without `stream` itself.
    pub fn siblings<'a>(&'a self, stream: &'a Stream) -> impl Iterator<Item = &'a Stream> {
        let ids = self.transfers.get(stream.transfer).map(|transfer| &transfer.streams[..]);
        let others = ids.unwrap_or_default().iter().filter(move |id| **id != stream.id);
        others.filter_map(|id| self.streams.get(*id))
    }

    /// Adds the stream that a SYN opens, to its transfer or to a new one.
    ///
    /// `tuple` must not be known yet. Errors: a limit is reached; nothing is changed.
    pub fn open(&mut self, now: Time, tuple: FiveTuple, opening: Opening) -> Result<StreamId, Full> {
        self.check_room()?;
        let known = match opening {
            Opening::Capable | Opening::Sprayed | Opening::Unseen | Opening::Advised => None,
            Opening::Join(token) => {
                let known = self.joined(token, &tuple).or_else(|| self.called(token, &tuple));
                known.or_else(|| self.recall_join(now, token, &tuple))
            }
            Opening::Parallel(group) => self.by_group.get(&group).copied(),
        };
        let transfer = match known {
            Some(id) => id,
            None => self.open_transfer(now, opening),
        };
        let id = self.open_stream(now, StreamId(self.last_stream + 1), tuple, opening, transfer)?;
        self.last_stream = id.0;
        Ok(id)
    }

    /// Adds a stream of a transfer that a host is advised to open.
    ///
    /// `tuple` must not be known yet. Errors: a limit is reached; nothing is changed.
    pub fn expect(&mut self, now: Time, tuple: FiveTuple, transfer: TransferId) -> Result<StreamId, Full> {
        self.check_room()?;
        let id = StreamId(self.last_stream + 1);
        self.open_stream(now, id, tuple, Opening::Advised, transfer)?;
        self.last_stream = id.0;
        Ok(id)
    }

    /// Reconciles a stream that an earlier controller placed, under its old number.
    ///
    /// It joins the transfer that is [remembered](Self::remember). Without one, all reconciled streams from one address to
    /// another count as one transfer. Neither `id` nor `tuple` must be known yet. Errors: a limit is reached; nothing is changed.
    pub fn restore(&mut self, now: Time, id: StreamId, tuple: FiveTuple) -> Result<(), Full> {
        self.check_room()?;
        if let Some(recalled) = self.recall(now, id, tuple) {
            return recalled;
        }
        let limit = self.limits.streams_per_transfer;
        let has_room =
            |id: &TransferId| self.transfers.get(*id).is_some_and(|transfer| transfer.streams.len() < limit);
        let transfer = match self.restored.get(&(tuple.src, tuple.dst)).copied().filter(has_room) {
            Some(known) => known,
            None => self.open_transfer(now, Opening::Unseen),
        };
        self.restored.insert((tuple.src, tuple.dst), transfer);
        self.open_stream(now, id, tuple, Opening::Unseen, transfer)?;
        self.skip_streams(id);
        Ok(())
    }

    /// As [`Self::restore`], for a sprayed stream: it is a transfer by itself.
    pub fn restore_sprayed(&mut self, now: Time, id: StreamId, tuple: FiveTuple) -> Result<(), Full> {
        self.check_room()?;
        let transfer = self.open_transfer(now, Opening::Sprayed);
        self.open_stream(now, id, tuple, Opening::Sprayed, transfer)?;
        self.skip_streams(id);
        Ok(())
    }

    fn check_room(&self) -> Result<(), Full> {
        let Limits { streams: limit, .. } = self.limits;
        if self.streams.len() < limit { Ok(()) } else { Err(Full { what: "streams", limit }) }
    }

    /// Reserves numbers up to `id`: new streams do not get them.
    pub fn skip_streams(&mut self, id: StreamId) {
        self.last_stream = self.last_stream.max(id.0);
    }

    /// The number of the newest stream.
    pub const fn last_stream(&self) -> StreamId {
        StreamId(self.last_stream)
    }

    /// Completes the handshake of a stream; returns whether it was incomplete before.
    pub fn establish(&mut self, id: StreamId) -> bool {
        let Some(stream) = self.streams.get_mut(id) else { return false };
        let (is_new, transfer) = (!std::mem::replace(&mut stream.established, true), stream.transfer);
        if is_new {
            self.note_change(transfer);
            self.transfers.get(transfer).into_iter().for_each(|it| self.journal.note(it));
        }
        is_new
    }

    /// Sets the route of a stream.
    pub fn set_route(&mut self, id: StreamId, route: Option<Route>) {
        let Some(stream) = self.streams.get_mut(id) else { return };
        if route.is_some() {
            self.unrouted.remove(id);
        } else {
            self.unrouted.insert(id);
        }
        stream.route = route;
        let transfer = stream.transfer;
        self.note_change(transfer);
    }

    /// The active transfer of a group, if there is one.
    pub fn of_group(&self, group: Group) -> Option<&Transfer> {
        self.transfers.get(*self.by_group.get(&group)?)
    }

    /// Sets the counters of one direction of a stream, as read at `now`.
    pub fn set_bytes(&mut self, now: Time, id: StreamId, reverse: bool, bytes: u64) {
        let streams = self.streams.len();
        let Some(stream) = self.streams.get_mut(id) else { return };
        let at = usize::from(reverse);
        let shown = (stream.bytes[at], stream.rates[at]);
        stream.bytes[at] = bytes;
        let (since, before) = stream.counted[at];
        let elapsed = now.since(since);
        if elapsed >= LEAST_INTERVAL {
            let bits = bytes.saturating_sub(before) as f64 * 8.0;
            stream.rates[at] = BitsPerSec((bits / elapsed.as_secs_f64()) as u64);
            stream.counted[at] = (now, bytes);
        }
        if shown != (bytes, stream.rates[at]) {
            self.changes.note_count(stream, reverse, streams);
        }
    }

    /// Removes a stream, and its transfer with the last one.
    pub fn end(&mut self, id: StreamId) -> Option<Ended> {
        let stream = self.streams.remove(id)?;
        if stream.route.is_none() {
            self.unrouted.remove(id);
        }
        self.by_tuple.remove(id, &stream.tuple);
        if stream.opening == Opening::Capable {
            self.by_opener.remove(id, &stream.tuple);
        }
        let transfer_ended = self.leave(&stream);
        Some(Ended { stream, transfer_ended })
    }

    fn open_transfer(&mut self, now: Time, opening: Opening) -> TransferId {
        self.last_transfer += 1;
        let id = TransferId(self.last_transfer);
        let token = match opening {
            Opening::Capable
            | Opening::Sprayed
            | Opening::Unseen
            | Opening::Advised
            | Opening::Parallel(_) => None,
            // The opening of the connection was not seen; its joins still find each other.
            Opening::Join(token) => Some(token),
        };
        if let Some(token) = token {
            self.by_token.entry(token).or_default().push(id);
        }
        let (kind, group) = match opening {
            Opening::Parallel(group) => (TransferKind::Parallel, Some(group)),
            Opening::Sprayed => (TransferKind::Spray, None),
            _ => (TransferKind::Mptcp, None),
        };
        if let Some(group) = group {
            self.by_group.insert(group, id);
        }
        let streams = SmallVec::new();
        let (opened_at, opener_token, is_changed, is_told) = (now, None, false, false);
        let transfer =
            Transfer { id, kind, token, opener_token, group, opened_at, streams, is_changed, is_told };
        self.transfers.insert(id, transfer);
        id
    }

    fn open_stream(
        &mut self,
        now: Time,
        id: StreamId,
        tuple: FiveTuple,
        opening: Opening,
        transfer: TransferId,
    ) -> Result<StreamId, Full> {
        let limit = self.limits.streams_per_transfer;
        let Some(owner) = self.transfers.get_mut(transfer).filter(|owner| owner.streams.len() < limit) else {
            return Err(Full { what: "streams of one transfer", limit });
        };
        owner.streams.push(id);
        self.changes.note(owner);
        self.journal.note(owner);
        self.by_tuple.insert(id, &tuple);
        if opening == Opening::Capable {
            self.by_opener.insert(id, &tuple);
        }
        self.unrouted.insert(id);
        let (route, bytes, rates, counted) = (None, [0; 2], [BitsPerSec(0); 2], [(now, 0); 2]);
        let (opened_at, established) = (now, !opening.awaits_answer());
        let stream =
            Stream { id, transfer, tuple, opening, established, route, opened_at, bytes, rates, counted };
        self.streams.insert(id, stream);
        Ok(id)
    }

    fn leave(&mut self, stream: &Stream) -> bool {
        let Some(transfer) = self.transfers.get_mut(stream.transfer) else { return false };
        transfer.streams.retain(|id| *id != stream.id);
        if !transfer.streams.is_empty() {
            self.journal.note(transfer);
            self.changes.note(transfer);
            return false;
        }
        self.journal.note_end(transfer);
        self.changes.note_end(transfer);
        let (tokens, group) = ([transfer.token, transfer.opener_token], transfer.group);
        self.transfers.remove(stream.transfer);
        if let Some(group) = group {
            self.by_group.remove(&group);
        }
        let ends = (stream.tuple.src, stream.tuple.dst);
        if self.restored.get(&ends) == Some(&stream.transfer) {
            self.restored.remove(&ends);
        }
        for token in tokens.into_iter().flatten() {
            self.forget_token(token, stream.transfer);
        }
        true
    }
}
