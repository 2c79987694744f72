//! Metadata of switches for people (name, group, position), which OpenFlow does not provide.

use std::collections::BTreeMap;

use braid_api::Position;
use braid_types::DatapathId;

/// The metadata of switches by datapath id.
pub type SwitchMetadataMap = BTreeMap<DatapathId, SwitchMetadata>;

/// The metadata of one switch.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct SwitchMetadata {
    /// Its name.
    pub name: Option<String>,
    /// The group that it belongs to, such as a pod.
    pub group: Option<String>,
    /// Its position on Earth.
    pub position: Option<Position>,
}
