//! Edges that spray a flow and resequence it, with the scheduler and resequencer of real ones.

use std::net::{IpAddr, Ipv4Addr};

use braid_spray::{Fate, PathId, PathWeight, Policy, Resequencer, Scheduler, Segment, SeqNo, Settings};
use braid_types::{FiveTuple, Time};

use super::packet::{HANDSHAKE, Packet};
use super::simulation::END;
use super::timers::Side;
use super::{ConnectionId, LinkId, Picos, Simulation};

/// The route of a flow that edges spray over several paths and resequence.
#[derive(Clone, PartialEq, Debug)]
pub struct Sprayed {
    /// From the host to the spraying edge; at least one link.
    pub before: Vec<LinkId>,
    /// The paths, of at least one link each, with the scheduler's properties; 1 to [`Self::MAX_PATHS`].
    pub paths: Vec<(Vec<LinkId>, PathWeight)>,
    /// From the resequencing edge to the host; at least one link.
    pub after: Vec<LinkId>,
    /// The scheduler's policy.
    pub policy: Policy,
    /// The settings of the resequencer; `None` without one.
    pub resequencing: Option<Settings>,
}

/// Both edges of one direction of a flow, with `braid_spray` as in real ones.
#[derive(Clone, Debug)]
pub(super) struct Bundle {
    scheduler: Scheduler,
    resequencer: Option<Resequencer<Packet>>,
    /// The indices of the paths, and of the links after the second edge, in the table of routes.
    paths: Vec<u32>,
    exit: u32,
    flow: FiveTuple,
    /// The bytes of data in a segment and of headers in a frame; none of data for acknowledgements.
    payload: u16,
    headers: u16,
    /// When the event queue next checks for an expired hold time.
    pub(super) look: Picos,
}

/// In the table of routes: an edge; the number of its bundle, and below that of the path that leads there.
pub(super) const EDGE: u32 = 1 << 30;
const SPREADS: u32 = 255;

impl Sprayed {
    /// The greatest number of paths of a flow.
    pub const MAX_PATHS: usize = 64;
}

impl Bundle {
    /// When the next hold time expires.
    pub(super) fn deadline(&self) -> Option<Picos> {
        let due = self.resequencer.as_ref()?.poll_timeout()?;
        Some(Picos::from_nanos(due.as_nanos()))
    }

    fn segment(&self, packet: &Packet) -> Segment {
        let syn = packet.dsn == HANDSHAKE;
        // The SYN has the number before that of the first byte.
        let seq = if syn { u32::MAX } else { packet.seq.wrapping_mul(u32::from(self.payload)) };
        let is_data = self.payload > 0 && !syn;
        let payload = if is_data { packet.size().saturating_sub(self.headers) } else { 0 };
        Segment { seq: SeqNo(seq), payload: payload.into(), syn, ..Segment::default() }
    }
}

impl Simulation {
    /// Makes edges spray a connection's packets in both directions from now on.
    ///
    /// # Panics
    ///
    /// If it has several subflows, and with ways as [`Sprayed`] does not allow them.
    pub fn spray(&mut self, connection: ConnectionId, ways: [&Sprayed; 2]) {
        let (subflows, shape) = {
            let it = &self.connections[connection.0 as usize];
            (it.subflows.clone(), it.shape)
        };
        assert!(subflows.len() == 1, "a connection with several subflows is spread by these");
        let end = END | subflows.start << 1;
        let forward = self.add_bundle(ways[0], end, (shape.payload, shape.headers));
        let back = self.add_bundle(ways[1], end | 1, (0, 0));
        let it = &mut self.subflows[subflows.start as usize];
        (it.forward, it.back) = (forward, back);
    }

    fn add_bundle(&mut self, way: &Sprayed, end: u32, (payload, headers): (u16, u16)) -> u32 {
        assert!((1..=Sprayed::MAX_PATHS).contains(&way.paths.len()), "{} paths", way.paths.len());
        let number = self.bundles.len() as u32;
        let mark = EDGE | number << 8;
        let paths = (0_u32..).zip(&way.paths).map(|(at, (links, _))| self.add_route(links, mark | at));
        let paths = paths.collect();
        let exit = self.add_route(&way.after, end);
        let weights: Vec<_> = way.paths.iter().map(|(_, weight)| *weight).collect();
        let side = |last: u8| IpAddr::V4(Ipv4Addr::new(10, 0, 0, last));
        self.bundles.push(Bundle {
            scheduler: Scheduler::new(way.policy, &weights),
            resequencer: way
                .resequencing
                .map(|settings| Resequencer::new(Settings { flows: 1, ..settings }, 1)),
            paths,
            exit,
            flow: FiveTuple { src: side(1), dst: side(2), src_port: 1, dst_port: 2 },
            payload,
            headers,
            look: Picos::NEVER,
        });
        self.add_route(&way.before, mark | SPREADS)
    }

    /// Handles a packet at an edge that sprays or resequences.
    pub(super) fn pass_edge(&mut self, mark: u32, mut packet: Packet) {
        let number = (mark & !EDGE) >> 8;
        let bundle = &mut self.bundles[number as usize];
        if mark & SPREADS == SPREADS {
            let path = bundle.scheduler.pick(time(self.now), packet.size().into());
            // Without any weight there is no path.
            let Some(start) = path.and_then(|path| bundle.paths.get(path)) else { return };
            packet.at = *start;
            self.put_on(self.routes[packet.at as usize], packet);
        } else {
            self.put_in_order(number, PathId((mark & 0xff) as u8), packet);
        }
    }

    fn put_in_order(&mut self, number: u32, path: PathId, packet: Packet) {
        let bundle = &mut self.bundles[number as usize];
        let (segment, size) = (bundle.segment(&packet), u32::from(packet.size()));
        let fate = match &mut bundle.resequencer {
            Some(resequencer) => {
                resequencer.offer(time(self.now), &bundle.flow, segment, path, size, || packet)
            }
            None => Fate::Forward,
        };
        if fate == Fate::Forward {
            self.leave_edge(number, packet);
        }
        self.release(number);
    }

    pub(super) fn edge_timeout(&mut self, number: u32) {
        if let Some(resequencer) = &mut self.bundles[number as usize].resequencer {
            resequencer.handle_timeout(time(self.now));
        }
        self.release(number);
    }

    fn release(&mut self, number: u32) {
        let next = |all: &mut Self| all.bundles[number as usize].resequencer.as_mut()?.poll_packet();
        while let Some(packet) = next(self) {
            self.leave_edge(number, packet);
        }
        self.watch(number, Side::Edge);
    }

    fn leave_edge(&mut self, number: u32, mut packet: Packet) {
        packet.at = self.bundles[number as usize].exit;
        self.put_on(self.routes[packet.at as usize], packet);
    }
}

const fn time(picos: Picos) -> Time {
    Time::from_nanos(picos.0.div_ceil(1_000))
}
