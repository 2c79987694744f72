//! The delay gate against its formula, and its choice against all subsets.

use std::cmp::Reverse;
use std::time::Duration;

use braid_paths::{DelayGate, DelayLimits, DelayLimitsError, Kept, Verdict};
use braid_types::BitsPerSec;
use proptest::prelude::*;

const TOGETHER: Verdict = Verdict::Together { resequence: false };
const RESEQUENCED: Verdict = Verdict::Together { resequence: true };

fn micros<const N: usize>(delays: [u64; N]) -> [Duration; N] {
    delays.map(Duration::from_micros)
}

fn millis<const N: usize>(delays: [u64; N]) -> [Duration; N] {
    delays.map(Duration::from_millis)
}

/// Delays on both sides of every limit, many of them equal.
fn delays() -> impl Strategy<Value = Duration> {
    prop_oneof![0..5_u64, 0..5_000_u64, (0..300_u64).prop_map(|millis| millis * 1_000)]
        .prop_map(Duration::from_micros)
}

fn gates() -> impl Strategy<Value = DelayGate> {
    let imbalance = || 0.0..=0.5;
    let limits = (imbalance(), imbalance(), delays(), delays(), delays());
    let gate = limits.prop_map(|(a, b, reorder_above, c, d)| {
        let (reorder, cutoff, tolerable, limit) = (f64::min(a, b), f64::max(a, b), c.min(d), c.max(d));
        DelayGate::new(DelayLimits { reorder, reorder_above, cutoff, tolerable, limit }).unwrap()
    });
    prop_oneof![Just(DelayGate::default()), gate]
}

fn candidates() -> impl Strategy<Value = Vec<(Duration, BitsPerSec)>> {
    let rate = prop_oneof![0..4_u64, 0..1_000_u64, Just(u64::MAX)].prop_map(BitsPerSec);
    prop::collection::vec((delays(), rate), 0..8)
}

fn total(candidates: &[(Duration, BitsPerSec)], indices: &[usize]) -> u128 {
    indices.iter().map(|index| u128::from(candidates[*index].1.0)).sum()
}

fn delays_of(candidates: &[(Duration, BitsPerSec)], indices: &[usize]) -> Vec<Duration> {
    indices.iter().map(|index| candidates[*index].0).collect()
}

/// The best of all subsets of the paths that have any rate, by position.
fn best_subset(gate: &DelayGate, candidates: &[(Duration, BitsPerSec)]) -> Option<Vec<usize>> {
    let members = |set: u32| (0..candidates.len()).filter(move |index| set & 1 << index != 0).collect();
    let sets = (1..1 << candidates.len()).map(members).filter(|set: &Vec<usize>| {
        let delays = delays_of(candidates, set);
        set.iter().all(|index| candidates[*index].1.0 > 0) && gate.verdict(&delays) != Verdict::Apart
    });
    sets.min_by_key(|set| (Reverse(total(candidates, set)), delays_of(candidates, set).into_iter().max()))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(4_000))]

    #[test]
    fn the_imbalance_is_that_of_the_formula(delays in prop::collection::vec(delays(), 1..6)) {
        let [max, min] = [delays.iter().max(), delays.iter().min()].map(|delay| delay.unwrap().as_secs_f64());
        let expected = if max == 0.0 { 0.0 } else { max / (max + min) - 0.5 };
        let mdi = DelayGate::mdi(&delays);
        prop_assert!((mdi - expected).abs() < 1e-12 && (0.0..=0.5).contains(&mdi), "{mdi} {expected}");
    }

    #[test]
    fn the_choice_is_the_best_of_all_subsets(gate in gates(), candidates in candidates()) {
        let mut kept = gate.choose(&candidates).indices;
        prop_assert!(kept.is_sorted_by_key(|index| candidates[*index].0));
        kept.sort_unstable();
        match best_subset(&gate, &candidates) {
            Some(best) => prop_assert_eq!(kept, best),
            None => {
                let lowest = (0..candidates.len()).min_by_key(|index| candidates[*index].0);
                prop_assert_eq!(kept, Vec::from_iter(lowest));
            }
        }
    }

    #[test]
    fn the_choice_passes_the_gate_and_is_no_worse_than_one_path(gate in gates(), candidates in candidates()) {
        let Kept { indices, resequence, mdi, difference } = gate.choose(&candidates);
        let delays = delays_of(&candidates, &indices);
        prop_assert_eq!(gate.verdict(&delays), Verdict::Together { resequence });
        prop_assert_eq!(mdi, DelayGate::mdi(&delays));
        let spread = delays.iter().max().zip(delays.iter().min()).map(|(max, min)| *max - *min);
        prop_assert_eq!(difference, spread.unwrap_or_default());
        let single = candidates.iter().map(|(_, rate)| rate.0.into()).max().unwrap_or(0);
        prop_assert!(total(&candidates, &indices) >= single);
    }

    #[test]
    fn what_goes_together_still_does_when_one_leaves(
        gate in gates(), mut delays in prop::collection::vec(delays(), 1..6), leaves in any::<prop::sample::Index>(),
    ) {
        let before = gate.verdict(&delays);
        delays.remove(leaves.index(delays.len()));
        match before {
            TOGETHER => prop_assert_eq!(gate.verdict(&delays), TOGETHER),
            RESEQUENCED => prop_assert_ne!(gate.verdict(&delays), Verdict::Apart),
            Verdict::Apart => {}
        }
    }
}

#[test]
fn the_imbalances_of_the_paper_are_found_again() {
    let rounded = |delays| (DelayGate::mdi(&millis(delays)) * 100.0).round();
    assert_eq!([[25, 25], [50, 25], [25, 100], [0, 7]].map(rounded), [0.0, 17.0, 30.0, 50.0]);
    // 0.15 and 0.4 exactly are not above the limits.
    assert_eq!([[35, 65], [1, 9]].map(|delays| DelayGate::mdi(&millis(delays))), [0.15, 0.4]);
}

#[test]
fn no_delay_at_all_is_no_imbalance() {
    let gate = DelayGate::default();
    for delays in [&[][..], &micros([0]), &micros([0, 0]), &micros([40_000_000])] {
        assert_eq!((DelayGate::mdi(delays), gate.verdict(delays)), (0.0, TOGETHER));
    }
}

#[test]
fn small_differences_count_as_small_and_great_ones_as_great() {
    let gate = DelayGate::default();
    let verdicts = [
        // An imbalance of 0.45 within a data centre.
        (micros([20, 400]), RESEQUENCED),
        (micros([0, 2_000]), RESEQUENCED),
        (micros([0, 2_001]), Verdict::Apart),
        // Small imbalances of long ways.
        (millis([95, 97]), TOGETHER),
        (millis([95, 98]), RESEQUENCED),
        (millis([150, 250]), RESEQUENCED),
        (millis([150, 251]), Verdict::Apart),
        // In between, imbalances decide.
        (millis([1, 9]), RESEQUENCED),
        (millis([1, 10]), Verdict::Apart),
    ];
    assert_eq!(verdicts.map(|(delays, _)| gate.verdict(&delays)), verdicts.map(|(_, verdict)| verdict));
}

#[test]
fn without_differences_in_time_the_gate_is_that_of_the_paper() {
    let relative = DelayLimits {
        reorder_above: Duration::MAX,
        tolerable: Duration::ZERO,
        limit: Duration::MAX,
        ..DelayLimits::default()
    };
    let gate = DelayGate::new(relative).unwrap();
    let verdicts = [[25, 46], [25, 47], [25, 225], [25, 226]].map(|delays| gate.verdict(&millis(delays)));
    assert_eq!(verdicts, [TOGETHER, RESEQUENCED, RESEQUENCED, Verdict::Apart]);
}

#[test]
fn the_longest_delays_do_not_overflow() {
    let gate = DelayGate::default();
    let rate = BitsPerSec(u64::MAX);
    let kept = gate.choose(&[(Duration::MAX, rate), (Duration::MAX, rate), (Duration::ZERO, rate)]);
    assert_eq!(kept, Kept { indices: vec![0, 1], resequence: false, mdi: 0.0, difference: Duration::ZERO });
    assert_eq!(DelayGate::mdi(&[Duration::MAX, Duration::ZERO]), 0.5);
}

#[test]
fn limits_that_contradict_themselves_are_refused() {
    let refused = |limits: DelayLimits| DelayGate::new(limits).unwrap_err();
    let default = DelayLimits::default();
    for value in [-0.01, 0.51, f64::INFINITY] {
        let expected = DelayLimitsError::NoImbalance { what: "cutoff", value };
        assert_eq!(refused(DelayLimits { cutoff: value, ..default }), expected);
    }
    let nan = refused(DelayLimits { reorder: f64::NAN, ..default });
    assert_eq!(nan.to_string(), "reorder is NaN, but must be an imbalance from 0 to 0.5");
    let reversed = refused(DelayLimits { reorder: 0.4, cutoff: 0.15, ..default });
    assert_eq!(reversed.to_string(), "reorder is 0.4, but must not be above cutoff, 0.15");
    let reversed = refused(DelayLimits { tolerable: Duration::from_millis(101), ..default });
    assert_eq!(reversed.to_string(), "tolerable is 101ms, but must not be above limit, 100ms");
    assert_eq!(DelayGate::new(default), Ok(DelayGate::default()));
}
