//! Start of a lab's controller process with its policy and network files.

use std::fs::{self, File};
use std::net::{Ipv4Addr, SocketAddr};
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::process::{Child, Stdio};
use std::time::Duration;

use braid_topology::export;

use super::{ControllerAddresses, ControllerSettings};
use crate::agents::{self, Reception};
use crate::certificates::Certificates;
use crate::deployed::Deployed;
use crate::error::LabError;
use crate::interrupt::Interrupt;
use crate::scenario::Scenario;
use crate::system::Tool;

const START_TIMEOUT: Duration = Duration::from_secs(10);

/// Starts the controller of `lab`; it accepts connections when this returns.
pub(crate) fn start(
    lab: &Deployed,
    scenario: &Scenario,
    (settings, certificates): (&ControllerSettings, Option<&Certificates>),
    interrupt: &Interrupt,
) -> Result<ControllerAddresses, LabError> {
    let (output, log) = (lab.folder.log().join("controller.out"), lab.folder.log().join("controller.log"));
    let listener = lab.fabric().tcp_listener(SocketAddr::from((Ipv4Addr::LOCALHOST, 0)))?;
    let listener = Stdio::from(OwnedFd::from(listener));
    let files = Files { network: write_network(lab, scenario)?, policy: write_policy(lab, settings)? };
    let reception = settings.agents.then(|| agents::prepare(lab)).transpose()?;
    let at = reception.as_ref().and_then(|it| it.listener.local_addr().ok());
    // What would be stdout is a socket where there are agents, so that the shell has to open the file.
    let out = create(&output)?;
    let tool = tool(lab, settings, &files, (reception.as_ref(), &output));
    let tool = tool.args(certificates.into_iter().flat_map(tls_options));
    let stdout = reception.map_or(Stdio::from(out), |it| OwnedFd::from(it.listener).into());
    let mut child = { tool }.spawn(listener, stdout, create(&log)?.into())?;
    let ready = interrupt.poll(START_TIMEOUT, || match first_line(&output) {
        Some(line) => parse(&line, &log).map(Some),
        None => alive(&mut child, &log).map(|()| None),
    })?;
    let silent =
        || LabError::Controller { what: format!("said nothing in {} s", START_TIMEOUT.as_secs()), log };
    let addresses = ready.ok_or_else(silent)?;
    Ok(ControllerAddresses { agents: at, ..addresses })
}

// The listener comes as stdin; the shell moves it to descriptor 3, which no safe call of Rust's can. That for agents
// comes as stdout.
fn tool(
    lab: &Deployed,
    settings: &ControllerSettings,
    files: &Files,
    (reception, output): (Option<&Reception>, &Path),
) -> Tool {
    let script = match reception {
        Some(_) => "exec \"$0\" \"$@\" 3<&0 4<&1 </dev/null >\"$BRAID_LAB_OUTPUT\"",
        None => "exec \"$0\" \"$@\" 3<&0 </dev/null",
    };
    let tool = lab.tool("sh").env("BRAID_LAB_OUTPUT", output).args(["-c", script]).arg(&settings.executable);
    let tool = tool.args(["controller", "run", "--openflow-fd", "3", "--http", &settings.http.to_string()]);
    let tool = tool.args(["--lab", lab.name().as_str()]);
    let tool = match reception {
        Some(it) => tool.args(["--http-fd", "4", "--agent-tokens"]).arg(&it.tokens),
        None => tool,
    };
    let tool = tool.arg("--network").arg(&files.network);
    let tool = files.policy.iter().fold(tool, |tool, policy| tool.arg("--policy").arg(policy));
    let options = settings.options.iter().map(|(option, value)| format!("--{option}={value}"));
    let tool = options.fold(tool, Tool::arg);
    match &settings.record {
        Some(record) => tool.arg("--record").arg(record),
        None => tool,
    }
}

fn tls_options(certificates: &Certificates) -> Vec<String> {
    let mut options = certificates.controller.options("--openflow-tls");
    options.push("--openflow-tls=required".to_owned());
    options.push(format!("--openflow-identities={}", certificates.identities.display()));
    options
}

/// What the controller is to read.
struct Files {
    network: PathBuf,
    policy: Option<PathBuf>,
}

fn write_policy(lab: &Deployed, settings: &ControllerSettings) -> Result<Option<PathBuf>, LabError> {
    let Some(policy) = &settings.policy else { return Ok(None) };
    let path = lab.folder.path.join("policy.toml");
    fs::write(&path, policy).map_err(|error| LabError::file(&path, error))?;
    Ok(Some(path))
}

/// Virtual links are as fast as the machine: what their ports say is no capacity.
fn write_network(lab: &Deployed, scenario: &Scenario) -> Result<PathBuf, LabError> {
    let path = lab.folder.network();
    let network =
        scenario.blueprint().map_err(|error| LabError::file(&path, std::io::Error::other(error)))?;
    fs::write(&path, export::json(&network)).map_err(|error| LabError::file(&path, error))?;
    Ok(path)
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
