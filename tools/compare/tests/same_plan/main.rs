//! The controller and the simulator plan alike: a real brain beside what the comparison gives the simulator.

mod network;

use std::net::SocketAddr;
use std::time::Duration;

use braid_assign::{Claim, Distribution};
use braid_compare::{Planned, planned};
use braid_control::view::StreamView;
use braid_control::{Asker, Reply, Request};
use braid_lab::Scenario;
use braid_lab::scenario::{Agents, Assign, Direction, Mode, Variant};
use braid_planner::SprayPlan;
use braid_spray::Settings;
use braid_steering::{AdviceRequest, SubflowEnds};
use braid_types::{BitsPerSec, FiveTuple, SwitchPair, SwitchPort};
use network::{Host, Network};

/// Two hosts, and two links between their switches: 50 Mbit/s and 10 ms, 100 Mbit/s and 30 ms.
const PARALLEL: &str = "{ scenario: parallel, topology: { hosts: [
    { name: left, interfaces: [{ name: e0, addresses: [10.0.0.1/24] }], congestion_control: reno, mptcp: { subflows: 7 } },
    { name: right, interfaces: [{ name: e0, addresses: [10.0.0.2/24] }], congestion_control: reno, mptcp: { subflows: 7 } }],
    switches: [west, east], links: [
    { between: [left.e0, west], rate: 1Gbit }, { between: [right.e0, east], rate: 1Gbit },
    { between: [west, east], rate: 50Mbit, delay: 10ms }, { between: [west, east], rate: 100Mbit, delay: 30ms }] },
    traffic: { tool: iperf3, modes: [tcp, mptcp], directions: [{ from: left, to: right }], duration: 5s } }";

const GENERATED: &str = "{ scenario: generated, topology: { generate: { network: 'NAME',
    link: { rate: 40Mbit, delay: 3ms }, congestion_control: reno, mptcp: { subflows: 7 } } },
    traffic: { tool: iperf3, modes: [tcp, mptcp], permutation: 1, duration: 5s } }";

/// Parallel links, a ring, a fat tree, and both topologies of Huang et al. as they are shipped.
fn scenarios() -> Vec<Scenario> {
    let generated = ["ring:6", "fattree:4"].map(|it| GENERATED.replace("NAME", it));
    let texts = [PARALLEL.to_owned()].into_iter().chain(generated);
    let texts = texts.map(|text| Scenario::parse(&text, "test.yaml").expect("a scenario"));
    let shipped = ["huang-a", "huang-b"].map(|name| {
        let file = format!("{}/../../scenarios/{name}.yaml", env!("CARGO_MANIFEST_DIR"));
        Scenario::load(file.as_ref()).expect("a scenario")
    });
    texts.chain(shipped).map(with_edges).collect()
}

/// The switches of hosts spray, and their agents open up to seven subflows more.
fn with_edges(mut scenario: Scenario) -> Scenario {
    let testbed = braid_compare::lay_out(&scenario).expect("a network");
    let plugs = testbed.network().hosts().iter().flatten();
    let edges: Vec<_> = plugs.map(|plug| plug.switch).collect();
    for switch in &mut scenario.topology.switches {
        switch.edge = edges.contains(&switch.dpid);
    }
    scenario.topology.hosts.iter_mut().for_each(|host| host.mptcp.subflows = 7);
    scenario
}

/// A direction of the scenario between different switches, with its hosts as the brain knows them.
fn case(scenario: &Scenario) -> (Direction, Vec<Host>) {
    let testbed = braid_compare::lay_out(scenario).expect("a network");
    let hosts = testbed.network().hosts();
    let at = |host: usize| hosts[host][0].switch;
    let directions = &scenario.traffic.as_ref().expect("traffic").directions;
    let direction =
        *directions.iter().find(|it| at(it.from) != at(it.to)).expect("a way through the network");
    let [from, to] = [(direction.from, direction.source), (direction.to, direction.destination)];
    (direction, [from, to].map(|(host, address)| Host { dpid: at(host), address }).to_vec())
}

fn tuple(direction: &Direction, src_port: u16) -> FiveTuple {
    FiveTuple { src: direction.source, dst: direction.destination, src_port, dst_port: 5_201 }
}

fn variant(policy: &str) -> Variant {
    let policy = (!policy.is_empty()).then(|| format!("[default]\n{policy}\n"));
    Variant { name: "test".to_owned(), policy, ..Variant::default() }
}

/// A member of a group or plan: its links by the ports that they leave, its rate and its delay.
type Member = (Vec<SwitchPort>, BitsPerSec, Duration);

/// What goes from one edge to another: the members, and how packets are resequenced.
type Sprayed = (Vec<Member>, Option<Settings>);

fn of_plan(plan: &SprayPlan, planned: Option<Settings>) -> Sprayed {
    let ports =
        |member: &braid_planner::SprayMember| member.path.links().iter().map(|link| link.src).collect();
    (plan.members.iter().map(|it| (ports(it), it.rate, it.delay)).collect(), planned)
}

/// The same of the groups that the brain has set up.
fn of_groups(network: &Network, SwitchPair { src, dst }: SwitchPair) -> Option<Sprayed> {
    let spray = network.sprays.get(&src)?;
    let edges = network.brain.edges();
    let view = edges.iter().find(|edge| edge.dpid == src)?.spray_groups.first()?;
    let members =
        spray.paths.iter().zip(&view.paths).map(|(path, view)| (view.ports.clone(), path.rate, path.delay));
    Some((members.collect(), network.resequencers.get(&dst).and_then(|order| order.settings)))
}

fn planned_for(scenario: &Scenario, variant: &Variant, mode: Mode, streams: usize) -> Planned {
    planned(scenario, variant, &case(scenario).0, mode, streams).expect("it can be simulated")
}

fn assert_sprayed_alike(scenario: &Scenario, policy: &str) -> bool {
    let (direction, hosts) = case(scenario);
    let variant = variant(policy);
    let planned = planned_for(scenario, &variant, Mode::Tcp, 1);
    let mut network = Network::start(&planned.graph, &hosts, variant.policy.as_deref(), true);
    network.send_syn(&hosts, 0, tuple(&direction, 1_000));
    let ends = SwitchPair::new(hosts[0].dpid, hosts[1].dpid);
    let ours = [ends, ends.reversed()].map(|ends| of_groups(&network, ends));
    let theirs = planned.transfers[0]
        .spray
        .as_ref()
        .map(|it| [&it.forward, &it.reverse].map(|plan| of_plan(plan, plan.resequencing(it.resequence))));
    let name = &scenario.name;
    match theirs {
        Some(theirs) => assert_eq!(ours, theirs.map(Some), "{name}, {policy:?}"),
        None => assert_eq!(ours, [None, None], "{name}, {policy:?}"),
    }
    ours[0].is_some()
}

#[test]
fn flows_are_sprayed_over_the_same_paths_and_resequenced_with_the_same_settings() {
    let policies = [
        "",
        "k = 2",
        "max_mdi = 0.1",
        "resequence = \"unequal\"",
        "resequence = \"never\"",
        "kind = \"spray\"\nmax_mdi = 0.5",
        "kind = \"single\"",
    ];
    let scenarios = scenarios();
    let mut sprayed = 0;
    for (scenario, policy) in scenarios.iter().flat_map(|it| policies.map(|policy| (it, policy))) {
        sprayed += usize::from(assert_sprayed_alike(scenario, policy));
    }
    assert!(sprayed >= 20, "only {sprayed} of {} were sprayed at all", scenarios.len() * policies.len());
}

#[test]
fn announced_streams_are_distributed_over_the_same_paths() {
    for scenario in scenarios() {
        for distribution in [
            Distribution::Weight,
            Distribution::RoundRobin,
            Distribution::Shortest,
            Distribution::Path(1),
            Distribution::Path(9),
        ] {
            assert_distributed_alike(&scenario, distribution, 7);
        }
    }
}

fn assert_distributed_alike(scenario: &Scenario, distribution: Distribution, streams: usize) {
    let (direction, hosts) = case(scenario);
    let variant = Variant { assign: Some(Assign { paths: 3, distribution }), ..variant("") };
    let planned = planned_for(scenario, &variant, Mode::Tcp, streams);
    let mut network = Network::start(&planned.graph, &hosts, None, false);
    let Direction { source: src, destination: dst, .. } = direction;
    let owner = "somebody".parse().expect("a name");
    let claim = Claim {
        owner,
        src,
        dst,
        paths: 3,
        streams: Some(streams),
        lease: Duration::from_secs(600),
        distribution,
        model: None,
    };
    let Reply::Assignment(assignment) = network.ask(Request::Assign(claim)) else { panic!("no assignment") };
    let mut placed = Vec::new();
    for src_port in (1_000..).take(streams) {
        let (assignment, tuple) = (assignment.id, tuple(&direction, src_port));
        match network.ask(Request::Place { assignment, owner: None, tuple }) {
            Reply::Placed(view) if view.path.is_some() => {
                placed.push(Some(ports_of_stream(&network, src_port)));
            }
            Reply::Placed(_) => placed.push(None),
            other => panic!("{other:?}"),
        }
    }
    let path = |transfer: &braid_sim::testbed::Transfer| {
        let path = transfer.path.as_ref()?;
        Some(path.links().iter().map(|link| link.src).collect::<Vec<_>>())
    };
    let given: Vec<_> = planned.transfers.iter().map(path).collect();
    // Where an assignment has no path for a stream, both place it as the policy says.
    let as_given = |(placed, given): (&Option<_>, &Option<_>)| given.as_ref().is_none_or(|_| placed == given);
    assert!(placed.iter().zip(&given).all(as_given), "{}, {distribution}", scenario.name);
    assert_eq!(placed.len(), streams, "{}, {distribution}", scenario.name);
    assert_eq!(given.len(), streams, "{}, {distribution}", scenario.name);
}

fn ports_of_stream(network: &Network, src_port: u16) -> Vec<SwitchPort> {
    let transfers = network.brain.transfers();
    let mut streams = transfers.iter().flat_map(|it| &it.streams);
    let stream: &StreamView = streams.find(|it| it.src_port == src_port).expect("a stream");
    stream.ports.clone()
}

#[test]
fn hosts_are_advised_to_open_subflows_on_the_same_paths() {
    let policies = [
        "",
        "k = 2",
        "subflows = 5",
        "paths = \"shortest\"\nsubflows = 3",
        "paths = \"shortest\"\nplacement = \"least-loaded\"",
        "placement = \"deterministic\"\nsubflows = 6",
        "placement = \"random\"\nsubflows = 4",
        "kind = \"single\"",
    ];
    let mut advised = 0;
    for (scenario, policy) in scenarios().iter().flat_map(|it| policies.map(|policy| (it, policy))) {
        advised += assert_advised_alike(scenario, policy);
    }
    assert!(advised >= 60, "only {advised} subflows were advised in all");
}

/// Returns how many subflows were advised.
fn assert_advised_alike(scenario: &Scenario, policy: &str) -> usize {
    let (direction, hosts) = case(scenario);
    let variant = Variant { agents: Agents::Managed, ..variant(policy) };
    let planned = planned_for(scenario, &variant, Mode::Mptcp, 1);
    let mut network = Network::start(&planned.graph, &hosts, variant.policy.as_deref(), false);
    let end = |address, port| SocketAddr::new(address, port);
    let (local, remote) = (end(direction.source, 40_000), end(direction.destination, 5_201));
    let connection = SubflowEnds { local, remote };
    let request = AdviceRequest {
        connection,
        local_addresses: vec![local.ip()],
        remote_addresses: vec![remote],
        subflows: Vec::new(),
        failed: Vec::new(),
        most: 7,
    };
    let request = Request::Advise { request: Box::new(request), asker: Asker::Trusted };
    let Reply::Advice(Ok(advice)) = network.ask(request) else { panic!("no advice") };
    let name = &scenario.name;
    let ways = planned.testbed.ways_of(&planned.transfers, planned.scheme, 1).remove(0);
    assert_eq!(advice.subflows.len() + 1, ways.len(), "{name}, {policy:?}");
    if policy.contains("single") {
        return 0;
    }
    let opened = [connection].into_iter().chain(advice.subflows);
    let opened = opened.map(|ends| ports_of_stream(&network, ends.local.port()));
    let links =
        |ports: Vec<SwitchPort>| ports.into_iter().filter_map(|it| planned.testbed.network().link_at(it));
    let opened: Vec<Vec<_>> = opened.map(|ports| links(ports).collect()).collect();
    let between = |way: &braid_sim::engine::Way| way.forward[1..way.forward.len() - 1].to_vec();
    assert_eq!(opened, ways.iter().map(between).collect::<Vec<_>>(), "{name}, {policy:?}");
    ways.len() - 1
}
