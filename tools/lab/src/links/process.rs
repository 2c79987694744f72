//! The link process, which emulates links in user space: its start and the connection to it.

use std::fs::{self, File};
use std::io::Write;
use std::path::Path;
use std::process::{Child, Stdio};
use std::time::Duration;

use braid_link::{Client, Setup};

use super::LinkProcess;
use crate::deployed::Deployed;
use crate::error::LabError;
use crate::folder::Folder;
use crate::interrupt::Interrupt;
use crate::system::Namespace;

const START_TIMEOUT: Duration = Duration::from_secs(10);
/// The seed of losses, equal in all labs of a scenario.
const LOSS_SEED: u64 = 1;

/// Starts the link process, if there are links in user space. They forward frames when this returns.
pub(crate) fn start(lab: &Deployed, process: &LinkProcess, interrupt: &Interrupt) -> Result<(), LabError> {
    let setup = Setup { socket: lab.folder.links_socket(), seed: LOSS_SEED, links: lab.plan.link_setups() };
    if setup.links.is_empty() {
        return Ok(());
    }
    let log = lab.folder.log().join("links.log");
    let mut child = spawn(lab, process, &log)?;
    tell(&mut child, &setup).map_err(|error| LabError::io("starting the links", error))?;
    let ready = interrupt.poll(START_TIMEOUT, || match Client::connect(&setup.socket) {
        Ok(_) => Ok(Some(())),
        Err(_) => alive(&mut child, &log).map(|()| None),
    })?;
    let silent =
        || LabError::LinkProcess { what: format!("said nothing in {} s", START_TIMEOUT.as_secs()), log };
    ready.ok_or_else(silent)
}

/// A connection to the link process of a lab.
pub(crate) fn connect(folder: &Folder) -> Result<Client, LabError> {
    Client::connect(&folder.links_socket()).map_err(|error| LabError::LinkProcess {
        what: format!("has ended ({error})"),
        log: folder.log().join("links.log"),
    })
}

fn spawn(lab: &Deployed, process: &LinkProcess, log: &Path) -> Result<Child, LabError> {
    let output = File::create(log).map_err(|error| LabError::file(log, error))?;
    let namespace = Namespace::named(lab.plan.lab.links_namespace());
    let mut tool =
        lab.tool(process.program.to_string_lossy().as_ref()).args(&process.args).within(&namespace);
    tool.spawn(Stdio::piped(), Stdio::null(), output.into())
}

// If the process ends at once, its log has a better reason than the broken pipe.
fn tell(child: &mut Child, setup: &Setup) -> std::io::Result<()> {
    let text = serde_json::to_vec(setup)?;
    match child.stdin.take().map(|mut stdin| stdin.write_all(&text)) {
        Some(Err(error)) if error.kind() != std::io::ErrorKind::BrokenPipe => Err(error),
        _ => Ok(()),
    }
}

fn alive(child: &mut Child, log: &Path) -> Result<(), LabError> {
    let ended = child.try_wait().map_err(|error| LabError::io("waiting for the links", error))?;
    let Some(status) = ended else { return Ok(()) };
    let said = fs::read_to_string(log).unwrap_or_default();
    let last = said.lines().last().unwrap_or("nothing");
    Err(LabError::LinkProcess { what: format!("ended ({status}) and said: {last}"), log: log.to_owned() })
}
