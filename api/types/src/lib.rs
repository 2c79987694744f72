//! The types of the HTTP API: everything that a controller sends or takes as JSON, and nothing else.
//!
//! Controllers, clients and the description of the API (`docs/openapi.json`) share these types, so that a field has one
//! name and one place. They hold data only: how the controller's own types become these is the controller's matter, and
//! `braid-client` sends requests. Names end with their unit: `_bps` is bits a second, `_us` microseconds, `_bytes` bytes of
//! whole Ethernet frames. Fields of type [`Time`](braid_types::Time) and named `_at` are on the controller's clock.
//!
//! ```
//! use braid_api::{Host, Page, Hosts};
//!
//! let text = r#"{"schema":"braid/v1","now":7,"next_cursor":null,"hosts":[{"mac":"02:00:00:00:00:01",
//!     "at":{"dpid":"0000000000000001","port":3},"addresses":["10.0.0.1"],"last_seen":5}]}"#;
//! let page: Hosts = serde_json::from_str(text)?;
//! let (_, hosts): (_, Vec<Host>) = page.into_parts();
//! assert_eq!(hosts[0].at.to_string(), "0000000000000001:3");
//! # Ok::<(), serde_json::Error>(())
//! ```

mod advice;
mod alarms;
mod assignments;
mod cluster;
mod document;
mod edges;
mod events;
mod history;
mod hosts;
mod links;
mod live;
mod page;
mod paths;
mod policy;
mod rules;
mod schema;
mod switches;
mod testbed;
mod transfers;

pub use advice::*;
pub use alarms::*;
pub use assignments::*;
pub use cluster::*;
pub use document::*;
pub use edges::*;
pub use events::*;
pub use history::*;
pub use hosts::*;
pub use links::*;
pub use live::*;
pub use page::*;
pub use paths::*;
pub use policy::*;
pub use rules::*;
pub use switches::*;
pub use testbed::*;
pub use transfers::*;
