//! Which path packets take: by arrival, by cost, and when they wait.

use super::*;

const RATE: Option<BitsPerSec> = Some(BitsPerSec(8_000_000));
/// It takes 1,000 bytes on the line.
const CONTENT: usize = 926;
const DELAYS: [u64; 2] = [10, 30];

/// Two paths with delays of 10 and 30 ms and these costs, whose probes were answered once.
fn lines_of(rate: Option<BitsPerSec>, costs: [u8; 2]) -> Lines {
    let mut lines = Lines::new(Time::ZERO);
    for (path, cost) in (0..).zip(costs) {
        lines.set(Time::ZERO, path, true, UplinkSettings { rate, cost });
    }
    answer(&mut lines, 0, &[0, 1]);
    lines
}

fn lines() -> Lines {
    lines_of(RATE, [0; 2])
}

/// Probes are sent at this time, and answered by these paths.
fn answer(lines: &mut Lines, at: u64, paths: &[u8]) {
    let (number, probed) = lines.poll_probe(Time::from_millis(at)).unwrap();
    for path in paths.iter().filter(|path| probed.contains(path)) {
        let delay = DELAYS[usize::from(*path)];
        let arrived = Time::from_millis(at + delay).as_nanos();
        let answer = Answer { number, arrived, ..Answer::default() };
        lines.handle_answer(Time::from_millis(at + 2 * delay), *path, &answer);
    }
}

/// Sends packets of one flow, as far as paths are open; the paths of all.
fn send(lines: &mut Lines, now: Time, packets: usize) -> Vec<u8> {
    let send = |_| {
        let path = lines.pick(now, CONTENT, 1).unwrap();
        if lines.is_open(now, path) {
            lines.note_packet(now, path, CONTENT);
        } else {
            lines.hold(path, Held { flow: 1, numbered: None, packet: vec![0; CONTENT] });
        }
        path
    };
    (0..packets).map(send).collect()
}

#[test]
fn the_slower_path_is_used_from_when_the_queue_of_the_quicker_one_takes_as_long() {
    let (mut lines, now) = (lines(), Time::from_millis(60));
    let picked = send(&mut lines, now, 24);
    // A packet takes a millisecond.
    assert!(picked[..20].iter().all(|path| *path == 0), "{picked:?}");
    assert!(picked[20..].contains(&1), "{picked:?}");
}

#[test]
fn what_a_path_cannot_carry_now_waits_here_and_urgent_packets_pass_it() {
    let (mut lines, now) = (lines(), Time::from_millis(60));
    send(&mut lines, now, 18);
    assert!((12_000..14_000).contains(&lines.held(0)), "{}", lines.held(0));
    assert_eq!(lines.quickest(now, 100), [Some(0), Some(1)]);
    assert!(lines.poll_held(now, 0).is_none());
    let opens = lines.poll_timeout(now, false).unwrap();
    assert!(opens > now && lines.poll_held(opens, 0).is_some());
    assert!(lines.may_hold(0, 1, 100_000) && !lines.may_hold(0, 1, 300_000));
}

#[test]
fn what_waits_counts_with_the_headers_that_it_gets() {
    let mut lines = lines();
    let held = || Held { flow: 1, numbered: None, packet: vec![0; 100] };
    (0..10).for_each(|_| lines.hold(0, held()));
    assert_eq!(lines.held(0), 1_740);
}

/// The first turn of 20 ms after which the second path is suspended. Packets are sent by the `used` paths; the first one carries
/// 1 MB a second, and the second one so many bytes in a turn, while more and more packets wait.
fn turn_of_suspension(costs: [u8; 2], used: &[u8], bytes_of_turn: impl Fn(u64) -> u32) -> Option<u64> {
    let (mut lines, mut bytes) = (lines_of(RATE, costs), [0_u32; 2]);
    (1..200).find(|turn| {
        let sent = Time::from_millis(20 * turn);
        let (number, _) = lines.poll_probe(sent).unwrap();
        for path in [0, 1] {
            let extra = if path == 1 { 4 * turn.saturating_sub(20) } else { 0 };
            let arrived = sent + Duration::from_millis(DELAYS[usize::from(path)] + extra);
            bytes[usize::from(path)] += if path == 0 { 20_000 } else { bytes_of_turn(*turn) };
            let bytes = bytes[usize::from(path)];
            let answer = Answer {
                number,
                arrived: arrived.as_nanos(),
                bytes,
                received: bytes / 100,
                ..Answer::default()
            };
            lines.handle_answer(sent + arrived.since(sent).saturating_mul(2), path, &answer);
        }
        used.iter().for_each(|path| lines.note_used(sent, *path));
        lines.is_suspended(sent, 1)
    })
}

#[test]
fn a_path_is_suspended_once_it_has_carried_too_little_for_a_second() {
    assert_eq!(turn_of_suspension([0; 2], &[0, 1], |_| 5_000), None, "it is worth it");
    let turn = turn_of_suspension([0; 2], &[0, 1], |_| 200);
    assert!(turn.is_some_and(|turn| (120..180).contains(&turn)), "{turn:?}");
}

#[test]
fn a_path_without_packets_is_not_suspended_for_what_it_carries() {
    assert_eq!(turn_of_suspension([0; 2], &[0], |_| 200), None);
}

#[test]
fn a_cheap_path_is_not_suspended_for_a_dear_one() {
    assert_eq!(turn_of_suspension([1, 0], &[0, 1], |_| 200), None);
}

#[test]
fn what_waits_for_a_path_that_goes_down_takes_another() {
    let (mut lines, now) = (lines(), Time::from_millis(60));
    send(&mut lines, now, 18);
    let held = lines.held(0);
    lines.set(now, 0, false, UplinkSettings::default());
    lines.rescue(now);
    assert_eq!((lines.held(0), lines.held(1)), (0, held));
}

#[test]
fn a_dear_path_is_used_only_while_the_cheap_one_is_full_or_gone() {
    for costs in [[1, 0], [0, 1]] {
        let (mut lines, now) = (lines_of(RATE, costs), Time::from_millis(260));
        // The dear one is probed with each tenth.
        (1..10).for_each(|turn| answer(&mut lines, turn * 20, &[0, 1]));
        let cheap = u8::from(costs[0] > 0);
        assert_eq!(lines.quickest(now, 100)[0], Some(cheap));
        let picked = send(&mut lines, now, 120);
        assert!(picked[..50].iter().all(|path| *path == cheap), "{picked:?}");
        assert!(picked.contains(&(1 - cheap)), "{picked:?}");
        lines.set(now, cheap, false, UplinkSettings::default());
        assert_eq!(lines.pick(now, 1_000, 7), Some(1 - cheap));
    }
}

#[test]
fn what_the_other_end_pays_counts_too_and_dear_paths_are_probed_less() {
    let mut lines = lines();
    lines.set_other_cost(0, 5);
    assert_eq!(lines.pick(Time::from_millis(60), 1_000, 1), Some(1));
    let probed = (3..103).filter_map(|turn| lines.poll_probe(Time::from_millis(turn * 20)));
    assert_eq!(probed.filter(|(_, paths)| paths.contains(&0)).count(), 10);
}

#[test]
fn a_path_that_does_not_answer_is_left_until_it_has_answered_for_a_while() {
    let mut lines = lines();
    (3..20).for_each(|turn| answer(&mut lines, turn * 20, &[1]));
    assert_eq!(lines.pick(Time::from_millis(400), 1_000, 1), Some(1));
    (20..60).for_each(|turn| answer(&mut lines, turn * 20, &[0, 1]));
    assert_eq!(lines.pick(Time::from_millis(1_300), 1_000, 1), Some(0));
}

#[test]
fn a_path_whose_state_is_unknown_is_better_than_none() {
    let mut lines = Lines::new(Time::ZERO);
    assert_eq!((lines.pick(Time::ZERO, 1_000, 1), lines.quickest(Time::ZERO, 9)), (None, [None; 2]));
    lines.set(Time::ZERO, 3, true, UplinkSettings::default());
    assert_eq!(lines.pick(Time::ZERO, 1_000, 1), Some(3));
    assert_eq!(lines.quickest(Time::ZERO, 9), [Some(3), None]);
    lines.set(Time::ZERO, 3, false, UplinkSettings::default());
    assert_eq!(lines.pick(Time::ZERO, 1_000, 1), None);
}

/// Both paths have answered for two seconds; then the second misses what the first answers.
fn lines_of_which_one_is_silent(turns: u64) -> Lines {
    let mut lines = lines();
    (1..100).for_each(|turn| answer(&mut lines, turn * 20, &[0, 1]));
    (100..100 + turns).for_each(|turn| answer(&mut lines, turn * 20, &[0]));
    lines
}

fn is_dead(lines: &Lines) -> [bool; 2] {
    [0, 1].map(|path| lines.get(path).unwrap().is_dead())
}

#[test]
fn a_path_that_misses_what_another_has_answered_is_left_soon_and_used_again_with_its_next_answer() {
    assert_eq!(is_dead(&lines_of_which_one_is_silent(3)), [false; 2]);
    // 40 ms after the answer to its first probe was due.
    let mut lines = lines_of_which_one_is_silent(5);
    assert_eq!(is_dead(&lines), [false, true]);
    answer(&mut lines, 105 * 20, &[0, 1]);
    assert_eq!(is_dead(&lines), [false; 2]);
    assert_eq!(is_dead(&lines_of_which_one_is_silent(60)), [false, true]);
}

#[test]
fn a_path_that_was_silent_for_long_answers_for_a_while_before_it_is_used() {
    let mut lines = lines_of_which_one_is_silent(60);
    answer(&mut lines, 160 * 20, &[0, 1]);
    assert_eq!(is_dead(&lines), [false, true]);
    (161..164).for_each(|turn| answer(&mut lines, turn * 20, &[0, 1]));
    assert_eq!(is_dead(&lines), [false; 2]);
}

#[test]
fn a_path_that_is_often_late_is_left_later() {
    let mut lines = lines();
    for turn in 1..100 {
        // Of ten answers, one comes with the third after it.
        let (number, _) = lines.poll_probe(Time::from_millis(turn * 20)).unwrap();
        for (path, delay) in [(0, 20), (1, if turn % 10 == 0 { 110 } else { 60 })] {
            let arrived = Time::from_millis(turn * 20 + delay / 2).as_nanos();
            let at = Time::from_millis(turn * 20 + delay);
            lines.handle_answer(at, path, &Answer { number, arrived, ..Answer::default() });
        }
    }
    (100..105).for_each(|turn| answer(&mut lines, turn * 20, &[0]));
    assert_eq!(is_dead(&lines), [false; 2], "its answers were 50 ms late before");
    (105..112).for_each(|turn| answer(&mut lines, turn * 20, &[0]));
    assert_eq!(is_dead(&lines), [false, true]);
}

#[test]
fn after_a_pause_a_path_may_be_late() {
    let mut lines = lines_of_which_one_is_silent(0);
    lines.wake(Time::from_millis(60_000));
    (3_000..3_006).for_each(|turn| answer(&mut lines, turn * 20, &[0]));
    assert_eq!(is_dead(&lines), [false; 2]);
}

#[test]
fn a_box_that_stood_still_leaves_no_path() {
    let mut lines = lines_of_which_one_is_silent(0);
    // Nothing is sent or read for ten seconds.
    (600..610).for_each(|turn| {
        answer(&mut lines, turn * 20, &[0, 1]);
        assert_eq!(is_dead(&lines), [false; 2]);
    });
}
