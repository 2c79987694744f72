//! The policy in force: which traffic is steered, and how.

use braid_types::Time;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::Schema;
use crate::schema::Nanoseconds;

/// The policy in force.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, ToSchema)]
pub struct PolicyInUse {
    /// `braid/v1`
    #[schema(value_type = String)]
    pub schema: Schema,
    /// Every change until then is in it.
    #[schema(value_type = Nanoseconds)]
    pub now: Time,
    /// The policy.
    pub policy: Policies,
}

/// Rules, the first of which that matches a connection counts, and the default for all other connections.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize, ToSchema)]
pub struct Policies {
    /// The rules, in their order.
    pub rules: Vec<PolicyRule>,
    /// The default.
    pub default: Steering,
}

/// How matching connections are steered.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, ToSchema)]
pub struct PolicyRule {
    /// Unique.
    pub name: String,
    /// Prefixes of the opening host's address; empty: any.
    pub from: Vec<String>,
    /// Prefixes of the answering host's address; empty: any.
    pub to: Vec<String>,
    /// The answering host's ports and ranges of ports; empty: any.
    pub ports: Vec<String>,
    /// How they are steered.
    #[serde(flatten)]
    pub steering: Steering,
}

/// How connections are steered; the controller's settings hold for what is absent.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize, ToSchema)]
pub struct Steering {
    /// As what.
    pub kind: SteerAs,
    /// Which paths streams may take, such as `disjoint`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub paths: Option<String>,
    /// How many of those.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub k: Option<usize>,
    /// How a stream's path is chosen among them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub placement: Option<String>,
    /// How many subflows agents are advised to open in all; absent: one for each link-disjoint path.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub subflows: Option<usize>,
    /// When sprayed traffic is resequenced.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub resequence: Option<Resequence>,
    /// The maximum delay imbalance of paths that are sprayed over together.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub max_mdi: Option<f64>,
    /// The maximum difference of the delays of paths that are sprayed over together, in milliseconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub max_delay_difference_ms: Option<u64>,
}

/// As what a connection is steered.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum SteerAs {
    /// As MPTCP or as announced connections if it is one; else sprayed if edges can, else single.
    #[default]
    Auto,
    /// On the default path, unless an application has announced it.
    Single,
    /// Sprayed if edges can; MPTCP is still placed.
    Spray,
    /// Plain TCP as one of several connections of its hosts to that port; MPTCP as such.
    Parallel,
}

/// When sprayed traffic is resequenced.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum Resequence {
    /// Always.
    Always,
    /// When the delays of the paths differ by more than the gate allows.
    Unequal,
    /// Never.
    Never,
}

impl SteerAs {
    /// Its name, as in JSON.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Auto => "auto",
            Self::Single => "single",
            Self::Spray => "spray",
            Self::Parallel => "parallel",
        }
    }
}
