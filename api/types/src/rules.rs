//! Rules in a switch, read from it at the time of the request.

use braid_types::{DatapathId, Time};
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use crate::Schema;
use crate::schema::{Dpid, Nanoseconds};

/// The switch that is asked.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, IntoParams)]
#[into_params(parameter_in = Path)]
pub struct SwitchName {
    /// Its name in the network file, or its datapath id
    pub switch: String,
}

/// The rules that are asked for.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub struct RulesParameters {
    /// Only those of this table; all by default
    #[param(maximum = 254)]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub table: Option<u8>,
}

/// The rules of a switch.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, ToSchema)]
pub struct Rules {
    /// `braid/v1`.
    #[schema(value_type = String)]
    pub schema: Schema,
    /// When the switch was asked.
    #[schema(value_type = Nanoseconds)]
    pub now: Time,
    /// The switch.
    #[schema(value_type = Dpid)]
    pub dpid: DatapathId,
    /// Its name, if the network file gives one.
    pub name: Option<String>,
    /// The rules, by table, priority (highest first) and match.
    pub rules: Vec<Rule>,
    /// Whether the switch has more rules than are listed: 5,000, or those of 4 MiB of its answer.
    pub truncated: bool,
}

/// A rule in a switch.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, ToSchema)]
pub struct Rule {
    /// Its table.
    pub table: u8,
    /// What Braid uses that table for: `admit`, `stream`, `route`, `bypass`, `fabric` or `deliver`; null for others.
    pub table_name: Option<String>,
    /// Its priority.
    pub priority: u16,
    /// The packets, as `ovs-ofctl` reads it; `any` for all.
    #[serde(rename = "match")]
    pub matching: String,
    /// What is done with them, as `ovs-ofctl` reads it.
    pub actions: String,
    /// The group that they are sent to, if there is one and this version of Braid has written the rule.
    pub group: Option<RuleGroup>,
    /// Packets so far; null if the switch does not count them.
    pub packets: Option<u64>,
    /// Their bytes; null if the switch does not count them.
    pub bytes: Option<u64>,
    /// Whole seconds since it was installed.
    pub age_seconds: u32,
    /// Its cookie.
    #[schema(pattern = "^0x[0-9a-f]{16}$")]
    pub cookie: String,
    /// What kind of rule it is.
    pub kind: RuleKind,
    /// What it is for, in words.
    pub purpose: String,
    /// Its stream, if it belongs to one.
    pub stream: Option<u64>,
    /// The transfer of that stream, while there is one.
    pub transfer: Option<u64>,
    /// Whether it serves the direction of the stream's answering host.
    pub reverse: Option<bool>,
    /// The label of its path or bypass, or of a group of paths.
    pub label: Option<u32>,
    /// The switches of that path or bypass while it is in use, or of one path of the group.
    #[schema(value_type = Vec<Dpid>)]
    pub path: Vec<DatapathId>,
    /// The same by name, or datapath id; empty if none has a name.
    pub path_names: Vec<String>,
}

/// What a rule is for.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum RuleKind {
    /// Admission of packets, and packets that are sent to the controller.
    Admission,
    /// Broadcast and multicast along the spanning tree.
    Broadcast,
    /// A stream's own path.
    Stream,
    /// The default path to a host.
    DefaultPath,
    /// A labelled path through this switch.
    Path,
    /// The bypass of a link.
    Bypass,
    /// Delivery to a host.
    Delivery,
    /// Resequencing of a sprayed stream.
    Resequence,
    /// It has the mark of a Braid controller, and no form that this version writes.
    Unknown,
    /// Somebody else has installed it.
    Foreign,
}

/// A group that a rule sends packets to.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, ToSchema)]
pub struct RuleGroup {
    /// Its number, as in `actions`.
    pub number: u32,
    /// What kind of group it is.
    pub kind: RuleGroupKind,
    /// What it is for, in words.
    pub purpose: String,
}

/// What a group is for.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum RuleGroupKind {
    /// Copies to every port of the broadcast tree.
    Flood,
    /// Each flow to one of several equal-cost paths.
    Ecmp,
    /// Each packet to one of several paths.
    Spray,
    /// Resequencing of what arrives over several paths.
    Resequence,
    /// A port, or its bypass while it is down.
    ProtectedPort,
}
