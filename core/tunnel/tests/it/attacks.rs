//! What strangers may send: nothing of it is accepted, and it costs little.

use std::time::Duration;

use braid_tunnel::Transmit;
use braid_types::SplitMix64;

use crate::world::{World, address, packet, pair};

const SECOND: Duration = Duration::from_secs(1);

/// All datagrams of some seconds with traffic, and the world after it.
fn observed() -> (World, Vec<(usize, Transmit)>) {
    let mut world = pair();
    world.keeps = true;
    for number in 0..2_000 {
        world.send(0, &packet(1, 2, 5, number, 400));
        world.send(1, &packet(2, 1, 5, number, 400));
        world.run(Duration::from_millis(1));
    }
    world.run(SECOND);
    world.keeps = false;
    let seen = std::mem::take(&mut world.seen);
    (world, seen)
}

fn delivered(world: &World) -> usize {
    world.delivered.iter().map(Vec::len).sum()
}

#[test]
fn nothing_is_accepted_twice() {
    let (mut world, seen) = observed();
    let (before, events) = (delivered(&world), world.events.clone());
    for (site, Transmit { uplink, bytes, .. }) in &seen {
        world.inject(1 - site, *uplink, address(*site, usize::from(*uplink)), bytes);
        world.inject(1 - site, *uplink, address(5, 5), bytes);
    }
    assert_eq!(delivered(&world), before);
    assert_eq!(world.events, events, "and nobody has roamed");
}

#[test]
fn of_a_million_changed_datagrams_none_is_accepted() {
    let (mut world, seen) = observed();
    let (before, events, mut random) = (delivered(&world), world.events.clone(), SplitMix64::new(1));
    for _ in 0..1_000_000 {
        let (site, Transmit { uplink, bytes, .. }) = &seen[random.next_u64() as usize % seen.len()];
        let mut bytes = bytes.clone();
        change(&mut bytes, &mut random);
        world.sites[1 - site].handle_datagram(world.now, *uplink, address(5, 5), &bytes);
        while world.sites[1 - site].poll_transmit().is_some() {}
        assert_eq!(world.sites[1 - site].poll_packet(), None);
        assert_eq!(world.sites[1 - site].poll_event(), None);
    }
    world.run(SECOND);
    assert_eq!((delivered(&world), &world.events), (before, &events));
    assert_eq!((world.paths_up(0), world.paths_up(1)), (2, 2));
}

/// Flips a bit, cuts, lengthens, or puts another number in; what was sent is no change.
fn change(bytes: &mut Vec<u8>, random: &mut SplitMix64) {
    let place = random.next_u64() as usize % bytes.len();
    match random.next_u64() % 4 {
        0 => bytes.truncate(place),
        1 => bytes.push(random.next_u64() as u8),
        // The counter of data: ahead of all.
        2 if bytes[0] == 4 => bytes[8] ^= 1,
        _ => bytes[place] ^= 1 << (random.next_u64() % 8),
    }
}

#[test]
fn a_flood_of_initiations_makes_no_session_and_few_answers() {
    let mut world = pair();
    world.keeps = true;
    world.step();
    let first = world.seen.iter().find(|(site, it)| *site == 0 && it.bytes[0] == 1).unwrap().1.clone();
    world.keeps = false;
    let mut answers = 0;
    for source in 0..100_000_u32 {
        let from = format!("203.0.{}.{}:{}", source >> 8 & 255, source & 255, 1_000 + source / 65_536)
            .parse()
            .unwrap();
        world.sites[1].handle_datagram(world.now, 0, from, &first.bytes);
        while let Some(answer) = world.sites[1].poll_transmit() {
            assert!(answer.bytes.len() < first.bytes.len(), "nothing is amplified");
            answers += 1;
        }
    }
    assert!(answers <= 2_100, "{answers}");
    let (refused, _) = world.sites[1].counters();
    assert!(refused.limited >= 97_000, "{refused:?}");
    world.run(5 * SECOND);
    assert_eq!((world.paths_up(0), world.paths_up(1)), (2, 2), "and peers are let in");
}

#[test]
fn who_does_not_know_the_public_key_is_not_answered() {
    let mut world = pair();
    world.keeps = true;
    world.step();
    let mut bytes = world.seen.iter().find(|(site, _)| *site == 0).unwrap().1.bytes.clone();
    *bytes.last_mut().unwrap() ^= 1;
    world.sites[1].handle_datagram(world.now, 0, address(5, 5), &bytes);
    assert_eq!(world.sites[1].poll_transmit(), None);
    assert_eq!(world.sites[1].counters().0.forged, 1);
}
