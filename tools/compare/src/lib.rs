//! The comparison of lab and simulator: scenarios of the lab, simulated with the paths that the controller would choose.
//!
//! [`simulate`] makes the connections of a scenario's traffic, once for each variant. A variant's controller options
//! become [`ControllerSettings`], and [`plan`] asks the planner for paths as the controller does. A variant that the
//! simulator cannot follow is refused with the key that prevents it: [`Refused`].
//!
//! Out of scope: running the lab (`braid-lab`) and simulation (`braid-sim`).
//!
//! ```
//! use braid_lab::Scenario;
//!
//! let text = "{ scenario: small, topology: { hosts: [{ name: a, interfaces: [{ name: e0, addresses: [10.0.0.1/24] }], congestion_control: reno },
//!     { name: b, interfaces: [{ name: e0, addresses: [10.0.0.2/24] }] }], switches: [s], links: [
//!     { between: [a.e0, s], rate: 10Mbit }, { between: [b.e0, s], rate: 10Mbit }] },
//!     traffic: { tool: iperf3, modes: [tcp], directions: [{ from: a, to: b }], duration: 2s } }";
//! let scenario = Scenario::parse(text, "small.yaml").unwrap();
//! let simulated = braid_compare::simulate(&scenario).unwrap();
//! assert!(simulated.refused.is_empty());
//! assert!((9.0e6..9.6e6).contains(&simulated.rows[0].simulator_bps));
//! ```

mod error;
mod lay_out;
pub mod plan;
mod report;
mod settings;
mod traffic;

pub use error::{CompareError, Refused};
pub use lay_out::lay_out;
pub use report::{Row, set_beside, totals};
pub use settings::ControllerSettings;
pub use traffic::{Planned, Simulated, planned, simulate};
