//! A flow over paths that keep their order, each with a delay of its own.

use std::time::Duration;

use braid_spray::{HoldTime, Settings};
use braid_types::Time;
use proptest::prelude::*;

use crate::common::{Bench, data, settings};

/// One packet of the flow.
#[derive(Clone, Copy, Debug)]
struct Sent {
    path: u8,
    bytes: u32,
    lost: bool,
    doubled: bool,
}

fn packets(lost: f64, doubled: f64) -> impl Strategy<Value = Vec<Sent>> {
    let one = (0..3_u8, 1..3_000_u32, prop::bool::weighted(lost), prop::bool::weighted(doubled));
    let one = one.prop_map(|(path, bytes, lost, doubled)| Sent { path, bytes, lost, doubled });
    prop::collection::vec(one, 1..300)
}

/// What arrives when, a packet having left every 100 µs: number, sequence number, bytes, path.
fn arrivals(start: u32, sent: &[Sent], delays: [u64; 3]) -> Vec<(Time, u64, u32, Sent)> {
    let (mut seq, mut all) = (start, Vec::new());
    for (id, packet) in (0_u64..).zip(sent) {
        let arrival = Time::from_nanos((id * 100 + delays[usize::from(packet.path)] * 1_000) * 1_000);
        let copies = usize::from(!packet.lost) * (1 + usize::from(packet.doubled));
        (0..copies).for_each(|_| all.push((arrival, id, seq, *packet)));
        seq = seq.wrapping_add(packet.bytes);
    }
    all.sort_by_key(|(arrival, id, ..)| (*arrival, *id));
    all
}

fn run(bench: &mut Bench, arrivals: &[(Time, u64, u32, Sent)]) {
    for (arrival, id, seq, packet) in arrivals {
        while let Some(timeout) = bench.buffer.poll_timeout().filter(|it| it <= arrival) {
            bench.timeout(timeout);
        }
        bench.offer(*arrival, *id, data(*seq, packet.bytes), packet.path);
    }
    while let Some(timeout) = bench.buffer.poll_timeout() {
        bench.timeout(timeout);
    }
}

proptest! {
    #[test]
    fn what_no_path_loses_comes_out_as_it_was_sent(
        start in any::<u32>(), sent in packets(0.0, 0.0), delays in [0..20_u64, 0..20, 0..20],
    ) {
        let mut bench = Bench::new(Settings { paths: 3, ..settings() });
        // What comes first says where the flow begins.
        bench.offer(Time::ZERO, u64::MAX, data(start.wrapping_sub(1), 1), 0);
        run(&mut bench, &arrivals(start, &sent, delays));
        let wanted: Vec<_> = std::iter::once(u64::MAX).chain(0..sent.len() as u64).collect();
        prop_assert_eq!(&bench.out, &wanted);
        prop_assert_eq!(bench.buffer.counters().spurious, 0);
    }

    #[test]
    fn losses_leave_the_others_in_order(
        start in any::<u32>(), sent in packets(0.1, 0.0), delays in [0..20_u64, 0..20, 0..20],
    ) {
        // Gaps are given up for what the paths have delivered; only the last may wait for the time.
        let hold = HoldTime::Fixed(Duration::from_secs(10));
        let mut bench = Bench::new(Settings { paths: 3, hold, ..settings() });
        (0..3).for_each(|path| _ = bench.offer(Time::ZERO, 9_999, data(start.wrapping_sub(1), 1), path));
        let all = arrivals(start, &sent, delays);
        run(&mut bench, &all);
        let out: Vec<_> = bench.out.iter().copied().filter(|id| *id != 9_999).collect();
        let mut wanted: Vec<_> = all.iter().map(|(_, id, ..)| *id).collect();
        wanted.sort_unstable();
        prop_assert_eq!(out, wanted);
    }

    #[test]
    fn duplicates_and_losses_cost_no_packet(
        start in any::<u32>(), sent in packets(0.1, 0.1), delays in [0..20_u64, 0..20, 0..20],
    ) {
        let mut bench = Bench::new(Settings { paths: 3, threshold: 40_000, ..settings() });
        let all = arrivals(start, &sent, delays);
        run(&mut bench, &all);
        let sorted = |mut ids: Vec<u64>| { ids.sort_unstable(); ids };
        prop_assert_eq!(sorted(bench.out), sorted(all.iter().map(|(_, id, ..)| *id).collect()));
        prop_assert!(bench.buffer.counters().longest_nanos <= 50_000_000);
    }
}
