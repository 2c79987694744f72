//! Relays whose ends take and say what they like.

use braid_openflow::{Bytes, Echo, frames};
use braid_types::SplitMix64;

use super::*;

const NEWEST: Term = Term(9);

fn echo(xid: u32) -> Vec<u8> {
    encode(&Message::EchoRequest(Echo { data: Bytes(b"echo") }), Xid(xid))
}

fn barrier_reply() -> Vec<u8> {
    encode(&Message::BarrierReply, BARRIER)
}

fn barrier() -> Vec<u8> {
    encode(&Message::BarrierRequest, BARRIER)
}

/// What makes this member a slave, and shows that the switch has come to it.
fn slave() -> Vec<u8> {
    let role = Role { role: ControllerRole::Slave, generation_id: NEWEST.0 };
    [encode(&Message::RoleRequest(role), Xid(0)), barrier()].concat()
}

/// Lets an end take everything that waits for it.
fn drain(relay: &mut Relay, end: End) -> Vec<u8> {
    let bytes = relay.waiting(end).to_vec();
    relay.note_sent(end, bytes.len());
    bytes
}

/// A relay that passes messages on.
fn passing() -> Relay {
    let mut relay = Relay::begin(&[], &[]).expect("no message");
    drain(&mut relay, End::Switch);
    relay.take(End::Switch, &barrier_reply()).expect("a message");
    assert_eq!(drain(&mut relay, End::Leader), encode(&Message::Hello(Hello::V1_3), Xid(0)));
    relay
}

#[test]
fn the_leader_hears_nothing_that_the_switch_answers_to_the_front() {
    let half = echo(1);
    let mut relay = Relay::begin(&half[..5], b"rest").expect("half a message");
    assert_eq!(drain(&mut relay, End::Switch), [&b"rest"[..], &barrier()].concat());
    relay.take(End::Switch, &[&half[5..], &echo(2), &barrier_reply()].concat()).expect("messages");
    assert!(relay.passes());
    relay.take(End::Switch, &echo(3)).expect("a message");
    let hello = encode(&Message::Hello(Hello::V1_3), Xid(0));
    assert_eq!(drain(&mut relay, End::Leader), [hello, echo(3)].concat());
}

#[test]
fn messages_pass_whole_and_in_order_however_they_are_cut() {
    let (mut relay, sent) = (passing(), [echo(1), echo(2), echo(3)].concat());
    let mut arrived = Vec::new();
    for byte in &sent {
        relay.take(End::Leader, &[*byte]).expect("a part");
        assert!(relay.waiting(End::Switch).len().is_multiple_of(echo(1).len()), "a part of a message");
        arrived.extend(drain(&mut relay, End::Switch));
    }
    assert_eq!(arrived, sent);
}

#[test]
fn an_end_that_takes_nothing_stops_the_other() {
    let mut relay = passing();
    while relay.has_room_from(End::Leader) {
        relay.take(End::Leader, &echo(1)).expect("a message");
    }
    assert!(relay.waiting(End::Switch).len() < MAX_WAITING + echo(1).len());
    assert!(relay.has_room_from(End::Switch), "the other way is free");
    drain(&mut relay, End::Switch);
    assert!(relay.has_room_from(End::Leader));
}

#[test]
fn a_switch_is_given_back_after_the_message_that_it_has_half_and_all_its_answers() {
    let mut relay = passing();
    relay.take(End::Leader, &[echo(1), echo(2), echo(3)].concat()).expect("messages");
    relay.note_sent(End::Switch, echo(1).len() + 3);
    relay.leave(NEWEST);
    assert_eq!(drain(&mut relay, End::Switch), [&echo(2)[3..], &slave()].concat());
    relay.take(End::Switch, &[echo(4), barrier_reply(), echo(5)].concat()).expect("messages");
    assert!(relay.is_done());
    assert_eq!(relay.waiting(End::Leader), b"");
    assert_eq!(relay.into_rest(), (echo(5), Vec::new()));
}

#[test]
fn a_switch_that_is_given_back_between_messages_gets_nothing_more_of_the_leader() {
    let mut relay = passing();
    relay.take(End::Leader, &echo(1)).expect("a message");
    relay.leave(NEWEST);
    assert_eq!(drain(&mut relay, End::Switch), slave());
}

#[test]
fn a_switch_that_is_given_back_before_it_has_settled_answers_one_barrier() {
    let mut relay = Relay::begin(&[], &[]).expect("no message");
    relay.leave(NEWEST);
    assert_eq!(drain(&mut relay, End::Switch), barrier());
    relay.take(End::Switch, &barrier_reply()).expect("a message");
    assert!(relay.is_done());
}

#[test]
fn a_switch_that_refuses_the_barrier_has_come_to_it() {
    let mut relay = Relay::begin(&[], &[]).expect("no message");
    let mut refusal = vec![4, 1, 0, 12];
    refusal.extend(BARRIER.0.to_be_bytes());
    refusal.extend([0, 1, 0, 1]);
    relay.take(End::Switch, &refusal).expect("a message");
    assert!(relay.passes());
}

#[test]
fn whatever_arrives_and_is_sent_in_any_order_the_switch_gets_whole_messages() {
    for seed in 0..500 {
        let mut random = SplitMix64::new(seed);
        let (mut relay, mut arrived) = (passing(), Vec::new());
        for xid in 0..200 {
            let of_leader = echo(xid);
            let (first, second) = of_leader.split_at(random.below(of_leader.len()));
            relay.take(End::Leader, first).expect("a part");
            arrived.extend(take_some(&mut relay, &mut random));
            relay.take(End::Leader, second).expect("the rest");
            let noise: Vec<u8> = (0..random.below(64)).map(|_| random.next_u64() as u8).collect();
            if relay.take(End::Switch, &noise).is_err() {
                break;
            }
        }
        relay.leave(NEWEST);
        arrived.extend(drain(&mut relay, End::Switch));
        assert!(frames(&arrived).all(|frame| frame.is_ok()), "seed {seed}");
        assert!(arrived.ends_with(&slave()), "seed {seed}");
    }
}

/// The switch takes a part of what waits for it.
fn take_some(relay: &mut Relay, random: &mut SplitMix64) -> Vec<u8> {
    let length = random.below(relay.waiting(End::Switch).len() + 1);
    let bytes = relay.waiting(End::Switch)[..length].to_vec();
    relay.note_sent(End::Switch, length);
    bytes
}

#[test]
fn lost_framing_is_an_error() {
    for end in [End::Switch, End::Leader] {
        assert!(passing().take(end, &[4, 0, 0, 7, 0, 0, 0, 0]).is_err());
    }
}
