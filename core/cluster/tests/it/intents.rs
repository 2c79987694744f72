//! Intents, one fault at a time, and what a member asks of the store.

use std::time::Duration;

use braid_cluster::{
    Entries, IntentAnswer, IntentError, IntentEvent, IntentRequest, IntentSettings, IntentView, Intents,
};
use braid_types::{Term, Time};

use crate::world::World;

const LIMIT: Duration = Duration::from_secs(5);
const TERM: Term = Term(7);

/// Three members, and a leader that has promised something.
fn promised() -> (World, usize) {
    let mut world = World::new(1, 3, 2);
    world.run_until(LIMIT, |world| world.settled_leader().is_some()).expect("a leader");
    world.run_for(LIMIT);
    let leader = world.settled_leader().expect("a leader");
    world.put(leader);
    world.put(leader);
    world.run_for(LIMIT);
    assert_eq!(world.promises.answered(), 2);
    (world, leader)
}

fn another(world: &mut World, leader: usize) -> usize {
    let is_other = |world: &World| world.settled_leader().is_some_and(|it| it != leader);
    world.run_until(LIMIT, is_other).expect("another leader");
    world.run_for(LIMIT);
    world.settled_leader().expect("a leader")
}

#[test]
fn the_next_leader_has_what_the_one_before_has_promised() {
    let (mut world, leader) = promised();
    world.remove(leader);
    world.run_for(LIMIT);
    world.kill(leader);
    let new = another(&mut world, leader);
    world.promises.assert_held(&world.nodes[new]);
    assert_eq!(world.nodes[new].brain.len(), 1);
}

#[test]
fn without_the_store_nothing_is_promised_and_nothing_is_lost() {
    let (mut world, leader) = promised();
    world.store.is_down = true;
    world.put(leader);
    world.remove(leader);
    world.run_for(LIMIT);
    let node = &world.nodes[leader];
    assert_eq!((node.brain.len(), node.calls.len()), (2, 0), "both calls were refused");
    world.store.start(world.now);
    world.run_for(LIMIT);
    assert_eq!(world.store.intents.entries, world.nodes[leader].brain);
}

#[test]
fn a_store_that_was_wiped_gets_back_what_was_promised() {
    let (mut world, leader) = promised();
    world.store.restore(world.now);
    world.run_for(LIMIT);
    let leader = world.settled_leader().unwrap_or(leader);
    world.promises.assert_held(&world.nodes[leader]);
    assert_eq!(world.store.intents.entries.len(), 2);
}

#[test]
fn a_leader_that_did_not_notice_its_successor_takes_over_what_that_has_promised() {
    let (mut world, leader) = promised();
    world.pause(leader);
    let new = another(&mut world, leader);
    world.put(new);
    world.run_for(LIMIT);
    world.kill(new);
    world.resume(leader);
    let others: Vec<_> = (0..3).filter(|it| *it != leader && *it != new).collect();
    others.into_iter().for_each(|it| world.kill(it));
    world.run_until(LIMIT, |world| world.settled_leader() == Some(leader)).expect("it leads again");
    world.run_for(LIMIT);
    assert_eq!(world.nodes[leader].brain.len(), 3);
    world.promises.assert_held(&world.nodes[leader]);
}

/// A leader whose store is the test, and what it asks first.
fn leading() -> Intents {
    let mut intents = Intents::new(IntentSettings::default());
    intents.lead(Time::ZERO, TERM);
    intents
}

fn answer(intents: &mut Intents, now: Time, answer: IntentAnswer) -> IntentRequest {
    let (id, request) = intents.poll_request().expect("a request");
    intents.handle_answer(now, id, Some(answer));
    request
}

/// Lets it own an empty store.
fn ready() -> Intents {
    let mut intents = leading();
    assert_eq!(
        answer(&mut intents, Time::ZERO, IntentAnswer::View(IntentView::default())),
        IntentRequest::Read
    );
    answer(&mut intents, Time::ZERO, IntentAnswer::Written(1));
    assert_eq!(intents.poll_event(), Some(IntentEvent::Restored(Entries::new())));
    intents
}

#[test]
fn a_write_whose_answer_is_lost_is_written_again_only_after_the_store_was_read() {
    let mut intents = ready();
    let id = intents.put(Time::ZERO, "a".to_owned(), "1".to_owned()).expect("room");
    assert!(matches!(intents.poll_request(), Some((_, IntentRequest::Write { revision: 1, .. }))));
    intents.handle_timeout(Time::from_millis(1_200));
    intents.handle_timeout(Time::from_millis(1_300));
    let entries = Entries::from([("a".to_owned(), "1".to_owned())]);
    let view = IntentView { owner: Some((TERM, 2)), entries };
    let now = Time::from_millis(1_400);
    assert_eq!(answer(&mut intents, now, IntentAnswer::View(view)), IntentRequest::Read);
    let again = answer(&mut intents, now, IntentAnswer::Written(3));
    assert!(matches!(again, IntentRequest::Write { revision: 2, .. }), "{again:?}");
    answer(&mut intents, now, IntentAnswer::Written(4));
    assert_eq!(intents.poll_event(), Some(IntentEvent::Kept(id)));
}

#[test]
fn a_standby_refuses_and_a_leader_that_is_replaced_says_so_to_everybody_who_waits() {
    let mut intents = ready();
    let id = intents.put(Time::ZERO, "a".to_owned(), "1".to_owned()).expect("room");
    intents.follow();
    assert_eq!(intents.poll_event(), Some(IntentEvent::NotKept(id, IntentError::NotLeader)));
    assert_eq!(intents.put(Time::ZERO, "b".to_owned(), "1".to_owned()), Err(IntentError::NotLeader));
    assert_eq!(intents.poll_timeout(), None);
}

#[test]
fn intents_are_bounded_in_number_and_length() {
    let mut intents = ready();
    let long = "x".repeat(4 << 10);
    assert_eq!(intents.put(Time::ZERO, "a".to_owned(), long), Err(IntentError::TooLong(4_097, 4_096)));
    for number in 0..1_024 {
        intents.put(Time::ZERO, number.to_string(), String::new()).expect("room");
    }
    assert_eq!(intents.put(Time::ZERO, "a".to_owned(), String::new()), Err(IntentError::Full(1_024)));
}

#[test]
fn a_transaction_has_no_more_changes_than_etcd_takes() {
    let mut intents = ready();
    for number in 0..300 {
        intents.put(Time::ZERO, number.to_string(), String::new()).expect("room");
    }
    let mut written = 0;
    while let Some((id, request)) = intents.poll_request() {
        let IntentRequest::Write { changes, .. } = request else { panic!("{request:?}") };
        assert!(changes.len() <= 100);
        written += changes.len();
        intents.handle_answer(Time::ZERO, id, Some(IntentAnswer::Written(written as u64)));
    }
    assert_eq!(written, 300);
}
