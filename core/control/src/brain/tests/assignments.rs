//! Assignments: applications set paths aside and announce their connections.

use std::collections::BTreeMap;
use std::time::Duration;

use braid_assign::{
    AssignError, AssignmentId, Claim, Distribution, Growth, Owner, PromisedAssignment, StreamModel,
};
use braid_packet::TcpFlags;
use braid_topology::LinkState;
use braid_types::{BitsPerSec, FiveTuple, SwitchPort};

use super::mptcp::{THREE_WAYS, ways};
use super::network::{Network, dpid, ip, ip6, port, tuple};
use crate::event::Event;
use crate::request::{AssignmentView, PlacedView, Refusal, Reply, Request, Ticket};
use crate::settings::Settings;

pub(super) fn owner(name: &str) -> Owner {
    name.parse().expect("a name")
}

pub(super) fn claim(name: &str, paths: usize) -> Claim {
    let (streams, distribution, model, lease) = (None, Distribution::Weight, None, Duration::from_secs(60));
    Claim { owner: owner(name), src: ip(1), dst: ip(9), paths, streams, lease, distribution, model }
}

impl Network {
    pub(super) fn ask(&mut self, request: Request) -> Option<Reply> {
        self.ask_as(Ticket(7), request)
    }

    fn ask_as(&mut self, ticket: Ticket, request: Request) -> Option<Reply> {
        self.replies.clear();
        self.tell(&Event::Request { ticket, request });
        self.answer_to(ticket)
    }

    fn answer_to(&mut self, ticket: Ticket) -> Option<Reply> {
        let at = self.replies.iter().position(|(it, _)| *it == ticket)?;
        Some(self.replies.remove(at).1)
    }

    pub(super) fn assign(&mut self, claim: Claim) -> AssignmentView {
        match self.ask(Request::Assign(claim)) {
            Some(Reply::Assignment(view)) => view,
            other => panic!("no assignment: {other:?}"),
        }
    }

    /// Sets measured delays of links, in milliseconds in each direction.
    fn set_delays(&mut self, links: &[(u64, u64, u64)]) {
        for (a, b, millis) in links {
            for at in [port(*a, *b), port(*b, *a)] {
                let state = self.brain.topology.state_at(at).expect("a link");
                let delay = Some(Duration::from_millis(*millis));
                self.brain.topology.set_link_state(at, LinkState { delay, ..state });
            }
        }
    }

    pub(super) fn place(
        &mut self,
        assignment: AssignmentId,
        name: &str,
        tuple: FiveTuple,
    ) -> Result<PlacedView, Refusal> {
        match self.ask(Request::Place { assignment, owner: Some(owner(name)), tuple }) {
            Some(Reply::Placed(placed)) => Ok(placed),
            Some(Reply::Refused(refusal)) => Err(refusal),
            other => panic!("no place: {other:?}"),
        }
    }
}

fn capacities(links: &[(u64, u64, u64)]) -> BTreeMap<SwitchPort, BitsPerSec> {
    let both = |(a, b, mbits): &(u64, u64, u64)| {
        [port(*a, *b), port(*b, *a)].map(|at| (at, BitsPerSec(mbits * 1_000_000)))
    };
    links.iter().flat_map(both).collect()
}

fn switches(path: &[u64]) -> Vec<braid_types::DatapathId> {
    path.iter().copied().map(dpid).collect()
}

#[test]
fn each_announced_connection_takes_the_next_path_from_its_first_packet() {
    let mut network = Network::start(&THREE_WAYS, &[1, 9]);
    let assignment = network.assign(claim("alice", 3));
    assert_eq!(assignment.paths.len(), 3);
    let expected = [vec![1, 9], vec![1, 2, 9], vec![1, 3, 4, 9]];
    for (src_port, path) in (1000..).zip(expected) {
        let stream = tuple(ip(1), src_port, ip(9));
        let placed = network.place(assignment.id, "alice", stream).expect("a path");
        assert_eq!(placed.switches, switches(&path));
        network.send_tcp(1, 9, stream, TcpFlags::SYN, &[]);
        assert_eq!(network.way_to(9), path, "the first packet");
        assert_eq!(ways(&mut network, stream), [path.clone(), path]);
    }
    let transfers = network.brain.transfers();
    assert_eq!((transfers.len(), transfers[0].streams.len()), (1, 3));
    assert_eq!(network.brain.assignments()[0].paths.iter().map(|path| path.streams).sum::<usize>(), 3);
}

#[test]
fn the_answer_comes_after_the_switches_have_confirmed() {
    let mut network = Network::start(&THREE_WAYS, &[1, 9]);
    let assignment = network.assign(claim("alice", 1));
    let (owner, tuple) = (Some(owner("alice")), tuple(ip(1), 1000, ip(9)));
    let place = Request::Place { assignment: assignment.id, owner, tuple };
    network.mute.insert(dpid(9));
    assert_eq!(network.ask_as(Ticket(1), place.clone()), None);
    assert_eq!(network.ask_as(Ticket(2), place), None, "asked again");
    network.advance(Duration::from_secs(5));
    for ticket in [Ticket(1), Ticket(2)] {
        assert_eq!(network.answer_to(ticket), Some(Reply::Refused(Refusal::NotConfirmed(tuple))));
    }
}

#[test]
fn a_connection_may_be_announced_twice_and_opened_by_either_host() {
    let mut network = Network::start(&THREE_WAYS, &[1, 9]);
    let assignment = network.assign(claim("alice", 3));
    let first = network.place(assignment.id, "alice", tuple(ip(1), 1000, ip(9)));
    assert_eq!(network.place(assignment.id, "alice", tuple(ip(1), 1000, ip(9))), first);
    let back = network.place(assignment.id, "alice", tuple(ip(9), 1000, ip(1))).expect("a path");
    assert_eq!((back.path, back.switches), (Some(1), switches(&[9, 2, 1])));
}

#[test]
fn streams_are_dealt_in_proportion_to_what_paths_can_use() {
    let settings =
        Settings { capacities: capacities(&[(1, 9, 50), (1, 2, 100), (2, 9, 100)]), ..Settings::default() };
    let mut network = Network::start_with(settings, &THREE_WAYS[..3], &[1, 9]);
    network.set_delays(&[(1, 9, 14), (1, 2, 30), (2, 9, 31)]);
    let assignment = network.assign(claim("alice", 2));
    let best: Vec<_> = assignment.paths.iter().map(|path| path.best_streams.round()).collect();
    assert_eq!(best, [2.0, 18.0]);
    (1000..1010)
        .for_each(|it| _ = network.place(assignment.id, "alice", tuple(ip(1), it, ip(9))).expect("a path"));
    let held: Vec<_> = network.brain.assignments()[0].paths.iter().map(|path| path.streams).collect();
    assert_eq!(held, [1, 9]);
}

#[test]
fn round_robin_and_the_shortest_path_can_be_had_too() {
    let mut network = Network::start(&THREE_WAYS, &[1, 9]);
    for (distribution, expected) in
        [(Distribution::RoundRobin, vec![2, 2, 2]), (Distribution::Shortest, vec![6, 0, 0])]
    {
        let id = network.assign(Claim { distribution, ..claim("alice", 3) }).id;
        for src_port in 0..6 {
            let stream = tuple(ip(1), 2000 + src_port + 100 * expected[0], ip(9));
            network.place(id, "alice", stream).expect("a path");
        }
        let views = network.brain.assignments();
        let view = views.iter().find(|view| view.id == id).expect("it is there");
        assert_eq!(view.paths.iter().map(|path| path.streams as u16).collect::<Vec<_>>(), expected);
    }
}

#[test]
fn paths_that_add_nothing_are_not_set_aside_and_the_answer_says_so() {
    let settings = Settings {
        // The path by 2 and 3 ends with the same link as the path by 2.
        capacities: capacities(&[(1, 2, 100), (2, 9, 100), (2, 3, 100), (3, 9, 100), (1, 9, 100)]),
        ..Settings::default()
    };
    let links = [(1, 2), (2, 9), (2, 3), (3, 9), (1, 9)];
    let mut network = Network::start_with(settings, &links, &[1, 9]);
    let assignment = network.assign(claim("alice", 5));
    let paths: Vec<_> = assignment.paths.iter().map(|path| path.switches.clone()).collect();
    assert_eq!(paths, [switches(&[1, 9]), switches(&[1, 2, 9])]);
    assert_eq!(assignment.wanted, 5);
}

#[test]
fn the_second_owner_sees_the_share_of_the_first() {
    let settings = Settings { capacities: capacities(&[(1, 9, 100)]), ..Settings::default() };
    let mut network = Network::start_with(settings, &[(1, 9)], &[1, 9]);
    let available = |view: &AssignmentView| view.paths[0].available_bps;
    assert_eq!(available(&network.assign(claim("alice", 1))), 100_000_000);
    assert_eq!(available(&network.assign(claim("bob", 1))), 50_000_000);
    assert!(network.brain.assignments().iter().all(|view| available(view) == 50_000_000));
}

#[test]
fn a_path_that_breaks_is_left_for_the_others_of_the_assignment() {
    let mut network = Network::start(&THREE_WAYS, &[1, 9]);
    let id = network.assign(claim("alice", 3)).id;
    let streams = [1000, 1001, 1002].map(|src_port| tuple(ip(1), src_port, ip(9)));
    streams.iter().for_each(|stream| _ = network.place(id, "alice", *stream).expect("a path"));
    network.unplug(2, 9);
    network.advance(Duration::from_secs(1));
    let way = ways(&mut network, streams[1])[0].clone();
    assert!([vec![1, 9], vec![1, 3, 4, 9]].contains(&way), "{way:?}");
    assert!(network.place(id, "alice", tuple(ip(1), 1003, ip(9))).is_ok());
}

#[test]
fn an_assignment_ends_with_its_lease_and_its_streams_stay() {
    let mut network = Network::start(&THREE_WAYS, &[1, 9]);
    let id = network.assign(claim("alice", 2)).id;
    let stream = tuple(ip(1), 1001, ip(9));
    network.place(id, "alice", tuple(ip(1), 1000, ip(9))).expect("a path");
    network.place(id, "alice", stream).expect("a path");
    network.advance(Duration::from_secs(61));
    assert!(network.brain.assignments().is_empty());
    assert_eq!(ways(&mut network, stream)[0], [1, 2, 9]);
    let unknown = Refusal::Assign(AssignError::Unknown(id));
    assert_eq!(network.place(id, "alice", tuple(ip(1), 1002, ip(9))), Err(unknown));
}

#[test]
fn what_an_assignment_needs_stays_in_the_switches_while_it_lasts() {
    let mut network = Network::start(&THREE_WAYS, &[1, 9]);
    network.advance(Duration::from_secs(60));
    let before = network.brain.sizes().labels;
    let id = network.assign(Claim { lease: Duration::from_secs(300), ..claim("alice", 3) }).id;
    network.advance(Duration::from_secs(200));
    assert!(network.brain.sizes().labels >= before + 4, "its labels are kept though nothing uses them");
    network.ask(Request::Release { assignment: id, owner: Some(owner("alice")) });
    network.advance(Duration::from_secs(60));
    assert_eq!(network.brain.sizes().labels, before);
}

#[test]
fn an_ended_connection_is_forgotten_and_its_place_given_again() {
    let mut network = Network::start(&THREE_WAYS, &[1, 9]);
    let id = network.assign(claim("alice", 3)).id;
    let streams = [1000, 1001, 1002].map(|src_port| tuple(ip(1), src_port, ip(9)));
    let rules = network.rules(1);
    streams.iter().for_each(|stream| _ = network.place(id, "alice", *stream).expect("a path"));
    let end = |tuple| Request::End { assignment: id, owner: Some(owner("alice")), tuple };
    assert_eq!(network.ask(end(streams[1])), Some(Reply::Ended));
    let again = Some(Reply::Refused(Refusal::NoStream(streams[1])));
    assert_eq!(network.ask(end(streams[1])), again);
    let placed = network.place(id, "alice", tuple(ip(1), 1003, ip(9))).expect("a path");
    assert_eq!(placed.path, Some(1));
    assert_eq!(network.rules(1), rules + 6);
}

#[test]
fn what_cannot_be_is_refused_with_a_reason() {
    let mut network = Network::start(&THREE_WAYS, &[1, 3, 9]);
    let id = network.assign(claim("alice", 3)).id;
    let stream = tuple(ip(1), 1000, ip(9));
    let foreign = Refusal::Assign(AssignError::Foreign(id));
    assert_eq!(network.place(id, "bob", stream), Err(foreign));
    let unknown = AssignmentId(id.0 ^ 1);
    let refusal = Refusal::Assign(AssignError::Unknown(unknown));
    assert_eq!(network.place(unknown, "alice", stream), Err(refusal));
    let elsewhere = tuple(ip(1), 1000, ip(3));
    assert_eq!(network.place(id, "alice", elsewhere), Err(Refusal::OtherHosts(elsewhere)));
    let mut refused = |claim| match network.ask(Request::Assign(claim)) {
        Some(Reply::Refused(refusal)) => refusal,
        other => panic!("{other:?}"),
    };
    assert_eq!(refused(Claim { dst: ip(77), ..claim("a", 1) }), Refusal::UnknownHost(ip(77)));
    assert!(matches!(refused(claim("a", 0)), Refusal::Assign(AssignError::Paths(0, _))));
    let same = Claim { dst: ip(1), ..claim("a", 1) };
    assert_eq!(refused(same), Refusal::Assign(AssignError::NoPath));
}

#[test]
fn connections_over_ipv6_are_placed_too() {
    let mut network = Network::start(&THREE_WAYS, &[1, 9]);
    network.send_tcp(1, 9, tuple(ip6(1), 1, ip6(9)), TcpFlags::ACK, &[]);
    network.send_tcp(9, 1, tuple(ip6(9), 1, ip6(1)), TcpFlags::ACK, &[]);
    let id = network.assign(Claim { src: ip6(1), dst: ip6(9), ..claim("alice", 3) }).id;
    let streams: [FiveTuple; 2] = [1000, 1001].map(|src_port| tuple(ip6(1), src_port, ip6(9)));
    let paths = streams.map(|stream| network.place(id, "alice", stream).expect("a path").switches);
    assert_eq!(paths, [switches(&[1, 9]), switches(&[1, 2, 9])]);
    assert!(
        network.place(id, "alice", tuple(ip(1), 1002, ip(9))).is_ok(),
        "another address of the same hosts"
    );
}

#[test]
fn few_streams_keep_to_the_paths_that_carry_most() {
    let settings = Settings {
        capacities: capacities(&[(1, 9, 100), (1, 2, 20), (2, 9, 20)]),
        stream_model: StreamModel { a: 0.001, saturation_loss: 1.0, growth: Growth::Parabola },
        ..Settings::default()
    };
    let mut network = Network::start_with(settings, &THREE_WAYS[..3], &[1, 9]);
    network.set_delays(&[(1, 9, 50), (1, 2, 150), (2, 9, 150)]);
    let distributed = |network: &mut Network, streams, from: u16| {
        let id = network.assign(Claim { streams, ..claim("alice", 2) }).id;
        for src_port in from..from + 4 {
            network.place(id, "alice", tuple(ip(1), src_port, ip(9))).expect("a path");
        }
        let views = network.brain.assignments();
        let view = views.iter().find(|view| view.id == id).expect("it is there");
        view.paths.iter().map(|path| path.streams).collect::<Vec<_>>()
    };
    assert_eq!(distributed(&mut network, Some(4), 1000), [4, 0]);
    let spread = distributed(&mut network, None, 2000);
    assert!(spread[1] > 0, "{spread:?}: any number may come");
}

/// Another controller starts, which is told of these.
fn take_over(network: &mut Network, promised: &[AssignmentView]) {
    let promised =
        promised.iter().map(|it| PromisedAssignment { id: it.id, claim: claim("alice", it.wanted) });
    network.kill();
    network.start_again();
    network.tell(&Event::Assignments { promised: promised.collect() });
}

fn learn(network: &mut Network) {
    network.numbers().into_iter().for_each(|number| network.connect(number));
    network.advance(Duration::from_secs(3));
    [1, 9].into_iter().for_each(|host| network.announce(host));
    network.advance(Duration::from_millis(200));
}

#[test]
fn what_another_controller_has_promised_is_kept_and_gets_its_paths_as_the_network_is_learned() {
    let mut network = Network::start(&THREE_WAYS, &[1, 9]);
    let before = network.assign(claim("alice", 3));
    take_over(&mut network, std::slice::from_ref(&before));
    let found = network.brain.assignments();
    assert_eq!((found.len(), found[0].id, found[0].paths.len()), (1, before.id, 0));
    let renew = Request::Renew { assignment: before.id, owner: Some(owner("alice")) };
    assert!(matches!(network.ask(renew), Some(Reply::Assignment(_))), "it can be used at once");
    learn(&mut network);
    let paths = |view: &AssignmentView| view.paths.iter().map(|it| it.switches.clone()).collect::<Vec<_>>();
    assert_eq!(paths(&network.brain.assignments()[0]), paths(&before));
    let placed = network.place(before.id, "alice", tuple(ip(1), 1000, ip(9))).expect("a path");
    assert_eq!(placed.path, Some(0));
}

#[test]
fn a_promise_of_more_paths_than_there_are_gets_those_that_there_are_after_a_while() {
    let mut network = Network::start(&THREE_WAYS, &[1, 9]);
    let before = network.assign(claim("alice", 5));
    assert_eq!(before.paths.len(), 3);
    take_over(&mut network, &[before]);
    learn(&mut network);
    assert!(network.brain.assignments()[0].paths.is_empty(), "more links may be found");
    network.advance(Duration::from_secs(10));
    assert_eq!(network.brain.assignments()[0].paths.len(), 3);
}

#[test]
fn what_is_promised_no_more_ends_and_its_labels_go() {
    let mut network = Network::start(&THREE_WAYS, &[1, 9]);
    network.advance(Duration::from_secs(60));
    let before = network.brain.sizes().labels;
    let id = network.assign(Claim { lease: Duration::from_secs(300), ..claim("alice", 3) }).id;
    network.tell(&Event::Assignments { promised: Vec::new() });
    assert!(network.brain.assignments().is_empty() && !network.brain.has_assignment(id));
    network.advance(Duration::from_secs(60));
    assert_eq!(network.brain.sizes().labels, before);
}
