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
/// If there are `controllers`, they manage connections on every host that uses Multipath TCP, as these advise.
pub(crate) fn start(
    lab: &Deployed,
    braid: &Path,
    controllers: &[SocketAddr],
    interrupt: &Interrupt,
) -> Result<(), LabError> {
    let mut agents = Vec::new();
    for (number, host) in lab.plan.hosts.iter().enumerate() {
        let is_advised = !controllers.is_empty() && host.uses_mptcp();
        let adviser = is_advised.then(|| (controllers, reception::token_file(lab, number)));
        let arguments = arguments(host, adviser);
        if !arguments.is_empty() {
            agents.push(spawn(lab, braid, host, arguments)?);
        }
    }
    agents.into_iter().try_for_each(|agent| wait(agent, interrupt))
}

/// The arguments of this host's agent; none if it needs no agent. The adviser is a controller, or the members of a cluster,
/// and the file with the token for it.
fn arguments(host: &HostPlan, adviser: Option<(&[SocketAddr], PathBuf)>) -> Vec<String> {
    let coupled = host.congestion_control.iter().filter(|name| is_coupled(name));
    let mut all: Vec<_> = coupled.flat_map(|name| ["--congestion".to_owned(), name.clone()]).collect();
    let mut managed = |subflows: u16| {
        all.extend(["--mode", "managed", "--subflows"].map(str::to_owned));
        all.push(subflows.to_string());
    };
    let more = host.mptcp.subflows;
    match adviser {
        Some((controllers, token)) => {
            // Without its advice, no more than the first: what is compared is what the controller does.
            managed(1);
            all.extend(["--max-subflows".to_owned(), more.to_string()]);
            let urls = controllers.iter().map(|controller| format!("http://{controller}"));
            all.extend(urls.flat_map(|url| ["--controller".to_owned(), url]));
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

    fn told(host: &str, controllers: u16) -> String {
        let text = format!(
            "{{scenario: t, topology: {{hosts: [{{name: h, interfaces: [{{name: e0}}], {host}}}], switches: [s], \
             links: [{{between: [h.e0, s], rate: 1Mbit}}]}}}}"
        );
        let scenario = Scenario::parse(&text, "t.yaml").unwrap();
        let plan = Plan::new(&scenario, &"t".parse().unwrap(), || false);
        let controllers: Vec<_> = (0..controllers).map(|place| Reception::address(8_653 + place)).collect();
        let adviser = (controllers.as_slice(), PathBuf::from("/t/token"));
        arguments(&plan.hosts[0], Some(adviser).filter(|_| !controllers.is_empty())).join(" ")
    }

    #[test]
    fn one_agent_couples_and_manages_where_a_host_needs_both() {
        assert_eq!(told("congestion_control: reno, mptcp: {subflows: 2}", 0), "");
        assert_eq!(told("congestion_control: olia", 0), "--congestion olia");
        let agent = "congestion_control: lia, mptcp: {path_manager: agent, subflows: 3}";
        assert_eq!(told(agent, 0), "--congestion lia --mode managed --subflows 4");
        assert_eq!(
            told("congestion_control: lia, mptcp: {subflows: 3}", 1),
            "--congestion lia --mode managed --subflows 1 --max-subflows 3 --controller http://169.254.0.1:8653 \
             --token-file /t/token"
        );
        let alone = "--mode managed --subflows 1 --max-subflows 0 --controller http://169.254.0.1:8653 --token-file /t/token";
        assert_eq!(told("mptcp: {subflows: 0}", 1), alone);
    }

    #[test]
    fn an_agent_knows_all_controllers_of_a_cluster() {
        let all =
            "--controller http://169.254.0.1:8653 --controller http://169.254.0.1:8654 --token-file /t/token";
        assert!(told("mptcp: {subflows: 3}", 2).ends_with(all));
    }
}
