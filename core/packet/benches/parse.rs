//! The cost of parsing one packet-in, beside etherparse's slicing of the same bytes in the same run.

use std::hint::black_box;

use braid_packet::lldp::{LldpProbe, ProbeKey};
use braid_packet::mptcp::{self, Key, Version};
use braid_packet::{Frame, TcpFlags, build};
use braid_types::{DatapathId, FiveTuple, MacAddr, PortNo, Time};
use criterion::{Criterion, criterion_group, criterion_main};
use etherparse::SlicedPacket;

/// The options of a Linux SYN with MP_CAPABLE: MSS, SACK permitted, timestamps, window scale.
const MP_CAPABLE_SYN: [u8; 24] =
    [2, 4, 5, 0xb4, 4, 2, 8, 10, 0, 1, 2, 3, 0, 0, 0, 0, 1, 3, 3, 10, 30, 4, 1, 1];
/// The same with MP_JOIN.
const MP_JOIN_SYN: [u8; 32] = [
    2, 4, 5, 0xb4, 4, 2, 8, 10, 0, 1, 2, 3, 0, 0, 0, 0, 1, 3, 3, 10, 30, 12, 0x10, 1, 1, 2, 3, 4, 5, 6, 7, 8,
];

fn syn(src: &str, dst: &str, options: &[u8]) -> Vec<u8> {
    let ip = |text: &str| text.parse().expect("an IP address");
    let tuple = FiveTuple { src: ip(src), dst: ip(dst), src_port: 40000, dst_port: 5201 };
    build::tcp(tuple).flags(TcpFlags::SYN).options(options).frame()
}

fn parse(c: &mut Criterion) {
    let frames = [
        ("v4-capable", syn("10.0.0.1", "10.0.0.2", &MP_CAPABLE_SYN)),
        ("v4-join", syn("10.0.0.1", "10.0.0.2", &MP_JOIN_SYN)),
        ("v6-capable", syn("fd00::1", "fd00::2", &MP_CAPABLE_SYN)),
        ("v6-join", syn("fd00::1", "fd00::2", &MP_JOIN_SYN)),
    ];
    for (name, frame) in &frames {
        let mut group = c.benchmark_group(*name);
        group.bench_function("etherparse", |b| b.iter(|| SlicedPacket::from_ethernet(black_box(frame))));
        group.bench_function("frame", |b| b.iter(|| Frame::parse(black_box(frame))));
        group.bench_function("frame-tuple-mptcp", |b| b.iter(|| read_stream(black_box(frame))));
        group.finish();
    }
}

fn read_stream(frame: &[u8]) -> Option<(FiveTuple, mptcp::Handshake)> {
    let frame = Frame::parse(frame).ok()?;
    let handshake = mptcp::handshake(frame.tcp()?.options).ok()??;
    Some((frame.five_tuple()?, handshake))
}

fn hashes(c: &mut Criterion) {
    c.bench_function("token-v1", |b| b.iter(|| black_box(Key(7)).token(Version::V1)));
    let probe = LldpProbe { dpid: DatapathId(1), port: PortNo(2), sent_at: Time::from_nanos(3) };
    let key = ProbeKey::new([7; 32]);
    let frame = probe.encode(&key, MacAddr::ZERO);
    c.bench_function("probe-encode", |b| {
        let mut buffer = Vec::new();
        b.iter(|| probe.encode_into(&key, MacAddr::ZERO, black_box(&mut buffer)));
    });
    c.bench_function("probe-decode", |b| b.iter(|| LldpProbe::decode(black_box(&frame[14..]), &key)));
}

criterion_group!(benches, parse, hashes);
criterion_main!(benches);
