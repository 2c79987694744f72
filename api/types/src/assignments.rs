//! Assignments: paths that applications set aside, and the connections that they announce.

use std::net::IpAddr;

use braid_types::{DatapathId, FiveTuple, Time};
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use crate::Schema;
use crate::page::pages;
use crate::schema::{Dpid, Nanoseconds};

pages!(/// Paths that applications have set aside.
    Assignments, assignments: Assignment);

/// Paths that an application has set aside.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, ToSchema)]
pub struct Assignment {
    /// Its name: 16 hexadecimal digits that do not follow from others.
    #[schema(pattern = "^[0-9a-fA-F]{16}$")]
    pub id: String,
    /// Its owner.
    #[schema(pattern = "^[!-~]{1,64}$")]
    pub owner: String,
    /// One host.
    #[schema(value_type = String)]
    pub src: IpAddr,
    /// The other.
    #[schema(value_type = String)]
    pub dst: IpAddr,
    /// The number of paths that were asked for; there are fewer `paths` if no more are of use.
    pub requested_paths: usize,
    /// The number of expected streams, if it was given.
    pub expected_streams: Option<usize>,
    /// How streams are distributed: `weight`, `round-robin`, `shortest`, or `path:` and its place from 0.
    pub distribution: String,
    /// When it was made.
    #[schema(value_type = Nanoseconds)]
    pub opened_at: Time,
    /// When it ends unless it is used before.
    #[schema(value_type = Nanoseconds)]
    pub expires_at: Time,
    /// Streams that were placed so far.
    pub placed_streams: u64,
    /// Its paths, shortest first.
    pub paths: Vec<AssignedPath>,
}

/// A path of an assignment.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, ToSchema)]
pub struct AssignedPath {
    /// Its switches, from the one of `src` to the one of `dst`.
    #[schema(value_type = Vec<Dpid>)]
    pub switches: Vec<DatapathId>,
    /// The switches by name, or datapath id; left out where none has a name.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schema(required = false)]
    pub switch_names: Vec<String>,
    /// What it can carry beside the others, in bits a second: this owner's share of what others do not use.
    pub available_bps: u64,
    /// Its round-trip time, in microseconds, as far as the delays of links are known.
    pub round_trip_us: f64,
    /// The number of streams that it can use, n = max(1, a·B·R); zero while streams go to others only.
    pub best_streams: f64,
    /// The number of streams on it.
    pub streams: usize,
}

/// The paths that an application asks for.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct NewAssignment {
    /// One host's address.
    #[schema(value_type = String, example = "10.0.0.1")]
    pub src: IpAddr,
    /// The other's, of the same family.
    #[schema(value_type = String, example = "10.0.0.2")]
    pub dst: IpAddr,
    /// The number of paths.
    #[schema(minimum = 1, maximum = 16)]
    pub paths: usize,
    /// The number of streams that will come, if it is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub streams: Option<usize>,
    /// Its owner; `anonymous` by default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(pattern = "^[!-~]{1,64}$")]
    pub owner: Option<String>,
    /// How long after its last use it is kept; 3600 by default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lease_seconds: Option<u64>,
    /// How streams are distributed: `weight` (default), `round-robin`, `shortest`, or `path:` and its place from 0.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub distribution: Option<String>,
    /// Streams per Mbit/s and ms, if the application knows better.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub a: Option<f64>,
    /// The share of the peak goodput that is lost with few streams, from 0 to 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub saturation_loss: Option<f64>,
    /// How goodput grows with streams.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub growth: Option<Growth>,
}

/// How goodput grows with the number of streams until a path is full.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Growth {
    /// Losses limit streams.
    Parabola,
    /// Windows limit streams.
    Line,
}

/// A connection that is about to open, or has ended.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct Connection {
    /// The opening host's address.
    #[schema(value_type = String, example = "10.0.0.1")]
    pub src: IpAddr,
    /// The opening host's port.
    pub src_port: u16,
    /// The answering host's address.
    #[schema(value_type = String, example = "10.0.0.2")]
    pub dst: IpAddr,
    /// The answering host's port.
    pub dst_port: u16,
    /// The assignment's owner.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(pattern = "^[!-~]{1,64}$")]
    pub owner: Option<String>,
}

/// Who renews or releases an assignment.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct Requester {
    /// The assignment's owner.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(pattern = "^[!-~]{1,64}$")]
    pub owner: Option<String>,
}

/// The assignment that is renewed, released or used.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, IntoParams)]
#[into_params(parameter_in = Path)]
pub struct AssignmentName {
    /// Its name
    #[param(pattern = "^[0-9a-fA-F]{16}$")]
    pub id: String,
}

/// An assignment that was made, renewed or released.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, ToSchema)]
pub struct Assigned {
    /// `braid/v1`
    #[schema(value_type = String)]
    pub schema: Schema,
    /// The assignment.
    pub assignment: Assignment,
    /// What it lacks of the request, in words.
    pub warnings: Vec<String>,
}

/// A stream was placed.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, ToSchema)]
pub struct Placed {
    /// `braid/v1`
    #[schema(value_type = String)]
    pub schema: Schema,
    /// The stream.
    pub stream: PlacedStream,
}

/// A stream that has a path.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, ToSchema)]
pub struct PlacedStream {
    /// Its number.
    pub stream: u64,
    /// The place of its path in the assignment, from 0; null for another path, where none of these exists any more.
    pub path: Option<usize>,
    /// The switches on its path, from the host that opens it.
    #[schema(value_type = Vec<Dpid>)]
    pub switches: Vec<DatapathId>,
}

/// A stream was ended.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize, ToSchema)]
pub struct Ended {
    /// `braid/v1`
    #[schema(value_type = String)]
    pub schema: Schema,
}

impl NewAssignment {
    /// So many paths between two hosts, and no more said.
    pub const fn between(src: IpAddr, dst: IpAddr, paths: usize) -> Self {
        Self {
            src,
            dst,
            paths,
            streams: None,
            owner: None,
            lease_seconds: None,
            distribution: None,
            a: None,
            saturation_loss: None,
            growth: None,
        }
    }
}

impl Connection {
    /// The connection of these packets, which its opening host sends.
    pub const fn new(tuple: &FiveTuple, owner: Option<String>) -> Self {
        let FiveTuple { src, dst, src_port, dst_port } = *tuple;
        Self { src, src_port, dst, dst_port, owner }
    }
}
