//! Links that the controller's users can cut and change, where its network is one that was built for trying.

use std::fmt;
use std::time::Duration;

use braid_types::SwitchPort;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// What built the network. Its methods may take a while; one is called at a time.
pub trait Testbed: fmt::Debug + Send + Sync {
    /// Its links as they are.
    ///
    /// # Errors
    ///
    /// Why they cannot be told, in words.
    fn links(&self) -> Result<Vec<TestbedLink>, String>;

    /// Changes the link between two ends, both ways; what the change does not name stays. The link as it is then.
    ///
    /// Of several links between two switches one is named by a port, as in `s1:2`.
    ///
    /// # Errors
    ///
    /// What is wrong with that.
    fn change(&self, ends: [&str; 2], change: LinkChange) -> Result<TestbedLink, TestbedError>;
}

/// Why a link is not changed.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum TestbedError {
    /// There is none between the two.
    #[error("{0}")]
    NoLink(String),
    /// It cannot be like that.
    #[error("{0}")]
    Refused(String),
    /// Something failed.
    #[error("{0}")]
    Failed(String),
}

/// A link of a testbed.
#[derive(Clone, PartialEq, Debug, Serialize, ToSchema)]
pub struct TestbedLink {
    /// Whether it is whole, or cut.
    pub up: bool,
    /// What it joins, and what it is like from there to the other end.
    pub ends: [TestbedEnd; 2],
}

/// One end of a link.
#[derive(Clone, PartialEq, Debug, Serialize, ToSchema)]
pub struct TestbedEnd {
    /// A switch, or a host and its interface, as the testbed calls it.
    pub name: String,
    /// The port of the switch; none at a host.
    pub at: Option<SwitchPort>,
    /// What it lets through, in bits a second; none: what the machine can.
    pub rate_bps: Option<u64>,
    /// How long a frame is on the way, in microseconds.
    pub delay_us: f64,
    /// The share of frames that are lost.
    pub loss: f64,
}

/// What is changed of a link.
#[derive(Clone, Copy, PartialEq, Debug, Default, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct LinkChange {
    /// Cuts it, or restores it.
    pub up: Option<bool>,
    /// What it lets through, in bits a second.
    #[schema(minimum = 8_000, maximum = 1_000_000_000_000_u64)]
    pub rate_bps: Option<u64>,
    /// How long a frame is on the way, in microseconds.
    #[schema(minimum = 0, maximum = 10_000_000)]
    pub delay_us: Option<u64>,
    /// The share of frames that are lost.
    #[schema(minimum = 0, maximum = 1)]
    pub loss: Option<f64>,
}

impl LinkChange {
    const LEAST_RATE: u64 = 8_000;
    const MOST_RATE: u64 = 1_000_000_000_000;
    const MOST_DELAY: Duration = Duration::from_secs(10);

    /// The field that cannot be so, and why.
    pub(crate) fn mistake(&self) -> Option<(&'static str, String)> {
        let rates = Self::LEAST_RATE..=Self::MOST_RATE;
        let delay = |it: &u64| Duration::from_micros(*it) <= Self::MOST_DELAY;
        match self {
            Self { rate_bps: Some(rate), .. } if !rates.contains(rate) => {
                Some(("rate_bps", format!("{rate} is not from {} to {}", rates.start(), rates.end())))
            }
            Self { delay_us: Some(it), .. } if !delay(it) => {
                Some(("delay_us", format!("{it} is more than {}", Self::MOST_DELAY.as_micros())))
            }
            Self { loss: Some(loss), .. } if !(0.0..=1.0).contains(loss) => {
                Some(("loss", format!("{loss} is not from 0 to 1")))
            }
            _ if *self == Self::default() => Some(("", "nothing is to be changed".to_owned())),
            _ => None,
        }
    }
}

/// The links of a testbed, when they were asked for.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct TestbedLinks {
    pub(crate) schema: &'static str,
    pub(crate) links: Vec<TestbedLink>,
}

/// A link of a testbed that was changed.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct TestbedChanged {
    pub(crate) schema: &'static str,
    pub(crate) link: TestbedLink,
}
