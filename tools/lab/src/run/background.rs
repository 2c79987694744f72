//! Cross traffic during every transfer.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::{Child, Stdio};
use std::time::Duration;

use super::transfer::listens;
use crate::deploy::Deployment;
use crate::error::LabError;
use crate::interrupt::Interrupt;
use crate::scenario::{Background, Protocol, Traffic};
use crate::system::{Namespace, Tool};

/// The port of its first server.
pub(super) const FIRST_PORT: u16 = 5301;

/// The running cross traffic, which ends when this is dropped.
#[derive(Default)]
pub(super) struct Running {
    children: Vec<Child>,
    /// Clients that start later, and their output files.
    waiting: Vec<(Duration, Tool, PathBuf)>,
}

impl Running {
    /// Starts the traffic that begins with the transfer; `index` numbers the tools' files.
    pub(super) fn start(
        lab: &Deployment,
        traffic: &Traffic,
        index: usize,
        interrupt: &Interrupt,
    ) -> Result<Self, LabError> {
        let mut running = Self::default();
        for (background, port) in traffic.background.iter().zip(FIRST_PORT..) {
            let log = lab.deployed.folder.log().join(format!("background-{index}-{port}"));
            running.start_one(lab, background, port, &log, interrupt)?;
        }
        Ok(running)
    }

    fn start_one(
        &mut self,
        lab: &Deployment,
        background: &Background,
        port: u16,
        log: &Path,
        interrupt: &Interrupt,
    ) -> Result<(), LabError> {
        let namespace = |host: usize| Namespace::named(&lab.deployed.plan.hosts[host].namespace);
        let (from, to) = (namespace(background.direction.from), namespace(background.direction.to));
        let iperf = || lab.deployed.tool("iperf3").args(["--port", &port.to_string()]);
        self.spawn(iperf().args(["--server", "--one-off"]).within(&to), &log.with_extension("server"))?;
        let failed = |what: &str| LabError::Traffic { run: "background".to_owned(), what: what.to_owned() };
        let listening = interrupt.poll(super::transfer::TOOL_TIMEOUT, || listens(&to, port))?;
        listening.ok_or_else(|| failed("the iperf3 server does not listen"))?;
        let (client, log) = (client(iperf(), background).within(&from), log.with_extension("client"));
        match background.after {
            None => self.spawn(client, &log),
            Some(after) => {
                self.waiting.push((after, client, log));
                Ok(())
            }
        }
    }

    /// Starts the traffic that is due at this time after the start of the transfer.
    pub(super) fn act(&mut self, elapsed: Duration) -> Result<(), LabError> {
        while let Some(due) = self.waiting.iter().position(|(after, ..)| *after <= elapsed) {
            let (_, client, log) = self.waiting.swap_remove(due);
            self.spawn(client, &log)?;
        }
        Ok(())
    }

    fn spawn(&mut self, mut tool: Tool, log: &Path) -> Result<(), LabError> {
        let output = File::create(log).map_err(|error| LabError::file(log, error))?;
        let errors = output.try_clone().map_err(|error| LabError::file(log, error))?;
        self.children.push(tool.spawn(Stdio::null(), output.into(), errors.into())?);
        Ok(())
    }

    /// Returns an error if a tool has ended by itself.
    pub(super) fn check(&mut self) -> Result<(), LabError> {
        for child in &mut self.children {
            let ended = child.try_wait().map_err(|error| LabError::io("waiting for iperf3", error))?;
            if let Some(status) = ended {
                let what = format!("iperf3 ended too early: {status}; the lab's logs say more");
                return Err(LabError::Traffic { run: "background".to_owned(), what });
            }
        }
        Ok(())
    }
}

/// The client sends until it is stopped.
fn client(iperf: Tool, background: &Background) -> Tool {
    let Background { direction, streams, rate, protocol, .. } = background;
    let udp = (*protocol == Protocol::Udp).then_some("--udp");
    let tool = iperf.args(udp).arg("--client").arg(direction.destination.to_string());
    let tool = tool.arg("--bind").arg(direction.source.to_string()).args(["--time", "0"]);
    let tool = tool.args(["--parallel", &streams.to_string()]);
    match rate {
        // iperf3's rate option applies to each stream.
        Some(rate) => tool.args(["--bitrate", &(rate.0 / u64::from(*streams)).to_string()]),
        None => tool,
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        for child in &mut self.children {
            // The process may have ended by itself.
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}
