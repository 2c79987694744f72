//! A brain with the network of a graph around it, in virtual time: frames take what their links take, and switches confirm.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::net::IpAddr;
use std::time::Duration;

use braid_control::pipeline::{Resequencer, Spray};
use braid_control::{
    Brain, Command, Commands, Event, PortStatus, Reply, Request, Settings, SwitchPorts, Target, Ticket,
};
use braid_packet::arp::Arp;
use braid_packet::{TcpFlags, build};
use braid_topology::Graph;
use braid_types::{BitsPerSec, DatapathId, FiveTuple, MacAddr, PortNo, SwitchPort, Time};

const TICK: Duration = Duration::from_millis(100);
/// Until links are found, their delays measured and published.
const MEASURED: Duration = Duration::from_secs(12);
/// Hosts are at ports from here on.
const FIRST_HOST_PORT: u32 = 1_000;

/// A host: where it is, and its first address.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Host {
    pub(crate) dpid: DatapathId,
    pub(crate) address: IpAddr,
}

pub(crate) struct Network {
    pub(crate) brain: Brain,
    now: Time,
    coming: BTreeMap<(Time, u64), Event<'static>>,
    sequence: u64,
    far_ends: BTreeMap<SwitchPort, (SwitchPort, Duration)>,
    replies: Vec<(Ticket, Reply)>,
    /// The last message to each edge.
    pub(crate) sprays: BTreeMap<DatapathId, Spray>,
    pub(crate) resequencers: BTreeMap<DatapathId, Resequencer>,
}

impl Network {
    /// A network that is discovered, measured and at rest. Switches with hosts are edges if requested.
    pub(crate) fn start(graph: &Graph, hosts: &[Host], policy: Option<&str>, with_edges: bool) -> Self {
        let links = || graph.edges().map(|edge| (graph.link(edge), graph.state(edge)));
        let capacities = links().map(|(link, state)| (link.src, state.capacity)).collect();
        let far_ends = links().map(|(link, state)| (link.src, (link.dst, state.delay.unwrap_or_default())));
        let mut network = Self {
            brain: Brain::new(Settings { capacities, ..Settings::default() }),
            now: Time::from_millis(1_000),
            coming: BTreeMap::new(),
            sequence: 0,
            far_ends: far_ends.collect(),
            replies: Vec::new(),
            sprays: BTreeMap::new(),
            resequencers: BTreeMap::new(),
        };
        for dpid in graph.nodes().map(|node| graph.dpid(node)) {
            let is_edge = with_edges && hosts.iter().any(|host| host.dpid == dpid);
            network.plan(network.now, network.join(dpid, hosts, is_edge));
        }
        if let Some(text) = policy {
            network.plan(network.now, Event::Policy { text: text.to_owned() });
        }
        network.plan(network.now, Event::Tick);
        network.run(MEASURED);
        (0..hosts.len()).for_each(|host| network.announce(hosts, host));
        network.run(TICK);
        network
    }

    /// A host's first packet to another.
    pub(crate) fn send_syn(&mut self, hosts: &[Host], from: usize, tuple: FiveTuple) {
        let frame = build::tcp(tuple).macs(mac(from), mac(from + 1)).flags(TcpFlags::SYN).frame();
        self.send(hosts, from, frame);
        self.run(TICK);
    }

    /// What somebody is answered.
    pub(crate) fn ask(&mut self, request: Request) -> Reply {
        let ticket = Ticket(self.sequence + 1);
        self.plan(self.now, Event::Request { ticket, request });
        self.run(Duration::from_secs(2));
        let reply = self.replies.iter().find(|(it, _)| *it == ticket);
        reply.expect("an answer").1.clone()
    }

    fn join(&self, dpid: DatapathId, hosts: &[Host], is_edge: bool) -> Event<'static> {
        let links = self.far_ends.keys().filter(|at| at.dpid == dpid).copied();
        let hosts = (0..hosts.len()).map(|host| port_of(hosts, host)).filter(|at| at.dpid == dpid);
        let description = if is_edge { "Braid edge 1" } else { "Open vSwitch" }.to_owned();
        let ports = links.chain(hosts).map(status).collect();
        Event::SwitchUp(SwitchPorts {
            dpid,
            tables: 254,
            description,
            ports,
            failover_groups: 0,
            select_groups: 0,
            installed: None,
        })
    }

    fn announce(&mut self, hosts: &[Host], host: usize) {
        let Some(Host { address: IpAddr::V4(address), .. }) = hosts.get(host) else { return };
        self.send(hosts, host, Arp::request(mac(host), *address, *address).frame());
    }

    fn send(&mut self, hosts: &[Host], host: usize, frame: Vec<u8>) {
        let at = port_of(hosts, host);
        let data = Cow::Owned(frame);
        self.plan(self.now, Event::PacketIn { dpid: at.dpid, in_port: at.port, table: 0, data });
    }

    fn run(&mut self, duration: Duration) {
        let end = self.now + duration;
        while let Some(next) = self.coming.first_entry().filter(|entry| entry.key().0 <= end) {
            let ((at, _), event) = next.remove_entry();
            self.now = at;
            self.tell(&event);
            if event == Event::Tick {
                self.plan(at + TICK, Event::Tick);
            }
        }
        self.now = end;
    }

    fn tell(&mut self, event: &Event<'_>) {
        let mut commands = Commands::default();
        self.brain.handle(self.now, event, &mut commands);
        self.replies.extend(commands.take_replies());
        commands.iter().for_each(|command| self.carry_out(command, &commands));
    }

    fn carry_out(&mut self, command: &Command, batch: &Commands) {
        let dpid = command.dpid();
        match command {
            Command::Send { target: Target::Port(port), frame, .. } => {
                let Some((to, delay)) = self.far_ends.get(&SwitchPort::new(dpid, *port)) else { return };
                self.send_up(self.now + *delay, *to, batch.frame(frame));
            }
            Command::Send { target: Target::Controller, frame, .. } => {
                self.send_up(self.now, SwitchPort::new(dpid, PortNo::CONTROLLER), batch.frame(frame));
            }
            Command::Barrier { token, .. } => self.plan(self.now, Event::Barrier { dpid, token: *token }),
            Command::Spray { spray, .. } => _ = self.sprays.insert(dpid, spray.clone()),
            Command::Resequence { resequencer, .. } => {
                _ = self.resequencers.insert(dpid, resequencer.clone());
            }
            _ => {}
        }
    }

    fn send_up(&mut self, at: Time, to: SwitchPort, frame: &[u8]) {
        let data = Cow::Owned(frame.to_vec());
        self.plan(at, Event::PacketIn { dpid: to.dpid, in_port: to.port, table: 0, data });
    }

    fn plan(&mut self, at: Time, event: Event<'static>) {
        self.sequence += 1;
        self.coming.insert((at, self.sequence), event);
    }
}

fn port_of(hosts: &[Host], host: usize) -> SwitchPort {
    SwitchPort::new(hosts[host].dpid, PortNo(FIRST_HOST_PORT + host as u32))
}

fn mac(host: usize) -> MacAddr {
    MacAddr::from_u64(0x00aa_0000_0000 + host as u64)
}

fn status(at: SwitchPort) -> PortStatus {
    let mac = MacAddr::from_u64((at.dpid.0 << 16) + u64::from(at.port.0));
    PortStatus { port: at.port, mac, name: at.to_string(), up: true, speed: BitsPerSec(1_000_000_000) }
}
