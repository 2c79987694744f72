//! Streams by their addresses and ports.

use braid_types::{FiveTuple, Numbered, hash_of};
use hashbrown::HashTable;
use smallvec::SmallVec;

use crate::ids::{StreamId, TransferId};
use crate::stream::Stream;

type Streams = Numbered<StreamId, Stream>;

/// Streams by the hash of a key that the streams themselves have.
///
/// An entry has no key, so it is small, and the whole hash, so a table that grows reads no stream.
#[derive(Debug, Default)]
struct ByHash(HashTable<(u64, StreamId)>);

impl ByHash {
    fn insert(&mut self, hash: u64, id: StreamId) {
        self.0.insert_unique(hash, (hash, id), |(hash, _)| *hash);
    }

    fn remove(&mut self, hash: u64, id: StreamId) {
        if let Ok(entry) = self.0.find_entry(hash, |(_, known)| *known == id) {
            entry.remove();
        }
    }

    fn candidates<'a>(&self, streams: &'a Streams, hash: u64) -> impl Iterator<Item = &'a Stream> {
        let alike = self.0.iter_hash(hash).filter(move |(known, _)| *known == hash);
        alike.filter_map(|(_, id)| streams.get(*id))
    }
}

/// The streams of connections. Each tuple is there once.
#[derive(Debug, Default)]
pub(super) struct ByTuple(ByHash);

impl ByTuple {
    pub(super) fn get<'a>(&self, streams: &'a Streams, tuple: &FiveTuple) -> Option<&'a Stream> {
        self.0.candidates(streams, hash_of(tuple)).find(|stream| stream.tuple == *tuple)
    }

    pub(super) fn insert(&mut self, id: StreamId, tuple: &FiveTuple) {
        self.0.insert(hash_of(tuple), id);
    }

    pub(super) fn remove(&mut self, id: StreamId, tuple: &FiveTuple) {
        self.0.remove(hash_of(tuple), id);
    }
}

/// The first subflows of MPTCP connections by the address and port from which they were opened, for subflows that the
/// other host opens.
///
/// No socket listens there, so a SYN to such an end can only be a subflow that the answering host opens.
#[derive(Debug, Default)]
pub(super) struct ByOpener(ByHash);

impl ByOpener {
    /// Adds the first subflow of a connection.
    pub(super) fn insert(&mut self, id: StreamId, first: &FiveTuple) {
        self.0.insert(hash_of_opener(first), id);
    }

    /// Removes the first subflow of a connection.
    pub(super) fn remove(&mut self, id: StreamId, first: &FiveTuple) {
        self.0.remove(hash_of_opener(first), id);
    }

    /// The transfer whose opening end `subflow` addresses; of several, the oldest whose answering host is the sender.
    pub(super) fn called(&self, streams: &Streams, subflow: &FiveTuple) -> Option<TransferId> {
        let back = subflow.reversed();
        let candidates = self.0.candidates(streams, hash_of_opener(&back));
        let at_end = |it: &&Stream| (it.tuple.src, it.tuple.src_port) == (back.src, back.src_port);
        let known: SmallVec<[&Stream; 1]> = candidates.filter(at_end).collect();
        let answered = known.iter().filter(|first| first.tuple.dst == back.dst).min_by_key(|first| first.id);
        answered.or_else(|| known.first().filter(|_| known.len() == 1)).map(|first| first.transfer)
    }
}

fn hash_of_opener(first: &FiveTuple) -> u64 {
    hash_of(&(first.src, first.src_port))
}
