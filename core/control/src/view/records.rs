//! Transfers as they are copied: quickly, as there may be a hundred thousand, and to be made readable elsewhere.

use braid_paths::Path;
use braid_steering::{Count, Stream, StreamId, Transfer, TransferId, TransferKind, Transfers};
use braid_types::{BitsPerSec, FiveTuple, Time};
use smallvec::SmallVec;

use super::{StreamView, TransferView};
use crate::spray::{Spray, SprayPathView, StreamBundles};

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
    spray_paths: Vec<SprayPathView>,
    bytes: [u64; 2],
    rates: [BitsPerSec; 2],
}

impl TransferRecord {
    /// A transfer with its streams that are established; `None` if none is.
    pub(crate) fn new(streams: &Transfers, spray: &Spray, transfer: &Transfer) -> Option<Self> {
        let Transfer { id, kind, opened_at, .. } = *transfer;
        let all = transfer.streams.iter().filter_map(|id| streams.stream(*id));
        let established = all.filter(|stream| stream.established);
        let streams: SmallVec<[StreamRecord; 1]> = established
            .map(|stream| {
                StreamRecord::new(
                    stream,
                    spray.stream(stream.id).map(StreamBundles::view).unwrap_or_default(),
                )
            })
            .collect();
        (!streams.is_empty()).then_some(Self { id, kind, opened_at, streams })
    }

    /// The transfer as API clients and people see it.
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

impl StreamRecord {
    fn new(stream: &Stream, spray_paths: Vec<SprayPathView>) -> Self {
        let Stream { id, tuple, bytes, rates, .. } = *stream;
        let path = stream.route.as_ref().map(|route| route.forward.clone());
        Self { id, tuple, path, spray_paths, bytes, rates }
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
            spray_paths: self.spray_paths.clone(),
            bytes_sent,
            bytes_received,
            sent_bps,
            received_bps,
        }
    }
}
