//! The kernel of this machine as the other end of the wire, in a network namespace of the test's own.

use std::fs::File;
use std::io::{Error, ErrorKind};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, UdpSocket};
use std::os::fd::{AsRawFd, OwnedFd};
use std::process::{self, Command};
use std::time::{Duration, Instant};

use braid_packet::arp::{Arp, ArpOp};
use braid_packet::nd::{Endpoint, NdMessage, NeighborAdvertisement, NeighborSolicitation};
use braid_packet::{Frame, Payload, Transport};
use braid_types::MacAddr;
use nix::ifaddrs::getifaddrs;
use nix::sched::{CloneFlags, setns};
use nix::sys::socket::{
    AddressFamily, MsgFlags, SockFlag, SockProtocol, SockType, bind, recv, send, socket, sockopt,
};
use nix::sys::time::TimeVal;
use nix::unistd::Uid;

const OURS: MacAddr = MacAddr::from_u64(0x0200_0000_0001);
const HOST: MacAddr = MacAddr::from_u64(0x0200_0000_0002);
const OUR_V4: Ipv4Addr = Ipv4Addr::new(10, 0, 0, 1);
const HOST_V4: Ipv4Addr = Ipv4Addr::new(10, 0, 0, 2);
const OUR_V6: Ipv6Addr = Ipv6Addr::new(0xfd00, 0, 0, 0, 0, 0, 0, 1);
const HOST_V6: Ipv6Addr = Ipv6Addr::new(0xfd00, 0, 0, 0, 0, 0, 0, 2);
const TIMEOUT: Duration = Duration::from_secs(10);

/// A link whose far end is a host's interface, and whose near end the test holds.
struct Wire {
    socket: OwnedFd,
    _namespace: Namespace,
}

/// A network namespace that goes when the test does.
struct Namespace(String);

impl Wire {
    /// Moves this thread into a new namespace. `None`, said aloud, without the rights to.
    fn lay(name: &str) -> Option<Self> {
        if !Uid::effective().is_root() {
            assert!(std::env::var_os("CI").is_none(), "in CI this test must run, as root");
            eprintln!("skipped: network namespaces need root");
            return None;
        }
        let namespace = Namespace::enter(format!("braid-packet-{name}-{}", process::id()));
        let (ours, host) = (OURS.to_string(), HOST.to_string());
        ip(&[
            "link", "add", "wire", "address", &ours, "type", "veth", "peer", "name", "host", "address", &host,
        ]);
        ip(&["link", "set", "wire", "arp", "off", "addrgenmode", "none", "up"]);
        ip(&["link", "set", "host", "up"]);
        ip(&["address", "add", &format!("{HOST_V4}/24"), "dev", "host"]);
        ip(&["address", "add", &format!("{HOST_V6}/64"), "dev", "host", "nodad"]);
        Some(Self { socket: packet_socket("wire"), _namespace: namespace })
    }

    fn send(&self, frame: &[u8]) {
        send(self.socket.as_raw_fd(), frame, MsgFlags::empty()).unwrap();
    }

    /// The first frame from the host that `wanted` makes something of.
    fn receive<T>(&self, what: &str, wanted: impl Fn(&Frame<'_>) -> Option<T>) -> T {
        let deadline = Instant::now() + TIMEOUT;
        let mut buffer = [0; 2048];
        while Instant::now() < deadline {
            match recv(self.socket.as_raw_fd(), &mut buffer, MsgFlags::empty()) {
                Ok(len) => {
                    let frame = Frame::parse(&buffer[..len]).unwrap();
                    if let Some(found) = Some(&frame).filter(|frame| frame.src == HOST).and_then(&wanted) {
                        return found;
                    }
                }
                // A process that was stopped and goes on is interrupted.
                Err(error) => assert!(matches!(
                    Error::from(error).kind(),
                    ErrorKind::WouldBlock | ErrorKind::Interrupted
                )),
            }
        }
        panic!("the kernel sent no {what}");
    }

    fn receive_arp(&self, op: ArpOp) -> Arp {
        self.receive("ARP", |frame| match frame.payload {
            Payload::Arp(arp) if arp.op == op => Some(arp),
            _ => None,
        })
    }

    /// A neighbour discovery message, and where it came from.
    fn receive_nd<T>(&self, wanted: impl Fn(NdMessage) -> Option<T>) -> (T, Endpoint) {
        self.receive("neighbour discovery", |frame| {
            let packet = frame.ip()?;
            let (Transport::Icmpv6(message), IpAddr::V6(src)) = (&packet.transport, packet.src) else {
                return None;
            };
            Some((wanted(*message)?, Endpoint { mac: frame.src, ip: src }))
        })
    }
}

impl Namespace {
    /// For this thread only.
    fn enter(name: String) -> Self {
        ip(&["netns", "add", &name]);
        let namespace = Self(name);
        let file = File::open(format!("/run/netns/{}", namespace.0)).unwrap();
        setns(file, CloneFlags::CLONE_NEWNET).unwrap();
        namespace
    }
}

impl Drop for Namespace {
    fn drop(&mut self) {
        ip(&["netns", "delete", &self.0]);
    }
}

fn ip(arguments: &[&str]) -> String {
    let output = Command::new("ip").args(arguments).output().unwrap();
    assert!(output.status.success(), "ip {arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

fn packet_socket(interface: &str) -> OwnedFd {
    let all = SockProtocol::EthAll;
    let socket = socket(AddressFamily::Packet, SockType::Raw, SockFlag::empty(), all).unwrap();
    let mut links = getifaddrs().unwrap().filter(|address| address.interface_name == interface);
    let link = links.find_map(|address| address.address?.as_link_addr().copied()).unwrap();
    bind(socket.as_raw_fd(), &link).unwrap();
    nix::sys::socket::setsockopt(&socket, sockopt::ReceiveTimeout, &TimeVal::new(0, 100_000)).unwrap();
    socket
}

/// Makes the kernel look for `to`.
fn talk_to(to: IpAddr) {
    let any: IpAddr = if to.is_ipv4() { Ipv4Addr::UNSPECIFIED.into() } else { Ipv6Addr::UNSPECIFIED.into() };
    UdpSocket::bind((any, 0)).unwrap().send_to(b"?", (to, 9)).unwrap();
}

/// Waits until `ip ARGUMENTS` prints `text`.
fn until_ip_prints(arguments: &[&str], text: &str) {
    let deadline = Instant::now() + TIMEOUT;
    let mut printed = ip(arguments);
    while !printed.contains(text) {
        assert!(Instant::now() < deadline, "ip {arguments:?} does not print {text:?}: {printed}");
        std::thread::sleep(Duration::from_millis(20));
        printed = ip(arguments);
    }
}

#[test]
fn kernel_answers_our_arp_request_and_probe() {
    let Some(wire) = Wire::lay("arp-request") else { return };
    for question in [Arp::request(OURS, OUR_V4, HOST_V4), Arp::probe(OURS, HOST_V4)] {
        wire.send(&question.frame());
        assert_eq!(wire.receive_arp(ArpOp::Reply), question.reply(HOST));
    }
}

#[test]
fn kernel_believes_our_arp_reply() {
    let Some(wire) = Wire::lay("arp-reply") else { return };
    talk_to(OUR_V4.into());
    let question = wire.receive_arp(ArpOp::Request);
    assert_eq!(question, Arp::request(HOST, HOST_V4, OUR_V4));
    wire.send(&question.reply(OURS).frame());
    until_ip_prints(&["neighbour", "show", "10.0.0.1", "dev", "host"], "lladdr 02:00:00:00:00:01 REACHABLE");
}

#[test]
fn kernel_answers_our_solicitations() {
    let Some(wire) = Wire::lay("nd-solicit") else { return };
    let question = NeighborSolicitation { target: HOST_V6, source_mac: Some(OURS) };
    let (us, host) = (Endpoint { mac: OURS, ip: OUR_V6 }, Endpoint { mac: HOST, ip: HOST_V6 });
    let answer = |message| match message {
        NdMessage::Advertisement(advertisement) => Some(advertisement),
        NdMessage::Solicitation(_) => None,
    };
    let expected = NeighborAdvertisement {
        target: HOST_V6,
        target_mac: Some(HOST),
        router: false,
        solicited: true,
        overrides: true,
    };
    wire.send(&question.frame(us));
    assert_eq!(wire.receive_nd(answer), (expected, host));
    wire.send(
        &NeighborSolicitation { source_mac: None, ..question }
            .frame(Endpoint { mac: OURS, ip: Ipv6Addr::UNSPECIFIED }),
    );
    let defence = NeighborAdvertisement { solicited: false, ..expected };
    assert_eq!(wire.receive_nd(answer), (defence, host));
}

#[test]
fn kernel_believes_our_advertisement() {
    let Some(wire) = Wire::lay("nd-answer") else { return };
    talk_to(OUR_V6.into());
    let (question, asker) = wire.receive_nd(|message| match message {
        NdMessage::Solicitation(question) if question.target == OUR_V6 => Some(question),
        _ => None,
    });
    assert_eq!((question.source_mac, asker.ip), (Some(HOST), HOST_V6));
    wire.send(&question.answer(asker, OURS, true));
    until_ip_prints(
        &["neighbour", "show", "fd00::1", "dev", "host"],
        "lladdr 02:00:00:00:00:01 router REACHABLE",
    );
}

#[test]
fn kernel_gives_up_an_address_that_we_say_is_taken() {
    let Some(wire) = Wire::lay("nd-duplicate") else { return };
    let taken: Ipv6Addr = "fd00::77".parse().unwrap();
    ip(&["address", "add", "fd00::77/64", "dev", "host"]);
    let (question, asker) = wire.receive_nd(|message| match message {
        NdMessage::Solicitation(question) if question.target == taken => Some(question),
        _ => None,
    });
    assert!(asker.ip.is_unspecified() && question.source_mac.is_none());
    wire.send(&question.answer(asker, OURS, false));
    until_ip_prints(&["address", "show", "dev", "host", "to", "fd00::77"], "dadfailed");
}
