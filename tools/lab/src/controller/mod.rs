//! The controller of a lab: a process of the machine's first namespace whose OpenFlow socket is in the fabric's.

mod api;
mod start;

use std::collections::BTreeMap;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use crate::scenario::{Agents, Variant};

pub(crate) use api::Client;
pub(crate) use start::start;

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
    /// Where the controller writes down its events and commands, if anywhere.
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

/// Where a controller that is ready can be reached.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ControllerAddresses {
    /// For switches, inside the fabric's namespace.
    pub openflow: SocketAddr,
    /// For users and tools, in the first namespace.
    pub http: SocketAddr,
    /// For agents on hosts, inside the fabric's namespace.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agents: Option<SocketAddr>,
}
