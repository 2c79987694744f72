//! The cost of a switch for one packet, without I/O: full frames of one TCP flow.

use braid_edge_protocol::extension::Extension;
use braid_openflow::{
    Action, Bucket, EthType, FlowMod, GroupId, GroupMod, GroupModCommand, GroupType, Instruction, List,
    Masked, Match, MaxLen, Message, OxmField, TableId, TcpFlags as Bits, Xid,
};
use braid_packet::{TcpFlags, build};
use braid_spray::{Policy, Settings};
use braid_switch::{Coalesced, ConnectionId, Identity, Offload, Packet, PortDescription, Switch};
use braid_types::{DatapathId, FiveTuple, MacAddr, PortNo, Time};
use criterion::{BatchSize, Criterion, Throughput, criterion_group, criterion_main};

const PACKETS: u32 = 64;
const PAYLOAD: usize = 1_448;
const CONTROLLER: ConnectionId = ConnectionId(1);

fn switch() -> Switch {
    let identity = Identity { dpid: DatapathId(7), name: "edge".into(), version: "0".into(), seed: 1 };
    let mut switch = Switch::new(identity);
    for number in 1..=3_u32 {
        let mac = MacAddr::from_u64(0x0200_0000_0000 + u64::from(number));
        let description =
            PortDescription { name: format!("port{number}"), mac, up: true, ..PortDescription::default() };
        switch.set_port(Time::ZERO, PortNo(number), description);
    }
    switch.connect(CONTROLLER);
    switch
}

fn tell(switch: &mut Switch, message: &Message<'_>) {
    let mut bytes = Vec::new();
    message.encode(Xid(1), &mut bytes).expect("a message that can be said");
    switch.poll_bytes(CONTROLLER).expect("a controller").clear();
    switch.handle_message(Time::ZERO, CONTROLLER, &bytes);
    assert!(switch.poll_bytes(CONTROLLER).expect("a controller").is_empty(), "it was refused: {message:?}");
}

fn flow(switch: &mut Switch, table: u8, priority: u16, fields: &[OxmField<'_>], todo: &[Instruction<'_>]) {
    let (table_id, matching, instructions) = (TableId(table), Match::new(fields), List::new(todo));
    let flow_mod = FlowMod { table_id, priority, matching, instructions, ..FlowMod::default() };
    tell(switch, &Message::FlowMod(flow_mod));
}

fn group(switch: &mut Switch, id: u32, group_type: GroupType, buckets: &[Bucket<'_>]) {
    let (command, buckets) = (GroupModCommand::Add, List::new(buckets));
    tell(switch, &Message::GroupMod(GroupMod { command, group_type, group_id: GroupId(id), buckets }));
}

fn extend(switch: &mut Switch, extension: &Extension) {
    let body = extension.body();
    tell(switch, &Message::Experimenter(extension.message(&body)));
}

/// One flow that sends everything to port 2.
fn plain() -> Switch {
    let mut switch = switch();
    flow(&mut switch, 0, 1, &[], &[Instruction::ApplyActions(List::new(&[Action::output(PortNo(2))]))]);
    switch
}

/// One flow that sprays everything over two ports.
fn sprays() -> Switch {
    let mut switch = switch();
    let outputs = [2, 3].map(|port| [Action::output(PortNo(port))]);
    let buckets = [&outputs[0], &outputs[1]].map(|actions| Bucket { weight: 1, ..Bucket::new(actions) });
    group(&mut switch, 1, GroupType::Select, &buckets);
    extend(&mut switch, &Extension::SetSpray { group: GroupId(1), policy: Policy::default() });
    let spray = [Action::Group(GroupId(1))];
    flow(&mut switch, 0, 1, &[], &[Instruction::ApplyActions(List::new(&spray))]);
    switch
}

/// One flow that puts everything in order.
fn resequenced() -> Switch {
    let mut switch = switch();
    group(&mut switch, 1, GroupType::Indirect, &[Bucket::new(&[Action::output(PortNo(2))])]);
    extend(&mut switch, &Extension::SetResequence { group: GroupId(1), settings: Some(Settings::default()) });
    let order = [Action::Group(GroupId(1))];
    flow(&mut switch, 0, 1, &[], &[Instruction::ApplyActions(List::new(&order))]);
    switch
}

/// As the controller has it: three tables, the first of them with many kinds of matches; a label is written.
fn steered() -> Switch {
    let mut switch = switch();
    let to_controller = [Action::Output { port: PortNo::CONTROLLER, max_len: MaxLen::NO_BUFFER }];
    let tcp = [OxmField::EthType(EthType::IPV4), OxmField::IpProto(6)];
    for (priority, flags) in [(60, 0x02), (61, 0x01), (62, 0x04)] {
        let flags = OxmField::TcpFlags(Masked::new(Bits(flags), Bits(flags)));
        let fields = [&[OxmField::InPort(PortNo(1))], tcp.as_slice(), &[flags]].concat();
        flow(&mut switch, 0, priority, &fields, &[Instruction::ApplyActions(List::new(&to_controller))]);
    }
    for kind in [EthType::ARP, EthType::LLDP] {
        flow(
            &mut switch,
            0,
            50,
            &[OxmField::EthType(kind)],
            &[Instruction::ApplyActions(List::new(&to_controller))],
        );
    }
    flow(&mut switch, 0, 10, &[OxmField::InPort(PortNo(1))], &[Instruction::GotoTable(TableId(1))]);
    for port in 0..1_000_u16 {
        let addresses = [OxmField::Ipv4Src(TUPLE.0.into()), OxmField::Ipv4Dst(TUPLE.1.into())];
        let ports = [OxmField::TcpSrc((39_500 + port).into()), OxmField::TcpDst(5_201.into())];
        let label = Action::SetField(OxmField::EthDst(MacAddr::from_u64(0x02b7_0000_0001).into()));
        let todo = [label, Action::output(PortNo(2))];
        let fields = [tcp.as_slice(), &addresses, &ports].concat();
        flow(&mut switch, 1, 10, &fields, &[Instruction::ApplyActions(List::new(&todo))]);
    }
    flow(&mut switch, 1, 0, &[], &[Instruction::GotoTable(TableId(2))]);
    switch
}

const TUPLE: (std::net::Ipv4Addr, std::net::Ipv4Addr) =
    (std::net::Ipv4Addr::new(10, 0, 0, 1), std::net::Ipv4Addr::new(10, 0, 0, 2));

fn packets() -> Vec<Packet> {
    let tuple = FiveTuple { src: TUPLE.0.into(), dst: TUPLE.1.into(), src_port: 40_000, dst_port: 5_201 };
    let packet = |number: u32| {
        let frame = build::tcp(tuple).flags(TcpFlags::ACK).numbers(number * PAYLOAD as u32, 1);
        let mut data = frame.payload(&[7; PAYLOAD]).frame();
        data[18..20].copy_from_slice(&(number as u16).to_be_bytes());
        let header = data[14..34].chunks(2).map(|it| u32::from(u16::from_be_bytes([it[0], it[1]])));
        let left = u16::from_be_bytes([data[24], data[25]]);
        let sum = header.sum::<u32>() - u32::from(left);
        let sum = !(((sum & 0xffff) + (sum >> 16)) as u16);
        data[24..26].copy_from_slice(&sum.to_be_bytes());
        Packet { data, offload: Offload { checksum_valid: true, ..Offload::default() } }
    };
    (0..PACKETS).map(packet).collect()
}

fn pass(criterion: &mut Criterion, name: &str, mut switch: Switch) {
    let mut group = criterion.benchmark_group("switch");
    group.throughput(Throughput::Elements(PACKETS.into()));
    group.bench_function(name, |bencher| {
        bencher.iter_batched(
            packets,
            |packets| {
                packets.into_iter().for_each(|it| switch.handle_packet(Time::ZERO, PortNo(1), it));
                switch.poll_packets().collect::<Vec<_>>()
            },
            BatchSize::LargeInput,
        );
    });
}

fn coalesce(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("switch");
    group.throughput(Throughput::Elements(PACKETS.into()));
    group.bench_function("coalescing to GSO packets", |bencher| {
        let coalesce = |mut packets: Vec<Packet>| {
            let mut rest = packets.as_mut_slice();
            while !rest.is_empty() {
                let gso = Coalesced::coalesce(rest);
                rest = rest.split_at_mut(gso.packets).1;
            }
            packets
        };
        bencher.iter_batched(packets, coalesce, BatchSize::LargeInput);
    });
}

fn benches(criterion: &mut Criterion) {
    pass(criterion, "one flow, one port", plain());
    pass(criterion, "a flow that sprays", sprays());
    pass(criterion, "a flow that is resequenced", resequenced());
    pass(criterion, "the controller's tables, 1,000 streams", steered());
    coalesce(criterion);
}

criterion_group!(pipeline, benches);
criterion_main!(pipeline);
