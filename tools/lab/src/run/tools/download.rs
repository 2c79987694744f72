//! A file that the receiver gets: with wget from Python's `http.server` or `vsftpd` at the sender, or by HTTP/3.

use std::fs;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::Child;
use std::time::Duration;

use super::super::transfer::{Finding, Transfer};
use super::RunningTransfer;
use super::client::Client;
use super::http3;
use super::process::{ended, last_line, spawn};
use super::samples::Samples;
use super::whole_file::WholeFile;
use crate::error::LabError;
use crate::interrupt::Interrupt;
use crate::scenario::{Mode, Tool as Work};
use crate::system::Tool;

/// A client and a server; the server runs on the sending host.
pub(super) struct Download<'a> {
    transfer: Transfer<'a>,
    server: Child,
    log: PathBuf,
    file: WholeFile,
    client: Option<Client>,
    samples: Samples,
}

impl<'a> Download<'a> {
    pub(super) fn listen(
        transfer: Transfer<'a>,
        index: usize,
        interrupt: &Interrupt,
    ) -> Result<Self, LabError> {
        let work = transfer.setting.work;
        let log =
            |side: &str| transfer.lab.deployed.folder.log().join(format!("{}-{index}-{side}.log", work.tool));
        let name = format!("{}-{index}", transfer.client.namespace);
        let file = WholeFile::to_read(&name, work.bytes)?;
        let tool = match work.tool {
            Work::Ftp => vsftpd(&transfer, &file, &log("server").with_extension("conf"))?,
            Work::Http3 => http3::server(&transfer, &file)?,
            _ => http_server(&transfer, &file),
        };
        let (namespace, said) = (transfer.client_namespace(), log("server"));
        let mut server = spawn(tool.within(&namespace), &said)?;
        transfer.wait_for_listener_in(&namespace, interrupt, || match ended(&mut server)? {
            None => Ok(()),
            Some(_) => Err(transfer.failed(&format!("the server ended and said: {}", last_line(&said)))),
        })?;
        let log = log("client");
        Ok(Self { transfer, server, log, file, client: None, samples: Samples::default() })
    }

    /// Whether the kernel's TCP has no part in it.
    fn is_by_quic(&self) -> bool {
        self.transfer.setting.mode == Mode::Quic
    }

    /// The rate after the warm-up, of a file that was not complete before it ended.
    fn after(&self, warm_up: Duration, took: Duration) -> Result<Finding, LabError> {
        if took <= warm_up {
            return Err(self
                .transfer
                .failed("the file was complete before the warm-up ended; give more bytes"));
        }
        let measured = self.samples.measured(warm_up.as_secs_f64(), took.as_secs_f64());
        Ok(Finding { measured, retransmits: 0, ports: None, connections: 1, delivery: None })
    }

    fn tool(&self) -> Tool {
        match self.transfer.setting.work.tool {
            Work::Http3 => http3::client(&self.transfer, &self.file),
            _ => self.wget(),
        }
    }

    fn wget(&self) -> Tool {
        let Transfer { lab, direction, setting, port, .. } = &self.transfer;
        let server = SocketAddr::new(direction.source, *port);
        // One attempt, so that failures are reported, and without the user's proxies.
        let tool =
            lab.deployed.tool("wget").args(["--no-proxy", "--no-verbose", "--tries=1", "--output-document"]);
        let tool = tool.arg(self.file.target()).arg(format!("--bind-address={}", direction.destination));
        let path = self.file.source().file_name().unwrap_or_default().to_string_lossy();
        tool.arg(format!("{}://{server}/{path}", setting.work.tool))
    }
}

impl RunningTransfer for Download<'_> {
    fn begin(&mut self) -> Result<(), LabError> {
        let tool = self.tool().within(&self.transfer.server_namespace());
        self.client = Some(Client::start(tool, &self.log, self.transfer.client_namespace())?);
        Ok(())
    }

    fn sample(&mut self, elapsed: Duration, acked: u64) {
        self.samples.add(elapsed, if self.is_by_quic() { self.file.received() } else { acked });
    }

    fn is_finished(&mut self) -> Result<bool, LabError> {
        self.client.as_mut().map_or(Ok(true), |client| Ok(client.ended()?.is_some()))
    }

    // A transfer that is not complete in time is stopped and not intact.
    fn finish(mut self: Box<Self>, elapsed: Duration) -> Result<Option<Finding>, LabError> {
        let is_by_quic = self.is_by_quic();
        let Some(client) = &mut self.client else { return Ok(None) };
        let took = match client.ended()? {
            Some((status, _)) if !status.success() => {
                let what = format!("the client ended ({status}) and said: {}", last_line(&self.log));
                return Err(self.transfer.failed(&what));
            }
            Some((_, took)) => took,
            None => elapsed,
        };
        if is_by_quic && !self.transfer.traffic.warm_up.is_zero() {
            return self.after(self.transfer.traffic.warm_up, took).map(Some);
        }
        let delivery = self.file.compare(self.samples.longest_stall())?;
        let measured = self.samples.whole(delivery.bytes_received, took);
        // The kernel counts those of TCP.
        let (retransmits, delivery) = (if is_by_quic { 0 } else { client.retransmits()? }, Some(delivery));
        Ok(Some(Finding { measured, retransmits, ports: None, connections: 1, delivery }))
    }
}

impl Drop for Download<'_> {
    // The server runs until it is stopped.
    fn drop(&mut self) {
        drop(self.server.kill());
        drop(self.server.wait());
    }
}

fn http_server(transfer: &Transfer<'_>, file: &WholeFile) -> Tool {
    let tool = transfer.lab.deployed.tool("python3").args(["-m", "http.server", &transfer.port.to_string()]);
    let tool = tool.args(["--bind", &transfer.direction.source.to_string(), "--directory"]);
    tool.arg(file.folder())
}

/// A configuration for anonymous access, with the package's user.
fn vsftpd(transfer: &Transfer<'_>, file: &WholeFile, configuration: &Path) -> Result<Tool, LabError> {
    let text = vsftpd_configuration(transfer, file.folder());
    fs::write(configuration, text).map_err(|error| LabError::file(configuration, error))?;
    Ok(transfer.lab.deployed.tool("vsftpd").arg(configuration))
}

fn vsftpd_configuration(transfer: &Transfer<'_>, folder: &Path) -> String {
    let (first, last) = transfer.data_ports;
    let (source, folder) = (transfer.direction.source, folder.display());
    let family = if source.is_ipv4() { "" } else { "6" };
    // Otherwise vsftpd isolates itself in a namespace, and its sandbox refuses newer system calls.
    let lines = [
        "background=NO".to_owned(),
        if source.is_ipv4() { "listen=YES" } else { "listen=NO\nlisten_ipv6=YES" }.to_owned(),
        format!("listen_address{family}={source}"),
        format!("listen_port={}", transfer.port),
        format!("pasv_min_port={first}\npasv_max_port={last}"),
        "anonymous_enable=YES\nno_anon_password=YES".to_owned(),
        format!("anon_root={folder}\nsecure_chroot_dir={folder}/empty"),
        "isolate=NO\nisolate_network=NO\nseccomp_sandbox=NO".to_owned(),
    ];
    lines.join("\n") + "\n"
}
