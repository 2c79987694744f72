//! Start of a controller that is alone.

use std::net::{Ipv4Addr, SocketAddr};
use std::os::fd::OwnedFd;
use std::path::Path;
use std::process::Stdio;

use super::process::{Files, Listening, Outputs};
use super::{ControllerAddresses, ControllerSettings};
use crate::agents::{self, Reception};
use crate::certificates::Certificates;
use crate::deployed::Deployed;
use crate::error::LabError;
use crate::interrupt::Interrupt;
use crate::scenario::Scenario;
use crate::system::Tool;

/// Starts the controller of `lab`; it accepts connections when this returns.
pub(super) fn start(
    lab: &Deployed,
    scenario: &Scenario,
    (settings, certificates): (&ControllerSettings, Option<&Certificates>),
    interrupt: &Interrupt,
) -> Result<ControllerAddresses, LabError> {
    let outputs = Outputs::of(lab, "controller");
    let listener = lab.fabric().tcp_listener(SocketAddr::from((Ipv4Addr::LOCALHOST, 0)))?;
    let options = Files::write(lab, scenario, settings)?.options(lab, settings, certificates);
    let reception = settings.agents.then(|| agents::prepare(lab)).transpose()?;
    let agents = reception.as_ref().and_then(|it| it.listener.local_addr().ok());
    let tool = tool(lab, settings, (reception.as_ref(), &outputs.said)).args(options);
    let tool = settings.record.iter().fold(tool, |tool, record| tool.arg("--record").arg(record));
    // What would be stdout is a socket where there are agents, so that the shell has to open the file.
    let stdout = reception.map(|it| OwnedFd::from(it.listener).into());
    let stdin = Stdio::from(OwnedFd::from(listener));
    let (_, Listening { openflow, http }) = outputs.start(tool, stdin, stdout, interrupt)?;
    Ok(ControllerAddresses { openflow, http, agents, members: Vec::new() })
}

// The listener comes as stdin; the shell moves it to descriptor 3, which no safe call of Rust's can. That for agents
// comes as stdout.
fn tool(
    lab: &Deployed,
    settings: &ControllerSettings,
    (reception, output): (Option<&Reception>, &Path),
) -> Tool {
    let script = match reception {
        Some(_) => "exec \"$0\" \"$@\" 3<&0 4<&1 </dev/null >\"$BRAID_LAB_OUTPUT\"",
        None => "exec \"$0\" \"$@\" 3<&0 </dev/null",
    };
    let tool = lab.tool("sh").env("BRAID_LAB_OUTPUT", output).args(["-c", script]).arg(&settings.executable);
    let tool = tool.args(["controller", "run", "--openflow-fd", "3", "--http", &settings.http.to_string()]);
    match reception {
        Some(it) => tool.args(["--http-fd", "4", "--agent-tokens"]).arg(&it.tokens),
        None => tool,
    }
}
