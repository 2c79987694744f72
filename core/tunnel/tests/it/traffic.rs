//! Traffic over several paths: order, loss, and who may send.

use std::time::Duration;

use crate::world::{Faults, packet, pair};

const SECOND: Duration = Duration::from_secs(1);

fn run(world: &mut crate::world::World, packets: u32) {
    world.run(SECOND);
    for number in 0..packets {
        world.send(0, &packet(1, 2, 5, number, 900));
        world.run(Duration::from_millis(1));
    }
    world.run(2 * SECOND);
}

/// The datagrams with packets inside that site 0 has sent by each uplink.
fn carried(world: &crate::world::World) -> [usize; 2] {
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
