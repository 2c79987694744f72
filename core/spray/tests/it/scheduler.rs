//! Schedulers: shares by weight, bursts, paths that come and go, and delay-aware choice.

use std::time::Duration;

use braid_spray::{PathWeight, Policy, Scheduler};
use braid_types::{BitsPerSec, Time};
use proptest::prelude::*;

fn weights(all: &[u32]) -> Vec<PathWeight> {
    all.iter().map(|weight| PathWeight { weight: *weight, ..PathWeight::default() }).collect()
}

fn picks(scheduler: &mut Scheduler, count: usize) -> Vec<usize> {
    (0..count).filter_map(|_| scheduler.pick(Time::ZERO, 1_500)).collect()
}

#[test]
fn packets_go_in_bursts_by_their_weights() {
    let mut scheduler = Scheduler::new(Policy::Weighted { burst: 3_000 }, &weights(&[1, 3]));
    assert_eq!(picks(&mut scheduler, 8), [1, 1, 0, 0, 1, 1, 1, 1]);
}

#[test]
fn a_path_without_weight_carries_nothing() {
    let mut scheduler = Scheduler::new(Policy::default(), &weights(&[0, 5, 0]));
    assert!(picks(&mut scheduler, 100).iter().all(|path| *path == 1));
    let mut none = Scheduler::new(Policy::default(), &weights(&[0, 0]));
    assert_eq!(none.pick(Time::ZERO, 1), None);
    assert_eq!(Scheduler::new(Policy::DelayAware, &[]).pick(Time::ZERO, 1), None);
}

#[test]
fn a_path_that_comes_back_has_nothing_to_catch_up_with() {
    let mut scheduler = Scheduler::new(Policy::Weighted { burst: 0 }, &weights(&[1, 0]));
    picks(&mut scheduler, 10_000);
    assert!(scheduler.set(1, PathWeight { weight: 1, ..PathWeight::default() }));
    let of_second = picks(&mut scheduler, 100).iter().filter(|path| **path == 1).count();
    assert_eq!(of_second, 50);
    assert!(!scheduler.set(2, PathWeight::default()));
}

#[test]
fn a_path_that_loses_its_weight_is_left_within_its_burst() {
    let mut scheduler = Scheduler::new(Policy::Weighted { burst: 1 << 20 }, &weights(&[2, 1]));
    assert_eq!(picks(&mut scheduler, 3), [0, 0, 0]);
    scheduler.set(0, PathWeight::default());
    assert_eq!(picks(&mut scheduler, 3), [1, 1, 1]);
}

#[test]
fn a_slow_flow_takes_no_path_for_longer_than_two_milliseconds_in_a_row() {
    let mut scheduler = Scheduler::new(Policy::default(), &weights(&[1, 1]));
    // A packet each millisecond, then a burst at once.
    let slow: Vec<_> = (0..8).filter_map(|millis| scheduler.pick(Time::from_millis(millis), 130)).collect();
    assert_eq!(slow, [0, 0, 1, 1, 0, 0, 1, 1]);
    let burst: Vec<_> = (0..8).filter_map(|_| scheduler.pick(Time::from_millis(9), 1_500)).collect();
    assert_eq!(burst, [0; 8]);
}

#[test]
fn delay_aware_fills_the_short_path_before_it_takes_the_long_one() {
    let path = |millis| PathWeight {
        weight: 1,
        rate: Some(BitsPerSec(12_000_000)),
        delay: Duration::from_millis(millis),
    };
    // A packet takes 1 ms to send: the third waits 2 ms for the short path, as long as the other takes longer.
    let mut scheduler = Scheduler::new(Policy::DelayAware, &[path(5), path(7)]);
    assert_eq!(picks(&mut scheduler, 6), [0, 0, 0, 1, 0, 1]);
}

#[test]
fn delay_aware_shares_by_rates_when_more_is_offered_than_all_carry() {
    let path = |rate| PathWeight { weight: 1, rate: Some(BitsPerSec(rate)), delay: Duration::ZERO };
    let mut scheduler = Scheduler::new(Policy::DelayAware, &[path(30_000_000), path(10_000_000)]);
    let of_first = picks(&mut scheduler, 100_000).iter().filter(|path| **path == 0).count();
    assert!((74_900..75_100).contains(&of_first), "{of_first}");
}

proptest! {
    #[test]
    fn bytes_are_shared_by_weights_whatever_the_packets_are(
        all in prop::collection::vec(0..100_u32, 1..12),
        burst in 0..20_000_u32,
        sizes in prop::collection::vec(40..65_000_u32, 500),
    ) {
        prop_assume!(all.iter().any(|weight| *weight > 0));
        let mut scheduler = Scheduler::new(Policy::Weighted { burst }, &weights(&all));
        let (mut sent, total) = (vec![0_u64; all.len()], all.iter().sum::<u32>());
        for bytes in sizes.iter().cycle().take(2_000) {
            sent[scheduler.pick(Time::ZERO, *bytes).unwrap()] += u64::from(*bytes);
        }
        let whole: u64 = sent.iter().sum();
        for (weight, sent) in all.iter().zip(sent) {
            let share = whole * u64::from(*weight) / u64::from(total);
            // Off by no more than what one turn of all paths may carry.
            let turn = u64::from(burst + 65_000) * all.len() as u64;
            prop_assert!(sent.abs_diff(share) <= turn, "{sent} for {share}");
        }
    }
}
