//! Errors: why a scenario, or one of its variants, cannot be simulated.

use std::fmt;

use braid_lab::Scenario;
use braid_sim::network::NetworkError;
use braid_topology::blueprint::BlueprintError;
use serde::Serialize;

/// A variant that is skipped, and the key that the simulator cannot follow.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Refused {
    /// Its name; none where the scenario has no variants.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub variant: Option<String>,
    /// The key in the scenario's file, such as `controller.probe` or `policy: rule[0].ports`.
    pub key: String,
    /// The reason.
    pub why: String,
}

impl Refused {
    pub(crate) fn new(key: impl Into<String>, why: impl Into<String>) -> Self {
        Self { variant: None, key: key.into(), why: why.into() }
    }

    pub(crate) fn of(self, variant: Option<&str>) -> Self {
        Self { variant: variant.map(str::to_owned), ..self }
    }
}

impl fmt::Display for Refused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(variant) = &self.variant {
            write!(f, "variant {variant:?}: ")?;
        }
        write!(f, "{}: {}", self.key, self.why)
    }
}

/// Why nothing of a scenario can be simulated.
#[derive(Debug, thiserror::Error)]
pub enum CompareError {
    /// There is nothing to simulate.
    #[error("the scenario has no traffic")]
    NoTraffic,
    /// The simulator does not know the tool that makes the traffic.
    #[error("the simulator knows the traffic of iperf3 and gridftp alone, one of them at a time")]
    Tool,
    /// Directions have settings of their own.
    #[error("traffic.directions: the simulator gives all directions the same mode, tool and streams")]
    Differ,
    /// Paths cross networks of others.
    #[error("topology.tunnels: the simulator knows no tunnels over uplinks")]
    Tunnels,
    /// Boxes of sites are no switches.
    #[error("topology.sites: the simulator knows no sites")]
    Sites,
    /// The network changes, or carries other traffic.
    #[error("the simulator knows neither background traffic nor events of scenarios")]
    Changes,
    /// Amounts would have to be divided.
    #[error("amounts are simulated one direction at a time")]
    Together,
    /// No variant is left.
    #[error("the simulator can do none of the variants: {}", list(.0))]
    AllRefused(Vec<Refused>),
    /// One of a scenario's hosts has no interface where one is needed.
    #[error("{0} has no interface with the address of a connection")]
    NoInterface(String),
    /// A link of the scenario is not in its drawing.
    #[error("a link of the scenario is not in its drawing")]
    NoLink,
    /// The scenario cannot be drawn.
    #[error(transparent)]
    Blueprint(#[from] BlueprintError),
    /// Its network cannot be simulated.
    #[error(transparent)]
    Network(#[from] NetworkError),
}

impl CompareError {
    pub(crate) fn no_interface(scenario: &Scenario, host: usize) -> Self {
        let name = scenario.topology.hosts.get(host).map(|host| host.name.clone());
        Self::NoInterface(name.unwrap_or_default())
    }
}

fn list(refused: &[Refused]) -> String {
    refused.iter().map(Refused::to_string).collect::<Vec<_>>().join("; ")
}
