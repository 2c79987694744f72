//! Reasons for which the builder refuses a switch, link or host.

use braid_types::{DatapathId, PortNo};

use super::MAX_NAME;

/// Why a [`Builder`](super::Builder) refused something; what it has is as it was before.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BlueprintError {
    /// Names are printed, typed and sorted by.
    #[error("{0:?} is not a name: that is 1 to {MAX_NAME} bytes without control characters")]
    BadName(String),
    /// Names are unique among switches and hosts.
    #[error("the name {0:?} is given twice")]
    RepeatedName(String),
    /// Datapath ids are unique.
    #[error("switches {first:?} and {second:?} both have the datapath id {dpid}")]
    RepeatedDatapath {
        /// The datapath id.
        dpid: DatapathId,
        /// Who has it.
        first: String,
        /// Who was to get it as well.
        second: String,
    },
    /// A port has one link.
    #[error("port {port} of switch {switch:?} has a link already")]
    RepeatedPort {
        /// The switch.
        switch: String,
        /// Its port.
        port: PortNo,
    },
    /// Reserved numbers are no ports.
    #[error("port {port} of switch {switch:?} cannot have a link: ports are 1 to {max}", max = PortNo::MAX.0)]
    NotAPort {
        /// The switch.
        switch: String,
        /// The number.
        port: PortNo,
    },
    /// No such index.
    #[error("there is no switch {index}: {have} are known")]
    UnknownSwitch {
        /// The index.
        index: usize,
        /// How many switches there are.
        have: usize,
    },
    /// A link leads somewhere else.
    #[error("a link leads from switch {0:?} back to itself")]
    SelfLoop(String),
    /// A link carries something at least in one direction.
    #[error("the link between {0:?} and {1:?} has no direction")]
    NoDirection(String, String),
    /// A host is attached somewhere.
    #[error("host {0:?} has no interface")]
    NoInterface(String),
    /// A bound of this module is reached.
    #[error("there are more than {limit} {what}, which is the limit")]
    TooMany {
        /// What there is too much of.
        what: &'static str,
        /// The limit.
        limit: usize,
    },
}
