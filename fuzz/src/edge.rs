//! A switch that sprays, resequences and rewrites, given any frames at any times.

use std::time::Duration;

use braid_openflow::{
    Action, Bucket, EthType, FlowMod, GroupId, GroupMod, GroupModCommand, GroupType, Instruction, List,
    Match, Message, OxmField, VlanVid, Xid,
};
use braid_packet::{TcpFlags, build};
use braid_spray::{HoldTime, Policy, Settings};
use braid_edge_protocol::extension::Extension;
use braid_switch::{ConnectionId, Identity, Offload, Packet, PortDescription, Switch, Coalesced};
use braid_types::{DatapathId, FiveTuple, MacAddr, PortNo, Time};

const CONTROLLER: ConnectionId = ConnectionId(1);
const SPRAY: GroupId = GroupId(1);
const ORDER: GroupId = GroupId(2);
const HOLD: Duration = Duration::from_millis(20);

/// Reads frames from `bytes`, each with its port, a time to wait before it and its offloads, and passes them.
///
/// # Panics
///
/// If a resequenced packet does not leave exactly once and in time, or coalescing takes packets that do not exist.
pub fn run(bytes: &[u8]) {
    let mut switch = switch();
    let (mut now, mut rest, mut came, mut left) = (Time::from_millis(1), bytes, 0_usize, 0);
    while let Some((port, wait, packet)) = next(&mut rest) {
        now = now + Duration::from_micros(wait * 100);
        if switch.poll_timeout() <= now {
            switch.handle_timeout(now);
        }
        came += usize::from((2..4).contains(&port.0) && !is_probe(&packet.data));
        switch.handle_packet(now, port, packet);
        left += leave(&mut switch);
        switch.poll_bytes(CONTROLLER).expect("a controller").clear();
    }
    switch.handle_timeout(now + HOLD);
    left += leave(&mut switch);
    assert_eq!(came, left, "what is resequenced leaves once");
}

/// Frames of the edges' own: the switch takes those that are for it, and passes on those that are not.
fn is_probe(data: &[u8]) -> bool {
    data.get(12..18) == Some(&[0x88, 0xb5, 0, 2, 0xb7, 0xb7])
}

/// How many packets leave by port 1; all that leave are coalesced.
fn leave(switch: &mut Switch) -> usize {
    let (mut packets, mut count) = (Vec::new(), 0);
    for (port, packet) in switch.poll_packets() {
        count += usize::from(port == PortNo(1) && !is_probe(&packet.data));
        packets.push(packet);
    }
    let mut rest = packets.as_mut_slice();
    while !rest.is_empty() {
        let coalesced = Coalesced::coalesce(rest);
        rest = rest.split_at_mut_checked(coalesced.packets).expect("as many packets as were coalesced").1;
    }
    count
}

fn next(rest: &mut &[u8]) -> Option<(PortNo, u64, Packet)> {
    let [port, wait, kind, length] = take(rest)?;
    let offload = Offload::from_bytes(take(rest)?);
    let data = if kind < 128 { segment(rest, kind, length)? } else { plain(rest, length) };
    Some((PortNo(u32::from(port % 4) + 1), wait.into(), Packet { data, offload }))
}

/// A TCP segment of one of few flows.
fn segment(rest: &mut &[u8], kind: u8, length: u8) -> Option<Vec<u8>> {
    let [flags, high, low, flow] = take(rest)?;
    let address = |last: u8| std::net::Ipv4Addr::new(10, 0, 0, last).into();
    let tuple = FiveTuple { src: address(1), dst: address(2), src_port: u16::from(flow % 4), dst_port: 80 };
    let seq = u32::from_be_bytes([kind << 1, high, low, 0]);
    let payload = vec![flow; usize::from(length)];
    Some(build::tcp(tuple).flags(TcpFlags(flags.into())).numbers(seq, 1).payload(&payload).frame())
}

fn plain(rest: &mut &[u8], length: u8) -> Vec<u8> {
    let (data, after) = rest.split_at(usize::from(length).min(rest.len()));
    *rest = after;
    data.to_vec()
}

fn take<const N: usize>(rest: &mut &[u8]) -> Option<[u8; N]> {
    let (head, tail) = rest.split_first_chunk()?;
    *rest = tail;
    Some(*head)
}

fn switch() -> Switch {
    let identity = Identity { dpid: DatapathId(7), name: "edge".into(), version: "0".into(), seed: 1 };
    let mut switch = Switch::new(identity);
    // By port 3 what is longer leaves in fragments, or not at all.
    for (number, mtu) in (1..).zip([1_000, 0, 150, 0]) {
        let mac = MacAddr::from_u64(0x0200_0000_0000 + u64::from(number));
        let description = PortDescription {
            name: format!("port{number}"),
            mac,
            up: true,
            mtu,
            ..PortDescription::default()
        };
        switch.set_port(Time::ZERO, PortNo(number), description);
    }
    switch.connect(CONTROLLER);
    groups(&mut switch);
    flows(&mut switch);
    switch.poll_bytes(CONTROLLER).expect("a controller").clear();
    switch
}

fn groups(switch: &mut Switch) {
    let outputs = [2, 3].map(|port| [Action::output(PortNo(port))]);
    let buckets = [&outputs[0], &outputs[1]].map(|actions| Bucket { weight: 1, ..Bucket::new(actions) });
    for (group_id, group_type, buckets) in [
        (SPRAY, GroupType::Select, buckets.as_slice()),
        (ORDER, GroupType::Indirect, &[Bucket::new(&[Action::output(PortNo(1))])]),
    ] {
        let buckets = List::new(buckets);
        tell(
            switch,
            &Message::GroupMod(GroupMod { command: GroupModCommand::Add, group_type, group_id, buckets }),
        );
    }
    let settings = Settings { hold: HoldTime::Fixed(HOLD), packets: 64, bytes: 8_192, ..Settings::default() };
    for extension in [
        Extension::SetSpray { group: SPRAY, policy: Policy::Weighted { burst: 500 } },
        Extension::SetResequence { group: ORDER, settings: Some(settings) },
        Extension::SetBfd { port: PortNo(4), is_on: true },
    ] {
        let body = extension.body();
        tell(switch, &Message::Experimenter(extension.message(&body)));
    }
}

/// Rewritten packets from port 1 are sprayed; those from 2 and 3 are resequenced; those from 4 go up and to both paths.
fn flows(switch: &mut Switch) {
    let set = Action::SetField;
    let rewritten = [
        set(OxmField::Ipv4Src(std::net::Ipv4Addr::LOCALHOST.into())),
        set(OxmField::TcpDst(81.into())),
        Action::DecNwTtl,
        Action::PushVlan(EthType::VLAN),
        set(OxmField::VlanVid(VlanVid::tagged(42).into())),
        Action::Group(SPRAY),
    ];
    let ordered = [Action::Group(ORDER)];
    let up_and_on = [
        Action::PopVlan,
        Action::output(PortNo::CONTROLLER),
        Action::output(PortNo(2)),
        Action::output(PortNo(3)),
    ];
    for (port, actions) in [(1, &rewritten[..]), (2, &ordered), (3, &ordered), (4, &up_and_on)] {
        let (fields, todo) =
            ([OxmField::InPort(PortNo(port))], [Instruction::ApplyActions(List::new(actions))]);
        let (matching, instructions) = (Match::new(&fields), List::new(&todo));
        let flow_mod = FlowMod { priority: 1, matching, instructions, ..FlowMod::default() };
        tell(switch, &Message::FlowMod(flow_mod));
    }
}

fn tell(switch: &mut Switch, message: &Message<'_>) {
    let mut bytes = Vec::new();
    message.encode(Xid(1), &mut bytes).expect("a message that can be said");
    switch.poll_bytes(CONTROLLER).expect("a controller").clear();
    switch.handle_message(Time::ZERO, CONTROLLER, &bytes);
    assert!(switch.poll_bytes(CONTROLLER).expect("a controller").is_empty(), "refused: {message:?}");
}
