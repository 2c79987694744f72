//! Two linked switches with scripted hosts.

use std::io::Write;
use std::net::{IpAddr, Ipv6Addr, SocketAddr, TcpStream};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;

use braid_controller::{Config, Settings};
use braid_openflow::{
    Action, BufferId, Bytes, Cookie, Match, Message, OxmField, PacketIn, PacketInReason, TableId, Xid,
};
use braid_packet::{TcpFlags, build};
use braid_types::{FiveTuple, MacAddr, PortNo};

use crate::support::{Running, Switch, config, wait_for};

const CABLE: PortNo = PortNo(1);
pub(crate) const HOSTS: PortNo = PortNo(2);
/// The tables that send packets up: where SYNs are held, and where there is no route.
pub(crate) const ADMIT: TableId = TableId(0);
const ROUTE: TableId = TableId(2);
pub(crate) const CAPABLE: [u8; 4] = [30, 4, 0x01, 0x01];

/// The hosts are 1 and 3 at the first switch, and 2 at the second one.
pub(crate) const fn ip(host: u16) -> IpAddr {
    IpAddr::V6(Ipv6Addr::new(0xfd00, 0, 0, 0, 0, 0, 0, host))
}

fn mac(host: u16) -> MacAddr {
    MacAddr::from_u64(0x00aa_0000_0000 | u64::from(host))
}

pub(crate) fn segment<'a>(from: u16, to: u16, ports: (u16, u16)) -> build::TcpFrame<'a> {
    let tuple = FiveTuple { src: ip(from), dst: ip(to), src_port: ports.0, dst_port: ports.1 };
    build::tcp(tuple).macs(mac(from), mac(to))
}

pub(crate) fn syn(options: &[u8]) -> build::TcpFrame<'_> {
    segment(1, 2, (1_000, 5_201)).flags(TcpFlags::SYN).options(options)
}

pub(crate) struct Network {
    pub(crate) controller: Running,
    channels: [Channel; 2],
    /// The packets that have entered the tables of any switch.
    forwarded: Arc<Mutex<Vec<Vec<u8>>>>,
}

/// Where a switch says something, whole messages at a time.
#[derive(Clone)]
pub(crate) struct Channel(Arc<Mutex<TcpStream>>);

impl Channel {
    pub(crate) fn say(&self, xid: Xid, message: &Message<'_>) {
        let mut bytes = Vec::new();
        message.encode(xid, &mut bytes).expect("a short message");
        // When the controller has stopped, nobody listens.
        let _ = self.0.lock().unwrap_or_else(PoisonError::into_inner).write_all(&bytes);
    }

    pub(crate) fn send_up(&self, in_port: PortNo, table_id: TableId, frame: &[u8]) {
        let fields = [OxmField::InPort(in_port)];
        let message = Message::PacketIn(PacketIn {
            buffer_id: BufferId::NO_BUFFER,
            total_len: u16::try_from(frame.len()).unwrap_or(u16::MAX),
            reason: PacketInReason::Action,
            table_id,
            cookie: Cookie(0),
            matching: Match::new(&fields),
            data: Bytes(frame),
        });
        self.say(Xid(0), &message);
    }
}

impl Network {
    /// The controller, as it is by default, knows the link and the hosts.
    pub(crate) fn start() -> Self {
        Self::start_with(Settings::default())
    }

    /// The same with a controller that behaves so.
    pub(crate) fn start_with(settings: Settings) -> Self {
        let any = SocketAddr::from(([127, 0, 0, 1], 0));
        Self::start_as(Config { settings, ..config(any, any, None) })
    }

    /// The same with a controller that is configured so.
    pub(crate) fn start_as(config: Config) -> Self {
        let controller = Running::start_with(config);
        let switches = [1, 2].map(|dpid| Switch::join(controller.openflow, dpid));
        let channels = switches
            .each_ref()
            .map(|switch| Channel(Arc::new(Mutex::new(switch.stream.try_clone().expect("a socket")))));
        let forwarded = Arc::default();
        for (index, switch) in switches.into_iter().enumerate() {
            let (own, peer) = (channels[index].clone(), channels[1 - index].clone());
            let forwarded = Arc::clone(&forwarded);
            thread::spawn(move || obey(switch, &own, &peer, &forwarded));
        }
        let network = Self { controller, channels, forwarded };
        network.learn();
        network
    }

    fn learn(&self) {
        let count = |what: &str| self.controller.list(what).len();
        wait_for(|| count("links") == 2, || format!("{} links", count("links")));
        let say = |from: u16, to: u16| {
            let frame = segment(from, to, (7, 7)).flags(TcpFlags::ACK).frame();
            self.channel_of(from).send_up(HOSTS, ROUTE, &frame);
        };
        let are_there = || {
            [(1, 2), (2, 1), (3, 2)].into_iter().for_each(|(from, to)| say(from, to));
            count("hosts") == 3
        };
        wait_for(are_there, || format!("{} hosts", count("hosts")));
    }

    pub(crate) fn channel_of(&self, host: u16) -> &Channel {
        &self.channels[usize::from(host == 2)]
    }

    pub(crate) fn has_forwarded(&self, frame: &[u8]) -> bool {
        self.forwarded.lock().unwrap_or_else(PoisonError::into_inner).iter().any(|it| it == frame)
    }

    /// Waits until a packet that is held goes on as it was sent.
    pub(crate) fn assert_goes_on(&self, host: u16, frame: &[u8], what: &str) {
        self.channel_of(host).send_up(HOSTS, ADMIT, frame);
        wait_for(|| self.has_forwarded(frame), || format!("without the packet {what}"));
    }

    /// How many transfers the controller knows, those included that nobody has answered yet.
    pub(crate) fn transfers(&self) -> usize {
        self.metric("braid_transfers") as usize
    }

    /// The value of a metric without labels.
    pub(crate) fn metric(&self, name: &str) -> f64 {
        let (_, metrics) = self.controller.get("/metrics");
        let line = metrics.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(' '));
        line.and_then(|value| value.parse().ok()).unwrap_or_default()
    }
}

/// Runs a switch that answers the controller, until the controller stops.
fn obey(mut switch: Switch, own: &Channel, peer: &Channel, forwarded: &Mutex<Vec<Vec<u8>>>) {
    while let Some(bytes) = switch.receive() {
        let Ok((xid, message)) = Message::decode(&bytes) else { continue };
        match message {
            Message::BarrierRequest => own.say(xid, &Message::BarrierReply),
            Message::EchoRequest(echo) => own.say(xid, &Message::EchoReply(echo)),
            Message::PacketOut(packet) => match packet.actions.iter().next() {
                Some(Action::Output { port: CABLE, .. }) => peer.send_up(CABLE, ADMIT, packet.data.0),
                Some(Action::Output { port: PortNo::TABLE, .. }) => {
                    forwarded.lock().unwrap_or_else(PoisonError::into_inner).push(packet.data.0.to_vec());
                }
                _ => {}
            },
            _ => {}
        }
    }
}
