//! MPTCP as Linux schedules it, against what Linux 6.18 does in the lab.

use std::time::Duration;

use braid_congestion::Algorithm;
use braid_link_model::{Delay, Parameters, QueueLimit};
use braid_sim::Control;
use braid_sim::engine::{Amount, ConnectionId, LinkId, NewConnection, Picos, Scheduler, Simulation, Way};
use braid_sim::network::{LinkDefaults, Network};
use braid_sim::testbed::{Schedule, Testbed, Transfer};
use braid_sim::traffic::Pattern;
use braid_topology::generate::{Links, Spec};
use braid_types::{BitsPerSec, SplitMix64};

const PAYLOAD: f64 = 1_428.0 / 1_514.0;
const RENO: Control = Control::Coupled(Algorithm::Uncoupled);

/// Two paths of so many Mbit/s and milliseconds, and back.
fn two_paths(simulation: &mut Simulation, paths: [(u64, u64); 2]) -> Vec<Way> {
    let mut link = |mbit: u64, delay_ms| -> Vec<LinkId> {
        let rate = Some(BitsPerSec(mbit * 1_000_000));
        let (delay, queue) = (Delay::from_millis(delay_ms), QueueLimit::Packets(100));
        vec![simulation.add_link(&Parameters { rate, delay, queue, ..Parameters::default() })]
    };
    let ways = paths.map(|(mbit, delay)| Way { forward: link(mbit, delay), back: link(1_000, delay) });
    ways.into()
}

fn open(simulation: &mut Simulation, ways: Vec<Way>, amount: Amount) -> ConnectionId {
    let new = NewConnection::mptcp(ways, amount, RENO);
    simulation.open(&NewConnection { scheduler: Scheduler::Linux, ..new })
}

#[test]
fn connection_fills_two_paths_that_it_has_to_itself() {
    for paths in [[(100, 5), (100, 5)], [(100, 5), (50, 10)]] {
        let mut simulation = Simulation::new(Picos::from_micros(10), 1);
        let ways = two_paths(&mut simulation, paths);
        let id = open(&mut simulation, ways, Amount::Endless);
        simulation.run_until(Picos::from_secs_f64(5.0));
        let before = simulation.delivered(id);
        simulation.run_until(Picos::from_secs_f64(25.0));
        let all: u64 = paths.iter().map(|(mbit, _)| mbit).sum();
        let share = (simulation.delivered(id) - before) as f64 * 8e-6 / 20.0 / (all as f64 * PAYLOAD);
        assert!((0.9..=1.01).contains(&share), "{paths:?}: {share}");
    }
}

/// A subflow is left when it was silent for five time-outs of the connection (`net.mptcp.stale_loss_cnt`); until then a piece goes
/// out again at each.
#[test]
fn every_byte_arrives_when_a_path_dies_and_not_at_once() {
    let mut simulation = Simulation::new(Picos::from_micros(10), 1);
    let ways = two_paths(&mut simulation, [(100, 5), (100, 5)]);
    let dead = [ways[0].forward[0], ways[0].back[0]];
    let id = open(&mut simulation, ways, Amount::Bytes(100_000_000));
    simulation.run_until(Picos::from_secs_f64(2.0));
    dead.into_iter().for_each(|link| simulation.cut(link));
    simulation.run_until(Picos::from_secs_f64(2.2));
    let before = simulation.delivered(id);
    simulation.run_until(Picos::from_secs_f64(2.6));
    // The other path would carry 5 MB in that time.
    assert!(simulation.delivered(id) - before < 1_000_000);
    simulation.run_until(Picos::from_secs_f64(20.0));
    assert_eq!(simulation.delivered(id), 100_000_000);
}

#[test]
fn subflow_that_is_closed_loses_nothing() {
    let mut simulation = Simulation::new(Picos::from_micros(10), 1);
    let ways = two_paths(&mut simulation, [(50, 5), (50, 20)]);
    let id = open(&mut simulation, ways, Amount::Bytes(20_000_000));
    simulation.run_until(Picos::from_secs_f64(1.0));
    simulation.close(id, 1);
    simulation.run_until(Picos::from_secs_f64(8.0));
    assert_eq!(simulation.delivered(id), 20_000_000);
}

/// In the lab (`scenarios/fattree4-pt.yaml` with links of 4 Mbit/s, 100 kB, and packets of 1,500 bytes) four subflows on all paths between
/// pods carry 87.4 % of the links.
#[test]
fn fat_tree_carries_what_it_does_in_the_lab() {
    let (rate, delay) = (BitsPerSec(4_000_000), Duration::from_micros(50));
    let spec: Spec = "fattree:4".parse().unwrap();
    let blueprint = spec.generate(Links { capacity: rate, delay: Some(delay) }).unwrap();
    let defaults = LinkDefaults { queue: QueueLimit::Bytes(100_000), delay, hold_senders: true };
    let testbed = Testbed::new(Network::new(&blueprint, &defaults).unwrap());
    let schedule = Schedule {
        scheme: "shortest:8/least-loaded".parse().unwrap(),
        set_up: Duration::from_millis(1),
        warm_up: Duration::from_secs(5),
        measured: Duration::from_secs(15),
        bytes: 0,
    };
    let transfer = |(from, to)| Transfer {
        from,
        to,
        subflows: vec![[0, 0]; 4],
        advice: None,
        path: None,
        spray: None,
        control: RENO,
        buffer: NewConnection::BUFFER,
        mtu: NewConnection::MTU,
    };
    let pairs = Pattern::Permutation.pairs(16, &mut SplitMix64::new(1));
    let transfers: Vec<_> = pairs.into_iter().map(transfer).collect();
    let share = testbed.goodputs(&transfers, &schedule, 1).iter().sum::<f64>() / 64e6;
    assert!((0.93..=1.07).contains(&(share / 0.874)), "{share}");
}
