//! Links of a testbed, which API clients can cut and change.

use braid_types::SwitchPort;
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use crate::Schema;
use crate::schema::PortOfSwitch;

/// The links of a testbed.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, ToSchema)]
pub struct TestbedLinks {
    /// `braid/v1`
    #[schema(value_type = String)]
    pub schema: Schema,
    /// The links; none where the network is no testbed.
    pub links: Vec<TestbedLink>,
}

/// A link of a testbed that was changed.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, ToSchema)]
pub struct TestbedChanged {
    /// `braid/v1`
    #[schema(value_type = String)]
    pub schema: Schema,
    /// The link as it is now.
    pub link: TestbedLink,
}

/// A link of a testbed.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, ToSchema)]
pub struct TestbedLink {
    /// Whether it is whole, or cut.
    pub up: bool,
    /// Its ends, each with what is true from there to the other end.
    pub ends: [TestbedEnd; 2],
}

/// One end of a link of a testbed.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, ToSchema)]
pub struct TestbedEnd {
    /// A switch, or a host and its interface, as the testbed calls it.
    pub name: String,
    /// The port of the switch; null at a host.
    #[schema(value_type = Option<PortOfSwitch>)]
    pub at: Option<SwitchPort>,
    /// The rate that it lets through, in bits a second; null: as fast as the machine.
    pub rate_bps: Option<u64>,
    /// The time that a frame takes, in microseconds.
    pub delay_us: f64,
    /// The share of frames that are lost.
    pub loss: f64,
}

/// The change of a link; what is absent stays as it is.
#[derive(Clone, Copy, PartialEq, Debug, Default, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct LinkChange {
    /// False cuts it, true restores it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub up: Option<bool>,
    /// The rate that it lets through, in bits a second.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(minimum = 8_000, maximum = 1_000_000_000_000_u64)]
    pub rate_bps: Option<u64>,
    /// The time that a frame takes, in microseconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(minimum = 0, maximum = 10_000_000)]
    pub delay_us: Option<u64>,
    /// The share of frames that are lost.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(minimum = 0, maximum = 1)]
    pub loss: Option<f64>,
}

/// The link that is changed.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub struct TestbedEnds {
    /// One end: a switch, with or without a colon and the number of its port, or a host, with or without its interface
    pub from: String,
    /// The other end
    pub to: String,
}
