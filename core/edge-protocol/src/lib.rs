//! Braid's OpenFlow extension, as both ends of the wire use it: messages that set up groups that spray and resequence, and
//! what edges report of such groups. `docs/openflow-extensions.md`.
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

pub mod extension;
pub mod telemetry;

mod ends;

pub use ends::Ends;
