//! The interface to a testbed, whose links users of the controller can cut and change.

use std::fmt;
use std::time::Duration;

use braid_types::SwitchPort;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// A testbed. Its methods may block for a while; one is called at a time.
pub trait Testbed: fmt::Debug + Send + Sync {
    /// The testbed's links in their current state.
    ///
    /// # Errors
    ///
    /// The reason, as text.
    fn links(&self) -> Result<Vec<TestbedLink>, String>;

    /// Changes the link between two ends in both directions and returns its new state. Unnamed properties keep their values.
    ///
    /// One of several links between two switches is named by a port, as in `s1:2`.
    ///
    /// # Errors
    ///
    /// The link does not exist, the value is refused, or the change fails.
    fn change(&self, ends: [&str; 2], change: LinkChange) -> Result<TestbedLink, TestbedError>;
}

/// Errors of link changes.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum TestbedError {
    /// There is no such link.
    #[error("{0}")]
    NoLink(String),
    /// A link cannot have these values.
    #[error("{0}")]
    Refused(String),
    /// The change failed.
    #[error("{0}")]
    Failed(String),
}

/// A link of a testbed.
#[derive(Clone, PartialEq, Debug, Serialize, ToSchema)]
pub struct TestbedLink {
    /// `false` if the link is cut.
    pub up: bool,
    /// Both ends, each with the properties of the direction that leaves it.
    pub ends: [TestbedEnd; 2],
}

/// One end of a link.
#[derive(Clone, PartialEq, Debug, Serialize, ToSchema)]
pub struct TestbedEnd {
    /// The testbed's name of a switch, or of a host and its interface.
    pub name: String,
    /// The switch's port; `null` at a host.
    pub at: Option<SwitchPort>,
    /// The rate in bits per second; `null` if it is not limited.
    pub rate_bps: Option<u64>,
    /// The delay in microseconds.
    pub delay_us: f64,
    /// The share of lost frames.
    pub loss: f64,
}

/// A change of a link.
#[derive(Clone, Copy, PartialEq, Debug, Default, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct LinkChange {
    /// `false` cuts the link, `true` restores it.
    pub up: Option<bool>,
    /// The rate in bits per second.
    #[schema(minimum = 8_000, maximum = 1_000_000_000_000_u64)]
    pub rate_bps: Option<u64>,
    /// The delay in microseconds.
    #[schema(minimum = 0, maximum = 10_000_000)]
    pub delay_us: Option<u64>,
    /// The share of lost frames.
    #[schema(minimum = 0, maximum = 1)]
    pub loss: Option<f64>,
}

impl LinkChange {
    const MIN_RATE: u64 = 8_000;
    const MAX_RATE: u64 = 1_000_000_000_000;
    const MAX_DELAY: Duration = Duration::from_secs(10);

    /// The first invalid field and its error.
    pub(crate) fn mistake(&self) -> Option<(&'static str, String)> {
        let rates = Self::MIN_RATE..=Self::MAX_RATE;
        let delay = |it: &u64| Duration::from_micros(*it) <= Self::MAX_DELAY;
        match self {
            Self { rate_bps: Some(rate), .. } if !rates.contains(rate) => {
                Some(("rate_bps", format!("{rate} is not from {} to {}", rates.start(), rates.end())))
            }
            Self { delay_us: Some(it), .. } if !delay(it) => {
                Some(("delay_us", format!("{it} is more than {}", Self::MAX_DELAY.as_micros())))
            }
            Self { loss: Some(loss), .. } if !(0.0..=1.0).contains(loss) => {
                Some(("loss", format!("{loss} is not from 0 to 1")))
            }
            _ if *self == Self::default() => Some((
                "",
                "no property is given: name at least one of up, rate_bps, delay_us and loss".to_owned(),
            )),
            _ => None,
        }
    }
}

/// The response with a testbed's links.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct TestbedLinks {
    pub(crate) schema: &'static str,
    pub(crate) links: Vec<TestbedLink>,
}

/// The response with a changed link.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct TestbedChanged {
    pub(crate) schema: &'static str,
    pub(crate) link: TestbedLink,
}
