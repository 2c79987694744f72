//! The names of instructions, actions and fields, as the properties of tables list them.

use serde::ser::SerializeStruct;
use serde::{Serialize, Serializer};

use crate::action::ActionType;
use crate::error::{DecodeError, EncodeError, Part};
use crate::id::ExperimenterId;
use crate::instruction::InstructionType;
use crate::oxm::{OxmClass, OxmHeader};
use crate::wire::{Bytes, Prefixed, Reader, Wire};

macro_rules! type_id {
    ($(#[$meta:meta])* $name:ident, $kind:ty, $number:ty) => {
        $(#[$meta])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub struct $name<'a> {
            /// Its type.
            pub kind: $kind,
            /// Nothing, or for an experimenter's the experimenter and what follows.
            pub body: Bytes<'a>,
        }

        impl From<$kind> for $name<'_> {
            fn from(kind: $kind) -> Self {
                Self { kind, body: Bytes::default() }
            }
        }

        /// The type alone, unless there is more.
        impl Serialize for $name<'_> {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                if self.body.is_empty() {
                    return self.kind.serialize(serializer);
                }
                let mut object = serializer.serialize_struct(stringify!($name), 2)?;
                object.serialize_field("kind", &self.kind)?;
                object.serialize_field("body", &self.body)?;
                object.end()
            }
        }

        impl<'a> Wire<'a> for $name<'a> {
            fn read(reader: &mut Reader<'a>) -> Result<Self, DecodeError> {
                let (kind, mut body) = reader.tlv(Part::TableFeatureProperty)?;
                Ok(Self { kind: <$kind>::from(kind), body: body.read()? })
            }

            fn write(&self, out: &mut Vec<u8>) -> Result<(), EncodeError> {
                let id = Prefixed::tlv(out, Part::TableFeatureProperty, <$number>::from(self.kind));
                self.body.write(out)?;
                id.end(out)
            }
        }
    };
}

type_id! {
    /// The name of an instruction. OpenFlow 1.3.5 §7.3.5.5.2.
    InstructionId, InstructionType, u16
}

type_id! {
    /// The name of an action. OpenFlow 1.3.5 §7.3.5.5.2.
    ActionId, ActionType, u16
}

/// The name of a field: the header of an OXM without the value. OpenFlow 1.3.5 §7.3.5.5.2.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
pub struct OxmId {
    /// The header; `has_mask` says whether the table takes a mask.
    pub header: OxmHeader,
    /// The experimenter's id, present only for the experimenter class.
    pub experimenter: Option<ExperimenterId>,
}

impl<'a> Wire<'a> for OxmId {
    fn read(reader: &mut Reader<'a>) -> Result<Self, DecodeError> {
        let header: OxmHeader = reader.read()?;
        let experimenter = match header.class {
            OxmClass::EXPERIMENTER => Some(reader.read()?),
            _ => None,
        };
        Ok(Self { header, experimenter })
    }

    fn write(&self, out: &mut Vec<u8>) -> Result<(), EncodeError> {
        self.header.write(out)?;
        self.experimenter.map_or(Ok(()), |experimenter| experimenter.write(out))
    }
}
