//! Whatever is read, changes make sense.

use std::collections::BTreeSet;
use std::time::Duration;

use braid_subflows::{Change, Reading, Settings, Subflow, Trials};
use braid_types::Time;
use proptest::prelude::*;

fn subflow() -> impl Strategy<Value = Subflow<u8>> {
    let counters = (0..4_u8, any::<u32>(), any::<u32>(), any::<u32>(), 0..2_000_u64, any::<bool>());
    counters.prop_map(|(id, acknowledged, sent, retransmitted, rtt, is_drained)| Subflow {
        id,
        acknowledged: acknowledged.into(),
        sent: sent.into(),
        retransmitted: retransmitted.into(),
        rtt: Duration::from_millis(rtt),
        is_drained,
    })
}

/// Readings of the same subflows for a while, whose counters go anywhere.
fn readings() -> impl Strategy<Value = Vec<(u64, Reading<u8>)>> {
    let counters = prop::collection::vec((0..1_500_u64, any::<u32>(), prop::bool::weighted(0.95)), 1..40);
    let stretch = (prop::collection::vec(subflow(), 0..4), counters).prop_map(|(mut subflows, counters)| {
        subflows.sort_by_key(|it| it.id);
        subflows.dedup_by_key(|it| it.id);
        let reading = move |(pause, acknowledged, is_greedy): (u64, u32, bool)| {
            let mut subflows = subflows.clone();
            for (place, it) in (1..).zip(&mut subflows) {
                it.acknowledged += u64::from(acknowledged) / place;
            }
            (pause, Reading { acknowledged: acknowledged.into(), is_greedy, subflows })
        };
        counters.into_iter().map(reading).collect::<Vec<_>>()
    });
    prop::collection::vec(stretch, 1..8).prop_map(|stretches| stretches.concat())
}

proptest! {
    #[test]
    fn changes_make_sense_and_one_subflow_always_carries_data(readings in readings()) {
        let (mut trials, mut now) = (Trials::new(Settings::default()), Time::ZERO);
        let mut suspended = BTreeSet::new();
        for (pause, reading) in readings {
            now = now + Duration::from_millis(pause);
            let there: BTreeSet<u8> = reading.subflows.iter().map(|it| it.id).collect();
            suspended.retain(|id| there.contains(id));
            let all_suspended = !there.is_empty() && suspended.len() == there.len();
            match trials.observe(now, &reading) {
                Some(Change::Suspend(id)) => prop_assert!(there.contains(&id) && suspended.insert(id)),
                Some(Change::Resume(id)) => prop_assert!(suspended.remove(&id)),
                None => prop_assert!(!all_suspended),
            }
            prop_assert_eq!(&trials.suspended().collect::<BTreeSet<_>>(), &suspended);
            prop_assert!(there.is_empty() || suspended.len() < there.len());
        }
    }
}
