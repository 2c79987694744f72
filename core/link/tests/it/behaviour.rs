//! Rate, queue, delay, jitter and reordering, each by itself.

use std::time::Duration;

use braid_link_model::{Delay, Distribution, Fate, OneWay, Parameters, Probability, QueueLimit};
use braid_types::{BitsPerSec, Time};
use proptest::prelude::*;

/// Follows the link's own events to the end; what arrived, and when.
pub(crate) fn drain<F>(link: &mut OneWay<F>) -> Vec<(Time, F)> {
    let mut arrived = Vec::new();
    while let Some(event) = link.next_event() {
        arrived.extend(std::iter::from_fn(|| link.poll_arrival(event)).map(|frame| (event, frame)));
    }
    arrived
}

fn micros(micros: u64) -> Time {
    Time::from_nanos(micros * 1_000)
}

#[test]
fn an_ideal_link_passes_frames_at_once() {
    let mut link = OneWay::new(Parameters::default(), 0);
    for frame in 0..3 {
        assert_eq!(link.offer(micros(5), 1_500, || frame), Fate::Taken);
    }
    let arrived: Vec<_> = std::iter::from_fn(|| link.poll_arrival(micros(5))).collect();
    assert_eq!((arrived, link.next_event()), (vec![0, 1, 2], None));
}

#[test]
fn a_frame_arrives_after_its_sending_time_and_the_delay() {
    let parameters = Parameters {
        rate: Some(BitsPerSec(8_000_000)),
        delay: Delay::from_millis(3),
        ..Parameters::default()
    };
    let mut link = OneWay::new(parameters, 0);
    link.offer(micros(100), 1_000, || 'a');
    link.offer(micros(150), 500, || 'b');
    link.offer(micros(9_000), 1_000, || 'c');
    assert_eq!(drain(&mut link), [(micros(4_100), 'a'), (micros(4_600), 'b'), (micros(13_000), 'c')]);
}

#[test]
fn a_frame_that_is_offered_late_arrives_as_if_it_had_been_in_time() {
    let parameters = Parameters { rate: Some(BitsPerSec(8_000_000)), ..Parameters::default() };
    let mut link = OneWay::new(parameters, 0);
    link.offer(Time::ZERO, 1_000, || 'a');
    assert_eq!(link.poll_arrival(micros(5_000)), Some('a'));
    link.offer(micros(500), 1_000, || 'b');
    link.offer(micros(4_000), 1_000, || 'c');
    assert_eq!(drain(&mut link), [(micros(2_000), 'b'), (micros(5_000), 'c')]);
}

#[test]
fn a_full_queue_drops_what_comes_and_keeps_what_it_has() {
    for queue in [QueueLimit::Packets(2), QueueLimit::Bytes(2_500)] {
        let parameters = Parameters { rate: Some(BitsPerSec(8_000_000)), queue, ..Parameters::default() };
        let mut link = OneWay::new(parameters, 0);
        // One is being sent, two wait.
        let fates = [0, 1, 2, 3].map(|frame| link.offer(Time::ZERO, 1_000, || frame));
        assert_eq!(fates, [Fate::Taken, Fate::Taken, Fate::Taken, Fate::Overflowed]);
        // A millisecond later the first has been sent, and there is room for one.
        assert_eq!(link.offer(micros(1_000), 1_000, || 4), Fate::Taken);
        assert_eq!(link.offer(micros(1_000), 1_000, || 5), Fate::Overflowed);
        assert_eq!(drain(&mut link).into_iter().map(|(_, frame)| frame).collect::<Vec<_>>(), [0, 1, 2, 4]);
        assert_eq!(link.counters().overflowed.frames, 2);
    }
}

#[test]
fn a_frame_that_is_not_taken_is_never_made() {
    let queue = QueueLimit::Packets(0);
    let parameters = Parameters { rate: Some(BitsPerSec(1_000)), queue, ..Parameters::default() };
    let mut link = OneWay::new(parameters, 0);
    link.offer(Time::ZERO, 100, || ());
    assert_eq!(link.offer(Time::ZERO, 100, || panic!("there is no room")), Fate::Overflowed);
}

#[test]
fn reordered_frames_arrive_ahead_of_the_delay() {
    let half = Probability::new(0.5).unwrap();
    let parameters = Parameters { delay: Delay::from_millis(10), reorder: half, ..Parameters::default() };
    let mut link = OneWay::new(parameters, 3);
    for frame in 0..1_000_u64 {
        link.offer(micros(frame), 100, || frame);
    }
    let arrived = drain(&mut link);
    let ahead = arrived.iter().filter(|(at, frame)| *at == micros(*frame)).count();
    let late = arrived.iter().filter(|(at, frame)| *at == micros(frame + 10_000)).count();
    assert_eq!((ahead + late, link.counters().reordered), (1_000, ahead as u64));
    assert!((400..600).contains(&ahead), "{ahead}");
}

proptest! {
    #[test]
    fn no_window_carries_more_than_the_rate_and_one_frame(
        rate in 1_000_000..1_000_000_000_u64,
        frames in proptest::collection::vec((0..2_000_000_u64, 60..9_000_u32), 2..100),
    ) {
        let parameters = Parameters { rate: Some(BitsPerSec(rate)), ..Parameters::default() };
        let (mut link, mut now) = (OneWay::new(parameters, 0), Time::ZERO);
        for (wait, bytes) in frames {
            now = now + Duration::from_nanos(wait);
            link.offer(now, bytes, || bytes);
        }
        let arrived = drain(&mut link);
        for (index, (start, _)) in arrived.iter().enumerate() {
            // The first frame of a window was sent before it.
            let mut bits = 0;
            for (end, bytes) in arrived.iter().skip(index + 1) {
                bits += u128::from(*bytes) * 8;
                let nanos = end.since(*start).as_nanos();
                prop_assert!(bits * 1_000_000_000 <= nanos * u128::from(rate), "{bits} bits in {nanos} ns");
            }
        }
    }

    #[test]
    fn jitter_strays_within_its_bounds_and_keeps_the_order(
        normal in any::<bool>(),
        seed in any::<u64>(),
        waits in proptest::collection::vec(0..5_000_000_u64, 1..200),
    ) {
        let distribution = if normal { Distribution::Normal } else { Distribution::Uniform };
        let (delay, jitter) = (Delay::from_millis(10), Delay::from_millis(2));
        let parameters = Parameters { delay, jitter, distribution, ..Parameters::default() };
        let (mut link, mut now, mut offered) = (OneWay::new(parameters, seed), Time::ZERO, Vec::new());
        for (frame, wait) in waits.into_iter().enumerate() {
            now = now + Duration::from_nanos(wait);
            offered.push(now);
            link.offer(now, 1_500, || frame);
        }
        let arrived = drain(&mut link);
        let mut latest = Time::ZERO;
        for (index, (at, frame)) in arrived.into_iter().enumerate() {
            prop_assert_eq!(index, frame);
            let reach = delay.duration() - parameters.shortest();
            let earliest = offered[frame] + delay.duration() - reach;
            latest = latest.max(offered[frame] + delay.duration() + reach);
            prop_assert!((earliest..=latest).contains(&at), "{at} of {earliest} to {latest}");
        }
    }
}
