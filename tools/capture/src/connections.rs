//! The connections of a capture, each direction separately.

use std::cmp::Ordering;
use std::collections::BTreeMap;
use std::net::SocketAddr;

use super::framing::{Framing, Item};
use super::reassembly::{Piece, Reassembly};
use super::segment::Segment;
use crate::{Place, Timestamp};

/// The receiver of a connection's items.
type Take<'a, E> = dyn FnMut(&Place, Item) -> Result<(), E> + 'a;

/// Both directions of every connection.
#[derive(Default)]
pub(super) struct Connections(BTreeMap<Direction, Stream>);

/// One direction of a connection.
#[derive(Clone, Copy)]
struct Direction {
    src: SocketAddr,
    dst: SocketAddr,
}

impl Ord for Direction {
    fn cmp(&self, other: &Self) -> Ordering {
        #[cfg(test)]
        tests::count();
        (self.src, self.dst).cmp(&(other.src, other.dst))
    }
}

impl PartialOrd for Direction {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Direction {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for Direction {}

/// The bytes of one direction.
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
        let key = Direction { src: segment.src, dst: segment.dst };
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
    fn open<E>(&mut self, key: Direction, start: u32, take: &mut Take<'_, E>) -> Result<(), E> {
        if self.0.get(&key).is_some_and(|stream| stream.order.start() == start) {
            return Ok(());
        }
        let former = self.0.insert(key, Stream::new(start, Framing::from_the_start()));
        former.map_or(Ok(()), |stream| stream.finish(key, take))
    }

    fn acknowledge<E>(&mut self, segment: &Segment<'_>, take: &mut Take<'_, E>) -> Result<(), E> {
        let key = Direction { src: segment.dst, dst: segment.src };
        let (Some(ack), Some(stream)) = (segment.ack, self.0.get_mut(&key)) else { return Ok(()) };
        stream.order.acknowledge(ack);
        stream.drain(key, take)
    }
}

impl Stream {
    const fn new(start: u32, framing: Framing) -> Self {
        Self { order: Reassembly::new(start), framing, time: None }
    }

    fn finish<E>(mut self, key: Direction, take: &mut Take<'_, E>) -> Result<(), E> {
        self.order.finish();
        self.drain(key, take)?;
        self.framing.finish();
        self.pass_on(key, take)
    }

    fn drain<E>(&mut self, key: Direction, take: &mut Take<'_, E>) -> Result<(), E> {
        #[cfg(test)]
        tests::count();
        while let Some(piece) = self.order.poll() {
            match piece {
                Piece::Bytes(bytes) => self.framing.receive(&bytes),
                Piece::Missing(count) => self.framing.miss(count),
            }
            self.pass_on(key, take)?;
        }
        Ok(())
    }

    fn pass_on<E>(&mut self, Direction { src, dst }: Direction, take: &mut Take<'_, E>) -> Result<(), E> {
        let place = Place { time: self.time, src, dst };
        std::iter::from_fn(|| self.framing.poll()).try_for_each(|item| take(&place, item))
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;
    use std::convert::Infallible;

    use super::*;

    const HELLO: [u8; 8] = [4, 0, 0, 8, 0, 0, 0, 1];

    thread_local! {
        static WORK: Cell<u64> = const { Cell::new(0) };
    }

    /// Counts a step: a comparison of directions, or a look at a stream.
    pub(super) fn count() {
        WORK.set(WORK.get() + 1);
    }

    /// The segments of a connection that says HELLO: SYN, payload, acknowledgement of it, FIN.
    fn connection(number: u32) -> [Segment<'static>; 4] {
        let src = SocketAddr::from(([10, 0, (number >> 8) as u8, number as u8], 40_000));
        let there = Segment {
            src,
            dst: ([10, 1, 0, 1], 6_653).into(),
            seq: 7,
            ack: None,
            syn: true,
            fin: false,
            payload: &[],
        };
        let data = Segment { seq: 8, syn: false, payload: &HELLO, ..there };
        let ack = Segment { src: there.dst, dst: src, seq: 1, ack: Some(16), syn: false, ..there };
        [there, data, ack, Segment { seq: 16, syn: false, fin: true, ..there }]
    }

    /// The steps for so many connections that are open at once, by segment.
    fn steps(connections: u32) -> u64 {
        let (mut all, mut found) = (Connections::default(), 0);
        WORK.set(0);
        let mut take = |_: &Place, _| {
            found += 1;
            Ok::<_, Infallible>(())
        };
        let streams: Vec<_> = (0..connections).map(connection).collect();
        for step in 0..4 {
            for segments in &streams {
                all.receive(&segments[step], None, &mut take).unwrap();
            }
        }
        all.finish(&mut take).unwrap();
        assert_eq!(found, connections);
        WORK.get() / (4 * u64::from(connections))
    }

    #[test]
    fn a_segment_takes_hardly_more_steps_beside_sixteen_thousand_connections() {
        let (few, many) = (steps(16), steps(16_000));
        assert!(many <= 10 * few, "{few} steps beside 16, {many} beside 16,000");
    }
}
