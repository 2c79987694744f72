//! The values of an item that are no lists and no objects, as text, with the names that lead to them.

use std::borrow::Cow;
use std::fmt;

use serde::Deserializer;
use serde::de::{DeserializeSeed, Error, MapAccess, SeqAccess, Visitor};

/// Reads an item, and hands each of its values to `visit`.
pub(super) struct Leaves<'a, 'de, F> {
    pub(super) at: &'a mut Vec<Cow<'de, str>>,
    pub(super) visit: &'a mut F,
}

impl<'de, F: FnMut(&[Cow<'de, str>], &str)> DeserializeSeed<'de> for Leaves<'_, 'de, F> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, item: D) -> Result<(), D::Error> {
        item.deserialize_any(self)
    }
}

macro_rules! visit_as_text {
    ($($name:ident: $kind:ty),*) => {$(
        fn $name<E: Error>(self, value: $kind) -> Result<(), E> {
            self.visit_str(&value.to_string())
        }
    )*};
}

impl<'de, F: FnMut(&[Cow<'de, str>], &str)> Visitor<'de> for Leaves<'_, 'de, F> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an item of a list")
    }

    visit_as_text!(visit_bool: bool, visit_i64: i64, visit_u64: u64, visit_f64: f64);

    fn visit_unit<E: Error>(self) -> Result<(), E> {
        self.visit_str("null")
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<(), E> {
        (self.visit)(self.at, text);
        Ok(())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<(), A::Error> {
        let Self { at, visit } = self;
        while items.next_element_seed(Leaves { at: &mut *at, visit: &mut *visit })?.is_some() {}
        Ok(())
    }

    fn visit_map<A: MapAccess<'de>>(self, mut fields: A) -> Result<(), A::Error> {
        let Self { at, visit } = self;
        while let Some(name) = fields.next_key_seed(Name)? {
            at.push(name);
            fields.next_value_seed(Leaves { at: &mut *at, visit: &mut *visit })?;
            at.pop();
        }
        Ok(())
    }
}

/// The name of a field, which is copied only where it is written with escapes.
struct Name;

impl<'de> DeserializeSeed<'de> for Name {
    type Value = Cow<'de, str>;

    fn deserialize<D: Deserializer<'de>>(self, name: D) -> Result<Self::Value, D::Error> {
        name.deserialize_str(self)
    }
}

impl<'de> Visitor<'de> for Name {
    type Value = Cow<'de, str>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the name of a field")
    }

    fn visit_borrowed_str<E: Error>(self, name: &'de str) -> Result<Self::Value, E> {
        Ok(Cow::Borrowed(name))
    }

    fn visit_str<E: Error>(self, name: &str) -> Result<Self::Value, E> {
        Ok(Cow::Owned(name.to_owned()))
    }
}
