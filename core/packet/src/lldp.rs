//! LLDP, IEEE 802.1AB: the frames that find links between switches.
//!
//! [`LldpProbe`] is Braid's own frame: standard TLVs, so that other equipment can name its neighbour, and one
//! organisationally specific TLV that says which port sent it and when, with a tag that only a controller with
//! the same [`ProbeKey`] can make. The tag does not stop a host from carrying a genuine frame to another port;
//! whoever builds links from probes must refuse ports at which hosts are.
//!
//! [`Lldpdu`] reads the frames of others.

mod pdu;
mod probe;
mod tlv;

pub use pdu::Lldpdu;
pub use probe::{LldpProbe, ProbeKey};
pub use tlv::{Tlv, Tlvs};

use braid_types::MacAddr;

/// The group that LLDP frames are sent to; no bridge forwards it. IEEE 802.1AB-2016 §7.1.
pub const NEAREST_BRIDGE: MacAddr = MacAddr::new([0x01, 0x80, 0xc2, 0x00, 0x00, 0x0e]);

/// Why an LLDPDU is not a probe of ours.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum LldpError {
    /// It has no TLV of Braid's: other equipment sent it.
    #[error("LLDP of other equipment")]
    NotOurs,
    /// It has Braid's TLV and the tag is not right: it is forged, or of a controller with another key.
    #[error("the probe's authentication tag is wrong")]
    BadTag,
    /// The bytes are not an LLDPDU, or Braid's TLV is not whole.
    #[error("malformed LLDP: {0}")]
    Malformed(&'static str),
}
