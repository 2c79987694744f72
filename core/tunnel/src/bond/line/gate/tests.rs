//! Gates of paths that are full, rough, faster than before, or filled by others.

use std::ops::Range;

use super::*;

const RATE: f64 = 1_250_000.0;

fn seen(queue: f64, rate: f64, has_waiting: bool) -> Seen {
    Seen {
        recent: Some(Recent { least: queue, latest: queue, jitter: 0.0, is_rough: false }),
        rate,
        most: rate,
        has_waiting,
    }
}

/// The gate of a path by which somebody waits for packets.
fn interactive() -> Gate {
    let mut gate = Gate::new(Time::ZERO, None);
    gate.note_interactive(Time::ZERO);
    gate
}

/// A gate that was told of a full path.
fn held() -> Gate {
    let mut gate = interactive();
    (0..FULL_ANSWERS).for_each(|_| {
        assert_eq!(gate.rate(), None);
        gate.handle_answer(Time::ZERO, 0.0, &seen(0.1, RATE, false));
    });
    gate
}

#[test]
fn a_path_that_is_never_full_is_never_held() {
    let mut gate = interactive();
    for turn in 0..1_000 {
        let now = Time::from_millis(turn);
        gate.note_packet(now, 100_000);
        gate.handle_answer(now, gate.level(now), &seen(0.001, RATE, false));
        assert!(gate.is_open(now) && gate.rate().is_none());
    }
}

/// As much is sent as the gate lets pass, in these milliseconds, by a path that carries `rate` with so many bytes queued; what
/// is sent.
fn fill(gate: &mut Gate, during: Range<u64>, rate: f64, queued: &mut f64) -> f64 {
    let mut sent = 0.0;
    for turn in during {
        let now = Time::from_millis(turn);
        while gate.rate().is_some() && gate.is_open(now) {
            gate.note_packet(now, 1_250);
            (sent, *queued) = (sent + 1_250.0, *queued + 1_250.0);
        }
        *queued = f64::max(*queued - 0.001 * rate, 0.0);
        if turn % 20 == 0 {
            gate.handle_answer(now, gate.level(now), &seen(*queued / rate, rate, true));
        }
    }
    sent
}

#[test]
fn a_full_path_takes_no_more_than_it_carries() {
    let (mut gate, mut queued) = (held(), 0.1 * RATE);
    let sent = fill(&mut gate, 0..2_000, RATE, &mut queued);
    assert!((2_300_000.0..2_550_000.0).contains(&sent), "{sent}");
    assert!((0.003 * RATE..0.009 * RATE).contains(&queued), "{queued}");
}

#[test]
fn a_long_queue_is_emptied_and_so_is_that_of_a_path_that_has_become_slower() {
    let (mut gate, mut queued) = (interactive(), RATE);
    (0..FULL_ANSWERS).for_each(|_| {
        gate.handle_answer(Time::ZERO, 0.0, &seen(1.0, RATE, true));
    });
    fill(&mut gate, 0..5_000, RATE, &mut queued);
    assert!(queued < 0.009 * RATE && gate.rate().is_some(), "{queued}");
    for rate in [RATE / 4.0, RATE / 8.0] {
        fill(&mut gate, 5_000..9_000, rate, &mut queued);
        assert!(queued < 7_500.0 && gate.rate().is_some(), "{queued} of {rate}, {:?}", gate.rate());
    }
}

#[test]
fn a_path_that_carries_little_keeps_its_rate_whatever_is_queued_for_a_moment() {
    let mut gate = held();
    let at = |turn: u64| Time::from_millis(20 * turn);
    (0..50).for_each(|turn| {
        gate.handle_answer(at(turn), 0.0, &seen(0.0, RATE, true));
    });
    let before = gate.rate();
    for turn in 50..500 {
        let seen = Seen { most: RATE, ..seen(0.005, RATE / 20.0, false) };
        gate.handle_answer(at(turn), 0.0, &seen);
    }
    assert!(before.is_some() && gate.rate() == before, "{before:?} {:?}", gate.rate());
}

#[test]
fn a_path_that_has_become_faster_is_used_and_one_that_nothing_waits_for_is_released() {
    let mut gate = held();
    let mut at = 0;
    let mut answer = |gate: &mut Gate, queue, has_waiting| {
        at += 20;
        let rate = gate.rate().unwrap_or(RATE);
        gate.handle_answer(Time::from_millis(at), 0.0, &seen(queue, rate, has_waiting));
    };
    (0..100).for_each(|_| answer(&mut gate, 0.0, true));
    assert!(gate.rate().is_some_and(|rate| rate > 3.0 * RATE), "{:?}", gate.rate());
    (0..1_600).for_each(|_| answer(&mut gate, 0.0, false));
    assert_eq!(gate.rate(), None);
}

#[test]
fn a_path_that_others_fill_is_not_left_to_them() {
    let mut gate = held();
    let answer = |gate: &mut Gate, at| {
        gate.handle_answer(Time::from_millis(at), 0.0, &seen(0.2, RATE, true));
    };
    (1..130).for_each(|turn| answer(&mut gate, turn * 20));
    assert!(gate.is_open(Time::from_millis(2_600)) && gate.rate().is_none());
    (130..1_100).for_each(|turn| answer(&mut gate, turn * 20));
    assert_eq!(gate.rate(), None, "it is not tried again at once");
    (1_100..1_130).for_each(|turn| answer(&mut gate, turn * 20));
    assert!(gate.rate().is_some());
}

#[test]
fn jitter_is_no_queue_and_a_path_with_much_of_it_is_not_held() {
    let (mut gate, mut rough) = (interactive(), held());
    for turn in 0..500 {
        let recent = Some(Recent {
            least: 0.002 + 0.004 * f64::from(turn % 3),
            latest: 0.01,
            jitter: 0.006,
            is_rough: false,
        });
        let seen = Seen { recent, rate: RATE, most: RATE, has_waiting: false };
        gate.handle_answer(Time::from_millis(20 * u64::from(turn as u32)), 0.0, &seen);
        assert_eq!(gate.rate(), None);
        let recent = Some(Recent { least: 0.2, latest: 0.2, jitter: 0.02, is_rough: true });
        rough.handle_answer(Time::from_millis(20 * turn as u64), 0.0, &Seen { recent, ..seen });
    }
    assert_eq!(rough.rate(), None);
}

#[test]
fn urgent_packets_pass_until_they_fill_the_path_themselves() {
    let mut gate = held();
    let now = Time::from_millis(300);
    while gate.is_open(now) {
        gate.note_packet(now, 1_250);
    }
    assert!(!gate.is_overfull(now) && gate.opens_at(now) > now);
    (0..30).for_each(|_| gate.note_packet(now, 1_250));
    assert!(gate.is_overfull(now));
}

#[test]
fn a_full_path_by_which_nobody_waits_for_packets_is_not_held() {
    let mut gate = Gate::new(Time::ZERO, None);
    let answer = |gate: &mut Gate, at: u64| {
        gate.handle_answer(Time::from_millis(at), 0.0, &seen(0.005, RATE, false));
        gate.rate().is_some()
    };
    assert!((0..100).all(|turn| !answer(&mut gate, turn * 20)));
    gate.note_interactive(Time::from_millis(2_000));
    assert!(answer(&mut gate, 2_000), "it is known to be full");
    assert!(answer(&mut gate, 61_000) && !answer(&mut gate, 62_020));
}
