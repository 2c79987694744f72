//! TCP streams as they open: which transfer they belong to.

use braid_packet::mptcp::{self, Handshake, MpJoin};
use braid_packet::{Frame, TcpSegment};
use braid_steering::{Group, Opening, SteerAs, StreamId};
use braid_types::{DatapathId, FiveTuple, SwitchPort, Time};

use super::policy::Manner;
use super::streams::is_announced;
use super::{Brain, context};
use crate::command::{Commands, Target};
use crate::fabric::Hops;
use crate::fabric::Replaces;
use crate::notice::Notice;

/// A host opens a connection.
#[derive(Clone, Copy, Debug)]
pub(super) struct Syn<'a> {
    pub(super) tuple: FiveTuple,
    /// The switch to which the packet came, and that of its receiver.
    pub(super) dpid: DatapathId,
    pub(super) dst: DatapathId,
    /// What it says of its transfer; `None` for plain TCP and for options that are malformed.
    opening: Option<Opening>,
    pub(super) bytes: &'a [u8],
}

impl Brain {
    /// A host opens a connection; the packet waits here until its stream has a path.
    pub(super) fn on_syn(
        &mut self,
        now: Time,
        dpid: DatapathId,
        frame: &Frame<'_>,
        bytes: &[u8],
        out: &mut Commands,
    ) {
        self.counters.syns += 1;
        let Some(tuple) = frame.five_tuple() else { return };
        let Some(syn) = self.syn(dpid, frame, bytes) else {
            return self.look_up(now, dpid, tuple.dst, bytes, out);
        };
        let is_join = matches!(syn.opening, Some(Opening::Join(_)));
        self.counters.joins += u64::from(is_join);
        if let Some(Opening::Join(token)) = syn.opening
            && self.sort_join(now, syn, token, out)
        {
            return;
        }
        self.open(now, syn, out);
    }

    /// What a SYN says; `None` if its receiver is not known.
    pub(super) fn syn<'a>(&self, dpid: DatapathId, frame: &Frame<'_>, bytes: &'a [u8]) -> Option<Syn<'a>> {
        let tuple = frame.five_tuple()?;
        let dst = self.topology.host_with_address(tuple.dst)?.at.dpid;
        Some(Syn { tuple, dpid, dst, opening: opening(frame.tcp()?), bytes })
    }

    /// Gives the stream of a connection a path, where it is to have one, and sends the packet.
    pub(super) fn open(&mut self, now: Time, syn: Syn<'_>, out: &mut Commands) {
        let Syn { tuple, dpid, dst, opening, bytes } = syn;
        let announced = self.streams.by_tuple(&tuple).filter(|stream| is_announced(stream));
        if let Some(id) = announced.map(|stream| stream.id).filter(|_| dst != dpid) {
            return self.place_and_send(now, id, (dpid, dst), bytes, out);
        }
        let opening = match opening {
            None if dst != dpid => self.opening_of_plain(now, &tuple, (dpid, dst), out),
            mptcp => mptcp,
        };
        let stream = match opening {
            Some(opening) if dst != dpid && !self.manner(&tuple).is_single() => {
                self.open_stream(now, tuple, opening, out)
            }
            _ => {
                self.end_plain(&tuple, out);
                None
            }
        };
        match stream {
            Some(id) => self.place_and_send(now, id, (dpid, dst), bytes, out),
            None => self.forward(now, dpid, tuple.dst, bytes, out),
        }
    }

    /// Whether a connection may get a path of its own. Above the limit of its port it goes the way of all others.
    pub(super) fn may_steer(
        &mut self,
        now: Time,
        at: SwitchPort,
        frame: &Frame<'_>,
        out: &mut Commands,
    ) -> bool {
        let (Some(tuple), Some(tcp)) = (frame.five_tuple(), frame.tcp()) else { return true };
        let is_plain = !matches!(mptcp::handshake(tcp.options), Ok(Some(_)));
        let is_alone = is_plain && self.manner(&tuple).parallel_paths < 2;
        if is_alone || self.streams.by_tuple(&tuple).is_some() {
            return true;
        }
        self.admission.admit_stream(&mut context!(self, now, out), at)
    }

    /// What a plain connection is to be carried as; nothing if by the default route.
    fn opening_of_plain(
        &mut self,
        now: Time,
        tuple: &FiveTuple,
        ends: (DatapathId, DatapathId),
        out: &mut Commands,
    ) -> Option<Opening> {
        let Manner { steer_as, parallel_paths, .. } = self.manner(tuple);
        let mut recognise = || {
            let (cx, below) = (&mut context!(self, now, out), (&mut self.fabric, &self.streams));
            let id = self.reservations.recognise(cx, below, (tuple, parallel_paths), ends)?;
            Some(Opening::Parallel(Group::Announced(id.0)))
        };
        let known = match steer_as {
            SteerAs::Single => return None,
            SteerAs::Spray => None,
            SteerAs::Parallel => return recognise(),
            SteerAs::Auto => recognise(),
        };
        known.or_else(|| self.may_spray(now, tuple, ends, out).then_some(Opening::Sprayed))
    }

    /// A copy of what the answering host says; the packet itself is on its way.
    pub(super) fn on_syn_ack(
        &mut self,
        now: Time,
        tuple: FiveTuple,
        tcp: &TcpSegment<'_>,
        out: &mut Commands,
    ) {
        let opened = tuple.reversed();
        let handshake = mptcp::handshake(tcp.options);
        self.counters.joins += u64::from(matches!(handshake, Ok(Some(Handshake::Join(_)))));
        let Some(stream) = self.streams.by_tuple(&opened) else {
            if let Ok(Some(Handshake::Join(MpJoin::SynAck { .. }))) = handshake {
                self.establish_call_back(now, opened, out);
            }
            return;
        };
        match (stream.opening, handshake) {
            (Opening::Capable, Ok(Some(Handshake::Capable(answer)))) => {
                self.streams.establish(stream.id);
                if let Some(key) = answer.sender_key() {
                    let early = self.streams.learn_token(&opened, key.token(answer.version));
                    self.spread(now, &early, out);
                }
            }
            (Opening::Join(_), Ok(Some(Handshake::Join(MpJoin::SynAck { .. })))) => {
                self.establish_join(now, stream.id);
            }
            (Opening::Capable | Opening::Join(_), Ok(None)) => self.end_stream(stream.id, out),
            _ => {}
        }
    }

    pub(super) fn open_stream(
        &mut self,
        now: Time,
        tuple: FiveTuple,
        opening: Opening,
        out: &mut Commands,
    ) -> Option<StreamId> {
        if let Some(known) = self.streams.by_tuple(&tuple) {
            // The same opening again is a retransmission. Another one, or one that was answered before, means that
            // the ports are used again.
            let answered =
                self.streams.transfer(known.transfer).is_some_and(|transfer| transfer.token.is_some());
            let is_join = matches!(opening, Opening::Join(_));
            let (id, same) =
                (known.id, known.opening == opening || (known.opening == Opening::Advised && is_join));
            if same && !(opening == Opening::Capable && answered) {
                return Some(id);
            }
            self.end_stream(id, out);
        }
        match self.streams.open(now, tuple, opening) {
            Ok(id) => {
                self.tell_if_new(id, out);
                Some(id)
            }
            Err(full) => {
                out.notice(Notice::Full { what: full.what });
                None
            }
        }
    }

    pub(super) fn tell_if_new(&self, id: StreamId, out: &mut Commands) {
        let Some(stream) = self.streams.stream(id) else { return };
        if let Some(transfer) = self.streams.transfer(stream.transfer).filter(|it| it.streams.len() == 1) {
            out.notice(Notice::TransferOpened { id: transfer.id, kind: transfer.kind });
        }
    }

    fn place_and_send(
        &mut self,
        now: Time,
        id: StreamId,
        ends: (DatapathId, DatapathId),
        frame: &[u8],
        out: &mut Commands,
    ) {
        let Some(stream) = self.streams.stream(id) else { return };
        let (dst, route) = (stream.tuple.dst, stream.route.clone());
        let mut batch = self.fabric.blank();
        let hops = match &route {
            Some(_) if self.spray.has(id) => Some(self.spray.hops(id)),
            Some(route) => self.hops_of(route).map(Hops::from),
            None => self.place(now, id, ends, &mut batch, out),
        };
        let Some(hops) = hops else {
            self.end_stream(id, out);
            return self.forward(now, ends.0, dst, frame, out);
        };
        batch.send(ends.0, Target::Pipeline, frame);
        self.when_ready(now, &hops, batch, Replaces::Nothing, out);
    }

    fn end_plain(&mut self, tuple: &FiveTuple, out: &mut Commands) {
        if let Some(id) = self.streams.by_tuple(tuple).map(|stream| stream.id) {
            self.end_stream(id, out);
        }
    }
}

/// What a SYN says of its transfer; `None` for plain TCP and for options that are malformed.
fn opening(tcp: &TcpSegment<'_>) -> Option<Opening> {
    match mptcp::handshake(tcp.options).ok()?? {
        Handshake::Capable(_) => Some(Opening::Capable),
        Handshake::Join(MpJoin::Syn { token, .. }) => Some(Opening::Join(token)),
        Handshake::Join(_) => None,
    }
}
