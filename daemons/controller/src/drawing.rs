//! Names, groups and positions of switches from the network file: the network itself knows none of them.

use std::collections::BTreeMap;

use braid_api::Position;
use braid_types::DatapathId;

/// Switches as they are drawn, by datapath id.
pub type Drawings = BTreeMap<DatapathId, Drawn>;

/// A switch as it is drawn.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Drawn {
    /// How people call it.
    pub name: Option<String>,
    /// What it belongs to, such as a pod.
    pub group: Option<String>,
    /// Where on Earth it stands.
    pub position: Option<Position>,
}
