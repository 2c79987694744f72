//! Setup of TCP streams, and assignment to transfers.

use braid_packet::mptcp::{self, Handshake, MpJoin};
use braid_packet::{Frame, TcpSegment};
use braid_steering::{Full, Group, Opening, StreamId};
use braid_topology::Topology;
use braid_types::{DatapathId, FiveTuple, SwitchPair, SwitchPort};

use super::rules::{hops_of, is_announced};
use super::teardown::is_ending;
use super::{Network, Streams};
use crate::command::Target;
use crate::fabric::{Hops, Replaces};
use crate::notice::Notice;
use crate::reservations::{Below, PlainConnection};
use crate::spray::StreamBundles;

/// A SYN that opens a connection.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Syn<'a> {
    pub(crate) tuple: FiveTuple,
    /// The switch where the packet arrived, and that of its destination.
    pub(crate) dpid: DatapathId,
    pub(crate) dst: DatapathId,
    /// The kind of stream by its MPTCP option; `None` for plain TCP and malformed options.
    opening: Option<Opening>,
    pub(crate) bytes: &'a [u8],
}

impl<'a> Syn<'a> {
    /// Parses a SYN that arrived at a switch; `None` if its destination is not known.
    pub(crate) fn new(
        topology: &Topology,
        dpid: DatapathId,
        frame: &Frame<'_>,
        bytes: &'a [u8],
    ) -> Option<Self> {
        let tuple = frame.five_tuple()?;
        let dst = topology.host_with_address(tuple.dst)?.at.dpid;
        Some(Self { tuple, dpid, dst, opening: opening(frame.tcp()?), bytes })
    }
}

impl Streams {
    /// Handles a TCP packet that opens, answers or ends a connection. Returns whether it was handled;
    /// otherwise it follows the default path.
    pub(crate) fn handle_tcp(
        &mut self,
        net: &mut Network<'_>,
        at: SwitchPort,
        frame: &Frame<'_>,
        bytes: &[u8],
    ) -> bool {
        let (Some(tuple), Some(tcp)) = (frame.five_tuple(), frame.tcp()) else { return true };
        if is_ending(tcp.flags) {
            self.handle_ending(net, &tuple, tcp.flags);
        } else if tcp.flags.is_syn_ack() {
            self.handle_syn_ack(net, tuple, tcp);
        } else {
            // A connection above its port's limit gets no path of its own.
            let is_admitted = !self.is_new(net, frame) || net.admission.admit_stream(&mut net.cx, at);
            return is_admitted && self.handle_syn(net, at.dpid, frame, bytes);
        }
        true
    }

    /// Handles a SYN, which is held until its stream has a path. Returns whether it was handled; its
    /// destination may be unknown.
    pub(crate) fn handle_syn(
        &mut self,
        net: &mut Network<'_>,
        dpid: DatapathId,
        frame: &Frame<'_>,
        bytes: &[u8],
    ) -> bool {
        net.cx.counters.syns += 1;
        let syn = Syn::new(net.cx.topology, dpid, frame, bytes);
        if let Some(syn) = syn {
            self.sort(net, syn);
        }
        syn.is_some()
    }

    fn sort(&mut self, net: &mut Network<'_>, syn: Syn<'_>) {
        let is_join = matches!(syn.opening, Some(Opening::Join(_)));
        net.cx.counters.joins += u64::from(is_join);
        if let Some(Opening::Join(token)) = syn.opening
            && self.sort_join(net, syn, token)
        {
            return;
        }
        self.open(net, syn);
    }

    /// Places the stream of a connection, if it should have a path, and sends the packet.
    pub(super) fn open(&mut self, net: &mut Network<'_>, syn: Syn<'_>) {
        let Syn { tuple, dpid, dst, opening, bytes } = syn;
        let ends = SwitchPair::new(dpid, dst);
        let announced = net.transfers.by_tuple(&tuple).filter(|stream| is_announced(stream));
        if let Some(id) = announced.map(|stream| stream.id).filter(|_| dst != dpid) {
            return self.place_and_send(net, id, ends, bytes);
        }
        let opening = match opening {
            None if dst != dpid => self.opening_of_plain(net, &tuple, ends),
            mptcp => mptcp,
        };
        let stream = match opening {
            Some(opening) if dst != dpid && !self.policy_of(net.cx.settings, &tuple).is_single() => {
                self.open_stream(net, tuple, opening).ok()
            }
            _ => {
                self.end_plain(net, &tuple);
                None
            }
        };
        match stream {
            Some(id) => self.place_and_send(net, id, ends, bytes),
            None => net.forward(dpid, tuple.dst, bytes),
        }
    }

    /// Whether a packet opens an unknown connection that may get its own path.
    fn is_new(&self, net: &Network<'_>, frame: &Frame<'_>) -> bool {
        let (Some(tuple), Some(tcp)) = (frame.five_tuple(), frame.tcp()) else { return false };
        let is_plain = !matches!(mptcp::handshake(tcp.options), Ok(Some(_)));
        let is_alone = is_plain && self.policy_of(net.cx.settings, &tuple).parallel_paths < 2;
        !is_alone && net.transfers.by_tuple(&tuple).is_none()
    }

    /// The kind of stream for a plain connection; `None` for the default path.
    fn opening_of_plain(
        &mut self,
        net: &mut Network<'_>,
        tuple: &FiveTuple,
        ends: SwitchPair,
    ) -> Option<Opening> {
        let policy = self.policy_of(net.cx.settings, tuple);
        let below = Below { fabric: net.fabric, streams: &*net.transfers };
        let connection = PlainConnection { tuple, ends, paths: policy.distributed_paths() };
        let group = net.reservations.recognise(&mut net.cx, below, connection);
        let known = group.map(|id| Opening::Parallel(Group::Announced(id.0)));
        known.or_else(|| self.may_spray(net, tuple, ends).then_some(Opening::Sprayed))
    }

    /// Handles a copy of a SYN/ACK; the packet itself is forwarded already.
    pub(super) fn handle_syn_ack(&mut self, net: &mut Network<'_>, tuple: FiveTuple, tcp: &TcpSegment<'_>) {
        let opened = tuple.reversed();
        let handshake = mptcp::handshake(tcp.options);
        net.cx.counters.joins += u64::from(matches!(handshake, Ok(Some(Handshake::Join(_)))));
        let Some(stream) = net.transfers.by_tuple(&opened) else {
            if let Ok(Some(Handshake::Join(MpJoin::SynAck { .. }))) = handshake {
                self.establish_call_back(net, opened);
            }
            return;
        };
        match (stream.opening, handshake) {
            (Opening::Capable, Ok(Some(Handshake::Capable(answer)))) => {
                net.transfers.establish(stream.id);
                if let Some(key) = answer.sender_key() {
                    let early = net.transfers.learn_token(&opened, key.token(answer.version));
                    self.spread(net, &early);
                }
            }
            (Opening::Join(_), Ok(Some(Handshake::Join(MpJoin::SynAck { .. })))) => {
                self.establish_join(net, stream.id);
            }
            (Opening::Capable | Opening::Join(_), Ok(None)) => self.end(net, stream.id),
            _ => {}
        }
    }

    pub(crate) fn open_stream(
        &mut self,
        net: &mut Network<'_>,
        tuple: FiveTuple,
        opening: Opening,
    ) -> Result<StreamId, Full> {
        if let Some(known) = net.transfers.by_tuple(&tuple) {
            // An equal opening is a retransmission. A different one, or one that was answered before, reuses
            // the ports.
            let answered =
                net.transfers.transfer(known.transfer).is_some_and(|transfer| transfer.token.is_some());
            let is_join = matches!(opening, Opening::Join(_));
            let (id, same) =
                (known.id, known.opening == opening || (known.opening == Opening::Advised && is_join));
            if same && !(opening == Opening::Capable && answered) {
                return Ok(id);
            }
            self.end(net, id);
        }
        let opened = net.transfers.open(net.cx.now, tuple, opening);
        match opened {
            Ok(id) => note_transfer(net, id),
            Err(full) => net.cx.out.notice(Notice::Full { what: full.what }),
        }
        opened
    }

    fn place_and_send(&mut self, net: &mut Network<'_>, id: StreamId, ends: SwitchPair, frame: &[u8]) {
        let Some(stream) = net.transfers.stream(id) else { return };
        let (dst, route) = (stream.tuple.dst, stream.route.clone());
        let mut batch = net.cx.out.blank();
        let hops = match &route {
            Some(_) if net.spray.stream(id).is_some() => net.spray.stream(id).map(StreamBundles::hops),
            Some(route) => hops_of(net.fabric, route).map(Hops::from),
            None => self.place(net, id, ends, &mut batch),
        };
        let Some(hops) = hops else {
            self.end(net, id);
            return net.forward(ends.src, dst, frame);
        };
        batch.send(ends.src, Target::Pipeline, frame);
        self.submit(net, &hops, batch, Replaces::Nothing);
    }

    fn end_plain(&mut self, net: &mut Network<'_>, tuple: &FiveTuple) {
        if let Some(id) = net.transfers.by_tuple(tuple).map(|stream| stream.id) {
            self.end(net, id);
        }
    }
}

/// Reports the transfer of a stream that is its first.
fn note_transfer(net: &mut Network<'_>, id: StreamId) {
    let Some(stream) = net.transfers.stream(id) else { return };
    if let Some(transfer) = net.transfers.transfer(stream.transfer).filter(|it| it.streams.len() == 1) {
        net.cx.out.notice(Notice::TransferOpened { id: transfer.id, kind: transfer.kind });
    }
}

/// The kind of stream by its MPTCP option; `None` for plain TCP and malformed options.
fn opening(tcp: &TcpSegment<'_>) -> Option<Opening> {
    match mptcp::handshake(tcp.options).ok()?? {
        Handshake::Capable(_) => Some(Opening::Capable),
        Handshake::Join(MpJoin::Syn { token, .. }) => Some(Opening::Join(token)),
        Handshake::Join(_) => None,
    }
}
