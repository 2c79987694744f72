use std::net::IpAddr;
use std::path::PathBuf;
use std::time::Duration;

use anyhow::Context;
use braid_lab::scenario::{Direction, End, Host, Mode, Tool, Traffic};
use braid_lab::{Interrupt, LabName, Labs, Scenario, StderrProgress};
use braid_link_model::{Delay, Parameters};
use braid_sim::Control;
use braid_sim::network::{LinkDefaults, Network};
use braid_sim::replica::{Replica, Schedule, Transfer};
use braid_sim::steering::Scheme;
use braid_types::{PortNo, SwitchPort};
use serde::Serialize;

use crate::commands::lab;
use crate::exit::{self, Code, ExitWith};
use crate::output;
use crate::table::table;

/// What a hop takes in a lab on one machine where its link has no delay of its own.
const HOP: Duration = Duration::from_micros(50);
/// What the controller takes until the first packet of a subflow goes on.
const SET_UP: Duration = Duration::from_millis(1);

#[derive(clap::Args)]
pub(crate) struct Compare {
    /// The scenario file
    #[arg(value_name = "FILE")]
    scenario: PathBuf,
    /// The lab's name while it is up; by default the scenario's
    #[arg(long)]
    name: Option<LabName>,
    /// How far a goodput may be from the lab's, in percent
    #[arg(long, value_name = "PERCENT", default_value_t = 7.0)]
    within: f64,
    /// Leave the lab out, and print what the simulator has alone
    #[arg(long)]
    simulator_only: bool,
    /// Print one JSON document
    #[arg(long)]
    json: bool,
}

/// One document, as other runs of scenarios print.
#[derive(Serialize)]
struct Report {
    schema: &'static str,
    scenario: String,
    rows: Vec<Row>,
    ok: bool,
}

/// The connections of one setting, together.
#[derive(Serialize)]
struct Row {
    #[serde(skip_serializing_if = "Option::is_none")]
    variant: Option<String>,
    mode: Mode,
    from: String,
    to: String,
    connections: u16,
    /// Bits a second of data.
    simulator_bps: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    lab_bps: Option<f64>,
    /// The simulator's over the lab's, less one.
    #[serde(skip_serializing_if = "Option::is_none")]
    difference: Option<f64>,
}

pub(super) fn execute(args: &Compare) -> anyhow::Result<()> {
    let scenario = lab::load(&args.scenario)?;
    let mut rows = simulate_all(&scenario).exit_with(Code::Usage)?;
    if !args.simulator_only {
        measure(args, &scenario, &mut rows)?;
    }
    let apart = |row: &Row| row.difference.is_some_and(|it| it.abs() * 100.0 > args.within);
    let ok = args.simulator_only || rows.iter().all(|row| row.difference.is_some() && !apart(row));
    let report = Report { schema: braid_lab::SCHEMA, scenario: scenario.name, rows, ok };
    if args.json {
        output::json(&report)?;
    } else {
        output::text(&to_text(&report.rows))?;
    }
    let all = report.rows.len();
    let far = report.rows.iter().filter(|row| apart(row)).count();
    match ok {
        true => Ok(()),
        false => Err(exit::error(
            Code::Unmet,
            format!("{far} of {all} rows are more than {} % apart", args.within),
        )),
    }
}

/// Runs the lab, and puts its means beside the simulator's.
fn measure(args: &Compare, scenario: &Scenario, rows: &mut [Row]) -> anyhow::Result<()> {
    let name = lab::name_of(args.name.clone(), scenario)?;
    let interrupt = lab::exit(Interrupt::on_signals())?;
    let control = lab::controller(None)?;
    let report = Labs::system().run(scenario, &name, &control, &StderrProgress::new(), &interrupt);
    let report = lab::exit(report)?;
    for row in rows {
        let same = report.rows.iter().filter(|it| {
            let ends = (&it.direction.from, &it.direction.to) == (&row.from, &row.to);
            ends && it.variant == row.variant && it.mode == row.mode && it.connections == row.connections
        });
        let goodputs: Vec<_> = same.map(|it| it.goodput_bps).collect();
        let mean = goodputs.iter().sum::<f64>() / goodputs.len() as f64;
        if mean > 0.0 {
            (row.lab_bps, row.difference) = (Some(mean), Some(row.simulator_bps / mean - 1.0));
        }
    }
    Ok(())
}

fn to_text(rows: &[Row]) -> String {
    let mbit = |bps: f64| format!("{:.1}", bps / 1e6);
    let lines = rows.iter().map(|row| {
        [
            row.variant.clone().unwrap_or_default(),
            row.mode.to_string(),
            format!("{} > {}", row.from, row.to),
            row.connections.to_string(),
            row.lab_bps.map(mbit).unwrap_or_default(),
            mbit(row.simulator_bps),
            row.difference.map(|it| format!("{:+.1} %", it * 100.0)).unwrap_or_default(),
        ]
    });
    table(["VARIANT", "MODE", "DIRECTION", "STREAMS", "LAB-MBIT/S", "SIM-MBIT/S", "DIFFERENCE"], lines)
}

fn simulate_all(scenario: &Scenario) -> anyhow::Result<Vec<Row>> {
    if scenario.variants.is_empty() {
        return simulate(scenario, None);
    }
    let mut rows = Vec::new();
    for variant in scenario.variants.iter().filter(|variant| variant.rules.is_empty()) {
        anyhow::ensure!(
            variant.controller.is_empty() && variant.policy.is_none(),
            "variant {} has options or a policy of the controller that the simulator does not know",
            variant.name
        );
        rows.extend(simulate(&scenario.with_variant(variant), Some(variant.name.clone()))?);
    }
    anyhow::ensure!(
        !rows.is_empty(),
        "all variants have rules of their own, which the simulator does not know"
    );
    Ok(rows)
}

/// Every mode, direction and number of connections.
fn simulate(scenario: &Scenario, variant: Option<String>) -> anyhow::Result<Vec<Row>> {
    let traffic = scenario.traffic.as_ref().context("the scenario has no traffic")?;
    let known = traffic.tool == Tool::Iperf3 && traffic.bytes == 0;
    anyhow::ensure!(known, "the simulator knows the traffic of iperf3 alone, and no amounts");
    anyhow::ensure!(
        traffic.background.is_empty() && scenario.events.is_empty(),
        "the simulator knows neither background traffic nor events of scenarios"
    );
    let replica = lay_out(scenario)?;
    let mut rows = Vec::new();
    for (mode, streams) in
        traffic.modes.iter().flat_map(|mode| traffic.streams.iter().map(move |it| (*mode, *it)))
    {
        let groups: Vec<&[Direction]> = match traffic.together {
            true => vec![&traffic.directions],
            false => traffic.directions.chunks(1).collect(),
        };
        for group in groups {
            rows.extend(simulate_group(scenario, &replica, (mode, streams), group, variant.as_ref())?);
        }
    }
    Ok(rows)
}

fn simulate_group(
    scenario: &Scenario,
    replica: &Replica,
    (mode, streams): (Mode, u16),
    directions: &[Direction],
    variant: Option<&String>,
) -> anyhow::Result<Vec<Row>> {
    let traffic = scenario.traffic.as_ref().context("the scenario has no traffic")?;
    let mut transfers = Vec::new();
    for direction in directions {
        let transfer = transfer(scenario, direction, mode)?;
        transfers.extend(std::iter::repeat_n(transfer, usize::from(streams)));
    }
    let goodputs = replica.goodputs(&transfers, &schedule(traffic, mode)?, 1);
    let hosts = &scenario.topology.hosts;
    Ok(directions
        .iter()
        .zip(goodputs.chunks(usize::from(streams).max(1)))
        .map(|(direction, goodputs)| Row {
            variant: variant.cloned(),
            mode,
            from: hosts[direction.from].name.clone(),
            to: hosts[direction.to].name.clone(),
            connections: streams,
            simulator_bps: goodputs.iter().sum(),
            lab_bps: None,
            difference: None,
        })
        .collect())
}

/// As the controller is by default; plain TCP takes the default route.
fn schedule(traffic: &Traffic, mode: Mode) -> anyhow::Result<Schedule> {
    let scheme: Scheme = match mode {
        Mode::Tcp => "shortest:1/fewest-shared",
        Mode::Mptcp => "disjoint:8/fewest-shared",
    }
    .parse()?;
    Ok(Schedule { scheme, set_up: SET_UP, warm_up: traffic.warm_up, measured: traffic.duration })
}

fn transfer(scenario: &Scenario, direction: &Direction, mode: Mode) -> anyhow::Result<Transfer> {
    let topology = &scenario.topology;
    let [client, server] = [direction.from, direction.to].map(|host| &topology.hosts[host]);
    let pairs = topology.address_pairs(direction);
    let most = if mode == Mode::Mptcp { 1 + usize::from(client.mptcp.subflows) } else { 1 };
    let ends = |pair: &braid_lab::scenario::AddressPair| {
        Some([interface(client, pair.source)?, interface(server, pair.destination)?])
    };
    let subflows: Option<Vec<_>> = pairs.iter().take(most).map(ends).collect();
    let subflows = subflows.context("an address belongs to no interface")?;
    // The kernel's own.
    let control = client.congestion_control.as_deref().unwrap_or("cubic");
    let control: Control = control.parse().with_context(|| format!("congestion control {control}"))?;
    Ok(Transfer { from: direction.from, to: direction.to, subflows, control })
}

fn interface(host: &Host, address: IpAddr) -> Option<usize> {
    host.interfaces.iter().position(|it| it.addresses.iter().any(|cidr| cidr.address == address))
}

/// The network of the scenario, every link with what the lab gives it. Links there are beyond the hosts' own queues, so
/// that senders do not see when they are full.
fn lay_out(scenario: &Scenario) -> anyhow::Result<Replica> {
    let topology = &scenario.topology;
    let queue = Parameters::default().queue;
    let network =
        Network::new(&scenario.blueprint()?, &LinkDefaults { queue, delay: HOP, hold_senders: false })?;
    let mut replica = Replica::new(network);
    let mut ports = vec![0; topology.switches.len()];
    let mut next = |switch: usize| {
        ports[switch] += 1;
        SwitchPort::new(topology.switches[switch].dpid, PortNo(ports[switch]))
    };
    for link in &topology.links {
        let [there, back] = link.ways.map(with_hop);
        let ends = link.ends.map(|end| match end {
            End::Switch(switch) => (None, Some(next(switch))),
            End::Host { host, interface } => (Some((host, interface)), None),
        });
        let network = replica.network();
        let plug = |(host, interface): (usize, usize)| network.hosts().get(host)?.get(interface).copied();
        let ids = match ends {
            [(None, Some(a)), (None, Some(b))] => [network.link_at(a), network.link_at(b)],
            [(Some(host), _), _] => plug(host).map_or([None; 2], |it| [Some(it.up), Some(it.down)]),
            [_, (Some(host), _)] => plug(host).map_or([None; 2], |it| [Some(it.down), Some(it.up)]),
            _ => [None; 2],
        };
        for (id, way) in ids.into_iter().zip([there, back]) {
            replica.set_link(id.context("a link of the scenario is not in its drawing")?, way);
        }
    }
    Ok(replica)
}

fn with_hop(way: Parameters) -> Parameters {
    if way.delay.duration().is_zero() {
        Parameters { delay: Delay::new(HOP).unwrap_or_default(), ..way }
    } else {
        way
    }
}
