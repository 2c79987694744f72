//! Decisions of the agent, without a kernel.

use std::collections::{BTreeMap, BTreeSet};
use std::net::{IpAddr, SocketAddr};
use std::time::{Duration, Instant};

use braid_api::{Advice, AdviceRequest, SubflowEnds};
use braid_host::managed::{Connections, Order, Refusal, advise};
use braid_host::pm::{Connection, Event, Token};
use proptest::prelude::*;

const TOKEN: Token = Token(7);

fn ends(local: &str, remote: &str) -> SubflowEnds {
    SubflowEnds { local: local.parse().unwrap(), remote: remote.parse().unwrap() }
}

fn own() -> Vec<IpAddr> {
    ["10.0.0.1", "10.0.1.1"].map(|it| it.parse().unwrap()).to_vec()
}

fn established() -> Event {
    let ends = ends("10.0.0.1:40000", "10.0.0.2:80");
    Event::Established(Connection { token: TOKEN, ends, server_side: false })
}

fn begun(most: usize) -> (Connections, Instant) {
    let (mut connections, now) = (Connections::new(most), Instant::now());
    connections.handle_event(now, &established());
    assert!(connections.poll_question(now, &own()).is_some());
    (connections, now)
}

fn advice(subflows: Vec<SubflowEnds>) -> Advice {
    Advice { subflows, ask_again_after: None }
}

#[test]
fn connection_asks_once_until_something_changes() {
    let (mut connections, now) = begun(8);
    assert!(connections.poll_question(now, &own()).is_none());
    let address = "10.0.1.2".parse().unwrap();
    connections.handle_event(now, &Event::Announced { token: TOKEN, id: 3, address, port: None });
    connections.handle_advice(now, TOKEN, &advice(Vec::new()), &own());
    let (_, question) = connections.poll_question(now, &own()).unwrap();
    let remotes: Vec<SocketAddr> = ["10.0.0.2:80", "10.0.1.2:80"].map(|it| it.parse().unwrap()).to_vec();
    assert_eq!(question.remote_addresses, remotes);
    connections.handle_event(now, &Event::Closed { token: TOKEN });
    assert_eq!(connections.poll_timeout(), None);
}

#[test]
fn a_change_before_the_advice_is_asked_about_with_the_subflows_that_it_opens() {
    let (mut connections, now) = begun(8);
    let address = "10.0.1.2".parse().unwrap();
    connections.handle_event(now, &Event::Announced { token: TOKEN, id: 3, address, port: None });
    assert_eq!((connections.poll_timeout(), connections.poll_question(now, &own())), (None, None));
    let advised = ends("10.0.0.1:61500", "10.0.0.2:80");
    connections.handle_advice(now, TOKEN, &advice(vec![advised]), &own());
    assert_eq!(connections.poll_timeout(), Some(now));
    let (_, question) = connections.poll_question(now, &own()).unwrap();
    assert_eq!((question.subflows, question.remote_addresses.len()), (vec![advised], 2));
}

#[test]
fn a_subflow_that_fails_before_the_advice_is_not_reopened_by_it() {
    let (mut connections, now) = begun(8);
    let [one, two] = [61_500, 61_501].map(|port| ends(&format!("10.0.0.1:{port}"), "10.0.0.2:80"));
    connections.handle_advice(
        now,
        TOKEN,
        &Advice { subflows: vec![one, two], ask_again_after: Some(1) },
        &own(),
    );
    let later = now + Duration::from_secs(1);
    let (_, question) = connections.poll_question(later, &own()).unwrap();
    assert_eq!(question.subflows, [one, two]);
    connections.handle_failure(later, TOKEN, one);
    let (orders, refused) = connections.handle_advice(later, TOKEN, &advice(vec![one, two]), &own());
    assert_eq!((orders, refused), (vec![], vec![(one, Refusal::HasFailed)]));
    assert_eq!(connections.poll_timeout(), Some(later + Duration::from_secs(1)));
}

#[test]
fn connection_that_the_peer_opened_is_left_to_the_peer() {
    let mut connections = Connections::new(8);
    let Event::Established(connection) = established() else { unreachable!() };
    connections
        .handle_event(Instant::now(), &Event::Established(Connection { server_side: true, ..connection }));
    assert_eq!(connections.poll_timeout(), None);
}

#[test]
fn advice_opens_what_is_missing_and_closes_what_is_not_named() {
    let (mut connections, now) = begun(8);
    let [one, two] = [20_001, 20_002].map(|port| ends(&format!("10.0.0.1:{port}"), "10.0.0.2:80"));
    let (orders, refused) = connections.handle_advice(now, TOKEN, &advice(vec![one]), &own());
    assert_eq!(orders, [Order::Open { token: TOKEN, ends: one, id: 1 }]);
    assert_eq!(refused, []);
    let (orders, _) = connections.handle_advice(now, TOKEN, &advice(vec![two]), &own());
    assert_eq!(
        orders,
        [Order::Close { token: TOKEN, ends: one }, Order::Open { token: TOKEN, ends: two, id: 1 }]
    );
    let (orders, _) = connections.handle_advice(now, TOKEN, &advice(vec![two]), &own());
    assert_eq!(orders, []);
}

#[test]
fn while_a_subflow_is_suspended_no_more_are_opened_than_there_were() {
    let (mut connections, now) = begun(8);
    let [one, two] = [20_001, 20_002].map(|port| ends(&format!("10.0.0.1:{port}"), "10.0.0.2:80"));
    connections.handle_advice(now, TOKEN, &advice(vec![one]), &own());
    let Event::Established(connection) = established() else { unreachable!() };
    connections.handle_suspension(TOKEN, connection.ends, true);
    let (orders, refused) = connections.handle_advice(now, TOKEN, &advice(vec![one, two]), &own());
    assert_eq!((orders, refused), (vec![], vec![(two, Refusal::TooMany)]));
    // One that fails is replaced.
    connections.handle_failure(now, TOKEN, one);
    let (_, question) = connections.poll_question(now + Duration::from_secs(2), &own()).unwrap();
    assert_eq!(question.max_subflows, 1);
    let (orders, _) = connections.handle_advice(now, TOKEN, &advice(vec![two]), &own());
    assert_eq!(orders, [Order::Open { token: TOKEN, ends: two, id: 1 }]);
    connections.handle_suspension(TOKEN, connection.ends, false);
    let (orders, refused) = connections.handle_advice(now, TOKEN, &advice(vec![two, one]), &own());
    assert_eq!((orders.len(), refused), (1, vec![]));
}

#[test]
fn wrong_advice_is_refused() {
    let (mut connections, now) = begun(8);
    let wrong = [
        (ends("192.0.2.1:20001", "10.0.0.2:80"), Refusal::NotOwn),
        (ends("10.0.0.1:20001", "192.0.2.1:80"), Refusal::NotThePeers),
        (ends("10.0.0.1:20001", "10.0.0.2:81"), Refusal::NotThePeers),
        (ends("10.0.0.1:0", "10.0.0.2:80"), Refusal::NoPort),
        (ends("10.0.0.1:40000", "10.0.0.2:80"), Refusal::Repeated),
    ];
    let advised = advice(wrong.iter().map(|(ends, _)| *ends).collect());
    let (orders, refused) = connections.handle_advice(now, TOKEN, &advised, &own());
    assert_eq!((orders, refused), (vec![], wrong.to_vec()));
    let (orders, _) = connections.handle_advice(now, Token(8), &advised, &own());
    assert_eq!(orders, []);
}

#[test]
fn ten_thousand_subflows_are_bounded() {
    let (mut connections, now) = begun(8);
    let many = (1..=10_000).map(|port| ends(&format!("10.0.0.1:{port}"), "10.0.0.2:80")).collect();
    let (orders, refused) = connections.handle_advice(now, TOKEN, &advice(many), &own());
    assert_eq!((orders.len(), refused.len()), (8, 9_992));
    assert!(refused.iter().all(|(_, why)| *why == Refusal::TooMany));
}

#[test]
fn subflow_that_fails_again_and_again_is_asked_about_ever_more_rarely() {
    let (mut connections, mut now) = begun(8);
    let mut waits = Vec::new();
    for _ in 0..8 {
        let it = ends("10.0.0.1:20001", "10.0.0.2:80");
        connections.handle_advice(now, TOKEN, &advice(vec![it]), &own());
        connections.handle_failure(now, TOKEN, it);
        let at = connections.poll_timeout().unwrap();
        waits.push((at - now).as_secs());
        now = at;
        let (_, question) = connections.poll_question(now, &own()).unwrap();
        assert_eq!((question.subflows, question.failed.last()), (vec![], Some(&it)));
    }
    assert_eq!(waits, [1, 2, 4, 8, 16, 32, 60, 60]);
}

fn request(locals: &[&str], remotes: &[&str]) -> AdviceRequest {
    AdviceRequest {
        connection: ends("10.0.0.1:40000", "10.0.0.2:80"),
        local_addresses: locals.iter().map(|it| it.parse().unwrap()).collect(),
        remote_addresses: remotes.iter().map(|it| it.parse().unwrap()).collect(),
        subflows: vec![],
        failed: vec![],
        max_subflows: 16,
    }
}

#[test]
fn without_a_controller_subflows_spread_over_pairs_of_addresses() {
    let request = request(&["10.0.0.1", "10.0.1.1", "fd00::1"], &["10.0.0.2:80", "10.0.1.2:80"]);
    let mut pairs = BTreeMap::from([("10.0.0.1 10.0.0.2:80".to_owned(), 1)]);
    for it in advise(&request, 8).subflows {
        *pairs.entry(format!("{} {}", it.local.ip(), it.remote)).or_insert(0) += 1;
    }
    assert_eq!(pairs.into_values().collect::<Vec<_>>(), [2; 4]);
}

#[test]
fn without_a_controller_what_is_there_stays_and_what_failed_gets_another_port() {
    let mut request = request(&["10.0.0.1"], &["10.0.0.2:80"]);
    let first = advise(&request, 4).subflows;
    assert_eq!(first.len(), 3);
    request.subflows = first[1..].to_vec();
    request.failed = vec![first[0]];
    let second = advise(&request, 4).subflows;
    assert_eq!((second.len(), &second[..2]), (3, &first[1..]));
    assert!(!first.contains(&second[2]));
    // The controller that advised three does not answer once.
    request.subflows = second;
    assert_eq!(advise(&request, 1).subflows, request.subflows);
}

#[derive(Clone, Debug)]
enum Step {
    Advise(Vec<(u8, u16)>),
    Fail(u8, u16),
    Restart,
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let one = || (0..3_u8, 0..6_u16);
    let step = prop_oneof![
        prop::collection::vec(one(), 0..12).prop_map(Step::Advise),
        one().prop_map(|(local, port)| Step::Fail(local, port)),
        Just(Step::Restart),
    ];
    prop::collection::vec(step, 0..40)
}

proptest! {
    #[test]
    fn kernel_is_never_told_what_it_would_refuse(steps in steps(), most in 0..6_usize) {
        let (mut connections, mut now) = begun(most);
        let at = |(local, port): (u8, u16)| ends(&format!("10.0.{local}.1:{port}"), "10.0.0.2:80");
        // As the kernel has them: subflows with the numbers of their local ends.
        let mut kernel = BTreeMap::new();
        for step in steps {
            now += Duration::from_secs(1);
            match step {
                Step::Advise(list) => {
                    let advised = advice(list.into_iter().map(at).collect());
                    for order in connections.handle_advice(now, TOKEN, &advised, &own()).0 {
                        match order {
                            Order::Open { ends, id, .. } => prop_assert!(kernel.insert(ends, id).is_none()),
                            Order::Close { ends, .. } => prop_assert!(kernel.remove(&ends).is_some()),
                        }
                    }
                }
                Step::Fail(local, port) => {
                    kernel.remove(&at((local, port)));
                    connections.handle_failure(now, TOKEN, at((local, port)));
                }
                Step::Restart => {
                    kernel.clear();
                    connections.handle_event(now, &Event::Closed { token: TOKEN });
                    connections.handle_event(now, &established());
                }
            }
            let numbers: BTreeSet<u8> = kernel.values().copied().collect();
            prop_assert!(kernel.len() <= most && numbers.len() == kernel.len() && !numbers.contains(&0));
            let known: BTreeSet<_> = connections.subflows().map(|(_, ends)| ends).collect();
            prop_assert_eq!(known, kernel.keys().copied().collect::<BTreeSet<_>>());
        }
    }
}
