//! GridFTP as Debian has it: `globus-url-copy` sends to `globus-gridftp-server`, a file, or zeros for a time.

use std::env::current_exe;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Child, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use super::super::counters::retransmits;
use super::super::report::{Delivery, Interval};
use super::super::transfer::{Finding, Transfer};
use super::Going;
use super::iperf::Measured;
use super::whole_file::WholeFile;
use crate::error::LabError;
use crate::interrupt::Interrupt;
use crate::scenario::Assign;
use crate::system::Tool;

/// What timeout(1) ends with when it had to stop the command.
const TIMED_OUT: [i32; 2] = [124, 137];

/// A client and a server.
pub(super) struct Gridftp<'a> {
    transfer: Transfer<'a>,
    server: Child,
    log: PathBuf,
    /// What is copied, unless zeros are sent for a time.
    file: Option<WholeFile>,
    running: Option<Running>,
    /// Seconds since the start, and the bytes that were acknowledged by then.
    samples: Vec<(f64, u64)>,
}

struct Running {
    client: Child,
    start: Instant,
    ended: Option<(ExitStatus, Duration)>,
    /// Segments that the client had sent again before.
    retransmits: u64,
}

impl<'a> Gridftp<'a> {
    pub(super) fn listen(
        transfer: Transfer<'a>,
        index: usize,
        interrupt: &Interrupt,
    ) -> Result<Self, LabError> {
        let file = |side: &str| transfer.lab.folder.log().join(format!("gridftp-{index}-{side}.log"));
        let bytes = transfer.traffic.bytes;
        let copied =
            (bytes > 0).then(|| WholeFile::make(&format!("{}-{index}", transfer.client.namespace), bytes));
        let log = file("server");
        let mut server = spawn(server(&transfer).within(&transfer.server_namespace()), &log)?;
        transfer.wait_for_listener(interrupt, || match ended(&mut server)? {
            None => Ok(()),
            Some(_) => Err(transfer.failed(&format!("the server ended and said: {}", last_line(&log)))),
        })?;
        let (file, log) = (copied.transpose()?, file("client"));
        Ok(Self { transfer, server, log, file, running: None, samples: vec![(0.0, 0)] })
    }

    fn client(&self) -> Result<Tool, LabError> {
        let Transfer { lab, traffic, direction, setting, port, .. } = &self.transfer;
        let streams = setting.connections.to_string();
        let time = (traffic.warm_up + traffic.duration).as_secs().to_string();
        let (source, target) = match &self.file {
            Some(file) => (file.source(), file.target()),
            None => (Path::new("/dev/zero"), Path::new("/dev/null")),
        };
        let tool = match &traffic.assign {
            Some(assign) => self.announced(assign)?,
            None => lab.tool("nsenter"),
        };
        let tool = tool.arg(format!("--net={}", self.transfer.client_namespace().path().display())).arg("--");
        let tool = tool.args(["timeout", "-k", "1", &time, "globus-url-copy", "-p", &streams]);
        let tool = tool.arg(format!("file://{}", source.display()));
        Ok(tool.arg(format!("ftp://{}:{port}{}", direction.destination, target.display())))
    }

    /// `braid run` is where it reaches the controller; the command enters the host's namespace.
    fn announced(&self, assign: &Assign) -> Result<Tool, LabError> {
        let Transfer { lab, setting, client, port, .. } = &self.transfer;
        let controller = lab.controller.as_ref();
        let controller = controller.ok_or_else(|| self.transfer.failed("there is no controller to ask"))?;
        let this = current_exe().map_err(|error| LabError::io("the path of this program", error))?;
        let tool = lab.tool(&this.to_string_lossy()).args(["run", "--quiet"]);
        let tool = tool.args(["--paths", &assign.paths.to_string(), "--deal", &assign.deal.to_string()]);
        let tool = tool.args(["--streams", &setting.connections.to_string(), "--owner", &client.name]);
        let tool = tool.args(["--except", &port.to_string()]);
        Ok(tool.args(["--controller", &format!("http://{}", controller.http), "--", "nsenter"]))
    }

    fn is_whole(&self) -> bool {
        self.file.is_some()
    }

    /// The rate between the first look after the warm-up and the last one in time.
    fn measured(&self) -> Measured {
        let from = self.transfer.traffic.warm_up.as_secs_f64();
        let until = from + self.transfer.traffic.duration.as_secs_f64();
        let counted = || self.samples.iter().filter(|(at, _)| (from..=until).contains(at));
        let [first, last] =
            [counted().next(), counted().next_back()].map(|it| it.copied().unwrap_or_default());
        let seconds = (last.0 - first.0).max(1e-3);
        let goodput_bps = last.1.saturating_sub(first.1) as f64 * 8.0 / seconds;
        Measured { goodput_bps, seconds, intervals: intervals(&self.samples, until) }
    }

    fn copied(&self, file: &WholeFile, took: Duration) -> Result<(Measured, Delivery), LabError> {
        let longest_pause = longest_pause(&self.samples);
        let delivery = file.compare(longest_pause)?;
        let seconds = took.as_secs_f64();
        let goodput_bps = delivery.bytes_received as f64 * 8.0 / seconds.max(1e-3);
        Ok((Measured { goodput_bps, seconds, intervals: intervals(&self.samples, seconds) }, delivery))
    }
}

impl Going for Gridftp<'_> {
    fn begin(&mut self) -> Result<(), LabError> {
        let retransmits = retransmits(&self.transfer.client_namespace())?;
        let client = spawn(self.client()?, &self.log)?;
        self.running = Some(Running { client, start: Instant::now(), ended: None, retransmits });
        Ok(())
    }

    fn sample(&mut self, elapsed: Duration, acked: u64) {
        self.samples.push((elapsed.as_secs_f64(), acked));
    }

    fn is_finished(&mut self) -> Result<bool, LabError> {
        let Some(running) = &mut self.running else { return Ok(true) };
        if running.ended.is_none() {
            running.ended = ended(&mut running.client)?.map(|status| (status, running.start.elapsed()));
        }
        Ok(running.ended.is_some())
    }

    fn finish(mut self: Box<Self>, _: Duration) -> Result<Option<Finding>, LabError> {
        if !self.is_finished()? {
            return Ok(None);
        }
        let Some(Running { ended: Some((status, took)), retransmits: before, .. }) = self.running else {
            return Ok(None);
        };
        let was_stopped = status.code().is_some_and(|code| TIMED_OUT.contains(&code));
        if !(if self.is_whole() { status.success() || was_stopped } else { was_stopped }) {
            let what = format!("globus-url-copy ended ({status}) and said: {}", last_line(&self.log));
            return Err(self.transfer.failed(&what));
        }
        let (measured, delivery) = match &self.file {
            Some(file) => self.copied(file, took).map(|(measured, delivery)| (measured, Some(delivery)))?,
            None => (self.measured(), None),
        };
        let retransmits = retransmits(&self.transfer.client_namespace())?.saturating_sub(before);
        let connections = u64::from(self.transfer.setting.connections) + 1;
        Ok(Some(Finding { measured, retransmits, ports: None, connections, delivery }))
    }
}

impl Drop for Gridftp<'_> {
    // It serves until it is stopped; what else there is ends with the lab.
    fn drop(&mut self) {
        drop(self.server.kill());
        drop(self.server.wait());
    }
}

/// For anybody, as nobody: who may send what is not what is measured.
fn server(transfer: &Transfer<'_>) -> Tool {
    let (first, last) = transfer.data_ports;
    let tool = transfer.lab.tool("globus-gridftp-server").args(["-p", &transfer.port.to_string()]);
    let tool = tool.args(["-aa", "-anonymous-user", "nobody", "-home-dir", "/", "-no-chdir"]);
    let tool = tool.args(["-data-interface", &transfer.direction.destination.to_string()]);
    // It looks its own name up, and a namespace may have nobody to ask.
    let tool = tool.env("GLOBUS_HOSTNAME", "localhost");
    tool.env("GLOBUS_TCP_PORT_RANGE", format!("{first},{last}"))
}

fn intervals(samples: &[(f64, u64)], until: f64) -> Vec<Interval> {
    let pairs = samples.iter().zip(samples.iter().skip(1)).filter(|(_, (end, _))| *end <= until);
    let interval = |((start, before), (end, after)): (&(f64, u64), &(f64, u64))| Interval {
        start: *start,
        end: *end,
        bps: after.saturating_sub(*before) as f64 * 8.0 / (end - start).max(1e-3),
    };
    pairs.map(interval).collect()
}

/// As far as looks at the sockets tell.
fn longest_pause(samples: &[(f64, u64)]) -> f64 {
    let (mut longest, mut since) = (0.0_f64, samples.first().map_or((0.0, 0), |first| *first));
    for (at, acked) in samples {
        if *acked > since.1 {
            since = (*at, *acked);
        }
        longest = longest.max(at - since.0);
    }
    longest
}

fn spawn(mut tool: Tool, log: &Path) -> Result<Child, LabError> {
    let failed = |error| LabError::file(log, error);
    let output = File::create(log).map_err(failed)?;
    let errors = output.try_clone().map_err(failed)?;
    tool.spawn(Stdio::null(), output.into(), errors.into())
}

fn ended(child: &mut Child) -> Result<Option<ExitStatus>, LabError> {
    child.try_wait().map_err(|error| LabError::io("waiting for GridFTP", error))
}

fn last_line(log: &Path) -> String {
    let said = fs::read_to_string(log).unwrap_or_default();
    said.lines().rfind(|line| !line.trim().is_empty()).unwrap_or("nothing").trim().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pause_lasts_until_more_is_acknowledged() {
        assert_eq!(longest_pause(&[(0.0, 0), (0.5, 10), (1.0, 10), (2.0, 10), (2.5, 11)]), 1.5);
        assert_eq!(longest_pause(&[(0.0, 0), (0.5, 0)]), 0.5, "not begun");
        assert_eq!(longest_pause(&[]), 0.0);
    }

    #[test]
    fn intervals_after_the_end_do_not_count() {
        let all = intervals(&[(0.0, 0), (0.5, 1_000), (1.0, 1_500), (1.5, 1_500)], 1.0);
        let rates: Vec<_> = all.iter().map(|it| (it.end, it.bps)).collect();
        assert_eq!(rates, [(0.5, 16_000.0), (1.0, 8_000.0)]);
    }
}
