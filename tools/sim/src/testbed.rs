//! Testbeds in the simulator: a given network, and connections between given interfaces.

use std::time::Duration;

use braid_link_model::Parameters;
use braid_paths::Path;
use braid_spray::{PathWeight, Policy, Settings};
use braid_types::{SplitMix64, Time};

use crate::Control;
use crate::engine::{
    Amount, ConnectionId, LinkId, NewConnection, Picos, Scheduler, Simulation, Sprayed, Way,
};
use crate::network::{Network, Plug};
use crate::steering::{Moved, Placed, Scheme, Steering};

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
    /// Whether an agent opens the subflows: only those that share no link between switches with the ones before.
    pub advised: bool,
    /// The path of all of them, if it is not the scheme that chooses.
    pub path: Option<Path>,
    /// How edges spread it, if they do.
    pub spread: Option<Spread>,
    /// How windows change.
    pub control: Control,
    /// What the receiver has room for, in bytes.
    pub buffer: u64,
    /// The longest packet, in bytes.
    pub mtu: u16,
}

/// A connection that goes on, and which of the ways that were found for it its subflows take.
struct Opened {
    id: ConnectionId,
    kept: Vec<usize>,
}

/// How edges spread a plain connection over several paths, both ways alike.
#[derive(Clone, PartialEq, Debug)]
pub struct Spread {
    /// Paths from the sender's edge to the receiver's, two at least, and what the scheduler knows of each.
    pub paths: Vec<(Path, PathWeight)>,
    /// How packets are put in order, if they are.
    pub order: Option<Settings>,
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

    /// What connections that begin together deliver, each in bits a second; 0 where no path leads.
    ///
    /// If they have an amount to carry, that is divided as they are able to, and counts from the first packet.
    pub fn goodputs(&self, transfers: &[Transfer], schedule: &Schedule, seed: u64) -> Vec<f64> {
        let mut random = SplitMix64::new(seed);
        let mut simulation = self.network.simulation(random.next_u64());
        let mut steering = Steering::new(schedule.scheme, &self.network, random.fork());
        let mut opened: Vec<Option<Opened>> = Vec::new();
        for transfer in transfers {
            let (kept, ways, moves) = self.ways(transfer, &mut steering);
            let new = NewConnection::mptcp(ways, Amount::Endless, transfer.control);
            let Transfer { buffer, mtu, .. } = *transfer;
            let set_up = schedule.set_up.into();
            let new = NewConnection { set_up, buffer, mtu, scheduler: Scheduler::Linux, ..new };
            let id = (!new.ways.is_empty()).then(|| simulation.open(&new));
            if let Some((id, [there, back])) = id.zip(self.sprayed(transfer)) {
                simulation.spray(id, [&there, &back]);
            }
            opened.push(id.map(|id| Opened { id, kept }));
            moves.into_iter().for_each(|it| reroute(&mut simulation, &opened, &it));
        }
        let delivered = |simulation: &Simulation| -> Vec<u64> {
            opened.iter().map(|it| it.as_ref().map_or(0, |it| simulation.delivered(it.id))).collect()
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

    /// The ways of a connection that edges spread.
    fn sprayed(&self, transfer: &Transfer) -> Option<[Sprayed; 2]> {
        let spread = transfer.spread.as_ref()?;
        let [own, other] = *transfer.subflows.first()?;
        let plug = |host: usize, interface: usize| self.network.hosts().get(host)?.get(interface).copied();
        let ends = [plug(transfer.from, own)?, plug(transfer.to, other)?];
        let ways = spread.paths.iter().map(|(path, weight)| Some((self.network.way(&ends, path)?, *weight)));
        let ways: Vec<_> = ways.collect::<Option<_>>()?;
        let join = |[from, to]: [Plug; 2], links: fn(&Way) -> &Vec<LinkId>| {
            let between = |way: &Way| links(way).get(1..links(way).len() - 1).unwrap_or_default().to_vec();
            let paths = ways.iter().map(|(way, weight)| (between(way), *weight)).collect();
            let (before, after) = (vec![from.up], vec![to.down]);
            Sprayed { before, paths, after, policy: Policy::default(), order: spread.order }
        };
        let [from, to] = ends;
        Some([join([from, to], |way| &way.forward), join([to, from], |way| &way.back)])
    }

    /// The ways of a connection's subflows with their places among those that were found, and what moves for them.
    fn ways(&self, transfer: &Transfer, steering: &mut Steering) -> (Vec<usize>, Vec<Way>, Vec<Moved>) {
        let [from, to] = [transfer.from, transfer.to].map(|host| self.network.hosts().get(host));
        let plug = |[own, other]: &[usize; 2]| Some([*from?.get(*own)?, *to?.get(*other)?]);
        let pairs: Vec<_> = transfer.subflows.iter().filter_map(plug).collect();
        if let Some(path) = &transfer.path {
            let ways: Vec<_> = pairs.iter().filter_map(|ends| self.network.way(ends, path)).collect();
            return ((0..ways.len()).collect(), ways, Vec::new());
        }
        let Placed { ways, moves } = steering.place_on(Time::ZERO, &self.network, &pairs);
        let found = ways.into_iter().enumerate();
        let (kept, ways) = if transfer.advised { apart(found).unzip() } else { found.unzip() };
        (kept, ways, moves)
    }
}

/// The first, and those that share no link between switches with the ones before.
fn apart(ways: impl Iterator<Item = (usize, Way)>) -> impl Iterator<Item = (usize, Way)> {
    let mut used: Vec<LinkId> = Vec::new();
    ways.filter(move |(place, way)| {
        let between = way.forward.get(1..way.forward.len() - 1).unwrap_or_default();
        let is_apart = !between.is_empty() && !between.iter().any(|link| used.contains(link));
        let stays = *place == 0 || is_apart;
        used.extend(between.iter().filter(|_| stays));
        stays
    })
}

/// Leads a subflow elsewhere, if it was opened.
fn reroute(simulation: &mut Simulation, opened: &[Option<Opened>], moved: &Moved) {
    let Some(it) = opened.get(moved.transfer).and_then(Option::as_ref) else { return };
    if let Some(subflow) = it.kept.iter().position(|place| *place == moved.subflow) {
        simulation.reroute(it.id, subflow, &moved.way);
    }
}
