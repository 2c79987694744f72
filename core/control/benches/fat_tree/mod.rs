//! MPTCP connections between the hosts of a FatTree with k = 8: each opens, gets a path, and ends when it is the oldest.

use std::borrow::Cow;
use std::collections::{BTreeMap, VecDeque};
use std::net::Ipv4Addr;
use std::time::Duration;

use braid_control::pipeline::Rule;
use braid_control::{
    Brain, Command, Commands, Cookie, Encoder, Event, PortStatus, Settings, SwitchPorts, Target,
};
use braid_openflow::Xid;
use braid_packet::arp::Arp;
use braid_packet::{TcpFlags, build};
use braid_topology::Blueprint;
use braid_topology::generate::{Links, fat_tree};
use braid_types::{BitsPerSec, DatapathId, FiveTuple, MacAddr, SwitchPort, Time};

use crate::two_switches::MP_CAPABLE;

/// Connections at a time.
const STREAMS: usize = 20_000;

#[derive(Clone, Copy)]
struct Host {
    at: SwitchPort,
    mac: MacAddr,
    ip: Ipv4Addr,
}

/// A brain that knows the network, its connections, and what is on the way.
pub(crate) struct Network {
    brain: Brain,
    now: Time,
    encoder: Encoder,
    out: Commands,
    bytes: Vec<u8>,
    links: BTreeMap<SwitchPort, SwitchPort>,
    hosts: Vec<Host>,
    events: VecDeque<Event<'static>>,
    streams: VecDeque<(DatapathId, Cookie)>,
    opened: u32,
    random: u64,
}

impl Network {
    /// With as many connections as there may be.
    pub(crate) fn start() -> Self {
        let blueprint = fat_tree(8, Links::default()).expect("a size that there is");
        let mut network = Self::new(&blueprint);
        for switch in switches(&blueprint) {
            network.tell(&Event::SwitchUp(switch));
        }
        for _ in 0..30 {
            network.now = network.now + Duration::from_millis(100);
            network.tell(&Event::Tick);
        }
        for Host { at, mac, ip } in network.hosts.clone() {
            let data = Cow::Owned(Arp::request(mac, ip, ip).frame());
            network.tell(&Event::PacketIn { dpid: at.dpid, in_port: at.port, table: 0, data });
        }
        (0..STREAMS).for_each(|_| network.connect());
        network
    }

    fn new(blueprint: &Blueprint) -> Self {
        // The benchmark exceeds the default limits of a host port.
        let settings = Settings { punt_rate: 0, new_streams: 0, ..Settings::default() };
        Self {
            encoder: Encoder::new(settings.stream_idle),
            brain: Brain::new(settings),
            now: Time::from_millis(1),
            out: Commands::default(),
            bytes: Vec::new(),
            links: links(blueprint),
            hosts: hosts(blueprint),
            events: VecDeque::new(),
            streams: VecDeque::new(),
            opened: 0,
            random: 1,
        }
    }

    /// Opens a connection, and ends the oldest beyond [`STREAMS`].
    #[inline(never)]
    pub(crate) fn connect(&mut self) {
        self.opened += 1;
        let (from, to) = (self.host(self.opened as usize), self.other_host());
        let src_port = 1_024 + (self.opened / 128 % 60_000) as u16;
        let tuple = FiveTuple { src: from.ip.into(), dst: to.ip.into(), src_port, dst_port: 5_201 };
        let frame =
            build::tcp(tuple).macs(from.mac, to.mac).flags(TcpFlags::SYN).options(&MP_CAPABLE).frame();
        let SwitchPort { dpid, port: in_port } = from.at;
        self.tell(&Event::PacketIn { dpid, in_port, table: 0, data: Cow::Borrowed(&frame) });
        if self.streams.len() > STREAMS
            && let Some((dpid, cookie)) = self.streams.pop_front()
        {
            self.tell(&Event::FlowRemoved { dpid, cookie, bytes: 74 });
        }
    }

    fn host(&self, number: usize) -> Host {
        self.hosts[number % self.hosts.len()]
    }

    /// Any host at another switch than the one whose turn it is (Knuth's MMIX generator).
    fn other_host(&mut self) -> Host {
        loop {
            self.random =
                self.random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            let host = self.host((self.random >> 33) as usize);
            if host.at.dpid != self.host(self.opened as usize).at.dpid {
                return host;
            }
        }
    }

    /// Handles an event and all that follows at once: discovery frames cross links, and barriers are answered.
    fn tell(&mut self, event: &Event<'_>) {
        self.handle(event);
        while let Some(event) = self.events.pop_front() {
            self.handle(&event);
        }
    }

    fn handle(&mut self, event: &Event<'_>) {
        self.now = self.now + Duration::from_nanos(1);
        self.brain.handle(self.now, event, &mut self.out);
        self.bytes.clear();
        for command in &self.out {
            let _ = self.encoder.encode(command, &self.out, Xid(1), &mut self.bytes);
            match command {
                Command::Send { dpid, target: Target::Port(port), frame } => {
                    let Some(to) = self.links.get(&SwitchPort::new(*dpid, *port)) else { continue };
                    let data = Cow::Owned(self.out.frame(frame).to_vec());
                    let (dpid, in_port) = (to.dpid, to.port);
                    self.events.push_back(Event::PacketIn { dpid, in_port, table: 0, data });
                }
                Command::Barrier { dpid, token } => {
                    self.events.push_back(Event::Barrier { dpid: *dpid, token: *token });
                }
                Command::Add { dpid, rule: rule @ Rule::Stream { reverse: false, .. } } => {
                    self.streams.push_back((*dpid, Cookie::new(rule.purpose())));
                }
                _ => {}
            }
        }
        self.out.clear();
    }
}

fn links(blueprint: &Blueprint) -> BTreeMap<SwitchPort, SwitchPort> {
    let dpid = |switch: usize| blueprint.switches()[switch].dpid;
    let both = blueprint.links().iter().flat_map(|link| {
        let [a, b] = link.ends.map(|end| SwitchPort::new(dpid(end.switch), end.port));
        [(a, b), (b, a)]
    });
    both.collect()
}

fn hosts(blueprint: &Blueprint) -> Vec<Host> {
    let interfaces = blueprint.hosts().iter().flat_map(|host| &host.interfaces);
    let host = |(number, end): (u32, braid_topology::blueprint::End)| Host {
        at: SwitchPort::new(blueprint.switches()[end.switch].dpid, end.port),
        mac: MacAddr::from_u64(0x00aa_0000_0000 | u64::from(number)),
        ip: Ipv4Addr::from(0x0a00_0000 | number),
    };
    (1..).zip(interfaces.map(|interface| interface.end)).map(host).collect()
}

fn switches(blueprint: &Blueprint) -> Vec<SwitchPorts> {
    let port = |at: SwitchPort| PortStatus {
        port: at.port,
        mac: MacAddr::from_u64(at.dpid.0 << 8 | u64::from(at.port.0)),
        name: format!("p{}", at.port.0),
        up: true,
        speed: BitsPerSec(1_000_000_000),
    };
    let mut ports: BTreeMap<DatapathId, Vec<PortStatus>> = BTreeMap::new();
    let ends = links(blueprint).into_keys().chain(hosts(blueprint).into_iter().map(|host| host.at));
    ends.for_each(|at| ports.entry(at.dpid).or_default().push(port(at)));
    let switch = |(dpid, ports)| SwitchPorts {
        dpid,
        tables: 254,
        description: String::new(),
        ports,
        failover_groups: 0,
        select_groups: 0,
        installed: None,
    };
    ports.into_iter().map(switch).collect()
}
