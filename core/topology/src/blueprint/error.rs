//! Reasons for which the builder refuses a switch, link or host.

use braid_types::{DatapathId, PortNo};

use super::MAX_NAME;

/// Errors of a [`Builder`](super::Builder), whose content stays unchanged.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BlueprintError {
    /// The name is invalid.
    #[error("{0:?} is not a name: give 1 to {MAX_NAME} bytes without control characters")]
    BadName(String),
    /// The name is taken.
    #[error("the name {0:?} is given twice")]
    RepeatedName(String),
    /// The datapath id is taken.
    #[error("switches {first:?} and {second:?} both have the datapath id {dpid}")]
    RepeatedDatapath {
        /// The datapath id.
        dpid: DatapathId,
        /// The switch that has it.
        first: String,
        /// The switch that requested it as well.
        second: String,
    },
    /// The port has a link.
    #[error("port {port} of switch {switch:?} has a link already")]
    RepeatedPort {
        /// The switch.
        switch: String,
        /// Its port.
        port: PortNo,
    },
    /// The port number is reserved.
    #[error("port {port} of switch {switch:?} cannot have a link: ports are 1 to {max}", max = PortNo::MAX.0)]
    NotAPort {
        /// The switch.
        switch: String,
        /// The number.
        port: PortNo,
    },
    /// There is no switch with this index.
    #[error("there is no switch {index}: {have} are known")]
    UnknownSwitch {
        /// The index.
        index: usize,
        /// The number of switches.
        have: usize,
    },
    /// Both ends of the link are at one switch.
    #[error("a link leads from switch {0:?} back to itself")]
    SelfLoop(String),
    /// The link has no direction.
    #[error("the link between {0:?} and {1:?} has no direction")]
    NoDirection(String, String),
    /// The host has no interface.
    #[error("host {0:?} has no interface")]
    NoInterface(String),
    /// A bound of this module is reached.
    #[error("there are more than {limit} {what}, which is the limit")]
    TooMany {
        /// The kind of object.
        what: &'static str,
        /// The limit.
        limit: usize,
    },
}
