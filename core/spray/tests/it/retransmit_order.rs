//! Retransmission bursts: no packet overtakes one that was sent before it.

use std::time::Duration;

use braid_spray::{Fate, HoldTime, Segment, Settings};
use braid_types::Time;
use proptest::prelude::*;

use crate::common::{Bench, data, settings};

/// So long after 100 ms, by when the flow of [`repeating`] has lost something.
fn at(millis: u64) -> Time {
    Time::from_millis(100 + millis)
}

fn sent(tick: u32, seq: u32) -> Segment {
    Segment { timestamp: Some(tick), ..data(seq, 100) }
}

/// A flow that came by both paths up to 1,300, but for the segment at 1,000, and of which the sender has repeated some since.
fn repeating(settings: Settings) -> Bench {
    let mut bench = Bench::new(settings);
    for number in (0..10).chain(11..13) {
        bench.offer(Time::ZERO, 0, sent(1, number * 100), number as u8 % 2);
    }
    bench.timeout(Time::from_millis(50));
    for number in 0..3 {
        assert_eq!(bench.offer(at(2), 0, sent(2, number * 100), 1), Fate::Forward, "few say nothing");
    }
    bench.taken();
    bench
}

fn two_paths() -> Settings {
    Settings { paths: 2, ..settings() }
}

#[test]
fn a_retransmission_waits_for_those_that_were_sent_before_it_by_another_path() {
    let mut bench = repeating(two_paths());
    assert_eq!(bench.offer(at(3), 2, sent(4, 400), 0), Fate::Taken);
    assert_eq!(bench.offer(at(3), 4, sent(5, 500), 0), Fate::Taken);
    bench.offer(at(4), 1, sent(3, 300), 1);
    assert_eq!(bench.taken(), [1]);
    bench.offer(at(5), 3, sent(4, 450), 1);
    assert_eq!(bench.taken(), [2, 3]);
    bench.offer(at(6), 5, sent(6, 600), 1);
    assert_eq!(bench.taken(), [4], "the other path may yet bring what was sent before");
    bench.timeout(at(3 + 50));
    assert!(bench.taken().is_empty());
    bench.timeout(at(6 + 50));
    assert_eq!(bench.taken(), [5]);
}

#[test]
fn a_retransmission_does_not_wait_for_a_path_by_which_a_later_probe_has_come() {
    let mut bench = repeating(two_paths());
    [(0, 0), (1, 1)].into_iter().for_each(|(number, path)| bench.probe(at(2), number, path));
    assert_eq!(bench.offer(at(3), 2, sent(4, 400), 0), Fate::Taken);
    assert_eq!(bench.offer(at(3), 4, sent(5, 500), 0), Fate::Taken);
    bench.probe(at(20), 2, 0);
    assert!(bench.taken().is_empty());
    bench.probe(at(20), 3, 1);
    assert_eq!(bench.taken(), [2, 4]);
}

#[test]
fn new_data_waits_for_retransmissions_that_were_sent_before_it() {
    let mut bench = repeating(two_paths());
    assert_eq!(bench.offer(at(3), 2, sent(4, 1_300), 0), Fate::Taken);
    assert_eq!(bench.offer(at(3), 4, sent(5, 1_500), 0), Fate::Taken);
    bench.offer(at(4), 1, sent(3, 300), 1);
    bench.offer(at(5), 3, sent(6, 400), 1);
    assert_eq!(bench.taken(), [1, 2], "1,400 is missing before 1,500");
    bench.timeout(at(53));
    assert_eq!(bench.taken(), [3, 4], "nothing waits for longer than the time-out in all");
    assert_eq!(bench.buffer.gauge().packets, 0);
}

#[test]
fn a_path_that_fell_silent_is_waited_for_once() {
    let mut bench = repeating(two_paths());
    bench.offer(at(3), 1, sent(3, 300), 0);
    bench.timeout(at(53));
    assert_eq!(bench.taken(), [1]);
    assert_eq!(bench.offer(at(54), 2, sent(4, 400), 0), Fate::Forward);
    // It is back.
    bench.offer(at(55), 3, sent(5, 500), 1);
    assert_eq!(bench.offer(at(55), 5, sent(7, 600), 0), Fate::Taken);
}

#[test]
fn retransmissions_pass_at_once_where_nothing_tells_their_order() {
    let mut few = Bench::new(two_paths());
    let mut without_timestamps = Bench::new(two_paths());
    let mut any_order = repeating(Settings { paths: 0, ..settings() });
    for number in 0..8 {
        let (seq, path) = (number % 2 * 100, number as u8 % 2);
        assert_eq!(few.offer(at(300 * u64::from(number)), 0, sent(9 - number, seq), path), Fate::Forward);
        assert_eq!(without_timestamps.offer(at(1), 0, data(seq, 100), path), Fate::Forward);
        assert_eq!(any_order.offer(at(3), 0, sent(9 - number, seq), path), Fate::Forward);
    }
}

#[test]
fn what_waits_for_its_turn_goes_before_a_reset_and_when_all_is_let_go() {
    let mut bench = repeating(two_paths());
    bench.offer(at(3), 1, sent(3, 300), 0);
    bench.offer(at(3), 2, Segment { rst: true, ..data(1_300, 0) }, 0);
    assert_eq!(bench.taken(), [1, 2]);
    let mut bench = repeating(two_paths());
    bench.offer(at(3), 1, sent(3, 400), 0);
    bench.offer(at(3), 2, sent(4, 300), 0);
    bench.buffer.flush(at(4));
    let out: Vec<_> = std::iter::from_fn(|| bench.buffer.poll_packet()).collect();
    assert_eq!((out, bench.buffer.poll_timeout()), (vec![1, 2], None));
}

#[test]
fn packets_of_one_path_and_tick_stay_as_they_came() {
    let mut bench = repeating(two_paths());
    bench.offer(at(3), 1, sent(4, 300), 0);
    bench.offer(at(3), 2, sent(4, 1_300), 0);
    bench.offer(at(3), 3, sent(4, 400), 0);
    bench.offer(at(4), 4, sent(5, 500), 1);
    assert_eq!(bench.taken(), [1, 2, 3]);
}

#[test]
fn order_does_not_count_long_after_what_was_lost() {
    let mut bench = repeating(two_paths());
    for number in 0..30 {
        bench.offer(at(100 * number), 0, sent(3, 0), 1);
        bench.timeout(at(100 * number + 50));
    }
    assert_eq!(bench.offer(at(3_000), 1, sent(4, 300), 0), Fate::Forward);
}

#[test]
fn a_connection_that_begins_anew_while_thousands_wait_goes_on_behind_the_last() {
    let mut bench = repeating(two_paths());
    bench.offer(at(1), 0, Segment { syn: true, ..data(0x8000_0000, 0) }, 0);
    bench.taken();
    for number in 0..6_000 {
        bench.offer(at(3), u64::from(number), sent(3, 0x8000_0001 + number * 100), 0);
    }
    // No more than 4,096 wait; the others pass them.
    assert!(bench.buffer.gauge().packets <= 4_096);
    bench.timeout(at(53));
    let mut out = bench.taken();
    out.sort_unstable();
    assert_eq!((out, bench.buffer.gauge().packets), ((0..6_000).collect(), 0));
    assert_eq!(bench.offer(at(54), 0, sent(4, 0x8000_0001 + 600_000), 1), Fate::Forward);
    assert_eq!(bench.offer(at(54), 0, sent(4, 0x8000_0001 + 600_200), 1), Fate::Taken, "a gap");
}

/// One packet: by which path, whether new, and how long after the one before, in microseconds.
fn packets() -> impl Strategy<Value = Vec<(u8, bool, u64)>> {
    prop::collection::vec((0..3_u8, any::<bool>(), 0..60_u64), 1..300)
}

proptest! {
    #[test]
    fn all_comes_out_as_it_was_sent(
        start in any::<u32>(), clock in any::<u32>(), packets in packets(), delays in [0..20_u64, 0..20, 0..20],
    ) {
        let hold = HoldTime::Fixed(Duration::from_secs(10));
        let mut bench = Bench::new(Settings { paths: 3, hold, ..settings() });
        let segment = |micros: u64, seq: u32| {
            let timestamp = Some(clock.wrapping_add((micros / 1_000) as u32));
            Segment { timestamp, ..data(start.wrapping_add(seq), 100) }
        };
        // New data by each path, of which something was lost, and then enough that comes again.
        for number in [0, 1, 2, 4, 5, 6, 0, 1, 2] {
            bench.offer(Time::ZERO, 9_999, segment(0, number * 100), number as u8 % 3);
        }
        bench.taken();
        let (mut micros, mut next, mut lowest, mut arrivals) = (1_000, 700, 0, Vec::new());
        for (id, (path, is_new, later)) in (0_u64..).zip(packets) {
            micros += later;
            // Within a tick a sender goes on in the order of numbers: what is repeated comes first, or in the next tick.
            if !is_new {
                micros = (micros / 1_000 + 1) * 1_000;
                lowest = (lowest + 100) % next;
            }
            let seq = if is_new { next } else { lowest };
            next = next.max(seq + 100);
            let arrival = Time::from_nanos((micros + delays[usize::from(path)] * 1_000) * 1_000);
            arrivals.push((arrival, id, segment(micros, seq), path));
        }
        let count = arrivals.len() as u64;
        arrivals.sort_by_key(|(arrival, id, ..)| (*arrival, *id));
        for (arrival, id, segment, path) in arrivals {
            bench.offer(arrival, id, segment, path);
        }
        while let Some(timeout) = bench.buffer.poll_timeout() {
            bench.timeout(timeout);
        }
        prop_assert_eq!(&bench.out, &(0..count).collect::<Vec<_>>());
    }
}
