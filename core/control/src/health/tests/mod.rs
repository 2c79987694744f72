//! The search for lossy links against simulated counters.

mod world;

use std::time::Duration;

use world::{Behaviour, FRAME, World};

const HALF_AN_HOUR: u64 = 1_800;
const STEADY: Behaviour = Behaviour {
    rate: 1_000.0,
    bursts: 0,
    delay: 0,
    reply: 4,
    stale: 0,
    loss: 0.0,
    damage: 0.0,
    merged: 0.0,
    frame: FRAME,
    discovery: false,
    capacity: (0.0, 0),
};

/// How long it takes to find a loss that begins after a minute, in many runs, shortest first.
fn times_to_find(behaviour: Behaviour, seeds: u64) -> Vec<Duration> {
    let time = |seed| {
        let mut world = World::new(Behaviour { loss: 0.0, damage: 0.0, ..behaviour }, seed);
        world.run(60);
        world.run_millis(seed * 37 % 1_000);
        let start = world.now;
        world.behaviour = behaviour;
        world.run(60);
        world.found_after(start).map_or(Duration::MAX, |(time, _)| time)
    };
    let mut times: Vec<_> = (0..seeds).map(time).collect();
    times.sort_unstable();
    times
}

#[test]
fn a_busy_clean_link_gives_no_alarm_in_half_an_hour() {
    for (seed, rate) in (0..).zip([50.0, 1_000.0, 20_000.0]) {
        for (reply, bursts) in [(2, 0), (4, 300), (40, 0), (40, 50), (200, 1_000)] {
            for delay in [0, 30] {
                let behaviour = Behaviour { rate, reply, bursts, delay, ..STEADY };
                let mut world = World::new(behaviour, seed);
                world.run(HALF_AN_HOUR);
                assert_eq!(world.alarms(), 0, "{rate} {reply} {bursts} {delay}: {:?}", world.changes);
            }
        }
    }
}

#[test]
fn counters_that_lag_behind_give_no_alarm() {
    for (seed, stale) in (0..).zip([70, 250, 990, 1_000, 1_010, 3_000]) {
        for bursts in [0, 500] {
            let mut world = World::new(Behaviour { stale, bursts, reply: 10, ..STEADY }, seed);
            world.run(HALF_AN_HOUR);
            assert_eq!(world.alarms(), 0, "{stale} {bursts}: {:?}", world.changes);
        }
    }
}

#[test]
fn a_hundredth_of_a_thousand_frames_a_second_is_found_within_five_seconds() {
    for (rate, reply, share, limit) in [
        (2_000.0, 4, 1.0, 5),
        (50_000.0, 4, 1.0, 5),
        (1_000.0, 4, 0.9, 5),
        // Fewer frames, or switches that answer later, take longer.
        (500.0, 4, 1.0, 10),
        (1_000.0, 15, 0.9, 10),
    ] {
        let times = times_to_find(Behaviour { rate, reply, loss: 0.01, ..STEADY }, 40);
        let found = times.iter().filter(|time| **time <= Duration::from_secs(limit)).count();
        assert!(found as f64 >= share * times.len() as f64, "{rate} {reply}: {times:?}");
    }
}

#[test]
fn damaged_frames_are_found_and_named() {
    let mut world = World::new(STEADY, 3);
    world.run(30);
    world.behaviour.damage = 0.01;
    world.run(5);
    let (_, evidence) = world.found_after(30_000).expect("an alarm");
    assert!(evidence.damaged >= 5 && evidence.lost >= evidence.damaged, "{evidence}");
    assert!((0.004..0.03).contains(&evidence.share()), "{evidence}");
}

#[test]
fn the_evidence_is_what_was_lost() {
    for (seed, loss) in (0..).zip([0.01, 0.05, 0.5, 1.0]) {
        let mut world = World::new(STEADY, seed);
        world.run(30);
        world.behaviour.loss = loss;
        world.run(10);
        let (_, evidence) = world.found_after(30_000).expect("an alarm");
        assert!((loss * 0.5..=loss * 2.0).contains(&evidence.share()), "{loss}: {evidence}");
    }
}

#[test]
fn a_tenth_of_the_loss_that_is_looked_for_is_tolerated() {
    for seed in 0..5 {
        let mut world = World::new(Behaviour { rate: 10_000.0, loss: 0.001, ..STEADY }, seed);
        world.run(600);
        assert_eq!(world.alarms(), 0);
    }
}

#[test]
fn a_burst_of_losses_is_a_full_queue() {
    let mut world = World::new(STEADY, 1);
    for _ in 0..20 {
        world.run(70);
        world.behaviour.loss = 1.0;
        world.run_millis(150);
        world.behaviour.loss = 0.0;
    }
    assert_eq!(world.alarms(), 0, "{:?}", world.changes);
}

/// What is lost in it says nothing of the few frames beside it, and those say little of the link.
#[test]
fn a_burst_of_losses_on_an_idle_link_is_a_full_queue() {
    for seed in 0..40 {
        let idle = Behaviour { rate: 5.0, discovery: true, delay: 10, reply: 10, ..STEADY };
        let mut world = World::new(idle, seed);
        for burst in 0..20 {
            world.run(60);
            world.run_millis((seed * 37 + burst * 61) % 1_000);
            (world.behaviour.rate, world.behaviour.loss) = (3_000.0, 0.15);
            world.run_millis(150);
            (world.behaviour.rate, world.behaviour.loss) = (5.0, 0.0);
        }
        assert_eq!(world.alarms(), 0, "{seed}: {:?}", world.changes);
    }
}

/// Files of half a second over a link of 10 Mbit/s, whose queue overflows each time, beside steady small traffic.
#[test]
fn a_queue_that_overflows_again_and_again_is_no_lossy_link() {
    for seed in 0..40 {
        let slow = Behaviour { rate: 100.0, delay: 10, capacity: (826.0, 66), ..STEADY };
        let mut world = World::new(slow, seed);
        for file in 0..100 {
            world.run_millis(5_000 + (seed * 37 + file * 61) % 1_000);
            world.behaviour.rate = 1_300.0;
            world.run_millis(300 + (seed * 61 + file * 37) % 400);
            world.behaviour.rate = 100.0;
        }
        assert_eq!(world.alarms(), 0, "{seed}: {:?}", world.changes);
    }
}

#[test]
fn a_lossy_link_with_a_tenth_of_its_capacity_in_use_is_found() {
    let times = times_to_find(Behaviour { loss: 0.01, capacity: (10_000.0, 100), ..STEADY }, 40);
    assert!(times.iter().all(|time| *time < Duration::from_secs(10)), "{times:?}");
}

#[test]
fn a_lossy_link_is_found_though_its_traffic_comes_and_goes() {
    for (rate, bursts) in
        [(1_000.0, 300), (1_000.0, 1_000), (1_000.0, 3_000), (3_000.0, 1_000), (3_000.0, 3_000)]
    {
        let behaviour = Behaviour { rate, bursts, loss: 0.02, capacity: (10_000.0, 100), ..STEADY };
        let times = times_to_find(behaviour, 40);
        let found = times.iter().filter(|time| **time <= Duration::from_secs(30)).count();
        assert!(found * 10 >= times.len() * 9, "{rate} {bursts}: {times:?}");
    }
}

#[test]
fn frames_that_are_damaged_in_bursts_are_found() {
    let behaviour = Behaviour { bursts: 500, damage: 0.01, capacity: (10_000.0, 100), ..STEADY };
    let times = times_to_find(behaviour, 40);
    assert!(times.iter().all(|time| *time < Duration::from_secs(10)), "{times:?}");
}

#[test]
fn frames_that_a_full_link_damages_are_found() {
    let behaviour = Behaviour { rate: 800.0, damage: 0.01, capacity: (826.0, 66), ..STEADY };
    let times = times_to_find(behaviour, 40);
    assert!(times.iter().all(|time| *time < Duration::from_secs(10)), "{times:?}");
}

/// Shorter than the usual time between readings, at one and a half times the capacity.
#[test]
fn a_short_queue_that_overflows_each_second_is_no_lossy_link() {
    for seed in 0..40 {
        let mut world = World::new(Behaviour { rate: 20.0, capacity: (826.0, 10), ..STEADY }, seed);
        for _ in 0..300 {
            world.behaviour.rate = 20.0;
            world.run_millis(880);
            world.behaviour.rate = 1_250.0;
            world.run_millis(120);
        }
        assert_eq!(world.alarms(), 0, "{seed}: {:?}", world.changes);
    }
}

#[test]
fn a_busy_link_is_found_lossy_though_transfers_came_and_went() {
    for seed in 0..20 {
        let fast = Behaviour { rate: 41_000.0, capacity: (82_000.0, 10_000), ..STEADY };
        let mut world = World::new(fast, seed);
        for _ in 0..6 {
            world.behaviour.rate = 41_000.0;
            world.run(5);
            world.behaviour.rate = 100.0;
            world.run(5);
        }
        let start = world.now;
        (world.behaviour.rate, world.behaviour.loss) = (41_000.0, 0.01);
        world.run(20);
        let found = world.found_after(start).map(|(time, _)| time);
        assert!(found.is_some_and(|time| time < Duration::from_secs(12)), "{seed}: {found:?}");
    }
}

#[test]
fn a_repaired_link_whose_queue_overflows_is_taken_back() {
    let slow = Behaviour { rate: 200.0, loss: 0.05, capacity: (826.0, 66), ..STEADY };
    let mut world = World::new(slow, 3);
    world.run(60);
    assert_eq!(world.alarms(), 1, "{:?}", world.changes);
    world.behaviour.loss = 0.0;
    for _ in 0..12 {
        world.behaviour.rate = 200.0;
        world.run_millis(9_600);
        world.behaviour.rate = 1_300.0;
        world.run_millis(400);
    }
    assert_eq!(world.recoveries().len(), 1, "{:?}", world.changes);
}

#[test]
fn a_link_whose_traffic_comes_and_goes_is_taken_back() {
    let behaviour = Behaviour { bursts: 1_000, loss: 0.05, capacity: (10_000.0, 100), ..STEADY };
    let mut world = World::new(behaviour, 5);
    world.run(60);
    assert_eq!(world.alarms(), 1, "{:?}", world.changes);
    world.behaviour.loss = 0.0;
    world.run(60);
    assert_eq!(world.recoveries().len(), 1, "{:?}", world.changes);
}

#[test]
fn counters_that_start_anew_are_no_losses_and_hide_none() {
    let mut world = World::new(STEADY, 1);
    for end in [0, 1, 0, 1] {
        world.run(20);
        world.restart_counters(end);
    }
    world.run(20);
    assert_eq!(world.alarms(), 0, "{:?}", world.changes);
    world.behaviour.loss = 0.01;
    world.run(2);
    world.restart_counters(1);
    world.run(6);
    assert_eq!(world.alarms(), 1);
}

#[test]
fn a_link_is_taken_back_once_it_has_been_clean_for_its_hold_time() {
    let mut world = World::new(Behaviour { loss: 0.02, ..STEADY }, 5);
    world.run(300);
    assert_eq!((world.alarms(), world.recoveries().len()), (1, 0), "{:?}", world.changes);
    world.behaviour.loss = 0.0;
    world.run(60);
    let recovered = world.recoveries();
    assert!(matches!(recovered[..], [at] if (329_000..=333_000).contains(&at)), "{recovered:?}");
}

#[test]
fn the_hold_time_doubles_when_losses_return_and_is_forgotten_after_a_long_clean_time() {
    let mut world = World::new(STEADY, 5);
    let mut holds = Vec::new();
    for rest in [1, 1, 1, 2_500, 1] {
        world.behaviour.loss = 0.02;
        world.run(10);
        world.behaviour.loss = 0.0;
        let clean = world.now;
        while world.recoveries().len() == holds.len() {
            world.run(1);
        }
        holds.push((world.now - clean) / 10_000);
        world.run(rest);
    }
    assert_eq!(holds, [3, 6, 12, 24, 3]);
}

#[test]
fn suspicions_of_a_clean_link_cost_little() {
    for (reply, capacity) in [(15, (0.0, 0)), (40, (10_000.0, 1_000))] {
        let mut world = World::new(Behaviour { bursts: 300, reply, capacity, ..STEADY }, 2);
        world.run(HALF_AN_HOUR);
        assert!(world.polls < HALF_AN_HOUR * 3 / 2, "{reply}: {}", world.polls);
    }
}

#[test]
fn frames_that_the_receiver_counts_as_one_are_not_lost() {
    for (seed, merged) in (0..).zip([0.01, 0.05, 0.5, 0.97]) {
        let mut world = World::new(Behaviour { rate: 3_000.0, merged, ..STEADY }, seed);
        world.run(300);
        assert_eq!(world.alarms(), 0, "{merged}: {:?}", world.changes);
    }
}

#[test]
fn a_link_that_has_never_carried_anything_but_discovery_frames_is_found_whatever_the_length_of_others() {
    for (seed, frame) in (0..).zip([60, 109, FRAME]) {
        for rate in [100.0, 1_000.0] {
            let behaviour = Behaviour { rate, frame, loss: 1.0, discovery: true, ..STEADY };
            let mut world = World::new(behaviour, seed);
            world.run(20);
            let found = world.found_after(0).map(|(found, _)| found);
            assert!(found.is_some_and(|found| found <= Duration::from_secs(8)), "{found:?} {frame} {rate}");
        }
    }
}

#[test]
fn short_frames_that_the_receiver_counts_as_one_are_not_lost() {
    for (seed, frame) in (0..).zip([100, 200]) {
        let mut world = World::new(Behaviour { rate: 3_000.0, merged: 0.9, frame, ..STEADY }, seed);
        world.run(300);
        assert_eq!(world.alarms(), 0, "{frame}: {:?}", world.changes);
    }
}
