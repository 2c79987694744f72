//! Take-overs by a controller that was told what the leader knew.

use std::time::Duration;

use braid_packet::TcpFlags;
use braid_packet::mptcp::Key;
use braid_steering::{AdviceRefusal, TransferFact};
use braid_types::{FiveTuple, SplitMix64};

use super::mptcp::{KEY, THREE_WAYS, accept, add, join, open, open_with_key, ways};
use super::network::{HOST_PORT, Network, dpid, ip, mac, tuple};
use crate::event::Event;
use crate::facts::{Fact, FactChange, FactKey};
use crate::pipeline::Rule;
use crate::request::{Asker, Refusal, Reply, Request, Ticket};

/// A stream from host 1 to host 9.
fn stream(port: u16) -> FiveTuple {
    tuple(ip(1), port, ip(9))
}

/// Two connections between the same hosts, of two subflows and of one; what standbys are told of them.
fn led_network() -> Network {
    let mut network = Network::start(&THREE_WAYS, &[1, 3, 9]);
    network.brain.publish_facts(true);
    open(&mut network, stream(1_000));
    add(&mut network, stream(1_001));
    open_with_key(&mut network, stream(3_000), 7);
    network.advance(Duration::from_secs(1));
    network
}

pub(super) fn take_all(network: &mut Network) -> Vec<FactChange> {
    network.brain.take_facts(network.now, usize::MAX)
}

/// What is known after these changes.
pub(super) fn known(changes: impl IntoIterator<Item = FactChange>) -> Vec<Fact> {
    let mut facts = std::collections::BTreeMap::new();
    for change in changes {
        match change {
            FactChange::Known(fact) => _ = facts.insert(fact.key(), fact),
            FactChange::Gone(key) => _ = facts.remove(&key),
        }
    }
    facts.into_values().collect()
}

/// The leader dies, and another controller that knows `facts` leads.
pub(super) fn take_over(network: &mut Network, facts: Vec<Fact>) {
    network.kill();
    network.start_again();
    network.tell(&Event::Facts { facts });
}

pub(super) fn connect_all(network: &mut Network) {
    network.numbers().into_iter().for_each(|number| network.connect(number));
}

pub(super) fn settle(network: &mut Network) {
    network
        .advance(network.brain.settings().reconcile_timeout + network.brain.settings().install_timeout * 2);
}

/// The links of a subflow from host 1.
fn links(network: &mut Network, stream: FiveTuple) -> Vec<(u64, u64)> {
    let way = ways(network, stream)[0].clone();
    way.windows(2).map(|pair| (pair[0], pair[1])).collect()
}

fn assert_disjoint(network: &mut Network, streams: &[FiveTuple], why: &str) {
    let mut all: Vec<_> = streams.iter().flat_map(|stream| links(network, *stream)).collect();
    let count = all.len();
    all.sort_unstable();
    all.dedup();
    assert_eq!(all.len(), count, "{why}: subflows of one connection share a link: {all:?}");
}

/// Lets host 1 open another subflow of the connection with this key.
fn join_with(network: &mut Network, stream: FiveTuple, key: Key) {
    network.send_tcp(1, 9, stream, TcpFlags::SYN, &join(key));
    assert_eq!(network.received(9).len(), 1, "the SYN arrives");
    accept(network, 9, stream);
}

/// As [`join_with`], where packets may have no way yet; returns whether the subflow is open. Hosts try again.
fn may_join_with(network: &mut Network, stream: FiveTuple, key: Key) -> bool {
    network.send_tcp(1, 9, stream, TcpFlags::SYN, &join(key));
    network.advance(Duration::from_millis(100));
    network.send_tcp(1, 9, stream, TcpFlags::SYN, &join(key));
    let has_arrived = !network.received(9).is_empty();
    if has_arrived {
        accept(network, 9, stream);
    }
    has_arrived
}

#[test]
fn connections_of_the_same_hosts_stay_apart_and_subflows_that_join_are_disjoint_from_their_siblings() {
    let mut network = led_network();
    let facts = known(take_all(&mut network));
    take_over(&mut network, facts);
    connect_all(&mut network);
    settle(&mut network);
    assert_eq!(network.brain.sizes().transfers, 2, "they are not merged");
    assert_eq!(network.changes, [], "no rule is written again");
    join_with(&mut network, stream(1_002), KEY);
    join_with(&mut network, stream(3_001), Key(7));
    join_with(&mut network, stream(3_002), Key(7));
    network.advance(Duration::from_secs(1));
    assert_disjoint(&mut network, &[1_000, 1_001, 1_002].map(stream), "the first connection");
    assert_disjoint(&mut network, &[3_000, 3_001, 3_002].map(stream), "the second connection");
    assert_eq!(network.brain.sizes().transfers, 2);
}

#[test]
fn without_facts_the_connections_of_two_hosts_count_as_one_and_joins_find_no_siblings() {
    let mut network = led_network();
    take_over(&mut network, Vec::new());
    connect_all(&mut network);
    settle(&mut network);
    assert_eq!(network.brain.sizes().transfers, 1);
    join_with(&mut network, stream(1_002), KEY);
    assert_eq!(network.brain.sizes().transfers, 2);
}

#[test]
fn subflows_that_join_at_any_time_after_a_take_over_become_disjoint_from_their_siblings() {
    for seed in 0..100 {
        let mut random = SplitMix64::new(seed);
        let mut network = led_network();
        let facts = known(take_all(&mut network));
        take_over(&mut network, facts);
        let mut late = vec![(1_002, KEY), (3_001, Key(7)), (3_002, Key(7))];
        let mut order = network.numbers();
        while !order.is_empty() || !late.is_empty() {
            // Joins come as soon as the switches at both ends have joined.
            let may_join = !order.contains(&1) && !order.contains(&9) && !late.is_empty();
            if may_join && (order.is_empty() || random.below(2) == 0) {
                let (port, key) = late[0];
                if may_join_with(&mut network, stream(port), key) {
                    late.remove(0);
                }
            } else if !order.is_empty() {
                let next = order.swap_remove(random.below(order.len()));
                network.connect(next);
            }
            network.advance(Duration::from_millis(100) * random.below(5) as u32);
        }
        settle(&mut network);
        network.advance(Duration::from_secs(2));
        assert_disjoint(&mut network, &[1_000, 1_001, 1_002].map(stream), &format!("seed {seed}, first"));
        assert_disjoint(&mut network, &[3_000, 3_001, 3_002].map(stream), &format!("seed {seed}, second"));
    }
}

#[test]
fn a_subflow_that_the_answering_host_opens_after_a_take_over_finds_its_siblings() {
    let mut network = led_network();
    let facts = known(take_all(&mut network));
    take_over(&mut network, facts);
    connect_all(&mut network);
    settle(&mut network);
    // From host 9 to the port from which the connection was opened.
    let back = FiveTuple { src_port: 4_000, ..stream(1_000).reversed() };
    let back = FiveTuple { dst_port: 1_000, ..back };
    network.send_tcp(9, 1, back, TcpFlags::SYN, &join(Key(99)));
    network.advance(Duration::from_secs(1));
    accept(&mut network, 1, back);
    network.advance(Duration::from_secs(1));
    assert_eq!(network.brain.sizes().transfers, 2, "it is of a connection that is known");
}

#[test]
fn hosts_are_known_as_soon_as_their_switches_join_whatever_rules_these_have_lost() {
    let mut network = led_network();
    let hosts = |network: &Network| {
        let hosts = network.brain.hosts();
        hosts.iter().map(|host| (host.mac, host.at, host.addresses.clone())).collect::<Vec<_>>()
    };
    let before = hosts(&network);
    let facts = known(take_all(&mut network));
    let deliver = Rule::Deliver { dst: ip(1), mac: mac(1), port: HOST_PORT };
    let (table, priority) = (deliver.table() as u8, deliver.priority());
    network.numbers().into_iter().for_each(|number| network.lose_rules(number, table, priority));
    assert!(!network.switch(1).has(deliver));
    take_over(&mut network, facts);
    connect_all(&mut network);
    assert_eq!(hosts(&network), before);
}

#[test]
fn a_request_about_a_host_whose_switch_has_not_joined_may_be_made_again() {
    let mut network = led_network();
    let facts = known(take_all(&mut network));
    take_over(&mut network, facts);
    let ask = |network: &mut Network| {
        let claim = super::assignments::claim("a", 1);
        network.tell(&Event::Request { ticket: Ticket(1), request: Request::Assign(claim) });
        network.replies.pop().map(|(_, reply)| reply)
    };
    let Some(Reply::Refused(refusal)) = ask(&mut network) else { panic!("no refusal") };
    assert!(matches!(refusal, Refusal::AwaitsSwitch(_)) && refusal.is_passing(), "{refusal}");
    connect_all(&mut network);
    settle(&mut network);
    assert!(matches!(ask(&mut network), Some(Reply::Assignment(_))));
}

#[test]
fn what_a_switch_says_goes_before_facts() {
    let mut network = led_network();
    let mut facts = known(take_all(&mut network));
    for fact in &mut facts {
        if let Fact::Host(host) = fact {
            // As if each address were at the port of another host.
            host.at.dpid = dpid(12 - host.at.dpid.0);
        }
    }
    let place =
        |network: &Network| network.brain.hosts().iter().map(|it| (it.mac, it.at)).collect::<Vec<_>>();
    let before = place(&network);
    take_over(&mut network, facts);
    connect_all(&mut network);
    settle(&mut network);
    assert_eq!(place(&network), before);
}

#[test]
fn a_connection_that_is_told_and_not_in_any_switch_is_none() {
    let mut network = led_network();
    let mut facts = known(take_all(&mut network));
    let invented = facts.iter().find_map(|fact| match fact {
        Fact::Transfer(transfer) => Some(transfer.clone()),
        _ => None,
    });
    let mut invented: TransferFact = invented.expect("a transfer");
    invented.id.0 += 1_000;
    invented.streams.iter_mut().for_each(|stream| stream.tuple.src_port += 500);
    facts.push(Fact::Transfer(invented));
    take_over(&mut network, facts);
    connect_all(&mut network);
    settle(&mut network);
    assert_eq!((network.brain.sizes().transfers, network.brain.sizes().streams), (2, 3));
}

#[test]
fn measurements_of_links_are_there_as_soon_as_the_links_are_found() {
    let mut network = led_network();
    network.advance(Duration::from_secs(10));
    let facts = known(take_all(&mut network));
    let told = facts.iter().filter(|fact| matches!(fact, Fact::Link(link) if link.delay.is_some())).count();
    assert_eq!(told, THREE_WAYS.len() * 2);
    take_over(&mut network, facts);
    connect_all(&mut network);
    let mut found = 0;
    for _ in 0..20 {
        network.advance(Duration::from_millis(100));
        let links: Vec<_> = network.brain.topology.links().collect();
        assert!(links.iter().all(|(_, state)| state.delay.is_some()), "a link is found without its delay");
        found = links.len();
        if found == THREE_WAYS.len() * 2 {
            return;
        }
    }
    panic!("{found} links were found");
}

#[test]
fn each_fact_is_told_once_however_often_it_changes_and_nothing_is_noted_for_nobody() {
    let mut network = led_network();
    let all = take_all(&mut network);
    let keys: std::collections::BTreeSet<_> = all
        .iter()
        .map(|change| match change {
            FactChange::Known(fact) => fact.key(),
            FactChange::Gone(key) => *key,
        })
        .collect();
    assert_eq!(keys.len(), all.len());
    assert_eq!(take_all(&mut network), []);
    add(&mut network, stream(1_002));
    let FactChange::Known(Fact::Transfer(first)) = &take_all(&mut network)[..][0] else {
        panic!("a transfer")
    };
    assert_eq!(first.streams.len(), 3);
    for port in [1_000, 1_001, 1_002] {
        super::mptcp::reset(&mut network, 1, 9, stream(port));
    }
    assert_eq!(take_all(&mut network), [FactChange::Gone(FactKey::Transfer(first.id))]);
    network.brain.publish_facts(false);
    open_with_key(&mut network, stream(5_000), 8);
    assert_eq!(take_all(&mut network), []);
}

#[test]
fn facts_are_taken_in_pieces_and_read_back_as_written() {
    let mut network = led_network();
    network.advance(Duration::from_secs(10));
    let (mut pieces, now) = (Vec::new(), network.now);
    loop {
        let piece = network.brain.take_facts(now, 2);
        if piece.is_empty() {
            break;
        }
        assert!(piece.len() <= 2);
        pieces.extend(piece);
    }
    let kinds = |wanted: fn(&Fact) -> bool| {
        pieces.iter().filter(|it| matches!(it, FactChange::Known(fact) if wanted(fact))).count()
    };
    assert_eq!(kinds(|it| matches!(it, Fact::Host(_))), 3);
    assert_eq!(kinds(|it| matches!(it, Fact::Transfer(_))), 2);
    assert_eq!(kinds(|it| matches!(it, Fact::Link(_))), THREE_WAYS.len() * 2);
    let text = serde_json::to_string(&pieces).expect("JSON");
    assert_eq!(serde_json::from_str::<Vec<FactChange>>(&text).expect("JSON"), pieces);
}

#[test]
fn facts_are_forgotten_after_a_while() {
    let mut network = led_network();
    let facts = known(take_all(&mut network));
    take_over(&mut network, facts);
    network.advance(Duration::from_secs(61));
    connect_all(&mut network);
    settle(&mut network);
    assert_eq!(network.brain.sizes().transfers, 1, "as without facts");
}

#[test]
fn advice_about_a_host_whose_switch_has_not_joined_may_be_asked_for_again() {
    let mut network = led_network();
    let facts = known(take_all(&mut network));
    take_over(&mut network, facts);
    let refused = super::advice::ask_as(&mut network, &super::advice::from_1_to_9(), Asker::Trusted);
    assert_eq!(refused.expect_err("no switch"), AdviceRefusal::AwaitsSwitch(ip(1)));
}
