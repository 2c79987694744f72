//! Single faults, one at a time, and what follows.

use std::time::Duration;

use braid_cluster::{
    ConnectionId, Event, HandOverError, Identity, LeaderRecord, LeaseId, Member, MemberId, RunId, Settings,
    StoreAnswer, StoreRequest, StoreView, TakeOverError, TermStamp,
};
use braid_types::{Term, Time};

use crate::switch::Order;
use crate::world::{End, World};

const ELECTION_LIMIT: Duration = Duration::from_secs(1);

/// Three members with a leader.
fn led() -> (World, usize) {
    let mut world = World::new(1, 3, 2);
    world.run_until(ELECTION_LIMIT, |world| world.settled_leader().is_some()).expect("a leader");
    world.run_for(ELECTION_LIMIT);
    let leader = world.settled_leader().expect("a leader");
    (world, leader)
}

/// A member whose world is the test.
fn alone() -> Member {
    let id = MemberId::new("a");
    let (run, stamp) = (RunId(7), TermStamp::new("cluster", &id));
    Member::new(Time::ZERO, Identity { id, run, stamp, first_term: Term(0), seed: 1 }, Settings::default())
}

/// Lets the member ask a store that has this and gives leases; the lease of the leader in whose place it campaigns, if it does.
fn replaced_by(member: &mut Member, now: Time, view: &StoreView) -> Option<LeaseId> {
    member.handle_timeout(now);
    while let Some((id, request)) = member.poll_store() {
        let answer = match request {
            StoreRequest::Campaign { replaced, .. } if replaced.is_some() => return replaced,
            StoreRequest::Read | StoreRequest::Campaign { .. } => StoreAnswer::View(view.clone()),
            StoreRequest::Grant { .. } | StoreRequest::KeepAlive { .. } => StoreAnswer::Done,
        };
        member.handle_store(now, id, Some(answer));
        if matches!(request, StoreRequest::Campaign { .. }) {
            return None;
        }
    }
    None
}

fn others(leader: usize) -> impl Iterator<Item = usize> {
    (0..3).filter(move |it| *it != leader)
}

/// Waits for another leader; the time that it took.
fn another(world: &mut World, leader: usize, limit: Duration) -> Duration {
    let is_other = |world: &World| world.settled_leader().is_some_and(|it| it != leader);
    world.run_until(limit, is_other).expect("another leader")
}

#[test]
fn a_killed_leader_is_replaced_at_once_because_its_streams_close() {
    let (mut world, leader) = led();
    world.kill(leader);
    assert!(another(&mut world, leader, ELECTION_LIMIT) < Duration::from_millis(200));
}

#[test]
fn a_stopped_leader_is_replaced_long_before_its_lease_ends_and_stands_down_when_it_wakes() {
    let (mut world, leader) = led();
    world.pause(leader);
    assert!(another(&mut world, leader, ELECTION_LIMIT) < Duration::from_millis(600));
    world.run_for(Duration::from_secs(10));
    let new = world.settled_leader();
    world.resume(leader);
    world.run_for(ELECTION_LIMIT);
    assert_eq!(world.settled_leader(), new);
    assert!(!world.nodes[leader].member.leads());
}

#[test]
fn a_leader_whose_brain_hangs_loses_its_lease_though_its_timers_run() {
    let (mut world, leader) = led();
    world.nodes[leader].hangs = true;
    another(&mut world, leader, ELECTION_LIMIT);
}

#[test]
fn a_standby_that_was_stopped_does_not_mistake_its_own_silence_for_the_leaders() {
    let (mut world, leader) = led();
    let elections = world.elections;
    let standby = others(leader).next().expect("a standby");
    world.pause(standby);
    world.run_for(Duration::from_secs(5));
    world.resume(standby);
    world.run_for(Duration::from_secs(5));
    assert_eq!((world.settled_leader(), world.elections), (Some(leader), elections));
}

#[test]
fn without_the_store_the_leader_goes_on_and_nobody_is_elected() {
    let (mut world, leader) = led();
    let elections = world.elections;
    world.store.is_down = true;
    world.run_for(Duration::from_secs(60));
    assert_eq!((world.settled_leader(), world.elections), (Some(leader), elections));
    assert!(!world.nodes[leader].member.store_answers());
    world.store.start(world.now);
    world.run_for(Duration::from_secs(5));
    assert_eq!(world.settled_leader(), Some(leader));
    assert!(world.nodes[leader].member.store_answers());
}

#[test]
fn a_leader_that_alone_is_cut_off_from_the_store_is_replaced() {
    let (mut world, leader) = led();
    world.cuts.extend([(End::Member(leader), End::Store), (End::Store, End::Member(leader))]);
    another(&mut world, leader, Duration::from_secs(10));
}

#[test]
fn members_that_do_not_hear_each_other_do_not_depose_each_other_for_ever() {
    let (mut world, leader) = led();
    for (a, b) in [(0, 1), (1, 0), (0, 2), (2, 0), (1, 2), (2, 1)] {
        world.cuts.insert((End::Member(a), End::Member(b)));
    }
    world.run_for(Duration::from_secs(5));
    let elections = world.elections;
    world.run_for(Duration::from_secs(60));
    assert_eq!(world.elections, elections, "after {leader}");
    assert!(world.settled_leader().is_some());
}

#[test]
fn a_store_that_forgets_everything_costs_no_term() {
    let (mut world, leader) = led();
    let before = world.nodes[leader].member.term().expect("a term");
    world.store.restore(world.now);
    world.run_for(Duration::from_secs(5));
    let leader = world.settled_leader().expect("a leader");
    let term = world.nodes[leader].member.term().expect("a term");
    assert!(term.is_newer_than(before), "{term} after {before}");
}

#[test]
fn leadership_is_handed_over_to_the_standby_that_is_named() {
    let (mut world, leader) = led();
    let standby = others(leader).last().expect("a standby");
    let wanted = world.nodes[standby].id.clone();
    let local = world.nodes[leader].local(world.now);
    let chosen = world.nodes[leader].member.hand_over(local, Some(&wanted));
    assert_eq!(chosen, Ok(wanted));
    let took = world.run_until(ELECTION_LIMIT, |world| world.settled_leader() == Some(standby));
    assert!(took.expect("the standby leads") < Duration::from_millis(300));
}

#[test]
fn every_member_knows_the_leader_and_a_leader_has_heard_of_each_standby() {
    let (world, leader) = led();
    let known = |node: usize| {
        let member = &world.nodes[node].member;
        member.leader(world.nodes[node].local(world.now)).map(|(leader, term)| (leader.clone(), term))
    };
    let expected = (world.nodes[leader].id.clone(), world.nodes[leader].member.term().expect("a term"));
    for standby in others(leader) {
        assert_eq!(known(standby).as_ref(), Some(&expected));
        let (own, other) = (&world.nodes[leader].member, world.nodes[standby].id.clone());
        assert!(own.last_heard(&other).is_some() && own.last_heard(&expected.0).is_none());
        assert!(world.nodes[standby].member.last_heard(&expected.0).is_some());
    }
    assert_eq!(known(leader), Some(expected));
}

#[test]
fn leadership_is_handed_over_to_nobody_who_does_not_follow() {
    let (mut world, leader) = led();
    let local = world.nodes[leader].local(world.now);
    let member = &mut world.nodes[leader].member;
    assert_eq!(member.hand_over(local, Some(&MemberId::new("other"))), Err(HandOverError::NoStandby));
    let standby = others(leader).next().expect("a standby");
    let refused = world.nodes[standby].member.hand_over(local, None);
    assert_eq!(refused, Err(HandOverError::NotLeader));
}

#[test]
fn a_leader_raises_its_term_above_what_a_switch_has_seen() {
    let (mut world, leader) = led();
    let term = world.nodes[leader].member.term().expect("a term");
    let seen = Term(term.0 + (1 << 40));
    let local = world.nodes[leader].local(world.now);
    world.nodes[leader].member.handle_switch_term(local, seen);
    world
        .run_until(ELECTION_LIMIT, |world| {
            let leader = world.settled_leader();
            leader
                .is_some_and(|it| world.nodes[it].member.term().is_some_and(|term| term.is_newer_than(seen)))
        })
        .expect("a newer term");
}

#[test]
fn the_grant_of_a_slow_store_is_asked_for_again_and_not_given_twice() {
    let mut member = alone();
    let (read, _) = member.poll_store().expect("a read");
    let empty = || Some(StoreAnswer::View(StoreView::default()));
    member.handle_store(Time::ZERO, read, empty());
    let (_, first) = member.poll_store().expect("a grant");
    let late = Time::from_millis(1_000);
    member.handle_timeout(late);
    assert_eq!(member.poll_event(), Some(Event::Store { answers: false }));
    let again = Time::from_millis(2_000);
    member.handle_timeout(again);
    let (read, _) = member.poll_store().expect("a read");
    member.handle_store(again, read, empty());
    assert_eq!(member.poll_store().map(|(_, request)| request), Some(first));
}

/// Somebody outside the cluster becomes the master of a switch, in this term.
fn intrude(world: &mut World, switch: usize, term: Term) {
    world.switches[switch].handle((99, 0), Order::Claim(term));
}

#[test]
fn a_foreign_term_costs_the_leader_one_switch_and_starts_no_election() {
    let (mut world, leader) = led();
    let (elections, own) = (world.elections, world.nodes[leader].member.term().expect("a term"));
    let other_cluster = TermStamp::new("other", &MemberId::new("m0"));
    intrude(&mut world, 0, other_cluster.above(own));
    world.run_for(Duration::from_secs(60));
    assert_eq!(world.elections, elections, "nobody campaigns above it");
    assert!(world.nodes[leader].member.leads());
    let masters: Vec<_> = world.switches.iter().map(|it| it.master.map(|(member, _)| member)).collect();
    assert_eq!(masters, [Some(99), Some(leader)]);
}

#[test]
fn a_term_that_a_lone_controller_has_raised_by_one_is_foreign() {
    let (mut world, leader) = led();
    let (elections, own) = (world.elections, world.nodes[leader].member.term().expect("a term"));
    intrude(&mut world, 0, own.next());
    world.run_for(ELECTION_LIMIT);
    assert_eq!(world.elections, elections);
}

#[test]
fn a_leader_takes_switches_back_from_a_foreign_term_on_purpose() {
    let (mut world, leader) = led();
    let own = world.nodes[leader].member.term().expect("a term");
    let foreign = TermStamp::new("other", &MemberId::new("m0")).above(Term(own.0 + (1 << 40)));
    intrude(&mut world, 0, foreign);
    world.run_for(ELECTION_LIMIT);
    let local = world.nodes[leader].local(world.now);
    let wanted = world.nodes[leader].member.take_over(local, foreign).expect("a new term");
    world
        .run_until(ELECTION_LIMIT, |world| world.settled_leader() == Some(leader))
        .expect("it has all switches");
    let term = world.nodes[leader].member.term().expect("a term");
    assert!(term == wanted && term.is_newer_than(foreign), "{term} after {foreign}");
    let standby = others(leader).next().expect("a standby");
    let refused = world.nodes[standby].member.take_over(local, foreign);
    assert_eq!(refused, Err(TakeOverError::NotLeader));
}

#[test]
fn a_connection_that_ends_after_the_leader_has_connected_anew_is_not_its_end() {
    let (mut world, leader) = led();
    let elections = world.elections;
    let id = world.nodes[leader].id.clone();
    for standby in others(leader) {
        let local = world.nodes[standby].local(world.now);
        let member = &mut world.nodes[standby].member;
        member.handle_opened(&id, ConnectionId(2));
        member.handle_closed(local, &id, ConnectionId(1));
        assert!(member.leader(local).is_some_and(|(leader, _)| *leader == id));
    }
    world.run_for(Duration::from_secs(5));
    assert_eq!((world.settled_leader(), world.elections), (Some(leader), elections));
}

#[test]
fn a_member_takes_the_place_of_an_earlier_run_of_itself_and_not_of_another_process_with_its_name() {
    let led_by = |run: u64, term: u64| {
        let (member, run, lease) = (MemberId::new("a"), RunId(run), LeaseId(run));
        let leader = Some(LeaderRecord { member, run, term: Term(term), lease });
        StoreView { term: Some((Term(term), term)), leader }
    };
    let mut member = alone();
    assert_eq!(replaced_by(&mut member, Time::ZERO, &led_by(6, 10)), Some(LeaseId(6)), "it was there before");
    let mut member = alone();
    let nobody = StoreView { term: Some((Term(10), 10)), leader: None };
    assert_eq!(replaced_by(&mut member, Time::ZERO, &nobody), None);
    for millis in (100..20_000).step_by(100) {
        let asked = replaced_by(&mut member, Time::from_millis(millis), &led_by(8, 20));
        assert_eq!(asked, None, "it was elected later, and lives");
    }
}

#[test]
fn a_leader_that_was_asked_for_a_hand_over_is_not_said_to_be_deposed_by_surprise() {
    let (mut world, leader) = led();
    let local = world.nodes[leader].local(world.now);
    world.nodes[leader].member.hand_over(local, None).expect("a standby");
    another(&mut world, leader, ELECTION_LIMIT);
    assert_eq!(world.depositions.last(), Some(&(leader, true)));
    let leader = world.settled_leader().expect("a leader");
    world.run_for(Duration::from_secs(5));
    world.pause(leader);
    another(&mut world, leader, ELECTION_LIMIT);
    world.resume(leader);
    world.run_for(ELECTION_LIMIT);
    assert_eq!(world.depositions.last(), Some(&(leader, false)));
}
