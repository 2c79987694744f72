//! Switches with hosts only: the first packet to each address costs a rule and a packet.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use braid_types::{MacAddr, PortNo};

use crate::fat_tree::fastrand;
use crate::process::Process;
use crate::report;
use braid_load::packets::{ADMIT, Host, ROUTE, announcement, ipv6, packet_in, segment, syn};
use braid_load::{Layout, Load, Network, Outcome, Requests};

const PORTS: usize = 16;
const HOSTS: usize = 4_096;
/// Of each host; when it takes new ones, the controller forgets the old ones.
pub(crate) const ADDRESSES: usize = 16;
const WINDOW: usize = 64;

pub(crate) fn run(switches: usize, laps: u64) {
    println!("{switches} single switches, {HOSTS} hosts, {ADDRESSES} addresses each");
    let base = {
        let responder = Process::start("responder");
        let mut network = connect(&responder, switches);
        let busy = responder.time_on_core();
        let outcome = run_laps(&mut network, switches, laps, |_, _| {});
        report::rate("responder that does nothing", &outcome, 1, responder.time_on_core() - busy);
        let mut requests = lap(switches, 0).remove(&0).expect("the first switch");
        report::latency(
            "responder that does nothing",
            network.time(0, &mut requests, (20_000, 1), 0).expect("a controller that answers"),
        );
        outcome
    };
    let controller = Process::start("controller");
    let mut network = connect(&controller, switches);
    network
        .serve_until(|network| network.switches.iter().all(|switch| switch.is_up))
        .expect("a controller that answers");
    // Until ports without a switch behind them are taken for hosts'.
    let start = Instant::now();
    network.serve_until(|_| start.elapsed() > Duration::from_secs(5)).expect("a controller that answers");
    let busy = controller.time_on_core();
    let mut between = Duration::ZERO;
    let outcome = run_laps(&mut network, switches, laps, |network, lap| {
        let busy = controller.time_on_core();
        announce(network, switches, lap);
        between += controller.time_on_core() - busy;
    });
    report::rate("a rule and a packet", &outcome, 1, controller.time_on_core() - busy - between);
    report::ratio(&outcome, &base);
    report::memory(controller.memory(), controller.memory());
    latency(&mut network, switches, laps);
    syns(&mut network, &controller, switches, laps);
}

/// With one request under way.
fn latency(network: &mut Network, switches: usize, laps: u64) {
    let mut times = Vec::new();
    for number in laps..laps + 5 {
        announce(network, switches, number);
        let mut requests = lap(switches, number).remove(&0).expect("the first switch");
        times.extend(
            network
                .time(0, &mut requests, (HOSTS * ADDRESSES / switches, 1), 0)
                .expect("a controller that answers"),
        );
    }
    report::latency("a rule and a packet", times);
}

/// Connections to addresses whose routes are there: a packet each.
fn syns(network: &mut Network, controller: &Process, switches: usize, laps: u64) {
    let hosts: Vec<Vec<Host>> = (0..switches).map(|index| addresses(switches, index, laps + 4)).collect();
    let of = |index: usize| {
        let hosts = &hosts[index];
        let message = |number: usize| {
            let (from, to) = (hosts[number % hosts.len()], hosts[(number + ADDRESSES) % hosts.len()]);
            packet_in(from.port, ADMIT, &syn(from, to, (1_024 + number as u16, 5_201), &[]))
        };
        Requests::new(&(0..10_000).map(message).collect::<Vec<_>>())
    };
    let mut requests: BTreeMap<_, _> = (0..switches).map(|index| (index, of(index))).collect();
    let load =
        Load { window: WINDOW, time: Duration::from_secs(2), most: usize::MAX, streams: 0, rate: None };
    network.load(&mut requests, load).expect("a controller that answers");
    let busy = controller.time_on_core();
    let outcome = network.load(&mut requests, load).expect("a controller that answers");
    report::rate("SYN of plain TCP, a packet", &outcome, 0, controller.time_on_core() - busy);
}

fn connect(to: &Process, switches: usize) -> Network {
    let ports: Vec<_> = (1..).map(PortNo).take(PORTS).collect();
    Network::connect(to.target(), &Layout::single(switches, &ports)).expect("a controller that answers")
}

/// Each address is sent to once a lap; before a lap, `prepare` is called.
fn run_laps(
    network: &mut Network,
    switches: usize,
    laps: u64,
    mut prepare: impl FnMut(&mut Network, u64),
) -> Outcome {
    let mut sum = Outcome::default();
    for number in 0..laps {
        prepare(network, number);
        let most = HOSTS * ADDRESSES / switches;
        let load = Load { window: WINDOW, time: Duration::from_secs(60), most, streams: 0, rate: None };
        let outcome = network.load(&mut lap(switches, number), load).expect("a controller that answers");
        sum.sent += outcome.sent;
        sum.packets += outcome.packets;
        sum.rules += outcome.rules;
        sum.took += outcome.took;
    }
    sum
}

/// Packets to every address of a lap, in no order.
fn lap(switches: usize, number: u64) -> BTreeMap<usize, Requests> {
    let of = |index: usize| {
        let all = addresses(switches, index, number);
        let mut order: Vec<_> = (0..all.len()).collect();
        let mut random = fastrand(number);
        (1..order.len()).rev().for_each(|last| order.swap(last, random() % (last + 1)));
        let message = |to: usize| {
            // From another host, by its first address.
            let host = to / ADDRESSES;
            let from = (host + 1 + random() % (all.len() / ADDRESSES - 1)) * ADDRESSES % all.len();
            packet_in(all[from].port, ROUTE, &segment(all[from], all[to]))
        };
        Requests::new(&order.into_iter().map(message).collect::<Vec<_>>())
    };
    let mut requests = BTreeMap::new();
    for index in 0..switches {
        requests.insert(index, {
            let of = &of;
            of(index)
        });
    }
    requests
}

/// The addresses at one switch, host by host.
fn addresses(switches: usize, index: usize, lap: u64) -> Vec<Host> {
    let hosts = HOSTS / switches;
    let host = |number: usize| {
        let global = index * hosts + number / ADDRESSES;
        let mac = MacAddr::from_u64(0x00aa_0000_0000 | global as u64);
        let ip = ipv6(lap << 32 | (global * ADDRESSES + number % ADDRESSES) as u64);
        Host { mac, ip, port: PortNo((number / ADDRESSES % PORTS) as u32 + 1) }
    };
    (0..hosts * ADDRESSES).map(host).collect()
}

fn announce(network: &mut Network, switches: usize, lap: u64) {
    for index in 0..switches {
        let all = addresses(switches, index, lap);
        let neighbour = |number: usize| all[(number + ADDRESSES) % all.len()];
        let tell = |(number, host): (usize, &Host)| {
            (index, packet_in(host.port, ADMIT, &announcement(*host, neighbour(number))))
        };
        network.tell(all.iter().enumerate().map(tell)).expect("a controller that answers");
    }
}
