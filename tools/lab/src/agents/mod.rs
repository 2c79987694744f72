//! Agents on hosts of a lab (`braid host run`): one on each that needs it, for congestion control, subflows, or both.

mod reception;

use std::fs::{self, File};
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::{Child, Stdio};
use std::time::Duration;

use crate::deployed::Deployed;
use crate::error::LabError;
use crate::interrupt::Interrupt;
use crate::plan::{HostPlan, is_coupled};
use crate::scenario::PathManager;
use crate::system::Namespace;

pub(crate) use reception::{Reception, prepare};

/// The kernel checks a coupled congestion control for a while.
const START_TIMEOUT: Duration = Duration::from_secs(20);

struct Agent<'a> {
    host: &'a HostPlan,
    child: Child,
    said: PathBuf,
    log: PathBuf,
}

/// Starts one on every host that needs one; they are ready when this returns.
///
/// If there is a `controller`, they manage connections on every host that uses Multipath TCP, as it advises.
pub(crate) fn start(
    lab: &Deployed,
    braid: &Path,
    controller: Option<SocketAddr>,
    interrupt: &Interrupt,
) -> Result<(), LabError> {
    let mut agents = Vec::new();
    for (number, host) in lab.plan.hosts.iter().enumerate() {
        let adviser = controller.filter(|_| host.uses_mptcp());
        let adviser = adviser.map(|it| (it, reception::token_file(lab, number)));
        let arguments = arguments(host, adviser);
        if !arguments.is_empty() {
            agents.push(spawn(lab, braid, host, arguments)?);
        }
    }
    agents.into_iter().try_for_each(|agent| wait(agent, interrupt))
}

/// The arguments of this host's agent; none if it needs no agent. The adviser is a controller and the file with the token
/// for it.
fn arguments(host: &HostPlan, adviser: Option<(SocketAddr, PathBuf)>) -> Vec<String> {
    let coupled = host.congestion_control.iter().filter(|name| is_coupled(name));
    let mut all: Vec<_> = coupled.flat_map(|name| ["--congestion".to_owned(), name.clone()]).collect();
    let mut managed = |subflows: u16| {
        all.extend(["--mode", "managed", "--subflows"].map(str::to_owned));
        all.push(subflows.to_string());
    };
    let more = host.mptcp.subflows;
    match adviser {
        Some((controller, token)) => {
            // Without its advice, no more than the first: what is compared is what the controller does.
            managed(1);
            all.extend(["--max-subflows".to_owned(), more.to_string()]);
            all.extend(["--controller".to_owned(), format!("http://{controller}")]);
            all.extend(["--token-file".to_owned(), token.display().to_string()]);
        }
        None if host.mptcp.path_manager == PathManager::Agent => managed(u16::from(more) + 1),
        None => {}
    }
    all
}

fn spawn<'a>(
    lab: &Deployed,
    braid: &Path,
    host: &'a HostPlan,
    arguments: Vec<String>,
) -> Result<Agent<'a>, LabError> {
    let file = |what: &str| lab.folder.log().join(format!("agent-{}.{what}", host.name));
    let (said, log) = (file("out"), file("log"));
    let create = |path: &PathBuf| File::create(path).map_err(|error| LabError::file(path, error));
    let tool = lab.tool(&braid.to_string_lossy()).args(["host", "run"]).args(arguments);
    let child = tool.within(&Namespace::named(&host.namespace)).spawn(
        Stdio::null(),
        create(&said)?.into(),
        create(&log)?.into(),
    )?;
    Ok(Agent { host, child, said, log })
}

fn wait(mut agent: Agent<'_>, interrupt: &Interrupt) -> Result<(), LabError> {
    let ready = interrupt.poll(START_TIMEOUT, || {
        let said = fs::read_to_string(&agent.said).unwrap_or_default();
        if said.contains('\n') {
            return Ok(Some(()));
        }
        let ended = agent.child.try_wait().map_err(|error| LabError::io("waiting for an agent", error))?;
        ended.map_or(Ok(None), |status| Err(agent.failure(&format!("ended ({status})"))))
    })?;
    ready.ok_or_else(|| agent.failure(&format!("said nothing in {} s", START_TIMEOUT.as_secs())))
}

impl Agent<'_> {
    fn failure(&self, what: &str) -> LabError {
        let said = fs::read_to_string(&self.log).unwrap_or_default();
        let last = said.lines().rfind(|line| !line.trim().is_empty()).unwrap_or("nothing");
        let what = format!("{what} and said: {last}");
        LabError::Agent { host: self.host.name.clone(), what, log: self.log.clone() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::Plan;
    use crate::scenario::Scenario;

    fn told(host: &str, advised: bool) -> String {
        let text = format!(
            "{{scenario: t, topology: {{hosts: [{{name: h, interfaces: [{{name: e0}}], {host}}}], switches: [s], \
             links: [{{between: [h.e0, s], rate: 1Mbit}}]}}}}"
        );
        let scenario = Scenario::parse(&text, "t.yaml").unwrap();
        let plan = Plan::new(&scenario, &"t".parse().unwrap(), || false);
        let adviser = (SocketAddr::from(([169, 254, 0, 1], 8_653)), PathBuf::from("/t/token"));
        arguments(&plan.hosts[0], advised.then_some(adviser)).join(" ")
    }

    #[test]
    fn one_agent_couples_and_manages_where_a_host_needs_both() {
        assert_eq!(told("congestion_control: reno, mptcp: {subflows: 2}", false), "");
        assert_eq!(told("congestion_control: olia", false), "--congestion olia");
        let agent = "congestion_control: lia, mptcp: {path_manager: agent, subflows: 3}";
        assert_eq!(told(agent, false), "--congestion lia --mode managed --subflows 4");
        assert_eq!(
            told("congestion_control: lia, mptcp: {subflows: 3}", true),
            "--congestion lia --mode managed --subflows 1 --max-subflows 3 --controller http://169.254.0.1:8653 \
             --token-file /t/token"
        );
        let alone = "--mode managed --subflows 1 --max-subflows 0 --controller http://169.254.0.1:8653 --token-file /t/token";
        assert_eq!(told("mptcp: {subflows: 0}", true), alone);
    }
}
