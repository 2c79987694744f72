//! Advice: hosts ask which subflows to open.

use std::collections::{BTreeMap, BTreeSet};
use std::net::{IpAddr, SocketAddr};
use std::time::Duration;

use braid_packet::TcpFlags;
use braid_packet::mptcp::Key;
use braid_steering::{Advice, AdviceRefusal, AdviceRequest, SubflowEnds};
use proptest::prelude::*;

use super::mptcp::{THREE_WAYS, add, join, open, ways};
use super::network::{Network, dpid, ip, tuple};
use crate::counters::Counters;
use crate::event::Event;
use crate::pipeline::Rule;
use crate::request::{Asker, Reply, Request, Ticket};
use crate::settings::Settings;

const SYN_ACK: TcpFlags = TcpFlags(TcpFlags::SYN.0 | TcpFlags::ACK.0);

pub(super) fn request(local: IpAddr, remote: IpAddr) -> AdviceRequest {
    AdviceRequest {
        connection: SubflowEnds { local: (local, 1000).into(), remote: (remote, 5201).into() },
        local_addresses: vec![local],
        remote_addresses: vec![(remote, 5201).into()],
        subflows: Vec::new(),
        failed: Vec::new(),
        most: 16,
    }
}

pub(super) fn from_1_to_9() -> AdviceRequest {
    request(ip(1), ip(9))
}

/// Sends a request; the answer may come later.
pub(super) fn put(network: &mut Network, request: &AdviceRequest, asker: Asker) -> Ticket {
    let ticket = Ticket(network.replies.len() as u64 + 1_000);
    put_with(network, ticket, request, asker);
    ticket
}

pub(super) fn put_with(network: &mut Network, ticket: Ticket, request: &AdviceRequest, asker: Asker) {
    let request = Request::Advise { request: Box::new(request.clone()), asker };
    network.tell(&Event::Request { ticket, request });
}

pub(super) fn answer(network: &Network, ticket: Ticket) -> Option<&Result<Advice, AdviceRefusal>> {
    network.replies.iter().find_map(|(it, reply)| match reply {
        Reply::Advice(advice) if *it == ticket => Some(advice),
        _ => None,
    })
}

pub(super) fn ask_as(
    network: &mut Network,
    request: &AdviceRequest,
    asker: Asker,
) -> Result<Advice, AdviceRefusal> {
    let ticket = put(network, request, asker);
    network.wake_until(network.now + 2 * Settings::default().barrier_grace);
    answer(network, ticket).expect("an answer").clone()
}

pub(super) fn ask(network: &mut Network, request: &AdviceRequest) -> Vec<SubflowEnds> {
    ask_as(network, request, Asker::Trusted).expect("advice").subflows
}

/// Opens a subflow without a packet-in.
pub(super) fn open_unheard(network: &mut Network, ends: &SubflowEnds) {
    let (tuple, before) = (ends.tuple(), network.brain.counters().packet_ins);
    network.send_tcp(1, 9, tuple, TcpFlags::SYN, &join(Key(7)));
    assert_eq!(network.received(9).len(), 1, "the SYN arrives");
    network.send_tcp(9, 1, tuple.reversed(), SYN_ACK, &[]);
    assert_eq!(network.received(1).len(), 1, "the SYN/ACK arrives");
    assert_eq!(network.brain.counters().packet_ins, before, "no packet-in");
}

pub(super) fn way(network: &mut Network, ends: &SubflowEnds) -> Vec<u64> {
    let [there, back] = ways(network, ends.tuple());
    assert_eq!(there, back);
    there
}

fn expected_rules(network: &mut Network, number: u64) -> usize {
    let found = network.switch(number).found();
    found.rules.iter().filter(|rule| matches!(rule, Rule::AdvisedHandshake { .. })).count()
}

#[test]
fn every_path_gets_a_subflow_whose_packets_never_see_the_controller() {
    let mut network = Network::start(&THREE_WAYS, &[1, 9]);
    open(&mut network, tuple(ip(1), 1000, ip(9)));
    let advised = ask(&mut network, &from_1_to_9());
    assert_eq!(advised.len(), 2, "the first subflow has the third path");
    advised.iter().for_each(|ends| open_unheard(&mut network, ends));
    let taken: Vec<_> = advised.iter().map(|ends| way(&mut network, ends)).collect();
    assert_eq!(taken, [vec![1, 2, 9], vec![1, 3, 4, 9]]);
    assert_eq!(network.brain.transfers().len(), 1);
}

#[test]
fn a_connection_that_was_not_seen_to_open_is_placed_as_well() {
    let mut network = Network::start(&THREE_WAYS, &[1, 9]);
    let advised = ask(&mut network, &from_1_to_9());
    assert_eq!(advised.len(), 2);
    network.advance(Duration::from_secs(1));
    assert_eq!(way(&mut network, &from_1_to_9().connection), [1, 9]);
    assert_eq!(network.brain.transfers()[0].streams.len(), 3);
}

#[test]
fn no_more_subflows_are_named_than_the_agent_opens() {
    let mut network = Network::start(&THREE_WAYS, &[1, 9]);
    assert_eq!(ask(&mut network, &AdviceRequest { most: 1, ..from_1_to_9() }).len(), 1);
    assert_eq!(ask(&mut network, &AdviceRequest { most: 0, ..from_1_to_9() }).len(), 0);
    network.advance(Duration::from_secs(5));
    assert_eq!(expected_rules(&mut network, 1), 0, "what is not wanted any more is gone");
}

#[test]
fn the_answer_waits_for_every_switch() {
    let mut network = Network::start(&THREE_WAYS, &[1, 9]);
    open(&mut network, tuple(ip(1), 1000, ip(9)));
    for slow in [9, 1, 3] {
        network.mute.insert(dpid(slow));
        let id = put(&mut network, &from_1_to_9(), Asker::Trusted);
        assert_eq!(answer(&network, id), None, "switch {slow} has not confirmed");
        network.advance(Duration::from_secs(2));
        let named = answer(&network, id).expect("an answer in time").clone().expect("advice").subflows;
        let expected: &[_] = if slow == 3 { &[vec![1, 2, 9]] } else { &[] };
        assert_eq!(named.iter().map(|ends| way(&mut network, ends)).collect::<Vec<_>>(), expected);
        assert_eq!(network.brain.transfers()[0].streams.len(), 1 + named.len(), "the others are taken back");
        network.mute.clear();
        // Unconfirmed labels are suspended for a while.
        network.advance(Duration::from_secs(30));
    }
}

#[test]
fn the_answer_waits_until_no_packet_goes_by_what_was_there_before() {
    let mut network = Network::start(&THREE_WAYS, &[1, 9]);
    open(&mut network, tuple(ip(1), 1000, ip(9)));
    // The labels are confirmed; only the rules at the edges are new.
    let first = ask(&mut network, &from_1_to_9());
    let other = AdviceRequest { subflows: first, ..from_1_to_9() };
    let again = AdviceRequest {
        connection: SubflowEnds { local: (ip(1), 2000).into(), ..other.connection },
        ..from_1_to_9()
    };
    let ticket = put(&mut network, &again, Asker::Trusted);
    let (asked, grace) = (network.now, Settings::default().barrier_grace);
    assert_eq!(answer(&network, ticket), None, "every switch has confirmed, but only now");
    assert_eq!(network.brain.wake_at(), Some(asked + grace));
    network.advance(Duration::from_millis(100));
    assert!(
        answer(&network, ticket).is_some_and(|advice| advice.as_ref().is_ok_and(|it| it.subflows.len() == 2))
    );
}

#[test]
fn a_host_is_answered_once_every_switch_has_confirmed_twice() {
    let mut network = Network::start(&THREE_WAYS, &[1, 9]);
    open(&mut network, tuple(ip(1), 1000, ip(9)));
    // The labels are confirmed; only the rules at the edges are new.
    let first = ask(&mut network, &from_1_to_9());
    let connection = SubflowEnds { local: (ip(1), 2000).into(), ..from_1_to_9().connection };
    network.late = Some(BTreeMap::new());
    let ticket = put(&mut network, &AdviceRequest { connection, ..from_1_to_9() }, Asker::Trusted);
    let pending =
        |network: &Network| -> Vec<_> { network.late.iter().flatten().map(|(_, it)| it.len()).collect() };
    // The first switch is asked again before the second reads anything.
    for (place, messages) in pending(&network).into_iter().enumerate() {
        (0..messages).for_each(|_| network.act_late(place));
    }
    assert_eq!(pending(&network), [first.len(); 2], "both ends of each subflow are asked once more");
    network.advance(Duration::from_millis(100));
    assert_eq!(answer(&network, ticket), None, "rules are in the tables, but caches may have older ones");
    while !network.is_quiet() {
        network.act_late(0);
        network.apply_late();
        network.fly(0);
    }
    network.advance(Duration::from_millis(500));
    assert!(answer(&network, ticket).is_some_and(Result::is_ok));
}

#[test]
fn switches_that_are_slow_to_confirm_get_as_long_again_to_apply() {
    let mut network = Network::start(&THREE_WAYS, &[1, 9]);
    open(&mut network, tuple(ip(1), 1000, ip(9)));
    network.late = Some(BTreeMap::new());
    let ticket = put(&mut network, &from_1_to_9(), Asker::Trusted);
    let took = Duration::from_millis(200);
    network.advance(took);
    while !network.is_quiet() {
        network.act_late(0);
        network.apply_late();
        network.fly(0);
    }
    assert_eq!(answer(&network, ticket), None, "every switch has confirmed, but only now");
    assert_eq!(network.brain.wake_at(), Some(network.now + took));
    network.advance(took);
    assert!(answer(&network, ticket).is_some_and(Result::is_ok));
}

#[test]
fn what_is_open_stays_and_is_named_again() {
    let mut network = Network::start(&THREE_WAYS, &[1, 9]);
    let advised = ask(&mut network, &from_1_to_9());
    let again = ask(&mut network, &AdviceRequest { subflows: advised.clone(), ..from_1_to_9() });
    assert_eq!(BTreeSet::from_iter(again), BTreeSet::from_iter(advised));
}

#[test]
fn a_subflow_that_the_agent_opened_by_itself_gets_a_path_of_its_own() {
    let mut network = Network::start(&THREE_WAYS, &[1, 9]);
    open(&mut network, tuple(ip(1), 1000, ip(9)));
    let own = SubflowEnds { local: (ip(1), 62_000).into(), remote: (ip(9), 5201).into() };
    let advised = ask(&mut network, &AdviceRequest { subflows: vec![own], ..from_1_to_9() });
    assert!(advised.contains(&own) && advised.len() == 2, "{advised:?}");
    assert_eq!(way(&mut network, &own), [1, 2, 9]);
}

#[test]
fn a_failed_subflow_is_replaced_on_another_path_from_another_port() {
    let mut network = Network::start(&THREE_WAYS, &[1, 9]);
    let advised = ask(&mut network, &AdviceRequest { most: 1, ..from_1_to_9() });
    let failed = advised[0];
    assert_eq!(way(&mut network, &failed), [1, 2, 9]);
    let request = AdviceRequest { failed: vec![failed], most: 1, ..from_1_to_9() };
    let instead = ask(&mut network, &request);
    assert_ne!(instead[0].local.port(), failed.local.port());
    assert_eq!(way(&mut network, &instead[0]), [1, 3, 4, 9], "the path that failed is left alone");
    network.advance(Duration::from_secs(11));
    let request = AdviceRequest { subflows: instead, most: 2, ..request };
    let advice = ask_as(&mut network, &request, Asker::Trusted).expect("advice");
    assert_eq!(advice.subflows.len(), 2, "and tried again later");
    assert!(advice.ask_again_after.is_some_and(|seconds| seconds < 60));
}

#[test]
fn a_path_that_died_gets_no_subflow_until_it_is_back() {
    let mut network = Network::start(&THREE_WAYS, &[1, 9]);
    network.unplug(3, 4);
    let advised = ask(&mut network, &from_1_to_9());
    assert_eq!(advised.iter().map(|ends| way(&mut network, ends)).collect::<Vec<_>>(), [[1, 2, 9]]);
    network.plug(3, 4);
    network.advance(Duration::from_secs(5));
    let more = ask(&mut network, &AdviceRequest { subflows: advised.clone(), ..from_1_to_9() });
    assert_eq!(more.len(), 2);
    assert_eq!(way(&mut network, more.iter().find(|ends| !advised.contains(ends)).unwrap()), [1, 3, 4, 9]);
}

#[test]
fn rules_of_advice_that_is_not_followed_expire_and_so_does_what_lets_syns_pass() {
    let mut network = Network::start(&THREE_WAYS, &[1, 9]);
    let advised = ask(&mut network, &from_1_to_9());
    assert_eq!([1, 9].map(|at| expected_rules(&mut network, at)), [2, 2]);
    let streams = network.brain.transfers()[0].streams.clone();
    for ends in &advised {
        let stream = streams.iter().find(|it| it.src_port == ends.local.port()).expect("a stream");
        let cookie = crate::Cookie::new(crate::Purpose::Stream { id: stream.id, reverse: false });
        network.tell(&Event::FlowRemoved { dpid: dpid(1), cookie, bytes: 0 });
    }
    assert_eq!(network.brain.transfers()[0].streams.len(), 1);
    assert_eq!([1, 9].map(|at| expected_rules(&mut network, at)), [2, 2], "a handshake may be underway");
    let joins = network.brain.counters().joins;
    network.send_tcp(9, 1, advised[0].tuple().reversed(), SYN_ACK, &[]);
    assert_eq!(network.brain.counters().joins, joins, "a late SYN/ACK needs no controller");
    network.advance(Duration::from_secs(5));
    assert_eq!([1, 9].map(|at| expected_rules(&mut network, at)), [0, 0]);
    let again = ask(&mut network, &from_1_to_9());
    assert_eq!(again, advised, "their ports are free again");
}

#[test]
fn a_subflow_that_the_host_opens_again_by_itself_keeps_its_rules() {
    let mut network = Network::start(&THREE_WAYS, &[1, 9]);
    let advised = ask(&mut network, &from_1_to_9());
    assert_eq!(ask(&mut network, &AdviceRequest { most: 0, ..from_1_to_9() }), []);
    network.advance(Duration::from_secs(3));
    let request = AdviceRequest { subflows: advised.clone(), ..from_1_to_9() };
    assert_eq!(BTreeSet::from_iter(ask(&mut network, &request)), BTreeSet::from_iter(advised));
    network.advance(Duration::from_secs(3));
    assert_eq!([1, 9].map(|at| expected_rules(&mut network, at)), [2, 2]);
}

#[test]
fn a_join_that_comes_to_the_controller_all_the_same_goes_the_way_it_was_given() {
    let mut network = Network::start(&THREE_WAYS, &[1, 9]);
    let advised = ask(&mut network, &from_1_to_9());
    for (number, at) in [(1, 100), (9, 100)] {
        let lost = advised.iter().flat_map(|ends| [ends.tuple(), ends.tuple().reversed()]);
        for tuple in lost {
            network.switch(number).lose_rule(Rule::AdvisedHandshake { port: braid_types::PortNo(at), tuple });
        }
    }
    add(&mut network, advised[0].tuple());
    assert_eq!(way(&mut network, &advised[0]), [1, 2, 9]);
    assert_eq!(network.brain.transfers().len(), 1);
    let Counters { joins, join_answers, advised_joins, .. } = network.brain.counters();
    assert_eq!([joins, join_answers, advised_joins], [2, 1, 2], "its SYN and its SYN/ACK");
}

#[test]
fn ports_of_other_connections_are_not_given_twice() {
    let mut network = Network::start(&THREE_WAYS, &[1, 9]);
    let mut given = BTreeSet::new();
    // 4,001 apart, so that both start at the same port.
    for port in [1_000, 5_001] {
        let mut request = from_1_to_9();
        request.connection.local.set_port(port);
        given.extend(ask(&mut network, &request).iter().map(|ends| ends.local));
    }
    assert_eq!(given.len(), 4);
}

#[test]
fn another_controller_names_the_same_subflows() {
    let mut network = Network::start(&THREE_WAYS, &[1, 9]);
    open(&mut network, tuple(ip(1), 1000, ip(9)));
    let advised = ask(&mut network, &from_1_to_9());
    let taken: Vec<_> = advised.iter().map(|ends| way(&mut network, ends)).collect();
    network.kill();
    network.start_again();
    network.numbers().into_iter().for_each(|number| network.connect(number));
    network.advance(Duration::from_secs(15));
    let again = ask(&mut network, &AdviceRequest { subflows: advised.clone(), ..from_1_to_9() });
    assert_eq!(again, advised);
    assert_eq!(again.iter().map(|ends| way(&mut network, ends)).collect::<Vec<_>>(), taken);
    assert_eq!(expected_rules(&mut network, 1), 0, "nothing is left of what it does not know");
}

/// Two interfaces a host: 1 and 2 are one machine, 8 and 9 the other. Two disjoint paths, and a link across.
const TWO_HOMES: [(u64, u64); 5] = [(1, 5), (5, 9), (2, 6), (6, 8), (5, 6)];

#[test]
fn every_pair_of_addresses_with_a_path_of_its_own_gets_a_subflow() {
    let mut network = Network::start(&TWO_HOMES, &[1, 2, 8, 9]);
    let mut request = from_1_to_9();
    request.local_addresses = vec![ip(1), ip(2)];
    request.remote_addresses = [9, 8].map(|it| SocketAddr::new(ip(it), 5201)).to_vec();
    let advised = ask(&mut network, &request);
    let between: Vec<_> = advised.iter().map(|ends| (ends.local.ip(), ends.remote.ip())).collect();
    assert_eq!(between, [(ip(2), ip(8))]);
}

#[test]
fn hosts_at_one_switch_need_no_more_than_their_one_way() {
    let mut network = Network::start(&THREE_WAYS, &[1, 9]);
    let frame =
        braid_packet::build::tcp(tuple(ip(7), 5, ip(9))).macs(super::network::mac(7), super::network::mac(9));
    network.send(1, &frame.frame());
    assert_eq!(ask(&mut network, &request(ip(1), ip(7))), []);
    assert!(network.brain.transfers().is_empty());
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

    /// Any requests in any order: each is answered, no path is used twice, and no rule is left over for long.
    #[test]
    fn subflows_of_a_connection_never_meet(
        steps in prop::collection::vec((0_u8..6, 0_usize..4, any::<prop::sample::Index>()), 1..30),
    ) {
        let settings = Settings { new_streams: 0, ..Settings::default() };
        let mut network = Network::start_with(settings, &THREE_WAYS, &[1, 9]);
        let (mut opened, mut failed): (Vec<SubflowEnds>, Vec<_>) = (Vec::new(), Vec::new());
        for (what, most, which) in steps {
            match what {
                0 if !opened.is_empty() => failed.push(opened.remove(which.index(opened.len()))),
                1 => network.advance(Duration::from_secs(which.index(12) as u64)),
                2 => network.unplug(3, 4),
                3 => {
                    network.plug(3, 4);
                    network.advance(Duration::from_secs(3));
                }
                _ => {
                    failed.truncate(32);
                    let request = AdviceRequest {
                        subflows: opened.clone(), failed: failed.clone(), most, ..from_1_to_9()
                    };
                    opened = ask(&mut network, &request);
                    prop_assert!(opened.len() <= most.min(2));
                    prop_assert!(opened.iter().all(|ends| !failed.contains(ends)));
                    let mut all = vec![request.connection];
                    all.extend(&opened);
                    network.advance(Duration::from_millis(200));
                    let taken: BTreeSet<_> = all.iter().map(|ends| way(&mut network, ends)).collect();
                    prop_assert_eq!(taken.len(), all.len());
                    prop_assert!(expected_rules(&mut network, 1) >= opened.len());
                }
            }
        }
        failed.truncate(32);
        let opened = ask(&mut network, &AdviceRequest { subflows: opened, failed, most: 2, ..from_1_to_9() });
        network.advance(Duration::from_secs(5));
        prop_assert_eq!(expected_rules(&mut network, 1), opened.len());
    }
}
