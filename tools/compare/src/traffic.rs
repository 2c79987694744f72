//! Traffic of a scenario as simulated connections, for every variant, mode and direction.

use std::collections::BTreeSet;
use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

use braid_assign::Distribution;
use braid_lab::Scenario;
use braid_lab::scenario::{
    AddressPair, Agents, Direction, Host, Mode, PathManager, Tool, Traffic, Variant, Work,
};
use braid_paths::{Kind, Path};
use braid_planner::EffectivePolicy;
use braid_sim::Control;
use braid_sim::engine::NewConnection;
use braid_sim::steering::{Advised, AdvisedPair, Chooser, Scheme, Ties};
use braid_sim::testbed::{Schedule, Testbed, Transfer};
use braid_steering::{AdviceRequest, Policy, SubflowEnds};
use braid_topology::Graph;
use braid_types::{FiveTuple, SwitchPair};

use crate::plan::{Assigning, assigned_paths, distribute, spray};
use crate::{CompareError, ControllerSettings, Refused, Row, lay_out};

/// The controller's delay of the first packet of a subflow.
const SET_UP: Duration = Duration::from_millis(1);
/// Ports have no effect here.
const PORTS: [u16; 2] = [40_000, 5_201];

/// The results of a scenario, and the variants that were not simulated.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Simulated {
    /// A row for each variant, mode, number of connections and direction.
    pub rows: Vec<Row>,
    /// Variants that are skipped.
    pub refused: Vec<Refused>,
}

/// Simulates every setting of the scenario.
///
/// # Errors
///
/// [`CompareError`] if nothing of the scenario can be simulated.
pub fn simulate(scenario: &Scenario) -> Result<Simulated, CompareError> {
    let mut simulated = Simulated::default();
    if scenario.variants.is_empty() {
        simulated.add(scenario, None)?;
    }
    for variant in &scenario.variants {
        simulated.add(&scenario.with_variant(variant), Some(variant))?;
    }
    match simulated.rows.is_empty() {
        true => Err(CompareError::AllRefused(simulated.refused)),
        false => Ok(simulated),
    }
}

/// The simulator's input for the connections of a direction.
#[derive(Clone, Debug)]
pub struct Planned {
    /// Their network.
    pub testbed: Testbed,
    /// The controller's view of the network.
    pub graph: Arc<Graph>,
    /// The placement of subflows without a path.
    pub scheme: Scheme,
    /// The connections.
    pub transfers: Vec<Transfer>,
}

/// The simulator's input for so many connections in a direction, in a variant of the scenario.
///
/// # Errors
///
/// [`CompareError`] if they cannot be simulated.
pub fn planned(
    scenario: &Scenario,
    variant: &Variant,
    direction: &Direction,
    mode: Mode,
    streams: usize,
) -> Result<Planned, CompareError> {
    let scenario = scenario.with_variant(variant);
    let refused = |it: Refused| CompareError::AllRefused(vec![it.of(Some(&variant.name))]);
    let settings = ControllerSettings::of(variant).map_err(refused)?;
    let setting = Setting::new(&scenario, Some(variant), settings)?;
    setting.check().map_err(refused)?;
    let transfers = setting.connections(Connections { direction, mode, streams })?;
    let scheme = setting.scheme(direction, mode);
    Ok(Planned { testbed: setting.testbed, graph: setting.graph, scheme, transfers })
}

impl Simulated {
    fn add(&mut self, scenario: &Scenario, variant: Option<&Variant>) -> Result<(), CompareError> {
        let name = variant.map(|variant| variant.name.as_str());
        let setting = ControllerSettings::of(variant.unwrap_or(&Variant::default()));
        let setting = match setting {
            Ok(settings) => Setting::new(scenario, variant, settings)?,
            Err(refused) => return self.refuse(refused.of(name)),
        };
        match setting.check() {
            Ok(()) => self.rows.extend(setting.simulate()?),
            Err(refused) => return self.refuse(refused.of(name)),
        }
        Ok(())
    }

    fn refuse(&mut self, refused: Refused) -> Result<(), CompareError> {
        self.refused.push(refused);
        Ok(())
    }
}

/// A scenario with the settings of one variant.
struct Setting<'a> {
    scenario: &'a Scenario,
    traffic: &'a Traffic,
    bytes: u64,
    variant: Option<&'a Variant>,
    settings: ControllerSettings,
    testbed: Testbed,
    /// The controller's view of the network.
    graph: Arc<Graph>,
}

/// The connections of a transfer.
#[derive(Clone, Copy)]
struct Connections<'a> {
    direction: &'a Direction,
    mode: Mode,
    streams: usize,
}

impl<'a> Setting<'a> {
    fn new(
        scenario: &'a Scenario,
        variant: Option<&'a Variant>,
        settings: ControllerSettings,
    ) -> Result<Self, CompareError> {
        let traffic = scenario.traffic.as_ref().ok_or(CompareError::NoTraffic)?;
        let [Work { tool: Tool::Iperf3 | Tool::Gridftp, bytes }] = traffic.works[..] else {
            return Err(CompareError::Tool);
        };
        if traffic.is_mixed() {
            return Err(CompareError::Differ);
        }
        if !scenario.topology.tunnels.is_empty() {
            return Err(CompareError::Tunnels);
        }
        if scenario.topology.sites.is_some() {
            return Err(CompareError::Sites);
        }
        if !traffic.background.is_empty() || !scenario.events.is_empty() {
            return Err(CompareError::Changes);
        }
        if bytes > 0 && traffic.simultaneous {
            return Err(CompareError::Together);
        }
        let testbed = lay_out(scenario)?;
        let graph = testbed.network().measured();
        Ok(Self { scenario, traffic, bytes, variant, settings, testbed, graph })
    }

    /// Whether the simulator can follow the settings of hosts and of simultaneous connections.
    fn check(&self) -> Result<(), Refused> {
        for host in &self.scenario.topology.hosts {
            control(host).map_err(|why| Refused::new("congestion_control", why))?;
        }
        let schemes: Vec<_> = self.traffic.directions.iter().map(|it| self.scheme(it, Mode::Mptcp)).collect();
        if self.traffic.simultaneous && schemes.windows(2).any(|pair| pair[0] != pair[1]) {
            let why = "the simulator places connections that go on at the same time by one rule";
            return Err(Refused::new("policy: rule", why));
        }
        Ok(())
    }

    /// Every mode, direction and number of connections.
    fn simulate(&self) -> Result<Vec<Row>, CompareError> {
        let mut rows = Vec::new();
        let traffic = self.traffic;
        for (mode, streams) in
            traffic.modes.iter().flat_map(|mode| traffic.streams.iter().map(move |it| (*mode, *it)))
        {
            let together = if traffic.simultaneous { traffic.directions.len() } else { 1 };
            for group in traffic.directions.chunks(together.max(1)) {
                rows.extend(self.simulate_group(mode, streams, group)?);
            }
        }
        Ok(rows)
    }

    fn simulate_group(
        &self,
        mode: Mode,
        streams: u16,
        directions: &[Direction],
    ) -> Result<Vec<Row>, CompareError> {
        let (mut transfers, mut counts) = (Vec::new(), Vec::new());
        for direction in directions {
            let made = self.connections(Connections { direction, mode, streams: usize::from(streams) })?;
            counts.push(made.len());
            transfers.extend(made);
        }
        let Some(scheme) = directions.first().map(|it| self.scheme(it, mode)) else { return Ok(Vec::new()) };
        let mut goodputs = self.testbed.goodputs(&transfers, &self.schedule(scheme), 1).into_iter();
        let hosts = &self.scenario.topology.hosts;
        let row = |(direction, count): (&Direction, usize)| Row {
            variant: self.variant.map(|variant| variant.name.clone()),
            mode,
            from: hosts[direction.from].name.clone(),
            to: hosts[direction.to].name.clone(),
            connections: streams,
            total: false,
            simulator_bps: goodputs.by_ref().take(count).sum(),
            lab_bps: None,
            difference: None,
        };
        Ok(directions.iter().zip(counts).map(row).collect())
    }

    fn schedule(&self, scheme: Scheme) -> Schedule {
        let (&Traffic { warm_up, duration, .. }, bytes) = (self.traffic, self.bytes);
        Schedule { scheme, set_up: SET_UP, warm_up, measured: duration, bytes }
    }

    fn policy(&self, direction: &Direction) -> EffectivePolicy {
        let [src_port, dst_port] = PORTS;
        let Direction { source: src, destination: dst, .. } = *direction;
        self.settings.policy(&FiveTuple { src, dst, src_port, dst_port })
    }

    /// The placement of streams. Plain TCP takes the default path, and so do connections that a policy calls single.
    fn scheme(&self, direction: &Direction, mode: Mode) -> Scheme {
        let policy = self.policy(direction);
        let (kind, k, placement) = match mode {
            Mode::Mptcp if !policy.is_single() => (policy.kind, policy.k, policy.placement),
            Mode::Tcp | Mode::Mptcp | Mode::Udp | Mode::Quic => (Kind::Shortest, 1, Policy::FewestShared),
        };
        Scheme { kind, k, choice: Chooser::Policy(placement), ties: Ties::Shipped }
    }

    /// The connections of a transfer, with their paths if these are not the scheme's.
    fn connections(&self, of: Connections<'_>) -> Result<Vec<Transfer>, CompareError> {
        let one = self.transfer(of.direction, of.mode)?;
        let ends = self.ends(&one).ok_or_else(|| CompareError::no_interface(self.scenario, one.from))?;
        if let Some(paths) = self.distributed(&of, ends) {
            return Ok(paths.into_iter().map(|path| Transfer { path, ..one.clone() }).collect());
        }
        let policy = self.policy(of.direction);
        let is_edge = |dpid| self.scenario.topology.switches.iter().any(|it| it.edge && it.dpid == dpid);
        let may_spray = of.mode == Mode::Tcp && policy.may_spray() && is_edge(ends.src) && is_edge(ends.dst);
        let spray = if may_spray { spray(&self.graph, ends, policy) } else { None };
        Ok(vec![Transfer { spray, ..one }; of.streams])
    }

    fn ends(&self, transfer: &Transfer) -> Option<SwitchPair> {
        let hosts = self.testbed.network().hosts();
        let [own, other] = *transfer.subflows.first()?;
        let at = |host: usize, interface: usize| hosts.get(host)?.get(interface).map(|it| it.switch);
        Some(SwitchPair::new(at(transfer.from, own)?, at(transfer.to, other)?))
    }

    /// The paths of connections that are distributed: announced ones, and plain ones if the policy wants that and there are
    /// several paths.
    fn distributed(&self, of: &Connections<'_>, ends: SwitchPair) -> Option<Vec<Option<Path>>> {
        let model = self.settings.model;
        if let Some(assign) = self.traffic.assign {
            let (paths, expected) = (usize::from(assign.paths), Some(of.streams));
            let assigning = Assigning { paths, distribution: assign.distribution, expected, model };
            let paths = assigned_paths(&self.graph, ends, &assigning);
            return Some(distribute(&self.graph, &paths, &assigning, of.streams));
        }
        let paths = self.policy(of.direction).distributed_paths();
        let assigning = Assigning { paths, distribution: Distribution::Weight, expected: None, model };
        let wanted = of.mode == Mode::Tcp && paths > 1;
        let paths = if wanted { assigned_paths(&self.graph, ends, &assigning) } else { Vec::new() };
        (paths.len() > 1).then(|| distribute(&self.graph, &paths, &assigning, of.streams))
    }

    fn transfer(&self, direction: &Direction, mode: Mode) -> Result<Transfer, CompareError> {
        let topology = &self.scenario.topology;
        let [client, server] = [direction.from, direction.to].map(|host| &topology.hosts[host]);
        let pairs = topology.address_pairs(direction);
        let most = if mode == Mode::Mptcp { 1 + usize::from(client.mptcp.subflows) } else { 1 };
        // An agent can open several subflows between the same two addresses; the kernel opens one.
        let by_agent = client.mptcp.path_manager == PathManager::Agent;
        let all = if by_agent { most } else { most.min(pairs.len()) };
        let ends = |pair: &AddressPair| {
            Some([interface(client, pair.source)?, interface(server, pair.destination)?])
        };
        let subflows: Option<Vec<_>> = pairs.iter().cycle().take(all).map(ends).collect();
        let subflows = subflows.ok_or_else(|| CompareError::no_interface(self.scenario, direction.from))?;
        let interfaces = client.interfaces.iter().chain(&server.interfaces);
        let mtu = interfaces.map(|it| it.mtu).min().unwrap_or(NewConnection::MTU);
        Ok(Transfer {
            from: direction.from,
            to: direction.to,
            subflows,
            advice: self.advice(direction, mode),
            path: None,
            spray: None,
            // Checked before.
            control: control(client).unwrap_or(Control::Cubic),
            buffer: server.receive_buffer.map_or(NewConnection::BUFFER, window),
            mtu,
        })
    }

    /// The request of the client's agent, if it opens subflows by advice: the client's addresses and the server's.
    fn advice(&self, direction: &Direction, mode: Mode) -> Option<Advised> {
        let managed = self.variant.is_some_and(|variant| variant.agents == Agents::Managed);
        let policy = self.policy(direction);
        if !managed || mode != Mode::Mptcp || policy.is_single() {
            return None;
        }
        let topology = &self.scenario.topology;
        let [client, server] = [direction.from, direction.to].map(|host| &topology.hosts[host]);
        let [local, remote] = [(direction.source, PORTS[0]), (direction.destination, PORTS[1])];
        let connection = SubflowEnds { local: local.into(), remote: remote.into() };
        let own: BTreeSet<_> = addresses(client).collect();
        let most = usize::from(client.mptcp.subflows);
        let request = AdviceRequest {
            connection,
            local_addresses: own.into_iter().collect(),
            remote_addresses: vec![connection.remote],
            subflows: Vec::new(),
            failed: Vec::new(),
            most,
        };
        let pair = |ends: SubflowEnds| {
            let interfaces = [interface(client, ends.local.ip())?, interface(server, ends.remote.ip())?];
            Some(AdvisedPair { ends, interfaces })
        };
        Some(Advised {
            policy,
            connection,
            most,
            pairs: request.pairs().into_iter().filter_map(pair).collect(),
        })
    }
}

/// The congestion control of a host: the kernel's own by default.
fn control(host: &Host) -> Result<Control, String> {
    let name = host.congestion_control.as_deref().unwrap_or("cubic");
    name.parse().map_err(|error| format!("{}: {error}", host.name))
}

/// The part of a receive buffer for data: a full frame takes 2,304 bytes, and the kernel rounds (`tcp_win_from_space`).
const fn window(buffer: u64) -> u64 {
    buffer / 256 * 144
}

fn addresses(host: &Host) -> impl Iterator<Item = IpAddr> {
    host.interfaces.iter().flat_map(|it| it.addresses.iter().map(|cidr| cidr.address))
}

fn interface(host: &Host, address: IpAddr) -> Option<usize> {
    host.interfaces.iter().position(|it| it.addresses.iter().any(|cidr| cidr.address == address))
}
