//! Bounds under any input: nothing is lost or doubled, nothing is held too long, no limit is passed.

use std::collections::BTreeSet;
use std::time::Duration;

use braid_spray::{Fate, HoldTime, PathId, Resequencer, Segment, SeqNo, Settings};
use braid_types::Time;
use proptest::prelude::*;

use crate::common::flow;

const HOLD: Duration = Duration::from_millis(20);

fn tight() -> Settings {
    Settings {
        threshold: 20_000,
        hold: HoldTime::Fixed(HOLD),
        horizon: 1 << 16,
        flows: 16,
        packets: 24,
        bytes: 40_000,
        ..Settings::default()
    }
}

fn segment() -> impl Strategy<Value = Segment> {
    let near = prop_oneof![0..20_000_u32, (u32::MAX - 20_000)..u32::MAX, any::<u32>()];
    let payload = prop_oneof![Just(0), Just(1), 1..1_460_u32, Just(65_000)];
    let flag = || prop::bool::weighted(0.03);
    let timestamp = prop::option::weighted(0.9, prop_oneof![0..40_u32, any::<u32>()]);
    (near, payload, flag(), flag(), flag(), timestamp).prop_map(|(seq, payload, syn, fin, rst, timestamp)| {
        Segment { seq: SeqNo(seq), payload, syn, fin, rst, timestamp }
    })
}

proptest! {
    #[test]
    fn every_packet_leaves_once_in_time_and_within_the_bounds(
        arrivals in prop::collection::vec((0..40_u16, segment(), 0..9_u8, 0..8_u64), 1..400),
    ) {
        let mut buffer = Resequencer::new(tight(), 3);
        let (mut now, mut inside) = (Time::ZERO, BTreeSet::new());
        for (id, (number, segment, path, wait)) in arrivals.into_iter().enumerate() {
            now = now + Duration::from_millis(wait);
            buffer.handle_timeout(now);
            let size = segment.payload + 54;
            let fate = buffer.offer(now, &flow(number), segment, PathId(path), size, || (now, id));
            if fate == Fate::Taken {
                inside.insert(id);
            }
            while let Some((arrival, id)) = buffer.poll_packet() {
                prop_assert!(inside.remove(&id), "{id} came out and was not inside");
                prop_assert!(now.since(arrival) < HOLD + Duration::from_millis(8));
            }
            let gauge = buffer.gauge();
            prop_assert_eq!(gauge.packets as usize, inside.len());
            prop_assert!(gauge.packets <= 24 && gauge.bytes <= 40_000 && gauge.flows <= 16);
            prop_assert_eq!(buffer.poll_timeout().is_some(), gauge.packets > 0);
            prop_assert!(buffer.poll_timeout().is_none_or(|timeout| timeout > now));
        }
        buffer.handle_timeout(now + HOLD);
        while let Some((_, id)) = buffer.poll_packet() {
            prop_assert!(inside.remove(&id));
        }
        prop_assert!(inside.is_empty());
        prop_assert_eq!(buffer.gauge().bytes, 0);
    }
}

#[test]
fn ten_thousand_flows_with_forged_segments_stay_within_the_bounds() {
    let settings = Settings { flows: 4_096, packets: 2_000, bytes: 1 << 20, ..Settings::default() };
    let mut buffer = Resequencer::new(settings, 3);
    let mut out = 0;
    for step in 0..200_000_u32 {
        let now = Time::from_nanos(u64::from(step) * 1_000);
        let seq = SeqNo(step.wrapping_mul(0x9e37_79b9) >> (step % 16));
        let segment = Segment { seq, payload: 1, ..Segment::default() };
        let fate = buffer.offer(now, &flow((step % 10_000) as u16), segment, PathId(0), 55, || ());
        out += u32::from(fate == Fate::Forward);
        buffer.handle_timeout(now);
        out += std::iter::from_fn(|| buffer.poll_packet()).count() as u32;
        let gauge = buffer.gauge();
        assert!(gauge.flows <= 4_096 && gauge.packets <= 2_000 && gauge.bytes <= 1 << 20, "{gauge:?}");
    }
    buffer.handle_timeout(Time::from_millis(1_000_000));
    out += std::iter::from_fn(|| buffer.poll_packet()).count() as u32;
    assert_eq!(out, 200_000);
}
