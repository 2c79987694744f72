//! Forged, malformed and unusual SYNs: memory stays bounded, and other hosts are served.

use std::borrow::Cow;
use std::time::Duration;

use braid_packet::mptcp::{Key, MpJoin, Version};
use braid_packet::{TcpFlags, VlanTag, build};
use braid_steering::Limits;
use braid_types::{FiveTuple, SwitchPort};

use super::mptcp::{THREE_WAYS, add, open, open_with_key, ways};
use super::network::{HOST_PORT, Network, dpid, ip, ip6, mac, tuple};
use crate::command::{Command, Commands};
use crate::cookie::{Cookie, Purpose};
use crate::event::Event;
use crate::settings::Settings;

const CAPABLE: [u8; 4] = [30, 4, 0x01, 0x01];
const FORGED: u32 = 100_000;
/// The forger's switch. Real connections are from 1 to 9.
const FORGER: u64 = 4;

/// A network with a third host, the forger.
fn network(settings: Settings) -> Network {
    Network::start_with(settings, &THREE_WAYS, &[1, FORGER, 9])
}

/// The forger's switch sends a new SYN to the controller and executes the reply. The packet's path is not
/// checked.
fn forge(network: &mut Network, number: u32) {
    let [_, port, high, low] = number.to_be_bytes();
    let tuple =
        FiveTuple { dst_port: u16::from(port), ..tuple(ip(FORGER), u16::from_be_bytes([high, low]), ip(9)) };
    let frame = build::tcp(tuple).macs(mac(FORGER), mac(9)).flags(TcpFlags::SYN).options(&CAPABLE).frame();
    let (dpid, data) = (dpid(FORGER), Cow::Owned(frame));
    let event = Event::PacketIn { dpid, in_port: HOST_PORT, table: 0, data };
    let mut commands = Commands::default();
    network.brain.handle(network.now, &event, &mut commands);
    commands.retain(|command| !matches!(command, Command::Send { .. }));
    network.carry_out_all(&commands);
}

/// Checks that both streams of a real connection take separate paths.
fn assert_served(network: &mut Network) {
    let (first, second) = (tuple(ip(1), 1000, ip(9)), tuple(ip(1), 1001, ip(9)));
    open(network, first);
    add(network, second);
    let ([first, _], [second, _]) = (ways(network, first), ways(network, second));
    assert_ne!(first, second);
}

#[test]
fn a_hundred_thousand_forged_openings_of_one_port_take_its_share_and_no_more() {
    let mut network = network(Settings::default());
    for number in 0..FORGED {
        if number % 1_000 == 0 {
            network.advance(Duration::from_millis(100));
        }
        forge(&mut network, number);
    }
    let (sizes, counters) = (network.brain.sizes(), network.brain.counters());
    let share = 20 * 10 + 20 * 11;
    assert!(sizes.streams <= share && sizes.transfers <= share, "{sizes:?}");
    assert!(counters.packets_over_limit > u64::from(FORGED) * 9 / 10, "{counters:?}");
    assert_served(&mut network);
}

#[test]
fn without_limits_of_ports_forged_openings_fill_a_bounded_table_until_they_end() {
    let streams = Limits { streams: 1_000, ..Limits::default() };
    let settings = Settings { punt_rate: 0, new_streams: 0, streams, ..Settings::default() };
    let mut network = network(settings);
    (0..FORGED).for_each(|number| forge(&mut network, number));
    assert_eq!(network.brain.sizes().streams, 1_000);
    let real = tuple(ip(1), 999, ip(9));
    network.send_tcp(1, 9, real, TcpFlags::SYN, &CAPABLE);
    assert_eq!(network.received(9).len(), 1, "on the default path");
    // Switches remove idle rules, which those of forged streams are.
    let forged: Vec<_> = network.brain.transfers.streams().map(|stream| stream.id).collect();
    for id in forged {
        let cookie = Cookie::new(Purpose::Stream { id, reverse: false });
        network.tell(&Event::FlowRemoved { dpid: dpid(FORGER), cookie, bytes: 0 });
    }
    assert_eq!(network.brain.sizes().streams, 0);
    assert_served(&mut network);
}

#[test]
fn a_forged_token_moves_no_stream_and_joins_no_connection() {
    let mut network = network(Settings::default());
    let streams = [tuple(ip(1), 1000, ip(9)), tuple(ip(1), 1001, ip(9))];
    open(&mut network, streams[0]);
    add(&mut network, streams[1]);
    let before = (network.brain.transfers(), streams.map(|stream| ways(&mut network, stream)));
    let token = Key(4711).token(Version::V1);
    let mut option = Vec::new();
    MpJoin::Syn { backup: false, address_id: 1, token, nonce: 7 }.encode(&mut option);
    network.send_tcp(FORGER, 9, tuple(ip(FORGER), 1, ip(9)), TcpFlags::SYN, &option);
    assert_eq!(network.received(9).len(), 1, "the receiver refuses it, not the network");
    assert_eq!((network.brain.transfers(), network.brain.sizes().transfers), (before.0, 2));
    assert_eq!(streams.map(|stream| ways(&mut network, stream)), before.1);
}

#[test]
fn an_answer_that_is_repeated_with_another_key_changes_no_token() {
    let mut network = network(Settings::default());
    let first = tuple(ip(1), 1000, ip(9));
    open(&mut network, first);
    let mut forged = vec![30, 12, 0x01, 0x01];
    forged.extend(4711_u64.to_be_bytes());
    let answers = TcpFlags(TcpFlags::SYN.0 | TcpFlags::ACK.0);
    network.send_tcp(9, 1, first.reversed(), answers, &forged);
    add(&mut network, tuple(ip(1), 1001, ip(9)));
    assert_eq!(network.brain.transfers().len(), 1, "what the real token names is known still");
}

#[test]
fn openings_that_are_odd_arrive_as_they_were_sent() {
    let steered = [
        ("with data", syn(ip(1), &CAPABLE).payload(b"early").frame()),
        ("with a tag", syn(ip(1), &CAPABLE).vlan(VlanTag { id: 7, pcp: 0, dei: false }).frame()),
        ("of IPv6 with an extension header", with_header(0, [1, 4, 0, 0, 0, 0])),
    ];
    let default = [
        ("without options", syn(ip(1), &[]).frame()),
        ("with a length of 0", syn(ip(1), &[30, 0, 0, 0]).frame()),
        ("with a length of 3", syn(ip(1), &[30, 3, 0x01, 0]).frame()),
        ("with a length of 13", syn(ip(1), &[[30, 13, 0x01, 0x01].as_slice(), &[0; 12]].concat()).frame()),
        ("with a length of 41", syn(ip(1), &[30, 41, 0x01, 0x01]).frame()),
        ("with two openings", syn(ip(1), &[CAPABLE, CAPABLE].concat()).frame()),
        ("of an unknown subtype", syn(ip(1), &[30, 4, 0xc1, 0x01]).frame()),
        ("of an unknown version", syn(ip(1), &[30, 4, 0x09, 0x01]).frame()),
        ("of IPv6 in fragments", with_header(44, [0, 1, 0, 0, 0, 7])),
    ];
    for (frames, transfers) in [(&steered[..], 1), (&default[..], 0)] {
        for (what, frame) in frames {
            let mut network = network(Settings::default());
            for (from, to) in [(1, 9), (9, 1)] {
                network.send_tcp(from, to, tuple(ip6(from), 1, ip6(to)), TcpFlags::ACK, &[]);
            }
            network.send(1, frame);
            let arrived = network.received(9);
            assert_eq!(arrived.iter().map(|(frame, _)| frame).collect::<Vec<_>>(), [frame], "{what}");
            assert_eq!(network.brain.sizes().transfers, transfers, "{what}");
        }
    }
}

#[test]
fn connections_after_each_other_on_the_same_ports_leave_nothing_behind() {
    let mut network = network(Settings { new_streams: 0, punt_rate: 0, ..Settings::default() });
    for number in 1..200 {
        open_with_key(&mut network, tuple(ip(1), 1000, ip(9)), number);
    }
    let sizes = network.brain.sizes();
    assert_eq!((sizes.streams, sizes.transfers), (1, 1));
    assert_eq!(network.rules(1), Network::start(&THREE_WAYS, &[1, FORGER, 9]).rules(1) + 2);
    assert!(network.brain.hosts().iter().all(|host| host.at == SwitchPort::new(host.at.dpid, HOST_PORT)));
}

fn syn<'a>(from: std::net::IpAddr, options: &'a [u8]) -> build::TcpFrame<'a> {
    build::tcp(tuple(from, 1000, ip(9))).macs(mac(1), mac(9)).flags(TcpFlags::SYN).options(options)
}

/// A SYN over IPv6, with eight bytes of an extension header before the TCP header.
fn with_header(kind: u8, rest: [u8; 6]) -> Vec<u8> {
    const IP: usize = 14;
    const TCP: u8 = 6;
    let opening = build::tcp(tuple(ip6(1), 1000, ip6(9))).flags(TcpFlags::SYN).options(&CAPABLE);
    let mut frame = opening.macs(mac(1), mac(9)).frame();
    let length = u16::from_be_bytes([frame[IP + 4], frame[IP + 5]]) + 8;
    frame[IP + 4..IP + 6].copy_from_slice(&length.to_be_bytes());
    frame[IP + 6] = kind;
    let header = [&[TCP, 0], &rest[..]].concat();
    frame.splice(IP + 40..IP + 40, header);
    frame
}
