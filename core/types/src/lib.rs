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

#![cfg_attr(not(test), warn(clippy::iter_over_hash_type))]

mod amount;
mod backoff;
mod datapath;
mod following;
mod index;
mod log_limit;
mod mac;
mod numbered;
mod plain_words;
mod prefix;
mod problem;
mod random;
mod rate_limit;
mod schema;
mod switch_pair;
mod term;
mod text;
mod time;
mod token;
mod tuple;

pub use amount::{
    AmountError, BitsPerSec, exact_size, exact_time, parse_size, parse_time, parse_time_within, short_size,
    short_time, size_pattern, time_pattern,
};
pub use backoff::Backoff;
pub use datapath::{DatapathId, PortNo, SwitchPort};
pub use following::following;
pub use index::{Index, hash_of, secret_hash_of};
pub use log_limit::{LOG_WINDOW, LeftOut, LogLimit};
pub use mac::MacAddr;
pub use numbered::{Number, Numbered};
pub use plain_words::plain_words;
pub use prefix::{IpPrefix, common_prefix};
pub use problem::{Listed, Problem};
pub use random::{SplitMix64, mix, reduce, shuffle};
pub use rate_limit::RateLimit;
pub use schema::{amount_schema, choice_schema, text_schema};
pub use switch_pair::SwitchPair;
pub use term::Term;
pub use text::ParseError;
pub use time::Time;
pub use token::Token;
pub use tuple::{ADVISED_PORTS, FiveTuple};
