//! What hosts send that is forged, malformed or odd, as it comes by the channels of two switches with a cable between them.

use std::io::Write;
use std::net::{IpAddr, Ipv6Addr, TcpStream};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;

use braid_openflow::{
    Action, BufferId, Bytes, Cookie, Match, Message, OxmField, PacketIn, PacketInReason, TableId, Xid,
};
use braid_packet::{TcpFlags, VlanTag, build};
use braid_types::{FiveTuple, MacAddr, PortNo};

use crate::support::{Running, Switch, wait_for};

const CABLE: PortNo = PortNo(1);
const HOSTS: PortNo = PortNo(2);
/// The tables that send packets up: where SYNs are held, and where there is no route.
const ADMIT: TableId = TableId(0);
const ROUTE: TableId = TableId(2);
const CAPABLE: [u8; 4] = [30, 4, 0x01, 0x01];
const FORGED: u32 = 100_000;

/// The hosts are 1 and 3 at the first switch, and 2 at the second one.
const fn ip(host: u16) -> IpAddr {
    IpAddr::V6(Ipv6Addr::new(0xfd00, 0, 0, 0, 0, 0, 0, host))
}

fn mac(host: u16) -> MacAddr {
    MacAddr::from_u64(0x00aa_0000_0000 | u64::from(host))
}

fn segment<'a>(from: u16, to: u16, ports: (u16, u16)) -> build::TcpFrame<'a> {
    let tuple = FiveTuple { src: ip(from), dst: ip(to), src_port: ports.0, dst_port: ports.1 };
    build::tcp(tuple).macs(mac(from), mac(to))
}

fn syn(options: &[u8]) -> build::TcpFrame<'_> {
    segment(1, 2, (1_000, 5_201)).flags(TcpFlags::SYN).options(options)
}

struct Network {
    controller: Running,
    channels: [Channel; 2],
    /// The packets that have entered the tables of any switch.
    forwarded: Arc<Mutex<Vec<Vec<u8>>>>,
}

/// Where a switch says something, whole messages at a time.
#[derive(Clone)]
struct Channel(Arc<Mutex<TcpStream>>);

impl Channel {
    fn say(&self, xid: Xid, message: &Message<'_>) {
        let mut bytes = Vec::new();
        message.encode(xid, &mut bytes).expect("a short message");
        // When the controller has stopped, nobody listens.
        let _ = self.0.lock().unwrap_or_else(PoisonError::into_inner).write_all(&bytes);
    }

    fn send_up(&self, in_port: PortNo, table_id: TableId, frame: &[u8]) {
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
    /// The controller, as it is by default, knows the cable and the hosts.
    fn start() -> Self {
        let controller = Running::start(None);
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

    fn channel_of(&self, host: u16) -> &Channel {
        &self.channels[usize::from(host == 2)]
    }

    fn has_forwarded(&self, frame: &[u8]) -> bool {
        self.forwarded.lock().unwrap_or_else(PoisonError::into_inner).iter().any(|it| it == frame)
    }

    /// Waits until a packet that is held goes on as it was sent.
    fn assert_goes_on(&self, host: u16, frame: &[u8], what: &str) {
        self.channel_of(host).send_up(HOSTS, ADMIT, frame);
        wait_for(|| self.has_forwarded(frame), || format!("without the packet {what}"));
    }

    fn transfers(&self) -> usize {
        self.controller.list("transfers").len()
    }
}

/// What a switch does that is told something, until the controller stops.
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

#[test]
fn openings_that_are_odd_go_on_as_they_were_sent() {
    let network = Network::start();
    let join = [&[30, 12, 0x10, 1][..], &[0xde, 0xad, 0xbe, 0xef, 0, 0, 0, 7]].concat();
    let steered = [
        ("with data", syn(&CAPABLE).payload(b"early").frame()),
        ("with a tag", syn(&CAPABLE).vlan(VlanTag { id: 7, pcp: 0, dei: false }).frame()),
        ("with an extension header", with_header(0, [1, 4, 0, 0, 0, 0])),
    ];
    let default = [
        ("without options", syn(&[]).frame()),
        ("with a length of 0", syn(&[30, 0, 0, 0]).frame()),
        ("with a length of 3", syn(&[30, 3, 0x01, 0]).frame()),
        ("with a length of 13", syn(&[[30, 13, 0x01, 0x01].as_slice(), &[0; 12]].concat()).frame()),
        ("with a length of 41", syn(&[30, 41, 0x01, 0x01]).frame()),
        ("with two openings", syn(&[CAPABLE, CAPABLE].concat()).frame()),
        ("of an unknown subtype", syn(&[30, 4, 0xc1, 0x01]).frame()),
        ("in fragments", with_header(44, [0, 1, 0, 0, 0, 7])),
    ];
    for (what, frame) in &default {
        network.assert_goes_on(1, frame, what);
        assert_eq!(network.transfers(), 0, "{what}");
    }
    for (what, frame) in &steered {
        network.assert_goes_on(1, frame, what);
        assert_eq!(network.transfers(), 1, "{what}");
    }
    network.assert_goes_on(1, &syn(&join).frame(), "that joins nothing that is known");
    assert_eq!(network.transfers(), 1, "in place of the one on the same ports");
}

#[test]
fn a_hundred_thousand_forged_openings_leave_room_for_real_ones() {
    let network = Network::start();
    for number in 0..FORGED {
        let [_, port, high, low] = number.to_be_bytes();
        let ports = (u16::from_be_bytes([high, low]), u16::from(port) + 1);
        let forged = segment(3, 2, ports).flags(TcpFlags::SYN).options(&CAPABLE).frame();
        network.channel_of(3).send_up(HOSTS, ADMIT, &forged);
    }
    let seen = || network.controller.get("/metrics").1;
    wait_for(|| packet_ins(&seen()) >= f64::from(FORGED), seen);
    let real = segment(2, 1, (1_000, 5_201)).flags(TcpFlags::SYN).options(&CAPABLE).frame();
    network.assert_goes_on(2, &real, "of a real connection");
    let of_real = |transfer: &serde_json::Value| transfer["streams"][0]["src"] == ip(2).to_string();
    let transfers = network.controller.list("transfers");
    assert!(transfers.iter().any(of_real), "it has a path of its own");
    // A port may open 200 at once and 20 a second, and the test goes on for less than ten minutes.
    assert!(transfers.len() < 200 + 20 * 600, "{}", transfers.len());
}

/// How many packets switches have sent up, as the metrics say.
fn packet_ins(metrics: &str) -> f64 {
    let line = metrics.lines().find_map(|line| line.strip_prefix("braid_packet_ins_total "));
    line.and_then(|value| value.parse().ok()).unwrap_or_default()
}

/// The opening of a connection with eight bytes of another header before TCP's.
fn with_header(kind: u8, rest: [u8; 6]) -> Vec<u8> {
    const IP: usize = 14;
    const TCP: u8 = 6;
    let mut frame = syn(&CAPABLE).frame();
    let length = u16::from_be_bytes([frame[IP + 4], frame[IP + 5]]) + 8;
    frame[IP + 4..IP + 6].copy_from_slice(&length.to_be_bytes());
    frame[IP + 6] = kind;
    frame.splice(IP + 40..IP + 40, [&[TCP, 0], &rest[..]].concat());
    frame
}
