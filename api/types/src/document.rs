//! Fields common to all documents, the plain confirmation of a command, and problem documents.

use std::borrow::Cow;

use braid_types::Time;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use utoipa::ToSchema;

use crate::schema::Nanoseconds;

/// The form of all documents, and its version.
pub const SCHEMA: &str = "braid/v1";

/// The `schema` of a document: always [`SCHEMA`]. A document with another one is refused.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Schema;

/// It was done at this time, or has begun.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, ToSchema)]
pub struct Done {
    /// `braid/v1`
    #[schema(value_type = String)]
    pub schema: Schema,
    /// When.
    #[schema(value_type = Nanoseconds)]
    pub now: Time,
}

/// Why a request is refused: a problem document (RFC 9457).
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, ToSchema)]
#[schema(as = ProblemDocument)]
pub struct Problem {
    /// `braid/v1`
    #[schema(value_type = String)]
    pub schema: Schema,
    /// `about:blank`: the title is what the status means.
    pub r#type: String,
    /// The meaning of the status.
    pub title: String,
    /// The status of the response.
    pub status: u16,
    /// The reason in words.
    pub detail: String,
    /// The reason for API clients.
    pub code: String,
    /// The parameter that is wrong, or the path of the field, such as `subflows[0].local`.
    pub parameter: Option<String>,
}

impl Serialize for Schema {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(SCHEMA)
    }
}

impl<'de> Deserialize<'de> for Schema {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        match Cow::<'_, str>::deserialize(deserializer)?.as_ref() {
            SCHEMA => Ok(Self),
            other => Err(serde::de::Error::custom(format!("its schema is {other}, not {SCHEMA}"))),
        }
    }
}
