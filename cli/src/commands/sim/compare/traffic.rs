//! Traffic of a scenario as simulated connections, for every variant, mode and direction.

use std::net::IpAddr;
use std::time::Duration;

use anyhow::Context;
use braid_lab::Scenario;
use braid_lab::scenario::{Agents, Direction, Host, Mode, PathManager, Tool, Traffic, Variant, Work};
use braid_sim::Control;
use braid_sim::engine::NewConnection;
use braid_sim::replica::{Replica, Schedule, Transfer};

use super::Row;
use super::deal::deal;
use super::lay_out::lay_out;
use super::spread::spread;
use super::steered::Steered;

/// What the controller takes until the first packet of a subflow goes on.
const SET_UP: Duration = Duration::from_millis(1);

/// A scenario as one of its variants has it.
struct Setting<'a> {
    scenario: &'a Scenario,
    traffic: &'a Traffic,
    bytes: u64,
    variant: Option<&'a Variant>,
    replica: Replica,
    steered: Steered,
}

/// What every setting of the scenario delivers in the simulator.
pub(super) fn simulate_all(scenario: &Scenario) -> anyhow::Result<Vec<Row>> {
    if scenario.variants.is_empty() {
        return simulate(scenario, None, Steered::default());
    }
    let mut rows = Vec::new();
    for variant in &scenario.variants {
        if let Some(steered) = Steered::of(variant) {
            rows.extend(simulate(&scenario.with_variant(variant), Some(variant), steered)?);
        }
    }
    anyhow::ensure!(
        !rows.is_empty(),
        "all variants have rules, a policy or options of the controller that the simulator does not know"
    );
    Ok(rows)
}

/// Every mode, direction and number of connections.
fn simulate(scenario: &Scenario, variant: Option<&Variant>, steered: Steered) -> anyhow::Result<Vec<Row>> {
    let traffic = scenario.traffic.as_ref().context("the scenario has no traffic")?;
    let [Work { tool: Tool::Iperf3 | Tool::Gridftp, bytes }] = traffic.works[..] else {
        anyhow::bail!("the simulator knows the traffic of iperf3 and gridftp alone, one of them at a time");
    };
    anyhow::ensure!(scenario.topology.tunnels.is_empty(), "the simulator knows no tunnels over uplinks");
    anyhow::ensure!(
        traffic.background.is_empty() && scenario.events.is_empty(),
        "the simulator knows neither background traffic nor events of scenarios"
    );
    anyhow::ensure!(bytes == 0 || !traffic.simultaneous, "amounts are simulated one direction at a time");
    let setting = Setting { scenario, traffic, bytes, variant, replica: lay_out(scenario)?, steered };
    let mut rows = Vec::new();
    for (mode, streams) in
        traffic.modes.iter().flat_map(|mode| traffic.streams.iter().map(move |it| (*mode, *it)))
    {
        let groups: Vec<&[Direction]> = match traffic.simultaneous {
            true => vec![&traffic.directions],
            false => traffic.directions.chunks(1).collect(),
        };
        for group in groups {
            rows.extend(setting.simulate_group((mode, streams), group)?);
        }
    }
    Ok(rows)
}

impl Setting<'_> {
    fn simulate_group(
        &self,
        (mode, streams): (Mode, u16),
        directions: &[Direction],
    ) -> anyhow::Result<Vec<Row>> {
        let mut transfers = Vec::new();
        for direction in directions {
            transfers.extend(self.connections(direction, mode, usize::from(streams))?);
        }
        let goodputs = self.replica.goodputs(&transfers, &self.schedule(mode), 1);
        let hosts = &self.scenario.topology.hosts;
        Ok(directions
            .iter()
            .zip(goodputs.chunks(usize::from(streams).max(1)))
            .map(|(direction, goodputs)| Row {
                variant: self.variant.map(|variant| variant.name.clone()),
                mode,
                from: hosts[direction.from].name.clone(),
                to: hosts[direction.to].name.clone(),
                connections: streams,
                total: false,
                simulator_bps: goodputs.iter().sum(),
                lab_bps: None,
                difference: None,
            })
            .collect())
    }

    fn schedule(&self, mode: Mode) -> Schedule {
        let (&Traffic { warm_up, duration, .. }, bytes) = (self.traffic, self.bytes);
        Schedule { scheme: self.steered.scheme(mode), set_up: SET_UP, warm_up, measured: duration, bytes }
    }

    /// The connections of a transfer, each with a path if they are announced.
    fn connections(
        &self,
        direction: &Direction,
        mode: Mode,
        streams: usize,
    ) -> anyhow::Result<Vec<Transfer>> {
        let mut one = self.transfer(direction, mode)?;
        let network = self.replica.network();
        let at =
            |host: usize, interface: usize| network.hosts().get(host)?.get(interface).map(|it| it.switch);
        let ends =
            one.subflows.first().and_then(|[own, other]| Some((at(one.from, *own)?, at(one.to, *other)?)));
        let ends = ends.context("a host has no interface")?;
        let Some(assign) = self.traffic.assign else {
            let edges = self.scenario.topology.switches.iter().filter(|switch| switch.edge);
            let edges: Vec<_> = edges.map(|switch| switch.dpid).collect();
            if mode == Mode::Tcp && edges.contains(&ends.0) && edges.contains(&ends.1) {
                one.spread = spread(network.graph(), ends);
            }
            return Ok(vec![one; streams]);
        };
        let paths = deal(network.graph(), ends, (assign, self.steered.model), streams);
        Ok(paths.into_iter().map(|path| Transfer { path, ..one.clone() }).collect())
    }

    fn transfer(&self, direction: &Direction, mode: Mode) -> anyhow::Result<Transfer> {
        let topology = &self.scenario.topology;
        let [client, server] = [direction.from, direction.to].map(|host| &topology.hosts[host]);
        let pairs = topology.address_pairs(direction);
        let most = if mode == Mode::Mptcp { 1 + usize::from(client.mptcp.subflows) } else { 1 };
        let managed = self.variant.is_some_and(|variant| variant.agents == Agents::Managed);
        // An agent opens several between the same two addresses, the kernel one.
        let by_agent = managed || client.mptcp.path_manager == PathManager::Agent;
        let told = self.steered.subflows.filter(|_| managed && mode == Mode::Mptcp);
        let all = told.unwrap_or(if by_agent { most } else { most.min(pairs.len()) });
        let ends = |pair: &braid_lab::scenario::AddressPair| {
            Some([interface(client, pair.source)?, interface(server, pair.destination)?])
        };
        let subflows: Option<Vec<_>> = pairs.iter().cycle().take(all).map(ends).collect();
        let subflows = subflows.context("an address belongs to no interface")?;
        let interfaces = client.interfaces.iter().chain(&server.interfaces);
        let mtu = interfaces.map(|it| it.mtu).min().unwrap_or(NewConnection::MTU);
        // The kernel's own.
        let control = client.congestion_control.as_deref().unwrap_or("cubic");
        let control: Control = control.parse().with_context(|| format!("congestion control {control}"))?;
        Ok(Transfer {
            from: direction.from,
            to: direction.to,
            subflows,
            // Without advice an agent opens as many as it is told to.
            advised: managed && told.is_none(),
            path: None,
            spread: None,
            control,
            buffer: server.receive_buffer.map_or(NewConnection::BUFFER, window),
            mtu,
        })
    }
}

/// What of a receive buffer is for data: a full frame takes 2,304 bytes, and the kernel rounds (`tcp_win_from_space`).
const fn window(buffer: u64) -> u64 {
    buffer / 256 * 144
}

fn interface(host: &Host, address: IpAddr) -> Option<usize> {
    host.interfaces.iter().position(|it| it.addresses.iter().any(|cidr| cidr.address == address))
}
