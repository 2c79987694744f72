//! New MPTCP connections between the 128 hosts of a FatTree with k = 8, of 80 switches.

use std::collections::BTreeMap;
use std::time::Duration;

use braid_packet::mptcp::Key;
use braid_topology::generate::{Links, fat_tree};

use crate::process::Process;
use crate::report;
use braid_load::packets::{
    ADMIT, Host, MP_CAPABLE, SYN_ACK, announcement, capable_answer, opening, packet_in, syn,
};
use braid_load::{Layout, Load, Network, Outcome, Placed, Requests};

/// Different connections that begin at each switch; more than streams and timed requests, so that none is asked for while it is there.
const CONNECTIONS: usize = 45_000;
/// Streams at a time; of more, the oldest end.
const STREAMS: usize = 20_000;
const WINDOW: usize = 64;
/// Both directions.
const RULES: u64 = 2;

/// The load for so long.
fn load(time: Duration) -> Load {
    Load { window: WINDOW, time, most: usize::MAX, streams: STREAMS, rate: None }
}

/// What the controller has in memory while connections come and go.
pub(crate) fn memory(rounds: usize, time: Duration) {
    let controller = Process::start("controller");
    let (mut network, hosts) = deploy(&controller);
    let mut requests = requests(&hosts);
    println!("FatTree, k = 8: {STREAMS} streams at a time");
    network.load(&mut requests, load(Duration::from_secs(1))).expect("a controller that answers");
    for _ in 0..rounds {
        let before = controller.memory();
        let outcome = network.load(&mut requests, load(time)).expect("a controller that answers");
        report::rate("new connections", &outcome, RULES, Duration::ZERO);
        report::memory(before, controller.memory());
    }
}

/// New connections for so long, and the times of single ones.
pub(crate) fn run(controller: &Process, time: Duration) -> (Outcome, Vec<Duration>) {
    let (mut network, hosts) = deploy(controller);
    let mut requests = requests(&hosts);
    println!("FatTree, k = 8: 80 switches, 128 hosts; of each connection both directions have a rule");
    let load = load(Duration::from_secs(1));
    network.load(&mut requests, load).expect("a controller that answers");
    let (memory, busy) = (controller.memory(), controller.time_on_core());
    let outcome = network.load(&mut requests, Load { time, ..load }).expect("a controller that answers");
    let busy = controller.time_on_core() - busy;
    report::rate("new connections", &outcome, RULES, busy);
    report::memory(memory, controller.memory());
    let (index, requests) = requests.iter_mut().next().expect("hosts at a switch");
    let times = network.time(*index, requests, (20_000, RULES), STREAMS).expect("a controller that answers");
    report::latency("new connection", times.clone());
    (outcome, times)
}

/// Plays the network until the controller knows all of it.
pub(crate) fn deploy(controller: &Process) -> (Network, Vec<Placed>) {
    let blueprint = fat_tree(8, Links::default()).expect("a size that there is");
    let layout = Layout::from(&blueprint);
    let (links, hosts) = (layout.directed_links(), layout.hosts.clone());
    let mut network = Network::connect(controller.target(), &layout).expect("a controller that answers");
    network.serve_until(|_| report::count(controller, "links") == links).expect("a controller that answers");
    network
        .serve_until(|network| {
            let tell =
                |(index, host): &Placed| (*index, packet_in(host.port, ADMIT, &announcement(*host, *host)));
            network.tell(hosts.iter().map(tell)).expect("a controller that answers");
            report::count(controller, "hosts") == hosts.len()
        })
        .expect("a controller that answers");
    (network, hosts)
}

/// A connection that a host opens: to whom, and both ports.
type Connection = (Host, Placed, (u16, u16));

/// The first packets of connections of each switch's hosts to hosts elsewhere.
pub(crate) fn requests(hosts: &[Placed]) -> BTreeMap<usize, Requests> {
    let message = |(from, (_, to), ports): &Connection| {
        packet_in(from.port, ADMIT, &syn(*from, *to, *ports, &MP_CAPABLE))
    };
    let requests = |all: Vec<Connection>| Requests::new(&all.iter().map(message).collect::<Vec<_>>());
    connections(hosts).into_iter().map(|(index, all)| (index, requests(all))).collect()
}

/// What is answered to the first `most` of [`requests`] of each switch, and where.
pub(crate) fn answers(hosts: &[Placed], most: usize) -> Vec<(usize, Vec<u8>)> {
    let first = connections(hosts).into_values().flat_map(|all| all.into_iter().take(most));
    let answer = |(number, (from, (at, to), (src, dst))): (u64, Connection)| {
        let option = capable_answer(Key(number));
        (at, packet_in(to.port, ADMIT, &opening(to, from, (dst, src), SYN_ACK, &option)))
    };
    (1..).zip(first).map(answer).collect()
}

/// Connections that are opened and answered, one after the other.
pub(crate) struct Opening {
    all: Vec<(usize, Connection)>,
    begun: u64,
}

impl Opening {
    /// Connections of all hosts, in turns.
    pub(crate) fn of(hosts: &[Placed]) -> Self {
        let by_switch: Vec<_> = connections(hosts).into_iter().collect();
        let turn = |number: usize| by_switch.iter().map(move |(index, all)| (*index, all[number]));
        Self { all: (0..CONNECTIONS).flat_map(turn).collect(), begun: 0 }
    }

    /// What opens the next one, and what answers that, and where.
    pub(crate) fn next(&mut self) -> [(usize, Vec<u8>); 2] {
        let (from_switch, (from, (at, to), (src, dst))) = self.all[self.begun as usize % self.all.len()];
        self.begun += 1;
        let option = capable_answer(Key(self.begun));
        [
            (from_switch, packet_in(from.port, ADMIT, &syn(from, to, (src, dst), &MP_CAPABLE))),
            (at, packet_in(to.port, ADMIT, &opening(to, from, (dst, src), SYN_ACK, &option))),
        ]
    }
}

fn connections(hosts: &[Placed]) -> BTreeMap<usize, Vec<Connection>> {
    let switches: std::collections::BTreeSet<_> = hosts.iter().map(|(index, _)| *index).collect();
    let mut random = fastrand(1);
    let of = |index: usize| {
        let here: Vec<_> = hosts.iter().filter(|(at, _)| *at == index).map(|(_, host)| *host).collect();
        let there: Vec<_> = hosts.iter().filter(|(at, _)| *at != index).copied().collect();
        let connection = |number: usize| {
            let ports = (1_024 + number as u16, 5_201 + (number >> 16) as u16);
            (here[number % here.len()], there[random() % there.len()], ports)
        };
        (0..CONNECTIONS).map(connection).collect()
    };
    let mut of = of;
    switches.into_iter().map(|index| (index, of(index))).collect()
}

/// Numbers that look random (Knuth's MMIX generator).
pub(crate) fn fastrand(seed: u64) -> impl FnMut() -> usize {
    let mut state = seed;
    move || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as usize
    }
}
