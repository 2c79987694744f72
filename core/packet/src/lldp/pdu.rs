//! LLDPDUs of any sender: chassis, port, lifetime and system name. IEEE 802.1AB-2016 §8.5.

use super::{LldpError, Tlv, Tlvs};
use crate::bytes::Reader;

/// The sender's information in an LLDPDU. IEEE 802.1AB-2016 §8.5.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Lldpdu<'a> {
    /// Names the sender; the first byte says in which way (table 8-2).
    pub chassis_id: &'a [u8],
    /// Names the sender's port; the first byte says in which way (table 8-3).
    pub port_id: &'a [u8],
    /// For how many seconds this is true; 0 takes it back.
    pub ttl: u16,
    /// The sender's name, if it is UTF-8.
    pub system_name: Option<&'a str>,
}

impl<'a> Lldpdu<'a> {
    /// Reads what follows the EtherType.
    ///
    /// # Errors
    ///
    /// [`LldpError::Malformed`]: a TLV is cut off, or the three that must come first do not.
    pub fn parse(bytes: &'a [u8]) -> Result<Self, LldpError> {
        let mut tlvs = Tlvs::new(bytes);
        let chassis_id = expect(&mut tlvs, Tlv::CHASSIS_ID, "the first TLV is not a chassis id")?;
        let port_id = expect(&mut tlvs, Tlv::PORT_ID, "the second TLV is not a port id")?;
        let ttl = expect(&mut tlvs, Tlv::TTL, "the third TLV is not a time to live")?;
        let ttl = Reader(ttl).u16().ok_or(LldpError::Malformed("the time to live is not two bytes"))?;
        let mut pdu = Self { chassis_id, port_id, ttl, system_name: None };
        for tlv in tlvs {
            let tlv = tlv?;
            if tlv.kind == Tlv::SYSTEM_NAME {
                pdu.system_name = std::str::from_utf8(tlv.value).ok();
            }
        }
        Ok(pdu)
    }
}

fn expect<'a>(tlvs: &mut Tlvs<'a>, kind: u8, missing: &'static str) -> Result<&'a [u8], LldpError> {
    let tlv = tlvs.next().transpose()?.filter(|tlv| tlv.kind == kind);
    tlv.map(|tlv| tlv.value).ok_or(LldpError::Malformed(missing))
}
