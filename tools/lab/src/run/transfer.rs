use std::fs::{self, File};
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

use braid_types::BitsPerSec;

use super::background::Running;
use super::copy::{Copy, Outcome};
use super::counters::{MptcpCounters, retransmits};
use super::events::Schedule;
use super::iperf::{self, Measured};
use super::paths::Paths;
use super::report::{Row, RowDirection, StreamRow};
use super::sockets::Sockets;
use crate::deploy::Deployment;
use crate::error::LabError;
use crate::interrupt::Interrupt;
use crate::plan::{Commands, HostPlan};
use crate::progress::Progress;
use crate::scenario::{Direction, Event, Mode, Scenario, Tool as Maker, Traffic};
use crate::system::{Namespace, Tool};

/// Where iperf3 listens.
const PORT: u16 = 5201;
/// How often sockets and paths are looked at, and the length of the intervals.
const SAMPLE: Duration = Duration::from_millis(500);
/// How long a tool may take beyond the transfer itself.
pub(super) const PATIENCE: Duration = Duration::from_secs(10);

/// One transfer of a run.
pub(super) struct Transfer<'a> {
    lab: &'a Deployment,
    traffic: &'a Traffic,
    events: &'a [Event],
    mode: Mode,
    direction: &'a Direction,
    capacity: BitsPerSec,
    client: &'a HostPlan,
    server: &'a HostPlan,
}

impl<'a> Transfer<'a> {
    pub(super) fn new(
        lab: &'a Deployment,
        scenario: &'a Scenario,
        traffic: &'a Traffic,
        mode: Mode,
        direction: &'a Direction,
    ) -> Self {
        let capacity = scenario.topology.capacity(direction.from, direction.to);
        let (client, server) = (&lab.plan.hosts[direction.from], &lab.plan.hosts[direction.to]);
        Self { lab, traffic, events: &scenario.events, mode, direction, capacity, client, server }
    }

    /// Sends; `index` numbers the files that the tools write.
    pub(super) fn run(
        &self,
        index: usize,
        progress: &dyn Progress,
        interrupt: &Interrupt,
    ) -> Result<Row, LabError> {
        progress.transfer(&self.title(), self.traffic.duration);
        self.set_roles()?;
        let mut schedule = Schedule::new(self.lab, self.events);
        let mut background = Running::start(self.lab, self.traffic, index, interrupt)?;
        let row = match self.traffic.tool {
            Maker::Iperf3 => self.run_iperf(index, &mut schedule, progress, interrupt),
            Maker::Copy => self.run_copy(&mut schedule, progress, interrupt),
        };
        schedule.undo()?;
        background.check()?;
        row
    }

    fn run_iperf(
        &self,
        index: usize,
        schedule: &mut Schedule<'_>,
        progress: &dyn Progress,
        interrupt: &Interrupt,
    ) -> Result<Row, LabError> {
        let before = MptcpCounters::of(&self.namespace(self.client))?;
        let files = Files::new(self.lab, index);
        let mut server = self.start_server(&files)?;
        self.wait_for_listener(&mut server, &files, interrupt)?;
        let mut client = self.start_client(&files)?;
        let mut watch = Watch::new(self);
        self.wait_for(&mut client, interrupt, |elapsed| {
            progress.elapsed(elapsed);
            schedule.act(elapsed)?;
            watch.look(elapsed).map(drop)
        })?;
        self.wait_for(&mut server, interrupt, |_| Ok(()))?;
        let after = MptcpCounters::of(&self.namespace(self.client))?;
        self.row_of_iperf(&files, &watch, after.since(&before))
    }

    fn run_copy(
        &self,
        schedule: &mut Schedule<'_>,
        progress: &dyn Progress,
        interrupt: &Interrupt,
    ) -> Result<Row, LabError> {
        let (client, server) = (self.namespace(self.client), self.namespace(self.server));
        let before = (MptcpCounters::of(&client)?, retransmits(&client)?);
        let mut copy = Copy::start(self.mode, self.direction, [&client, &server], PORT, self.traffic.bytes)?;
        let (start, mut watch) = (Instant::now(), Watch::new(self));
        // One that is not done in time is stopped, and not intact.
        interrupt.poll(self.traffic.duration, || {
            let elapsed = start.elapsed();
            progress.elapsed(elapsed);
            schedule.act(elapsed)?;
            if watch.look(elapsed)? {
                copy.sample(elapsed);
            }
            Ok(copy.is_finished().then_some(()))
        })?;
        copy.sample(start.elapsed());
        let streams = watch.streams(&[copy.port()]);
        let outcome = copy.finish().map_err(|why| self.failed(&why))?;
        let retransmits = retransmits(&client)?.saturating_sub(before.1);
        let counters = MptcpCounters::of(&client)?.since(&before.0);
        let Outcome { goodput_bps, seconds, intervals, delivery } = outcome;
        let measured = Measured { goodput_bps, seconds, intervals };
        let row = self.row(measured, retransmits, streams, (counters, 1))?;
        Ok(Row { delivery: Some(delivery), ..row })
    }

    /// What people call it.
    fn title(&self) -> String {
        format!("{} {} > {}", self.mode, self.client.name, self.server.name)
    }

    // Only the client opens subflows. The kernel lets a server do so too; then both try the same pairs at the same
    // time, and which of them uses up the limit is chance: one connection in ten was left with a single subflow.
    fn set_roles(&self) -> Result<(), LabError> {
        let commands = Commands(&self.lab.plan);
        self.set_mptcp(self.client, commands.client_mptcp(self.client))?;
        self.set_mptcp(self.server, commands.server_mptcp(self.server))
    }

    fn set_mptcp(&self, host: &HostPlan, commands: String) -> Result<(), LabError> {
        if !host.uses_mptcp() {
            return Ok(());
        }
        let tool = self.lab.tool("ip").args(["-batch", "-"]).input(commands);
        tool.within(&self.namespace(host)).run().map(drop)
    }

    // It listens on every address: subflows come to those that the server announces, too.
    fn start_server(&self, files: &Files) -> Result<Child, LabError> {
        let tool = self.iperf().args(["--server", "--one-off"]);
        files.spawn(tool.within(&self.namespace(self.server)), &files.server)
    }

    fn start_client(&self, files: &Files) -> Result<Child, LabError> {
        let (direction, seconds) = (self.direction, self.traffic.duration.as_secs().to_string());
        let tool = self.iperf().arg("--client").arg(direction.destination.to_string());
        let tool = tool.arg("--bind").arg(direction.source.to_string()).args(["--time", &seconds]);
        let tool = tool.args(["--parallel", &self.traffic.streams.to_string()]);
        files.spawn(tool.within(&self.namespace(self.client)), &files.client)
    }

    // iperf3 3.12 has no option for Multipath TCP; mptcpize changes the sockets that it opens.
    fn iperf(&self) -> Tool {
        let tool = match self.mode {
            Mode::Tcp => self.lab.tool("iperf3"),
            Mode::Mptcp => self.lab.tool("mptcpize").args(["run", "iperf3"]),
        };
        tool.args(["--json", "--interval", "0.5", "--port", &PORT.to_string()])
    }

    fn namespace(&self, host: &HostPlan) -> Namespace {
        Namespace::named(&host.namespace)
    }

    fn wait_for_listener(
        &self,
        server: &mut Child,
        files: &Files,
        interrupt: &Interrupt,
    ) -> Result<(), LabError> {
        let namespace = self.namespace(self.server);
        let listening = interrupt.poll(PATIENCE, || {
            if ended(server)? {
                let why = iperf::received(&read(&files.server)?).err().unwrap_or_default();
                return Err(self.failed(&format!("the server ended at once: {why}")));
            }
            listens(&namespace, PORT)
        })?;
        listening.ok_or_else(|| self.failed("the iperf3 server does not listen"))
    }

    fn wait_for(
        &self,
        child: &mut Child,
        interrupt: &Interrupt,
        mut meanwhile: impl FnMut(Duration) -> Result<(), LabError>,
    ) -> Result<(), LabError> {
        let start = Instant::now();
        let done = interrupt.poll(self.traffic.duration + PATIENCE, || {
            meanwhile(start.elapsed())?;
            ended(child).map(|ended| ended.then_some(()))
        })?;
        done.ok_or_else(|| self.failed("iperf3 does not end"))
    }

    fn row_of_iperf(
        &self,
        files: &Files,
        watch: &Watch<'_>,
        counters: MptcpCounters,
    ) -> Result<Row, LabError> {
        let explained = |why: String| self.failed(&why);
        let sent = iperf::sent(&read(&files.client)?).map_err(explained)?;
        let received = iperf::received(&read(&files.server)?).map_err(explained)?;
        // One connection controls the test, the others carry data.
        let connections = u64::from(self.traffic.streams) + 1;
        self.row(received, sent.retransmits, watch.streams(&sent.ports), (counters, connections))
    }

    /// `counters` are to be of so many connections.
    fn row(
        &self,
        measured: Measured,
        retransmits: u64,
        streams: Vec<StreamRow>,
        (counters, connections): (MptcpCounters, u64),
    ) -> Result<Row, LabError> {
        if self.mode == Mode::Mptcp {
            counters.check(connections).map_err(|why| self.failed(&why))?;
        }
        let direction = RowDirection { from: self.client.name.clone(), to: self.server.name.clone() };
        let Measured { goodput_bps, seconds, intervals } = measured;
        Ok(Row {
            variant: None,
            mode: self.mode,
            direction,
            goodput_bps,
            capacity_bps: self.capacity.as_f64(),
            fraction_of_capacity: goodput_bps / self.capacity.as_f64(),
            seconds,
            retransmits,
            streams,
            mptcp: (self.mode == Mode::Mptcp).then_some(counters.into()),
            delivery: None,
            intervals,
        })
    }

    fn failed(&self, what: &str) -> LabError {
        LabError::Traffic { run: self.title(), what: what.to_owned() }
    }
}

/// What is seen of the sockets and their paths while the transfer runs.
struct Watch<'a> {
    transfer: &'a Transfer<'a>,
    next: Duration,
    sockets: Sockets,
    paths: Paths,
}

impl<'a> Watch<'a> {
    fn new(transfer: &'a Transfer<'a>) -> Self {
        Self { transfer, next: SAMPLE, sockets: Sockets::default(), paths: Paths::default() }
    }

    /// Looks if it is time, and says whether it was.
    fn look(&mut self, elapsed: Duration) -> Result<bool, LabError> {
        if elapsed < self.next {
            return Ok(false);
        }
        self.next = elapsed + SAMPLE;
        let transfer = self.transfer;
        let namespace = transfer.namespace(transfer.client);
        let filter = format!("dport = :{PORT}");
        let listing = transfer.lab.tool("ss").arg("-Htnie").arg(filter).within(&namespace).run()?;
        self.sockets.add(&listing);
        self.paths.ask(transfer.lab.controller.as_ref());
        Ok(true)
    }

    /// The streams of the connections from these ports.
    fn streams(&self, ports: &[u16]) -> Vec<StreamRow> {
        self.sockets.streams(ports, &self.paths, &self.transfer.lab.plan)
    }
}

/// Where the tools write what they measured.
struct Files {
    client: PathBuf,
    server: PathBuf,
}

impl Files {
    fn new(lab: &Deployment, index: usize) -> Self {
        let file = |side: &str| lab.folder.log().join(format!("iperf3-{index}-{side}.json"));
        Self { client: file("client"), server: file("server") }
    }

    fn spawn(&self, mut tool: Tool, output: &Path) -> Result<Child, LabError> {
        let output = File::create(output).map_err(|error| LabError::file(output, error))?;
        tool.spawn(Stdio::null(), output.into(), Stdio::null())
    }
}

fn read(path: &Path) -> Result<String, LabError> {
    fs::read_to_string(path).map_err(|error| LabError::file(path, error))
}

fn ended(child: &mut Child) -> Result<bool, LabError> {
    let status = child.try_wait().map_err(|error| LabError::io("waiting for iperf3", error))?;
    Ok(status.is_some())
}

// State 0A is LISTEN; the tables of a thread are those of its own namespace.
pub(super) fn listens(namespace: &Namespace, port: u16) -> Result<Option<()>, LabError> {
    let port = format!(":{port:04X}");
    let listening = |line: &str| {
        let mut words = line.split_whitespace().skip(1);
        words.next().is_some_and(|local| local.ends_with(&port)) && words.nth(1) == Some("0A")
    };
    namespace.run(|| {
        let tables =
            ["tcp", "tcp6"].map(|table| fs::read_to_string(format!("/proc/thread-self/net/{table}")));
        Ok(tables.into_iter().flatten().any(|table| table.lines().any(listening)).then_some(()))
    })
}

/// The address and port that iperf3's data connections go to.
pub(super) fn is_data_port(address: SocketAddr) -> bool {
    address.port() == PORT
}
