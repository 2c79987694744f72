//! Streams by their addresses and ports. The tables hold only numbers, as the streams have the rest: they stay small
//! enough for the processor's cache.

use braid_types::{FiveTuple, Numbered, hash_of};
use hashbrown::HashTable;
use smallvec::SmallVec;

use crate::ids::{StreamId, TransferId};
use crate::stream::Stream;

type Streams = Numbered<StreamId, Stream>;

/// The streams of connections. Each tuple is there once.
#[derive(Debug, Default)]
pub(super) struct ByTuple(HashTable<StreamId>);

impl ByTuple {
    pub(super) fn get<'a>(&self, streams: &'a Streams, tuple: &FiveTuple) -> Option<&'a Stream> {
        let candidates = self.0.iter_hash(hash_of(tuple)).filter_map(|id| streams.get(*id));
        { candidates }.find(|stream| stream.tuple == *tuple)
    }

    pub(super) fn insert(&mut self, streams: &Streams, id: StreamId, tuple: &FiveTuple) {
        self.0.insert_unique(hash_of(tuple), id, rehash(streams, hash_of));
    }

    pub(super) fn remove(&mut self, id: StreamId, tuple: &FiveTuple) {
        remove(&mut self.0, hash_of(tuple), id);
    }
}

/// The first subflows of MPTCP connections by the address and port from which they were opened, for subflows that the
/// other host opens.
///
/// No socket listens there, so a SYN to such an end can only be a subflow that the answering host opens.
#[derive(Debug, Default)]
pub(super) struct ByOpener(HashTable<StreamId>);

impl ByOpener {
    /// Adds the first subflow of a connection.
    pub(super) fn insert(&mut self, streams: &Streams, id: StreamId, first: &FiveTuple) {
        self.0.insert_unique(hash_of_opener(first), id, rehash(streams, hash_of_opener));
    }

    /// Removes the first subflow of a connection.
    pub(super) fn remove(&mut self, id: StreamId, first: &FiveTuple) {
        remove(&mut self.0, hash_of_opener(first), id);
    }

    /// The transfer whose opening end `subflow` addresses; of several, the oldest whose answering host is the sender.
    pub(super) fn called(&self, streams: &Streams, subflow: &FiveTuple) -> Option<TransferId> {
        let back = subflow.reversed();
        let candidates = self.0.iter_hash(hash_of_opener(&back)).filter_map(|id| streams.get(*id));
        let at_end = |it: &&Stream| (it.tuple.src, it.tuple.src_port) == (back.src, back.src_port);
        let known: SmallVec<[&Stream; 1]> = candidates.filter(at_end).collect();
        let answered = known.iter().filter(|first| first.tuple.dst == back.dst).min_by_key(|first| first.id);
        answered.or_else(|| known.first().filter(|_| known.len() == 1)).map(|first| first.transfer)
    }
}

fn hash_of_opener(first: &FiveTuple) -> u64 {
    hash_of(&(first.src, first.src_port))
}

/// The hash of a stream in a table that grows.
fn rehash(streams: &Streams, hash: impl Fn(&FiveTuple) -> u64) -> impl Fn(&StreamId) -> u64 {
    move |id| streams.get(*id).map(|stream| hash(&stream.tuple)).unwrap_or_default()
}

fn remove(table: &mut HashTable<StreamId>, hash: u64, id: StreamId) {
    if let Ok(entry) = table.find_entry(hash, |known| *known == id) {
        entry.remove();
    }
}
