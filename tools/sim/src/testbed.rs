//! Testbeds in the simulator: a given network, and connections between given interfaces.

use std::time::Duration;

use braid_link_model::Parameters;
use braid_paths::Path;
use braid_planner::{SprayPlan, burst};
use braid_spray::Policy;
use braid_steering::Resequence;
use braid_types::{SplitMix64, Time};

use crate::Control;
use crate::engine::{
    Amount, ConnectionId, LinkId, NewConnection, Picos, Scheduler, Simulation, Sprayed, Way,
};
use crate::network::{Network, Plug};
use crate::steering::{Advised, Moved, Placed, Scheme, Steering};

/// How often it is looked whether an amount has been carried.
const STEP: Picos = Picos::from_millis(10);

/// A network with links as they are in a testbed.
#[derive(Clone, Debug)]
pub struct Testbed {
    network: Network,
}

/// A connection of a testbed.
#[derive(Clone, PartialEq, Debug)]
pub struct Transfer {
    /// The sender, by its place among the hosts.
    pub from: usize,
    /// The receiver.
    pub to: usize,
    /// The interfaces of both that each subflow uses, the first subflow's first.
    pub subflows: Vec<[usize; 2]>,
    /// What a host asks the controller that opens its subflows by advice. Then the first of `subflows` counts alone.
    pub advice: Option<Advised>,
    /// The path of all of them, if it is not the scheme that chooses.
    pub path: Option<Path>,
    /// How edges spray it, if they do.
    pub spray: Option<SprayPlans>,
    /// How windows change.
    pub control: Control,
    /// What the receiver has room for, in bytes.
    pub buffer: u64,
    /// The longest packet, in bytes.
    pub mtu: u16,
}

/// How edges spray a plain connection, in each direction.
#[derive(Clone, PartialEq, Debug)]
pub struct SprayPlans {
    /// Paths from the sender's edge to the receiver's.
    pub forward: SprayPlan,
    /// Paths from there back.
    pub reverse: SprayPlan,
    /// When packets are resequenced.
    pub resequence: Resequence,
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
    /// What is counted, at most.
    pub measured: Duration,
    /// How many bytes all connections together have to carry; 0: what they can in their time.
    pub bytes: u64,
}

impl Testbed {
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

    /// Makes hosts wait for a link that they send on, as for one that is emulated in them.
    pub fn hold_senders(&mut self, link: LinkId) {
        self.network.hold_senders(link);
    }

    /// The ways of the subflows of connections that begin together, as they are at the end; none where no path leads.
    pub fn ways_of(&self, transfers: &[Transfer], scheme: Scheme, seed: u64) -> Vec<Vec<Way>> {
        let mut steering = Steering::new(scheme, &self.network, SplitMix64::new(seed));
        let mut all: Vec<Vec<Way>> = Vec::new();
        for transfer in transfers {
            let Placed { ways, moves } = self.ways(transfer, &mut steering);
            all.push(ways);
            for Moved { transfer, subflow, way } in moves {
                let moved = all.get_mut(transfer).and_then(|ways| ways.get_mut(subflow));
                moved.into_iter().for_each(|known| *known = way.clone());
            }
        }
        all
    }

    /// What connections that begin together deliver, each in bits a second; 0 where no path leads.
    ///
    /// If they have an amount to carry, that is divided as they are able to, and counts from the first packet.
    pub fn goodputs(&self, transfers: &[Transfer], schedule: &Schedule, seed: u64) -> Vec<f64> {
        let mut random = SplitMix64::new(seed);
        let mut simulation = self.network.simulation(random.next_u64());
        let mut steering = Steering::new(schedule.scheme, &self.network, random.fork());
        let mut opened: Vec<Option<ConnectionId>> = Vec::new();
        for transfer in transfers {
            let Placed { ways, moves } = self.ways(transfer, &mut steering);
            let new = NewConnection::mptcp(ways, Amount::Endless, transfer.control);
            let Transfer { buffer, mtu, .. } = *transfer;
            let set_up = schedule.set_up.into();
            let new = NewConnection { set_up, buffer, mtu, scheduler: Scheduler::Linux, ..new };
            let id = (!new.ways.is_empty()).then(|| simulation.open(&new));
            if let Some((id, [there, back])) = id.zip(self.sprayed(transfer)) {
                simulation.spray(id, [&there, &back]);
            }
            opened.push(id);
            moves.into_iter().for_each(|it| reroute(&mut simulation, &opened, &it));
        }
        let delivered = |simulation: &Simulation| -> Vec<u64> {
            opened.iter().map(|id| id.map_or(0, |id| simulation.delivered(id))).collect()
        };
        simulation.run_until(Picos::from(schedule.warm_up));
        let (before, begun) = (delivered(&simulation), simulation.now());
        let end = begun + Picos::from(schedule.measured);
        while simulation.now() < end {
            simulation.run_until(end.min(simulation.now() + STEP));
            if schedule.bytes > 0 && delivered(&simulation).iter().sum::<u64>() >= schedule.bytes {
                break;
            }
        }
        let seconds = (simulation.now() - begun).as_secs_f64();
        let after = delivered(&simulation);
        after.iter().zip(before).map(|(after, before)| (after - before) as f64 * 8.0 / seconds).collect()
    }

    /// Both directions of a connection that edges spray.
    fn sprayed(&self, transfer: &Transfer) -> Option<[Sprayed; 2]> {
        let SprayPlans { forward, reverse, resequence } = transfer.spray.as_ref()?;
        let [from, to] = self.plugs(transfer, transfer.subflows.first()?)?;
        Some([
            self.one_way([from, to], forward, *resequence)?,
            self.one_way([to, from], reverse, *resequence)?,
        ])
    }

    fn one_way(&self, [from, to]: [Plug; 2], plan: &SprayPlan, resequence: Resequence) -> Option<Sprayed> {
        let paths = plan.members.iter().map(|member| {
            let Way { forward, .. } = self.network.way(&[from, to], &member.path)?;
            Some((forward.get(1..forward.len().saturating_sub(1))?.to_vec(), member.weight()))
        });
        Some(Sprayed {
            before: vec![from.up],
            paths: paths.collect::<Option<_>>()?,
            after: vec![to.down],
            policy: Policy::Weighted { burst: burst(plan.total()) },
            resequencing: plan.resequencing(resequence),
        })
    }

    /// The ways of a connection's subflows, and what moves for them.
    fn ways(&self, transfer: &Transfer, steering: &mut Steering) -> Placed {
        let pairs: Vec<_> = transfer.subflows.iter().filter_map(|it| self.plugs(transfer, it)).collect();
        if let Some(path) = &transfer.path {
            let ways = pairs.iter().filter_map(|ends| self.network.way(ends, path)).collect();
            return Placed { ways, moves: Vec::new() };
        }
        match (&transfer.advice, pairs.first()) {
            (Some(advice), Some(first)) => {
                let pairs = advice.pairs.iter();
                let pairs = pairs.filter_map(|it| Some((it.ends, self.plugs(transfer, &it.interfaces)?)));
                let pairs: Vec<_> = pairs.collect();
                steering.place_advised(&self.network, *first, advice, &pairs)
            }
            _ => steering.place_on(Time::ZERO, &self.network, &pairs),
        }
    }

    fn plugs(&self, transfer: &Transfer, [own, other]: &[usize; 2]) -> Option<[Plug; 2]> {
        let plug = |host: usize, interface: usize| self.network.hosts().get(host)?.get(interface).copied();
        Some([plug(transfer.from, *own)?, plug(transfer.to, *other)?])
    }
}

/// Leads a subflow elsewhere, if it was opened.
fn reroute(simulation: &mut Simulation, opened: &[Option<ConnectionId>], moved: &Moved) {
    if let Some(id) = opened.get(moved.transfer).copied().flatten() {
        simulation.reroute(id, moved.subflow, &moved.way);
    }
}
