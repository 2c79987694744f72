//! `braid host run` on hosts of a lab whose own settings need it, with or without a controller.

use std::fs::{self, File};
use std::path::PathBuf;
use std::process::{Child, Stdio};
use std::time::Duration;

use crate::deploy::Deployment;
use crate::error::LabError;
use crate::interrupt::Interrupt;
use crate::plan::HostPlan;
use crate::system::Namespace;

/// The kernel checks a coupled congestion control for a while.
const PATIENCE: Duration = Duration::from_secs(20);

struct Agent<'a> {
    host: &'a HostPlan,
    child: Child,
    said: PathBuf,
    log: PathBuf,
}

/// Starts one on every host that needs one; they are ready when this returns.
pub(crate) fn start(lab: &Deployment, interrupt: &Interrupt) -> Result<(), LabError> {
    let hosts = lab.plan.hosts.iter().filter(|host| !host.agent().is_empty());
    let agents = hosts.map(|host| spawn(lab, host)).collect::<Result<Vec<_>, _>>()?;
    agents.into_iter().try_for_each(|agent| wait(agent, interrupt))
}

fn spawn<'a>(lab: &Deployment, host: &'a HostPlan) -> Result<Agent<'a>, LabError> {
    let this = std::env::current_exe().map_err(|error| LabError::io("the path of this program", error))?;
    let file = |what: &str| lab.folder.log().join(format!("agent-{}.{what}", host.name));
    let (said, log) = (file("out"), file("log"));
    let create = |path: &PathBuf| File::create(path).map_err(|error| LabError::file(path, error));
    let tool = lab.tool(&this.to_string_lossy()).args(["host", "run"]).args(host.agent());
    let child = tool.within(&Namespace::named(&host.namespace)).spawn(
        Stdio::null(),
        create(&said)?.into(),
        create(&log)?.into(),
    )?;
    Ok(Agent { host, child, said, log })
}

fn wait(mut agent: Agent<'_>, interrupt: &Interrupt) -> Result<(), LabError> {
    let ready = interrupt.poll(PATIENCE, || {
        let said = fs::read_to_string(&agent.said).unwrap_or_default();
        if said.contains('\n') {
            return Ok(Some(()));
        }
        let ended = agent.child.try_wait().map_err(|error| LabError::io("waiting for an agent", error))?;
        ended.map_or(Ok(None), |status| Err(agent.failure(&format!("ended ({status})"))))
    })?;
    ready.ok_or_else(|| agent.failure(&format!("said nothing in {} s", PATIENCE.as_secs())))
}

impl Agent<'_> {
    fn failure(&self, what: &str) -> LabError {
        let said = fs::read_to_string(&self.log).unwrap_or_default();
        let last = said.lines().rfind(|line| !line.trim().is_empty()).unwrap_or("nothing");
        let what = format!("{what} and said: {last}");
        LabError::Agent { host: self.host.name.clone(), what, log: self.log.clone() }
    }
}
