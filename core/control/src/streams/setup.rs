//! Setup of TCP streams, and assignment to transfers.

use braid_packet::mptcp::{self, Handshake, MpJoin};
use braid_packet::{Frame, TcpSegment};
use braid_planner::EffectivePolicy;
use braid_steering::{Full, Group, Opening, StreamId};
use braid_types::{DatapathId, FiveTuple, SwitchPair, SwitchPort};

use super::rules::{hops_of, is_announced};
use super::spraying::may_spray;
use super::teardown::is_teardown;
use super::{StreamDeps, Streams};
use crate::command::Target;
use crate::context::Context;
use crate::fabric::{Hops, Replaces};
use crate::notice::Notice;
use crate::reservations::{PlainConnection, ReservationDeps};
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
    policy: EffectivePolicy,
    pub(crate) bytes: &'a [u8],
}

impl<'a> Syn<'a> {
    /// Parses a SYN that arrived at a switch; `None` if its destination is not known.
    pub(crate) fn new(
        cx: &Context<'_>,
        dpid: DatapathId,
        frame: &Frame<'_>,
        bytes: &'a [u8],
    ) -> Option<Self> {
        Self::of(cx, dpid, Opener::new(cx, frame)?, bytes)
    }

    fn of(cx: &Context<'_>, dpid: DatapathId, opener: Opener, bytes: &'a [u8]) -> Option<Self> {
        let Opener { tuple, handshake, policy } = opener;
        let dst = cx.topology.host_with_address(tuple.dst)?.at.dpid;
        Some(Self { tuple, dpid, dst, opening: handshake.and_then(opening), policy, bytes })
    }
}

/// What a SYN says, wherever its destination is.
#[derive(Clone, Copy, Debug)]
struct Opener {
    tuple: FiveTuple,
    /// Its MPTCP option, if it has a well-formed one.
    handshake: Option<Handshake>,
    policy: EffectivePolicy,
}

impl Opener {
    /// Reads a SYN; `None` for other packets.
    fn new(cx: &Context<'_>, frame: &Frame<'_>) -> Option<Self> {
        let (tuple, tcp) = (frame.five_tuple()?, frame.tcp()?);
        Some(Self { tuple, handshake: handshake(tcp), policy: cx.policy_of(&tuple) })
    }
}

/// Where a packet comes from.
#[derive(Clone, Copy, Debug)]
pub(crate) enum PacketSource {
    /// It has just arrived from a host at this port.
    Port(SwitchPort),
    /// It entered at this switch and was held until now.
    Held(DatapathId),
}

impl Streams {
    /// Handles a TCP packet that opens, answers or ends a connection. Returns whether it was handled;
    /// otherwise it follows the default path.
    pub(crate) fn handle_tcp(
        &mut self,
        deps: &mut StreamDeps<'_>,
        from: PacketSource,
        frame: &Frame<'_>,
        bytes: &[u8],
    ) -> bool {
        match from {
            PacketSource::Port(at) => self.handle_arrival(deps, at, frame, bytes),
            PacketSource::Held(dpid) => {
                let is_syn = frame.tcp().is_some_and(|tcp| tcp.flags.is_syn());
                let Some(opener) = Opener::new(&deps.cx, frame).filter(|_| is_syn) else { return false };
                self.handle_syn(deps, dpid, opener, bytes)
            }
        }
    }

    fn handle_arrival(
        &mut self,
        deps: &mut StreamDeps<'_>,
        at: SwitchPort,
        frame: &Frame<'_>,
        bytes: &[u8],
    ) -> bool {
        let (Some(tuple), Some(tcp)) = (frame.five_tuple(), frame.tcp()) else { return true };
        if is_teardown(tcp.flags) {
            self.handle_teardown(deps, &tuple, tcp.flags);
        } else if tcp.flags.is_syn_ack() {
            self.handle_syn_ack(deps, tuple, tcp);
        } else {
            // A connection above its port's limit gets no path of its own.
            let opener = Opener { tuple, handshake: handshake(tcp), policy: deps.cx.policy_of(&tuple) };
            if matches!(opener.handshake, Some(Handshake::Join(MpJoin::Syn { .. }))) {
                count_join(deps, &tuple);
            }
            let is_admitted = !is_new(deps, &opener) || deps.admission.admit_stream(&mut deps.cx, at);
            return is_admitted && self.handle_syn(deps, at.dpid, opener, bytes);
        }
        true
    }

    /// Handles a SYN, which is held until its stream has a path. Returns whether it was handled; its
    /// destination may be unknown.
    fn handle_syn(
        &mut self,
        deps: &mut StreamDeps<'_>,
        dpid: DatapathId,
        opener: Opener,
        bytes: &[u8],
    ) -> bool {
        deps.cx.counters.syns += 1;
        let syn = Syn::of(&deps.cx, dpid, opener, bytes);
        if let Some(syn) = syn {
            self.sort(deps, syn);
        }
        syn.is_some()
    }

    fn sort(&mut self, deps: &mut StreamDeps<'_>, syn: Syn<'_>) {
        if let Some(Opening::Join(token)) = syn.opening
            && self.classify_join(deps, syn, token)
        {
            return;
        }
        self.open(deps, syn);
    }

    /// Places the stream of a connection, if it should have a path, and sends the packet.
    pub(super) fn open(&mut self, deps: &mut StreamDeps<'_>, syn: Syn<'_>) {
        let Syn { tuple, dpid, dst, opening, policy, bytes } = syn;
        let ends = SwitchPair::new(dpid, dst);
        let known = deps.transfers.by_tuple(&tuple);
        let is_known = known.is_some();
        if let Some(id) = known.filter(|stream| is_announced(stream) && dst != dpid).map(|stream| stream.id) {
            return self.place_and_send(deps, id, ends, bytes);
        }
        let opening = match opening {
            None if dst != dpid => opening_of_plain(deps, &syn),
            mptcp => mptcp,
        };
        let stream = match opening {
            Some(opening) if dst != dpid && !policy.is_single() => {
                let opened = match is_known {
                    true => self.open_stream(deps, tuple, opening),
                    false => open_new(deps, tuple, opening),
                };
                opened.ok()
            }
            _ => {
                if is_known {
                    self.end_plain(deps, &tuple);
                }
                None
            }
        };
        match stream {
            Some(id) => self.place_and_send(deps, id, ends, bytes),
            None => deps.forward(dpid, tuple.dst, bytes),
        }
    }

    /// Handles a copy of a SYN/ACK; the packet itself is forwarded already.
    pub(super) fn handle_syn_ack(
        &mut self,
        deps: &mut StreamDeps<'_>,
        tuple: FiveTuple,
        tcp: &TcpSegment<'_>,
    ) {
        let opened = tuple.reversed();
        let handshake = mptcp::handshake(tcp.options);
        if matches!(handshake, Ok(Some(Handshake::Join(_)))) {
            deps.cx.counters.join_answers += 1;
            count_join(deps, &opened);
        }
        let Some(stream) = deps.transfers.by_tuple(&opened) else {
            if let Ok(Some(Handshake::Join(MpJoin::SynAck { .. }))) = handshake {
                self.establish_call_back(deps, opened);
            }
            return;
        };
        match (stream.opening, handshake) {
            (Opening::Capable, Ok(Some(Handshake::Capable(answer)))) => {
                deps.transfers.establish(stream.id);
                if let Some(key) = answer.sender_key() {
                    let early = deps.transfers.learn_token(&opened, key.token(answer.version));
                    self.spread(deps, &early);
                }
            }
            (Opening::Join(_), Ok(Some(Handshake::Join(MpJoin::SynAck { .. })))) => {
                self.establish_join(deps, stream.id);
            }
            (Opening::Capable | Opening::Join(_), Ok(None)) => self.end(deps, stream.id),
            _ => {}
        }
    }

    /// Opens a stream, or returns the stream of these ends that is open already.
    pub(crate) fn open_stream(
        &mut self,
        deps: &mut StreamDeps<'_>,
        tuple: FiveTuple,
        opening: Opening,
    ) -> Result<StreamId, Full> {
        if let Some(known) = deps.transfers.by_tuple(&tuple) {
            // An equal opening is a retransmission. A different one, or one that was answered before, reuses
            // the ports.
            let answered =
                deps.transfers.transfer(known.transfer).is_some_and(|transfer| transfer.token.is_some());
            let is_join = matches!(opening, Opening::Join(_));
            let (id, same) =
                (known.id, known.opening == opening || (known.opening == Opening::Advised && is_join));
            if same && !(opening == Opening::Capable && answered) {
                return Ok(id);
            }
            self.end(deps, id);
        }
        open_new(deps, tuple, opening)
    }

    fn place_and_send(&mut self, deps: &mut StreamDeps<'_>, id: StreamId, ends: SwitchPair, frame: &[u8]) {
        let Some(stream) = deps.transfers.stream(id) else { return };
        let (dst, route) = (stream.tuple.dst, stream.route.clone());
        let mut batch = deps.cx.out.blank();
        let hops = match &route {
            Some(_) if deps.spray.stream(id).is_some() => deps.spray.stream(id).map(StreamBundles::hops),
            Some(route) => hops_of(deps.fabric, route).map(Hops::from),
            None => self.place_between(deps, id, ends, &mut batch),
        };
        let Some(hops) = hops else {
            self.end(deps, id);
            return deps.forward(ends.src, dst, frame);
        };
        batch.send(ends.src, Target::Pipeline, frame);
        self.submit(deps, &hops, batch, Replaces::Nothing);
    }

    fn end_plain(&mut self, deps: &mut StreamDeps<'_>, tuple: &FiveTuple) {
        if let Some(id) = deps.transfers.by_tuple(tuple).map(|stream| stream.id) {
            self.end(deps, id);
        }
    }
}

/// Counts a packet that opens a subflow, or answers; `opened` is from the opening host.
fn count_join(deps: &mut StreamDeps<'_>, opened: &FiveTuple) {
    let known = deps.transfers.by_tuple(opened);
    deps.cx.counters.joins += 1;
    deps.cx.counters.advised_joins += u64::from(known.is_some_and(|it| it.opening == Opening::Advised));
}

/// The kind of stream for a plain connection; `None` for the default path.
fn opening_of_plain(deps: &mut StreamDeps<'_>, syn: &Syn<'_>) -> Option<Opening> {
    let Syn { tuple, policy, .. } = syn;
    let ends = SwitchPair::new(syn.dpid, syn.dst);
    let below = ReservationDeps { fabric: deps.fabric, streams: &*deps.transfers };
    let connection = PlainConnection { tuple, ends, paths: policy.distributed_paths() };
    let group = deps.reservations.infer(&mut deps.cx, below, connection);
    let known = group.map(|id| Opening::Parallel(Group::Announced(id.0)));
    known.or_else(|| may_spray(deps, policy, ends).then_some(Opening::Sprayed))
}

/// Opens a stream whose ends are not known yet.
fn open_new(deps: &mut StreamDeps<'_>, tuple: FiveTuple, opening: Opening) -> Result<StreamId, Full> {
    let opened = deps.transfers.open(deps.cx.now, tuple, opening);
    match opened {
        Ok(id) => note_transfer(deps, id),
        Err(full) => deps.cx.out.notice(Notice::Full { what: full.what }),
    }
    opened
}

/// Reports the transfer of a stream that is its first.
fn note_transfer(deps: &mut StreamDeps<'_>, id: StreamId) {
    let Some(stream) = deps.transfers.stream(id) else { return };
    if let Some(transfer) = deps.transfers.transfer(stream.transfer).filter(|it| it.streams.len() == 1) {
        deps.cx.out.notice(Notice::TransferOpened { id: transfer.id, kind: transfer.kind });
    }
}

/// Whether a SYN opens an unknown connection that may get its own path.
fn is_new(deps: &StreamDeps<'_>, Opener { tuple, handshake, policy }: &Opener) -> bool {
    let is_alone = handshake.is_none() && policy.parallel_paths < 2;
    !is_alone && deps.transfers.by_tuple(tuple).is_none()
}

/// The MPTCP option; `None` for plain TCP and malformed options.
fn handshake(tcp: &TcpSegment<'_>) -> Option<Handshake> {
    mptcp::handshake(tcp.options).ok()?
}

/// The kind of stream that a SYN opens.
fn opening(handshake: Handshake) -> Option<Opening> {
    match handshake {
        Handshake::Capable(_) => Some(Opening::Capable),
        Handshake::Join(MpJoin::Syn { token, .. }) => Some(Opening::Join(token)),
        Handshake::Join(_) => None,
    }
}
