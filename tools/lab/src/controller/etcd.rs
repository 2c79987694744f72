//! The store of a lab's cluster: an etcd of its own, in the fabric's namespace, with its data in the lab's folder.

use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpStream};
use std::path::Path;
use std::process::{Child, Stdio};
use std::time::Duration;

use crate::deployed::Deployed;
use crate::error::LabError;
use crate::interrupt::Interrupt;

const PORT: u16 = 2_379;
const PEER_PORT: u16 = 2_380;
/// It waits for its disk a few times.
const START_TIMEOUT: Duration = Duration::from_secs(20);
const ANSWER_TIMEOUT: Duration = Duration::from_secs(1);

/// Starts it; it answers when this returns. Its URL for members.
pub(super) fn start(lab: &Deployed, interrupt: &Interrupt) -> Result<String, LabError> {
    let log = lab.folder.log().join("etcd.log");
    let output = File::create(&log).map_err(|error| LabError::file(&log, error))?;
    let errors = output.try_clone().map_err(|error| LabError::file(&log, error))?;
    let [clients, peers] = [PORT, PEER_PORT].map(|port| format!("http://{}", local(port)));
    let tool = lab.tool("etcd").arg("--data-dir").arg(lab.folder.path.join("etcd"));
    let tool = tool.args(["--listen-client-urls", &clients, "--advertise-client-urls", &clients]);
    let tool = tool.args(["--listen-peer-urls", &peers]).within(&lab.fabric());
    let mut child = { tool }.spawn(Stdio::null(), output.into(), errors.into())?;
    let ready = interrupt.poll(START_TIMEOUT, || {
        alive(&mut child, &log)?;
        lab.fabric().run(|| Ok(is_healthy().unwrap_or(false).then_some(())))
    })?;
    let failed = |what| LabError::Store { what, log };
    ready.ok_or_else(|| failed(format!("does not answer in {} s", START_TIMEOUT.as_secs())))?;
    Ok(format!("etcd://{}", local(PORT)))
}

fn local(port: u16) -> SocketAddr {
    SocketAddr::from((Ipv4Addr::LOCALHOST, port))
}

fn alive(child: &mut Child, log: &Path) -> Result<(), LabError> {
    let ended = child.try_wait().map_err(|error| LabError::io("waiting for etcd", error))?;
    let Some(status) = ended else { return Ok(()) };
    let said = fs::read_to_string(log).unwrap_or_default();
    let last = said.lines().last().unwrap_or("nothing");
    Err(LabError::Store { what: format!("ended ({status}) and said: {last}"), log: log.to_owned() })
}

/// What `GET /health` says, on this thread's loopback.
fn is_healthy() -> io::Result<bool> {
    let mut stream = TcpStream::connect_timeout(&local(PORT), ANSWER_TIMEOUT)?;
    stream.set_read_timeout(Some(ANSWER_TIMEOUT))?;
    stream.write_all(b"GET /health HTTP/1.0\r\n\r\n")?;
    let mut answer = String::new();
    stream.read_to_string(&mut answer)?;
    Ok(answer.contains("\"health\":\"true\""))
}
