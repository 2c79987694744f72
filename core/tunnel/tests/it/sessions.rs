//! Sessions: how they begin, are renewed, move and end.

use std::time::Duration;

use braid_tunnel::{Event, PathRef, Suite};

use crate::world::{Faults, World, address, packet, pair, pair_preferring, site, site_without_addresses};

const SECOND: Duration = Duration::from_secs(1);

#[test]
fn both_paths_come_up_and_carry_packets_both_ways() {
    let mut world = pair();
    world.run(SECOND);
    assert_eq!((world.paths_up(0), world.paths_up(1)), (2, 2));
    world.send(0, &packet(1, 2, 5, 1, 500));
    world.send(1, &packet(2, 1, 5, 2, 500));
    world.run(SECOND);
    assert_eq!((world.numbers(1), world.numbers(0)), (vec![1], vec![2]));
}

#[test]
fn sessions_have_the_ciphers_that_both_ends_prefer_or_those_that_are_quick_everywhere() {
    use Suite::{AesGcm, ChaChaPoly};
    for (preferred, wanted) in [
        ([AesGcm, AesGcm], AesGcm),
        ([AesGcm, ChaChaPoly], ChaChaPoly),
        ([ChaChaPoly, AesGcm], ChaChaPoly),
        ([ChaChaPoly, ChaChaPoly], ChaChaPoly),
    ] {
        let mut world = pair_preferring(preferred);
        // Long enough for two renewals.
        world.run(250 * SECOND);
        let suites = |site: usize| world.sites[site].peers().flat_map(|it| it.paths).map(|it| it.suite);
        assert!((0..2).flat_map(suites).all(|suite| suite == Some(wanted)), "{preferred:?}");
        world.send(0, &packet(1, 2, 5, 1, 500));
        world.run(SECOND);
        assert_eq!(world.numbers(1), [1]);
    }
}

#[test]
fn keys_are_renewed_under_load_without_loss_or_disorder() {
    let mut world = pair();
    world.faults = [3, 9].map(|delay| Faults { delay: Duration::from_millis(delay), ..Faults::default() });
    world.run(SECOND);
    for number in 0..30_000 {
        world.send(0, &packet(1, 2, 5, number, 600));
        world.run(Duration::from_millis(10));
    }
    world.run(SECOND);
    assert_eq!(world.numbers(1), (0..30_000).collect::<Vec<_>>());
    let sessions: Vec<_> = world.sites[0].peers().flat_map(|it| it.paths).map(|it| it.sessions).collect();
    assert!(sessions.iter().all(|count| (3..=4).contains(count)), "{sessions:?}");
    assert!(!world.events[0].iter().any(|event| matches!(event, Event::Down(_))));
}

#[test]
fn sessions_begin_and_are_renewed_through_heavy_loss() {
    let mut world = pair();
    world.faults = [Faults { lost: 300, ..Faults::default() }; 2];
    world.run(250 * SECOND);
    world.faults = [Faults::default(); 2];
    world.run(10 * SECOND);
    assert_eq!((world.paths_up(0), world.paths_up(1)), (2, 2));
}

#[test]
fn an_address_that_changes_is_followed_from_the_first_authentic_datagram() {
    let mut world = pair();
    world.run(SECOND);
    let new = address(0, 7);
    world.addresses[0][0] = new;
    for number in 0..300 {
        world.send(1, &packet(2, 1, 5, number, 500));
        world.run(Duration::from_millis(5));
    }
    assert!(world.events[1].iter().any(|event| matches!(event, Event::Roamed(_, to) if *to == new)));
    let numbers = world.numbers(0);
    assert!(numbers.len() > 150 && numbers.contains(&299), "{} of 300", numbers.len());
    assert!(!world.events[0].iter().any(|event| matches!(event, Event::Down(_))));
}

#[test]
fn a_site_that_was_elsewhere_and_is_back_where_it_is_dialled_is_reached_there() {
    let mut world = pair();
    world.run(SECOND);
    let configured = std::mem::replace(&mut world.addresses[1][0], address(1, 7));
    for number in 0..100 {
        world.send(1, &packet(2, 1, 5, number, 500));
        world.run(Duration::from_millis(5));
    }
    world.addresses[1][0] = configured;
    world.sites[1] = site(2, &[(1, None)], 2);
    world.run(20 * SECOND);
    world.events[0].clear();
    world.run(20 * SECOND);
    assert_eq!((world.paths_up(0), world.paths_up(1)), (2, 2));
    assert_eq!(world.events[0], [], "it stays up");
}

#[test]
fn a_silent_path_is_down_and_comes_back_by_itself() {
    let mut world = pair();
    world.run(SECOND);
    world.faults[1].lost = 1_000;
    world.run(16 * SECOND);
    assert_eq!((world.paths_up(0), world.paths_up(1)), (1, 1));
    world.run(200 * SECOND);
    world.faults[1].lost = 0;
    world.run(7 * SECOND);
    assert_eq!((world.paths_up(0), world.paths_up(1)), (2, 2));
}

#[test]
fn an_uplink_that_is_gone_takes_no_packets_from_that_moment_and_is_used_when_it_is_back() {
    let mut world = pair();
    world.run(SECOND);
    let now = world.now;
    world.faults[1].lost = 1_000;
    world.sites[0].uplink_lost(now, 1);
    (0..100).for_each(|number| world.send(0, &packet(1, 2, 5, number, 500)));
    world.run(SECOND);
    assert_eq!(world.numbers(1), (0..100).collect::<Vec<_>>());
    world.faults[1].lost = 0;
    let now = world.now;
    world.sites[0].uplink_changed(now, 1);
    world.run(SECOND);
    assert_eq!(world.paths_up(0), 2);
}

#[test]
fn a_site_that_starts_anew_is_reached_within_seconds() {
    let mut world = pair();
    world.run(5 * SECOND);
    world.sites[1] = site(2, &[(1, None)], 2);
    for number in 0..600 {
        world.send(0, &packet(1, 2, 5, number, 500));
        world.run(Duration::from_millis(10));
    }
    assert!(world.numbers(1).contains(&599));
}

#[test]
fn where_both_dial_one_of_them_yields() {
    let mut world = World::new(vec![site(1, &[(2, Some(1))], 2), site(2, &[(1, Some(0))], 2)]);
    world.run(200 * SECOND);
    assert_eq!((world.paths_up(0), world.paths_up(1)), (2, 2), "and not four");
}

#[test]
fn an_idle_tunnel_sends_little() {
    let mut world = pair();
    world.run(20 * SECOND);
    world.keeps = true;
    world.run(60 * SECOND);
    assert!(world.seen.len() < 200, "{} datagrams in a minute", world.seen.len());
}

#[test]
fn the_longest_datagram_is_found_and_longer_packets_pass_in_two() {
    let mut world = pair();
    world.faults[1].mtu = 1_400;
    world.run(3 * SECOND);
    let status: Vec<_> = world.sites[0].peers().flat_map(|it| it.paths).map(|it| it.max_content).collect();
    assert_eq!(status, [1_500 - 28 - 32, 1_400 - 28 - 32]);
    assert_eq!(world.sites[0].mtu(), Some(1_400 - 28 - 32 - 16));
    (0..40).for_each(|number| world.send(0, &packet(1, 2, 5, number, 1_500)));
    world.run(SECOND);
    assert_eq!(world.numbers(1), (0..40).collect::<Vec<_>>());
    assert!(world.delivered[1].iter().all(|packet| packet.len() == 1_500));
}

#[test]
fn a_peer_with_another_key_is_not_let_in() {
    let mut world = World::new(vec![site(3, &[(2, Some(1))], 2), site(2, &[(1, None)], 2)]);
    world.run(20 * SECOND);
    assert_eq!((world.paths_up(0), world.paths_up(1)), (0, 0));
    assert!(world.sites[1].counters().0.unknown_keys > 0);
    let mut world = World::new(vec![site(1, &[(9, Some(1))], 2), site(2, &[(1, None)], 2)]);
    world.run(20 * SECOND);
    assert_eq!((world.paths_up(0), world.sites[1].counters().0.unknown_keys), (0, 0), "not even answered");
}

#[test]
fn two_sites_with_one_key_are_noticed() {
    let dialling = || site(1, &[(2, Some(1))], 2);
    let mut world = World::new(vec![dialling(), site(2, &[(1, None)], 2), dialling()]);
    world.run(60 * SECOND);
    assert!(world.events[1].iter().any(|event| matches!(event, Event::KeyConflict(..))));
}

#[test]
fn an_address_that_becomes_known_or_changes_is_dialled_at_once_but_a_path_that_is_up_stays() {
    let mut world = World::new(vec![site_without_addresses(1, 2), site(2, &[(1, None)], 2)]);
    world.run(10 * SECOND);
    assert_eq!(world.paths_up(0), 0);
    let at = PathRef { peer: 0, path: 1 };
    world.sites[0].set_address(world.now, at, address(1, 9));
    world.run(10 * SECOND);
    assert_eq!(world.paths_up(0), 0, "nobody is there");
    world.sites[0].set_address(world.now, at, address(1, 1));
    world.run(SECOND);
    assert_eq!((world.paths_up(0), world.paths_up(1)), (1, 1));
    world.sites[0].set_address(world.now, at, address(1, 9));
    world.run(200 * SECOND);
    assert_eq!(world.paths_up(0), 1, "where it answers counts");
    assert!(!world.events[0].iter().any(|event| matches!(event, Event::Down(_))));
}
