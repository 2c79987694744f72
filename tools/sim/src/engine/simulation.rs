//! The simulation: links, connections, the event loop and counters.

use braid_link_model::Parameters;
use braid_types::SplitMix64;

use super::connection::{Connection, NewConnection, Status, Subflow};
use super::edges::{Bundle, EDGE};
use super::link::Link;
use super::packet::Packet;
use super::timers::Timer;
use super::{EventQueue, LinkCounters, Picos, Way};
use crate::transport::Kin;

/// A link of one [`Simulation`].
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct LinkId(pub(crate) u32);

/// A connection of one [`Simulation`].
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct ConnectionId(pub(crate) u32);

/// The counters of a subflow.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct SubflowCounters {
    /// Bytes of data that were acknowledged in order, those that another subflow carried too among them.
    pub acknowledged: u64,
    /// Segments that were sent again.
    pub retransmissions: u64,
    /// The number of time-outs.
    pub timeouts: u32,
    /// The congestion window, in segments.
    pub cwnd: u32,
    /// The smoothed round-trip time; zero before the first.
    pub srtt: Picos,
}

/// A network and the connections through it. Performs no I/O.
///
/// Links are added first. Then, any number of times: open connections, change links, [`Self::run_until`] a later time,
/// read counters. An event is a packet that arrives at the end of a link, or a timer.
#[derive(Clone, Debug)]
pub struct Simulation {
    pub(super) now: Picos,
    pub(super) event_queue: EventQueue,
    pub(super) links: Vec<Link>,
    /// The routes one after the other: numbers of links, then the subflow's number with its end, or an edge.
    pub(super) routes: Vec<u32>,
    pub(super) connections: Vec<Connection>,
    pub(super) subflows: Vec<Subflow>,
    pub(super) bundles: Vec<Bundle>,
    pub(super) timers: Vec<Timer>,
    pub(super) free_timers: Vec<u32>,
    pub(super) finished: Vec<ConnectionId>,
    /// Memory for the input of a window's formula.
    pub(super) kin: Vec<Kin>,
    random: SplitMix64,
    events: u64,
}

/// In the table of routes: not a link, but an end of a subflow.
pub(super) const END: u32 = 1 << 31;

impl Simulation {
    /// A simulation without links. `spacing` is the approximate interval of events: a good value is the transmission
    /// time of a frame divided by the number of links. It changes only the speed of the simulation.
    pub fn new(spacing: Picos, seed: u64) -> Self {
        Self {
            now: Picos::ZERO,
            event_queue: EventQueue::new(spacing),
            links: Vec::new(),
            routes: Vec::new(),
            connections: Vec::new(),
            subflows: Vec::new(),
            bundles: Vec::new(),
            timers: Vec::new(),
            free_timers: Vec::new(),
            finished: Vec::new(),
            kin: Vec::new(),
            random: SplitMix64::new(seed),
            events: 0,
        }
    }

    /// Adds a directed link. Jitter, reordering and bursts of losses are not simulated.
    ///
    /// # Panics
    ///
    /// Once a connection was opened, and beyond 2³⁰ links.
    pub fn add_link(&mut self, parameters: &Parameters) -> LinkId {
        assert!(self.connections.is_empty() && self.links.len() < 1 << 30, "links come first");
        let id = LinkId(self.links.len() as u32);
        self.links.push(Link::new(parameters, self.random.next_u64()));
        self.event_queue.reserve(self.links.len());
        id
    }

    /// Makes senders wait for a link that leaves their host, instead of losing frames to its queue.
    pub fn hold_senders(&mut self, link: LinkId) {
        self.links[link.0 as usize].hold_senders();
    }

    /// Opens a connection now.
    ///
    /// # Panics
    ///
    /// Without a way or with more than [`NewConnection::MAX_SUBFLOWS`], with a way without links, and beyond 2³⁰ subflows.
    pub fn open(&mut self, new: &NewConnection) -> ConnectionId {
        let ways = new.ways.len();
        assert!(
            (1..=NewConnection::MAX_SUBFLOWS).contains(&ways),
            "a connection has 1 to 16 subflows, not {ways}"
        );
        let id = ConnectionId(self.connections.len() as u32);
        let first = self.subflows.len() as u32;
        for way in &new.ways {
            let end = END | (self.subflows.len() as u32) << 1;
            let [forward, back] =
                [(&way.forward, end), (&way.back, end | 1)].map(|(links, end)| self.add_route(links, end));
            self.subflows.push(Subflow::new(id.0, forward, back, new));
        }
        self.connections.push(Connection::new(new, first));
        self.begin(first, new.set_up);
        id
    }

    /// Reroutes a subflow's later packets; those in flight continue on the old route.
    ///
    /// # Panics
    ///
    /// If the connection has no such subflow, and with a way without links.
    pub fn reroute(&mut self, connection: ConnectionId, subflow: usize, way: &Way) {
        let all = self.connections[connection.0 as usize].subflows.clone();
        let number = all.clone().nth(subflow).unwrap_or_else(|| panic!("{} subflows", all.len()));
        let end = END | number << 1;
        let [forward, back] =
            [(&way.forward, end), (&way.back, end | 1)].map(|(links, end)| self.add_route(links, end));
        let it = &mut self.subflows[number as usize];
        (it.forward, it.back) = (forward, back);
    }

    /// Ends a subflow, as a host does by advice: nothing more is sent on it, and data in flight is sent again on the
    /// others, unless it arrives before. A connection whose last subflow ends delivers nothing more.
    ///
    /// # Panics
    ///
    /// If the connection has no such subflow.
    pub fn close(&mut self, connection: ConnectionId, subflow: usize) {
        let all = self.connections[connection.0 as usize].subflows.clone();
        let number = all.clone().nth(subflow).unwrap_or_else(|| panic!("{} subflows", all.len()));
        let it = &mut self.subflows[number as usize];
        it.status = Status::Closed;
        (it.sender.deadline, it.resume) = (None, None);
        it.sender.lose_all();
        it.queue.clear();
        let owner = &mut self.connections[connection.0 as usize];
        if owner.buffers.is_some() {
            self.send_all_again(connection.0);
            self.push(connection.0);
        } else {
            owner.send_elsewhere(it.sender.lost_data());
            self.send_on_all(connection.0);
        }
    }

    pub(super) fn add_route(&mut self, links: &[LinkId], end: u32) -> u32 {
        assert!(!links.is_empty() && self.subflows.len() < 1 << 30, "a way has a link at least");
        let place = u32::try_from(self.routes.len()).unwrap_or(u32::MAX);
        self.routes.extend(links.iter().map(|link| link.0));
        self.routes.push(end);
        place
    }

    /// Processes all events due by `until`.
    pub fn run_until(&mut self, until: Picos) {
        let links = self.links.len() as u32;
        while let Some((thing, due)) = self.event_queue.pop(until) {
            self.now = due;
            self.events += 1;
            if thing < links {
                self.arrive(thing);
            } else {
                self.look(thing - links);
            }
        }
        self.now = self.now.max(until);
    }

    /// Cuts a link: packets inside it are lost, and all that follow until it is restored.
    pub fn cut(&mut self, link: LinkId) {
        self.links[link.0 as usize].cut(self.now);
    }

    /// Restores a link that was cut.
    pub fn restore(&mut self, link: LinkId) {
        self.links[link.0 as usize].restore();
    }

    /// The present time.
    pub const fn now(&self) -> Picos {
        self.now
    }

    /// The number of events so far.
    pub const fn events(&self) -> u64 {
        self.events
    }

    /// The connections that have finished since the last call, in the order of time.
    pub fn take_finished(&mut self) -> Vec<ConnectionId> {
        std::mem::take(&mut self.finished)
    }

    /// When the last byte of a connection arrived.
    pub fn finished(&self, connection: ConnectionId) -> Option<Picos> {
        self.connections[connection.0 as usize].finished
    }

    /// The bytes of a connection's data that have arrived without a gap.
    pub fn delivered(&self, connection: ConnectionId) -> u64 {
        self.connections[connection.0 as usize].delivered()
    }

    /// The fates of the frames offered to a link.
    pub fn link(&self, link: LinkId) -> LinkCounters {
        self.links[link.0 as usize].counters
    }

    /// The counters of a connection's subflows, in the order of its routes.
    pub fn subflows(&self, connection: ConnectionId) -> impl Iterator<Item = SubflowCounters> {
        let connection = &self.connections[connection.0 as usize];
        let payload = u64::from(connection.shape.payload);
        connection.subflows.clone().map(move |subflow| {
            let sender = &self.subflows[subflow as usize].sender;
            SubflowCounters {
                acknowledged: u64::from(sender.acknowledged()) * payload,
                retransmissions: sender.retransmissions,
                timeouts: sender.timeouts,
                cwnd: sender.cwnd(),
                srtt: sender.rtt.smoothed(),
            }
        })
    }

    /// The approximate memory in bytes.
    pub fn memory(&self) -> usize {
        let links = self.links.iter().map(|link| size_of::<Link>() + link.memory()).sum::<usize>();
        let ends = |subflow: &Subflow| size_of::<Subflow>() + subflow.sender.memory();
        links + self.subflows.iter().map(ends).sum::<usize>() + self.routes.len() * size_of::<u32>()
    }

    /// Handles a packet at the end of a link, unless the link was cut.
    fn arrive(&mut self, id: u32) {
        let link = &mut self.links[id as usize];
        let packet = link.take(self.now);
        match link.next_arrival() {
            Some(next) => self.event_queue.push(id, next),
            None => link.is_due = false,
        }
        if let Some(packet) = packet {
            self.pass_on(packet);
        }
    }

    /// Puts a packet on the next link of its route, or passes it to the host at the end.
    fn pass_on(&mut self, mut packet: Packet) {
        packet.at += 1;
        let next = self.routes[packet.at as usize];
        if next < EDGE {
            self.put_on(next, packet);
        } else if next < END {
            self.pass_edge(next, packet);
        } else {
            self.take_in(next & !END, packet);
        }
    }

    pub(super) fn put_on(&mut self, id: u32, packet: Packet) {
        let link = &mut self.links[id as usize];
        link.offer(self.now, packet);
        if !link.is_due
            && let Some(next) = link.next_arrival()
        {
            link.is_due = true;
            self.event_queue.push(id, next);
        }
    }
}
