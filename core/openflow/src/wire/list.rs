//! Lists of items, borrowed from a message or from a slice, that never allocate.

use std::{fmt, slice};

use serde::{Serialize, Serializer};

use super::{Reader, Wire};
use crate::error::{DecodeError, EncodeError, Part};

/// Items one after another, to the end of what holds them.
///
/// A list is either borrowed from a received message, where it was checked in full, or from a slice of items
/// that the caller made, on the stack if it likes. Both kinds iterate, compare, serialise and encode alike,
/// and neither allocates.
///
/// ```
/// use braid_openflow::{Action, List, MaxLen};
/// let actions = [Action::output(braid_types::PortNo(2)), Action::PopVlan];
/// let list = List::from(&actions);
/// assert_eq!(list.iter().nth(1), Some(Action::PopVlan));
/// ```
#[derive(Clone, Copy)]
pub struct List<'a, T>(Repr<'a, T>);

#[derive(Clone, Copy)]
enum Repr<'a, T> {
    // Invariant: `T::read` has taken these bytes item by item without an error.
    Wire(&'a [u8]),
    Items(&'a [T]),
}

impl<'a, T> List<'a, T> {
    /// No items.
    pub const EMPTY: Self = Self(Repr::Items(&[]));

    /// The items of a slice.
    pub const fn new(items: &'a [T]) -> Self {
        Self(Repr::Items(items))
    }

    /// Whether there are no items.
    pub const fn is_empty(&self) -> bool {
        match self.0 {
            Repr::Wire(bytes) => bytes.is_empty(),
            Repr::Items(items) => items.is_empty(),
        }
    }
}

impl<'a, T: Wire<'a>> List<'a, T> {
    /// The items in order. Received ones are read again at every call.
    #[inline]
    pub fn iter(&self) -> Iter<'a, T> {
        match self.0 {
            Repr::Wire(bytes) => Iter(IterRepr::Wire(Reader::new(Part::Checked, bytes))),
            Repr::Items(items) => Iter(IterRepr::Items(items.iter())),
        }
    }
}

/// The items of a [`List`].
#[derive(Debug, Clone)]
pub struct Iter<'a, T>(IterRepr<'a, T>);

#[derive(Debug, Clone)]
enum IterRepr<'a, T> {
    Wire(Reader<'a>),
    Items(slice::Iter<'a, T>),
}

impl<'a, T: Wire<'a>> Iterator for Iter<'a, T> {
    type Item = T;

    #[inline]
    fn next(&mut self) -> Option<T> {
        match &mut self.0 {
            IterRepr::Wire(reader) if reader.is_empty() => None,
            IterRepr::Wire(reader) => T::read(reader).ok(),
            IterRepr::Items(items) => items.next().copied(),
        }
    }
}

impl<'a, T: Wire<'a>> Wire<'a> for List<'a, T> {
    #[inline]
    fn read(reader: &mut Reader<'a>) -> Result<Self, DecodeError> {
        let mut items = Reader::new(reader.part(), reader.rest());
        let bytes = items.clone().rest();
        while !items.is_empty() {
            T::read(&mut items)?;
        }
        Ok(Self(Repr::Wire(bytes)))
    }

    #[inline]
    fn write(&self, out: &mut Vec<u8>) -> Result<(), EncodeError> {
        match self.0 {
            Repr::Wire(bytes) => out.extend_from_slice(bytes),
            Repr::Items(items) => items.iter().try_for_each(|item| item.write(out))?,
        }
        Ok(())
    }
}

impl<T> Default for List<'_, T> {
    fn default() -> Self {
        Self::EMPTY
    }
}

impl<'a, T> From<&'a [T]> for List<'a, T> {
    fn from(items: &'a [T]) -> Self {
        Self::new(items)
    }
}

impl<'a, T, const N: usize> From<&'a [T; N]> for List<'a, T> {
    fn from(items: &'a [T; N]) -> Self {
        Self::new(items)
    }
}

impl<'a, T> From<&'a Vec<T>> for List<'a, T> {
    fn from(items: &'a Vec<T>) -> Self {
        Self::new(items)
    }
}

impl<'a, T: Wire<'a>> IntoIterator for List<'a, T> {
    type Item = T;
    type IntoIter = Iter<'a, T>;

    fn into_iter(self) -> Iter<'a, T> {
        self.iter()
    }
}

impl<'a, T: Wire<'a> + PartialEq> PartialEq for List<'a, T> {
    fn eq(&self, other: &Self) -> bool {
        match (self.0, other.0) {
            (Repr::Wire(one), Repr::Wire(two)) if one == two => true,
            _ => self.iter().eq(other.iter()),
        }
    }
}

impl<'a, T: Wire<'a> + Eq> Eq for List<'a, T> {}

impl<'a, T: Wire<'a> + fmt::Debug> fmt::Debug for List<'a, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.iter()).finish()
    }
}

impl<'a, T: Wire<'a> + Serialize> Serialize for List<'a, T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.iter())
    }
}
