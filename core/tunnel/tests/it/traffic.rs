//! Traffic over several paths: order, loss, and who may send.

use std::time::Duration;

use braid_tunnel::{PathChoice, Traffic};

use crate::world::{Faults, World, number, packet, pair, pair_with};

const SECOND: Duration = Duration::from_secs(1);

fn run(world: &mut World, packets: u32) {
    world.run(SECOND);
    for number in 0..packets {
        world.send(0, &packet(1, 2, 5, number, 900));
        world.run(Duration::from_millis(1));
    }
    world.run(2 * SECOND);
}

/// The datagrams with packets inside that site 0 has sent by each uplink.
fn carried(world: &World) -> [usize; 2] {
    [0, 1].map(|uplink| {
        let full = |it: &&(usize, braid_tunnel::Transmit)| {
            it.0 == 0 && it.1.uplink == uplink && it.1.bytes.len() > 900
        };
        world.seen.iter().filter(full).count()
    })
}

#[test]
fn one_flow_that_needs_both_paths_takes_both_and_arrives_in_order() {
    let mut world = pair();
    let sending = Duration::from_micros(1_600);
    world.faults =
        [2, 25].map(|delay| Faults { delay: Duration::from_millis(delay), sending, ..Faults::default() });
    world.keeps = true;
    run(&mut world, 3_000);
    assert!(world.numbers(1).into_iter().eq(0..3_000));
    let counts = carried(&world);
    assert!(counts.iter().all(|count| *count > 1_000), "{counts:?}");
}

#[test]
fn a_slower_path_carries_nothing_while_the_quicker_one_has_room() {
    let mut world = pair();
    world.faults = [2, 25].map(|delay| Faults { delay: Duration::from_millis(delay), ..Faults::default() });
    world.keeps = true;
    run(&mut world, 3_000);
    assert!(world.numbers(1).into_iter().eq(0..3_000));
    let counts = carried(&world);
    assert!(counts[1] < 30, "{counts:?}");
}

#[test]
fn what_is_lost_is_sent_again_and_what_is_repeated_comes_once() {
    let mut world = pair();
    world.faults = [Faults { lost: 20, repeated: 100, ..Faults::default() }; 2];
    run(&mut world, 3_000);
    let numbers = world.numbers(1);
    assert!(numbers.len() > 2_995, "{}", numbers.len());
    assert!(numbers.is_sorted_by(|one, next| one < next), "each once, and in order");
    assert!(world.sites[0].peers().all(|peer| peer.counters.repaired > 30));
}

#[test]
fn small_datagrams_of_a_flow_without_large_ones_wait_for_none_that_is_lost() {
    let mut world = pair();
    world.faults = [Faults { lost: 50, delay: Duration::from_millis(20), ..Faults::default() }; 2];
    world.run(SECOND);
    let mut last = 0;
    for number in 0..2_000 {
        world.send(0, &packet(1, 2, BULK, number, 200));
        world.run(Duration::from_millis(2));
        last = last.max(number - world.numbers(1).into_iter().max().unwrap_or(0));
    }
    world.run(SECOND);
    let mut numbers = world.numbers(1);
    assert!(!numbers.is_sorted() && last < 20, "the newest was never more than {last} behind");
    numbers.sort_unstable();
    assert_eq!(numbers, (0..2_000).collect::<Vec<_>>(), "each came, once");
}

#[test]
fn packets_at_the_end_are_repaired_too() {
    let mut world = pair();
    world.run(SECOND);
    for round in 0..50 {
        world.faults[0].lost = if round % 2 == 0 { 0 } else { 1_000 };
        world.faults[1].lost = world.faults[0].lost;
        world.send(0, &packet(1, 2, 5, round, 900));
        world.faults = [Faults::default(); 2];
        world.run(Duration::from_millis(300));
    }
    assert_eq!(world.numbers(1), (0..50).collect::<Vec<_>>());
}

#[test]
fn datagrams_that_overtake_each_other_are_all_accepted() {
    let mut world = pair();
    world.faults = [Faults { jitter: Duration::from_millis(8), ..Faults::default() }; 2];
    run(&mut world, 2_000);
    let mut numbers = world.numbers(1);
    numbers.sort_unstable();
    assert_eq!(numbers, (0..2_000).collect::<Vec<_>>());
}

#[test]
fn a_path_that_dies_takes_no_more_than_what_it_carried_in_the_time_out() {
    let mut world = pair();
    world.run(SECOND);
    for number in 0..4_000 {
        if number == 1_000 {
            world.faults[0].lost = 1_000;
        }
        world.send(0, &packet(1, 2, 5, number, 900));
        world.run(Duration::from_millis(1));
    }
    world.run(SECOND);
    let numbers = world.numbers(1);
    let lost = 4_000 - numbers.len();
    assert!(lost < 300, "{lost} lost");
    assert!((1_400..4_000).all(|number| numbers.contains(&number)));
}

#[test]
fn a_peer_sends_only_from_its_own_networks_and_gets_only_what_is_for_them() {
    let mut world = pair();
    world.run(SECOND);
    world.send(0, &packet(7, 2, 5, 1, 500));
    world.send(0, &packet(1, 9, 5, 2, 500));
    world.run(SECOND);
    assert!(world.delivered[1].is_empty());
    assert_eq!((world.sites[1].counters().1.spoofed, world.sites[0].counters().1.unroutable), (1, 1));
}

/// The port of packets that are urgent by themselves, and of others.
const DNS: u16 = 53;
const BULK: u16 = 5;

/// Two paths of 10 ms and 5 Mbit/s each.
fn narrow(world: &mut World) {
    let (delay, sending) = (Duration::from_millis(10), Duration::from_micros(1_600));
    world.faults = [Faults { delay, sending, ..Faults::default() }; 2];
    world.run(SECOND);
}

/// Sends more than both paths carry for some milliseconds, and an urgent packet each 20 ms; how long each of those took.
fn overload(world: &mut World, milliseconds: u32) -> Vec<u32> {
    let mut took = Vec::new();
    for at in 0..milliseconds {
        (0..2).for_each(|_| world.send(0, &packet(1, 2, BULK, u32::MAX, 900)));
        if at % 20 == 0 {
            world.send(0, &packet(1, 2, DNS, at, 100));
        }
        world.step();
        let arrived = world.delivered[1].drain(..).map(|it| number(&it)).filter(|it| *it != u32::MAX);
        // Some may be from before.
        took.extend(arrived.filter_map(|sent| at.checked_sub(sent)));
    }
    took
}

#[test]
fn urgent_packets_find_paths_short_while_bulk_fills_both() {
    let mut world = pair();
    narrow(&mut world);
    overload(&mut world, 3_000);
    world.run(SECOND);
    world.delivered[1].clear();
    let mut took = overload(&mut world, 20_000).split_off(100);
    took.sort_unstable();
    assert!(took.len() > 890, "{}", took.len());
    let slowest = took[took.len() * 99 / 100];
    // Without a queue it is 12.
    assert!(slowest <= 26, "{slowest} ms, in steps of one");
    let counters = world.sites[0].peers().next().unwrap().counters;
    assert!(counters.overflowed > 5_000 && counters.urgent > 1_000, "{counters:?}");
    let bulk = counters.sent - counters.urgent;
    // Of 625 datagrams a second and path.
    assert!(bulk > 26_500, "both paths carry {bulk} packets");
}

/// The 99th percentile of what urgent packets take while bulk fills both paths, in steps of a millisecond.
fn slowest_of(took: &mut [u32]) -> u32 {
    took.sort_unstable();
    took[took.len() * 99 / 100]
}

#[test]
fn a_machine_that_stands_still_for_a_moment_is_no_jitter() {
    let mut world = pair();
    narrow(&mut world);
    overload(&mut world, 5_000);
    for _ in 0..2 {
        world.stand_still(Duration::from_millis(250));
        overload(&mut world, 1_000);
    }
    let mut took = overload(&mut world, 10_000).split_off(50);
    let slowest = slowest_of(&mut took);
    assert!(slowest <= 40, "{slowest} ms");
}

#[test]
fn copies_arrive_once_each_and_though_each_path_loses_many() {
    let traffic = Traffic { urgent: PathChoice::Duplicate, ..Traffic::default() };
    let mut world = pair_with(traffic, [0; 2]);
    world.run(SECOND);
    world.faults = [Faults { lost: 100, repeated: 100, ..Faults::default() }; 2];
    for number in 0..1_000 {
        world.send(0, &packet(1, 2, DNS, number, 100));
        world.run(Duration::from_millis(2));
    }
    world.run(SECOND);
    let mut numbers = world.numbers(1);
    numbers.sort_unstable();
    assert!(numbers.len() > 985, "{}", numbers.len());
    assert!(numbers.is_sorted_by(|one, next| one < next), "each once");
    let counters = world.sites[0].peers().next().unwrap().counters;
    assert!(counters.duplicated > 950, "{counters:?}");
}

#[test]
fn a_dear_uplink_carries_what_the_cheap_one_cannot_and_all_when_it_is_gone() {
    let mut world = pair_with(Traffic::default(), [9, 0]);
    narrow(&mut world);
    world.keeps = true;
    for number in 0..1_000 {
        world.send(0, &packet(1, 2, BULK, number, 900));
        world.run(Duration::from_millis(4));
    }
    assert_eq!(carried(&world)[0], 0, "the cheap one has room");
    overload(&mut world, 3_000);
    let counts = carried(&world);
    assert!(counts[0] > 1_000 && counts[1] > 1_000, "{counts:?}");
    world.run(2 * SECOND);
    world.seen.clear();
    world.faults[1].lost = 1_000;
    for number in 0..1_000 {
        world.send(0, &packet(1, 2, BULK, number, 900));
        world.run(Duration::from_millis(4));
    }
    assert!(carried(&world)[0] > 900, "{:?}", carried(&world));
}
