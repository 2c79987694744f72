//! The cost of the resequencer for one packet: in order, sprayed over two paths in bursts, with losses, of many flows.

use braid_spray::{Fate, PathId, Resequencer, Segment, SeqNo, Settings};
use braid_types::{FiveTuple, Time};
use criterion::{BatchSize, Criterion, Throughput, criterion_group, criterion_main};

const PACKETS: u64 = 10_000;

struct Arrival {
    at: Time,
    flow: FiveTuple,
    segment: Segment,
    path: PathId,
}

fn flow(number: u64) -> FiveTuple {
    let src = std::net::Ipv4Addr::from_bits(0x0a00_0000 + number as u32).into();
    FiveTuple { src, dst: std::net::Ipv4Addr::LOCALHOST.into(), src_port: 40_000, dst_port: 5_201 }
}

/// A packet every microsecond, in bursts of eight by two paths of which the second is `skew` packets slower.
fn arrivals(flows: u64, skew: u64, lost_every: u64) -> Vec<Arrival> {
    let mut all: Vec<_> = (0..PACKETS)
        .filter(|id| id % lost_every != lost_every - 1)
        .map(|id| {
            let (path, seq) = (id / flows / 8 % 2, SeqNo((id / flows) as u32 * 1_448));
            let segment = Segment { seq, payload: 1_448, ..Segment::default() };
            let at = Time::from_nanos((id + path * skew * flows) * 1_000);
            Arrival { at, flow: flow(id % flows), segment, path: PathId(path as u8) }
        })
        .collect();
    all.sort_by_key(|arrival| arrival.at);
    all
}

fn pass(criterion: &mut Criterion, name: &str, arrivals: &[Arrival]) {
    let mut group = criterion.benchmark_group("resequencer");
    group.throughput(Throughput::Elements(arrivals.len() as u64));
    group.bench_function(name, |bencher| {
        let buffer = || Resequencer::new(Settings::default(), 1);
        bencher.iter_batched_ref(buffer, |buffer| offer_all(buffer, arrivals), BatchSize::LargeInput);
    });
}

fn offer_all(buffer: &mut Resequencer<u64>, arrivals: &[Arrival]) -> u64 {
    let mut out = 0;
    for Arrival { at, flow, segment, path } in arrivals {
        out += u64::from(buffer.offer(*at, flow, *segment, *path, 1_514, || 1) == Fate::Forward);
        while let Some(packet) = buffer.poll_packet() {
            out += packet;
        }
        if buffer.poll_timeout().is_some_and(|timeout| timeout <= *at) {
            buffer.handle_timeout(*at);
        }
    }
    out
}

fn benches(criterion: &mut Criterion) {
    pass(criterion, "in order", &arrivals(1, 0, u64::MAX));
    pass(criterion, "two paths, one 100 packets later", &arrivals(1, 100, u64::MAX));
    pass(criterion, "two paths, one 1000 packets later", &arrivals(1, 1_000, u64::MAX));
    pass(criterion, "two paths, one 100 packets later, 1 % lost", &arrivals(1, 100, 100));
    pass(criterion, "1000 flows, two paths, one a packet later", &arrivals(1_000, 1, u64::MAX));
}

criterion_group!(resequencer, benches);
criterion_main!(resequencer);
