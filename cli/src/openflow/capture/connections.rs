use std::collections::BTreeMap;
use std::io::{self, Write};
use std::net::SocketAddr;

use super::framing::{Framing, Item};
use super::reassembly::{Piece, Reassembly};
use super::segment::Segment;
use crate::openflow::{Place, Printer, Timestamp};

/// Both directions of every connection, each by its sender and receiver.
#[derive(Default)]
pub(super) struct Connections(BTreeMap<(SocketAddr, SocketAddr), Stream>);

/// One direction of a connection.
struct Stream {
    order: Reassembly,
    framing: Framing,
    /// When its last segment was captured.
    time: Option<Timestamp>,
}

impl Connections {
    /// Takes in a segment and prints what it completes.
    pub(super) fn receive<W: Write>(
        &mut self,
        segment: &Segment<'_>,
        time: Option<Timestamp>,
        printer: &mut Printer<W>,
    ) -> io::Result<()> {
        self.acknowledge(segment, printer)?;
        let key = (segment.src, segment.dst);
        if segment.syn {
            self.open(key, segment.seq.wrapping_add(1), printer)?;
        } else if segment.payload.is_empty() && !self.0.contains_key(&key) {
            return Ok(());
        }
        // The SYN takes a sequence number, after which its payload comes.
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
        stream.drain(key, printer)
    }

    /// Prints what can only be told at the end.
    pub(super) fn finish<W: Write>(&mut self, printer: &mut Printer<W>) -> io::Result<()> {
        std::mem::take(&mut self.0).into_iter().try_for_each(|(key, stream)| stream.finish(key, printer))
    }

    /// Begins a stream, unless the SYN is a retransmission.
    fn open<W: Write>(
        &mut self,
        key: (SocketAddr, SocketAddr),
        start: u32,
        printer: &mut Printer<W>,
    ) -> io::Result<()> {
        if self.0.get(&key).is_some_and(|stream| stream.order.start() == start) {
            return Ok(());
        }
        let former = self.0.insert(key, Stream::new(start, Framing::from_the_start()));
        former.map_or(Ok(()), |stream| stream.finish(key, printer))
    }

    fn acknowledge<W: Write>(&mut self, segment: &Segment<'_>, printer: &mut Printer<W>) -> io::Result<()> {
        let key = (segment.dst, segment.src);
        let (Some(ack), Some(stream)) = (segment.ack, self.0.get_mut(&key)) else { return Ok(()) };
        stream.order.acknowledge(ack);
        stream.drain(key, printer)
    }
}

impl Stream {
    const fn new(start: u32, framing: Framing) -> Self {
        Self { order: Reassembly::new(start), framing, time: None }
    }

    fn finish<W: Write>(mut self, key: (SocketAddr, SocketAddr), printer: &mut Printer<W>) -> io::Result<()> {
        self.order.finish();
        self.drain(key, printer)?;
        self.framing.finish();
        self.print(key, printer)
    }

    fn drain<W: Write>(&mut self, key: (SocketAddr, SocketAddr), printer: &mut Printer<W>) -> io::Result<()> {
        while let Some(piece) = self.order.poll() {
            match piece {
                Piece::Bytes(bytes) => self.framing.receive(&bytes),
                Piece::Missing(count) => self.framing.miss(count),
            }
            self.print(key, printer)?;
        }
        Ok(())
    }

    fn print<W: Write>(
        &mut self,
        (src, dst): (SocketAddr, SocketAddr),
        printer: &mut Printer<W>,
    ) -> io::Result<()> {
        let place = Place { time: self.time, src, dst };
        while let Some(item) = self.framing.poll() {
            match item {
                Item::Message { offset, bytes } => printer.message(Some(&place), offset, &bytes)?,
                Item::Lost { offset, bytes, reason } => printer.lost(&place, offset, &bytes, reason)?,
                Item::Skipped { offset, count, why } => printer.note(&place, offset, why, count)?,
            }
        }
        Ok(())
    }
}
