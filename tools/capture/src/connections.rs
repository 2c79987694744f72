//! The connections of a capture, each direction separately.

use std::collections::BTreeMap;
use std::net::SocketAddr;

use super::framing::{Framing, Item};
use super::reassembly::{Piece, Reassembly};
use super::segment::Segment;
use crate::{Place, Timestamp};

/// The receiver of a connection's items.
type Take<'a, E> = dyn FnMut(&Place, Item) -> Result<(), E> + 'a;

/// Both directions of every connection, by sender and receiver.
#[derive(Default)]
pub(super) struct Connections(BTreeMap<(SocketAddr, SocketAddr), Stream>);

/// One direction of a connection.
struct Stream {
    order: Reassembly,
    framing: Framing,
    /// The time of its last segment.
    time: Option<Timestamp>,
}

impl Connections {
    /// Handles a segment and passes on the items that it completes.
    pub(super) fn receive<E>(
        &mut self,
        segment: &Segment<'_>,
        time: Option<Timestamp>,
        take: &mut Take<'_, E>,
    ) -> Result<(), E> {
        self.acknowledge(segment, take)?;
        let key = (segment.src, segment.dst);
        if segment.syn {
            self.open(key, segment.seq.wrapping_add(1), take)?;
        } else if segment.payload.is_empty() && !self.0.contains_key(&key) {
            return Ok(());
        }
        // The SYN occupies one sequence number before its payload.
        let seq = segment.seq.wrapping_add(segment.syn.into());
        let joined = || Stream::new(seq, Framing::from_the_middle());
        let stream = self.0.entry(key).or_insert_with(joined);
        if !segment.payload.is_empty() {
            stream.time = time;
        }
        stream.order.receive(seq, segment.payload);
        if segment.fin {
            stream.order.close(seq.wrapping_add(segment.payload.len() as u32));
        }
        stream.drain(key, take)
    }

    /// Passes on the items that are certain only at the end.
    pub(super) fn finish<E>(&mut self, take: &mut Take<'_, E>) -> Result<(), E> {
        std::mem::take(&mut self.0).into_iter().try_for_each(|(key, stream)| stream.finish(key, take))
    }

    /// Starts a stream, unless the SYN is a retransmission.
    fn open<E>(
        &mut self,
        key: (SocketAddr, SocketAddr),
        start: u32,
        take: &mut Take<'_, E>,
    ) -> Result<(), E> {
        if self.0.get(&key).is_some_and(|stream| stream.order.start() == start) {
            return Ok(());
        }
        let former = self.0.insert(key, Stream::new(start, Framing::from_the_start()));
        former.map_or(Ok(()), |stream| stream.finish(key, take))
    }

    fn acknowledge<E>(&mut self, segment: &Segment<'_>, take: &mut Take<'_, E>) -> Result<(), E> {
        let key = (segment.dst, segment.src);
        let (Some(ack), Some(stream)) = (segment.ack, self.0.get_mut(&key)) else { return Ok(()) };
        stream.order.acknowledge(ack);
        stream.drain(key, take)
    }
}

impl Stream {
    const fn new(start: u32, framing: Framing) -> Self {
        Self { order: Reassembly::new(start), framing, time: None }
    }

    fn finish<E>(mut self, key: (SocketAddr, SocketAddr), take: &mut Take<'_, E>) -> Result<(), E> {
        self.order.finish();
        self.drain(key, take)?;
        self.framing.finish();
        self.pass_on(key, take)
    }

    fn drain<E>(&mut self, key: (SocketAddr, SocketAddr), take: &mut Take<'_, E>) -> Result<(), E> {
        while let Some(piece) = self.order.poll() {
            match piece {
                Piece::Bytes(bytes) => self.framing.receive(&bytes),
                Piece::Missing(count) => self.framing.miss(count),
            }
            self.pass_on(key, take)?;
        }
        Ok(())
    }

    fn pass_on<E>(&mut self, (src, dst): (SocketAddr, SocketAddr), take: &mut Take<'_, E>) -> Result<(), E> {
        let place = Place { time: self.time, src, dst };
        std::iter::from_fn(|| self.framing.poll()).try_for_each(|item| take(&place, item))
    }
}
