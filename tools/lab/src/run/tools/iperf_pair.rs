//! A running transfer between an iperf3 client and server.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Child, Stdio};
use std::time::Duration;

use super::super::transfer::{Finding, Transfer};
use super::RunningTransfer;
use super::iperf;
use crate::error::LabError;
use crate::interrupt::Interrupt;
use crate::scenario::Mode;
use crate::system::Tool;

/// A client and a server of iperf3.
pub(super) struct IperfPair<'a> {
    transfer: Transfer<'a>,
    files: Files,
    server: Child,
    client: Option<Child>,
}

/// The output files of both.
struct Files {
    client: PathBuf,
    server: PathBuf,
}

impl<'a> IperfPair<'a> {
    pub(super) fn listen(
        transfer: Transfer<'a>,
        index: usize,
        interrupt: &Interrupt,
    ) -> Result<Self, LabError> {
        let file =
            |side: &str| transfer.lab.deployed.folder.log().join(format!("iperf3-{index}-{side}.json"));
        let files = Files { client: file("client"), server: file("server") };
        // The server listens on every address, since subflows also arrive at announced addresses.
        let tool = iperf3(&transfer).args(["--server", "--one-off"]).within(&transfer.server_namespace());
        let mut server = spawn(tool, &files.server)?;
        transfer.wait_for_listener(interrupt, || {
            if !ended(&mut server)? {
                return Ok(());
            }
            let why = iperf::received(&read(&files.server)?).err().unwrap_or_default();
            Err(transfer.failed(&format!("the server ended at once: {why}")))
        })?;
        Ok(Self { transfer, files, server, client: None })
    }
}

impl RunningTransfer for IperfPair<'_> {
    fn begin(&mut self) -> Result<(), LabError> {
        let Transfer { traffic, direction, setting, .. } = &self.transfer;
        let whole = |time: Duration| time.as_secs().to_string();
        let tool = iperf3(&self.transfer).arg("--client").arg(direction.destination.to_string());
        let tool = tool.arg("--bind").arg(direction.source.to_string());
        let tool = tool.args(["--time", &whole(traffic.duration), "--omit", &whole(traffic.warm_up)]);
        let tool = tool.args(["--parallel", &setting.connections.to_string()]);
        let tool = match direction.own.rate {
            // iperf3's rate option applies to each stream.
            Some(rate) => {
                let rate = rate.0 / u64::from(setting.connections);
                tool.args(["--udp", "--bitrate", &rate.to_string()])
            }
            None => tool,
        };
        self.client = Some(spawn(tool.within(&self.transfer.client_namespace()), &self.files.client)?);
        Ok(())
    }

    // The server takes its own measurements.
    fn sample(&mut self, _: Duration, _: u64) {}

    fn is_finished(&mut self) -> Result<bool, LabError> {
        let client = self.client.as_mut().map_or(Ok(true), ended)?;
        Ok(client && ended(&mut self.server)?)
    }

    fn finish(mut self: Box<Self>, _: Duration) -> Result<Option<Finding>, LabError> {
        if !self.is_finished()? {
            return Ok(None);
        }
        let explained = |why: String| self.transfer.failed(&why);
        let sent = iperf::sent(&read(&self.files.client)?).map_err(explained)?;
        let measured = iperf::received(&read(&self.files.server)?).map_err(explained)?;
        // One connection is for control, the others carry data.
        let connections = u64::from(self.transfer.setting.connections) + 1;
        let (retransmits, ports) = (sent.retransmits, sent.ports);
        Ok(Some(Finding { measured, retransmits, ports: Some(ports), connections, delivery: None }))
    }
}

// iperf3 3.12 has no option for MPTCP; mptcpize changes its sockets.
fn iperf3(transfer: &Transfer<'_>) -> Tool {
    let tool = match transfer.setting.mode {
        Mode::Tcp | Mode::Udp | Mode::Quic => transfer.lab.deployed.tool("iperf3"),
        Mode::Mptcp => transfer.lab.deployed.tool("mptcpize").args(["run", "iperf3"]),
    };
    tool.args(["--json", "--interval", "0.5", "--port", &transfer.port.to_string()])
}

fn spawn(mut tool: Tool, output: &Path) -> Result<Child, LabError> {
    let output = File::create(output).map_err(|error| LabError::file(output, error))?;
    tool.spawn(Stdio::null(), output.into(), Stdio::null())
}

fn read(path: &Path) -> Result<String, LabError> {
    fs::read_to_string(path).map_err(|error| LabError::file(path, error))
}

fn ended(child: &mut Child) -> Result<bool, LabError> {
    let status = child.try_wait().map_err(|error| LabError::io("waiting for iperf3", error))?;
    Ok(status.is_some())
}
