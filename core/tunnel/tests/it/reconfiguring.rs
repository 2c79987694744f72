//! Sites whose peers, networks and rules of traffic change while they run.

use std::time::Duration;

use braid_tunnel::{Dial, Event, PathChoice, Peer, PeerStatus, Traffic};

use crate::world::{Faults, World, address, key, packet, pair, site};

const SECOND: Duration = Duration::from_secs(1);
/// Datagrams by their first byte.
const INITIATION: u8 = 1;
const CHALLENGE: u8 = 2;
const DATA: u8 = 4;

/// What a site says of a peer.
fn peer(world: &World, site: usize, number: u8) -> PeerStatus {
    world.sites[site].peers().find(|peer| peer.key == key(number).public()).unwrap()
}

fn sessions(world: &World, site: usize, number: u8) -> Vec<u64> {
    peer(world, site, number).paths.iter().map(|path| path.sessions).collect()
}

/// Each of the first two sites sends the other so many packets; all have to arrive in order.
fn exchange(world: &mut World, count: u32) {
    world.delivered.iter_mut().for_each(Vec::clear);
    for number in 0..count {
        world.send(0, &packet(1, 2, 5, number, 600));
        world.send(1, &packet(2, 1, 5, number, 600));
        // A flow begins with the packet that comes first.
        world.run(Duration::from_millis(if number == 0 { 50 } else { 2 }));
    }
    world.run(SECOND);
    assert_eq!([0, 1].map(|site| world.numbers(site)), [(); 2].map(|()| (0..count).collect::<Vec<_>>()));
}

#[test]
fn a_peer_goes_on_while_others_are_added_before_it_removed_and_reordered() {
    let sites = vec![site(1, &[(2, Some(1))], 2), site(2, &[(1, None)], 2), site(3, &[(1, None)], 2)];
    let mut world = World::new(sites);
    world.run(SECOND);
    let lists: [&[(u8, Option<usize>)]; 5] = [
        &[(3, Some(2)), (2, Some(1))],
        &[(2, Some(1)), (3, Some(2))],
        &[(9, None), (3, Some(2)), (8, None), (2, Some(1))],
        &[(2, Some(1)), (9, None)],
        &[(3, Some(2)), (2, Some(1))],
    ];
    for number in 0..2_500 {
        if number % 500 == 0 {
            world.reconfigure(0, lists[number as usize / 500], None);
        }
        world.send(0, &packet(1, 2, 5, number, 600));
        world.send(1, &packet(2, 1, 5, number, 600));
        world.send(0, &packet(1, 3, 5, number, 600));
        world.run(Duration::from_millis(2));
    }
    world.run(SECOND);
    assert_eq!([0, 1].map(|site| world.numbers(site)), [(); 2].map(|()| (0..2_500).collect::<Vec<_>>()));
    assert_eq!((sessions(&world, 0, 2), sessions(&world, 1, 1)), (vec![1; 2], vec![1; 2]));
    assert_eq!(peer(&world, 0, 2).counters.sent, 2_500);
    assert!(!world.events[1].iter().any(|event| matches!(event, Event::Down(_))));
    assert!(world.numbers(2).len() > 1_900 && world.numbers(2).contains(&2_499), "the other is reached too");
}

#[test]
fn a_peer_that_is_removed_is_heard_no_more_and_may_come_back() {
    let back = [(2, Some(1)), (1, None)];
    for (own, other) in [(0, 1), (1, 0)] {
        let mut world = pair();
        world.run(SECOND);
        exchange(&mut world, 100);
        world.delivered.iter_mut().for_each(Vec::clear);
        let before = world.sites[own].counters().0.strange;
        world.reconfigure(own, &[(9, None)], None);
        let numbers = [own, other].map(|site| site as u8 + 1);
        (0..10).for_each(|number| world.send(other, &packet(numbers[1], numbers[0], 5, number, 600)));
        world.send(own, &packet(numbers[0], numbers[1], 5, 0, 500));
        world.run(SECOND);
        let (refused, counters) = world.sites[own].counters();
        assert!(refused.strange >= before + 10, "{refused:?}");
        assert_eq!((world.numbers(own).len(), world.paths_up(own), counters.unroutable), (0, 0, 1));
        world.run(20 * SECOND);
        world.reconfigure(own, &[(9, None), back[own]], None);
        world.run(10 * SECOND);
        assert_eq!((world.paths_up(0), world.paths_up(1)), (2, 2));
        exchange(&mut world, 300);
    }
}

#[test]
fn a_peer_whose_dials_change_begins_anew() {
    let mut world = pair();
    world.run(SECOND);
    world.keeps = true;
    exchange(&mut world, 100);
    let (_, old) = world.seen.iter().rfind(|(site, it)| *site == 1 && it.bytes[0] == DATA).unwrap().clone();
    world.keeps = false;
    world.addresses[1] = vec![address(7, 0), address(7, 1)];
    world.reconfigure(0, &[(2, Some(7))], None);
    world.run(SECOND);
    let now = peer(&world, 0, 2);
    let remotes: Vec<_> = now.paths.iter().filter_map(|path| path.remote).collect();
    assert_eq!((remotes, world.paths_up(0)), (world.addresses[1].clone(), 2));
    assert_eq!((now.counters.sent, sessions(&world, 0, 2)), (0, vec![1; 2]));
    let before = world.sites[0].counters().0.strange;
    world.inject(0, 0, address(1, 0), &old.bytes);
    assert_eq!(world.sites[0].counters().0.strange, before + 1);
    exchange(&mut world, 300);
}

#[test]
fn a_peer_with_the_same_dials_begins_anew_if_that_is_wanted() {
    let mut world = pair();
    // Packets overtake each other: the other end must not take new numbers for old ones.
    world.faults = [Faults { jitter: Duration::from_millis(6), ..Faults::default() }; 2];
    world.run(SECOND);
    exchange(&mut world, 100);
    world.reconfigure(0, &[(2, Some(1))], Some(9));
    assert_eq!(peer(&world, 0, 2).counters.sent, 100);
    world.reconfigure(0, &[(2, Some(1))], Some(2));
    assert_eq!((peer(&world, 0, 2).counters.sent, world.paths_up(0)), (0, 0));
    world.run(SECOND);
    assert_eq!((world.paths_up(0), sessions(&world, 1, 1)), (2, vec![2; 2]));
    exchange(&mut world, 300);
}

#[test]
fn other_networks_and_rules_hold_for_a_peer_that_goes_on() {
    let mut world = pair();
    world.run(SECOND);
    world.send(1, &packet(7, 1, 5, 1, 500));
    world.run(SECOND);
    assert_eq!((world.numbers(0), world.sites[0].counters().1.spoofed), (vec![], 1));
    let dials =
        (0..2).map(|uplink| Dial { uplink, address: Some(address(1, usize::from(uplink))) }).collect();
    let peers = vec![Peer { key: key(2).public(), dials }];
    let networks = vec![vec!["10.7.0.0/16".parse().unwrap()]];
    let mut traffic = Traffic::default();
    traffic.rules.push(braid_tunnel::TrafficRule::new(PathChoice::Duplicate));
    world.sites[0].reconfigure(world.now, peers, networks, traffic, &[]);
    world.send(1, &packet(7, 1, 5, 2, 500));
    world.send(0, &packet(1, 7, 5, 3, 500));
    world.send(0, &packet(1, 2, 5, 4, 500));
    world.run(SECOND);
    assert_eq!((world.numbers(0), sessions(&world, 0, 2)), (vec![2], vec![1; 2]));
    assert_eq!((peer(&world, 0, 2).counters.duplicated, world.sites[0].counters().1.unroutable), (1, 1));
}

#[test]
fn an_initiation_that_a_removed_peer_sent_counts_no_more_when_it_is_back() {
    let mut world = pair();
    world.keeps = true;
    world.run(SECOND);
    let (_, old) =
        world.seen.iter().rfind(|(site, it)| *site == 0 && it.bytes[0] == INITIATION).unwrap().clone();
    for peers in [&[(9, None)], &[(1, None)]] {
        world.reconfigure(1, peers, None);
    }
    world.seen.clear();
    world.inject(1, old.uplink, address(0, usize::from(old.uplink)), &old.bytes);
    let answers: Vec<_> = world.seen.iter().map(|(site, it)| (*site, it.bytes[0])).collect();
    assert_eq!(answers, [(1, CHALLENGE)]);
}
