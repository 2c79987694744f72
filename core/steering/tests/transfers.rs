//! The transfer that a stream belongs to.

use std::net::IpAddr;

use braid_steering::{Group, KnownTransfer, Limits, Opening, StreamId, TransferId, TransferKind, Transfers};
use braid_types::{BitsPerSec, FiveTuple, Time, Token};

const TOKEN: Token = Token(0xdead_beef);

fn tuple(src: u8, port: u16, dst: u8) -> FiveTuple {
    let ip = |last| IpAddr::from([10, 0, 0, last]);
    FiveTuple { src: ip(src), dst: ip(dst), src_port: port, dst_port: 5201 }
}

fn open(transfers: &mut Transfers, tuple: FiveTuple, opening: Opening) -> StreamId {
    transfers.open(Time::ZERO, tuple, opening).expect("room")
}

fn transfer_of(transfers: &Transfers, id: StreamId) -> TransferId {
    transfers.stream(id).expect("a stream").transfer
}

/// A connection from host `src` to host `dst` whose answer named `TOKEN`.
fn connection(transfers: &mut Transfers, src: u8, dst: u8) -> TransferId {
    let tuple = tuple(src, 1000, dst);
    let id = open(transfers, tuple, Opening::Capable);
    transfers.learn_token(&tuple, TOKEN);
    transfer_of(transfers, id)
}

#[test]
fn a_join_belongs_to_the_connection_of_its_token() {
    let mut transfers = Transfers::new(Limits::default());
    let owner = connection(&mut transfers, 1, 9);
    let join = open(&mut transfers, tuple(1, 1001, 9), Opening::Join(TOKEN));
    assert_eq!(transfer_of(&transfers, join), owner);
}

#[test]
fn a_join_between_other_addresses_of_the_hosts_belongs_to_it_too() {
    let mut transfers = Transfers::new(Limits::default());
    let owner = connection(&mut transfers, 1, 9);
    let join = open(&mut transfers, tuple(2, 1001, 8), Opening::Join(TOKEN));
    assert_eq!(transfer_of(&transfers, join), owner);
}

#[test]
fn one_token_of_two_receivers_is_never_mixed() {
    let mut transfers = Transfers::new(Limits::default());
    let first = connection(&mut transfers, 1, 9);
    let second = connection(&mut transfers, 2, 8);
    assert_ne!(first, second);
    for (src, dst, owner) in [(1, 9, first), (2, 8, second), (5, 9, first), (5, 8, second), (1, 7, first)] {
        let join = open(
            &mut transfers,
            tuple(src, u16::from(src) * 100 + u16::from(dst), dst),
            Opening::Join(TOKEN),
        );
        assert_eq!(transfer_of(&transfers, join), owner, "{src} > {dst}");
    }
    let stranger = open(&mut transfers, tuple(6, 1, 4), Opening::Join(TOKEN));
    assert!(![first, second].contains(&transfer_of(&transfers, stranger)));
}

/// A subflow that host `src` opens to the port from which host `dst` opened its connection.
fn called_back(transfers: &mut Transfers, src: u8, port: u16, dst: u8, token: Token) -> StreamId {
    let back = FiveTuple { dst_port: 1000, ..tuple(src, port, dst) };
    open(transfers, back, Opening::Join(token))
}

#[test]
fn subflows_that_the_answering_host_opens_belong_to_the_connection() {
    let mut transfers = Transfers::new(Limits::default());
    let owner = connection(&mut transfers, 1, 9);
    let other = connection(&mut transfers, 2, 9);
    let back = called_back(&mut transfers, 8, 4000, 1, Token(7));
    assert_eq!(transfer_of(&transfers, back), owner);
    let elsewhere = open(&mut transfers, tuple(9, 4001, 3), Opening::Join(Token(7)));
    assert_eq!(
        transfer_of(&transfers, elsewhere),
        owner,
        "the same token to another address of the opening host"
    );
    let anothers = called_back(&mut transfers, 9, 4002, 2, Token(8));
    assert_eq!(transfer_of(&transfers, anothers), other);
}

#[test]
fn of_two_connections_from_one_port_the_one_that_the_sender_answers_is_called() {
    let mut transfers = Transfers::new(Limits::default());
    let first = connection(&mut transfers, 1, 9);
    let second = connection(&mut transfers, 1, 8);
    let back = called_back(&mut transfers, 8, 4000, 1, Token(7));
    assert_eq!(transfer_of(&transfers, back), second);
    let unclear = called_back(&mut transfers, 7, 4000, 1, Token(5));
    assert!(![first, second].contains(&transfer_of(&transfers, unclear)));
}

#[test]
fn a_connection_is_still_called_back_after_another_from_its_port_to_the_same_host_has_ended() {
    let mut transfers = Transfers::new(Limits::default());
    let owner = connection(&mut transfers, 1, 9);
    let other = FiveTuple { dst_port: 5202, ..tuple(1, 1000, 9) };
    let other = open(&mut transfers, other, Opening::Capable);
    transfers.end(other);
    let back = called_back(&mut transfers, 9, 4000, 1, Token(7));
    assert_eq!(transfer_of(&transfers, back), owner);
}

#[test]
fn a_second_token_for_the_opening_host_is_not_remembered() {
    let mut transfers = Transfers::new(Limits::default());
    let owner = connection(&mut transfers, 1, 9);
    called_back(&mut transfers, 9, 4000, 1, Token(7));
    called_back(&mut transfers, 5, 4000, 1, Token(6));
    let forged = open(&mut transfers, tuple(5, 4001, 3), Opening::Join(Token(6)));
    assert_ne!(transfer_of(&transfers, forged), owner);
}

#[test]
fn an_ended_connection_is_not_called_back() {
    let mut transfers = Transfers::new(Limits::default());
    let owner = connection(&mut transfers, 1, 9);
    let first: Vec<_> = transfers.streams().map(|stream| stream.id).collect();
    let back = called_back(&mut transfers, 9, 4000, 1, Token(7));
    for id in first.into_iter().chain([back]) {
        transfers.end(id);
    }
    let late = called_back(&mut transfers, 9, 4001, 1, Token(7));
    assert_ne!(transfer_of(&transfers, late), owner);
}

#[test]
fn a_second_answer_with_another_token_is_not_believed() {
    let mut transfers = Transfers::new(Limits::default());
    let owner = connection(&mut transfers, 1, 9);
    transfers.learn_token(&tuple(1, 1000, 9), Token(1));
    assert_eq!(transfers.transfer(owner).and_then(|transfer| transfer.token), Some(TOKEN));
    let forged = open(&mut transfers, tuple(1, 1001, 9), Opening::Join(Token(1)));
    assert_ne!(transfer_of(&transfers, forged), owner);
}

#[test]
fn joins_that_came_before_the_token_are_taken_over() {
    let mut transfers = Transfers::new(Limits::default());
    let first = tuple(1, 1000, 9);
    let stream = open(&mut transfers, first, Opening::Capable);
    let early = open(&mut transfers, tuple(1, 1001, 9), Opening::Join(TOKEN));
    assert_ne!(transfer_of(&transfers, early), transfer_of(&transfers, stream));
    assert_eq!(transfers.learn_token(&first, TOKEN), [early]);
    assert_eq!(transfer_of(&transfers, early), transfer_of(&transfers, stream));
    assert_eq!(transfers.transfers().count(), 1);
}

#[test]
fn a_connection_is_not_taken_over_by_another_with_its_token() {
    let mut transfers = Transfers::new(Limits::default());
    let owner = connection(&mut transfers, 1, 9);
    let other = tuple(1, 2000, 9);
    let stream = open(&mut transfers, other, Opening::Capable);
    assert!(transfers.learn_token(&other, TOKEN).is_empty());
    assert_ne!(transfer_of(&transfers, stream), owner);
}

#[test]
fn the_last_stream_takes_the_transfer_and_its_token_along() {
    let mut transfers = Transfers::new(Limits::default());
    let owner = connection(&mut transfers, 1, 9);
    let join = open(&mut transfers, tuple(1, 1001, 9), Opening::Join(TOKEN));
    let first = transfers.transfer(owner).expect("a transfer").streams[0];
    assert!(!transfers.end(first).expect("a stream").transfer_ended);
    assert!(transfers.end(join).expect("a stream").transfer_ended);
    assert_eq!(transfers.end(join), None);
    let late = open(&mut transfers, tuple(1, 1002, 9), Opening::Join(TOKEN));
    assert_ne!(transfer_of(&transfers, late), owner);
}

#[test]
fn limits_hold() {
    let mut transfers = Transfers::new(Limits { streams: 4, streams_per_transfer: 2 });
    connection(&mut transfers, 1, 9);
    open(&mut transfers, tuple(1, 1001, 9), Opening::Join(TOKEN));
    let full = transfers.open(Time::ZERO, tuple(1, 1002, 9), Opening::Join(TOKEN)).expect_err("no room");
    assert_eq!(full.limit, 2);
    open(&mut transfers, tuple(2, 1, 9), Opening::Capable);
    open(&mut transfers, tuple(2, 2, 9), Opening::Capable);
    let full = transfers.open(Time::ZERO, tuple(2, 3, 9), Opening::Capable).expect_err("no room");
    assert_eq!(full.limit, 4);
}

#[test]
fn restored_streams_of_two_addresses_are_one_transfer_and_keep_their_numbers() {
    let mut transfers = Transfers::new(Limits { streams: 4, streams_per_transfer: 2 });
    for (id, tuple) in [(70, tuple(1, 1000, 9)), (50, tuple(1, 1001, 9)), (60, tuple(1, 1002, 9))] {
        transfers.restore(Time::ZERO, StreamId(id), tuple).expect("room");
    }
    let sizes: Vec<_> = transfers.transfers().map(|transfer| transfer.streams.len()).collect();
    assert_eq!(sizes, [2, 1], "as many as fit");
    let opened = open(&mut transfers, tuple(1, 1003, 9), Opening::Capable);
    assert!(opened > StreamId(70));
    assert_ne!(
        transfers.stream(opened).map(|stream| stream.transfer),
        transfers.stream(StreamId(60)).map(|stream| stream.transfer)
    );
    assert!(transfers.restore(Time::ZERO, StreamId(1), tuple(2, 1, 9)).is_err());
}

#[test]
fn announced_streams_of_one_group_are_one_transfer() {
    let mut transfers = Transfers::new(Limits::default());
    let mut opened = |port, group| {
        let opening = Opening::Parallel(Group::Announced(group));
        let id = open(&mut transfers, tuple(1, port, 9), opening);
        (id, transfer_of(&transfers, id))
    };
    let [(first, one), (second, same), (_, other)] = [opened(1, 7), opened(2, 7), opened(3, 8)];
    assert!(one == same && one != other);
    assert_eq!(transfers.transfer(one).map(|it| it.kind), Some(TransferKind::Parallel));
    assert!(!transfers.end(first).expect("it is there").transfer_ended);
    assert!(transfers.end(second).expect("it is there").transfer_ended);
    assert!(transfers.of_group(Group::Announced(7)).is_none());
}

#[test]
fn rates_follow_from_counts_and_their_times() {
    let mut transfers = Transfers::new(Limits::default());
    let id = open(&mut transfers, tuple(1, 1, 9), Opening::Capable);
    let mut count = |millis, bytes| {
        transfers.set_bytes(Time::from_millis(millis), id, true, bytes);
        let stream = transfers.stream(id).expect("it is there");
        (stream.bytes, stream.rates[1])
    };
    assert_eq!(count(1_000, 1_000), ([0, 1_000], BitsPerSec(8_000)));
    assert_eq!(count(1_010, 9_000), ([0, 9_000], BitsPerSec(8_000)), "too soon for a rate");
    assert_eq!(count(3_000, 11_000), ([0, 11_000], BitsPerSec(40_000)));
    assert_eq!(count(4_000, 0), ([0, 0], BitsPerSec(0)), "a switch that began anew");
}

/// What another table of transfers is told, all of it.
fn told(transfers: &mut Transfers) -> Vec<KnownTransfer> {
    transfers.publish(true);
    transfers.take_facts(usize::MAX).into_iter().filter_map(|(_, fact)| fact).collect()
}

#[test]
fn restored_streams_are_in_the_transfers_that_are_remembered() {
    let mut before = Transfers::new(Limits::default());
    let first = open(&mut before, tuple(1, 1000, 9), Opening::Capable);
    before.learn_token(&tuple(1, 1000, 9), TOKEN);
    let second = open(&mut before, tuple(1, 1001, 9), Opening::Join(TOKEN));
    let other = open(&mut before, tuple(1, 2000, 9), Opening::Capable);
    let mut after = Transfers::new(Limits::default());
    after.remember(told(&mut before));
    for id in [other, second, first] {
        let tuple = before.stream(id).expect("a stream").tuple;
        after.restore(Time::ZERO, id, tuple).expect("room");
    }
    assert_eq!(transfer_of(&after, first), transfer_of(&after, second));
    assert_ne!(transfer_of(&after, first), transfer_of(&after, other));
    let join = open(&mut after, tuple(2, 1002, 8), Opening::Join(TOKEN));
    assert_eq!(transfer_of(&after, join), transfer_of(&after, first));
    let back = tuple(9, 4000, 1);
    let called = after.call_back(Token(5), &FiveTuple { dst_port: 1000, ..back }, &[]);
    assert_eq!(called, Some(transfer_of(&after, first)), "the other end finds it by its port");
}

#[test]
fn a_join_before_its_siblings_are_restored_is_in_their_transfer() {
    let mut before = Transfers::new(Limits::default());
    let first = open(&mut before, tuple(1, 1000, 9), Opening::Capable);
    before.learn_token(&tuple(1, 1000, 9), TOKEN);
    let mut after = Transfers::new(Limits::default());
    after.remember(told(&mut before));
    after.skip_streams(first);
    let join = open(&mut after, tuple(1, 1001, 9), Opening::Join(TOKEN));
    after.restore(Time::ZERO, first, tuple(1, 1000, 9)).expect("room");
    assert_eq!(transfer_of(&after, first), transfer_of(&after, join));
    assert_eq!(after.transfer_count(), 1);
}

#[test]
fn an_answer_before_its_stream_is_restored_is_not_lost() {
    let mut before = Transfers::new(Limits::default());
    let first = open(&mut before, tuple(1, 1000, 9), Opening::Capable);
    let mut after = Transfers::new(Limits::default());
    after.remember(told(&mut before));
    after.learn_token(&tuple(1, 1000, 9), TOKEN);
    after.restore(Time::ZERO, first, tuple(1, 1000, 9)).expect("room");
    let join = open(&mut after, tuple(1, 1001, 9), Opening::Join(TOKEN));
    assert_eq!(transfer_of(&after, first), transfer_of(&after, join));
}

#[test]
fn what_is_remembered_and_not_restored_leaves_nothing_behind() {
    let mut before = Transfers::new(Limits::default());
    connection(&mut before, 1, 9);
    let mut after = Transfers::new(Limits::default());
    after.remember(told(&mut before));
    assert!(after.is_empty() && after.transfer_count() == 0);
    after.remember([]);
    let id = StreamId(70);
    after.restore(Time::ZERO, id, tuple(1, 1000, 9)).expect("room");
    assert_eq!(after.stream(id).map(|stream| stream.opening), Some(Opening::Unseen));
}

#[test]
fn transfers_are_told_once_for_all_their_changes_and_when_they_end() {
    let mut transfers = Transfers::new(Limits::default());
    open(&mut transfers, tuple(1, 1000, 9), Opening::Capable);
    assert_eq!(transfers.take_facts(9), [], "nobody is told");
    transfers.publish(true);
    let id = connection(&mut transfers, 2, 9);
    assert_eq!(transfers.take_facts(1).len(), 1);
    let [(told, Some(KnownTransfer::Mptcp(fact)))] = &transfers.take_facts(9)[..] else {
        panic!("one transfer")
    };
    assert_eq!((*told, fact.token, fact.streams.len()), (id, Some(TOKEN), 1));
    let stream = transfers.by_tuple(&tuple(2, 1000, 9)).expect("a stream").id;
    transfers.end(stream);
    assert_eq!(transfers.take_facts(9), [(id, None)]);
}

#[test]
fn of_a_transfer_that_ended_before_it_was_told_nobody_hears() {
    let mut transfers = Transfers::new(Limits::default());
    let ended = |transfers: &mut Transfers, id| {
        let stream = transfers.by_tuple(&tuple(id, 1000, 9)).expect("a stream").id;
        transfers.end(stream);
    };
    transfers.publish(true);
    connection(&mut transfers, 1, 9);
    ended(&mut transfers, 1);
    assert_eq!(transfers.take_facts(9), []);
    connection(&mut transfers, 2, 9);
    assert_eq!(transfers.take_facts(9).len(), 1);
    // Whoever is told from now on hears of it only while it is there.
    transfers.publish(false);
    transfers.publish(true);
    ended(&mut transfers, 2);
    assert_eq!(transfers.take_facts(9), []);
}

#[test]
fn plain_connections_are_restored_in_the_transfers_that_they_had() {
    let mut before = Transfers::new(Limits::default());
    let [one, other] = [1, 2].map(|id| Opening::Parallel(Group::Announced(id)));
    let openings = [one, one, other, Opening::Sprayed, Opening::Sprayed];
    let streams: Vec<_> = openings.iter().zip(1000..).collect();
    let opened = streams.iter().map(|(opening, port)| open(&mut before, tuple(1, *port, 9), **opening));
    let ids: Vec<_> = opened.collect();
    let mut after = Transfers::new(Limits::default());
    after.remember(told(&mut before));
    for id in ids.iter().rev() {
        let tuple = before.stream(*id).expect("a stream").tuple;
        after.restore(Time::ZERO, *id, tuple).expect("room");
        assert_eq!(after.stream(*id).map(|it| it.opening), before.stream(*id).map(|it| it.opening));
    }
    let of = |id: StreamId| transfer_of(&after, id);
    assert_eq!(of(ids[0]), of(ids[1]));
    assert_eq!(after.transfer_count(), 4);
    assert_eq!(after.of_group(Group::Announced(2)).map(|it| it.id), Some(of(ids[2])));
    let kind = after.transfer(of(ids[3])).map(|it| it.kind);
    assert_eq!(kind, Some(TransferKind::Spray));
}
