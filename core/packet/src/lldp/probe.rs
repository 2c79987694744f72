//! Discovery frames: LLDP with the sending port and time, authenticated by HMAC-SHA256.

use std::fmt;

use braid_types::{DatapathId, MacAddr, PortNo, Time};
use etherparse::Ethernet2Header;
use hmac::{Hmac, KeyInit, Mac};
use serde::{Deserialize, Serialize};
use sha2::Sha256;

use super::{LldpError, Lldpdu, NEAREST_BRIDGE, Tlv, Tlvs};
use crate::ETHERTYPE_LLDP;
use crate::bytes::{Reader, pad_frame};

/// "BRD", from the space of locally administered addresses, where IEEE assigns nothing, and subtype 1.
const BRAID_PROBE: [u8; 4] = [0x42, 0x52, 0x44, 1];
const TAG_LEN: usize = 16;
/// For other equipment; Braid ages links by itself.
const TTL_SECONDS: u16 = 120;
/// The name is chosen by the sender, for chassis (table 8-2) and port (table 8-3).
const LOCALLY_ASSIGNED: u8 = 7;

/// A frame that the controller sends out of a port, to see where it comes in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct LldpProbe {
    /// The switch that it leaves from.
    pub dpid: DatapathId,
    /// The port that it leaves from.
    pub port: PortNo,
    /// When it was sent, on the controller's clock.
    pub sent_at: Time,
}

/// The secret that authenticates probes, shared by all controllers of a network.
#[derive(Clone)]
pub struct ProbeKey(Hmac<Sha256>);

impl ProbeKey {
    /// The key made of 32 random bytes.
    pub fn new(secret: [u8; 32]) -> Self {
        let mut block = [0; 64];
        for (to, from) in block.iter_mut().zip(secret) {
            *to = from;
        }
        Self(Hmac::new(&block.into()))
    }

    fn tag(&self, message: &[u8]) -> [u8; TAG_LEN] {
        let hmac: [u8; 32] = self.0.clone().chain_update(message).finalize().into_bytes().into();
        hmac.first_chunk().copied().unwrap_or_default()
    }

    /// Takes the same time for every wrong tag.
    fn verify(&self, message: &[u8], tag: &[u8; TAG_LEN]) -> Result<(), LldpError> {
        let hmac = self.0.clone().chain_update(message);
        hmac.verify_truncated_left(tag).map_err(|_| LldpError::BadTag)
    }
}

impl fmt::Debug for ProbeKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("ProbeKey(..)")
    }
}

impl LldpProbe {
    /// The whole frame, from `src`.
    pub fn encode(&self, key: &ProbeKey, src: MacAddr) -> Vec<u8> {
        let mut frame = Vec::with_capacity(128);
        self.encode_into(key, src, &mut frame);
        frame
    }

    /// The whole frame, from `src`, in place of what `frame` held.
    pub fn encode_into(&self, key: &ProbeKey, src: MacAddr, frame: &mut Vec<u8>) {
        let ethernet = Ethernet2Header {
            source: src.octets(),
            destination: NEAREST_BRIDGE.octets(),
            ether_type: ETHERTYPE_LLDP,
        };
        frame.clear();
        frame.extend(ethernet.to_bytes());
        self.encode_standard(frame);
        let mut value = self.message();
        value.extend(key.tag(&value));
        Tlv { kind: Tlv::ORGANISATION, value: &value }.encode(frame);
        Tlv { kind: Tlv::END, value: &[] }.encode(frame);
        pad_frame(frame);
    }

    /// Reads a probe from what follows the EtherType, as in [`crate::Payload::Lldp`].
    ///
    /// # Errors
    ///
    /// See [`LldpError`].
    pub fn decode(lldpdu: &[u8], key: &ProbeKey) -> Result<Self, LldpError> {
        Lldpdu::parse(lldpdu)?;
        let mut ours = Tlvs::new(lldpdu).flatten().filter_map(braid_value);
        let value = ours.next().ok_or(LldpError::NotOurs)?;
        if ours.next().is_some() {
            return Err(LldpError::Malformed("two TLVs of Braid's"));
        }
        let (message, tag) =
            value.split_last_chunk().ok_or(LldpError::Malformed("the tag of Braid's TLV is cut off"))?;
        key.verify(message, tag)?;
        Self::parse_message(message).ok_or(LldpError::Malformed("Braid's TLV has not the length of a probe"))
    }

    fn encode_standard(&self, frame: &mut Vec<u8>) {
        let named = |name: String| [&[LOCALLY_ASSIGNED], name.as_bytes()].concat();
        let chassis = named(self.dpid.to_string());
        let port = named(self.port.to_string());
        let name = format!("braid-{}", self.dpid);
        Tlv { kind: Tlv::CHASSIS_ID, value: &chassis }.encode(frame);
        Tlv { kind: Tlv::PORT_ID, value: &port }.encode(frame);
        Tlv { kind: Tlv::TTL, value: &TTL_SECONDS.to_be_bytes() }.encode(frame);
        Tlv { kind: Tlv::SYSTEM_NAME, value: name.as_bytes() }.encode(frame);
    }

    /// The authenticated bytes.
    fn message(&self) -> Vec<u8> {
        let mut message = BRAID_PROBE.to_vec();
        message.extend(self.dpid.0.to_be_bytes());
        message.extend(self.port.0.to_be_bytes());
        message.extend(self.sent_at.as_nanos().to_be_bytes());
        message
    }

    fn parse_message(message: &[u8]) -> Option<Self> {
        let mut reader = Reader(message);
        reader.array::<4>()?;
        let probe = Self {
            dpid: DatapathId(reader.u64()?),
            port: PortNo(reader.u32()?),
            sent_at: Time::from_nanos(reader.u64()?),
        };
        reader.0.is_empty().then_some(probe)
    }
}

fn braid_value(tlv: Tlv<'_>) -> Option<&[u8]> {
    (tlv.kind == Tlv::ORGANISATION && tlv.value.starts_with(&BRAID_PROBE)).then_some(tlv.value)
}
