//! The papers' figures beside Braid's: scenarios and simulator studies run repeatedly, stored, judged, and written as a
//! page.
//!
//! A [`Plan`] says what is run, how often, and what the papers report. [`measure`] runs what is missing in a [`Store`], one
//! [`Record`] a run, with the commit, the machine and what else ran on it. [`Findings`] summarises the records, [`page`]
//! writes them as Markdown with plots, and [`diff`] compares two stores.
//!
//! Out of scope: how a scenario runs (`braid-lab`) and how a study is simulated (`braid-sim`).
//!
//! ```
//! let plan = braid_results::Plan::shipped().unwrap();
//! assert!(plan.select(&["ci".to_owned()]).unwrap().len() >= 6);
//! ```

pub mod diff;
mod error;
mod findings;
mod job;
mod load;
mod machine;
mod measure;
pub mod page;
mod plan;
mod record;
mod shorten;
mod source;
mod stalls;
mod statistics;
mod store;

pub use error::ResultsError;
pub use findings::{FigureRow, Findings, RunFindings, SettingRow, VerdictRow};
pub use job::Job;
pub use load::{Load, LoadWatch};
pub use machine::{Machine, Provenance};
pub use measure::{Done, Measured, Runner, Settings, measure};
pub use plan::{Chapter, Figure, Plan, Run, Selection};
pub use record::{Outcome, Record};
pub use shorten::Shortening;
pub use source::Source;
pub use statistics::Statistics;
pub use store::Store;
