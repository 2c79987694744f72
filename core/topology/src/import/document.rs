//! Common parts of the importers of JSON and YAML: kinds, problems with their location, and bounded lists.

use std::borrow::Cow;
use std::cell::RefCell;
use std::fmt;
use std::marker::PhantomData;

use serde::Deserialize;
use serde::de::{DeserializeSeed, Deserializer, Error, IgnoredAny, MapAccess, SeqAccess, Visitor};

use super::{ImportProblem, check_size};

/// Reads what tells the kind of a document.
pub(super) fn head(text: &str, file: &str) -> Result<Head, ImportProblem> {
    check_size(text, file)?;
    serde_json::from_str(text).map_err(|error| malformed(file, &error))
}

/// What tells the kind of a document.
#[derive(Default)]
pub(super) struct Head {
    pub(super) schema: Option<String>,
    /// Whether it has a list of switches.
    pub(super) has_switches: bool,
}

impl<'de> Deserialize<'de> for Head {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(HeadOnly)
    }
}

struct HeadOnly;

impl<'de> Visitor<'de> for HeadOnly {
    type Value = Head;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut object: A) -> Result<Head, A::Error> {
        let mut head = Head::default();
        while let Some(key) = object.next_key::<Cow<'_, str>>()? {
            if *key == *"schema" {
                head.schema = Some(object.next_value::<Scalar>()?.to_string());
                continue;
            }
            head.has_switches |= *key == *"switches";
            object.next_value::<IgnoredAny>()?;
        }
        Ok(head)
    }
}

/// The parser's problem with its location.
pub(super) fn malformed(file: &str, error: &serde_json::Error) -> ImportProblem {
    let at = (error.line() > 0).then(|| (error.line(), error.column()));
    let remedy = match error.classify() {
        serde_json::error::Category::Eof => "the document is cut off: get the whole of it",
        serde_json::error::Category::Data => "the formats are described in docs/topologies.md",
        _ => "it must be JSON, which has no NaN and no comments",
    };
    ImportProblem::new(file, at, "", message(error), remedy)
}

/// The parser's message without the location.
fn message(error: &serde_json::Error) -> String {
    let text = error.to_string();
    let end = text.rfind(" at line ").unwrap_or(text.len());
    text.get(..end).unwrap_or(&text).to_owned()
}

/// Carries a problem with its location past serde, whose errors are plain text.
#[derive(Default)]
pub(super) struct Refusals(RefCell<Option<[String; 3]>>);

impl Refusals {
    pub(super) fn refuse<E: Error>(&self, place: String, what: impl Into<String>, remedy: &str) -> E {
        *self.0.borrow_mut() = Some([place, what.into(), remedy.to_owned()]);
        E::custom("refused")
    }

    /// The problem behind the parser's error.
    pub(super) fn problem(&self, file: &str, error: &serde_json::Error) -> ImportProblem {
        match self.0.take() {
            Some([place, what, remedy]) => {
                ImportProblem::new(file, Some((error.line(), error.column())), place, what, remedy)
            }
            None => malformed(file, error),
        }
    }
}

/// Any value; only scalars are kept.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Scalar {
    Null,
    Bool(bool),
    Integer(i128),
    Float(f64),
    Text(String),
    /// A list or an object.
    Other(&'static str),
}

impl From<Cow<'_, str>> for Scalar {
    fn from(text: Cow<'_, str>) -> Self {
        Self::Text(text.into_owned())
    }
}

impl fmt::Display for Scalar {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Null => f.write_str("null"),
            Self::Bool(value) => value.fmt(f),
            Self::Integer(value) => value.fmt(f),
            Self::Float(value) => value.fmt(f),
            Self::Text(value) => f.write_str(value),
            Self::Other(what) => f.write_str(what),
        }
    }
}

impl<'de> Deserialize<'de> for Scalar {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(AnyValue)
    }
}

struct AnyValue;

impl<'de> Visitor<'de> for AnyValue {
    type Value = Scalar;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a value")
    }

    fn visit_unit<E>(self) -> Result<Scalar, E> {
        Ok(Scalar::Null)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Scalar, E> {
        Ok(Scalar::Bool(value))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Scalar, E> {
        Ok(Scalar::Integer(value.into()))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Scalar, E> {
        Ok(Scalar::Integer(value.into()))
    }

    fn visit_f64<E>(self, value: f64) -> Result<Scalar, E> {
        Ok(Scalar::Float(value))
    }

    fn visit_str<E>(self, value: &str) -> Result<Scalar, E> {
        Ok(Scalar::Text(value.to_owned()))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Scalar, A::Error> {
        while list.next_element::<IgnoredAny>()?.is_some() {}
        Ok(Scalar::Other("a list"))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut object: A) -> Result<Scalar, A::Error> {
        while object.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
        Ok(Scalar::Other("an object"))
    }
}

/// Reads a list of at most `limit` items, which know their index.
pub(super) struct Items<'a, F> {
    pub(super) name: &'static str,
    pub(super) limit: usize,
    pub(super) refusals: &'a Refusals,
    /// The reader of the item at an index.
    pub(super) item: F,
}

impl<'de, F: Fn(usize) -> S, S: DeserializeSeed<'de>> DeserializeSeed<'de> for Items<'_, F> {
    type Value = Vec<S::Value>;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Self::Value, D::Error> {
        deserializer.deserialize_seq(self)
    }
}

impl<'de, F: Fn(usize) -> S, S: DeserializeSeed<'de>> Visitor<'de> for Items<'_, F> {
    type Value = Vec<S::Value>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "a list of {}", self.name)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Self::Value, A::Error> {
        let mut items = Vec::new();
        while let Some(item) = list.next_element_seed((self.item)(items.len()))? {
            if items.len() == self.limit {
                let what = format!("there are more than {}, which is the limit", self.limit);
                let remedy = "cut the network into smaller ones";
                return Err(self.refusals.refuse(self.name.to_owned(), what, remedy));
            }
            items.push(item);
        }
        Ok(items)
    }
}

/// Reads a list of at most `N` items, for `#[serde(deserialize_with)]`.
pub(crate) fn at_most<'de, const N: usize, T, D>(deserializer: D) -> Result<Vec<T>, D::Error>
where
    T: Deserialize<'de>,
    D: Deserializer<'de>,
{
    struct Bounded<T, const N: usize>(PhantomData<T>);

    impl<'de, T: Deserialize<'de>, const N: usize> Visitor<'de> for Bounded<T, N> {
        type Value = Vec<T>;

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            write!(f, "a list of at most {N}")
        }

        fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Vec<T>, A::Error> {
            let mut items = Vec::new();
            while let Some(item) = list.next_element()? {
                if items.len() == N {
                    return Err(Error::invalid_length(N + 1, &self));
                }
                items.push(item);
            }
            Ok(items)
        }
    }

    deserializer.deserialize_seq(Bounded::<T, N>(PhantomData))
}
