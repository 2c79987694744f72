//! The controller of a lab: a process of the machine's first namespace whose OpenFlow socket is in the fabric's; or several
//! beside the switches, as a cluster.

mod api;
mod cluster;
mod etcd;
mod member;
mod process;
mod start;

use std::collections::BTreeMap;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use crate::certificates::Certificates;
use crate::deployed::Deployed;
use crate::error::LabError;
use crate::interrupt::Interrupt;
use crate::scenario::{Agents, Scenario, Variant};

pub(crate) use api::{Client, Joins, leader};
pub(crate) use cluster::Cluster;

/// What decides where packets go in a lab.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Control {
    /// Nothing: the switches wait for rules.
    None,
    /// Fixed rules in the words of `ovs-ofctl(8)`, by the names of the switches.
    Rules(BTreeMap<String, Vec<String>>),
    /// Braid's own controller.
    Braid(ControllerSettings),
}

/// How the controller is started: `EXECUTABLE controller run --openflow-fd 3 --http ADDRESS --lab NAME --network FILE`, the
/// file being of the lab and saying what its links carry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ControllerSettings {
    /// The `braid` program.
    pub executable: PathBuf,
    /// Where the controller writes down its events and commands, if anywhere. Members of a cluster add their name to it.
    pub record: Option<PathBuf>,
    /// More options with their values, without the hyphens before them.
    pub options: BTreeMap<String, String>,
    /// The text of its policy file, if it is to have one.
    pub policy: Option<String>,
    /// The address for API clients and browsers, in the machine's first namespace; port 0: any.
    pub http: SocketAddr,
    /// Whether hosts have agents that manage their subflows as it advises.
    pub agents: bool,
}

impl ControllerSettings {
    /// The program as it is without options, on any port of loopback.
    #[must_use]
    pub const fn new(executable: PathBuf) -> Self {
        let http = SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), 0);
        Self { executable, record: None, options: BTreeMap::new(), policy: None, http, agents: false }
    }
}

impl Control {
    /// What a variant makes of it: rules in its place if it has any, else its options too where it is Braid's own.
    pub fn with_variant(&self, variant: &Variant) -> Self {
        match self {
            _ if !variant.rules.is_empty() => Self::Rules(variant.rules.clone()),
            Self::Braid(settings) => {
                let mut settings = settings.clone();
                settings.options.extend(variant.controller.clone());
                settings.policy = variant.policy.clone().or(settings.policy);
                settings.agents |= variant.agents == Agents::Managed;
                Self::Braid(settings)
            }
            _ => self.clone(),
        }
    }
}

/// Starts what controls `lab`; it accepts connections when this returns. Several controllers are a cluster.
pub(crate) fn start(
    lab: &Deployed,
    scenario: &Scenario,
    how: (&ControllerSettings, Option<&Certificates>),
    interrupt: &Interrupt,
) -> Result<(Option<Cluster>, ControllerAddresses), LabError> {
    if scenario.controllers > 1 {
        let (cluster, addresses) = Cluster::start(lab, scenario, how, interrupt)?;
        return Ok((Some(cluster), addresses));
    }
    Ok((None, start::start(lab, scenario, how, interrupt)?))
}

/// Where a controller that is ready can be reached; of a cluster, the first member.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ControllerAddresses {
    /// For switches, inside the fabric's namespace.
    pub openflow: SocketAddr,
    /// For users and tools, in the first namespace.
    pub http: SocketAddr,
    /// For agents on hosts, inside the fabric's namespace.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agents: Option<SocketAddr>,
    /// All members of a cluster; none where the controller is alone.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub members: Vec<MemberAddresses>,
}

/// Where a member of a cluster can be reached.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct MemberAddresses {
    /// Its name in the cluster.
    pub name: String,
    /// For switches, inside the fabric's namespace.
    pub openflow: SocketAddr,
    /// For users and tools, in the first namespace.
    pub http: SocketAddr,
    /// For agents on hosts, inside the fabric's namespace.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agents: Option<SocketAddr>,
}

impl ControllerAddresses {
    /// Those of a cluster, which has members.
    fn of(members: Vec<MemberAddresses>) -> Self {
        let nowhere = SocketAddr::from((Ipv4Addr::UNSPECIFIED, 0));
        let (openflow, http) = members.first().map_or((nowhere, nowhere), |it| (it.openflow, it.http));
        Self { openflow, http, agents: None, members }
    }

    /// Where switches connect.
    pub(crate) fn for_switches(&self) -> Vec<SocketAddr> {
        match self.members.as_slice() {
            [] => vec![self.openflow],
            members => members.iter().map(|member| member.openflow).collect(),
        }
    }

    /// Where agents on hosts ask.
    pub(crate) fn for_agents(&self) -> Vec<SocketAddr> {
        self.agents.into_iter().chain(self.members.iter().filter_map(|member| member.agents)).collect()
    }

    /// A client of the controller that knows the network: the leader of a cluster, or the first member without one.
    pub(crate) fn client(&self) -> Client {
        Client::new(leader(&self.members).map_or(self.http, |member| member.http))
    }
}
