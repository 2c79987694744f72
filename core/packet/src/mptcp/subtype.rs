//! Subtypes of the MPTCP option, by the names of their registry. RFC 8684 §7.1.

use std::fmt;

/// The subtype of an MPTCP option. RFC 8684 §7.1, with the names of its registry.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Subtype {
    /// Opens a connection.
    MpCapable,
    /// Adds a subflow.
    MpJoin,
    /// Maps subflow sequence numbers to the connection's, and acknowledges those.
    Dss,
    /// Announces a further address.
    AddAddr,
    /// Takes addresses back.
    RemoveAddr,
    /// Changes a subflow's priority.
    MpPrio,
    /// A checksum failed: fall back to plain TCP.
    MpFail,
    /// Closes the connection at once.
    MpFastclose,
    /// Why a subflow is reset; version 1 only.
    MpTcpRst,
    /// For private use.
    MpExperimental,
    /// Not assigned; below 16.
    Unknown(u8),
}

impl Subtype {
    /// The subtype with this number; only the low four bits count.
    pub const fn from_bits(bits: u8) -> Self {
        match bits & 0x0f {
            0x0 => Self::MpCapable,
            0x1 => Self::MpJoin,
            0x2 => Self::Dss,
            0x3 => Self::AddAddr,
            0x4 => Self::RemoveAddr,
            0x5 => Self::MpPrio,
            0x6 => Self::MpFail,
            0x7 => Self::MpFastclose,
            0x8 => Self::MpTcpRst,
            0xf => Self::MpExperimental,
            other => Self::Unknown(other),
        }
    }

    /// The subtype's number, below 16.
    pub const fn bits(self) -> u8 {
        match self {
            Self::MpCapable => 0x0,
            Self::MpJoin => 0x1,
            Self::Dss => 0x2,
            Self::AddAddr => 0x3,
            Self::RemoveAddr => 0x4,
            Self::MpPrio => 0x5,
            Self::MpFail => 0x6,
            Self::MpFastclose => 0x7,
            Self::MpTcpRst => 0x8,
            Self::MpExperimental => 0xf,
            Self::Unknown(bits) => bits & 0x0f,
        }
    }
}

impl fmt::Display for Subtype {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::MpCapable => "MP_CAPABLE",
            Self::MpJoin => "MP_JOIN",
            Self::Dss => "DSS",
            Self::AddAddr => "ADD_ADDR",
            Self::RemoveAddr => "REMOVE_ADDR",
            Self::MpPrio => "MP_PRIO",
            Self::MpFail => "MP_FAIL",
            Self::MpFastclose => "MP_FASTCLOSE",
            Self::MpTcpRst => "MP_TCPRST",
            Self::MpExperimental => "MP_EXPERIMENTAL",
            Self::Unknown(bits) => return write!(f, "subtype {bits:#x}"),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_number_has_one_subtype() {
        for bits in 0..16 {
            assert_eq!(Subtype::from_bits(bits).bits(), bits);
        }
    }
}
