//! The messages of the fast path, next to a copy of the same bytes: `cargo bench -p braid-openflow`.

use std::hint::black_box;
use std::net::Ipv4Addr;

use braid_openflow::{
    Action, BufferId, Bytes, Cookie, EthType, FlowMod, Instruction, List, Match, Message, OxmField, PacketIn,
    PacketInReason, PacketOut, TableId, Xid,
};
use braid_types::{MacAddr, PortNo};
use criterion::{Criterion, Throughput, criterion_group, criterion_main};

/// An Ethernet frame with a TCP SYN of the usual options.
const FRAME: [u8; 74] = [0xab; 74];

fn packet_in(criterion: &mut Criterion) {
    let fields = [OxmField::InPort(PortNo(3))];
    let message = Message::PacketIn(PacketIn {
        buffer_id: BufferId::NO_BUFFER,
        total_len: 74,
        reason: PacketInReason::Action,
        table_id: TableId(0),
        cookie: Cookie(1),
        matching: Match::new(&fields),
        data: Bytes(&FRAME),
    });
    measure(criterion, "packet_in", message);
}

fn flow_mod(criterion: &mut Criterion) {
    let label = OxmField::EthDst(MacAddr::new([2, 0, 0, 0, 0, 7]).into());
    let actions = [Action::SetField(label), Action::output(PortNo(3))];
    let instructions = [Instruction::ApplyActions(List::from(&actions))];
    let stream = [
        OxmField::EthType(EthType::IPV4),
        OxmField::IpProto(6),
        OxmField::Ipv4Src(Ipv4Addr::new(10, 0, 0, 1).into()),
        OxmField::Ipv4Dst(Ipv4Addr::new(10, 0, 0, 2).into()),
        OxmField::TcpSrc(40_000.into()),
        OxmField::TcpDst(2811.into()),
    ];
    let message = Message::FlowMod(FlowMod {
        matching: Match::new(&stream),
        instructions: List::from(&instructions),
        ..FlowMod::default()
    });
    measure(criterion, "flow_mod", message);
}

fn packet_out(criterion: &mut Criterion) {
    let actions = [Action::output(PortNo(3))];
    measure(criterion, "packet_out", Message::PacketOut(PacketOut::new(&FRAME, &actions)));
}

/// Encodes and decodes `message`, and copies its bytes for comparison.
fn measure(criterion: &mut Criterion, name: &str, message: Message<'_>) {
    let mut bytes = Vec::with_capacity(512);
    message.encode(Xid(1), &mut bytes).expect("encodes");
    let mut group = criterion.benchmark_group(name);
    group.throughput(Throughput::Bytes(bytes.len() as u64));
    let mut out = Vec::with_capacity(512);
    group.bench_function("memcpy", |bencher| {
        bencher.iter(|| {
            out.clear();
            out.extend_from_slice(black_box(&bytes));
            black_box(out.as_slice());
        });
    });
    group.bench_function("encode", |bencher| {
        bencher.iter(|| {
            out.clear();
            black_box(&message).encode(Xid(1), &mut out).expect("encodes");
            black_box(out.as_slice());
        });
    });
    group.bench_function("decode", |bencher| {
        bencher.iter(|| black_box(Message::decode(black_box(&bytes)).expect("decodes")));
    });
    group.finish();
}

criterion_group!(benches, packet_in, flow_mod, packet_out);
criterion_main!(benches);
