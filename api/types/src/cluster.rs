//! The cluster of controllers that a controller is a member of.

use braid_types::Time;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::document::Schema;
use crate::schema::Nanoseconds;

/// A cluster as one of its members sees it; without a name and members where the controller is alone.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, ToSchema)]
pub struct Cluster {
    /// `braid/v1`
    #[schema(value_type = String)]
    pub schema: Schema,
    /// The time of the answer.
    #[schema(value_type = Nanoseconds)]
    pub now: Time,
    /// The cluster's name; null if the controller is no member of a cluster.
    pub name: Option<String>,
    /// The member that answers; null if the controller is no member of a cluster.
    pub member: Option<String>,
    /// The leader; null if this member knows of none.
    pub leader: Option<String>,
    /// The leader's term; null if this member knows of no leader.
    pub term: Option<u64>,
    /// The newest term that this member has seen anywhere.
    pub newest_term: u64,
    /// Whether the cluster's store answers this member.
    pub store_answers: bool,
    /// What a take-over would lose without it: facts that a leader tells its standbys, or that a standby has of its leader.
    #[serde(default)]
    pub facts: u64,
    /// How often this member led, and let a standby lead because that one reached more switches.
    #[serde(default)]
    pub stepped_aside: u64,
    /// All members that this one knows of, and itself, by name.
    pub members: Vec<ClusterMember>,
}

impl Cluster {
    /// The answer of a controller that is no member of a cluster.
    #[must_use]
    pub const fn alone(now: Time) -> Self {
        Self {
            schema: Schema,
            now,
            name: None,
            member: None,
            leader: None,
            term: None,
            newest_term: 0,
            store_answers: false,
            facts: 0,
            stepped_aside: 0,
            members: Vec::new(),
        }
    }
}

/// A member of a cluster.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, ToSchema)]
pub struct ClusterMember {
    /// Its name.
    pub name: String,
    /// Where it listens for other members.
    pub address: String,
    /// When the member that answers has heard of it last; null for itself and for those that it has not heard of. Standbys hear
    /// only the leader.
    #[schema(value_type = Option<Nanoseconds>)]
    pub last_heard: Option<Time>,
    /// How far a standby follows what the leader knows. A leader knows it of those that follow, a standby of itself; null
    /// otherwise.
    #[serde(default)]
    pub following: Option<Following>,
    /// The switches that answer it. A leader knows it of standbys, a standby of the leader; null
    /// where it is not known.
    #[serde(default)]
    pub switches_reached: Option<u32>,
    /// The switches that the leader serves through it. A leader knows it of standbys, a standby of itself; null otherwise.
    #[serde(default)]
    pub switches_relayed: Option<u32>,
}

/// How far a standby is behind its leader.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize, ToSchema)]
pub struct Following {
    /// At the leader: how long the oldest change waits that the standby has not confirmed. At the standby: how long ago the
    /// leader said that there is nothing more, which it does once a second at least. In microseconds; null before the standby
    /// has everything that was known when it began.
    pub lag_us: Option<u64>,
    /// Why the standby would begin without what the leader knows, if that is so.
    pub problem: Option<String>,
}

/// Who is to lead.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct NewLeader {
    /// The standby; any one that follows if it is missing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub to: Option<String>,
}

/// The leader has asked a standby to lead in its place.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, ToSchema)]
pub struct HandOver {
    /// `braid/v1`
    #[schema(value_type = String)]
    pub schema: Schema,
    /// The standby.
    pub to: String,
}
