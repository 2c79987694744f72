//! Links of a testbed, which API clients can cut and change.

use braid_types::SwitchPort;
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use crate::Schema;
use crate::schema::PortOfSwitch;

/// The response with a testbed's links.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, ToSchema)]
pub struct TestbedLinks {
    /// `braid/v1`
    #[schema(value_type = String)]
    pub schema: Schema,
    /// The links; none where the network is no testbed.
    pub links: Vec<TestbedLink>,
}

/// The response with a link that was changed, added or removed.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, ToSchema)]
pub struct TestbedChanged {
    /// `braid/v1`
    #[schema(value_type = String)]
    pub schema: Schema,
    /// The link as it is now, or was before its removal.
    pub link: TestbedLink,
}

/// A link of a testbed.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, ToSchema)]
pub struct TestbedLink {
    /// `false` if the link is cut.
    pub up: bool,
    /// Both ends, each with the properties of the direction that leaves it.
    pub ends: [TestbedEnd; 2],
}

/// One end of a link of a testbed.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, ToSchema)]
pub struct TestbedEnd {
    /// The testbed's name of a switch, or of a host and its interface.
    pub name: String,
    /// The switch's port; `null` at a host.
    #[schema(value_type = Option<PortOfSwitch>)]
    pub at: Option<SwitchPort>,
    /// The rate in bits per second; `null` if it is not limited.
    pub rate_bps: Option<u64>,
    /// The delay in microseconds.
    pub delay_us: f64,
    /// The share of lost frames.
    pub loss: f64,
}

/// A change of a link. Absent properties keep their values.
#[derive(Clone, Copy, PartialEq, Debug, Default, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct LinkChange {
    /// `false` cuts the link, `true` restores it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub up: Option<bool>,
    /// The rate in bits per second.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(minimum = 8_000, maximum = 1_000_000_000_000_u64)]
    pub rate_bps: Option<u64>,
    /// The delay in microseconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(minimum = 0, maximum = 10_000_000)]
    pub delay_us: Option<u64>,
    /// The share of lost frames.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(minimum = 0, maximum = 1)]
    pub loss: Option<f64>,
}

/// A link that is added between two switches.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct NewTestbedLink {
    /// The rate in bits per second, of both directions.
    #[schema(minimum = 8_000, maximum = 1_000_000_000_000_u64)]
    pub rate_bps: u64,
    /// The delay in microseconds; 0 by default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(minimum = 0, maximum = 10_000_000)]
    pub delay_us: Option<u64>,
    /// The share of lost frames; 0 by default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(minimum = 0, maximum = 1)]
    pub loss: Option<f64>,
}

/// The link that is changed, added or removed.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub struct TestbedEnds {
    /// One end: a switch, with or without a colon and the number of its port, or a host, with or without its interface
    pub from: String,
    /// The other end
    pub to: String,
}
