//! Packets of both families and their paths; whatever else arrives has some, too.

use braid_types::Time;
use proptest::prelude::*;

use super::*;

const TCP: u8 = 6;
const UDP: u8 = 17;

/// A packet of either family: the mark, the protocol, and what is inside.
fn packet(is_v6: bool, dscp: u8, protocol: u8, transport: &[u8]) -> Vec<u8> {
    let length = transport.len() as u16;
    if is_v6 {
        let head = [0x60 | dscp >> 2, dscp << 6, 0, 0];
        let [high, low] = length.to_be_bytes();
        let addresses = [[0xfd; 16], [0xfe; 16]].concat();
        return [&head[..], &[high, low, protocol, 64], &addresses, transport].concat();
    }
    let [high, low] = (length + 20).to_be_bytes();
    let head = [0x45, dscp << 2, high, low, 0, 0, 0x40, 0, 64, protocol, 0, 0, 10, 1, 0, 1, 10, 2, 0, 1];
    [&head[..], transport].concat()
}

fn datagram(ports: [u16; 2], payload: usize) -> Vec<u8> {
    let [a, b] = ports.map(u16::to_be_bytes);
    [&a[..], &b, &(payload as u16 + 8).to_be_bytes(), &[0; 2], &vec![0; payload]].concat()
}

fn segment(ports: [u16; 2], flags: u8, payload: usize) -> Vec<u8> {
    let [a, b] = ports.map(u16::to_be_bytes);
    [&a[..], &b, &[0; 8], &[0x50, flags], &[0; 6], &vec![0; payload]].concat()
}

/// The packet behind IPv6 extension headers: hop-by-hop options, and a routing header.
fn behind_extensions(protocol: u8, transport: &[u8]) -> Vec<u8> {
    let inner = [&[43, 0, 0, 0, 0, 0, 0, 0][..], &[protocol, 0, 0, 0, 0, 0, 0, 0], transport].concat();
    packet(true, 0, 0, &inner)
}

fn fragment(is_v6: bool, transport: &[u8]) -> Vec<u8> {
    if is_v6 {
        return packet(true, 0, 44, &[&[UDP, 0, 0, 1, 0, 0, 0, 7][..], transport].concat());
    }
    let mut packet = packet(false, 0, UDP, transport);
    packet[6] = 0x20;
    packet
}

fn own(packet: &[u8]) -> PathChoice {
    Traffic::default().paths_of(packet)
}

#[test]
fn small_and_urgent_packets_take_the_quickest_path_and_bulk_takes_all() {
    let urgent = [
        (0, TCP, segment([1, 2], 0x02, 0)),
        (0, TCP, segment([1, 2], 0x12, 0)),
        (0, TCP, segment([1, 2], 0x10, 0)),
        (0, TCP, segment([1, 22], 0x18, 90)),
        (0, TCP, segment([53, 9], 0x18, 90)),
        (0, UDP, datagram([53, 9], 1_200)),
        (46, UDP, datagram([1, 2], 160)),
        (48, 89, vec![0; 40]),
        (0, 58, vec![135; 24]),
    ];
    let bulk = [
        (0, TCP, segment([1, 2], 0x10, 5)),
        (0, TCP, segment([1, 2], 0x11, 0)),
        (0, TCP, segment([1, 22], 0x10, 1_300)),
        (8, TCP, segment([1, 22], 0x18, 90)),
        (0, UDP, datagram([443, 9], 40)),
        (0, 58, vec![128; 24]),
        (0, 1, vec![8; 40]),
    ];
    for is_v6 in [false, true] {
        for (dscp, protocol, transport) in &urgent {
            let packet = packet(is_v6, *dscp, *protocol, transport);
            assert_eq!(own(&packet), PathChoice::Quickest, "{protocol} {transport:?}");
        }
        for (dscp, protocol, transport) in &bulk {
            let packet = packet(is_v6, *dscp, *protocol, transport);
            assert_eq!(own(&packet), PathChoice::All, "{protocol} {transport:?}");
        }
    }
    assert_eq!(own(&behind_extensions(UDP, &datagram([9, 53], 40))), PathChoice::Quickest);
}

#[test]
fn padding_is_no_data_and_frames_without_ip_are_urgent() {
    let traffic = Traffic { urgent: PathChoice::Duplicate, ..Traffic::default() };
    let acknowledgement = packet(false, 0, TCP, &segment([1, 2], 0x10, 0));
    for tag in [&[][..], &[0x81, 0, 0, 7]] {
        let frame = [&[0xff; 12][..], tag, &[8, 0], &acknowledgement, &[0; 6]].concat();
        assert_eq!(traffic.of_frame(&frame).paths, PathChoice::Duplicate);
    }
    assert_eq!(traffic.of_frame(&[[0xff; 12], [8; 12]].concat()).paths, PathChoice::Duplicate);
}

#[test]
fn flows_differ_by_ports_and_fragments_belong_to_that_of_their_packet() {
    let flow = |packet: &[u8]| Traffic::default().of_ip(packet).flow;
    for is_v6 in [false, true] {
        let one = flow(&packet(is_v6, 0, UDP, &datagram([1, 2], 9)));
        assert_eq!(one, flow(&packet(is_v6, 0, UDP, &datagram([1, 2], 90))));
        assert_ne!(one, flow(&packet(is_v6, 0, UDP, &datagram([1, 3], 9))));
        let fragments = [[1, 53], [3, 4]].map(|ports| fragment(is_v6, &datagram(ports, 9)));
        assert_eq!(flow(&fragments[0]), flow(&fragments[1]));
        assert_eq!(own(&fragments[0]), PathChoice::All, "its other fragments show no port");
        let mut known = Fragments::default();
        let mut complete = |packet: &[u8]| {
            let mut class = Traffic::default().of_ip(packet);
            known.complete(&mut class);
            class.flow
        };
        let whole = flow(&packet(is_v6, 0, UDP, &datagram([1, 53], 9)));
        let mut last = fragments[0].clone();
        let offset = if is_v6 { 42 } else { 6 };
        last[offset..offset + 2].copy_from_slice(&[0, 8]);
        assert_ne!(complete(&last), whole, "before the first one");
        assert_eq!((complete(&fragments[0]), complete(&last)), (whole, whole));
        let number = if is_v6 { 47 } else { 5 };
        last[number] ^= 1;
        assert_ne!(complete(&last), whole, "of another packet");
    }
}

#[test]
fn the_first_rule_that_matches_decides() {
    let network = |text: &str| vec![text.parse().unwrap()];
    let rules = vec![
        TrafficRule {
            networks: network("10.2.0.0/16"),
            protocol: Some(1),
            ..TrafficRule::new(PathChoice::Quickest)
        },
        TrafficRule {
            ports: vec![5_000..=5_010],
            protocol: Some(UDP),
            ..TrafficRule::new(PathChoice::Duplicate)
        },
        TrafficRule { dscp: vec![34], ..TrafficRule::new(PathChoice::Quickest) },
        TrafficRule { ports: vec![53..=53], ..TrafficRule::new(PathChoice::All) },
    ];
    let traffic = Traffic { rules, ..Traffic::default() };
    let cases = [
        (packet(false, 0, 1, &[8; 9]), PathChoice::Quickest),
        (packet(true, 0, 1, &[8; 9]), PathChoice::All),
        (packet(false, 0, UDP, &datagram([5_010, 9], 900)), PathChoice::Duplicate),
        (packet(true, 0, UDP, &datagram([9, 5_000], 900)), PathChoice::Duplicate),
        (packet(true, 0, TCP, &segment([9, 5_000], 0x10, 9)), PathChoice::All),
        (packet(true, 34, TCP, &segment([9, 5_000], 0x10, 9)), PathChoice::Quickest),
        (packet(false, 0, UDP, &datagram([53, 9], 9)), PathChoice::All),
        (fragment(false, &datagram([5_010, 9], 9)), PathChoice::All),
    ];
    for (packet, wanted) in cases {
        assert_eq!(traffic.paths_of(&packet), wanted, "{packet:?}");
    }
}

/// Rules of any kind.
fn rules() -> impl Strategy<Value = Traffic> {
    let rule = (any::<Option<u8>>(), any::<(u16, u16)>(), prop::collection::vec(0..64_u8, 0..2));
    let rule = rule.prop_map(|(protocol, (first, last), dscp)| TrafficRule {
        protocol,
        ports: vec![first..=last],
        networks: vec!["10.2.0.0/15".parse().unwrap()],
        dscp,
        paths: PathChoice::Duplicate,
    });
    prop::collection::vec(rule, 0..3).prop_map(|rules| Traffic { rules, ..Traffic::default() })
}

/// Packets of both families, some of them cut off or changed.
fn nearly_packets() -> impl Strategy<Value = Vec<u8>> {
    let transport = prop::collection::vec(any::<u8>(), 0..60);
    let whole = (any::<bool>(), 0..64_u8, any::<u8>(), transport);
    let whole = whole.prop_map(|(is_v6, dscp, protocol, inside)| packet(is_v6, dscp, protocol, &inside));
    (whole, any::<prop::sample::Index>(), any::<prop::sample::Index>(), any::<u8>()).prop_map(
        |(mut packet, end, place, byte)| {
            let place = place.index(packet.len());
            packet[place] = byte;
            packet.truncate(end.index(packet.len()) + 1);
            packet
        },
    )
}

proptest! {
    #[test]
    fn whatever_arrives_has_paths(bytes in prop::collection::vec(any::<u8>(), 0..120), traffic in rules()) {
        traffic.of_ip(&bytes);
        traffic.of_frame(&bytes);
    }

    #[test]
    fn packets_that_are_cut_or_changed_have_paths(bytes in nearly_packets(), traffic in rules()) {
        traffic.of_ip(&bytes);
        traffic.of_frame(&[&[0; 12][..], &[0x86, 0xdd], &bytes].concat());
    }

    #[test]
    fn the_class_does_not_depend_on_the_payload(
        is_v6: bool, ports: [u16; 2], one in prop::collection::vec(any::<u8>(), 30), traffic in rules()
    ) {
        let mut datagrams = [datagram(ports, 30), datagram(ports, 30)];
        datagrams[1][8..].copy_from_slice(&one);
        let [one, other] = datagrams.map(|it| traffic.of_ip(&packet(is_v6, 0, UDP, &it)));
        prop_assert_eq!(one, other);
    }
}

#[test]
fn small_datagrams_keep_their_place_only_where_large_ones_pass() {
    let at = Time::from_millis;
    let class =
        |protocol, length| Traffic::default().of_ip(&packet(false, 0, protocol, &datagram([1, 2], length)));
    let mut sizes = Sizes::new(1);
    assert!(sizes.note(at(0), &class(UDP, 40)), "of a call");
    assert!(!sizes.note(at(10), &class(UDP, 1_200)));
    assert!(!sizes.note(at(900), &class(UDP, 40)), "behind the large one");
    assert!(sizes.note(at(1_010), &class(UDP, 40)), "that was long ago");
    assert!(!sizes.note(at(1_020), &class(TCP, 40)));
    let ruled = Traffic { rules: vec![TrafficRule::new(PathChoice::All)], ..Traffic::default() };
    assert!(!sizes.note(at(1_020), &ruled.of_ip(&packet(false, 0, UDP, &datagram([1, 2], 40)))));
    let least = packet(false, 1, UDP, &datagram([1, 2], 40));
    assert!(!sizes.note(at(1_020), &Traffic::default().of_ip(&least)), "less than best effort");
}
