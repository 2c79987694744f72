//! Packet-ins of hosts.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use braid_openflow::{
    BufferId, Bytes, Cookie, Match, Message, OxmField, PacketIn, PacketInReason, TableId, Xid,
};
use braid_packet::arp::Arp;
use braid_packet::mptcp::{Key, Keys, MpCapable, MpCapableFlags, Version};
use braid_packet::nd::{Endpoint, NeighborAdvertisement};
use braid_packet::{TcpFlags, build};
use braid_types::{FiveTuple, MacAddr, PortNo};

/// The table that sends packets up in which SYNs are held.
pub const ADMIT: TableId = TableId(0);
/// The table that sends packets up for which there is no route.
pub const ROUTE: TableId = TableId(2);

/// MPTCP, version 1, as Linux opens it: without a key.
pub const MP_CAPABLE: [u8; 4] = [30, 4, 0x01, 0x01];

/// A host's address and port.
#[derive(Clone, Copy, Debug)]
pub struct Host {
    /// Its interface.
    pub mac: MacAddr,
    /// Its address.
    pub ip: IpAddr,
    /// The port of its switch.
    pub port: PortNo,
}

/// What the switch sends up when a host sends `frame`.
pub fn packet_in(port: PortNo, table_id: TableId, frame: &[u8]) -> Vec<u8> {
    let mut bytes = Vec::new();
    append_packet_in(&mut bytes, port, table_id, frame);
    bytes
}

/// Appends what the switch sends up when `frame` arrives.
pub fn append_packet_in(out: &mut Vec<u8>, port: PortNo, table_id: TableId, frame: &[u8]) {
    let fields = [OxmField::InPort(port)];
    let message = Message::PacketIn(PacketIn {
        buffer_id: BufferId::NO_BUFFER,
        total_len: u16::try_from(frame.len()).unwrap_or(u16::MAX),
        // Some learning switches take no notice of packets that a rule sent.
        reason: PacketInReason::NoMatch,
        table_id,
        cookie: Cookie(0),
        matching: Match::new(&fields),
        data: Bytes(frame),
    });
    let start = out.len();
    // A frame that does not fit is not sent.
    if message.encode(Xid(0), out).is_err() {
        out.truncate(start);
    }
}

/// What an answering host says with.
pub const SYN_ACK: TcpFlags = TcpFlags(TcpFlags::SYN.0 | TcpFlags::ACK.0);

/// The option of the answer to the first packet of an MPTCP connection.
pub fn capable_answer(key: Key) -> Vec<u8> {
    let mut option = Vec::new();
    MpCapable { version: Version::V1, flags: MpCapableFlags(1), keys: Keys::Sender(key) }.encode(&mut option);
    option
}

/// The first packet of a TCP connection.
pub fn syn(from: Host, to: Host, ports: (u16, u16), options: &[u8]) -> Vec<u8> {
    opening(from, to, ports, TcpFlags::SYN, options)
}

/// A packet of a connection's handshake.
pub fn opening(
    from: Host,
    to: Host,
    (src_port, dst_port): (u16, u16),
    flags: TcpFlags,
    options: &[u8],
) -> Vec<u8> {
    let tuple = FiveTuple { src: from.ip, dst: to.ip, src_port, dst_port };
    build::tcp(tuple).macs(from.mac, to.mac).flags(flags).options(options).frame()
}

/// A packet of a connection that was open before.
pub fn segment(from: Host, to: Host) -> Vec<u8> {
    let tuple = FiveTuple { src: from.ip, dst: to.ip, src_port: 40_000, dst_port: 5_201 };
    build::tcp(tuple).macs(from.mac, to.mac).flags(TcpFlags::ACK).numbers(1, 1).frame()
}

/// The host announces itself to another.
pub fn announcement(host: Host, to: Host) -> Vec<u8> {
    match (host.ip, to.ip) {
        (IpAddr::V4(ip), _) => Arp::request(host.mac, ip, ip).frame(),
        (IpAddr::V6(ip), IpAddr::V6(neighbour)) => advertisement((host.mac, ip), (to.mac, neighbour)),
        (IpAddr::V6(_), IpAddr::V4(_)) => panic!("neighbours of different families"),
    }
}

fn advertisement((mac, ip): (MacAddr, Ipv6Addr), (to_mac, to_ip): (MacAddr, Ipv6Addr)) -> Vec<u8> {
    let advertisement = NeighborAdvertisement {
        target: ip,
        target_mac: Some(mac),
        router: false,
        solicited: false,
        overrides: true,
    };
    advertisement.frame(Endpoint { mac, ip }, Endpoint { mac: to_mac, ip: to_ip })
}

/// An address of 10.0.0.0/8.
pub fn ipv4(number: u32) -> IpAddr {
    IpAddr::V4(Ipv4Addr::from(0x0a00_0000 | number))
}

/// An address of 2001:db8::/32.
pub fn ipv6(number: u64) -> IpAddr {
    IpAddr::V6(Ipv6Addr::from(0x2001_0db8 << 96 | u128::from(number)))
}
