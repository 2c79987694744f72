//! One round of simultaneous transfers, from start to rows of the report.

use std::ops::Range;
use std::time::{Duration, Instant};

use super::background::{self, Running};
use super::captures::Captures;
use super::cost_meter::CostMeter;
use super::counters::MptcpCounters;
use super::events::Schedule;
use super::leaders::LeaderWatch;
use super::report::Row;
use super::requests::{self, RequestLoad};
use super::tools::{self, RunningTransfer};
use super::transfer::{Setting, TOOL_TIMEOUT, Transfer};
use super::watch::{Clients, Watch};
use crate::controller::{ControllerAddresses, Joins};
use crate::deploy::Deployment;
use crate::error::LabError;
use crate::interrupt::Interrupt;
use crate::progress::Progress;
use crate::scenario::{Direction, Metric, Scenario, Tool, Traffic};
use crate::system::Namespace;

/// Simultaneous transfers: one, or one in every direction.
pub(super) struct Round<'a> {
    lab: &'a Deployment,
    scenario: &'a Scenario,
    traffic: &'a Traffic,
    transfers: Vec<Transfer<'a>>,
}

/// What was sent, and the time that counts.
struct Sent {
    rows: Vec<Row>,
    measured: Range<Instant>,
}

impl<'a> Round<'a> {
    /// A round with a transfer in each of `directions`.
    pub(super) fn new(
        lab: &'a Deployment,
        scenario: &'a Scenario,
        traffic: &'a Traffic,
        setting: Setting,
        directions: &'a [Direction],
    ) -> Self {
        let transfers = directions.iter().enumerate();
        let transfers = transfers.map(|it| Transfer::new(lab, scenario, traffic, setting, it)).collect();
        Self { lab, scenario, traffic, transfers }
    }

    /// Runs the round; `first` is the number of its first transfer in the run, for the tools' files.
    pub(super) fn run(
        &self,
        first: usize,
        progress: &dyn Progress,
        interrupt: &Interrupt,
    ) -> Result<Vec<Row>, LabError> {
        progress.transfer(&self.title(), self.traffic.warm_up + self.traffic.duration);
        let idle = requests::idle(self.lab, self.traffic, interrupt)?;
        let mut schedule = Schedule::new(self.lab, &self.scenario.events);
        let mut background = Running::start(self.lab, self.traffic, first, interrupt)?;
        let captures = Captures::start(self.lab, &self.scenario.captures, first, interrupt)?;
        let leaders = LeaderWatch::start(self.lab);
        let load = RequestLoad::start(self.lab, self.traffic)?;
        let sent = self.send(first, (&mut schedule, &mut background), progress, interrupt);
        let measured =
            sent.as_ref().map_or_else(|_| Instant::now()..Instant::now(), |it| it.measured.clone());
        let loaded = load.finish(measured);
        let events = schedule.rows(&self.scenario.topology);
        let leaders = leaders.map(LeaderWatch::finish).unwrap_or_default();
        schedule.undo()?;
        background.check()?;
        let mut rows = sent?.rows;
        let requests = requests::rows(self.lab, self.traffic, &idle, &loaded?);
        for row in &mut rows {
            row.requests.clone_from(&requests);
            row.events.clone_from(&events);
            row.leaders.clone_from(&leaders);
        }
        if let Some(first) = rows.first_mut() {
            first.captures = captures.finish(interrupt)?;
        }
        Ok(rows)
    }

    /// The part of the time of sending that counts: all of it for files.
    fn measured(&self, sent: Range<Instant>) -> Range<Instant> {
        if self.transfers.iter().all(|transfer| transfer.setting.work.bytes > 0) {
            return sent;
        }
        let from = sent.start + self.traffic.warm_up;
        from..from + self.traffic.duration
    }

    fn send(
        &self,
        first: usize,
        (schedule, background): (&mut Schedule<'_>, &mut Running),
        progress: &dyn Progress,
        interrupt: &Interrupt,
    ) -> Result<Sent, LabError> {
        let before = self.transfers.iter().map(|it| MptcpCounters::of(&it.client_namespace()));
        let before = before.collect::<Result<Vec<_>, _>>()?;
        let heard = self.joins();
        let prepared = self.transfers.iter().zip(first..);
        let prepared = prepared.map(|(transfer, index)| tools::prepare(*transfer, index, interrupt));
        let mut running = prepared.collect::<Result<Vec<_>, _>>()?;
        running.iter_mut().try_for_each(|it| it.begin())?;
        let mut watch = self.watch();
        let mut meter = self.cost_meter()?;
        let start = Instant::now();
        interrupt.poll(self.limit(), || {
            let elapsed = start.elapsed();
            progress.elapsed(elapsed);
            schedule.act(elapsed)?;
            background.act(elapsed)?;
            if watch.look(elapsed)? {
                let all = running.iter_mut().enumerate();
                all.for_each(|(place, it)| it.sample(elapsed, watch.acked(place)));
            }
            meter.as_mut().map_or(Ok(()), |it| it.look(elapsed))?;
            all_finished(&mut running)
        })?;
        let measured = self.measured(start..Instant::now());
        let cost = meter.map(CostMeter::finish).transpose()?;
        let heard = self.joins().since(heard);
        self.report_joins(heard, progress);
        let mut rows = self.rows(running, &watch, (&before, heard.all), start.elapsed())?;
        let cost = cost.and_then(|it| it.of(&rows));
        rows.iter_mut().for_each(|row| row.cost = cost);
        Ok(Sent { rows, measured })
    }

    /// The measurement of what the round costs, if the scenario wants it.
    fn cost_meter(&self) -> Result<Option<CostMeter<'a>>, LabError> {
        let hosts = self.transfers.iter().flat_map(|it| [it.client, it.server]);
        self.traffic.cost.then(|| CostMeter::start(self.lab, hosts)).transpose()
    }

    /// Says which joins the controller was sent, if an expectation counts them.
    fn report_joins(&self, Joins { all, answers, advised }: Joins, progress: &dyn Progress) {
        let is_judged = self.scenario.expect.iter().any(|it| it.value == Metric::JoinPacketIns);
        if is_judged && all > 0 {
            let of = format!("{answers} of them SYN/ACKs, {advised} of advised subflows");
            progress.stage(&format!("the controller was sent {all} joins, {of}"));
        }
    }

    fn rows(
        &self,
        running: Vec<Box<dyn RunningTransfer + '_>>,
        watch: &Watch<'_>,
        (before, heard): (&[MptcpCounters], u64),
        elapsed: Duration,
    ) -> Result<Vec<Row>, LabError> {
        let background = (!self.traffic.background.is_empty())
            .then(|| watch.rate_from(self.transfers.len(), self.traffic.warm_up));
        let mut rows = Vec::new();
        for (transfer, (running, before)) in self.transfers.iter().zip(running.into_iter().zip(before)) {
            let finding = running.finish(elapsed)?.ok_or_else(|| transfer.failed("the tool does not end"))?;
            let counters = MptcpCounters::of(&transfer.client_namespace())?.since(before);
            let streams = watch.streams(rows.len(), finding.ports.as_deref());
            let row = transfer.row(finding, streams, (counters, heard))?;
            rows.push(Row { background_bps: background, ..row });
        }
        Ok(rows)
    }

    /// The controller's counts of packet-ins with MP_JOIN; none without a controller.
    fn joins(&self) -> Joins {
        let controller = self.lab.controller.as_ref().map(ControllerAddresses::client);
        controller.and_then(|it| it.joins().ok()).unwrap_or_default()
    }

    /// The clients of the transfers, then those of the cross traffic.
    fn watch(&self) -> Watch<'a> {
        let clients = self.transfers.iter().map(|it| Clients {
            namespace: it.client_namespace(),
            ports: it.data_ports,
            serve: it.setting.work.tool.is_got(),
        });
        let others = self.traffic.background.iter().zip(background::FIRST_PORT..);
        let others = others.map(|(it, port)| {
            let namespace = Namespace::named(&self.lab.deployed.plan.hosts[it.direction.from].namespace);
            Clients { namespace, ports: (port, port), serve: false }
        });
        Watch::new(self.lab, clients.chain(others))
    }

    /// The time limit: a copy that is not complete by then fails.
    fn limit(&self) -> Duration {
        match self.transfers.first().map(|first| first.setting.work.tool) {
            Some(Tool::Http3) => self.traffic.warm_up + self.traffic.duration,
            Some(tool) if tool.needs_bytes() => self.traffic.duration,
            _ => self.traffic.warm_up + self.traffic.duration + 2 * TOOL_TIMEOUT,
        }
    }

    fn title(&self) -> String {
        let Some(first) = self.transfers.first() else { return String::new() };
        let Setting { mode, connections, run, .. } = first.setting;
        let what = match self.transfers.len() {
            1 => first.title(),
            count if self.traffic.is_mixed() => format!("{count} at once"),
            count => format!("{mode} {count} at once"),
        };
        let streams = if connections > 1 && !self.traffic.is_mixed() {
            format!(", {connections} streams")
        } else {
            String::new()
        };
        let run = if self.traffic.repeat > 1 { format!(", run {run}") } else { String::new() };
        format!("{what}{streams}{run}")
    }
}

fn all_finished(running: &mut [Box<dyn RunningTransfer + '_>]) -> Result<Option<()>, LabError> {
    for one in running {
        if !one.is_finished()? {
            return Ok(None);
        }
    }
    Ok(Some(()))
}
