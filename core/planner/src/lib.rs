//! The planner: decisions about paths, made by the same code in the controller and in the simulator.
//!
//! [`EffectivePolicy`] combines a connection's rule of the policy file with defaults for what the rule does not set.
//! [`SprayPolicy::plan`] chooses the paths of a sprayed flow, their shares, and how its packets are resequenced.
//! The [`Distribution`](braid_assign::Distribution) of announced streams over assigned paths follows from
//! [`useful_paths`], [`stream_weights`] and [`next_path`]. [`SubflowPlan`] chooses the subflows that a host is advised to
//! open. [`ecmp_paths`] and [`ecmp_buckets`] spread flows without a path of their own over equal-cost paths.
//!
//! Everything is deterministic. The caller supplies the available rate of links and the paths that may be used. Out of
//! scope: path search (`braid-paths`), stream tracking (`braid-steering`), and memory of any decision. `braid-control`
//! decides when a plan is replaced by a better one.
//!
//! ```
//! use std::sync::Arc;
//! use std::time::Duration;
//!
//! use braid_paths::PathFinder;
//! use braid_planner::{EffectivePolicy, PolicyDefaults};
//! use braid_steering::Steering;
//! use braid_topology::{Graph, Link, LinkState};
//! use braid_types::{BitsPerSec, DatapathId, PortNo, SwitchPair, SwitchPort};
//!
//! // Two links between two switches: 50 Mbit/s and 10 ms, 100 Mbit/s and 30 ms.
//! let links = [(1, 50, 10), (2, 100, 30)].into_iter().flat_map(|(port, mbits, millis)| {
//!     let [src, dst] = [1, 2].map(|dpid| SwitchPort::new(DatapathId(dpid), PortNo(port)));
//!     let delay = Some(Duration::from_millis(millis));
//!     let state = LinkState { delay, ..LinkState::of_capacity(BitsPerSec(mbits * 1_000_000)) };
//!     [(Link { src, dst }, state), (Link { src: dst, dst: src }, state)]
//! });
//! let graph = Arc::new(Graph::new(0, [], links));
//! let policy = EffectivePolicy::new(Steering::default(), &PolicyDefaults::default()).spray();
//!
//! let mut finder = PathFinder::by_hops(graph.clone());
//! let ends = SwitchPair::new(DatapathId(1), DatapathId(2));
//! let plan = policy.plan(&mut finder, ends, |edge| graph.state(edge).capacity, |_| true);
//! assert_eq!(plan.members.iter().map(|it| it.rate.0 / 1_000_000).collect::<Vec<_>>(), [50, 100]);
//! assert_eq!(plan.mdi, 0.25);
//! assert!(plan.resequencing(policy.resequence).is_some());
//! ```

#![cfg_attr(not(test), warn(clippy::iter_over_hash_type))]

mod advice;
mod distribution;
mod ecmp;
mod policy;
mod spray;

pub use advice::{SubflowCandidate, SubflowPlan, kept_subflows};
pub use distribution::{LinkConditions, Unloaded, next_path, round_trip, stream_weights, useful_paths};
pub use ecmp::{ECMP_BUCKETS, ecmp_buckets, ecmp_paths, ecmp_rate};
pub use policy::{EffectivePolicy, PolicyDefaults, SprayPolicy};
pub use spray::{SprayMember, SprayPlan, burst, path_weight};
