//! Advice that is refused, and limits of questions.

use std::time::Duration;

use braid_steering::{AdviceRefusal, AdviceRequest, SubflowEnds};

use super::advice::{ask_as, from_1_to_9, put, put_with, request};
use super::mptcp::THREE_WAYS;
use super::network::{Network, dpid, ip};
use crate::request::{Asker, Reply, Ticket};
use crate::settings::Settings;

#[test]
fn who_asks_for_what_is_not_its_own_is_refused_and_nothing_is_written() {
    let mut network = Network::start(&THREE_WAYS, &[1, 3, 9]);
    let rules = [0, 1].map(|table| network.rules(table));
    let own = |text: &str| Asker::Owner(vec![text.parse().expect("a prefix")]);
    let not_own = |address| Err(AdviceRefusal::NotOwn(address));
    for asker in
        [own("10.0.0.9"), own("fd00::/16"), Asker::Host(ip(3)), Asker::Host(ip(77)), Asker::Owner(vec![])]
    {
        assert_eq!(ask_as(&mut network, &from_1_to_9(), asker), not_own(ip(1)));
    }
    let mut more = from_1_to_9();
    more.local_addresses.push(ip(3));
    assert_eq!(ask_as(&mut network, &more, Asker::Host(ip(1))), not_own(ip(3)));
    assert_eq!(ask_as(&mut network, &more, own("10.0.0.1")), not_own(ip(3)));
    let elsewhere = SubflowEnds { local: (ip(3), 9).into(), remote: (ip(9), 9).into() };
    for request in [
        AdviceRequest { subflows: vec![elsewhere], ..from_1_to_9() },
        AdviceRequest { failed: vec![elsewhere], ..from_1_to_9() },
    ] {
        assert_eq!(ask_as(&mut network, &request, Asker::Host(ip(1))), not_own(ip(3)));
    }
    assert_eq!([0, 1].map(|table| network.rules(table)), rules);
    more.local_addresses = vec![ip(1), [192, 0, 2, 1].into()];
    assert!(ask_as(&mut network, &more, Asker::Host(ip(1))).is_ok(), "a foreign address does no harm");
}

#[test]
fn absurd_questions_are_refused_and_nothing_is_written() {
    let mut network = Network::start(&THREE_WAYS, &[1, 9]);
    let rules = [0, 1].map(|table| network.rules(table));
    let absurd = [
        AdviceRequest { most: 10_000, ..from_1_to_9() },
        AdviceRequest { subflows: vec![from_1_to_9().connection; 10_000], ..from_1_to_9() },
        request(ip(1), ip(1)),
        request(ip(1), [0xfd00, 0, 0, 0, 0, 0, 0, 9].into()),
        request(ip(77), ip(9)),
        request(ip(1), ip(77)),
    ];
    for request in absurd {
        let refusal = ask_as(&mut network, &request, Asker::Trusted);
        assert!(refusal.is_err(), "{refusal:?}");
    }
    assert_eq!([0, 1].map(|table| network.rules(table)), rules);
    assert!(network.brain.transfers().is_empty());
}

#[test]
fn questions_that_wait_are_bounded_and_a_repeated_one_takes_the_place_of_the_first() {
    let settings = Settings { max_advice_requests: 2, ..Settings::default() };
    let mut network = Network::start_with(settings, &THREE_WAYS, &[1, 9]);
    network.mute.insert(dpid(9));
    let of = |port| {
        let mut request = from_1_to_9();
        request.connection.local.set_port(port);
        request
    };
    let first = put(&mut network, &of(1), Asker::Trusted);
    let again = put(&mut network, &AdviceRequest { most: 1, ..of(1) }, Asker::Trusted);
    assert_eq!(first, again, "nothing was answered, so the numbers are alike");
    assert_eq!(network.replies, [(first, Reply::Advice(Err(AdviceRefusal::Superseded)))]);
    for port in 2..5 {
        put_with(&mut network, Ticket(port.into()), &of(port), Asker::Trusted);
    }
    let busy = Reply::Advice(Err(AdviceRefusal::Busy(2)));
    assert_eq!(network.replies.iter().filter(|(_, it)| *it == busy).count(), 2);
    network.advance(Duration::from_secs(2));
    assert_eq!(network.replies.len(), 5, "every question has been answered");
}

#[test]
fn a_port_gets_no_more_streams_by_advice_than_by_syns() {
    let settings = Settings { new_streams: 1, ..Settings::default() };
    let mut network = Network::start_with(settings, &THREE_WAYS, &[1, 9]);
    let mut streams = 0;
    for port in 1..20 {
        let mut request = from_1_to_9();
        request.connection.local.set_port(port);
        streams +=
            ask_as(&mut network, &request, Asker::Trusted).map_or(0, |advice| 1 + advice.subflows.len());
    }
    assert_eq!(streams, 10, "ten seconds' worth");
}
