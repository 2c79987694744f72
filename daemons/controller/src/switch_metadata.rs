//! Metadata of switches for people (name, group, position), which OpenFlow does not provide.

use std::collections::BTreeMap;

use braid_types::DatapathId;
use serde::Serialize;
use utoipa::ToSchema;

/// The metadata of switches by datapath id.
pub type SwitchMetadataMap = BTreeMap<DatapathId, SwitchMetadata>;

/// The metadata of one switch.
#[derive(Clone, PartialEq, Debug, Default, Serialize, ToSchema)]
pub struct SwitchMetadata {
    /// Its name.
    pub name: Option<String>,
    /// The group that it belongs to, such as a pod.
    pub group: Option<String>,
    /// Its position on Earth.
    pub position: Option<Position>,
}

/// A position on Earth, in degrees.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, ToSchema)]
pub struct Position {
    /// From -90 to 90, north is positive.
    pub latitude: f64,
    /// From -180 to 180, east is positive.
    pub longitude: f64,
}
