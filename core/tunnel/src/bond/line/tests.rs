//! A line whose probes are answered with jitter.

use braid_types::SplitMix64;
use std::collections::VecDeque;

use super::*;

/// A line with this jitter by which so many bytes pass between two probes, after twenty seconds.
fn line(jitter: u64, bytes: u32) -> Line {
    let (mut line, mut random) = (Line::new(Time::ZERO, None), SplitMix64::new(1));
    for number in 0..1_000 {
        let sent = Time::from_millis(20 * u64::from(number));
        line.note_probe(sent, number);
        let arrived =
            sent + Duration::from_millis(20) + Duration::from_micros(random.next_u64() % (1_000 * jitter));
        let (arrived_at, bytes, received) = (arrived.as_nanos(), bytes * number, 2 * number);
        let answer = Answer { number, arrived: arrived_at, bytes, received, ..Answer::default() };
        line.handle_answer(arrived + Duration::from_millis(20), &answer, false);
    }
    line
}

/// The same after one more probe, 20 seconds after the first one, to which this is the answer.
fn after(mut line: Line, answer: Answer) -> Line {
    let sent = Time::from_millis(20_000);
    line.note_probe(sent, answer.number);
    line.handle_answer(sent + Duration::from_millis(40), &answer, false);
    line
}

#[test]
fn a_peer_that_counts_anew_has_carried_nothing() {
    let arrived = Time::from_millis(20_020).as_nanos();
    let line = after(line(1, 2_000), Answer { number: 1_000, arrived, ..Answer::default() });
    assert_eq!(line.carried(), 0.0);
}

#[test]
fn a_clock_that_was_set_is_no_queue() {
    let arrived = Time::from_millis(20_420).as_nanos();
    let (mut bytes, mut line) = (2_000 * 1_000, line(1, 2_000));
    for number in 1_000..1_004 {
        bytes += 2_000;
        let answer = Answer { number, arrived, bytes, received: 2 * number, ..Answer::default() };
        line = after(line, answer);
    }
    assert!(line.queued(0) < 0.001, "{}", line.queued(0));
}

/// A line of 1 Mbit/s over 60 seconds, with a burst of 12,000 bytes now and then.
fn with_bursts() -> Line {
    let (mut line, mut random) = (Line::new(Time::ZERO, None), SplitMix64::new(1));
    let (mut queued, mut bytes, mut next, mut answers) = (0_u64, 0_u32, 0, VecDeque::new());
    for turn in 0..60_000 {
        let now = Time::from_millis(turn);
        queued = queued.saturating_sub(125);
        if turn == next {
            (0..10).for_each(|_| line.note_packet(now, 1_200));
            (queued, bytes) = (queued + 12_000, bytes + 12_000);
            next += 200 + random.next_u64() % 600;
        }
        if turn % 20 == 0 {
            let number = (turn / 20) as u32;
            line.note_probe(now, number);
            let arrived = now + Duration::from_millis(20) + Duration::from_micros(8 * queued);
            answers.push_back(Answer { number, arrived: arrived.as_nanos(), bytes, ..Answer::default() });
        }
        let due = |answer: &mut Answer| answer.arrived <= now.as_nanos().saturating_sub(20_000_000);
        while let Some(answer) = answers.pop_front_if(due) {
            line.handle_answer(now, &answer, false);
        }
    }
    line
}

#[test]
fn ones_own_bursts_on_a_slow_line_are_no_jitter() {
    let line = with_bursts();
    assert!(line.is_clean(), "{line:?}");
}

#[test]
fn a_line_with_jitter_that_carries_little_is_not_full() {
    let line = line(80, 2_000);
    assert_eq!(line.limit(0), None);
    assert!(line.seconds(1_500) < 0.002, "{}", line.seconds(1_500));
    assert!(line.carried() > 80_000.0 && line.report().is_some_and(|report| !report.is_dead));
}
