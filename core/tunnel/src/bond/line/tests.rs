//! A line whose probes are answered with jitter.

use braid_types::SplitMix64;

use super::*;

/// A line with this jitter by which so many bytes pass between two probes, after twenty seconds.
fn line(jitter: u64, bytes: u32) -> Line {
    let (mut line, mut random) = (Line::new(Time::ZERO, None), SplitMix64::new(1));
    for number in 0..1_000 {
        let sent = Time::from_millis(20 * u64::from(number));
        line.note_probe(sent, number);
        let arrived =
            sent + Duration::from_millis(20) + Duration::from_micros(random.next_u64() % (1_000 * jitter));
        let answer =
            Answer { number, arrived: arrived.as_nanos(), bytes: bytes * number, ..Answer::default() };
        line.handle_answer(arrived + Duration::from_millis(20), &answer, false);
    }
    line
}

#[test]
fn a_line_with_jitter_that_carries_little_is_not_full() {
    let line = line(80, 2_000);
    assert_eq!(line.limit(0), None);
    assert!(line.seconds(1_500) < 0.002, "{}", line.seconds(1_500));
    assert!(line.carried() > 80_000.0 && line.report().is_some_and(|report| !report.is_dead));
}
