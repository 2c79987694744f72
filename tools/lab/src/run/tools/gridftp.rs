//! GridFTP transfers with Debian's `globus-url-copy` and `globus-gridftp-server`: a file, or zeros for a time.

use std::env::current_exe;
use std::path::{Path, PathBuf};
use std::process::Child;
use std::time::Duration;

use super::super::report::Delivery;
use super::super::transfer::{Finding, Transfer};
use super::RunningTransfer;
use super::client::Client;
use super::iperf::Measured;
use super::process::{ended, last_line, spawn};
use super::samples::Samples;
use super::whole_file::WholeFile;
use crate::error::LabError;
use crate::interrupt::Interrupt;
use crate::scenario::Assign;
use crate::system::Tool;

/// The exit codes of timeout(1) after it stopped the command.
const TIMED_OUT: [i32; 2] = [124, 137];

/// A client and a server.
pub(super) struct Gridftp<'a> {
    transfer: Transfer<'a>,
    server: Child,
    log: PathBuf,
    /// The copied file, unless zeros are sent for a time.
    file: Option<WholeFile>,
    client: Option<Client>,
    samples: Samples,
}

impl<'a> Gridftp<'a> {
    pub(super) fn listen(
        transfer: Transfer<'a>,
        index: usize,
        interrupt: &Interrupt,
    ) -> Result<Self, LabError> {
        let file =
            |side: &str| transfer.lab.deployed.folder.log().join(format!("gridftp-{index}-{side}.log"));
        let bytes = transfer.setting.work.bytes;
        let copied =
            (bytes > 0).then(|| WholeFile::make(&format!("{}-{index}", transfer.client.namespace), bytes));
        let log = file("server");
        let mut server = spawn(server(&transfer).within(&transfer.server_namespace()), &log)?;
        transfer.wait_for_listener(interrupt, || match ended(&mut server)? {
            None => Ok(()),
            Some(_) => Err(transfer.failed(&format!("the server ended and said: {}", last_line(&log)))),
        })?;
        let (file, log) = (copied.transpose()?, file("client"));
        Ok(Self { transfer, server, log, file, client: None, samples: Samples::default() })
    }

    fn url_copy(&self) -> Result<Tool, LabError> {
        let Transfer { lab, traffic, direction, setting, port, .. } = &self.transfer;
        let streams = setting.connections.to_string();
        let time = (traffic.warm_up + traffic.duration).as_secs().to_string();
        let (source, target) = match &self.file {
            Some(file) => (file.source(), file.target()),
            None => (Path::new("/dev/zero"), Path::new("/dev/null")),
        };
        let tool = match &traffic.assign {
            Some(assign) => self.announced(assign)?,
            None => lab.deployed.tool("nsenter"),
        };
        let tool = tool.arg(format!("--net={}", self.transfer.client_namespace().path().display())).arg("--");
        let tool = tool.args(["timeout", "-k", "1", &time, "globus-url-copy", "-p", &streams]);
        let tool = tool.arg(format!("file://{}", source.display()));
        Ok(tool.arg(format!("ftp://{}:{port}{}", direction.destination, target.display())))
    }

    /// `braid run` runs where the controller is reachable; its command enters the host's namespace.
    fn announced(&self, assign: &Assign) -> Result<Tool, LabError> {
        let Transfer { lab, setting, client, port, .. } = &self.transfer;
        let controller = lab.controller.as_ref();
        let controller = controller.ok_or_else(|| self.transfer.failed("there is no controller to ask"))?;
        let this = current_exe().map_err(|error| LabError::io("the path of this program", error))?;
        let tool = lab.deployed.tool(&this.to_string_lossy()).args(["run", "--quiet"]);
        let tool = tool.args([
            "--paths",
            &assign.paths.to_string(),
            "--distribute",
            &assign.distribution.to_string(),
        ]);
        let tool = tool.args(["--streams", &setting.connections.to_string(), "--owner", &client.name]);
        let tool = tool.args(["--exclude-port", &port.to_string()]);
        Ok(tool.args(["--controller", &format!("http://{}", controller.http), "--", "nsenter"]))
    }

    fn is_whole(&self) -> bool {
        self.file.is_some()
    }

    fn measured(&self) -> Measured {
        let from = self.transfer.traffic.warm_up.as_secs_f64();
        self.samples.measured(from, from + self.transfer.traffic.duration.as_secs_f64())
    }

    fn copied(&self, file: &WholeFile, took: Duration) -> Result<(Measured, Delivery), LabError> {
        let delivery = file.compare(self.samples.longest_stall())?;
        Ok((self.samples.whole(delivery.bytes_received, took), delivery))
    }
}

impl RunningTransfer for Gridftp<'_> {
    fn begin(&mut self) -> Result<(), LabError> {
        self.client = Some(Client::start(self.url_copy()?, &self.log, self.transfer.client_namespace())?);
        Ok(())
    }

    fn sample(&mut self, elapsed: Duration, acked: u64) {
        self.samples.add(elapsed, acked);
    }

    fn is_finished(&mut self) -> Result<bool, LabError> {
        self.client.as_mut().map_or(Ok(true), |client| Ok(client.ended()?.is_some()))
    }

    fn finish(mut self: Box<Self>, _: Duration) -> Result<Option<Finding>, LabError> {
        let Some(client) = &mut self.client else { return Ok(None) };
        let Some((status, took)) = client.ended()? else { return Ok(None) };
        let retransmits = client.retransmits()?;
        let was_stopped = status.code().is_some_and(|code| TIMED_OUT.contains(&code));
        if !(if self.is_whole() { status.success() || was_stopped } else { was_stopped }) {
            let what = format!("globus-url-copy ended ({status}) and said: {}", last_line(&self.log));
            return Err(self.transfer.failed(&what));
        }
        let (measured, delivery) = match &self.file {
            Some(file) => self.copied(file, took).map(|(measured, delivery)| (measured, Some(delivery)))?,
            None => (self.measured(), None),
        };
        let connections = u64::from(self.transfer.setting.connections) + 1;
        Ok(Some(Finding { measured, retransmits, ports: None, connections, delivery }))
    }
}

impl Drop for Gridftp<'_> {
    // The server runs until it is stopped.
    fn drop(&mut self) {
        drop(self.server.kill());
        drop(self.server.wait());
    }
}

/// A server with anonymous access, as user `nobody`.
fn server(transfer: &Transfer<'_>) -> Tool {
    let (first, last) = transfer.data_ports;
    let tool = transfer.lab.deployed.tool("globus-gridftp-server").args(["-p", &transfer.port.to_string()]);
    let tool = tool.args(["-aa", "-anonymous-user", "nobody", "-home-dir", "/", "-no-chdir"]);
    let tool = tool.args(["-data-interface", &transfer.direction.destination.to_string()]);
    // The server resolves its own name, and the namespace may have no resolver.
    let tool = tool.env("GLOBUS_HOSTNAME", "localhost");
    tool.env("GLOBUS_TCP_PORT_RANGE", format!("{first},{last}"))
}
