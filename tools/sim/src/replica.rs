//! Testbeds in the simulator: a given network, and connections between given interfaces.

use std::time::Duration;

use braid_link_model::Parameters;
use braid_types::Time;

use crate::Control;
use crate::engine::{Amount, ConnectionId, LinkId, NewConnection, Picos, Random};
use crate::network::Network;
use crate::steering::{Placed, Scheme, Steering};

/// A network with links as they are in a testbed.
#[derive(Clone, Debug)]
pub struct Replica {
    network: Network,
}

/// A connection of a testbed.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Transfer {
    /// The sender, by its place among the hosts.
    pub from: usize,
    /// The receiver.
    pub to: usize,
    /// The interfaces of both that each subflow uses, the first subflow's first.
    pub subflows: Vec<[usize; 2]>,
    /// How windows change.
    pub control: Control,
}

/// What is done with them.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Schedule {
    /// The paths of subflows.
    pub scheme: Scheme,
    /// What the controller takes for a subflow's first packet.
    pub set_up: Duration,
    /// What is not counted at the start.
    pub warm_up: Duration,
    /// What is counted.
    pub measured: Duration,
}

impl Replica {
    /// Of a network that is laid out.
    pub const fn new(network: Network) -> Self {
        Self { network }
    }

    /// The network.
    pub const fn network(&self) -> &Network {
        &self.network
    }

    /// Makes a link what it is in the testbed.
    pub fn set_link(&mut self, link: LinkId, parameters: Parameters) {
        self.network.set_link(link, parameters);
    }

    /// What connections that begin together deliver, each in bits a second; 0 where no path leads.
    pub fn goodputs(&self, transfers: &[Transfer], schedule: &Schedule, seed: u64) -> Vec<f64> {
        let mut random = Random::new(seed);
        let mut simulation = self.network.simulation(random.bits());
        let mut steering = Steering::new(schedule.scheme, &self.network, random.fork());
        let mut open = |transfer: &Transfer| -> Option<ConnectionId> {
            let [from, to] = [transfer.from, transfer.to].map(|host| self.network.hosts().get(host));
            let plug = |[own, other]: &[usize; 2]| Some([*from?.get(*own)?, *to?.get(*other)?]);
            let pairs: Vec<_> = transfer.subflows.iter().filter_map(plug).collect();
            // What moves do for load is not what testbeds of few transfers show.
            let Placed { ways, .. } = steering.place_on(Time::ZERO, &self.network, &pairs);
            let new = NewConnection::mptcp(ways, Amount::Endless, transfer.control);
            let new = NewConnection { set_up: schedule.set_up.into(), ..new };
            (!new.ways.is_empty()).then(|| simulation.open(&new))
        };
        let opened: Vec<_> = transfers.iter().map(&mut open).collect();
        let mut delivered = |until: Duration| -> Vec<u64> {
            simulation.run_until(Picos::from(until));
            opened.iter().map(|id| id.map_or(0, |id| simulation.delivered(id))).collect()
        };
        let before = delivered(schedule.warm_up);
        let after = delivered(schedule.warm_up + schedule.measured);
        let seconds = schedule.measured.as_secs_f64();
        after.iter().zip(before).map(|(after, before)| (after - before) as f64 * 8.0 / seconds).collect()
    }
}
