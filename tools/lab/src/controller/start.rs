use std::fs::{self, File};
use std::net::{Ipv4Addr, SocketAddr};
use std::os::fd::OwnedFd;
use std::path::Path;
use std::process::{Child, Stdio};
use std::time::Duration;

use super::{ControllerAddresses, ControllerSettings};
use crate::deploy::Deployment;
use crate::error::LabError;
use crate::interrupt::Interrupt;
use crate::system::Tool;

const PATIENCE: Duration = Duration::from_secs(10);

/// Starts the controller of `lab`; it accepts connections when this returns.
pub(crate) fn start(
    lab: &Deployment,
    settings: &ControllerSettings,
    interrupt: &Interrupt,
) -> Result<ControllerAddresses, LabError> {
    let (output, log) = (lab.folder.log().join("controller.out"), lab.folder.log().join("controller.log"));
    let listener = lab.fabric().tcp_listener(SocketAddr::from((Ipv4Addr::LOCALHOST, 0)))?;
    let listener = Stdio::from(OwnedFd::from(listener));
    let mut child = tool(lab, settings).spawn(listener, create(&output)?.into(), create(&log)?.into())?;
    let ready = interrupt.poll(PATIENCE, || match first_line(&output) {
        Some(line) => parse(&line, &log).map(Some),
        None => alive(&mut child, &log).map(|()| None),
    })?;
    let silent = || LabError::Controller { what: format!("said nothing in {} s", PATIENCE.as_secs()), log };
    ready.ok_or_else(silent)
}

// The listener comes as stdin; the shell moves it to descriptor 3, which no safe call of Rust's can.
fn tool(lab: &Deployment, settings: &ControllerSettings) -> Tool {
    let tool = lab.tool("sh").args(["-c", "exec \"$0\" \"$@\" 3<&0 </dev/null"]).arg(&settings.executable);
    let tool = tool.args(["controller", "run", "--openflow-fd", "3", "--http", "127.0.0.1:0"]);
    match &settings.record {
        Some(record) => tool.arg("--record").arg(record),
        None => tool,
    }
}

fn create(path: &Path) -> Result<File, LabError> {
    File::create(path).map_err(|error| LabError::file(path, error))
}

fn first_line(output: &Path) -> Option<String> {
    let text = fs::read_to_string(output).ok()?;
    text.split_once('\n').map(|(line, _)| line.to_owned())
}

fn parse(line: &str, log: &Path) -> Result<ControllerAddresses, LabError> {
    serde_json::from_str(line).map_err(|error| LabError::Controller {
        what: format!("said {line:?} instead of its addresses ({error})"),
        log: log.to_owned(),
    })
}

fn alive(child: &mut Child, log: &Path) -> Result<(), LabError> {
    match child.try_wait() {
        Ok(None) => Ok(()),
        Ok(Some(status)) => {
            let said = fs::read_to_string(log).unwrap_or_default();
            let last = said.lines().last().unwrap_or("nothing");
            Err(LabError::Controller {
                what: format!("ended ({status}) and said: {last}"),
                log: log.to_owned(),
            })
        }
        Err(error) => Err(LabError::io("waiting for the controller", error)),
    }
}
