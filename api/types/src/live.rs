//! The messages of `GET /api/v1/stream`: a snapshot, then changes of its lists, and events.

use braid_types::Time;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::schema::Nanoseconds;
use crate::{Edge, Event, Host, Link, LostLink, Schema, Switch, Transfer};

/// The data of the first message, named `snapshot`.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, ToSchema)]
pub struct Snapshot {
    /// `braid/v1`
    #[schema(value_type = String)]
    pub schema: Schema,
    /// Everything that happened until then is in the lists.
    #[schema(value_type = Nanoseconds)]
    pub now: Time,
    /// Connected switches.
    pub switches: Vec<Switch>,
    /// Directed links.
    pub links: Vec<Link>,
    /// Directed links that were lost and have not come back, while both their switches are connected. Deltas do not have
    /// them: a link that leaves `links` is lost, and one that comes back is in `links` again.
    #[serde(default)]
    #[schema(required = false)]
    pub lost_links: Vec<LostLink>,
    /// Interfaces of hosts.
    pub hosts: Vec<Host>,
    /// Edges.
    pub edges: Vec<Edge>,
    /// Transfers in progress.
    pub transfers: Vec<Transfer>,
    /// The last events, oldest first.
    pub events: Vec<Event>,
    /// How much there is, also where lists have only the first items.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub totals: Option<NetworkTotals>,
}

/// How much there is in the whole network.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, ToSchema)]
pub struct NetworkTotals {
    /// Directed links.
    pub links: u64,
    /// Interfaces of hosts.
    pub hosts: u64,
    /// Transfers in progress.
    pub transfers: u64,
}

/// The data of messages named `delta`; a list without changes is left out.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, ToSchema)]
pub struct Delta {
    /// `braid/v1`
    #[schema(value_type = String)]
    pub schema: Schema,
    /// Everything that happened until then is told.
    #[schema(value_type = Nanoseconds)]
    pub now: Time,
    /// Changes of switches.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub switches: Option<Changes<Switch>>,
    /// Changes of links.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub links: Option<Changes<Link>>,
    /// Changes of hosts.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub hosts: Option<Changes<Host>>,
    /// Changes of edges.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub edges: Option<Changes<Edge>>,
    /// Changes of transfers.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub transfers: Option<Changes<Transfer>>,
    /// How much there is now.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub totals: Option<NetworkTotals>,
}

/// The changes of a list.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, ToSchema)]
pub struct Changes<T> {
    /// New and changed items.
    pub set: Vec<T>,
    /// The keys of items that ended.
    pub removed: Vec<String>,
}
