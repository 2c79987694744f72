//! Path assignments of applications, and the distribution of their parallel TCP streams over the paths.
//!
//! An application that moves data over several TCP connections asks for an [`Assignment`]: paths between two hosts, for
//! a limited time. It then names each connection before opening it, and [`next_path`] chooses the connection's path. At
//! every moment the streams are as close as possible to the proportion in which the paths can use them: that of
//! [`StreamModel::streams`], n = max(1, a·B·R), after Huang et al. (2017).
//!
//! Out of scope: path search (`braid-paths`), stream tracking (`braid-steering`), and writing rules (`braid-control`).
//!
//! ```
//! use braid_assign::{StreamModel, next_path};
//! use braid_types::BitsPerSec;
//! use std::time::Duration;
//!
//! let model = StreamModel::default();
//! let mbit = |rate: u64| BitsPerSec(rate * 1_000_000);
//! let near = model.streams(mbit(50), Duration::from_millis(28));
//! let far = model.streams(mbit(100), Duration::from_millis(122));
//! assert_eq!([near.round(), far.round()], [2.0, 18.0]);
//! let mut held = [0, 0];
//! for _ in 0..10 {
//!     held[next_path(&[near, far], &held).expect("there are paths")] += 1;
//! }
//! assert_eq!(held, [1, 9]);
//! ```

#![cfg_attr(not(test), warn(clippy::iter_over_hash_type))]

mod assignment;
mod assignments;
mod distribution;
mod fit;
mod learner;
mod model;
mod next_path;
mod plan;
mod share;
mod useful;

pub use assignment::{Assignment, AssignmentId, Claim, Owner, OwnerError, PromisedAssignment};
pub use assignments::{AssignError, Assignments, Limits};
pub use distribution::{Distribution, DistributionError};
pub use fit::{Fit, FitError, Sample, fit};
pub use learner::Learner;
pub use model::{Growth, ModelError, StreamModel, UnknownGrowth};
pub use next_path::next_path;
pub use plan::{Candidate, Plan, plan};
pub use share::{Carrier, fair_rates};
pub use useful::{CANDIDATES, useful};
