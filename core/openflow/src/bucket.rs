//! Buckets of groups: weight, watched port and group, actions. OpenFlow 1.3.5 §7.3.4.2.

use braid_types::PortNo;

use crate::action::Action;
use crate::id::GroupId;
use crate::wire::{List, wire_struct};

wire_struct! {
    /// One of the ways that a group can treat a packet. OpenFlow 1.3.5 §7.3.4.2.
    pub struct Bucket<'a> [Bucket, length at 0] {
        /// Its share among the buckets of a select group.
        pub weight: u16,
        /// The port that must be up, in fast failover groups; else `ANY`.
        pub watch_port: PortNo,
        /// The group that must be live, in fast failover groups; else `ANY`.
        pub watch_group: GroupId; pad 4,
        /// Its actions.
        pub actions: List<'a, Action<'a>>,
    }
}

impl<'a> Bucket<'a> {
    /// A bucket of weight 0 that watches nothing.
    pub const fn new(actions: &'a [Action<'a>]) -> Self {
        Self { weight: 0, watch_port: PortNo::ANY, watch_group: GroupId::ANY, actions: List::new(actions) }
    }
}
