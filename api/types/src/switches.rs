//! Switches and their ports.

use std::net::SocketAddr;

use braid_types::{DatapathId, PortNo};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::Schema;
use crate::page::pages;
use crate::schema::{Dpid, PortNumber};

pages!(/// Connected switches.
    Switches, switches: Switch);

/// A connected switch.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, ToSchema)]
pub struct Switch {
    /// Its identity.
    #[schema(value_type = Dpid)]
    pub dpid: DatapathId,
    /// What this controller is to it.
    pub role: SwitchRole,
    /// Its ports, by number; none while another controller is its master.
    pub ports: Vec<Port>,
    /// The address from which it connects.
    #[schema(value_type = Option<String>)]
    pub address: Option<SocketAddr>,
    /// The standby of the cluster through which this controller serves it; null if it is connected itself.
    #[serde(default)]
    pub via: Option<String>,
    /// Its name, if the network file gives one.
    pub name: Option<String>,
    /// The group that the network file puts it in, such as a pod.
    pub group: Option<String>,
    /// Where on Earth it stands.
    pub position: Option<Position>,
}

/// What a controller is to a switch.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum SwitchRole {
    /// It writes the switch's rules.
    Master,
    /// Another controller does, in a newer term; this one has stood down.
    Slave,
}

/// A controller claims the role of master of all its switches.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, ToSchema)]
pub struct TakeOver {
    /// `braid/v1`.
    #[schema(value_type = String)]
    pub schema: Schema,
    /// Its new term, above all that its switches have reported.
    pub term: u64,
    /// The switches of which it is not master yet.
    pub claimed: usize,
}

/// A port of a switch.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, ToSchema)]
pub struct Port {
    /// Its number.
    #[schema(value_type = PortNumber)]
    pub port: PortNo,
    /// Its name in the switch.
    pub name: String,
    /// Whether packets can pass.
    pub up: bool,
    /// What it leads to; null while it is down.
    pub role: Option<PortRole>,
}

/// What a port leads to.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum PortRole {
    /// Too new to tell; only discovery frames pass.
    Pending,
    /// Hosts.
    Host,
    /// Another switch.
    Link,
    /// Another switch that is not heard any more.
    Silent,
}

/// A position on Earth, in degrees.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize, ToSchema)]
pub struct Position {
    /// From -90 to 90, north is positive.
    pub latitude: f64,
    /// From -180 to 180, east is positive.
    pub longitude: f64,
}
