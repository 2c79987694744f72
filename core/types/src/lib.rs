//! Common types of all crates: addresses, identifiers, units, time.
//!
//! Nothing here knows a protocol. Each type is a newtype over an integer or bytes, with the customary text form for
//! printing, parsing and serialisation.
//!
//! ```
//! use braid_types::{BitsPerSec, DatapathId, MacAddr};
//! assert_eq!("02:00:00:00:00:01".parse(), Ok(MacAddr::new([2, 0, 0, 0, 0, 1])));
//! assert_eq!(DatapathId(0x1f).to_string(), "000000000000001f");
//! assert_eq!("100Mbit".parse(), Ok(BitsPerSec(100_000_000)));
//! ```

mod backoff;
mod datapath;
mod following;
mod index;
mod log_limit;
mod mac;
mod numbered;
mod prefix;
mod random;
mod rate;
mod rate_limit;
mod switch_pair;
mod term;
mod text;
mod time;
mod token;
mod tuple;

pub use backoff::Backoff;
pub use datapath::{DatapathId, PortNo, SwitchPort};
pub use following::following;
pub use index::Index;
pub use log_limit::{LOG_WINDOW, LeftOut, LogLimit};
pub use mac::MacAddr;
pub use numbered::{Number, Numbered};
pub use prefix::{IpPrefix, common_prefix};
pub use random::{SplitMix64, mix, reduce, shuffle};
pub use rate::BitsPerSec;
pub use rate_limit::RateLimit;
pub use switch_pair::SwitchPair;
pub use term::Term;
pub use text::ParseError;
pub use time::Time;
pub use token::Token;
pub use tuple::FiveTuple;
