//! The fields that flows match and that set-field actions write. OpenFlow 1.3.5 §7.2.3.

mod field;
mod header;
mod matching;
mod payload;
mod value;

pub use field::OxmField;
pub use header::{OxmClass, OxmHeader, RawOxm};
pub use matching::Match;
pub use payload::Masked;
pub use value::{EthType, Ipv6ExtHeaders, Isid, TcpFlags, VlanVid};
