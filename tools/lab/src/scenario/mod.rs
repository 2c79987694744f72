//! Scenario files: a network, its traffic, the compared variants and the expected results.
//!
//! `docs/scenarios.md` describes the file format. Scenarios have been checked: names are valid and unique, every link
//! joins existing ends, every interface has a link, and addresses are unique.

mod address;
mod amounts;
mod blueprint;
mod capacity;
mod cases;
mod check;
mod expectation;
mod file;
mod generate;
mod network;
mod pairs;
mod permutation;
mod problem;
mod sites;
mod spanned;
mod topology;
mod traffic;
mod values;
mod variant;

use std::path::Path;

use serde::{Deserialize, Serialize};

pub use address::{Cidr, CidrError};
pub use amounts::{Seconds, SecondsError};
pub use cases::Case;
pub use expectation::{BestKnown, Expectation, Limit, Reference};
pub use network::{FromNetwork, HostsAt, NetworkError};
pub use pairs::AddressPair;
pub use problem::{Problem, ScenarioError};
pub(crate) use topology::usual_queue;
pub use topology::{
    End, Endpoint, Host, Interface, Link, Mptcp, Sites, Switch, Topology, Tunnel, UplinkAddress,
};
pub use traffic::{
    Action, Assign, Background, Capture, ControllerAction, Direction, Event, LinkAction, OwnSettings,
    Profile, Requests, Traffic, Variant,
};
pub use values::{
    Agents, Aggregate, Average, ControllerRole, EndpointFlag, Metric, Mode, Packets, PathManager, Protocol,
    Tool, Work,
};

/// A scenario that has been checked.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Scenario {
    /// Its name, a valid [`LabName`](crate::LabName).
    pub name: String,
    /// Its description.
    pub description: String,
    /// Whether all OpenFlow connections are TLS.
    #[serde(default)]
    pub tls: bool,
    /// The number of controllers; several are a cluster.
    #[serde(default = "one")]
    pub controllers: u8,
    /// The network.
    pub topology: Topology,
    /// The traffic; a network that is only deployed needs none.
    pub traffic: Option<Traffic>,
    /// Properties of the lines of sites; all variants run with each.
    #[serde(default)]
    pub profiles: Vec<Profile>,
    /// The variants, each with all of the traffic; none: one run with defaults.
    pub variants: Vec<Variant>,
    /// The events of every transfer, in order of time.
    pub events: Vec<Event>,
    /// The captures of every transfer.
    pub captures: Vec<Capture>,
    /// The expectations.
    pub expect: Vec<Expectation>,
}

const fn one() -> u8 {
    1
}

impl Scenario {
    /// Reads and checks the file at `path`.
    ///
    /// # Errors
    ///
    /// [`ScenarioError`] with every problem found, each with its line and column.
    pub fn load(path: &Path) -> Result<Self, ScenarioError> {
        let file = path.display().to_string();
        match std::fs::read_to_string(path) {
            Ok(text) => Self::parse(&text, &file),
            Err(error) => Err(ScenarioError::unreadable(&file, &error)),
        }
    }

    /// The JSON schema of a scenario file, without what `parse` checks of several keys together.
    pub fn schema() -> schemars::Schema {
        schemars::schema_for!(file::File)
    }

    /// The number of transfers or rounds of simultaneous transfers, over all variants.
    pub fn rounds(&self) -> usize {
        let cases = self.cases();
        cases.iter().map(|case| case.scenario.traffic.as_ref().map_or(0, Traffic::rounds)).sum()
    }

    /// Checks the text of a scenario; `file` is its name in errors.
    ///
    /// # Errors
    ///
    /// [`ScenarioError`] with every problem found, each with its line and column.
    pub fn parse(text: &str, file: &str) -> Result<Self, ScenarioError> {
        let mut parsed: file::File =
            serde_saphyr::from_str(text).map_err(|error| ScenarioError::malformed(file, text, &error))?;
        check::check(&mut parsed).map_err(|problems| ScenarioError::new(file, problems))
    }
}
