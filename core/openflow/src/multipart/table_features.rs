//! Features of flow tables: supported instructions, actions and fields. OpenFlow 1.3.5 §7.3.5.5.

use serde::Serialize;

use super::table_ids::{ActionId, InstructionId, OxmId};
use crate::error::{DecodeError, EncodeError, Part};
use crate::id::{Metadata, TableId};
use crate::message::Experimenter;
use crate::wire::{Bytes, List, Prefixed, Reader, Text, Wire, pad_to_8, wire_struct};

wire_struct! {
    /// The features of a table. OpenFlow 1.3.5 §7.3.5.5.
    pub struct TableFeatures<'a> [TableFeatures, length at 0] {
        /// The table.
        pub table_id: TableId; pad 5,
        /// Its name.
        pub name: Text<'a, 32>,
        /// The bits of the metadata that it can match.
        pub metadata_match: Metadata,
        /// The bits of the metadata that it can write.
        pub metadata_write: Metadata,
        /// A bitmap of which version 1.3 uses no bit.
        pub config: u32,
        /// The maximum number of flows.
        pub max_entries: u32,
        /// The features of its flows.
        pub properties: List<'a, TableFeatureProperty<'a>>,
    }
}

macro_rules! properties {
    ($($(#[$meta:meta])* $number:literal $variant:ident($type:ty),)*) => {
        /// Something that the flows of a table, or its table-miss flow, can do. OpenFlow 1.3.5 §7.3.5.5.2.
        ///
        /// Those with `Miss` are for the table-miss flow, and absent if it has the same features as other flows.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
        #[serde(rename_all = "snake_case")]
        pub enum TableFeatureProperty<'a> {
            $($(#[$meta])* $variant($type),)*
            /// Any other property, kept as it is.
            Unknown {
                /// Its type.
                property_type: u16,
                /// The body after the length, without padding.
                body: Bytes<'a>,
            },
        }

        impl<'a> TableFeatureProperty<'a> {
            fn read_body(property_type: u16, body: &mut Reader<'a>) -> Result<Self, DecodeError> {
                match property_type {
                    $($number => body.read().map(Self::$variant),)*
                    property_type => Ok(Self::Unknown { property_type, body: body.read()? }),
                }
            }

            fn write_body(&self, out: &mut Vec<u8>) -> Result<(), EncodeError> {
                match self {
                    $(Self::$variant(value) => value.write(out),)*
                    Self::Unknown { body, .. } => body.write(out),
                }
            }

            const fn property_type(&self) -> u16 {
                match self {
                    $(Self::$variant(_) => $number,)*
                    Self::Unknown { property_type, .. } => *property_type,
                }
            }
        }
    };
}

properties! {
    /// Instructions.
    0 Instructions(List<'a, InstructionId<'a>>),
    /// Instructions of the table-miss flow.
    1 InstructionsMiss(List<'a, InstructionId<'a>>),
    /// Tables to go on to.
    2 NextTables(List<'a, TableId>),
    /// Tables to go on to from the table-miss flow.
    3 NextTablesMiss(List<'a, TableId>),
    /// Actions that can be written.
    4 WriteActions(List<'a, ActionId<'a>>),
    /// Actions that the table-miss flow can write.
    5 WriteActionsMiss(List<'a, ActionId<'a>>),
    /// Actions that can be applied.
    6 ApplyActions(List<'a, ActionId<'a>>),
    /// Actions that the table-miss flow can apply.
    7 ApplyActionsMiss(List<'a, ActionId<'a>>),
    /// Fields that can be matched.
    8 Match(List<'a, OxmId>),
    /// Fields that can be omitted.
    10 Wildcards(List<'a, OxmId>),
    /// Fields that a written action can set.
    12 WriteSetfield(List<'a, OxmId>),
    /// Fields that a written action of the table-miss flow can set.
    13 WriteSetfieldMiss(List<'a, OxmId>),
    /// Fields that an applied action can set.
    14 ApplySetfield(List<'a, OxmId>),
    /// Fields that an applied action of the table-miss flow can set.
    15 ApplySetfieldMiss(List<'a, OxmId>),
    /// An experimenter extension.
    0xfffe Experimenter(Experimenter<'a>),
    /// An experimenter extension for the table-miss flow.
    0xffff ExperimenterMiss(Experimenter<'a>),
}

impl<'a> Wire<'a> for TableFeatureProperty<'a> {
    fn read(reader: &mut Reader<'a>) -> Result<Self, DecodeError> {
        let (property_type, mut body) = reader.tlv(Part::TableFeatureProperty)?;
        reader.skip(pad_to_8(body.len().saturating_add(4)))?;
        let property = Self::read_body(property_type, &mut body)?;
        body.finish()?;
        Ok(property)
    }

    fn write(&self, out: &mut Vec<u8>) -> Result<(), EncodeError> {
        let property = Prefixed::tlv(out, Part::TableFeatureProperty, self.property_type());
        self.write_body(out)?;
        property.end_then_pad(out)
    }
}
