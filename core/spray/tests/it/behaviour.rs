//! Resequencer behaviour, case by case: gaps, retransmissions, resets, limits, and hold times.

use std::time::Duration;

use braid_spray::{Fate, HoldTime, PathId, Resequencer, Segment, SeqNo, Settings};
use braid_types::Time;

use crate::common::{Bench, data, flow, settings};

const NOW: Time = Time::from_millis(1);

fn at(millis: u64) -> Time {
    Time::from_millis(millis)
}

#[test]
fn segments_in_order_pass_at_once() {
    let mut bench = Bench::new(settings());
    for id in 0..10 {
        assert_eq!(bench.offer(NOW, id, data(id as u32 * 100, 100), 0), Fate::Forward);
    }
    assert_eq!(bench.buffer.poll_timeout(), None);
}

#[test]
fn a_segment_ahead_waits_for_those_before_it() {
    let mut bench = Bench::new(settings());
    bench.offer(NOW, 0, data(0, 100), 0);
    for (id, seq) in [(3, 300), (2, 200), (5, 500)] {
        assert_eq!(bench.offer(NOW, id, data(seq, 100), 1), Fate::Taken);
    }
    bench.offer(NOW, 1, data(100, 100), 0);
    assert_eq!(bench.out, [0, 1, 2, 3]);
    assert_eq!(bench.buffer.gauge().packets, 1);
    bench.offer(NOW, 4, data(400, 100), 0);
    assert_eq!(bench.out, [0, 1, 2, 3, 4, 5]);
    assert_eq!(bench.buffer.counters().gaps_filled, 2);
}

#[test]
fn order_is_kept_over_the_wrap() {
    let mut bench = Bench::new(settings());
    let start = u32::MAX - 149;
    bench.offer(NOW, 0, data(start, 100), 0);
    bench.offer(NOW, 2, data(start.wrapping_add(200), 100), 0);
    bench.offer(NOW, 1, data(start.wrapping_add(100), 100), 0);
    assert_eq!(bench.out, [0, 1, 2]);
}

#[test]
fn retransmissions_and_duplicates_never_wait() {
    let mut bench = Bench::new(settings());
    bench.offer(NOW, 0, data(0, 100), 0);
    bench.offer(NOW, 1, data(200, 100), 0);
    assert_eq!(bench.offer(NOW, 2, data(0, 100), 0), Fate::Forward);
    assert_eq!(bench.offer(NOW, 3, data(200, 100), 1), Fate::Forward);
    assert_eq!(bench.offer(NOW, 4, data(250, 50), 1), Fate::Forward);
    assert_eq!(bench.taken(), [0, 2, 3, 4]);
    bench.offer(NOW, 5, data(100, 100), 0);
    assert_eq!(bench.out, [5, 1]);
}

#[test]
fn a_segment_that_overlaps_what_has_passed_closes_the_gap() {
    let mut bench = Bench::new(settings());
    bench.offer(NOW, 0, data(0, 100), 0);
    bench.offer(NOW, 1, data(150, 100), 0);
    assert_eq!(bench.offer(NOW, 2, data(50, 120), 0), Fate::Forward);
    assert_eq!(bench.out, [0, 2, 1]);
}

#[test]
fn empty_acknowledgements_never_wait_nor_count() {
    let mut bench = Bench::new(settings());
    assert_eq!(bench.offer(NOW, 9, data(7, 0), 0), Fate::Forward);
    assert_eq!(bench.buffer.gauge().flows, 0, "a receiver's acknowledgements need no state");
    bench.offer(NOW, 0, data(0, 100), 0);
    bench.offer(NOW, 1, data(200, 100), 0);
    assert_eq!(bench.offer(NOW, 2, data(300, 0), 0), Fate::Forward);
    bench.offer(NOW, 3, data(100, 100), 0);
    assert_eq!(bench.out, [9, 0, 2, 3, 1]);
}

#[test]
fn syn_and_fin_take_their_place_in_the_sequence() {
    let mut bench = Bench::new(settings());
    bench.offer(NOW, 0, Segment { syn: true, ..data(99, 0) }, 0);
    bench.offer(NOW, 2, Segment { fin: true, ..data(200, 50) }, 1);
    assert_eq!(bench.taken(), [0]);
    bench.offer(NOW, 1, data(100, 100), 0);
    assert_eq!(bench.taken(), [1, 2]);
    assert_eq!(bench.offer(NOW, 3, data(251, 10), 0), Fate::Forward);
}

#[test]
fn a_reset_goes_after_what_waits_and_ends_the_flow() {
    let mut bench = Bench::new(settings());
    bench.offer(NOW, 0, data(0, 100), 0);
    bench.offer(NOW, 2, data(400, 100), 0);
    bench.offer(NOW, 1, data(200, 100), 0);
    bench.offer(NOW, 3, Segment { rst: true, ..data(500, 0) }, 0);
    assert_eq!(bench.out, [0, 1, 2, 3]);
    assert_eq!(bench.buffer.gauge().flows, 0);
}

#[test]
fn a_connection_may_begin_anew_anywhere() {
    let mut bench = Bench::new(settings());
    bench.offer(NOW, 0, data(0, 100), 0);
    bench.offer(NOW, 1, data(200, 100), 0);
    bench.offer(NOW, 2, Segment { syn: true, ..data(0x9000_0000, 0) }, 0);
    assert_eq!(bench.taken(), [0, 2]);
    bench.offer(NOW, 3, data(0x9000_0001, 0), 0);
    assert_eq!(bench.taken(), [3, 1], "what waits belongs to a connection that is over");
    bench.offer(NOW, 5, data(0x9000_0065, 100), 0);
    bench.offer(NOW, 4, data(0x9000_0001, 100), 0);
    assert_eq!(bench.taken(), [4, 5]);
}

#[test]
fn a_forged_or_repeated_syn_changes_nothing() {
    let mut bench = Bench::new(settings());
    let syn = |seq| Segment { syn: true, ..data(seq, 0) };
    bench.offer(NOW, 0, syn(u32::MAX), 0);
    bench.offer(NOW, 1, data(0, 100), 0);
    bench.offer(NOW, 2, syn(0x1234_5678), 0);
    bench.offer(NOW, 3, syn(u32::MAX), 0);
    assert_eq!(bench.offer(NOW, 4, data(0, 100), 0), Fate::Forward);
    assert_eq!(bench.offer(NOW, 6, data(200, 100), 0), Fate::Taken);
    bench.offer(NOW, 5, data(100, 100), 0);
    assert_eq!(bench.out, [0, 1, 2, 3, 4, 5, 6]);
}

#[test]
fn a_gap_is_given_up_when_every_path_has_passed_it() {
    let mut bench = Bench::new(Settings { paths: 2, ..settings() });
    bench.offer(NOW, 0, data(0, 100), 0);
    bench.offer(NOW, 1, data(100, 100), 1);
    // 200 is lost on path 0.
    bench.offer(NOW, 3, data(300, 100), 1);
    assert_eq!(bench.taken(), [0, 1]);
    bench.offer(NOW, 4, data(400, 100), 0);
    assert_eq!(bench.taken(), [3, 4]);
    assert_eq!(bench.buffer.counters().gaps_passed, 1);
    // The sender repeats it.
    assert_eq!(bench.offer(NOW, 2, data(200, 100), 1), Fate::Forward);
    assert_eq!(bench.buffer.counters().spurious, 0);
}

#[test]
fn a_gap_is_given_up_when_probes_sent_after_it_have_come_by_every_path() {
    let mut bench = Bench::new(Settings { paths: 2, ..settings() });
    bench.offer(NOW, 0, data(0, 100), 0);
    bench.offer(NOW, 1, data(100, 100), 1);
    [(0, 0), (1, 1)].into_iter().for_each(|(number, path)| bench.probe(NOW, number, path));
    // 200 and 400 are the last ones on path 0, and lost.
    bench.offer(NOW, 3, data(300, 100), 1);
    bench.offer(NOW, 5, data(500, 100), 1);
    bench.probe(at(20), 2, 0);
    assert_eq!(bench.taken(), [0, 1], "what was sent before probe 3 may still come by path 0");
    bench.probe(at(21), 3, 1);
    assert!(bench.taken().is_empty());
    bench.probe(at(40), 4, 0);
    assert_eq!(bench.taken(), [3, 5]);
    assert_eq!((bench.buffer.counters().gaps_passed, bench.buffer.poll_timeout()), (2, None));
    bench.offer(at(41), 7, data(700, 100), 1);
    bench.buffer.forget_paths();
    (5..20).for_each(|number| bench.probe(at(42), number, number as u8 % 2));
    assert!(bench.taken().is_empty(), "nothing is known of paths that are numbered anew");
}

#[test]
fn probes_of_other_paths_do_not_pass_what_may_come_by_one_that_is_not_probed() {
    let mut bench = Bench::new(Settings { paths: 2, ..settings() });
    bench.offer(NOW, 0, data(0, 100), 2);
    [(0, 0), (1, 1)].into_iter().for_each(|(number, path)| bench.probe(NOW, number, path));
    bench.offer(NOW, 2, data(200, 100), 0);
    (2..20).for_each(|number| bench.probe(at(20), number, number as u8 % 2));
    assert_eq!(bench.taken(), [0], "100 may be under way by path 2");
    bench.offer(at(21), 1, data(100, 100), 2);
    assert_eq!((bench.taken(), bench.buffer.counters().gaps_passed), (vec![1, 2], 0));
}

#[test]
fn what_is_sent_again_by_an_idle_path_is_not_late() {
    let mut bench = Bench::new(Settings { paths: 2, ..settings() });
    bench.offer(NOW, 0, data(0, 100), 0);
    [(0, 0), (1, 1)].into_iter().for_each(|(number, path)| bench.probe(NOW, number, path));
    // 100 is lost on path 0.
    bench.offer(NOW, 2, data(200, 100), 1);
    (2..6).for_each(|number| bench.probe(at(20), number, number as u8 % 2));
    assert_eq!(bench.taken(), [0, 2]);
    bench.offer(at(21), 1, data(100, 100), 0);
    assert_eq!((bench.taken(), bench.buffer.counters().spurious), (vec![1], 0));
}

#[test]
fn a_path_that_fell_silent_proves_nothing_and_hinders_nothing() {
    let mut bench = Bench::new(Settings { paths: 2, ..settings() });
    bench.offer(NOW, 0, data(0, 100), 1);
    for id in 1..2_000 {
        bench.offer(NOW, id, data(id as u32 * 100, 100), 0);
    }
    bench.offer(at(600), 2_001, data(200_100, 100), 0);
    assert_eq!(bench.out.last(), Some(&2_001), "path 1 carries nothing any more");
}

#[test]
fn the_first_packet_of_a_slow_path_is_waited_for_however_many_a_quick_one_delivers() {
    let mut bench = Bench::new(Settings { paths: 2, ..settings() });
    for id in 0..2_000 {
        bench.offer(NOW, id, data(id as u32 * 100, 100), 0);
    }
    // 2,000 is on its way by path 1.
    bench.offer(at(1), 2_001, data(200_100, 100), 0);
    assert_eq!(bench.out.last(), Some(&1_999));
    bench.offer(at(40), 2_000, data(200_000, 100), 1);
    assert_eq!(bench.out[2_000..], [2_000, 2_001]);
}

#[test]
fn a_packet_that_waited_long_enough_goes_with_those_before_it() {
    let mut bench = Bench::new(settings());
    bench.offer(at(0), 0, data(0, 100), 0);
    bench.offer(at(1), 4, data(400, 100), 0);
    bench.offer(at(5), 2, data(200, 100), 0);
    bench.offer(at(9), 6, data(600, 100), 0);
    assert_eq!(bench.buffer.poll_timeout(), Some(at(51)));
    bench.timeout(at(50));
    assert_eq!(bench.taken(), [0]);
    bench.timeout(at(51));
    assert_eq!(bench.taken(), [2, 4]);
    assert_eq!(bench.buffer.poll_timeout(), Some(at(59)));
    let late = bench.offer(at(52), 1, data(100, 100), 0);
    assert_eq!((late, bench.buffer.counters().gaps_timed_out), (Fate::Forward, 2));
}

#[test]
fn a_flow_beyond_its_threshold_lets_all_go_and_passes_over_a_burst_of_losses() {
    let mut bench = Bench::new(Settings { threshold: 1_000, loss_recovery: 20, ..settings() });
    bench.offer(NOW, 0, data(0, 100), 0);
    for id in 2..6 {
        bench.offer(NOW, id, data(id as u32 * 100, 100), 0);
    }
    assert_eq!(bench.taken(), [0, 2, 3, 4, 5]);
    assert_eq!(bench.buffer.counters().gaps_over_threshold, 1);
    // The next 20 packets do not wait for each other; then order counts again.
    assert_eq!(bench.offer(NOW, 9, data(900, 100), 0), Fate::Forward);
    assert_eq!(bench.offer(NOW, 25, data(2_500, 100), 0), Fate::Forward);
    assert_eq!(bench.offer(NOW, 27, data(2_700, 100), 0), Fate::Taken);
}

#[test]
fn segments_far_away_pass_and_are_believed_when_they_go_on() {
    let mut bench = Bench::new(settings());
    bench.offer(NOW, 0, data(0, 100), 0);
    assert_eq!(bench.offer(NOW, 1, data(1 << 30, 100), 0), Fate::Forward);
    assert_eq!(bench.offer(NOW, 2, data(200, 100), 0), Fate::Taken);
    for id in 0..4 {
        assert_eq!(bench.offer(NOW, 10 + id, data((1 << 29) + id as u32 * 100, 100), 0), Fate::Forward);
    }
    assert_eq!(bench.taken(), [0, 1, 10, 11, 12, 13, 2]);
    assert_eq!(bench.offer(NOW, 20, data((1 << 29) + 500, 100), 0), Fate::Taken);
}

#[test]
fn the_time_to_wait_follows_how_late_packets_come() {
    let millis = Duration::from_millis;
    let hold = HoldTime::Measured { least: millis(2), most: millis(100) };
    let mut bench = Bench::new(Settings { hold, ..settings() });
    bench.offer(at(0), 0, data(0, 100), 0);
    bench.offer(at(1), 2, data(200, 100), 1);
    assert_eq!(bench.buffer.hold_time(), millis(100));
    bench.offer(at(11), 1, data(100, 100), 0);
    assert_eq!(bench.buffer.hold_time(), millis(16));
    // A packet later than that was let down by the time-out, which learns from it.
    bench.offer(at(20), 4, data(400, 100), 1);
    bench.timeout(at(36));
    bench.offer(at(50), 3, data(300, 100), 0);
    assert_eq!(bench.buffer.counters().spurious, 1);
    assert_eq!(bench.buffer.hold_time(), millis(46));
}

#[test]
fn the_buffer_gives_what_it_has_no_room_for_back_in_order() {
    let mut bench = Bench::new(Settings { packets: 2, ..settings() });
    bench.offer(NOW, 0, data(0, 100), 0);
    for (id, seq) in [(6, 600), (2, 200), (4, 400)] {
        bench.offer(NOW, id, data(seq, 100), 0);
    }
    assert_eq!(bench.out, [0, 2]);
    assert_eq!(bench.buffer.gauge().packets, 2);
    let next = Segment { seq: SeqNo(500), payload: 100, ..Segment::default() };
    bench.offer(NOW, 5, next, 0);
    assert_eq!(bench.out, [0, 2, 4, 5, 6]);
}

#[test]
fn who_sends_most_to_be_held_does_not_keep_others_from_it() {
    let mut buffer = Resequencer::new(Settings { packets: 8, ..settings() }, 1);
    let mut offer = |number, seq, id: u64| {
        let fate = buffer.offer(NOW, &flow(number), data(seq, 100), PathId(0), 154, || id);
        (fate, std::iter::from_fn(|| buffer.poll_packet()).collect::<Vec<_>>())
    };
    offer(1, 0, 0);
    offer(2, 0, 0);
    (1..=20).for_each(|id| _ = offer(1, id * 200, id.into()));
    assert_eq!(offer(2, 200, 102), (Fate::Taken, vec![13]));
    assert_eq!(offer(2, 100, 101), (Fate::Forward, vec![102]), "the other flow is resequenced");
}

#[test]
fn settings_that_cannot_be_met_are_refused() {
    assert_eq!(Settings::default().check(), Ok(()));
    let least = Duration::from_secs(2);
    let hold = HoldTime::Measured { least, most: Duration::from_secs(1) };
    for settings in [
        Settings { hold, ..settings() },
        Settings { hold: HoldTime::Fixed(Duration::from_secs(11)), ..settings() },
        Settings { horizon: 1 << 31, ..settings() },
        Settings { flows: 0, ..settings() },
        Settings { packets: u32::MAX, ..settings() },
    ] {
        assert!(settings.check().is_err(), "{settings:?}");
    }
}

#[test]
fn a_buffer_that_is_flushed_holds_nothing() {
    let mut bench = Bench::new(settings());
    bench.offer(NOW, 0, data(0, 100), 0);
    bench.offer(NOW, 2, data(400, 100), 0);
    bench.offer(NOW, 1, data(200, 100), 0);
    bench.buffer.flush(NOW);
    let out: Vec<_> = std::iter::from_fn(|| bench.buffer.poll_packet()).collect();
    assert_eq!((out, bench.buffer.poll_timeout()), (vec![1, 2], None));
}

#[test]
fn what_waits_is_counted_by_path_and_by_how_long() {
    let mut bench = Bench::new(settings());
    bench.offer(at(0), 0, data(0, 100), 0);
    bench.offer(at(1), 2, data(200, 100), 1);
    bench.offer(at(4), 1, data(100, 100), 0);
    bench.offer(at(5), 4, data(400, 100), 1);
    bench.timeout(at(55));
    let counters = bench.buffer.counters();
    // One waited for 3 ms, one for 50.
    let waits = bench.buffer.hold_times();
    assert_eq!((waits.total(), waits.below(Duration::from_micros(4_096))), (2, 1));
    assert_eq!((counters.max_packets, counters.max_bytes), (1, 154 + 19 + 128));
    let [first, second, none] = [0, 1, 9].map(|path| bench.buffer.path(PathId(path)));
    assert_eq!((first.packets, first.bytes, first.late), (2, 308, 1));
    assert_eq!((second.packets, second.late, none.packets), (2, 0, 0));
}
