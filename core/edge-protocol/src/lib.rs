//! Braid's OpenFlow extension for both ends of the wire: messages that set up groups that spray and resequence, and
//! telemetry of such groups. `docs/openflow-extensions.md`.
//!
//! ```
//! use braid_edge_protocol::extension::Extension;
//! use braid_openflow::GroupId;
//! use braid_spray::Policy;
//!
//! let message = Extension::SetSpray { group: GroupId(1), policy: Policy::DelayAware };
//! let body = message.body();
//! assert_eq!(Extension::decode(&message.message(&body)), Ok(Some(message)));
//! ```

#![cfg_attr(not(test), warn(clippy::iter_over_hash_type))]
// Whatever arrives, reading it cannot panic.
#![cfg_attr(not(test), warn(clippy::indexing_slicing, clippy::arithmetic_side_effects))]

pub mod extension;
pub mod telemetry;

mod ends;

pub use ends::Ends;
