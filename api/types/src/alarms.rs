//! Alarms: attacks that the controller saw at ports.

use std::net::IpAddr;

use braid_types::{MacAddr, SwitchPort, Time};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::page::pages;
use crate::schema::{Mac, Nanoseconds, PortOfSwitch};

pages!(/// Attacks that the controller saw at ports.
    Alarms, alarms: Alarm);

/// An attack of one kind at one port.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, ToSchema)]
pub struct Alarm {
    /// The port.
    #[schema(value_type = PortOfSwitch)]
    pub at: SwitchPort,
    /// The last attack.
    #[serde(flatten)]
    pub threat: Threat,
    /// The same in words.
    pub text: String,
    /// When the first was seen.
    #[schema(value_type = Nanoseconds)]
    pub first_at: Time,
    /// When the last was seen.
    #[schema(value_type = Nanoseconds)]
    pub last_at: Time,
    /// How many there were.
    pub count: u64,
}

/// An attack, or traffic that looks like one.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case", tag = "kind")]
pub enum Threat {
    /// A discovery frame (LLDP) with a wrong tag or form.
    ForgedLldp {
        /// What is wrong with it.
        why: String,
    },
    /// A discovery frame that was heard before, or that is too old to come from a link.
    ReplayedLldp {
        /// The port that the frame was made for.
        #[schema(value_type = PortOfSwitch)]
        of: SwitchPort,
    },
    /// A discovery frame between ports of which one leads to a host.
    RelayedLldp {
        /// The port that the frame was made for.
        #[schema(value_type = PortOfSwitch)]
        of: SwitchPort,
    },
    /// The port's own discovery frame.
    ReflectedLldp,
    /// A host whose addresses are refused.
    RejectedHost {
        /// Its address.
        #[schema(value_type = Mac)]
        mac: MacAddr,
        /// What is wrong with it.
        why: String,
    },
    /// The Ethernet address of a host that is alive elsewhere.
    SpoofedMac {
        /// The address.
        #[schema(value_type = Mac)]
        mac: MacAddr,
        /// The port of the host.
        #[schema(value_type = PortOfSwitch)]
        holder: SwitchPort,
    },
    /// The IP address of a host that is alive elsewhere.
    SpoofedIp {
        /// The address.
        #[schema(value_type = String)]
        ip: IpAddr,
        /// The port of the host.
        #[schema(value_type = PortOfSwitch)]
        holder: SwitchPort,
    },
    /// More new, conflicting or unknown addresses than a port may use.
    TooManyAddresses,
    /// More packets for the controller than a port may send.
    TooManyPackets,
}
