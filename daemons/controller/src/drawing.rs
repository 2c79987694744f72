//! What is written down of switches, for people: the network itself says neither how they are called nor where they stand.

use std::collections::BTreeMap;

use braid_types::DatapathId;
use serde::Serialize;
use utoipa::ToSchema;

/// Switches as they are drawn, by datapath id.
pub type Drawings = BTreeMap<DatapathId, Drawn>;

/// A switch as it is drawn.
#[derive(Clone, PartialEq, Debug, Default, Serialize, ToSchema)]
pub struct Drawn {
    /// How people call it.
    pub name: Option<String>,
    /// What it belongs to, such as a pod.
    pub group: Option<String>,
    /// Where on Earth it stands.
    pub position: Option<Position>,
}

/// A place on Earth, in degrees.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, ToSchema)]
pub struct Position {
    /// From -90 to 90, north is positive.
    pub latitude: f64,
    /// From -180 to 180, east is positive.
    pub longitude: f64,
}
