//! A packet-level simulator of networks, which runs the planning and steering code that Braid ships.
//!
//! [`engine`] has links, TCP and MPTCP on a clock of picoseconds, without files or threads: the same calls give the same
//! run. [`network`] creates its links from a blueprint. [`steering`] chooses the paths of subflows with the
//! controller's own code. [`experiment`] combines both and runs them with many seeds, in parallel. [`study`] compares
//! experiments with each other and with the figures of papers. [`workload`] does so for flows that begin and end,
//! [`convergence`] for one connection over given paths.
//!
//! ```
//! use braid_sim::StudyKind;
//! use braid_sim::experiment::Cancel;
//!
//! let text = "{ simulation: small, network: fattree:4, rate: 10Mbit, delay: 1ms, control: lia, measured: 1s, seeds: 1,
//!     subflows: [2], methods: [{ name: M, scheme: disjoint:2/fewest-shared, paper: { permutation: [] } }] }";
//! let study = StudyKind::parse(text, "small.yaml").unwrap();
//! let report = study.run(1, u64::MAX, &Cancel::default(), &|run| println!("{run}")).unwrap();
//! assert!(report.is_complete());
//! print!("{}", report.table());
//! ```

pub mod convergence;
pub mod engine;
pub mod experiment;
pub mod network;
mod progress;
pub mod report;
mod statistics;
pub mod steering;
pub mod study;
mod study_kind;
pub mod testbed;
pub mod traffic;
mod transport;
pub mod workload;

pub use progress::Progress;
pub use study_kind::{ReportKind, StudyKind};
pub use transport::Control;
