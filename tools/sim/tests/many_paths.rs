//! MPTCP over several paths, against what is published of it.

use braid_congestion::Algorithm;
use braid_link_model::{Delay, Parameters, QueueLimit};
use braid_sim::Control;
use braid_sim::engine::{Amount, LinkId, NewConnection, Picos, Simulation, Way};
use braid_types::BitsPerSec;

const PAYLOAD: f64 = 1_428.0 / 1_514.0;
const COUPLED: [Algorithm; 3] = [Algorithm::Lia, Algorithm::Olia, Algorithm::Balia];

fn link(mbit: u64, delay_ms: u64) -> Parameters {
    Parameters {
        rate: Some(BitsPerSec(mbit * 1_000_000)),
        delay: Delay::from_millis(delay_ms),
        queue: QueueLimit::Packets(100),
        ..Parameters::default()
    }
}

struct Network(Simulation);

impl Network {
    fn new(seed: u64) -> Self {
        Self(Simulation::new(Picos::from_micros(10), seed))
    }

    /// A path of one link, and one back that is never full.
    fn path(&mut self, mbit: u64, delay_ms: u64) -> Way {
        let back = Parameters { queue: QueueLimit::Packets(100_000), ..link(10_000, delay_ms) };
        Way { forward: vec![self.0.add_link(&link(mbit, delay_ms))], back: vec![self.0.add_link(&back)] }
    }

    /// Mbit/s of what each connection delivers between two times.
    fn rates(&mut self, connections: &[braid_sim::engine::ConnectionId], from: f64, to: f64) -> Vec<f64> {
        let mut at = |time| {
            self.0.run_until(Picos::from_secs_f64(time));
            connections.iter().map(|id| self.0.delivered(*id)).collect::<Vec<_>>()
        };
        let (before, after) = (at(from), at(to));
        before.iter().zip(after).map(|(before, after)| (after - before) as f64 * 8e-6 / (to - from)).collect()
    }
}

#[test]
fn connection_fills_two_paths_that_it_has_to_itself() {
    for control in Control::ALL {
        let mut network = Network::new(1);
        let ways = vec![network.path(100, 5), network.path(50, 10)];
        let id = network.0.open(&NewConnection::mptcp(ways, Amount::Endless, control));
        let rate = network.rates(&[id], 5.0, 25.0)[0] / (150.0 * PAYLOAD);
        // What waited for a gap may count for the time after it.
        assert!((0.95..=1.001).contains(&rate), "{control}: {rate}");
    }
}

#[test]
fn coupled_subflows_take_at_a_shared_link_what_one_flow_takes() {
    for algorithm in COUPLED {
        let mut network = Network::new(1);
        let shared = network.path(50, 20);
        let mptcp =
            NewConnection::mptcp(vec![shared.clone(); 2], Amount::Endless, Control::Coupled(algorithm));
        let reno = Control::Coupled(Algorithm::Uncoupled);
        let tcp = NewConnection::tcp(shared.forward, shared.back, Amount::Endless, reno);
        let ids = [network.0.open(&mptcp), network.0.open(&tcp)];
        let rates = network.rates(&ids, 50.0, 450.0);
        let ratio = rates[0] / rates[1];
        assert!((0.6..1.5).contains(&ratio), "{algorithm}: {rates:?}");
    }
}

#[test]
fn uncoupled_subflows_take_twice_as_much() {
    let mut network = Network::new(1);
    let shared = network.path(50, 20);
    let reno = Control::Coupled(Algorithm::Uncoupled);
    let mptcp = NewConnection::mptcp(vec![shared.clone(); 2], Amount::Endless, reno);
    let tcp = NewConnection::tcp(shared.forward, shared.back, Amount::Endless, reno);
    let ids = [network.0.open(&mptcp), network.0.open(&tcp)];
    let rates = network.rates(&ids, 50.0, 450.0);
    assert!((1.5..2.8).contains(&(rates[0] / rates[1])), "{rates:?}");
}

/// RFC 6356 §1, figure 1 of Wischik et al. (2011): two paths, one of them shared with ten plain flows.
#[test]
fn coupled_connection_leaves_the_path_that_others_use() {
    for algorithm in COUPLED {
        let mut network = Network::new(1);
        let [own, crowded] = [network.path(50, 10), network.path(50, 10)];
        let ways = vec![own, crowded.clone()];
        let id = network.0.open(&NewConnection::mptcp(ways, Amount::Endless, Control::Coupled(algorithm)));
        for _ in 0..10 {
            let Way { forward, back } = crowded.clone();
            let reno = Control::Coupled(Algorithm::Uncoupled);
            network.0.open(&NewConnection::tcp(forward, back, Amount::Endless, reno));
        }
        let before = |network: &Network| network.0.subflows(id).map(|it| it.acknowledged).collect::<Vec<_>>();
        network.0.run_until(Picos::from_secs_f64(20.0));
        let start = before(&network);
        network.0.run_until(Picos::from_secs_f64(120.0));
        let carried: Vec<_> =
            before(&network).iter().zip(start).map(|(after, before)| after - before).collect();
        let share = carried[1] as f64 / carried.iter().sum::<u64>() as f64;
        // A flow of its own would have 4.5 of 50 + 4.5.
        assert!(share < 0.083, "{algorithm}: {share}");
    }
}

/// What ten plain flows keep of a link to which ten connections have a second path, their first one being as fast: scenario C of
/// Khalili et al. (2012).
///
/// LIA's windows are as the inverse of the losses, and all of a connection together carries what one flow would on its best path.
/// If y is what a plain flow has of its share, and a connection's second path x = 1 - y, then 1/x = ((1 + x)/(1 - x))²: x = 0.30.
/// Without x at all, y would be 1.
#[test]
fn plain_flows_keep_what_theory_says_beside_connections_with_a_second_path() {
    let kept = |control: Control| {
        let mut network = Network::new(1);
        let link = |network: &mut Network| {
            let one = Parameters { queue: QueueLimit::Packets(60), ..link(10, 40) };
            let back = Parameters { queue: QueueLimit::Packets(100_000), ..link(10_000, 40) };
            Way { forward: vec![network.0.add_link(&one)], back: vec![network.0.add_link(&back)] }
        };
        let [own, shared] = [link(&mut network), link(&mut network)];
        let mut plain = Vec::new();
        for turn in 1..=10 {
            let ways = vec![own.clone(), shared.clone()];
            network.0.open(&NewConnection::mptcp(ways, Amount::Endless, control));
            let Way { forward, back } = shared.clone();
            let reno = Control::Coupled(Algorithm::Uncoupled);
            plain.push(network.0.open(&NewConnection::tcp(forward, back, Amount::Endless, reno)));
            network.0.run_until(Picos::from_millis(turn * 130));
        }
        network.rates(&plain, 50.0, 650.0).iter().sum::<f64>() / (10.0 * 1_448.0 / 1_514.0)
    };
    let [lia, olia, balia] = COUPLED.map(|algorithm| kept(Control::Coupled(algorithm)));
    assert!((0.6..0.8).contains(&lia), "LIA {lia}, OLIA {olia}, BALIA {balia}");
    assert!(olia > lia + 0.05 && balia > lia, "LIA {lia}, OLIA {olia}, BALIA {balia}");
}

#[test]
fn transfer_goes_on_over_the_other_path_when_one_dies() {
    let mut network = Network::new(1);
    let ways = vec![network.path(100, 5), network.path(100, 5)];
    let dies: Vec<LinkId> = ways.iter().take(1).flat_map(|way| [way.forward[0], way.back[0]]).collect();
    let new = NewConnection::mptcp(ways, Amount::Bytes(100_000_000), Control::Coupled(Algorithm::Lia));
    let id = network.0.open(&new);
    network.0.run_until(Picos::from_secs_f64(2.0));
    dies.into_iter().for_each(|link| network.0.cut(link));
    let before = network.0.delivered(id);
    network.0.run_until(Picos::from_secs_f64(4.0));
    let rate = (network.0.delivered(id) - before) as f64 * 8e-6 / 2.0 / (100.0 * PAYLOAD);
    assert!((0.8..1.6).contains(&rate), "{rate}");
    network.0.run_until(Picos::from_secs_f64(12.0));
    assert_eq!(network.0.delivered(id), 100_000_000);
}

#[test]
fn small_buffer_holds_the_fast_path_back_for_the_slow_one() {
    let rate = |buffer| {
        let mut network = Network::new(1);
        let ways = vec![network.path(100, 1), network.path(5, 100)];
        let new = NewConnection::mptcp(ways, Amount::Endless, Control::Coupled(Algorithm::Lia));
        let id = network.0.open(&NewConnection { buffer, ..new });
        network.rates(&[id], 5.0, 25.0)[0]
    };
    let (small, large) = (rate(400_000), rate(16_000_000));
    assert!(large > 85.0 && small < 0.7 * large, "{small} {large}");
}

#[test]
fn joins_wait_for_the_first_subflow_and_for_the_controller() {
    let mut network = Network::new(1);
    let ways = vec![network.path(100, 10), network.path(100, 10)];
    let new = NewConnection::mptcp(ways, Amount::Endless, Control::Coupled(Algorithm::Lia));
    let id = network.0.open(&NewConnection { set_up: Picos::from_millis(7), ..new });
    // 7 ms, a round trip, 7 ms, a round trip; then data is acknowledged after another one.
    for (millis, alive) in [(26, 0), (28, 1), (53, 1), (55, 2)] {
        network.0.run_until(Picos::from_millis(millis));
        let measured = network.0.subflows(id).filter(|it| it.srtt > Picos::ZERO).count();
        assert_eq!(measured, alive, "after {millis} ms");
    }
}
