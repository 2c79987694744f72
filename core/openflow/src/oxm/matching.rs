//! Matches: lists of OXM fields with OpenFlow's padding. OpenFlow 1.3.5 §7.2.3.

use braid_types::PortNo;
use serde::Serialize;

use super::OxmField;
use crate::error::{DecodeError, EncodeError, Part};
use crate::wire::{List, Prefixed, Reader, Wire, pad_to_8};

/// The type of a match that consists of OXM fields.
const OXM: u16 = 1;

/// A match: all fields that a packet has to have. OpenFlow 1.3.5 §7.2.3.
///
/// ```
/// use braid_openflow::{EthType, Match, OxmField};
/// let fields = [OxmField::EthType(EthType::IPV4), OxmField::IpProto(6)];
/// let tcp = Match::new(&fields);
/// assert_eq!(tcp.fields.iter().count(), 2);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
#[serde(transparent)]
pub struct Match<'a> {
    /// The fields; a field comes after those on which it depends, such as `tcp_dst` after `ip_proto`.
    pub fields: List<'a, OxmField<'a>>,
}

impl<'a> Match<'a> {
    /// Every packet.
    pub const ANY: Match<'static> = Match { fields: List::EMPTY };

    /// The packets that have all of these fields.
    pub const fn new(fields: &'a [OxmField<'a>]) -> Self {
        Self { fields: List::new(fields) }
    }

    /// The ingress port, if it is among the fields.
    pub fn in_port(&self) -> Option<PortNo> {
        self.fields.iter().find_map(|field| match field {
            OxmField::InPort(port) => Some(port),
            _ => None,
        })
    }
}

impl<'a, const N: usize> From<&'a [OxmField<'a>; N]> for Match<'a> {
    fn from(fields: &'a [OxmField<'a>; N]) -> Self {
        Self::new(fields)
    }
}

impl<'a> Wire<'a> for Match<'a> {
    #[inline]
    fn read(reader: &mut Reader<'a>) -> Result<Self, DecodeError> {
        let (kind, mut fields) = reader.tlv(Part::Match)?;
        if kind != OXM {
            return Err(DecodeError::MatchType { value: kind });
        }
        reader.skip(pad_to_8(fields.len().saturating_add(4)))?;
        Ok(Self { fields: fields.read()? })
    }

    #[inline]
    fn write(&self, out: &mut Vec<u8>) -> Result<(), EncodeError> {
        let matching = Prefixed::tlv(out, Part::Match, OXM);
        self.fields.write(out)?;
        matching.end_then_pad(out)
    }
}
