//! Forged, malformed and odd packets of hosts, over the OpenFlow connections of two linked switches.

use braid_packet::{TcpFlags, VlanTag};

use crate::network::{ADMIT, CAPABLE, HOSTS, Network, ip, segment, syn};
use crate::support::wait_for;

const FORGED: u32 = 100_000;

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
    let seen = || network.metric("braid_packet_ins_total");
    wait_for(|| seen() >= f64::from(FORGED), || seen().to_string());
    let real = segment(2, 1, (1_000, 5_201)).flags(TcpFlags::SYN).options(&CAPABLE).frame();
    network.assert_goes_on(2, &real, "of a real connection");
    let key = [&[30, 12, 0x01, 0x01][..], &[7; 8]].concat();
    let answer = segment(1, 2, (5_201, 1_000))
        .flags(TcpFlags(TcpFlags::SYN.0 | TcpFlags::ACK.0))
        .options(&key)
        .frame();
    network.channel_of(1).send_up(HOSTS, ADMIT, &answer);
    let of_real = |transfer: &serde_json::Value| transfer["streams"][0]["src"] == ip(2).to_string();
    let transfers = || network.controller.list("transfers");
    let answered = || transfers().iter().any(of_real);
    wait_for(answered, || "it has no path of its own".to_owned());
    assert_eq!(transfers().len(), 1, "nobody has answered the others");
    // A port may open 200 at once and 20 a second, and the test goes on for less than ten minutes.
    assert!(network.transfers() < 200 + 20 * 600, "{}", network.transfers());
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
