//! Transfers as they are copied: quickly, as there may be a hundred thousand, and to be made readable elsewhere.

use braid_paths::Path;
use braid_steering::{Changed, Count, Stream, StreamId, Transfer, TransferId, TransferKind};
use braid_types::{BitsPerSec, FiveTuple, Time};
use serde::{Serialize, Serializer};
use smallvec::SmallVec;

use super::Brain;
use super::view::{StreamView, TransferView};
use crate::spray::SprayView;

/// A transfer at one moment. It shares its paths with the brain, so that taking it costs some 100 ns.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct TransferRecord {
    /// Its number.
    pub id: TransferId,
    kind: TransferKind,
    opened_at: Time,
    streams: SmallVec<[StreamRecord; 1]>,
}

/// A stream of a transfer at one moment.
#[derive(Clone, PartialEq, Eq, Debug)]
struct StreamRecord {
    id: StreamId,
    tuple: FiveTuple,
    path: Option<Path>,
    sprayed: Vec<SprayView>,
    bytes: [u64; 2],
    rates: [BitsPerSec; 2],
}

impl TransferRecord {
    /// The transfer as programs and people see it.
    pub fn view(&self) -> TransferView {
        let streams = self.streams.iter().map(StreamRecord::view).collect();
        TransferView { id: self.id, kind: self.kind, opened_at: self.opened_at, streams }
    }

    /// Takes over what was counted of one of its streams; whether it has that stream.
    pub fn count(&mut self, count: &Count) -> bool {
        let stream = self.streams.iter_mut().find(|stream| stream.id == count.stream);
        let Some(stream) = stream else { return false };
        let at = usize::from(count.reverse);
        (stream.bytes[at], stream.rates[at]) = (count.bytes, count.rate);
        true
    }
}

impl Serialize for TransferRecord {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.view().serialize(serializer)
    }
}

impl StreamRecord {
    fn new(stream: &Stream, sprayed: Vec<SprayView>) -> Self {
        let Stream { id, tuple, bytes, rates, .. } = *stream;
        let path = stream.route.as_ref().map(|route| route.forward.clone());
        Self { id, tuple, path, sprayed, bytes, rates }
    }

    fn view(&self) -> StreamView {
        let FiveTuple { src, dst, src_port, dst_port } = self.tuple;
        let [bytes_sent, bytes_received] = self.bytes;
        let [sent_bps, received_bps] = self.rates.map(|rate| rate.0);
        let path = self.path.iter();
        StreamView {
            id: self.id,
            src,
            dst,
            src_port,
            dst_port,
            path: path.clone().flat_map(Path::switches).collect(),
            ports: path.flat_map(Path::links).map(|link| link.src).collect(),
            sprayed: self.sprayed.clone(),
            bytes_sent,
            bytes_received,
            sent_bps,
            received_bps,
        }
    }
}

impl Brain {
    /// The transfers in progress, oldest first. O(n log n).
    pub fn transfers(&self) -> Vec<TransferView> {
        self.streams
            .table()
            .transfers()
            .filter_map(|transfer| self.record(transfer))
            .map(|it| it.view())
            .collect()
    }

    /// What brings a copy of all transfers up to date; those that are to be visited by [`copy_transfer`](Self::copy_transfer).
    ///
    /// Neither changes anything that the brain decides by.
    pub fn take_transfer_changes(&mut self) -> Changed {
        self.streams.table_mut().take_changes()
    }

    /// The transfer as it is now, if a stream of it is established. When it changes after this, it is among the changes again.
    pub fn copy_transfer(&mut self, id: TransferId) -> Option<TransferRecord> {
        self.streams.table_mut().visit(id)?;
        self.streams.table().transfer(id).and_then(|transfer| self.record(transfer))
    }

    /// A transfer with its streams that are established; `None` if none is.
    fn record(&self, transfer: &Transfer) -> Option<TransferRecord> {
        let Transfer { id, kind, opened_at, .. } = *transfer;
        let streams = transfer.streams.iter().filter_map(|id| self.streams.table().stream(*id));
        let streams = streams.filter(|stream| stream.established);
        let streams: SmallVec<[StreamRecord; 1]> =
            streams.map(|stream| StreamRecord::new(stream, self.spray.view(stream.id))).collect();
        (!streams.is_empty()).then_some(TransferRecord { id, kind, opened_at, streams })
    }
}
