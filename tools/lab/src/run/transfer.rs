//! One transfer of a round: its ports, namespaces, listener and result.

use std::fs;
use std::time::Duration;

use braid_types::BitsPerSec;

use super::counters::MptcpCounters;
use super::report::{Delivery, Row, RowDirection, StreamRow};
use super::tools::iperf::Measured;
use crate::deploy::Deployment;
use crate::error::LabError;
use crate::interrupt::Interrupt;
use crate::plan::HostPlan;
use crate::scenario::{Direction, Mode, OwnSettings, Scenario, Tool, Traffic, Work};
use crate::system::Namespace;

/// The port of a round's first server.
const FIRST_PORT: u16 = 5201;
/// The control port of the first server, for tools with separate data connections.
const FIRST_CONTROL_PORT: u16 = 2811;
/// The first data port; each server has its own range of ports.
const FIRST_DATA_PORT: u16 = 50_000;
const DATA_PORTS: u16 = 64;
/// The time that a tool may take beyond the transfer itself.
pub(super) const TOOL_TIMEOUT: Duration = Duration::from_secs(10);

/// The common settings of a round's transfers.
#[derive(Clone, Copy, Debug)]
pub(super) struct Setting {
    pub mode: Mode,
    pub work: Work,
    /// The number of parallel connections of each transfer.
    pub connections: u16,
    /// The number of the run, from 1.
    pub run: u16,
}

impl Setting {
    /// With what a direction has instead.
    fn of(self, own: &OwnSettings) -> Self {
        Self {
            mode: own.mode.unwrap_or(self.mode),
            work: own.tool.map_or(self.work, |tool| Work { tool, bytes: 0 }),
            connections: own.streams.unwrap_or(self.connections),
            run: self.run,
        }
    }
}

/// One transfer of a round.
#[derive(Clone, Copy)]
pub(super) struct Transfer<'a> {
    pub lab: &'a Deployment,
    pub traffic: &'a Traffic,
    pub setting: Setting,
    pub direction: &'a Direction,
    pub client: &'a HostPlan,
    pub server: &'a HostPlan,
    /// The server's port.
    pub port: u16,
    /// The range of the server's data ports.
    pub data_ports: (u16, u16),
    /// The maximum flow between the two hosts.
    capacity: BitsPerSec,
}

/// The tool's result.
pub(super) struct Finding {
    pub measured: Measured,
    pub retransmits: u64,
    /// The client's ports of data connections; `None`: all connections.
    pub ports: Option<Vec<u16>>,
    /// The number of connections opened.
    pub connections: u64,
    pub delivery: Option<Delivery>,
}

impl<'a> Transfer<'a> {
    /// The transfer of the simultaneous direction number `place`.
    pub(super) fn new(
        lab: &'a Deployment,
        scenario: &'a Scenario,
        traffic: &'a Traffic,
        setting: Setting,
        (place, direction): (usize, &'a Direction),
    ) -> Self {
        let setting = setting.of(&direction.own);
        let capacity = scenario.topology.capacity(direction.from, direction.to);
        let (client, server) =
            (&lab.deployed.plan.hosts[direction.from], &lab.deployed.plan.hosts[direction.to]);
        // A scenario has far fewer hosts than ports.
        let place = u16::try_from(place).unwrap_or(u16::MAX);
        let has_control = matches!(setting.work.tool, Tool::Gridftp | Tool::Ftp);
        let first = if has_control { FIRST_CONTROL_PORT } else { FIRST_PORT };
        let port = first.saturating_add(place);
        let data_ports = if has_control {
            let from = FIRST_DATA_PORT.saturating_add(place.saturating_mul(DATA_PORTS));
            (from, from.saturating_add(DATA_PORTS - 1))
        } else {
            (port, port)
        };
        Self { lab, traffic, setting, direction, client, server, port, data_ports, capacity }
    }

    /// Its name in messages.
    pub(super) fn title(&self) -> String {
        let work = self.work().map(|work| format!(" {work}")).unwrap_or_default();
        format!("{}{work} {} > {}", self.setting.mode, self.client.name, self.server.name)
    }

    /// The tool and length, if there are several.
    fn work(&self) -> Option<Work> {
        (self.traffic.works.len() > 1 || self.traffic.is_mixed()).then_some(self.setting.work)
    }

    pub(super) fn client_namespace(&self) -> Namespace {
        Namespace::named(&self.client.namespace)
    }

    pub(super) fn server_namespace(&self) -> Namespace {
        Namespace::named(&self.server.namespace)
    }

    pub(super) fn failed(&self, what: &str) -> LabError {
        LabError::Traffic { run: self.title(), what: what.to_owned() }
    }

    pub(super) fn wait_for_listener(
        &self,
        interrupt: &Interrupt,
        alive: impl FnMut() -> Result<(), LabError>,
    ) -> Result<(), LabError> {
        self.wait_for_listener_in(&self.server_namespace(), interrupt, alive)
    }

    pub(super) fn wait_for_listener_in(
        &self,
        namespace: &Namespace,
        interrupt: &Interrupt,
        mut alive: impl FnMut() -> Result<(), LabError>,
    ) -> Result<(), LabError> {
        let listening = interrupt.poll(TOOL_TIMEOUT, || {
            alive()?;
            match self.setting.mode {
                Mode::Quic => has_socket(namespace, self.port),
                _ => listens(namespace, self.port),
            }
        })?;
        listening.ok_or_else(|| self.failed("the server does not listen"))
    }

    /// Its row of the report; the counters are those of its client and of the controller.
    pub(super) fn row(
        &self,
        finding: Finding,
        streams: Vec<StreamRow>,
        (counters, join_packet_ins): (MptcpCounters, u64),
    ) -> Result<Row, LabError> {
        let Setting { mode, connections, run, .. } = self.setting;
        if mode == Mode::Mptcp {
            counters.check(finding.connections).map_err(|why| self.failed(&why))?;
        }
        let direction = RowDirection { from: self.client.name.clone(), to: self.server.name.clone() };
        let Measured { goodput_bps, seconds, datagrams_lost, intervals } = finding.measured;
        Ok(Row {
            variant: None,
            profile: None,
            congestion_control: None,
            mode,
            work: self.work(),
            is_mixed: self.traffic.is_mixed(),
            direction,
            connections,
            run: (self.traffic.repeat > 1).then_some(run),
            goodput_bps,
            capacity_bps: self.capacity.as_f64(),
            fraction_of_capacity: goodput_bps / self.capacity.as_f64(),
            background_bps: None,
            seconds,
            retransmits: finding.retransmits,
            datagrams_lost,
            streams,
            mptcp: (mode == Mode::Mptcp).then_some(counters.with_packet_ins(join_packet_ins)),
            delivery: finding.delivery,
            intervals,
            cost: None,
            events: Vec::new(),
            leaders: Vec::new(),
            requests: Vec::new(),
            captures: Vec::new(),
        })
    }
}

/// Whether TCP listens at a port: state 0A is LISTEN.
pub(super) fn listens(namespace: &Namespace, port: u16) -> Result<Option<()>, LabError> {
    socket_in(namespace, ["tcp", "tcp6"], port, "0A")
}

/// Whether there is a UDP socket that is not connected: in state 07.
fn has_socket(namespace: &Namespace, port: u16) -> Result<Option<()>, LabError> {
    socket_in(namespace, ["udp", "udp6"], port, "07")
}

// /proc/thread-self shows the thread's own namespace.
fn socket_in(
    namespace: &Namespace,
    tables: [&str; 2],
    port: u16,
    state: &str,
) -> Result<Option<()>, LabError> {
    let port = format!(":{port:04X}");
    let listening = |line: &str| {
        let mut words = line.split_whitespace().skip(1);
        words.next().is_some_and(|local| local.ends_with(&port)) && words.nth(1) == Some(state)
    };
    namespace.run(|| {
        let tables = tables.map(|table| fs::read_to_string(format!("/proc/thread-self/net/{table}")));
        Ok(tables.into_iter().flatten().any(|table| table.lines().any(listening)).then_some(()))
    })
}
