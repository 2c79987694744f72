//! TCP streams as they open: which transfer they belong to, and the path of each.

use std::collections::BTreeSet;
use std::net::IpAddr;

use braid_packet::mptcp::{self, Handshake, MpJoin};
use braid_packet::{Frame, TcpSegment};
use braid_paths::Path;
use braid_steering::{
    Choice, Ended, Group, Move, Opening, Question, Route, SteerAs, Stream, StreamId, TransferId,
};
use braid_types::{DatapathId, FiveTuple, Time};
use smallvec::SmallVec;

use super::Brain;
use super::batches::Replaces;
use super::policy::{choose, siblings};
use crate::command::{Command, Commands, Target};
use crate::cookie::{Cookie, Purpose};
use crate::notice::Notice;
use crate::pipeline::{Hop, Rule};

/// Where a stream is to go.
pub(super) struct Chosen {
    pub(super) path: Path,
    /// How many cables it shares with its transfer's others.
    pub(super) shared: usize,
    /// Streams that make room for it.
    pub(super) moves: Vec<Move>,
}

/// The labels that a batch needs.
pub(super) type Hops = SmallVec<[Hop; 2]>;

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
        let (Some(tuple), Some(tcp)) = (frame.five_tuple(), frame.tcp()) else { return };
        let Some(dst) = self.topology.host_with_address(tuple.dst).map(|host| host.at.dpid) else {
            return self.search(now, dpid, tuple.dst, bytes, out);
        };
        let opening = opening(tcp);
        self.counters.joins += u64::from(matches!(opening, Some(Opening::Join(_))));
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

    /// What a plain connection is to be carried as; nothing if by the default route.
    fn opening_of_plain(
        &mut self,
        now: Time,
        tuple: &FiveTuple,
        ends: (DatapathId, DatapathId),
        out: &mut Commands,
    ) -> Option<Opening> {
        let known = match self.manner(tuple).steer_as {
            SteerAs::Single => return None,
            SteerAs::Spray => None,
            SteerAs::Parallel => return self.recognise(now, tuple, ends, out),
            SteerAs::Auto => self.recognise(now, tuple, ends, out),
        };
        known.or_else(|| self.may_spray(now, tuple, ends).then_some(Opening::Sprayed))
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
        let Some(stream) = self.streams.by_tuple(&opened) else { return };
        match (stream.opening, handshake) {
            (Opening::Capable, Ok(Some(Handshake::Capable(answer)))) => {
                if let Some(key) = answer.sender_key() {
                    let early = self.streams.learn_token(&opened, key.token(answer.version));
                    self.spread(now, &early, out);
                }
            }
            (Opening::Capable, Ok(None)) => self.end_stream(stream.id, out),
            _ => {}
        }
    }

    pub(super) fn on_flow_removed(&mut self, now: Time, cookie: Cookie, bytes: u64, out: &mut Commands) {
        if let Some(Purpose::Stream { id, reverse }) = cookie.purpose() {
            self.streams.set_bytes(now, id, reverse, bytes);
            self.end_stream(id, out);
        }
    }

    pub(super) fn on_counters(&mut self, now: Time, rules: &[(Cookie, u64)]) {
        for (cookie, bytes) in rules {
            if let Some(Purpose::Stream { id, reverse }) = cookie.purpose() {
                self.streams.set_bytes(now, id, reverse, *bytes);
            }
        }
    }

    /// Asks the switches with stream rules for their counters.
    pub(super) fn read_counters(&mut self, out: &mut Commands) {
        let routes = self.streams.streams().filter_map(|stream| stream.route.as_ref());
        let edges = routes.flat_map(|route| [route.forward.ingress(), route.reverse.ingress()]);
        let edges: BTreeSet<_> = edges.collect();
        for dpid in edges {
            out.push(Command::ReadStreams { dpid });
        }
    }

    /// The streams on `paths`, whose labels are gone, move to other paths or to the default route. O(streams).
    pub(super) fn release_streams(&mut self, paths: &BTreeSet<Path>, out: &mut Commands) {
        for (id, _) in self.streams_on(paths) {
            self.remove_rules(id, out);
            self.streams.set_route(id, None);
        }
    }

    /// The streams on paths that are gone round move to other ones; until then they stay. O(streams).
    pub(super) fn vacate(&mut self, now: Time, paths: &BTreeSet<Path>, out: &mut Commands) {
        for (id, tuple) in self.streams_on(paths) {
            let mut batch = Commands::default();
            let ends = self.switches_of(&tuple);
            if let Some(hops) = ends.and_then(|ends| self.place(now, id, ends, &mut batch, out)) {
                self.when_ready(now, &hops, batch, Replaces::Nothing, out);
            }
        }
    }

    fn streams_on(&self, paths: &BTreeSet<Path>) -> Vec<(StreamId, FiveTuple)> {
        if paths.is_empty() {
            return Vec::new();
        }
        let uses = |route: &Route| paths.contains(&route.forward) || paths.contains(&route.reverse);
        let uses =
            |stream: &Stream| stream.route.as_ref().is_some_and(uses) || self.sprays.uses(stream.id, paths);
        let streams = self.streams.streams().filter(|stream| uses(stream));
        streams.map(|stream| (stream.id, stream.tuple)).collect()
    }

    /// Places streams again that joined before it was known what they join.
    fn spread(&mut self, now: Time, streams: &[StreamId], out: &mut Commands) {
        for id in streams {
            let ends = self.streams.stream(*id).and_then(|stream| self.switches_of(&stream.tuple));
            let mut batch = Commands::default();
            if let Some(hops) = ends.and_then(|ends| self.place(now, *id, ends, &mut batch, out)) {
                self.when_ready(now, &hops, batch, Replaces::Working, out);
            }
        }
    }

    /// A host is at another switch: the streams of its address lead to the wrong place.
    pub(super) fn release_streams_of(&mut self, address: IpAddr, out: &mut Commands) {
        let of = |tuple: &FiveTuple| tuple.src == address || tuple.dst == address;
        let streams = self.streams.streams().filter(|stream| stream.route.is_some() && of(&stream.tuple));
        for id in streams.map(|stream| stream.id).collect::<Vec<_>>() {
            self.remove_rules(id, out);
            self.streams.set_route(id, None);
        }
    }

    /// Places the streams that lost their path, now that the graph is known again.
    pub(super) fn place_again(&mut self, now: Time, replaces: Replaces, out: &mut Commands) {
        let lost = self.streams.unrouted();
        for (id, tuple) in lost.map(|stream| (stream.id, stream.tuple)).collect::<Vec<_>>() {
            let mut batch = Commands::default();
            match self.switches_of(&tuple).and_then(|ends| self.place(now, id, ends, &mut batch, out)) {
                Some(hops) => {
                    self.unplaced.remove(&id);
                    self.when_ready(now, &hops, batch, replaces, out);
                }
                // It follows the default route, if there is one, and is tried again when the network changes.
                None => _ = self.unplaced.entry(id).or_insert(now),
            }
        }
    }

    /// Without rules no switch says when a stream ends, so that those without a path end after as long.
    pub(super) fn expire_unplaced(&mut self, now: Time, out: &mut Commands) {
        let idle = self.settings.stream_idle;
        let streams = &self.streams;
        self.unplaced.retain(|id, _| streams.stream(*id).is_some_and(|stream| stream.route.is_none()));
        let ended: Vec<_> =
            self.unplaced.iter().filter(|(_, since)| now.since(**since) >= idle).map(|(id, _)| *id).collect();
        for id in ended {
            self.end_stream(id, out);
        }
    }

    pub(super) fn switches_of(&self, tuple: &FiveTuple) -> Option<(DatapathId, DatapathId)> {
        let at = |ip| self.topology.host_with_address(ip).map(|host| host.at.dpid);
        Some((at(tuple.src)?, at(tuple.dst)?))
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
        let mut batch = self.blank();
        let hops = match &route {
            Some(_) if self.sprays.has(id) => Some(self.sprays.hops(id)),
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

    /// Chooses a path for a stream and adds its rules to `batch`; returns the labels that they need.
    pub(super) fn place(
        &mut self,
        now: Time,
        id: StreamId,
        (src, dst): (DatapathId, DatapathId),
        batch: &mut Commands,
        out: &mut Commands,
    ) -> Option<Hops> {
        let Stream { transfer, opening, .. } = *self.streams.stream(id)?;
        if opening == Opening::Sprayed
            && let Some(hops) = self.place_sprayed(now, id, (src, dst), batch, out)
        {
            return Some(hops);
        }
        let Chosen { path, shared, moves } = self.choose_path(now, (id, Some(transfer)), (src, dst))?;
        let hops = self.assign(now, id, (&path, shared), batch, out)?;
        self.make_room(now, moves, out);
        Some(hops)
    }

    /// Gives a stream a path and adds its rules to `batch`; returns the labels that they need.
    pub(super) fn assign(
        &mut self,
        now: Time,
        id: StreamId,
        (path, shared): (&Path, usize),
        batch: &mut Commands,
        out: &mut Commands,
    ) -> Option<Hops> {
        let route = self.paths.route(path);
        let Stream { tuple, transfer, .. } = *self.streams.stream(id)?;
        let forward = self.first_hop(now, &route.forward, out)?;
        let reverse = self.first_hop(now, &route.reverse, out)?;
        let (src, dst) = (path.ingress(), path.egress());
        batch.add(dst, Rule::Stream { id, reverse: true, tuple: tuple.reversed(), hop: reverse });
        batch.add(src, Rule::Stream { id, reverse: false, tuple, hop: forward });
        let path = route.forward.switches().collect();
        batch.notice(Notice::StreamPlaced { id, transfer, tuple, path, shared });
        self.streams.set_route(id, Some(route));
        self.watch_ending(id, batch);
        Some(Hops::from([forward, reverse]))
    }

    /// The path that a stream is to take; if its transfer is said, others may be to move for it.
    pub(super) fn choose_path(
        &mut self,
        now: Time,
        (id, transfer): (StreamId, Option<TransferId>),
        (src, dst): (DatapathId, DatapathId),
    ) -> Option<Chosen> {
        if let Some((path, shared)) = self.deal(now, id, (src, dst)) {
            return Some(Chosen { path, shared, moves: Vec::new() });
        }
        let Stream { tuple, transfer: owner, .. } = *self.streams.stream(id)?;
        let manner = self.manner(&tuple);
        let paths = self.paths_in(manner, (src, dst));
        let candidates: SmallVec<[&Path; 8]> = self.paths.usable(&paths, now).collect();
        let siblings = siblings(&self.streams, owner, &tuple, manner.placement);
        let (stream, graph) = (transfer.map(|transfer| (transfer, id)), self.paths.graph());
        let question = Question { now, stream, candidates: &candidates, siblings: &siblings, graph };
        let Choice { index, shared, moves } = choose(&mut self.placements, manner.placement, &question)?;
        candidates.get(index).map(|path| Chosen { path: (*path).clone(), shared, moves })
    }

    fn hops_of(&self, route: &Route) -> Option<[Hop; 2]> {
        let hop = |path: &Path| self.entry(self.labels.of(path)?, path);
        Some([hop(&route.forward)?, hop(&route.reverse)?])
    }

    /// Where a direction of a stream enters its path, and how.
    pub(super) fn stream_hop(&self, id: StreamId, reverse: bool) -> Option<(DatapathId, Hop)> {
        if self.sprays.has(id) {
            return self.sprays.hop(id, reverse);
        }
        let route = self.streams.stream(id)?.route.as_ref()?;
        let [forward, back] = self.hops_of(route)?;
        Some(if reverse { (route.reverse.ingress(), back) } else { (route.forward.ingress(), forward) })
    }

    /// The rule of one direction of a stream as it is wanted now; `None` if there is no such stream or it has no path.
    pub fn stream_rule(&self, id: StreamId, reverse: bool) -> Option<Rule> {
        let (_, hop) = self.stream_hop(id, reverse)?;
        let stream = self.streams.stream(id)?;
        let tuple = if reverse { stream.tuple.reversed() } else { stream.tuple };
        Some(Rule::Stream { id, reverse, tuple, hop })
    }

    fn end_plain(&mut self, tuple: &FiveTuple, out: &mut Commands) {
        if let Some(id) = self.streams.by_tuple(tuple).map(|stream| stream.id) {
            self.end_stream(id, out);
        }
    }

    pub(super) fn end_stream(&mut self, id: StreamId, out: &mut Commands) {
        self.remove_rules(id, out);
        self.stop_expecting(id, out);
        self.stop_watching(id, out);
        self.stop_confirming(id, out);
        self.placements.values_mut().for_each(|placement| placement.ended(id));
        let Some(Ended { stream, transfer_ended }) = self.streams.end(id) else { return };
        if is_announced(&stream) {
            self.departed.add(&stream);
        }
        out.notice(Notice::StreamEnded { id, bytes: stream.bytes.iter().sum() });
        if transfer_ended {
            out.notice(Notice::TransferEnded { id: stream.transfer });
        }
    }

    pub(super) fn remove_rules(&mut self, id: StreamId, out: &mut Commands) {
        self.remove_ordered(id, out);
        self.sprays.leave(id);
        let Some((stream, route)) = self.streams.stream(id).and_then(|s| Some((s, s.route.as_ref()?))) else {
            return;
        };
        for (path, reverse) in [(&route.forward, false), (&route.reverse, true)] {
            let tuple = if reverse { stream.tuple.reversed() } else { stream.tuple };
            // The hop does not count in a deletion, and its label may be gone already.
            let hop = Hop::NOWHERE;
            self.delete(path.ingress(), Rule::Stream { id, reverse, tuple, hop }, out);
        }
    }
}

/// Whether a stream was known before its first packet.
pub(super) const fn is_announced(stream: &Stream) -> bool {
    matches!(stream.opening, Opening::Parallel(Group::Announced(_)))
}

/// What a SYN says of its transfer; `None` for plain TCP and for options that are malformed.
fn opening(tcp: &TcpSegment<'_>) -> Option<Opening> {
    match mptcp::handshake(tcp.options).ok()?? {
        Handshake::Capable(_) => Some(Opening::Capable),
        Handshake::Join(MpJoin::Syn { token, .. }) => Some(Opening::Join(token)),
        Handshake::Join(_) => None,
    }
}
