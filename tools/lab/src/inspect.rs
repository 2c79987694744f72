//! The current state of a lab compared with its plan, and the list of labs.

use std::fmt;
use std::path::PathBuf;

use braid_types::{DatapathId, MacAddr, PortNo};
use serde::Serialize;

use crate::controller::{ControllerAddresses, leader};
use crate::error::LabError;
use crate::folder::Folder;
use crate::journal::{Entry, Journal};
use crate::links::{self, LinkInspection};
use crate::names::LabName;
use crate::plan::{HostPlan, Plan, SwitchPlan};
use crate::scenario::Cidr;
use crate::store::Labs;
use crate::system::Namespace;

/// The current state of a lab.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Inspection {
    /// Always `braid/v1`.
    pub schema: &'static str,
    /// Its name.
    pub lab: LabName,
    /// Its scenario; empty if deployment failed early.
    pub scenario: String,
    /// Its state.
    pub state: LabState,
    /// The folder with its journal, logs and sockets.
    pub folder: PathBuf,
    /// The network namespace of the switches.
    pub fabric: String,
    /// The addresses of its controller, if it has one.
    pub controller: Option<ControllerAddresses>,
    /// The controller that leads, if there are several.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub leader: Option<String>,
    /// Its hosts.
    pub hosts: Vec<HostInspection>,
    /// Its switches.
    pub switches: Vec<SwitchInspection>,
    /// Its links.
    pub links: Vec<LinkInspection>,
    /// Its known problems.
    pub problems: Vec<String>,
}

/// The state of a lab.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum LabState {
    /// A process deploys or runs it.
    Busy,
    /// It is complete.
    Up,
    /// It is incomplete: a part is gone or deployment failed, so it can only be removed.
    Broken,
}

impl fmt::Display for LabState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Busy => "busy",
            Self::Up => "up",
            Self::Broken => "broken",
        })
    }
}

/// A host of a lab.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct HostInspection {
    /// Its name in the scenario.
    pub name: String,
    /// Its network namespace.
    pub namespace: String,
    /// Its interfaces.
    pub interfaces: Vec<InterfaceInspection>,
}

/// An interface of a host.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct InterfaceInspection {
    /// Its name inside the namespace.
    pub name: String,
    /// Its Ethernet address.
    pub mac: MacAddr,
    /// Its addresses.
    pub addresses: Vec<Cidr>,
}

/// A switch of a lab.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct SwitchInspection {
    /// Its name in the scenario, and of its bridge in Open vSwitch.
    pub name: String,
    /// Its datapath id.
    pub dpid: DatapathId,
    /// Its socket for `ovs-ofctl -O OpenFlow13 show unix:SOCKET`.
    pub management_socket: PathBuf,
    /// Its ports.
    pub ports: Vec<PortInspection>,
}

/// A port of a switch.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct PortInspection {
    /// Its OpenFlow number.
    pub number: PortNo,
    /// The interface in the fabric's namespace.
    pub device: String,
    /// The other end of its link.
    pub peer: String,
}

/// An entry of the list of labs.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Summary {
    /// Its name.
    pub lab: LabName,
    /// Its scenario; empty if deployment failed early.
    pub scenario: String,
    /// Its state.
    pub state: LabState,
    /// Number of hosts.
    pub hosts: usize,
    /// Number of switches.
    pub switches: usize,
    /// Number of links.
    pub links: usize,
}

impl Labs {
    /// All labs of the machine.
    ///
    /// # Errors
    ///
    /// [`LabError::Io`] or [`LabError::State`] if a lab's folder cannot be read.
    pub fn list(&self) -> Result<Vec<Summary>, LabError> {
        self.names()?.iter().map(|name| self.inspect(name).map(Inspection::summary)).collect()
    }

    /// The current state of lab `name`.
    ///
    /// # Errors
    ///
    /// [`LabError::NoLab`], or [`LabError::Io`] or [`LabError::State`] if its folder cannot be read.
    pub fn inspect(&self, name: &LabName) -> Result<Inspection, LabError> {
        let folder = self.folder(name);
        if !folder.exists() {
            return Err(LabError::NoLab(name.clone()));
        }
        let plan = folder.read_plan()?;
        let mut lab = Inspection::empty(&folder, state(&folder, plan.as_ref())?);
        lab.controller = folder.read_controller()?;
        lab.find_leader();
        if let Some(plan) = plan {
            lab.add_links(&folder, &plan)?;
            lab.fill(&folder, plan);
        }
        Ok(lab)
    }
}

fn state(folder: &Folder, plan: Option<&Plan>) -> Result<LabState, LabError> {
    match folder.lock() {
        Err(LabError::Busy(_)) => return Ok(LabState::Busy),
        other => drop(other?),
    }
    let namespaces = plan.is_some_and(|plan| plan.namespaces().all(|name| Namespace::named(name).exists()));
    let controllers =
        folder.read_controller::<ControllerAddresses>()?.map_or(0, |it| match it.members.len() {
            0 => 1,
            // And their etcd.
            members => members + 1,
        });
    let entries = Journal::read(&folder.journal())?;
    let processes = entries.iter().map(|entry| match entry {
        Entry::Marker(marker) => marker.processes().len(),
        Entry::Namespace(_) => 0,
    });
    // The database and the switch daemon, or two sites; the controllers, and the links in user space.
    let links = usize::from(plan.is_some_and(|plan| plan.user_space().next().is_some()));
    let complete = namespaces && processes.sum::<usize>() >= 2 + controllers + links;
    Ok(if complete { LabState::Up } else { LabState::Broken })
}

impl Inspection {
    fn empty(folder: &Folder, state: LabState) -> Self {
        Self {
            schema: crate::SCHEMA,
            lab: folder.name.clone(),
            scenario: String::new(),
            state,
            folder: folder.path.clone(),
            fabric: folder.name.fabric_namespace(),
            controller: None,
            leader: None,
            hosts: Vec::new(),
            switches: Vec::new(),
            links: Vec::new(),
            problems: Vec::new(),
        }
    }

    fn fill(&mut self, folder: &Folder, plan: Plan) {
        self.scenario = plan.scenario;
        self.hosts = plan.hosts.into_iter().map(host).collect();
        self.switches = plan.switches.into_iter().map(|it| switch(it, folder)).collect();
    }

    fn find_leader(&mut self) {
        let members = self.controller.as_ref().map(|it| it.members.as_slice()).unwrap_or_default();
        self.leader = leader(members).map(|member| member.name.clone());
        if !members.is_empty() && self.leader.is_none() && self.state != LabState::Busy {
            let logs = self.folder.join("log");
            let logs = logs.display();
            self.problems
                .push(format!("no controller leads: see the logs of etcd and of controllers in {logs}"));
        }
    }

    fn add_links(&mut self, folder: &Folder, plan: &Plan) -> Result<(), LabError> {
        let (links, problem) = links::inspect(folder, plan)?;
        self.links = links;
        if let Some(problem) = problem.filter(|_| self.state != LabState::Busy) {
            self.state = LabState::Broken;
            self.problems.push(problem.to_string());
        }
        Ok(())
    }

    fn summary(self) -> Summary {
        let (hosts, switches, links) = (self.hosts.len(), self.switches.len(), self.links.len());
        Summary { lab: self.lab, scenario: self.scenario, state: self.state, hosts, switches, links }
    }
}

fn host(host: HostPlan) -> HostInspection {
    let interfaces = host.interfaces.into_iter();
    let interfaces =
        interfaces.map(|it| InterfaceInspection { name: it.name, mac: it.mac, addresses: it.addresses });
    HostInspection { name: host.name, namespace: host.namespace, interfaces: interfaces.collect() }
}

fn switch(switch: SwitchPlan, folder: &Folder) -> SwitchInspection {
    let ports = switch.ports.into_iter();
    let ports = ports.map(|it| PortInspection { number: it.number, device: it.device, peer: it.peer });
    SwitchInspection {
        management_socket: folder.management_socket(&switch.name),
        name: switch.name,
        dpid: switch.dpid,
        ports: ports.collect(),
    }
}
