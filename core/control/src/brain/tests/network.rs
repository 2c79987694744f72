//! Switches, cables and hosts around a brain, in virtual time.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::net::IpAddr;
use std::time::Duration;

use braid_openflow::Xid;
use braid_packet::arp::Arp;
use braid_packet::{TcpFlags, build};
use braid_types::{BitsPerSec, DatapathId, FiveTuple, MacAddr, PortNo, SwitchPort, Time};

use super::switch::{FakeSwitch, Output};
use crate::brain::{Brain, Settings};
use crate::command::{Command, Commands};
use crate::event::{Event, PortStatus, SwitchPorts};
use crate::notice::Notice;
use crate::pipeline::{Encoder, Rule};
use crate::request::{Reply, Ticket};

/// Every host's port on its switch.
pub(super) const HOST_PORT: PortNo = PortNo(100);
/// The EtherType of discovery frames.
const LLDP: [u8; 2] = [0x88, 0xcc];

/// A frame at a host's port, and the switches that it passed.
pub(super) type Arrival = (Vec<u8>, Vec<DatapathId>);

pub(super) struct Network {
    pub(super) brain: Brain,
    pub(super) now: Time,
    pub(super) notices: Vec<Notice>,
    /// What those were told who asked for advice.
    /// What applications were told.
    pub(super) replies: Vec<(Ticket, Reply)>,
    /// Switches whose barriers are not answered.
    pub(super) mute: BTreeSet<DatapathId>,
    /// What changed rules and groups, in order.
    pub(super) changes: Vec<Command>,
    /// What switches are told and have not read yet, if they take their time.
    pub(super) late: Option<BTreeMap<DatapathId, VecDeque<Late>>>,
    /// What switches have read and perhaps confirmed, and when packets will be treated accordingly.
    applying: BTreeMap<DatapathId, VecDeque<(Time, Vec<u8>)>>,
    /// How many groups of type fast failover each switch can have.
    failover_groups: u32,
    /// What switches have said that the brain has not heard yet.
    said: VecDeque<Event<'static>>,
    telling: bool,
    /// Whether no controller runs.
    dead: bool,
    switches: BTreeMap<DatapathId, FakeSwitch>,
    with_host: BTreeSet<DatapathId>,
    /// Switches that say that they are edges.
    edges: BTreeSet<DatapathId>,
    cables: BTreeMap<SwitchPort, SwitchPort>,
    cut: BTreeSet<SwitchPort>,
    unplugged: BTreeSet<SwitchPort>,
    /// Frames that reached a host's port, and the switches that each passed.
    arrived: BTreeMap<DatapathId, Vec<Arrival>>,
    flying: VecDeque<(SwitchPort, Vec<u8>, Vec<DatapathId>)>,
}

/// For how many milliseconds after it has confirmed a rule a switch may treat packets as before; seen of Open vSwitch.
const BEHIND: u64 = 13;

/// A message to a switch that it has not read.
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
    /// Switches joined by cables, a host at each switch in `hosts`, everything discovered.
    pub(super) fn start(cables: &[(u64, u64)], hosts: &[u64]) -> Self {
        Self::start_with(Settings::default(), cables, hosts)
    }

    pub(super) fn start_with(settings: Settings, cables: &[(u64, u64)], hosts: &[u64]) -> Self {
        Self::start_on(u32::MAX, settings, cables, hosts)
    }

    /// The same, with switches that can have so many groups of type fast failover.
    pub(super) fn start_on(groups: u32, settings: Settings, cables: &[(u64, u64)], hosts: &[u64]) -> Self {
        let mut network = Self { failover_groups: groups, ..Self::wire(settings, cables) };
        network.with_host = hosts.iter().map(|host| dpid(*host)).collect();
        network.bring_up(hosts);
        network
    }

    /// The same, where the switches with hosts are edges.
    pub(super) fn start_with_edges(settings: Settings, cables: &[(u64, u64)], hosts: &[u64]) -> Self {
        let mut network = Self { failover_groups: u32::MAX, ..Self::wire(settings, cables) };
        network.with_host = hosts.iter().map(|host| dpid(*host)).collect();
        network.edges = network.with_host.clone();
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

    fn wire(settings: Settings, cables: &[(u64, u64)]) -> Self {
        let mut network = Self {
            brain: Brain::new(settings),
            now: Time::from_millis(1),
            notices: Vec::new(),
            replies: Vec::new(),
            mute: BTreeSet::new(),
            switches: BTreeMap::new(),
            changes: Vec::new(),
            late: None,
            applying: BTreeMap::new(),
            failover_groups: 0,
            said: VecDeque::new(),
            telling: false,
            dead: false,
            with_host: BTreeSet::new(),
            edges: BTreeSet::new(),
            cables: BTreeMap::new(),
            cut: BTreeSet::new(),
            unplugged: BTreeSet::new(),
            arrived: BTreeMap::new(),
            flying: VecDeque::new(),
        };
        for (a, b) in cables {
            network.cables.insert(port(*a, *b), port(*b, *a));
            network.cables.insert(port(*b, *a), port(*a, *b));
            network.switches.entry(dpid(*a)).or_default();
            network.switches.entry(dpid(*b)).or_default();
        }
        network
    }

    /// The switches.
    pub(super) fn numbers(&self) -> Vec<u64> {
        self.switches.keys().map(|dpid| dpid.0).collect()
    }

    /// The controller is gone. The switches go on.
    pub(super) fn kill(&mut self) {
        self.dead = true;
    }

    /// Another controller starts. It knows nothing, and no switch is connected yet.
    pub(super) fn start_again(&mut self) {
        self.start_again_with(self.brain.settings().clone());
    }

    /// The same, with other settings.
    pub(super) fn start_again_with(&mut self, settings: Settings) {
        self.brain = Brain::new(settings);
        (self.dead, self.now) = (false, Time::from_millis(1));
        self.changes.clear();
        self.notices.clear();
    }

    /// A switch connects, with the rules that it has.
    pub(super) fn connect(&mut self, number: u64) {
        let dpid = dpid(number);
        let with_host = self.with_host.contains(&dpid);
        let found = Some(self.switches[&dpid].found());
        let mut numbers: Vec<_> = self.cables.keys().filter(|at| at.dpid == dpid).map(|at| at.port).collect();
        numbers.extend(with_host.then_some(HOST_PORT));
        let up = |port: &PortNo| !self.unplugged.contains(&SwitchPort::new(dpid, *port));
        let ports = numbers.iter().map(|port| status(dpid, *port, up(port))).collect();
        let kind = if self.edges.contains(&dpid) { "Braid edge 1" } else { "Open vSwitch" };
        let (description, failover_groups) = (kind.to_owned(), self.failover_groups);
        let switch = SwitchPorts { dpid, tables: 254, description, ports, failover_groups, found };
        self.tell(&Event::SwitchUp(switch));
    }

    /// Tells the brain, carries out what it says, and so on until nothing moves.
    pub(super) fn tell(&mut self, event: &Event<'_>) {
        if self.dead {
            return;
        }
        let is_first = !std::mem::replace(&mut self.telling, true);
        let mut commands = Commands::default();
        self.brain.handle(self.now, event, &mut commands);
        self.replies.extend(commands.take_replies());
        self.carry_out_all(&commands);
        if is_first {
            self.settle();
            self.telling = false;
        }
    }

    /// What switches say while they are told something comes to the brain afterwards.
    fn say(&mut self, event: Event<'static>) {
        if self.telling {
            self.said.push_back(event);
        } else {
            self.tell(&event);
        }
    }

    fn settle(&mut self) {
        loop {
            if let Some(event) = self.said.pop_front() {
                self.tell(&event);
            } else if self.late.is_none()
                && let Some((at, frame, way)) = self.flying.pop_front()
            {
                assert!(way.len() < 32, "a frame goes round in circles: {way:?}");
                self.arrive(at, &frame, way);
            } else {
                return;
            }
        }
    }

    /// What the brain has said, in its order.
    pub(super) fn carry_out_all(&mut self, commands: &Commands) {
        self.notices.extend(commands.notices().iter().cloned());
        for command in commands {
            self.carry_out(command, commands);
        }
    }

    fn carry_out(&mut self, command: &Command, batch: &Commands) {
        let dpid = command.dpid();
        if let Command::Barrier { token, .. } = command {
            if let Some(queues) = &mut self.late {
                queues.entry(dpid).or_default().push_back(Late::Barrier(*token));
            } else if !self.mute.contains(&dpid) {
                self.say(Event::Barrier { dpid, token: *token });
            }
            return;
        }
        if self.late.is_none() {
            return self.obey_now(command, batch);
        }
        let bytes = self.note_and_encode(command, batch);
        let queues = self.late.get_or_insert_default();
        queues.entry(dpid).or_default().push_back(Late::Message(bytes));
    }

    fn obey_now(&mut self, command: &Command, batch: &Commands) {
        let bytes = self.note_and_encode(command, batch);
        self.obey(command.dpid(), &bytes);
    }

    fn note_and_encode(&mut self, command: &Command, batch: &Commands) -> Vec<u8> {
        if !matches!(
            command,
            Command::Send { .. }
                | Command::ReadStreams { .. }
                | Command::ReadPorts { .. }
                | Command::ReadEdge { .. }
        ) {
            self.changes.push(command.clone());
        }
        let mut bytes = Vec::new();
        Encoder::new(Duration::from_secs(60))
            .encode(command, batch, Xid(1), &mut bytes)
            .expect("short message");
        bytes
    }

    fn obey(&mut self, dpid: DatapathId, bytes: &[u8]) {
        let outputs = self.switches.get_mut(&dpid).expect("known switch").obey(bytes);
        self.emit(dpid, PortNo::CONTROLLER, outputs, &[dpid]);
    }

    fn emit(&mut self, dpid: DatapathId, in_port: PortNo, outputs: Vec<Output>, way: &[DatapathId]) {
        for output in outputs {
            match output {
                Output::Controller(table, frame) => {
                    self.say(Event::PacketIn { dpid, in_port, table, data: Cow::Owned(frame) });
                }
                // Hosts do not look at discovery frames, which come when they are due.
                Output::Port(HOST_PORT, frame) if frame[12..14] == LLDP => {}
                Output::Port(HOST_PORT, frame) => {
                    self.arrived.entry(dpid).or_default().push((frame, way.to_vec()));
                }
                Output::Port(port, frame) => {
                    let from = SwitchPort::new(dpid, port);
                    if !self.cut.contains(&from) {
                        self.flying.push_back((self.cables[&from], frame, way.to_vec()));
                    }
                }
            }
        }
    }

    fn arrive(&mut self, at: SwitchPort, frame: &[u8], mut way: Vec<DatapathId>) {
        way.push(at.dpid);
        let outputs = self.switches[&at.dpid].forward(at.port, frame);
        self.emit(at.dpid, at.port, outputs, &way);
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
    }

    /// Lets the brain do what it wants to do before `end`.
    pub(super) fn wake_until(&mut self, end: Time) {
        while let Some(at) = self.brain.wake_at().filter(|at| !self.dead && *at < end) {
            self.now = self.now.max(at);
            self.tell(&Event::Tick);
        }
    }

    /// The host at a switch sends a frame; returns the frames that reach hosts because of it.
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

    /// What the host at a switch received because of the last [`send`](Self::send): frames and their way.
    pub(super) fn received(&self, host: u64) -> &[Arrival] {
        self.arrived.get(&dpid(host)).map(Vec::as_slice).unwrap_or_default()
    }

    /// The switches that the last frame passed on its way to the host, which got exactly that one.
    pub(super) fn way_to(&self, host: u64) -> Vec<u64> {
        match self.received(host) {
            [(_, way)] => way.iter().map(|dpid| dpid.0).collect(),
            other => panic!("host {host} received {} frames: {other:?}", other.len()),
        }
    }

    /// The host at a switch sends a frame, which gets no further yet than into the first cable.
    pub(super) fn inject(&mut self, host: u64, frame: &[u8]) {
        let at = SwitchPort::new(dpid(host), HOST_PORT);
        let outputs = self.switches[&at.dpid].forward(at.port, frame);
        self.emit(at.dpid, at.port, outputs, &[at.dpid]);
    }

    /// One of the frames in the cables gets to the next switch.
    pub(super) fn fly(&mut self, choice: usize) {
        let index = choice % self.flying.len().max(1);
        if let Some((at, frame, way)) = self.flying.remove(index) {
            assert!(way.len() < 32, "a frame goes round in circles: {way:?}");
            self.arrive(at, &frame, way);
        }
    }

    /// A switch reads one of the messages that it was sent.
    pub(super) fn act_late(&mut self, choice: usize) {
        let busy: Vec<_> = self.late.iter().flatten().filter(|(_, queue)| !queue.is_empty()).collect();
        let Some(dpid) = busy.get(choice % busy.len().max(1)).map(|(dpid, _)| **dpid) else { return };
        let next = self.late.as_mut().and_then(|queues| queues.get_mut(&dpid)?.pop_front());
        match next {
            Some(Late::Message(bytes)) => {
                let due = self.now + Duration::from_millis(choice as u64 / 64 % (BEHIND + 1));
                self.applying.entry(dpid).or_default().push_back((due, bytes));
            }
            Some(Late::Barrier(token)) => self.tell(&Event::Barrier { dpid, token }),
            None => {}
        }
    }

    /// Packets are treated from now on according to what has been due.
    pub(super) fn apply_late(&mut self) {
        let (now, mut ready) = (self.now, Vec::new());
        for (dpid, queue) in &mut self.applying {
            while queue.front().is_some_and(|(due, _)| *due <= now) {
                ready.extend(queue.pop_front().map(|(_, bytes)| (*dpid, bytes)));
            }
        }
        ready.into_iter().for_each(|(dpid, bytes)| self.obey(dpid, &bytes));
    }

    /// Whether no frame is in a cable and no message with a switch.
    pub(super) fn is_quiet(&self) -> bool {
        let is_read = self.late.iter().flatten().all(|(_, queue)| queue.is_empty());
        self.flying.is_empty() && is_read && self.applying.values().all(VecDeque::is_empty)
    }

    /// How many frames are in the cables.
    pub(super) fn flying(&self) -> usize {
        self.flying.len()
    }

    /// What the host at a switch received since this was asked last.
    pub(super) fn take_received(&mut self, host: u64) -> Vec<Arrival> {
        self.arrived.remove(&dpid(host)).unwrap_or_default()
    }

    /// A frame comes in at a port of a switch.
    pub(super) fn arrive_at(&mut self, at: SwitchPort, frame: &[u8]) {
        self.arrive(at, frame, Vec::new());
    }

    /// A switch notices that a port is up, or down.
    pub(super) fn set_port(&mut self, at: SwitchPort, up: bool) {
        self.tell(&Event::PortUp { dpid: at.dpid, port: status(at.dpid, at.port, up) });
    }

    /// The host makes itself known.
    pub(super) fn announce(&mut self, host: u64) {
        let IpAddr::V4(address) = ip(host) else { unreachable!() };
        self.send(host, &Arp::request(mac(host), address, address).frame());
    }

    /// The host sends a TCP segment with the right addresses.
    pub(super) fn send_tcp(&mut self, from: u64, to: u64, tuple: FiveTuple, flags: TcpFlags, options: &[u8]) {
        let frame = build::tcp(tuple).macs(mac(from), mac(to)).flags(flags).options(options).frame();
        self.send(from, &frame);
    }

    /// A cable is pulled; the switches notice.
    pub(super) fn unplug(&mut self, a: u64, b: u64) {
        self.cut_silently(a, b);
        for at in [port(a, b), port(b, a)] {
            self.unplugged.insert(at);
            self.switch(at.dpid.0).set_down(at.port, true);
            self.tell(&Event::PortUp { dpid: at.dpid, port: status(at.dpid, at.port, false) });
        }
    }

    /// A cable is put back.
    pub(super) fn plug(&mut self, a: u64, b: u64) {
        for at in [port(a, b), port(b, a)] {
            self.cut.remove(&at);
            self.unplugged.remove(&at);
            self.switch(at.dpid.0).set_down(at.port, false);
            self.tell(&Event::PortUp { dpid: at.dpid, port: status(at.dpid, at.port, true) });
        }
    }

    /// A cable carries nothing any more, and no switch notices.
    pub(super) fn cut_silently(&mut self, a: u64, b: u64) {
        self.cut.extend([port(a, b), port(b, a)]);
    }

    /// A switch loses power.
    pub(super) fn disconnect(&mut self, number: u64) {
        let down = self.unplugged.iter().filter(|at| at.dpid == dpid(number)).map(|at| at.port);
        self.switches.insert(dpid(number), FakeSwitch::with_down(down.collect()));
        self.break_channel(number);
    }

    /// A switch's channel breaks; its rules stay.
    pub(super) fn break_channel(&mut self, number: u64) {
        self.tell(&Event::SwitchDown { dpid: dpid(number) });
    }

    /// A switch forgets rules without saying so.
    pub(super) fn lose_rules(&mut self, number: u64, table: u8, priority: u16) {
        self.switches.get_mut(&dpid(number)).expect("known switch").lose(table, priority);
    }

    /// The last rule written that passes the test.
    pub(super) fn find_rule(&self, test: impl Fn(&Rule) -> bool) -> Rule {
        let written = self.changes.iter().rev().filter_map(|command| match command {
            Command::Add { rule, .. } => Some(rule),
            _ => None,
        });
        *written.into_iter().find(|rule| test(rule)).expect("such a rule")
    }

    /// A switch refuses a rule, and does not have it.
    pub(super) fn refuse(&mut self, number: u64, rule: Rule) {
        let (dpid, reason) = (dpid(number), "TableFull".to_owned());
        self.tell(&Event::Refused { dpid, rule: Some(rule), reason });
    }

    /// The switch itself.
    pub(super) fn switch(&mut self, number: u64) -> &mut FakeSwitch {
        self.switches.get_mut(&dpid(number)).expect("known switch")
    }

    /// The rules of one table in all switches.
    pub(super) fn rules(&self, table: u8) -> usize {
        self.switches.values().map(|switch| switch.rules(table)).sum()
    }
}

fn status(dpid: DatapathId, port: PortNo, up: bool) -> PortStatus {
    let mac = MacAddr::from_u64((dpid.0 << 16) + u64::from(port.0));
    PortStatus { port, mac, name: format!("p{port}"), up, speed: BitsPerSec(1_000_000_000) }
}
