//! Datapath ids, port numbers, and the pair of both that names a switch port.

use std::fmt;
use std::ops::RangeInclusive;
use std::str::FromStr;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{ParseError, serde_as_text, text_schema, with_schema};

/// Identifies a switch: 16 bits chosen by the implementer, 48 usually a MAC address. OpenFlow 1.3.5 §7.3.1.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct DatapathId(pub u64);

impl fmt::Display for DatapathId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:016x}", self.0)
    }
}

impl fmt::Debug for DatapathId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl FromStr for DatapathId {
    type Err = ParseError;

    fn from_str(text: &str) -> Result<Self, ParseError> {
        let hex = text.strip_prefix("0x").unwrap_or(text);
        let valid = (1..=16).contains(&hex.len()) && hex.bytes().all(|byte| byte.is_ascii_hexdigit());
        let value = valid.then(|| u64::from_str_radix(hex, 16).ok()).flatten();
        value.map(Self).ok_or_else(|| ParseError::new("a datapath id of 1 to 16 hexadecimal digits", text))
    }
}

serde_as_text!(DatapathId);
with_schema!(
    DatapathId,
    text_schema("a datapath id of 1 to 16 hexadecimal digits", "(?:0x)?[0-9a-fA-F]{1,16}")
);

/// A port of a switch, or one of the reserved numbers. OpenFlow 1.3.5 §7.2.1.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
pub struct PortNo(pub u32);

impl PortNo {
    /// The highest number of a physical or logical port.
    pub const MAX: Self = Self(0xffff_ff00);
    /// Back through the port on which the packet came in.
    pub const IN_PORT: Self = Self(0xffff_fff8);
    /// Through the pipeline, from its first table; in packet-outs only.
    pub const TABLE: Self = Self(0xffff_fff9);
    /// The switch's own non-OpenFlow pipeline.
    pub const NORMAL: Self = Self(0xffff_fffa);
    /// Flooded by the switch's own non-OpenFlow pipeline.
    pub const FLOOD: Self = Self(0xffff_fffb);
    /// All ports but the one on which the packet came in.
    pub const ALL: Self = Self(0xffff_fffc);
    /// To the controller; as an ingress port: from the controller.
    pub const CONTROLLER: Self = Self(0xffff_fffd);
    /// The switch's own network stack.
    pub const LOCAL: Self = Self(0xffff_fffe);
    /// No port; in requests: any port.
    pub const ANY: Self = Self(0xffff_ffff);

    /// Whether a link or a tunnel can be at this port.
    pub const fn is_physical(self) -> bool {
        self.0 != 0 && self.0 <= Self::MAX.0
    }
}

impl fmt::Display for PortNo {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::IN_PORT => f.write_str("IN_PORT"),
            Self::TABLE => f.write_str("TABLE"),
            Self::NORMAL => f.write_str("NORMAL"),
            Self::FLOOD => f.write_str("FLOOD"),
            Self::ALL => f.write_str("ALL"),
            Self::CONTROLLER => f.write_str("CONTROLLER"),
            Self::LOCAL => f.write_str("LOCAL"),
            Self::ANY => f.write_str("ANY"),
            Self(number) => write!(f, "{number}"),
        }
    }
}

impl fmt::Debug for PortNo {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// One end of a link: a port of a switch.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
pub struct SwitchPort {
    /// The switch.
    pub dpid: DatapathId,
    /// Its port.
    pub port: PortNo,
}

impl SwitchPort {
    /// The port `port` of the switch `dpid`.
    pub const fn new(dpid: DatapathId, port: PortNo) -> Self {
        Self { dpid, port }
    }

    /// Every port that the switch `dpid` may have, for ranges of ordered maps.
    pub const fn all_of(dpid: DatapathId) -> RangeInclusive<Self> {
        RangeInclusive::new(Self { dpid, port: PortNo(0) }, Self { dpid, port: PortNo::ANY })
    }
}

impl fmt::Display for SwitchPort {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.dpid, self.port)
    }
}

impl fmt::Debug for SwitchPort {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn datapath_ids_parse_in_every_usual_form() {
        assert_eq!("1".parse(), Ok(DatapathId(1)));
        assert_eq!("0x1f".parse(), Ok(DatapathId(0x1f)));
        assert_eq!("ffffffffffffffff".parse(), Ok(DatapathId(u64::MAX)));
        for text in ["", "0x", "12345678123456781", "+1", "g"] {
            assert!(text.parse::<DatapathId>().is_err(), "{text}");
        }
    }

    #[test]
    fn reserved_ports_are_not_physical() {
        assert!(PortNo(1).is_physical() && PortNo::MAX.is_physical());
        assert!(!PortNo(0).is_physical() && !PortNo::LOCAL.is_physical());
    }
}
