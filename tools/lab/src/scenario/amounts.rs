//! Amounts in scenario files, with their units: bytes, moments and durations; and lists that may be one value.

use std::borrow::Cow;
use std::fmt;
use std::marker::PhantomData;
use std::str::FromStr;
use std::time::Duration;

use braid_types::{
    AmountError, amount_schema, exact_size, parse_size, parse_time, size_pattern, text_schema, time_pattern,
    with_schema,
};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::{self, IntoDeserializer, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer};

/// One value, or a list of values.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct OneOrList<T>(pub Vec<T>);

impl<'de, T: Deserialize<'de>> Deserialize<'de> for OneOrList<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(OneOrListVisitor(PhantomData))
    }
}

impl<T: JsonSchema> JsonSchema for OneOrList<T> {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        format!("OneOrList_of_{}", T::schema_name()).into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let (one, list) = (generator.subschema_for::<T>(), generator.subschema_for::<Vec<T>>());
        json_schema!({ "anyOf": [one, list] })
    }
}

// Unlike an untagged enum, it preserves the errors of its content.
struct OneOrListVisitor<T>(PhantomData<T>);

impl<'de, T: Deserialize<'de>> Visitor<'de> for OneOrListVisitor<T> {
    type Value = OneOrList<T>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("one, or a list")
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<OneOrList<T>, E> {
        T::deserialize(text.into_deserializer()).map(|one| OneOrList(vec![one]))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<OneOrList<T>, A::Error> {
        let mut all = Vec::new();
        while let Some(one) = list.next_element()? {
            all.push(one);
        }
        Ok(OneOrList(all))
    }
}

/// A number of bytes above zero, such as `200MB`, `64kB` or `1000 bytes`.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Deserialize)]
#[serde(try_from = "String")]
pub(super) struct ByteCount(pub u64);

with_schema!(ByteCount, text_schema("a number of bytes, such as 200MB or 1000 bytes", &size_pattern()));

/// An invalid number of bytes.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(super) enum ByteCountError {
    #[error(transparent)]
    Amount(#[from] AmountError),
    #[error("zero bytes are nothing to send: write at least {}", exact_size(1))]
    Zero,
}

impl TryFrom<String> for ByteCount {
    type Error = ByteCountError;

    fn try_from(text: String) -> Result<Self, ByteCountError> {
        match parse_size(&text)? {
            0 => Err(ByteCountError::Zero),
            bytes => Ok(Self(bytes)),
        }
    }
}

/// A time after the start of a transfer, such as `5s`, `1.5s`, `500ms` or `2min`.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Deserialize)]
#[serde(try_from = "String")]
pub(super) struct Moment(pub Duration);

impl TryFrom<String> for Moment {
    type Error = AmountError;

    fn try_from(text: String) -> Result<Self, AmountError> {
        parse_time(&text).map(Self)
    }
}

with_schema!(Moment, amount_schema("a time, such as 1.5s or 500ms", &time_pattern()));

/// A whole number of seconds, written `15s` or `2min`.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Deserialize)]
#[serde(try_from = "String")]
pub struct Seconds(pub u32);

with_schema!(Seconds, amount_schema("a whole number of seconds, such as 15s or 2min", &time_pattern()));

/// An invalid duration.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SecondsError {
    /// Not a time.
    #[error(transparent)]
    Amount(#[from] AmountError),
    /// A time between two seconds, or beyond 32 bits.
    #[error("{0:?} is not a whole number of seconds such as 15s or 2min")]
    Fraction(String),
}

impl FromStr for Seconds {
    type Err = SecondsError;

    fn from_str(text: &str) -> Result<Self, SecondsError> {
        let time = parse_time(text)?;
        let seconds = u32::try_from(time.as_secs()).ok().filter(|_| time.subsec_nanos() == 0);
        seconds.map(Self).ok_or_else(|| SecondsError::Fraction(text.to_owned()))
    }
}

impl TryFrom<String> for Seconds {
    type Error = SecondsError;

    fn try_from(text: String) -> Result<Self, SecondsError> {
        text.parse()
    }
}

impl From<Seconds> for Duration {
    fn from(seconds: Seconds) -> Self {
        Self::from_secs(seconds.0.into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_are_at_least_one_and_moments_may_be_zero() {
        assert_eq!(ByteCount::try_from("64 kB".to_owned()), Ok(ByteCount(64_000)));
        for text in ["", "0MB", "0", "200", "-1kB", "99999999999999GB", "MB"] {
            assert!(ByteCount::try_from(text.to_owned()).is_err(), "{text}");
        }
        assert_eq!(Moment::try_from("0s".to_owned()), Ok(Moment(Duration::ZERO)));
        for text in ["", "5", "s", "-1s", "1e400s", "soon"] {
            assert!(Moment::try_from(text.to_owned()).is_err(), "{text}");
        }
    }

    #[test]
    fn seconds_read_in_both_units() {
        assert_eq!("15s".parse(), Ok(Seconds(15)));
        assert_eq!("2min".parse(), Ok(Seconds(120)));
        for text in ["", "s", "15", "-1s", "1.5s", "4294967295min"] {
            assert!(text.parse::<Seconds>().is_err(), "{text}");
        }
    }
}
