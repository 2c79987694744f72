//! Switches, links and hosts around a brain, in virtual time.

mod carry;
mod late;
mod leases;
mod stall;
mod trouble;

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::net::IpAddr;
use std::time::Duration;

use braid_packet::arp::Arp;
use braid_packet::{TcpFlags, build};
use braid_types::{BitsPerSec, DatapathId, FiveTuple, MacAddr, PortNo, SwitchPort, Time};

use super::switch::FakeSwitch;
use crate::brain::Brain;
use crate::command::Command;
use crate::event::{Event, PortStatus, SwitchPorts};
use crate::notice::Notice;
use crate::request::{Reply, Ticket};
use crate::settings::Settings;

/// The host port of every switch.
pub(super) const HOST_PORT: PortNo = PortNo(100);
/// The EtherType of discovery frames.
const LLDP: [u8; 2] = [0x88, 0xcc];
/// That of test frames.
const EXPERIMENT: [u8; 2] = [0x88, 0xb5];

/// A frame at a host port, and the switches that it passed.
pub(super) type Arrival = (Vec<u8>, Vec<DatapathId>);

pub(super) struct Network {
    pub(super) brain: Brain,
    pub(super) now: Time,
    pub(super) notices: Vec<Notice>,
    /// Replies to applications and host agents.
    pub(super) replies: Vec<(Ticket, Reply)>,
    /// Switches that do not answer barriers.
    pub(super) mute: BTreeSet<DatapathId>,
    /// Switches that were asked for counters of ports.
    pub(super) asked: BTreeSet<DatapathId>,
    /// Test frames that left each port.
    pub(super) tested: BTreeMap<SwitchPort, u64>,
    /// Commands that changed rules and groups, in order.
    pub(super) changes: Vec<Command>,
    /// Unread messages to switches, if switches are slow.
    pub(super) late: Option<BTreeMap<DatapathId, VecDeque<Late>>>,
    /// Messages that switches have read and perhaps confirmed, and when each applies to packets.
    applying: BTreeMap<DatapathId, VecDeque<(Time, Vec<u8>)>>,
    /// The number of fast-failover groups that each switch supports.
    failover_groups: u32,
    /// The number of select groups that each switch supports.
    select_groups: u32,
    /// Events from switches that the brain has not handled yet.
    said: VecDeque<Event<'static>>,
    telling: bool,
    /// What switches have said and the controller does not get to read, if it is busy.
    unread: Option<VecDeque<Event<'static>>>,
    /// Whether no controller runs.
    dead: bool,
    switches: BTreeMap<DatapathId, FakeSwitch>,
    with_host: BTreeSet<DatapathId>,
    /// Switches that identify as edges.
    edges: BTreeSet<DatapathId>,
    far_ends: BTreeMap<SwitchPort, SwitchPort>,
    cut: BTreeSet<SwitchPort>,
    unplugged: BTreeSet<SwitchPort>,
    /// Frames that reached a host port, and the switches that each passed.
    arrived: BTreeMap<DatapathId, Vec<Arrival>>,
    flying: VecDeque<(SwitchPort, Vec<u8>, Vec<DatapathId>)>,
}

/// Milliseconds for which a switch may apply old rules after confirming new ones, as observed with Open
/// vSwitch.
const BEHIND: u64 = 13;

/// An unread message to a switch.
pub(super) enum Late {
    Message(Vec<u8>),
    Barrier(u32),
}

pub(super) fn dpid(number: u64) -> DatapathId {
    DatapathId(number)
}

pub(super) fn mac(number: u64) -> MacAddr {
    MacAddr::from_u64(0x00aa_0000_0000 + number)
}

pub(super) fn ip(number: u64) -> IpAddr {
    IpAddr::from([10, 0, 0, number as u8])
}

pub(super) fn ip6(number: u64) -> IpAddr {
    IpAddr::from([0xfd00, 0, 0, 0, 0, 0, 0, number as u16])
}

/// Port `b` of switch `a` leads to switch `b`.
pub(super) fn port(a: u64, b: u64) -> SwitchPort {
    SwitchPort::new(dpid(a), PortNo(b as u32))
}

pub(super) fn tuple(src: IpAddr, src_port: u16, dst: IpAddr) -> FiveTuple {
    FiveTuple { src, dst, src_port, dst_port: 5201 }
}

impl Network {
    /// Switches joined by links, a host at each switch in `hosts`, everything discovered.
    pub(super) fn start(links: &[(u64, u64)], hosts: &[u64]) -> Self {
        Self::start_with(Settings::default(), links, hosts)
    }

    pub(super) fn start_with(settings: Settings, links: &[(u64, u64)], hosts: &[u64]) -> Self {
        Self::start_on(u32::MAX, settings, links, hosts)
    }

    /// A network whose switches support this many fast-failover groups.
    pub(super) fn start_on(groups: u32, settings: Settings, links: &[(u64, u64)], hosts: &[u64]) -> Self {
        let mut network = Self { failover_groups: groups, ..Self::wire(settings, links) };
        network.with_host = hosts.iter().map(|host| dpid(*host)).collect();
        network.bring_up(hosts);
        network
    }

    /// A network where the switches with hosts are edges.
    pub(super) fn start_with_edges(settings: Settings, links: &[(u64, u64)], hosts: &[u64]) -> Self {
        let mut network = Self { failover_groups: u32::MAX, ..Self::wire(settings, links) };
        network.with_host = hosts.iter().map(|host| dpid(*host)).collect();
        network.edges = network.with_host.clone();
        network.bring_up(hosts);
        network
    }

    /// A network whose switches support select groups and, perhaps, fast-failover groups.
    pub(super) fn start_with_ecmp(
        is_protected: bool,
        settings: Settings,
        links: &[(u64, u64)],
        hosts: &[u64],
    ) -> Self {
        let failover_groups = if is_protected { u32::MAX } else { 0 };
        let mut network = Self { failover_groups, select_groups: u32::MAX, ..Self::wire(settings, links) };
        network.with_host = hosts.iter().map(|host| dpid(*host)).collect();
        network.bring_up(hosts);
        network
    }

    fn bring_up(&mut self, hosts: &[u64]) {
        for number in self.numbers() {
            self.connect(number);
        }
        self.advance(Duration::from_secs(3));
        hosts.iter().for_each(|host| self.announce(*host));
    }

    fn wire(settings: Settings, links: &[(u64, u64)]) -> Self {
        let mut network = Self {
            brain: Brain::new(settings),
            now: Time::from_millis(1),
            notices: Vec::new(),
            replies: Vec::new(),
            mute: BTreeSet::new(),
            asked: BTreeSet::new(),
            tested: BTreeMap::new(),
            switches: BTreeMap::new(),
            changes: Vec::new(),
            late: None,
            applying: BTreeMap::new(),
            failover_groups: 0,
            select_groups: 0,
            said: VecDeque::new(),
            telling: false,
            unread: None,
            dead: false,
            with_host: BTreeSet::new(),
            edges: BTreeSet::new(),
            far_ends: BTreeMap::new(),
            cut: BTreeSet::new(),
            unplugged: BTreeSet::new(),
            arrived: BTreeMap::new(),
            flying: VecDeque::new(),
        };
        for (a, b) in links {
            network.far_ends.insert(port(*a, *b), port(*b, *a));
            network.far_ends.insert(port(*b, *a), port(*a, *b));
            network.switches.entry(dpid(*a)).or_default();
            network.switches.entry(dpid(*b)).or_default();
        }
        network
    }

    /// The switches.
    pub(super) fn numbers(&self) -> Vec<u64> {
        self.switches.keys().map(|dpid| dpid.0).collect()
    }

    /// Stops the controller. The switches continue.
    pub(super) fn kill(&mut self) {
        self.dead = true;
    }

    /// Starts another controller, without state and connections.
    pub(super) fn start_again(&mut self) {
        self.start_again_with(self.brain.settings().clone());
    }

    /// Starts another controller with these settings.
    pub(super) fn start_again_with(&mut self, settings: Settings) {
        self.brain = Brain::new(settings);
        (self.dead, self.now) = (false, Time::from_millis(1));
        self.changes.clear();
        self.notices.clear();
    }

    /// Connects a switch with its installed rules.
    pub(super) fn connect(&mut self, number: u64) {
        let dpid = dpid(number);
        let with_host = self.with_host.contains(&dpid);
        let found = Some(self.switches[&dpid].found());
        let mut numbers: Vec<_> =
            self.far_ends.keys().filter(|at| at.dpid == dpid).map(|at| at.port).collect();
        numbers.extend(with_host.then_some(HOST_PORT));
        let up = |port: &PortNo| !self.unplugged.contains(&SwitchPort::new(dpid, *port));
        let ports = numbers.iter().map(|port| status(dpid, *port, up(port))).collect();
        let kind = if self.edges.contains(&dpid) { "Braid edge 1" } else { "Open vSwitch" };
        let (description, failover_groups) = (kind.to_owned(), self.failover_groups);
        let (select_groups, installed) = (self.select_groups, found);
        let switch =
            SwitchPorts { dpid, tables: 254, description, ports, failover_groups, select_groups, installed };
        self.tell(&Event::SwitchUp(switch));
    }

    /// Lets time pass.
    pub(super) fn advance(&mut self, duration: Duration) {
        let (step, end) = (Duration::from_millis(100), self.now + duration);
        while self.now < end {
            let next = self.now + step;
            self.wake_until(next);
            self.now = next;
            self.tell(&Event::Tick);
        }
        self.check_leases();
    }

    /// Lets the brain do its work that is due before `end`.
    pub(super) fn wake_until(&mut self, end: Time) {
        while let Some(at) = self.brain.wake_at().filter(|at| !self.dead && *at < end) {
            self.now = self.now.max(at);
            self.tell(&Event::Tick);
        }
    }

    /// Lets a host send a frame; the frames that reach hosts follow from [`received`](Self::received).
    pub(super) fn send(&mut self, host: u64, frame: &[u8]) {
        self.arrived.clear();
        let at = SwitchPort::new(dpid(host), HOST_PORT);
        let outputs = self.switches[&at.dpid].forward(at.port, frame);
        self.emit(at.dpid, at.port, outputs, &[at.dpid]);
        while let Some((at, frame, way)) = self.flying.pop_front() {
            self.arrive(at, &frame, way);
        }
        self.wake_until(self.now + Duration::from_millis(100));
    }

    /// The frames that a host received after the last [`send`](Self::send), with the switches that each
    /// passed.
    pub(super) fn received(&self, host: u64) -> &[Arrival] {
        self.arrived.get(&dpid(host)).map(Vec::as_slice).unwrap_or_default()
    }

    /// The switches that the last frame to the host passed. Exactly one frame must have arrived.
    pub(super) fn way_to(&self, host: u64) -> Vec<u64> {
        match self.received(host) {
            [(_, way)] => way.iter().map(|dpid| dpid.0).collect(),
            other => panic!("host {host} received {} frames: {other:?}", other.len()),
        }
    }

    /// Delivers a frame at a port of a switch.
    pub(super) fn arrive_at(&mut self, at: SwitchPort, frame: &[u8]) {
        self.arrive(at, frame, Vec::new());
    }

    /// Lets the host announce itself.
    pub(super) fn announce(&mut self, host: u64) {
        let IpAddr::V4(address) = ip(host) else { unreachable!() };
        self.send(host, &Arp::request(mac(host), address, address).frame());
    }

    /// Lets the host send a TCP segment with the right addresses.
    pub(super) fn send_tcp(&mut self, from: u64, to: u64, tuple: FiveTuple, flags: TcpFlags, options: &[u8]) {
        let frame = build::tcp(tuple).macs(mac(from), mac(to)).flags(flags).options(options).frame();
        self.send(from, &frame);
    }

    /// The fake switch.
    pub(super) fn switch(&mut self, number: u64) -> &mut FakeSwitch {
        self.switches.get_mut(&dpid(number)).expect("known switch")
    }

    /// The number of rules of one table in all switches.
    pub(super) fn rules(&self, table: u8) -> usize {
        self.switches.values().map(|switch| switch.rules(table)).sum()
    }
}

fn status(dpid: DatapathId, port: PortNo, up: bool) -> PortStatus {
    let mac = MacAddr::from_u64((dpid.0 << 16) + u64::from(port.0));
    PortStatus { port, mac, name: format!("p{port}"), up, speed: BitsPerSec(1_000_000_000) }
}
