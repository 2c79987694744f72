//! Macros that generate a type, its decoder, its encoder and its text from one list of fields, values or bits.

/// A structure whose fields lie one after another, with `; pad N` bytes of padding after some of them.
///
/// `[Part, length at N]` marks one that holds its own length in bytes, as a `u16` N bytes from its start. At 0
/// the length is implied, with `pad N` after it; elsewhere its place counts as padding.
macro_rules! wire_struct {
    (
        $(#[$meta:meta])*
        pub struct $name:ident $(<$life:lifetime>)? { $($fields:tt)* }
    ) => {
        $crate::wire::macros::wire_fields!($(#[$meta])* pub struct $name $(<$life>)? { $($fields)* });

        impl<'a> $crate::wire::Wire<'a> for $name $(<$life>)? {
            #[inline]
            fn read(reader: &mut $crate::wire::Reader<'a>) -> Result<Self, $crate::error::DecodeError> {
                Self::read_fields(reader)
            }

            #[inline]
            fn write(&self, out: &mut Vec<u8>) -> Result<(), $crate::error::EncodeError> {
                self.write_fields(out)
            }
        }
    };
    (
        $(#[$meta:meta])*
        pub struct $name:ident $(<$life:lifetime>)? [$part:ident, length at $at:literal $(, pad $lead:literal)?] {
            $($fields:tt)*
        }
    ) => {
        $crate::wire::macros::wire_fields!($(#[$meta])* pub struct $name $(<$life>)? { $($fields)* });

        impl $(<$life>)? $name $(<$life>)? {
            const LEADING: usize = if $at == 0 { 2 } else { 0 } $(+ $lead)?;
        }

        impl<'a> $crate::wire::Wire<'a> for $name $(<$life>)? {
            #[inline]
            fn read(reader: &mut $crate::wire::Reader<'a>) -> Result<Self, $crate::error::DecodeError> {
                let mut own = reader.prefixed($crate::error::Part::$part, $at)?;
                own.skip(Self::LEADING)?;
                let value = Self::read_fields(&mut own)?;
                own.finish()?;
                Ok(value)
            }

            #[inline]
            fn write(&self, out: &mut Vec<u8>) -> Result<(), $crate::error::EncodeError> {
                let prefixed = $crate::wire::Prefixed::begin(out, $crate::error::Part::$part, $at);
                $crate::wire::zeros(out, Self::LEADING);
                self.write_fields(out)?;
                prefixed.end(out)
            }
        }
    };
}

/// The type of a [`wire_struct`], and how its fields are read and written.
macro_rules! wire_fields {
    (
        $(#[$meta:meta])*
        pub struct $name:ident $(<$life:lifetime>)? {
            $($(#[$field_meta:meta])* pub $field:ident: $type:ty $(; pad $pad:literal)?,)*
        }
    ) => {
        $(#[$meta])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize)]
        pub struct $name $(<$life>)? {
            $($(#[$field_meta])* pub $field: $type,)*
        }

        impl<'a> $name $(<$life>)? {
            #[inline]
            fn read_fields(reader: &mut $crate::wire::Reader<'a>) -> Result<Self, $crate::error::DecodeError> {
                $(
                    let $field = reader.read()?;
                    $(reader.skip($pad)?;)?
                )*
                Ok(Self { $($field),* })
            }

            #[inline]
            fn write_fields(&self, out: &mut Vec<u8>) -> Result<(), $crate::error::EncodeError> {
                $(
                    $crate::wire::Wire::write(&self.$field, out)?;
                    $($crate::wire::zeros(out, $pad);)?
                )*
                Ok(())
            }
        }
    };
}

/// A number of its own type, with the specification's names for some of its values.
macro_rules! wire_number {
    (
        $(#[$meta:meta])*
        pub struct $name:ident($repr:ty) $kind:ident $format:literal {
            $($(#[$value_meta:meta])* $value_name:ident = $value:expr,)*
        }
    ) => {
        $(#[$meta])*
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
        pub struct $name(pub $repr);

        impl $name {
            $($(#[$value_meta])* pub const $value_name: Self = Self($value);)*
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                match *self {
                    $(Self::$value_name => f.write_str(stringify!($value_name)),)*
                    Self(number) => write!(f, $format, number),
                }
            }
        }

        impl std::fmt::Debug for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                std::fmt::Display::fmt(self, f)
            }
        }

        $crate::wire::macros::wire_newtype!($name($repr));
        $crate::wire::macros::$kind!($name($repr), $format);
    };
}

/// Serialises a [`wire_number`] as a number.
macro_rules! decimal {
    ($name:ident($repr:ty), $format:literal) => {
        impl serde::Serialize for $name {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serde::Serialize::serialize(&self.0, serializer)
            }
        }

        impl<'de> serde::Deserialize<'de> for $name {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                <$repr as serde::Deserialize>::deserialize(deserializer).map(Self)
            }
        }
    };
}

/// Serialises a [`wire_number`] as a text of hexadecimal digits after `0x`.
macro_rules! hexadecimal {
    ($name:ident($repr:ty), $format:literal) => {
        impl serde::Serialize for $name {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.collect_str(&format_args!($format, self.0))
            }
        }

        impl<'de> serde::Deserialize<'de> for $name {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                let text = <std::borrow::Cow<'de, str> as serde::Deserialize>::deserialize(deserializer)?;
                let digits = text.strip_prefix("0x");
                let number = digits.and_then(|digits| <$repr>::from_str_radix(digits, 16).ok());
                number.map(Self).ok_or_else(|| {
                    serde::de::Error::custom(format_args!("{text:?} is not a number such as 0x1f"))
                })
            }
        }
    };
}

/// A bitmap with names for some of its bits; others are kept. Serialised as a list of names.
macro_rules! wire_flags {
    (
        $(#[$meta:meta])*
        pub struct $name:ident($repr:ty) {
            $($(#[$bit_meta:meta])* $bit:ident = $value:expr,)*
        }
    ) => {
        $(#[$meta])*
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
        pub struct $name(pub $repr);

        impl $name {
            /// No bit.
            pub const NONE: Self = Self(0);
            $($(#[$bit_meta])* pub const $bit: Self = Self($value);)*

            const NAMES: &'static [(&'static str, u64)] = &[$((stringify!($bit), $value as u64)),*];

            /// Whether every bit of `other` is set.
            pub const fn contains(self, other: Self) -> bool {
                self.0 & other.0 == other.0
            }
        }

        impl std::ops::BitOr for $name {
            type Output = Self;

            fn bitor(self, other: Self) -> Self {
                Self(self.0 | other.0)
            }
        }

        impl std::fmt::Debug for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.debug_set().entries($crate::wire::flags::names(u64::from(self.0), Self::NAMES)).finish()
            }
        }

        impl serde::Serialize for $name {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.collect_seq($crate::wire::flags::names(u64::from(self.0), Self::NAMES))
            }
        }

        $crate::wire::macros::wire_newtype!($name($repr));
    };
}

/// Reads and writes a newtype as what it holds.
macro_rules! wire_newtype {
    ($name:ident($repr:ty)) => {
        impl $crate::wire::FixedSize for $name {
            const SIZE: usize = <$repr as $crate::wire::FixedSize>::SIZE;
        }

        impl<'a> $crate::wire::Wire<'a> for $name {
            #[inline]
            fn read(reader: &mut $crate::wire::Reader<'a>) -> Result<Self, $crate::error::DecodeError> {
                reader.read().map(Self)
            }

            #[inline]
            fn write(&self, out: &mut Vec<u8>) -> Result<(), $crate::error::EncodeError> {
                $crate::wire::Wire::write(&self.0, out)
            }
        }
    };
}

/// An enumeration of the specification; numbers that it does not name are kept in `Unknown`.
macro_rules! wire_enum {
    (
        $(#[$meta:meta])*
        pub enum $name:ident($repr:ty) {
            $($(#[$variant_meta:meta])* $variant:ident = $value:literal,)*
        }
    ) => {
        $(#[$meta])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
        #[serde(rename_all = "snake_case")]
        pub enum $name {
            $($(#[$variant_meta])* $variant,)*
            /// A number that OpenFlow 1.3 does not name.
            Unknown($repr),
        }

        impl From<$repr> for $name {
            #[inline]
            fn from(number: $repr) -> Self {
                match number {
                    $($value => Self::$variant,)*
                    number => Self::Unknown(number),
                }
            }
        }

        impl From<$name> for $repr {
            #[inline]
            fn from(name: $name) -> Self {
                match name {
                    $($name::$variant => $value,)*
                    $name::Unknown(number) => number,
                }
            }
        }

        impl<'a> $crate::wire::Wire<'a> for $name {
            #[inline]
            fn read(reader: &mut $crate::wire::Reader<'a>) -> Result<Self, $crate::error::DecodeError> {
                reader.read::<$repr>().map(Self::from)
            }

            #[inline]
            fn write(&self, out: &mut Vec<u8>) -> Result<(), $crate::error::EncodeError> {
                $crate::wire::Wire::write(&<$repr>::from(*self), out)
            }
        }
    };
}

pub(crate) use {
    decimal, hexadecimal, wire_enum, wire_fields, wire_flags, wire_newtype, wire_number, wire_struct,
};
