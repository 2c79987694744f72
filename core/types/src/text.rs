//! Common parts of `FromStr` and serde implementations of values written as text.

/// The error of parsing a value from text.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{text:?} is not {what}")]
pub struct ParseError {
    /// The expected value with its form.
    pub what: &'static str,
    /// The text.
    pub text: String,
}

impl ParseError {
    /// The error for `text` where `what` was expected.
    pub fn new(what: &'static str, text: &str) -> Self {
        Self { what, text: text.to_owned() }
    }
}

/// Serialises a type as its `Display` text and reads it back with `FromStr`. The crate must depend on serde.
#[macro_export]
macro_rules! serde_as_text {
    ($type:ty) => {
        impl serde::Serialize for $type {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.collect_str(self)
            }
        }

        $crate::deserialize_from_text!($type);
    };
}

/// As [`serde_as_text`], for a type whose `Display` rounds: serialises what its method `exact` gives.
#[macro_export]
macro_rules! serde_as_exact_text {
    ($type:ty) => {
        impl serde::Serialize for $type {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.collect_str(&self.exact())
            }
        }

        $crate::deserialize_from_text!($type);
    };
}

/// Reads a type with its `FromStr`.
#[doc(hidden)]
#[macro_export]
macro_rules! deserialize_from_text {
    ($type:ty) => {
        impl<'de> serde::Deserialize<'de> for $type {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                let text = std::borrow::Cow::<'de, str>::deserialize(deserializer)?;
                text.parse().map_err(serde::de::Error::custom)
            }
        }
    };
}
