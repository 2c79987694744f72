//! Start of a controller that is alone.

use std::net::{Ipv4Addr, SocketAddr};

use super::process::{Files, Listeners, Listening, Outputs};
use super::{ControllerAddresses, ControllerSettings};
use crate::agents::{self, Reception};
use crate::certificates::Certificates;
use crate::deployed::Deployed;
use crate::error::LabError;
use crate::interrupt::Interrupt;
use crate::scenario::Scenario;

/// Starts the controller of `lab`; it accepts connections when this returns.
pub(super) fn start(
    lab: &Deployed,
    scenario: &Scenario,
    (settings, certificates): (&ControllerSettings, Option<&Certificates>),
    interrupt: &Interrupt,
) -> Result<ControllerAddresses, LabError> {
    let outputs = Outputs::of(lab, "controller");
    let options = Files::write(lab, scenario, settings)?.options(lab, settings, certificates);
    let reception = settings.agents.then(|| agents::prepare(lab)).transpose()?;
    let listen = |address| lab.fabric().tcp_listener(address);
    let listeners = Listeners {
        first: listen(SocketAddr::from((Ipv4Addr::LOCALHOST, 0)))?,
        agents: reception.as_ref().map(|_| listen(Reception::address(0))).transpose()?,
    };
    let agents = listeners.agents.as_ref().and_then(|it| it.local_addr().ok());
    let shell = outputs.shell(lab, &listeners).arg(&settings.executable);
    let shell = shell.args(["controller", "run", "--openflow-fd", "3", "--http", &settings.http.to_string()]);
    let shell = match &reception {
        Some(it) => shell.args(["--http-fd", "4", "--agent-tokens"]).arg(&it.tokens),
        None => shell,
    };
    let shell = settings.record.iter().fold(shell.args(options), |it, record| it.arg("--record").arg(record));
    let (_, Listening { openflow, http }) = outputs.start(shell, listeners, interrupt)?;
    Ok(ControllerAddresses { openflow, http, agents, members: Vec::new() })
}
