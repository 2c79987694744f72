//! Testbeds from network namespaces and Open vSwitch.

mod names;
pub mod scenario;

pub use names::{LabName, LabNameError};
pub use scenario::Scenario;
