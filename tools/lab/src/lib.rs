//! Testbeds (labs) from network namespaces and Open vSwitch, and the scenarios that run on them.
//!
//! A [`Scenario`] describes a network, its traffic and the expected results. [`Labs`] builds such networks on this
//! machine: hosts are network namespaces, and switches are bridges of one Open vSwitch in user space per lab. Links are
//! veth pairs behind token buckets, or, with delay and loss, behind netem or Braid's link emulator. Labs need root.
//!
//! Every object of a lab has the lab's name and is written to a journal before it is made. All of them are removed
//! after an error, an interrupt or a panic, or by [`Labs::destroy`] after a crash. The machine's first network namespace
//! is never touched.
//!
//! ```
//! use braid_lab::Scenario;
//! let text = "{scenario: tiny, topology: {hosts: [{name: a, interfaces: [{name: eth0}]}], switches: [s], \
//!             links: [{between: [a.eth0, s], rate: 100Mbit}]}}";
//! let scenario = Scenario::parse(text, "tiny.yaml")?;
//! assert_eq!(scenario.topology.switches.len(), 1);
//! # Ok::<(), braid_lab::scenario::ScenarioError>(())
//! ```

mod agents;
mod certificates;
mod controller;
mod deploy;
mod deployed;
pub mod doctor;
mod edges;
mod error;
mod exec;
mod folder;
mod inspect;
mod interrupt;
mod journal;
mod links;
mod names;
mod ovs;
mod plan;
pub mod plot;
mod preflight;
mod progress;
mod ready;
mod run;
pub mod scenario;
mod sites;
mod store;
mod system;
mod teardown;

pub use controller::{Control, ControllerAddresses, ControllerSettings, MemberAddresses};
pub use deploy::Deployment;
pub use error::LabError;
pub use exec::Place;
pub use inspect::{
    HostInspection, Inspection, InterfaceInspection, LabState, PortInspection, Summary, SwitchInspection,
};
pub use interrupt::Interrupt;
pub use links::{LinkCounters, LinkEdit, LinkEnd, LinkInspection, LinkProcess, WhichLink};
pub use names::{LabName, LabNameError};
pub use plan::LinkBackend;
pub use progress::{NoProgress, Progress, StderrProgress};
pub use run::{
    Bound, CaptureRow, CostRow, Delivery, EventRow, Goodput, HandshakeRow, Interval, LabRow, LeaderRow,
    ModelRow, MptcpUse, PathChange, PathRow, ProfileColumns, ProfileRow, Ratio, Report, RequestRow,
    ResponseTimes, Row, RowDirection, RunObserver, StreamRow, Verdict,
};
pub use scenario::Scenario;
pub use store::Labs;
pub use system::MARKER_VARIABLE;
pub use teardown::Removed;

/// The `schema` of every JSON document.
pub const SCHEMA: &str = "braid/v1";
